#!/usr/bin/env bash
# debian.sh - the packages for Debian: they are built from the archive of `make dist` by a user without privileges, equal in
# two folders, and accepted by lintian; each installs, runs, passes its autopkgtest and is removed without a trace.
# Takes about six minutes on idle cores. Needs root, git, debootstrap and a mirror of Debian, and 2 GB in $TMPDIR for two bare roots.

# shellcheck disable=SC2317 # succeeds calls functions by name
set -euo pipefail

options=("--suite suite check_any") # the release of Debian; by default this machine's, or bookworm
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release) || suite=''
grep -qx ID=debian /etc/os-release && [ -n "$suite" ] || suite=bookworm
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# skip REASON: ends the script, because nothing can be checked here.
skip() { echo "skip - the packages for Debian: $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip "needs root"
for tool in debootstrap unshare setpriv git; do command -v $tool >/dev/null || skip "no $tool"; done
[ -e "$root/.git" ] || skip "make dist needs the repository"
unshare --mount true 2>said || skip "may not mount here"

# within ROOT COMMAND [WORD...]: runs a command of bash as root in a root; its mounts vanish with it.
within() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --propagation private bash -euc '
        mount -t proc proc "$0/proc"
        mount -t sysfs -o ro sys "$0/sys"
        mount --rbind /dev "$0/dev"
        mount -t tmpfs -o mode=1777 shm "$0/dev/shm"
        exec chroot "$0" env -i DEBIAN_FRONTEND=noninteractive HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash -euc "$@"' \
        "$temporary/$1" "$2" packages "${@:3}"
}
# as_user ROOT COMMAND [WORD...]: the same as a user without privileges, in the user's home.
as_user() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    within "$1" 'cd /home/packager && exec setpriv --reuid packager --regid packager --init-groups env HOME=/home/packager bash -euc "$@"' "${@:2}"
}

# apt ROOT WORD...: runs apt-get in a root.
# shellcheck disable=SC2016 # expanded by the inner shell
apt() { within "$1" 'apt-get -qq -o Dpkg::Use-Pty=0 "$@" >/dev/null' "${@:2}"; }

# does WORDS COMMAND...: like succeeds, but shows no output of earlier commands.
does() { : >said; succeeds "$@"; }

# ---- two bare roots ----

# shellcheck disable=SC2016 # expanded by apt-get
site=$(apt-get indextargets --format '$(SITE)' "Codename: $suite" 2>/dev/null | sort -u | head -n 1) || site=''
debootstrap --variant=minbase --include=ca-certificates "$suite" building ${site:+"$site"} >made 2>&1 ||
    skip "debootstrap failed: $(tail -n 1 made)"
cp /etc/hosts /etc/resolv.conf building/etc/
! proxy=$(apt-config dump 2>/dev/null | grep -i '^acquire::.*proxy') || echo "$proxy" >building/etc/apt/apt.conf.d/proxy
{ within building 'useradd -m packager' && apt building update; } >said 2>&1 || skip "apt-get update failed: $(tail -n 1 said)"
cp -a building using

# ---- built by a user without privileges ----

make -s -C "$root" dist >made 2>&1
version=$(head -n 1 "$root/bench/VERSION")
archive=$root/build/ddpbench-$version.tar.gz

# unpack FOLDER: does as packaging/README.md shows.
unpack() {
    as_user building "mkdir $1"
    cp "$archive" "building/home/packager/$1"
    as_user building "cd $1 && tar -xf ddpbench-$version.tar.gz && ln -s ddpbench-$version.tar.gz ddpbench_$version.orig.tar.gz &&
        cd ddpbench-$version && cp -r packaging/debian ."
}
unpack one
does "apt installs the build dependencies" apt building build-dep -y --no-install-recommends "/home/packager/one/ddpbench-$version"
does "dpkg-buildpackage builds the packages" as_user building 'cd one/*/ && dpkg-buildpackage -us -uc >../log 2>&1 || { tail -n 50 ../log; false; }'
packages=$(cd building/home/packager/one && echo ddpbench*.deb)
is "both packages and their symbols are made" "$packages" \
    "$(for name in ddpbench ddpbench-dbgsym ddpbench-openmpi ddpbench-openmpi-dbgsym; do basename building/home/packager/one/${name}_"$version"-*.deb; done | LC_ALL=C sort | paste -sd ' ')"
is "the build runs ddpbench check with both MPIs" "$(grep -oE '^mpirun[.][a-z]+ .* check$' building/home/packager/one/log | sed 's/ .*//' | paste -sd ' ')" \
    "mpirun.mpich mpirun.openmpi"

unpack another-folder
does "they are built again elsewhere, without tests" as_user building \
    'cd another-folder/*/ && DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -us -uc >../log 2>&1 || { tail -n 50 ../log; false; }
    ! grep "^mpirun" ../log'
for package in $packages; do
    does "$package is equal in both folders" cmp building/home/packager/{one,another-folder}/"$package"
done

apt building install -y --no-install-recommends lintian >said 2>&1
does "lintian finds no error and warns of nothing" as_user building 'cd one && lintian --fail-on error,warning *.changes'

# ---- installed, used and removed where nothing was built ----

cp building/home/packager/one/ddpbench*_"$version"* using/home/packager/
expected="ddpbench $version ($(git -C "$root" rev-parse --short HEAD))"

# files: prints what is in the root, without the files of users, and caches and logs of apt.
files() {
    (cd using && find . -xdev '(' -path ./home -o -path ./root -o -path ./tmp -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt ')' -prune -o -print |
        sort)
}

# used PACKAGE MPIRUN [OPTION...]: checks that the package is installed, runs with MPIRUN as root and as a user, and is removed.
small='--preset laptop --batch-size 2 --rounds 2 --steps-per-block 1'
used() {
    local package=$1 launcher="${*:2}" file
    file=$(cd using/home/packager && echo "$package"_"$version"-*.deb)
    apt using satisfy -y --no-install-recommends "$(dpkg-deb -f "using/home/packager/$file" Depends)" >said 2>&1
    files >before
    does "$package is installed" apt using install -y --no-install-recommends "/home/packager/$file"
    files >with
    is "$package: program, manual page and copyright are installed" \
        "$(comm -13 before with | grep -cE "^./usr/(bin/ddpbench|share/man/man1/ddpbench.1.gz|share/doc/$package/copyright)$")" 3
    is "$package: the version is the archive's" "$(as_user using 'ddpbench --version')" "$expected"
    is "$package: OpenBLAS is the one with OpenMP" "$(within using 'readlink -f /usr/lib/*/libopenblas.so.0' | grep -c openblas-openmp)" 1
    does "$package: $launcher ddpbench check" within using "cd /tmp && $launcher -n 2 ddpbench check"
    does "$package: $launcher ddpbench" within using "cd /tmp && $launcher -n 2 ddpbench $small --output $package"
    is "$package: the version in run.json is the archive's" "$(sed -nE 's/^\t*"version":\t"(.*)",?$/ddpbench \1/p' "using/tmp/$package/run.json")" "$expected"
    does "$package: a user's ddpbench-run finds its launcher" as_user using "ddpbench-run -n 1 -- /usr/bin/ddpbench $small --output $package"
    does "$package is purged" apt using purge -y "$package"
    files >after
    does "$package leaves no file" diff before after
}
used ddpbench mpirun.mpich
used ddpbench-openmpi mpirun.openmpi --allow-run-as-root --oversubscribe

status=0
: >printed
within using 'cd /home/packager && apt-get install -s ./ddpbench_*.deb ./ddpbench-openmpi_*.deb' >said 2>&1 || status=$?
check 100 "apt refuses to install both" 'ddpbench-openmpi : Conflicts: ddpbench'

apt using install -y --no-install-recommends autopkgtest dpkg-dev >said 2>&1
does "autopkgtest passes" within using 'cd /home/packager && autopkgtest --output-dir /tmp/tested ddpbench_*.changes -- null'
: >said
is "autopkgtest ran the tests of both packages" "$(awk '{ print $1, $2 }' using/tmp/tested/summary | paste -sd ' ')" "mpich PASS openmpi PASS"
exit "$failed"
