#!/usr/bin/env bash
# machines.sh - runs all tests under unusual conditions: without privileges, on one core, in paths with blanks, in other
# locales, with little shared memory, under load, and with a wrong choice of OpenBLAS kernels.
#
# Usage: [TEST_ONLY=PATTERN] [PEER_PYTHON=FILE] tests/long/machines.sh [OPTION...] [-- WORD...]
# Clones the last commit of this checkout, builds it, and runs tests/run.sh in the clone under each of these conditions:
#   openblas  OpenBLAS chooses kernels for another processor
#   user      without privileges: as the user `nobody`, in a copy that belongs to this user
#   core      on one core
#   space     the paths of checkout, TMPDIR and HOME contain blanks and other characters
#   shm       /dev/shm has 64 MiB
#   load      with four busy loops running
#   comma     in German, where 1.5 is written 1,5
#   turkish   in Turkish, where lower case of I is not i
#   peer      with PEER_PYTHON, a Python that has PyTorch and NumPy
#   --only LIST   only the listed conditions, separated by commas; NAME+NAME combines conditions in one run: user+space+shm
#   --runs N      runs under each condition (default 1)
#   --output DIR  directory of the copies and of the logs of failed runs; reuses earlier builds (default: a new directory in
#                 TMPDIR, removed if nothing failed)
# Arguments after -- go to make, as in -- CUDA=0. A condition that this machine cannot provide, such as another user
# without root, is skipped; the output says why.
# The last lines are a table of passed, failed and skipped checks; exits with status 1 if one failed, or nothing was run.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

known=(openblas user core space shm load comma turkish peer)
rows=("${known[@]}") runs=1 output='' make_words=()
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --) make_words=("${@:2}"); break ;;
    --only | --runs | --output) need_value "$@" ;;
    *) usage_error "unknown option '$1'; expected --only, --runs, --output or --help" ;;
    esac
    case $1 in
    --only) IFS=, read -ra rows <<<"$2" ;;
    --runs) check_integer "$1" "$2" 1 1000 && runs=$2 ;;
    --output) output=$2 ;;
    esac
    shift 2
done
for row in "${rows[@]}"; do
    for name in ${row//+/ }; do
        [[ " ${known[*]} " == *" $name "* ]] || usage_error "--only: '$name' is not a condition; expected ${known[*]}"
    done
done
need_tools git git
root=$(realpath -e "$(dirname "$0")/../..")
keep=$output
output=${output:-$(mktemp -d "${TMPDIR:-/tmp}/machines.XXXXXX")}
make_directory "$output"
output=$(realpath -e -- "$output")
chmod a+rx "$output"
loops=() failed=0 ran=0 table=()
declare -A built=() # built[PLACE]: 1 if the copy at PLACE is built

end_load() {
    [ "${#loops[@]}" = 0 ] || kill "${loops[@]}" 2>/dev/null || true
    loops=()
}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    end_child
    end_load
    [ -n "$keep" ] || [ "$failed" = 1 ] || rm -rf "$output"
}
trap clean_up EXIT
trap_signals

# ---- conditions: take_CONDITION sets the variables below; if this machine cannot provide the condition, it sets `why` ----
# before: prefix of the test command; variables: its environment; place: directory of the clone that is tested; preload:
# library to preload; load: number of busy loops; user: another user who runs the tests; why: reason for skipping

take_openblas() { preload=mistaken_openblas.so; }
take_core() { before+=(taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')"); }
take_space() { place="in it's \$HOME [é]"; }
take_load() { load=4; }
take_comma() { take_locale de_DE; }
take_turkish() { take_locale tr_TR; }

take_user() {
    [ "$(id -u)" = 0 ] || why="only root can become another user; this is $(id -un)"
    user=nobody
}

take_shm() {
    unshare --mount true 2>/dev/null || why="unshare --mount can make no namespace here"
    # shellcheck disable=SC2016 # expanded by the inner shell
    before=(unshare --mount sh -c 'mount -t tmpfs -o size=64m,mode=1777 shm /dev/shm && exec "$@"' shm "${before[@]}")
}

take_peer() {
    [ -n "${PEER_PYTHON:-}" ] || why="no PEER_PYTHON is given"
    variables+=("PEER_PYTHON=${PEER_PYTHON:-}")
}

# take_locale NAME: makes the locale NAME.UTF-8 for these runs, without installing it.
take_locale() {
    local made=$output/locales/$1.UTF-8
    mkdir -p "$output/locales"
    [ -e "$made" ] || localedef -i "$1" -f UTF-8 "$made" 2>"$output/said" ||
        why="localedef cannot make $1: $(tail -n 1 "$output/said")"
    echo 'leak:argz_add_sep' >"$output/locales/leaks" # glibc never frees the names in LOCPATH
    variables+=("LC_ALL=$1.UTF-8" "LOCPATH=$output/locales" "LSAN_OPTIONS=suppressions=\"$output/locales/leaks\"")
}

# ---- copies ----

# build PLACE: clones and builds the copy at PLACE, once.
build() {
    local copy=$output/$1/ddpbench
    [ -z "${built[$1]:-}" ] || return 0
    say "building $copy"
    if [ -e "$copy" ]; then
        git -C "$copy" fetch -q origin HEAD
        git -C "$copy" reset -q --hard FETCH_HEAD
    else
        mkdir -p "$output/$1"
        git clone -q "$root" "$copy"
    fi
    wait_child tee_output "$output/build.log" make -C "$copy" -j"$(count_cpus)" "${make_words[@]}" program tests emulated >/dev/null || {
        failed=1 # so that the log is kept
        die "the build failed: $(grep -E -m 1 'error|\*\*\*' "$output/build.log"); see $output/build.log"
    }
    rm "$output/build.log"
    built[$1]=1
}

# prepare: makes the copy of the sources for $place and $user; sets `copy` to its path, and adds TMPDIR, HOME and LD_PRELOAD to `variables`.
prepare() {
    build "$place"
    copy=$output/$place/ddpbench
    if [ -n "$user" ]; then
        copy="$output/$place/of $user/ddpbench"
        [[ $place == *' '* ]] || copy=$output/$place/$user/ddpbench
        rm -rf "${copy%/*}"
        mkdir -p "${copy%/*}"
        cp -a "$output/$place/ddpbench" "$copy"
        before+=(setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups --inh-caps=-all --bounding-set=-all)
    fi
    mkdir -p "${copy%/*}/tmp" "${copy%/*}/home"
    [ -z "$user" ] || chown -R "$user:" "${copy%/*}"
    variables+=("TMPDIR=${copy%/*}/tmp" "HOME=${copy%/*}/home")
    [ -z "$preload" ] ||
        variables+=("LD_PRELOAD=$preload" ASAN_OPTIONS=verify_asan_link_order=0
            "LD_LIBRARY_PATH=$copy/build/tests/support/preload${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
}

# ---- rows ----

# run_row ROW NUMBER: runs the tests once under the conditions of a row, such as user+space, and adds a line to the table.
run_row() {
    local variables=() before=() place=plain preload='' load=0 user='' why='' copy='' log=$output/$1-$2.log
    local name begin status=0 i
    for name in ${1//+/ }; do
        "take_$name"
        if [ -n "$why" ]; then
            say "$1 is skipped: $why"
            table+=("$1"$'\t-\t-\t-\t-\t'"skipped: $why")
            return
        fi
    done
    prepare
    for ((i = 0; i < load; i++)); do
        (while :; do :; done) &
        loops+=($!)
    done
    say "$1, run $2 of $runs"
    begin=$SECONDS
    # shellcheck disable=SC2016 # expanded by the inner shell
    wait_child tee_output "$log" "${before[@]}" env -u PEER_PYTHON "${variables[@]}" sh -c 'cd "$1" && exec tests/run.sh build' sh "$copy" >/dev/null ||
        status=$?
    end_load
    count "$1$([ "$runs" = 1 ] || echo " ($2)")" "$status" $((SECONDS - begin)) "$log"
}

# count WORDS STATUS SECONDS LOG: adds the totals of a run to the table.
count() {
    local sums='^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$'
    ran=1
    if [[ $(tail -n 1 "$4") =~ $sums ]]; then
        table+=("$1"$'\t'"${BASH_REMATCH[1]}"$'\t'"${BASH_REMATCH[2]}"$'\t'"${BASH_REMATCH[3]}"$'\t'"$3"$'\t')
    else
        table+=("$1"$'\t-\t-\t-\t'"$3"$'\t'"ended with status $2")
    fi
    if [ "$2" = 0 ]; then
        rm "$4"
    else
        failed=1
        say "$1: failed; see $4"
        grep '^failed: ' "$4" >&2 || true
    fi
}

for row in "${rows[@]}"; do
    for ((run = 1; run <= runs; run++)); do
        run_row "$row" "$run"
    done
done
for line in $'condition\tpassed\tfailed\tskipped\tseconds\t' "${table[@]}"; do
    IFS=$'\t' read -r name passed bad skipped seconds why <<<"$line"
    printf '%-24s %8s %8s %8s %8s  %s\n' "$name" "$passed" "$bad" "$skipped" "$seconds" "$why"
done
[ "$failed" = 0 ] && [ "$ran" = 1 ]
