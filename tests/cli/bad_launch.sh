#!/usr/bin/env bash
# bad_launch.sh - bad calls of all scripts in launch/ that have options: each ends quickly, with status 2 (1 if the machine lacks
# something), leaves no file, prints nothing on stdout and one line on stderr, which begins with the script's name and
# gives the reason. Also: signals end long-running scripts, which leave no file either.

# Many arguments contain what a shell would expand:
# shellcheck disable=SC2016
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

launch=$root/launch limiter=$(command -v timeout)
unset SLURM_JOB_ID OMP_NUM_THREADS
mkdir here
shopt -s nullglob dotglob
: >wrong
calls=0 grouped=0 good_calls=0 called=''

# bad STATUS SCRIPT PATTERN ARGUMENT...: runs SCRIPT in the empty directory `here` with at most 5 s of CPU time per
# process; expects STATUS and one error line matching PATTERN. Appends what is wrong to `wrong`.
bad() {
    local expected=$1 command=$2 pattern=$3 status=0 why='' name all lines left
    shift 3
    name=${called:-${command##*/}} all="$*"
    calls=$((calls + 1))
    (cd here && ulimit -t 5 && exec "$limiter" --kill-after=2 60 "$command" "$@") >printed 2>said </dev/null || status=$?
    mapfile -t lines <said
    if [[ $all == *xxxxxxxx* && ${lines[0]:-} == *"longer than 4096"* ]]; then
        expected=2 pattern=''
    fi
    [ "$status" = "$expected" ] || why+=", status $status and not $expected"
    [ ! -s printed ] || why+=", something on stdout"
    [ ${#lines[@]} = 1 ] || why+=", ${#lines[@]} lines"
    [[ ${lines[0]:-} == "$name: "* ]] || why+=", it does not begin with $name"
    [[ ${lines[0]:-} =~ $pattern ]] || why+=", no '$pattern'"
    [[ ${lines[0]:-} != *[[:cntrl:]]* ]] || why+=", control characters"
    [[ ${lines[0]:-} != *[Uu]sage:* ]] || why+=", the usage"
    [[ ${lines[0]:-} != *": line "[0-9]*": "* ]] || why+=", words of bash"
    [ ${#lines[0]} -lt 4000 ] || why+=", ${#lines[0]} characters"
    left=(here/*)
    [ ${#left[@]} = 0 ] || { why+=", left: ${left[*]:0:5}" && rm -rf here && mkdir here; }
    if [ -z "$why" ]; then
        good_calls=$((good_calls + 1))
        return
    fi
    {
        printf '%q ' "$name" "$@" | cut -c 1-200
        printf '    %s\n' "${why#, }"
        cut -c 1-300 said | sed -n '1,3l 200'
    } >>wrong
}

# group WORDS: reports one check for all calls since the last group.
group() {
    local good=0
    [ ! -s wrong ] || good=1
    mv wrong said
    result $good "$1: $((calls - grouped)) calls"
    grouped=$calls
    : >wrong
}

long=$(printf 'x%.0s' {1..100000})
nines=$(printf '9%.0s' {1..400})
# Words that are invalid for every option.
odd=($'a\nb' $'\e[31mred\r' $'\xff\xfe' "$long" '$(touch made)' "it's \"so\"")
# Values that are invalid where a number is expected.
no_numbers=(junk -1 2x $'2\n3' 0x10 '$(touch made)' "$nines")

# numbers SCRIPT OPTION LEAST MOST ARGUMENT...: after the ARGUMENTs, tries invalid values of OPTION; LEAST to MOST are valid.
# All scripts check options by the functions of common.sh, so each script gets some of the invalid words.
numbers() {
    local script=$1 option=$2 word
    some 3 "${no_numbers[@]}"
    for word in "${picked[@]}" $(($3 - 1)) $(($4 + 1)) ''; do
        bad 2 "$script" "$option" "${@:5}" "$option" "$word"
    done
    bad 2 "$script" "$option needs a value" "${@:5}" "$option"
}

# unknown SCRIPT ARGUMENT...: tries options that no script has, after the ARGUMENTs.
unknown() {
    local script=$1 word
    shift
    some 2 "${odd[@]}"
    for word in "${picked[@]}"; do
        bad 2 "$script" "unknown .*--" "$@" "--$word"
    done
    bad 2 "$script" "unknown .*'--bogus(=1)?'.*--help" "$@" --bogus=1
    bad 2 "$script" "unknown .*'-b'.*--help" "$@" -b
}

# without_value SCRIPT OPTION...: tries each option without a value.
without_value() {
    local option
    for option in "${@:2}"; do
        bad 2 "$1" "$option needs a value" "$option"
        bad 2 "$1" "$option needs a value" "$option" ''
    done
}

# Makes files that no script can read as text.
mkdir texts texts/directory
mkfifo texts/fifo
: >texts/empty
head -c 3000 /bin/sh >texts/binary
head -c 1200000 /dev/zero | tr '\0' '#' >texts/large
ln -s absent texts/dangling
no_texts=(directory fifo binary large dangling)

# ---- launch/run.sh ----

run=$launch/run.sh
bad 2 "$run" 'the program is missing'
for option in -n --ranks-per-host; do numbers "$run" $option 1 9999; done
numbers "$run" --threads 1 4096
without_value "$run" --bind --comm-core --hosts
for word in "${odd[@]}" Core; do
    bad 2 "$run" '--bind .*expected one of core none' -n 1 --bind "$word" -- true
    bad 2 "$run" '--comm-core .*expected one of yes no auto' -n 1 --comm-core "$word" -- true
    bad 2 "$run" 'unexpected argument .*comes? after --' "$word"
    bad 1 "$run" 'there is no program' -n 1 -- "$word"
done
bad 2 "$run" 'the program is missing' -n 2 --
bad 2 "$run" 'the program is missing' -n 2 -- ''
bad 2 "$run" 'the number of ranks is missing' -- true
bad 2 "$run" '--ranks-per-host needs --hosts' -n 2 --ranks-per-host 2 -- true
bad 2 "$run" 'comm-core yes' -n 9999 --comm-core yes -- true
bad 1 "$run" "there is no program '/'" -n 1 -- /
for word in "${odd[@]}" 0 -1 10000; do
    OMP_NUM_THREADS=$word bad 2 "$run" 'OMP_NUM_THREADS' -n 1 -- true
    MPIRUN="/absent/$word" bad 1 "$run" 'MPIRUN=.*no such program' -n 1 -- true
done
MPIRUN=/ bad 1 "$run" 'MPIRUN=/: there is no such program' -n 1 -- true
MPIRUN=$'mpirun\n-x' bad 1 "$run" 'MPIRUN' -n 1 -- true
group "run.sh"

for name in absent "${no_texts[@]}"; do
    bad 2 "$run" "--hosts .*texts/$name" --hosts "../texts/$name" -- true
done
bad 2 "$run" '--hosts /dev/zero' --hosts /dev/zero -- true
bad 2 "$run" '--hosts' --hosts "$long" -- true
bad 2 "$run" '--hosts' --hosts $'ab\nsent' -- true
for text in '' '#a\n \n\t\r\n' '\xef\xbb\xbf'; do
    printf %b "$text" >texts/hosts
    bad 2 "$run" '^run.sh: --hosts ../texts/hosts: lists no host$' --hosts ../texts/hosts -- true
done
for text in '\xff\xfen\0\n\0' '\0n\0\n' 'n\0\0\0' 'n\f\n' '\e[31mn'; do
    printf %b "ok1\n$text" >texts/hosts
    bad 2 "$run" '--hosts ../texts/hosts, line 2: has control characters; save it as text in UTF-8$' --hosts ../texts/hosts -- true
done
# The size limit of a hosts file is in bytes: newlines and every byte of a multi-byte character count.
yes '###############' 2>/dev/null | head -c 1048576 >texts/full || true
bad 2 "$run" 'lists no host' --hosts ../texts/full -- true
echo >>texts/full
bad 2 "$run" 'larger than 1 MiB' --hosts ../texts/full -- true
yes '#äöüäöü' 2>/dev/null | head -c 1500000 >texts/full || true
LC_ALL=C.UTF-8 bad 2 "$run" 'larger than 1 MiB' --hosts ../texts/full -- true
for line in 'node1 slots=0' 'node1 slots=10000' 'node1 slots=-1' 'node1 slots=2 slots=3' 'node1 gpus=2' 'node1:x' '-oProxyCommand=x' \
    'node1;touch made' '$(touch made)' $'\xff\xfe' "$long" "node1 slots=$nines" 'a,b' 'slots=2'; do
    printf 'ok1 slots=1\r\n%s\n' "$line" >texts/hosts
    bad 2 "$run" '--hosts ../texts/hosts, line 2: (expected a host|longer)' --hosts ../texts/hosts -- true
done
# A refused line is quoted as written, followed by what to do, if that is known: lines "LINE|WHAT".
while IFS='|' read -r line advice; do
    printf 'ok1 slots=1\n%s\r\n' "$line" >texts/hosts
    bad 2 "$run" "$(literal "--hosts ../texts/hosts, line 2: expected a host such as node1 or node1 slots=4, with 1 to 9999 slots, \
not '$line'${advice:+; $advice}")\$" --hosts ../texts/hosts -- true
done <<'END'
node1:4:eth0
node1:4 ifhn=node1-ib0
node1 slots = 0  # :0
node1 0
node1  max_slots=x
node1 max_slots=2 max_slots=2
[workers]
["node1","node2"]|write one host a line
fe80::1|write a name in place of an IPv6 address
[2001:db8::1]:2|write a name in place of an IPv6 address
::1 slots=2|write a name in place of an IPv6 address
alice@node1|users and ports go in ~/.ssh/config
alice@node1 slots=2|users and ports go in ~/.ssh/config
node1 user = alice|users and ports go in ~/.ssh/config
node1 slots=2 port=2222|users and ports go in ~/.ssh/config
node1:29400|users and ports go in ~/.ssh/config
n[001-004]|scontrol show hostnames 'n[001-004]' prints the hosts of a list
n[001-004]:4|scontrol show hostnames 'n[001-004]' prints the hosts of a list
n[1,3-4].example slots=2|scontrol show hostnames 'n[1,3-4].example' prints the hosts of a list
n1,n2|write one host a line
n1:2,n2:2|write one host a line
n1 4|write n1 slots=4
n1 4 all.q@n1 UNDEFINED|write n1 slots=4
END
# A no-break space, a zero-width space, a byte order mark, a name in UTF-8 and one in Latin-1
for line in $'node1\xc2\xa0slots=2' $'node1\xe2\x80\x8b' $'\xef\xbb\xbfnode1' $'kn\xc3\xb6tchen1 4' $'kn\xf6tchen'; do
    printf 'ok1 slots=1\n%s\n' "$line" >texts/hosts
    bad 2 "$run" 'line 2: expected a host .*; it has characters that are not ASCII$' --hosts ../texts/hosts -- true
done
for text in 'n1 slots=9999\nn1\n' 'n1 slots=9999\nn2\n'; do
    printf %b "$text" >texts/hosts
    bad 2 "$run" 'hosts: 10000 slots are more than 9999; give --ranks N$' --hosts ../texts/hosts -- true
done
printf 'localhost slots=1\n' >texts/hosts
bad 2 "$run" '2 ranks, but .*1 slot' --hosts ../texts/hosts -n 2 -- true
group "run.sh, invalid host files"

# ---- launch/netlab.sh ----

netlab=$launch/netlab.sh
bad 2 "$netlab" 'unknown command'
unknown "$netlab" up
for word in "${odd[@]}" '' word --; do bad 2 "$netlab" 'command' "$word"; done
for option in --nodes --rate --delay; do
    bad 2 "$netlab" "$option needs a value" up $option
    bad 2 "$netlab" "$option needs a value" up $option ''
done
for word in "${odd[@]}" 1 65 -1 2x $'2\n' "$nines"; do bad 2 "$netlab" 'nodes .* from 2 to 64' up --nodes "$word" --rate 10mbit; done
for word in "${odd[@]}" 10 0mbit 101gbit 0.1mbit -1mbit 10mbits "${nines}mbit" $'10mbit\n' 10kbit; do
    bad 2 "$netlab" 'rate' up --nodes 2 --rate "$word"
    bad 2 "$netlab" 'rate|unknown option' rate "$word"
done
for word in "${odd[@]}" 1 1us 2s -1ms "${nines}s" 1min; do bad 2 "$netlab" 'delay' up --nodes 2 --rate 10mbit --delay "$word"; done
bad 2 "$netlab" 'up: --rate is missing' up --nodes 2
bad 2 "$netlab" 'up: --nodes is missing' up --rate 10mbit
bad 2 "$netlab" 'rate: expected one rate' rate
bad 2 "$netlab" "unexpected argument '20mbit'" rate 10mbit 20mbit
for option in node to; do
    for word in "${odd[@]}" 0 65 -1 2x "$nines"; do bad 2 "$netlab" "$option .* from 1 to 64" fault --$option "$word" --rate 10mbit; done
done
bad 2 "$netlab" 'rate' fault --node 2 --rate 0.5mbit
bad 2 "$netlab" 'delay' fault --node 2 --delay 2s
bad 2 "$netlab" '--direction both: expected one of send receive' fault --node 2 --direction both
bad 2 "$netlab" 'fault: --node is missing' fault --rate 10mbit
bad 2 "$netlab" '--rate and --delay are missing' fault --node 2
bad 2 "$netlab" '--direction and --to need --rate' fault --node 2 --direction send --delay 1ms
bad 2 "$netlab" '--direction and --to need --rate' fault --node 2 --to 1 --delay 1ms
for word in '--to 2' '--to 1 --delay 1ms' '--to 1 --direction receive'; do
    # shellcheck disable=SC2086 # several words
    bad 2 "$netlab" '--to needs another node' fault --node 2 --rate 10mbit $word
done
for word in heal show down; do bad 2 "$netlab" "unexpected argument 'now'" $word now; done
for word in "${odd[@]}" '' A a-b tencharact ..; do bad 2 "$netlab" '--name .*expected one to nine letters' down --name "$word"; done
for word in "${no_numbers[@]}" 0 100 ''; do bad 2 "$netlab" '^netlab.sh: -n ' run -n "$word" -- true; done
bad 2 "$netlab" '-n needs a value' run -n
bad 2 "$netlab" 'run: the program is missing' run
bad 2 "$netlab" 'run: the program is missing' run --
bad 2 "$netlab" "unexpected argument 'true'" run true
bad 2 "$netlab" '-x is for the launcher' -x
bad 2 "$netlab" '-x is for the launcher' -x 'a[$(touch made)]' true
group "netlab.sh"

# Tests invalid state files of netlab.sh, in a separate mount namespace.
if unshare --mount sh -c 'mount -t tmpfs none /run && command -v ip tc perl flock' >/dev/null 2>&1; then
    cat >with_state <<'END'
#!/bin/sh
mount -t tmpfs none /run && case $1 in fifo) mkfifo /run/ddpb-netlab ;; *) printf '%s\n' "$1" >/run/ddpb-netlab ;; esac
shift
exec "$@"
END
    chmod +x with_state
    called=netlab.sh
    for word in fifo junk '2 3' 'a[$(touch made)] 1 1mbit none' "$long" '65 1000000 1mbit none'; do
        bad 1 "$(command -v unshare)" 'state|damaged' --mount "$temporary/with_state" "$word" "$netlab" run -- true
    done
    called=''
    group "netlab.sh, invalid state files"
else
    echo "skip - netlab.sh, invalid state files: no namespaces here"
fi

# ---- launch/slurm.sh ----

slurm=$launch/slurm.sh
mkdir fake
for name in sbatch squeue scontrol srun sinfo; do
    printf '#!/bin/sh\n' >fake/$name
    chmod +x fake/$name
done
echo "echo 'main* 4 2 (null)'" >>fake/sinfo
echo "echo pmi2" >>fake/srun
bad 2 "$slurm" 'unknown command'
for word in "${odd[@]}" Submit; do bad 2 "$slurm" 'unknown command' "$word"; done
for name in configure submit status; do unknown "$slurm" $name; done
for option in --output --program --nodes; do
    bad 2 "$slurm" "$option needs a value" submit $option
    bad 2 "$slurm" "$option needs a value" submit $option ''
    bad 2 "$slurm" "$option needs a value" submit $option=
done
bad 2 "$slurm" 'unexpected argument' submit 1
bad 2 "$slurm" '--cpu takes no value' submit --cpu=1
bad 2 "$slurm" 'unexpected argument' status a b
bad 2 "$slurm" "unknown option '--'" status -- --rounds 2
for option in --gpus-per-node:-1:1000 --tasks-per-node:0:10000 --cpus-per-task:0:10000; do
    IFS=: read -r option least most <<<"$option"
    for word in junk ' 2' $'2\n3' "$nines" '$(touch made)' "$least" "$most"; do
        bad 2 "$slurm" "$option .*expected" configure "$option" "$word"
    done
done
for option in --partition --account --time --constraint --qos --mpi --modules --exclusive; do
    for word in $'a\nb' $'\e[31m' "$long" '$(touch made)'; do
        bad 2 "$slurm" "$option .*expected" configure $option "$word"
    done
    bad 2 "$slurm" "$option needs a value" configure $option
done
for word in 0 -1 1h 61:00 1:60:00 '60 ' "$nines" 0:00:00 0-0; do bad 2 "$slurm" '--time .*expected' configure --time "$word"; done
group "slurm.sh"

if [[ $program$temporary == *[%\"\'\\]* ]]; then
    mkdir conf && echo "time=5" >conf/slurm.conf
    PATH=$temporary/fake:$PATH bad 2 "$slurm" 'sbatch cannot read names' submit --output ../conf --program "$program" --nodes 1
    group "slurm.sh, a path with characters that sbatch cannot read"
    echo "skip - configurations and submissions of slurm.sh: sbatch cannot read this path"
else
    path=$PATH PATH=$temporary/fake:$PATH
    submit=(submit --output ../conf --program "$program")
    mkdir conf && echo "time=5" >conf/slurm.conf
    for word in 0 -1 '1,,' 1,a '1 2' $'1\n2' "$nines" '$(touch made)' 5 1,1; do
        bad 2 "$slurm" '--nodes' "${submit[@]}" --nodes "$word"
    done
    bad 2 "$slurm" '--nodes is missing' "${submit[@]}"
    bad 1 "$slurm" 'there is no .*run make' "${submit[@]}" --program /absent --nodes 1
    bad 1 "$slurm" 'there is no .*run make' "${submit[@]}" --program / --nodes 1
    bad 2 "$slurm" 'sbatch cannot read names' "${submit[@]}" --output $'co\nnf' --nodes 1
    bad 2 "$slurm" 'no configuration' "${submit[@]}" --output nothing --nodes 1
    bad 1 "$slurm" 'cannot make the directory' configure --output /proc/none --program "$program" --mpi pmi2
    bad 2 "$slurm" "option '--bogus' after --" "${submit[@]}" --nodes 1 -- --bogus
    for word in "${odd[@]}"; do
        bad 2 "$slurm" 'after --' "${submit[@]}" --nodes 1 -- "$word"
        bad 2 "$slurm" 'no(t a)? submission' status "$word"
    done
    mkdir -p sub/run_1
    for name in "${no_texts[@]}"; do
        ln -sfn "../texts/$name" conf/slurm.conf
        bad 2 "$slurm" 'conf/slurm.conf' "${submit[@]}" --nodes 1
        ln -sfn "../../texts/$name" sub/run_1/jobs.txt
        bad 2 "$slurm" 'jobs.txt|no(t a)? submission' status ../sub/run_1
        bad 2 "$slurm" 'jobs.txt|no(t a)? submission' collect --output ../sub --program "$program"
    done
    rm conf/slurm.conf sub/run_1/jobs.txt
    for line in junk 'time=0' 'time=5 ' $'time=5\r' 'tiem=5' '=5' 'time' "time=$long" 'time=$(touch made)' $'time=\xff' 'partition=main' \
        'gpus_per_node=-1' 'exclusive=maybe' "$long" ' time=5'; do
        printf 'partition=main\n%s\n' "$line" >conf/slurm.conf
        bad 2 "$slurm" 'conf/slurm.conf, line 2: ' "${submit[@]}" --nodes 1
    done
    for line in junk 1 'x node' '1 2node 3' '-1 node' '1 a;b' "$long" "$nines node"; do
        printf '7 1node\n%s\n' "$line" >sub/run_1/jobs.txt
        bad 2 "$slurm" 'jobs.txt, line 2: ' status ../sub/run_1
    done
    : >sub/run_1/jobs.txt
    bad 2 "$slurm" 'lists no job' status ../sub/run_1
    PATH=$path
    group "slurm.sh, configurations and submissions"
fi

# ---- launch/sweep.sh, launch/paper.sh ----

sweep=$launch/sweep.sh paper=$launch/paper.sh own=(--program "$program" --output out)
for script in "$sweep" "$paper"; do
    settings=sweep.txt
    [ "$script" = "$sweep" ] || settings=runs.txt
    bad 2 "$script" "unexpected argument 'word'" word
    without_value "$script" --ranks --bucket-size-mb --output --launcher --program
    numbers "$script" --rounds 1 999999 "${own[@]}"
    some 5 0 -1 10000 '1,,2' '1,1' '1;2' $'1\n2' "$nines" '$(touch made)' '*' ',' "$long"
    for word in "${picked[@]}"; do bad 2 "$script" '--ranks' "${own[@]}" --ranks "$word"; done
    some 5 0 -1 1MB '1,,2' '1,1.0' $'1\n2' "$nines" '$(touch made)' "$long" nan 1e3
    for word in "${picked[@]}"; do bad 2 "$script" '--bucket-size-mb' "${own[@]}" --bucket-size-mb "$word"; done
    bad 2 "$script" 'write \{ranks\}' "${own[@]}" --launcher mpirun
    bad 2 "$script" 'no program' "${own[@]}" --launcher 'absent {ranks}'
    bad 2 "$script" '--launcher' "${own[@]}" --launcher $'mpirun {ranks}\nrm'
    bad 2 "$script" '--launcher' "${own[@]}" --launcher "$long {ranks}"
    some 3 /absent / /etc/passwd "$long" $'a\nb' $'\xff'
    for word in "${picked[@]}"; do bad 1 "$script" 'there is no .*run make' --program "$word" --output out; done
    some 5 --bogus --rounds --output=x --bucket_size_mb --profile word $'--a\nb' $'\xff' "--$long"
    for word in "${picked[@]}"; do bad 2 "$script" '' "${own[@]}" -- "$word"; done
    bad 2 "$script" 'divide' "${own[@]}" -- --d-model 64 --num-heads 3
    for word in /proc/none/out /proc /etc/passwd "$long"; do
        bad 1 "$script" 'cannot (make|write to) the directory' "${own[@]}" --output "$word"
    done
    bad 2 "$script" 'is not empty and has no' "${own[@]}" --output ../texts
    mkdir -p kept
    for name in "${no_texts[@]}"; do
        ln -sfn "../texts/$name" kept/$settings
        bad 2 "$script" "$settings" "${own[@]}" --output ../kept
    done
    rm kept/$settings && printf -- '--program\tjunk\nmore\tjunk\n--rounds\t3\n' >kept/$settings
    bad 2 "$script" "earlier starts in" "${own[@]}" --output ../kept
    rm -r kept
    group "${script##*/}"
done
for word in "${odd[@]}" ':--d-model 32' a a:b $'a:--d-model 32\n--rounds 3' 'a/b:--d-model 32' a:--bogus 'a:--rounds 3'; do
    bad 2 "$sweep" '' "${own[@]}" --model "$word"
done
for word in "${odd[@]}" none,none a=b =ddp 'none ddp' '*'; do
    bad 2 "$sweep" '--implementations' "${own[@]}" --implementations "$word"
done
numbers "$sweep" --repeats 1 999 "${own[@]}"
for word in $'a\nb' $'\e[31m' "$long" ' '; do bad 2 "$sweep" '--link-name' "${own[@]}" --link-name "$word"; done
group "sweep.sh, options that paper.sh lacks"

for option in --batch-size-per-rank:99999 --steps-per-block:999999; do numbers "$paper" ${option%:*} 1 ${option#*:} "${own[@]}"; done
for word in 0 10000 1,1 a $'1\n2' "$nines" ','; do bad 2 "$paper" '--every' "${own[@]}" --every "$word"; done
bad 2 "$paper" 'a number above 1' "${own[@]}" --ranks 1
group "paper.sh, options that sweep.sh lacks"

# ---- launch/nsys.sh, launch/ncu.sh ----

for name in nsys ncu; do
    tool=$launch/$name.sh
    bad 2 "$tool" 'the program is missing'
    numbers "$tool" --ranks 1 9999
    without_value "$tool" -o --output
    for word in "${odd[@]}" / ''; do bad 2 "$tool" 'program' -- "$word"; done
    bad 2 "$tool" 'the program is missing' --
    bad 2 "$tool" 'slurm takes the ranks of the job' --slurm -n 2 -- true
    bad 2 "$tool" "unexpected argument 'true'" true
    printf '#!/bin/sh\n' >fake/$name && chmod +x fake/$name
    for word in /proc/none /etc/passwd; do
        PATH=$temporary/fake:$PATH bad 1 "$tool" 'cannot make the directory' --output "$word" -- true
    done
done
mkdir kept && echo mine >kept/summary_stats.csv
PATH=$temporary/fake:$PATH bad 2 "$launch/nsys.sh" 'summary_stats.csv was not written by nsys.sh' --output ../kept -- true
rm kept/summary_stats.csv && mkdir kept/summary_stats.csv
PATH=$temporary/fake:$PATH bad 2 "$launch/nsys.sh" 'summary_stats.csv was not written by nsys.sh' --overwrite --output ../kept -- true
rm -r kept fake/{nsys,ncu}
for word in "${odd[@]}" 'cuda,' ',cuda'; do bad 2 "$launch/nsys.sh" '--trace .*expected' --trace "$word" -- true; done
without_value "$launch/nsys.sh" --trace
bad 2 "$launch/nsys.sh" 'one-report is for' --one-report -- true
numbers "$launch/ncu.sh" --rank 0 9999
numbers "$launch/ncu.sh" --launches 1 999999
for word in "${odd[@]}"; do bad 2 "$launch/ncu.sh" '--set' --set "$word" -- true; done
for word in $'a\nb' '(' '[' '*'; do bad 2 "$launch/ncu.sh" '--kernels' --kernels "$word" -- true; done
without_value "$launch/ncu.sh" --set --kernels
bad 2 "$launch/ncu.sh" 'there is one process' --rank 1 -- true
bad 2 "$launch/ncu.sh" 'there are 2 ranks' -n 2 --rank 2 -- true
group "nsys.sh and ncu.sh"

# ---- the other scripts of launch/ ----

checks=$root/tests/long
for name in "$launch"/{run,netlab,slurm,sweep,paper,nsys,ncu,setup,corpus,bench_gpu,install,pack} "$checks"/{gate,overlap,same_twice,isolate_check}; do
    unknown "$name.sh"
done
for option in "$launch"/{run:--hosts,sweep:--output,paper:--program,nsys:-o,ncu:--output,bench_gpu:--output,bench_gpu:--archive} \
    "$launch"/{bench_gpu:--python,pack:--directory} "$checks"/{gate,overlap,isolate_check,predict_check}:--output; do
    for word in - --dry-run; do bad 2 "${option%:*}.sh" "${option#*:} $word: expected a path; write ./$word" "${option#*:}" "$word"; done
done
bad 2 "$slurm" '--output -: expected a path' configure --output -
# shellcheck disable=SC2016 # expanded by the shell that runs it
try bash -c '. "$0"; write_file texts/directory echo mine' "$launch/common.sh"
check 1 "a file that cannot be replaced is named" '^common.sh: cannot write texts/directory: '
is "a file that cannot be replaced leaves no other file" "$(wc -l <said) $(find texts -name '*.part')" "1 "
group "unknown options and paths of all scripts"

# They read options as the scripts above do: tries one number, and the values of their own kinds.
numbers "$checks/gate.sh" --runs 3 9999
for name in gate overlap same_twice isolate_check; do bad 2 "$checks/$name.sh" "unexpected argument 'word'" word; done
for option in {overlap,isolate_check}:--rate:{10,0mbit,101gbit,junk} isolate_check:--{nodes:{3,65,'4,4','4,,5'},kinds:{pairs,'none,none'}} \
    same_twice:--strategy:{bogus,a=ddp,'ddp,ddp',"it's"}; do
    IFS=: read -r name option word <<<"$option"
    bad 2 "$checks/$name.sh" "${option#--}" "$option" "$word"
done
group "gate.sh, overlap.sh, isolate_check.sh and same_twice.sh"

for word in "${odd[@]}" MPICH -; do
    bad 2 "$launch/setup.sh" '--mpi .*expected' --mpi "$word"
    [ "$word" = MPICH ] || bad 2 "$launch/setup.sh" '--blas .*expected' --blas "$word"
done
without_value "$launch/setup.sh" --mpi --blas --mpicc
for word in "${odd[@]}" / /absent true; do bad 1 "$launch/setup.sh" 'MPICC=.* is not the compiler wrapper' --mpicc "$word"; done
bad 1 "$launch/setup.sh" "no BLAS called 'absent'" --blas absent
bad 2 "$launch/setup.sh" "unexpected argument 'word'" word
bad 2 "$launch/corpus.sh" 'OUTPUT is missing'
bad 2 "$launch/corpus.sh" 'OUTPUT is missing' ''
bad 2 "$launch/corpus.sh" 'unexpected argument' a b
for word in /proc/none/corpus /proc/corpus /etc/passwd/corpus "$long" ../texts/directory / ../texts/fifo; do
    bad 1 "$launch/corpus.sh" 'cannot|is not a file' "$word"
done
ln -sf directory/nothing texts/corpus
bad 1 "$launch/corpus.sh" 'is a symbolic link' ../texts/corpus
rm texts/corpus
CC=/absent bad 1 "$launch/corpus.sh" '/absent' corpus
CC='env cc' try "$launch/corpus.sh" corpus
check 0 "corpus.sh takes a compiler of two words" '^corpus.sh: corpus: [0-9]+ header files'
rm corpus
CC=true bad 1 "$launch/corpus.sh" 'no directory of headers' corpus
CC=$'ab\nsent' bad 1 "$launch/corpus.sh" 'ab.nsent' corpus
for word in "${odd[@]}" '' word; do bad 2 "$launch/bench_gpu.sh" 'unknown part .*expected one of tests' "$word"; done
without_value "$launch/bench_gpu.sh" --output --reference --python --archive
for word in 0 0.0 0.000 .5 1.2345 -1 1e3 100000 nan; do bad 2 "$launch/bench_gpu.sh" '--minutes .*: expected 0.001 to 99999' --minutes "$word"; done
for word in absent /etc/passwd "$long" $'a\nb' $'\xff'; do bad 2 "$launch/bench_gpu.sh" '--reference' --reference "$word"; done
printf '#!/bin/sh\necho "GPU 0: made up"\n' >fake/nvidia-smi && chmod +x fake/nvidia-smi
for word in /proc/none /etc/passwd/out /proc; do
    PATH=$temporary/fake:$PATH bad 1 "$launch/bench_gpu.sh" 'cannot (make|write to) the directory' --output "$word"
done
mkdir -p gpus/step && echo mine | tee gpus/step/output.txt >gpus/provenance.txt
PATH=$temporary/fake:$PATH bad 2 "$launch/bench_gpu.sh" 'gpus: is not empty and has no provenance.txt that bench_gpu.sh wrote' --output "$temporary/gpus" step
is "bench_gpu.sh keeps a user's files in the directory of --output" "$(cat gpus/step/output.txt gpus/provenance.txt)" $'mine\nmine'
mkdir -p linked && echo '# measured by bench_gpu.sh' >texts/marked && ln -s ../texts/marked linked/provenance.txt
PATH=$temporary/fake:$PATH bad 2 "$launch/bench_gpu.sh" 'linked: is not empty and has no provenance.txt that bench_gpu.sh wrote' --output "$temporary/linked" step
# archive NAME WORDS TAR_OPTION...: packs the directory gpus with these options. Checks that bench_gpu.sh refuses the archive.
archive() {
    [ -z "${*:3}" ] || tar -czf "$1" -C gpus "${@:3}" 2>>said
    cp "$1" as_before
    PATH=$temporary/fake:$PATH bad 1 "$launch/bench_gpu.sh" "--archive .*$1: $2" --archive "$temporary/$1" --output "$temporary/unpacked" step
    succeeds "bench_gpu.sh unpacks nothing, and keeps the archive: $2" eval "cmp $1 as_before && [ ! -e unpacked ]"
}
rm -r gpus/step && echo '# measured by bench_gpu.sh' >gpus/provenance.txt
ln -s "$temporary/texts" gpus/link && mkfifo gpus/pipe && ln gpus/provenance.txt gpus/twice
only='only plain files and directories with relative names'
archive linked.tgz "has [.]/link -> .*/texts; $only" ./provenance.txt ./link
archive twice.tgz "has [.]/twice link to [.]/provenance.txt; $only" ./provenance.txt ./twice
archive device.tgz "has dev/null, a device; $only" ./provenance.txt -C / dev/null
archive pipe.tgz "has [.]/pipe, a pipe; $only" ./pipe ./provenance.txt
archive above.tgz "has [.]/[.][.]/provenance.txt; $only" -P --transform 's,^[.]/pr,./../pr,' ./provenance.txt
archive absolute.tgz "has /.*/texts/empty; $only" -P ./provenance.txt "$temporary/texts/empty"
ln -s itself texts/itself
for word in directory fifo itself; do
    PATH=$temporary/fake:$PATH bad 1 "$launch/bench_gpu.sh" '--archive .*: is not a plain file' --archive ../texts/$word --output out step
done
for word in out:out out:out/below out/archive:out; do
    PATH=$temporary/fake:$PATH bad 2 "$launch/bench_gpu.sh" '--archive .*: is, holds or lies in --output' --archive "${word%:*}" --output "${word#*:}" step
done
rm gpus/{link,pipe,twice} && echo mine >gpus/provenance.txt
archive mine.tgz 'is not a .tgz of results' .
echo mine >mine.txt
archive mine.txt 'is not a .tgz of results'
: >empty.txt
archive empty.txt 'is not a .tgz of results'
mkdir -p gpus/step && echo '# measured by bench_gpu.sh' >gpus/provenance.txt && echo 0 >gpus/step/status && chmod 4755 gpus/step/status
tar -czf good.tgz -C gpus --owner=12345 --group=12345 .
PATH=$temporary/fake:$PATH try "$launch/bench_gpu.sh" --minutes 0.01 --archive good.tgz --output unpacked step
check 7 "bench_gpu.sh continues with the results of an archive" 'step: ended earlier with status 0'
is "bench_gpu.sh unpacks without owners and modes" "$(stat -c %u.%a unpacked/step/status) $(tar -tzf good.tgz | grep -c status)" "$(id -u).$(printf %o $((0755 & ~$(umask)))) 1"
printf '#!/bin/sh\nexit 1\n' >fake/nvidia-smi
PATH=$temporary/fake:$PATH bad 1 "$launch/bench_gpu.sh" 'no NVIDIA GPU' step
group "setup.sh, corpus.sh and bench_gpu.sh"

install=$launch/install.sh
for words in '' a 'a /b c d' --uninstall; do
    # shellcheck disable=SC2086 # splits words
    bad 2 "$install" 'expected .*PREFIX|unexpected argument' $words
done
for word in "${odd[@]}" '' usr; do
    bad 2 "$install" 'PREFIX .*expected an absolute path' "$program" "$word" "$temporary/here"
    bad 1 "$install" 'there is no .*run make' "$word" /usr "$temporary/here"
done
for word in $'/a\nb' $'/a\e' "/it's"; do
    bad 2 "$install" 'PREFIX .*expected' "$program" "$word" "$temporary/here"
    bad 2 "$install" 'DESTDIR .*expected' "$program" /usr "$temporary/here/"$'a\nb'
done
for word in /usr "/$long"; do bad 1 "$install" 'nothing is installed' --uninstall "$word" "$temporary/here"; done
bad 1 "$install" 'there is no /; run make' / /usr "$temporary/here"
bad 1 "$install" 'cannot make the directory' "$program" /none /proc
bad 1 "$install" 'cannot make the directory' "$program" /usr /etc/passwd
mkdir -p kept/usr/share/ddpbench
for name in directory fifo binary large; do
    ln -sfn "$temporary/texts/$name" kept/usr/share/ddpbench/files
    bad 2 "$install" 'share/ddpbench/files' --uninstall /usr "$temporary/kept"
done
rm kept/usr/share/ddpbench/files
for line in ../../../victim share/../../victim /victim ' ' "$long"; do
    printf 'bin/ddpbench\n%s\n' "$line" >kept/usr/share/ddpbench/files
    bad 2 "$install" 'share/ddpbench/files, line 2: ' --uninstall /usr "$temporary/kept"
done
rm -r kept
pack=$launch/pack.sh
bad 2 "$pack" 'expected BUILD_DIR PROGRAM'
bad 2 "$pack" 'expected BUILD_DIR PROGRAM' "$build"
without_value "$pack" --directory
bad 1 "$pack" 'exists already' --directory / "$build" ddpbench
bad 1 "$pack" 'cannot make the directory' --directory /proc/none "$build" ddpbench
for word in "${odd[@]}" ''; do
    bad 2 "$pack" 'no directory' "$word" ddpbench
    bad 1 "$pack" 'there is no' --directory out "$build" "$word"
done
bad 1 "$pack" 'there is no' --directory out "$build" tests
group "install.sh and pack.sh"

# ---- missing tools ----

# without TOOL PATTERN SCRIPT ARGUMENT...: checks that SCRIPT ends with an error matching PATTERN if PATH has no TOOL.
mkdir all hidden
for directory in $(tr : ' ' <<<"$PATH"); do
    find "$directory/" -maxdepth 1 ! -type d -print0 2>/dev/null | xargs -0r ln -st all 2>/dev/null || true
done
for tool in ip tc munged slurmctld slurmd sbatch squeue sinfo scontrol srun; do # stand-ins for tools that are not installed
    [ -e all/$tool ] || ln -s "$(type -P true)" all/$tool
done
without() {
    [ ! -L "all/$1" ] || mv "all/$1" hidden
    PATH=$temporary/all bad 1 "$3" "$2" "${@:4}"
    [ ! -L "hidden/$1" ] || mv "hidden/$1" all
}
for tool in taskset lscpu timeout awk getent; do without $tool "'$tool' .*apt-get install" "$run" --hosts ../texts/hosts -- true; done
for tool in flock setpriv awk find; do
    without $tool "'$tool' .*apt-get install" "$sweep" "${own[@]}"
    without $tool "'$tool' .*apt-get install" "$paper" "${own[@]}" --ranks 1,2
done
if [ "$(id -u)" = 0 ]; then
    for tool in ip tc perl taskset unshare flock awk; do
        without $tool "'$tool' .*apt-get install" "$netlab" up --nodes 2 --rate 10mbit
    done
fi
for tool in strip readelf nm ldd mpiexec.hydra hydra_pmi_proxy xz; do
    without $tool "'$tool' .*apt-get install" "$pack" "$build" ddpbench
done
for tool in sbatch squeue sinfo scontrol srun; do
    without $tool "there is no $tool: Slurm" "$slurm" configure --output out --program "$program"
done
CC='' without cc "cc" "$launch/corpus.sh" corpus
for name in mpiexec.mpich mpirun.mpich mpiexec mpirun; do rm -f all/$name; done
MPIRUN='' without mpiexec 'there is no mpiexec; install one' "$run" -n 1 -- true
group "missing tools"

# ---- signals ----

# Makes a copy of launch/ with a fake netlab.sh and launcher, and a fake program, which creates the file `ready` once it runs.
export temporary # the fake program writes to $temporary
mkdir -p tree/build tree/tools && cp -r "$launch" tree && mkdir -p tree/tests && cp -r "$checks" tree/tests && echo text >tree/build/corpus.txt
ln -s "$(command -v sleep)" tree/at_work
cat >tree/build/ddpbench <<END
#!/bin/sh
case "\$*" in *--dry-run* | *--version* | *--help*) exit 0 ;; esac
echo >"\$temporary/ready"
exec "\$temporary/tree/at_work" 200
END
cat >tree/launch/netlab.sh <<END
#!/bin/sh
case \$1 in
up) : >"\$temporary/lab_is_up" ;;
down) rm "\$temporary/lab_is_up" ;;
run) while [ "\$1" != -- ]; do shift; done && shift && exec "\$@" ;;
esac
END
printf '#!/bin/sh\nshift 2\nexec "$@"\n' >tree/tools/launcher
printf '#!/bin/sh\necho "GPU 0: made up"\n' >tree/tools/nvidia-smi
for name in xz cc; do cp tree/build/ddpbench tree/tools/$name; done
chmod +x tree/build/ddpbench tree/launch/netlab.sh tree/tools/*

# stopped SIGNALS WORDS COMMAND...: checks that each signal ends the command, which otherwise runs for 200 s, and that no file or
# process is left. All scripts trap signals by trap_signals of common.sh, so that one of them gets every signal.
stopped() {
    local words=$2 signal begin left signals=$1
    shift 2
    for signal in $signals; do
        rm -rf ready scratch && mkdir scratch
        begin=$SECONDS
        TMPDIR=$temporary/scratch PATH=$temporary/tree/tools:$PATH MPIRUN=$temporary/tree/tools/launcher interrupt "$signal" ready "$@"
        left=(scratch/* scratch_*/.gate-* lab_is_u[p])
        is "SIG$signal ends $words, and no file or process is left" "$([ -e ready ] && echo at work), $status $((SECONDS - begin < 100)) \
$(gone tree) ${left[*]} $(grep -cE ': line [0-9]+: |Terminated|Killed' said)" "at work, $((128 + $(kill -l "$signal"))) 1   0"
        rm -f lab_is_up
    done
}
stopped "HUP INT USR2 TERM" gate.sh tree/tests/long/gate.sh --output "$temporary/scratch_gate"
stopped INT overlap.sh tree/tests/long/overlap.sh
stopped TERM same_twice.sh tree/tests/long/same_twice.sh
stopped "HUP INT USR2 TERM" bench_gpu.sh tree/launch/bench_gpu.sh --output "$temporary/scratch_gpu" strategies
cp -r "$root"/{bench,ddp,tests,LICENSE} tree
cp "$program" tree/build/ddpbench # pack.sh asks it for its version
stopped "INT TERM" pack.sh tree/launch/pack.sh tree/build ddpbench

# Tests signals to the real netlab.sh, if this machine has network namespaces.
left_in_lab() { { ip netns list | grep ^ddpb- || true; find /run -maxdepth 1 -name 'ddpb-*'; } | tr '\n' ' '; }
if [ "$(id -u)" = 0 ] && ip netns add "probe-ddpb-$$" 2>/dev/null && ip netns del "probe-ddpb-$$" &&
    take_lab && [ -z "$(left_in_lab)" ] && "$netlab" up --nodes 2 --rate 20mbit >/dev/null 2>&1 8<&-; then
    lab_at() { # SIGNAL EVENT COMMAND...: starts netlab.sh COMMAND, and sends it the signal once the condition EVENT is true
        local begin status=0
        set -m
        "$netlab" "${@:3}" >printed 2>said </dev/null 8<&- &
        set +m
        wait_until eval "$2" || true
        begin=$SECONDS
        kill "-$1" $! 2>/dev/null || true
        wait $! 2>/dev/null || status=$?
        is "SIG$1 to netlab.sh $3, once $2, ends the command and removes the lab" "$status $((SECONDS - begin <= 60)) $(left_in_lab) $(grep -vc ': warning: ' said)" \
            "$((128 + $(kill -l "$1"))) 1  0"
    }
    lab_at TERM '[ ! -e /run/ddpb-netlab ]' rate 30mbit
    lab_at HUP '[ -e /run/netns/ddpb-br ]' up --nodes 3 --rate 20mbit
    lab_at INT '[ -e /run/netns/ddpb-n3 ]' up --nodes 3 --rate 20mbit
    lab_at TERM '[ -e /run/ddpb-netlab.sink ]' up --nodes 3 --rate 20mbit
    "$netlab" down 8<&-
else
    echo "skip - signals end netlab.sh: no lab can be made here now"
fi
exec 8<&-

is "the bad calls leave no process" "$(gone here)" ""
echo "# $good_calls of $calls bad calls were handled correctly"
is "at least 250 bad calls were made" "$([ $calls -ge 250 ] && echo yes)" yes
exit "$failed"
