#!/usr/bin/env bash
# bad_calls.sh - invalid command lines and files: each call fails quickly, with one line that names the error. Calls
# BUILD_DIR/ddpbench with bad values for each option that `--help rows` lists, contradicting options, bad input files,
# bad output paths, and sizes that exceed any machine; some with 2 ranks. Each call must end with status 1 or 2, use
# less than 5 s of CPU time, print nothing on stdout and one printable line on stderr that names the error, and leave no
# file. Prints a line for each group of calls, and the calls that failed the check.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
export LC_ALL=C
start_quickly

# ---- the calls ----

end=$'\x1e' # separates the fields of a case; occurs in no field
cases=()    # each case: number of ranks, text that the error must contain, and the command line
groups=() firsts=() # names of the groups, and the index of each group's first case
ranks=1

# bad WORDS WORD...: adds a call that must fail with an error containing WORDS. A first WORD DDPBENCH_*=VALUE sets a variable.
bad() {
    local IFS=$end
    latest "${@:2}"
    cases+=("$ranks$end$1$end${latest[*]}$end")
}

# group NAME: starts a group, to which the following cases belong.
group() {
    groups+=("$1")
    firsts+=("${#cases[@]}")
}

model=(--device cpu --d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --context-length 8 --batch-size-per-rank 1)
tiny=("${model[@]}" --vocab-size 64 --num-epochs 4 --rounds 1 --steps-per-block 1 --implementations "none,ddp_bucketed")
profile=("${model[@]}" --vocab-size 64 --num-epochs 4 --profile --rounds 0)
tune=(tune --device cpu --max-minutes 0.001 "${model[@]}" --vocab-size 64)
allreduce=(allreduce --device cpu --iters 1 --max-bytes 64)
isolate=(isolate --device cpu --per rank)
compare=(compare ../in/run --candidate ../in/run2)
report=(report ../in/run)

long=$(printf '%0100000d' 0 | tr 0 1)
nasty=("two"$'\n'"lines" $'red\e[31m\a\b' $'\xff\xc3\x28' "$long" $'tab\tand\rreturn' $'\xc2\x9b31m' $'right\xe2\x80\xaeto left')
not_numbers=("${nasty[@]}" x 1x "1 " " 1" +1 -1 0x10 0x1p3 nan "nan(1)" inf -inf infinity 1e400 1e40 1e-400 4.9e-324 1e-320
    -1e-300 -0.5 '1,2' ',1' 1e 1e+ . - -- 1.2.3 "1;2" 1_000 $'\xd9\xa1' $'1\n' 9999999999999999999999999999999999999999)
not_names=("${nasty[@]}" "," "x," "x,,x" " " "=" "a=b=c" "*" "../x" "/")

# rows [COMMAND]: prints the options in the --help rows of the command as lines NAME:LETTER:KIND:CHOICES.
rows() { "$program" "$@" --help rows </dev/null | awk -F '\t' '$1 == "" && NF > 5 { print $2 ":" $3 ":" $4 ":" $6 }'; }

# bounds WORD...: prints "whole LOW HIGH" or "real LOW HIGH" for the option that is the last WORD, from the error for the value x.
bounds() {
    local said
    said=$("$program" "$@" x 2>&1 </dev/null) || true
    if [[ $said =~ expected\ a\ (whole\ )?number\ from\ ([0-9.e+-]+)\ to\ ([0-9.e+-]+) ]]; then
        echo "${BASH_REMATCH[1]:-real} ${BASH_REMATCH[2]} ${BASH_REMATCH[3]}"
    fi
}

# bad_options SEEN CALL...: adds calls with bad values for every option of the command in CALL. Adds only one call for
# an option that is also in SEEN, the output of `rows` for another command.
bad_options() {
    local seen=$1 name letter kind choices what low high value command=()
    shift
    [[ $1 == -* ]] || command=("$1")
    while IFS=: read -r name letter kind choices; do
        if [ -z "$kind" ]; then
            bad "--$name takes no value" "$@" "--$name=1"
            continue
        fi
        if [[ $seen == *"$name:$letter:$kind:$choices"* ]]; then
            some 1 "--$name" "--${name//-/_}="
            [ "$name" != dry-run ] || picked=(--dry_run=) # without a value, --dry-run is right
            bad "--$name" "$@" "${picked[0]}"
            continue
        fi
        [ "$name" = dry-run ] || bad "--$name needs a value" "$@" "--$name"
        bad "unknown option '--${name}x'; did you mean" "$@" "--${name}x" 1
        some 1 "--$name=" "--${name//-/_}="
        bad "--$name" "$@" "${picked[0]}"
        [ "$letter" = - ] || bad "--$name needs a value" "$@" "-$letter"
        [ "$letter" = - ] || [ "$kind" = PATH ] || bad "--$name" "$@" "-${letter}x,"
        case $kind in
        PATH) picked=("") ;;
        N | SIZE | PERCENT)
            some 2 "${not_numbers[@]}"
            read -r what low high <<<"$(bounds "$@" "--$name")" || true
            [ "$what" != whole ] || picked+=(0.5 "$((high + 1))" 18446744073709551617)
            [ "$what" != real ] || picked+=("${high}1" "1%")
            [ -z "$what" ] || [ "$low" = 0 ] || picked+=(0 1e-300)
            ;;
        NAME) some 4 "${not_names[@]}" ;;
        *)
            some 3 "${not_names[@]}"
            picked+=(-1 "${choices}x")
            ;;
        esac
        for value in "${picked[@]}"; do bad "--$name" "$@" "--$name" "$value"; done
    done < <(rows "${command[@]}")
    for value in "${nasty[@]}" x= -x no-such-option=1 devise help=x; do bad "" "$@" "--$value"; done
    for value in Q Q1 "=" $'\e[31m' $'\n'; do bad "unknown option" "$@" "-$value"; done
    bad "--help" "$@" --help x
}

# Prepares the input files: valid runs, and files that are not runs.
mkdir in
(
    cd in
    "$program" "${tiny[@]}" --output run >said 2>&1 || die "cannot make the run that commands read: $(cat said)"
    "$program" "${allreduce[@]}" --output sizes >said 2>&1 || die "cannot make the sizes that commands read: $(cat said)"
    cp -r run run2
    mkdir dir unfinished no_figures junk_run
    : >empty && cp empty empty.bin
    mkfifo fifo fifo.bin
    ln -s nothing dangling
    ln -s loop loop
    printf 'abc' >short
    head -c 5000 /dev/urandom | tr '\0-\177' '\200-\377' >high # bytes outside a vocabulary of 64
    printf 'odd' >odd.bin
    printf '\xe8\xa3\x34\x01\x01' >truncated.bin && printf '\0' >>truncated.bin
    { printf '\x88\xd8\x34\x01\x01\0\0\0\xff\xff\0\0' && head -c 1200 /dev/zero; } >promises.bin
    { printf '\x88\xd8\x34\x01\x09\0\0\0\x64\0\0\0' && head -c 1212 /dev/zero; } >version.bin
    { printf '\x88\xd8\x34\x01\x01\0\0\0' && head -c 12 /dev/zero; } >header.bin
    cp run/run.json unfinished
    cp run/run.json no_figures && echo '{}' >no_figures/summary.json
    head -c 500 /dev/urandom >junk_run/run.json && cp junk_run/run.json junk_run/summary.json
    for what in run summary; do
        for how in empty junk truncated array number missing directory fifo zero deep; do
            cp -r run "$what-$how"
            file=$what-$how/$what.json
            rm "$file"
            case $how in
            empty) : >"$file" ;;
            junk) cp junk_run/run.json "$file" ;;
            truncated) head -c 200 "run/$what.json" >"$file" ;;
            array) echo '[1, 2]' >"$file" ;;
            number) echo 1e999 >"$file" ;;
            directory) mkdir "$file" ;;
            fifo) mkfifo "$file" ;;
            zero) ln -s /dev/zero "$file" ;;
            deep) printf '%020000d' 0 | tr 0 '[' >"$file" ;;
            esac
        done
    done
)

benchmark_rows=$(rows)
group "values of benchmark and profile options"
bad_options "" "${tiny[@]}"
group "values of tune's options"
bad_options "$benchmark_rows" "${tune[@]}"
group "values of allreduce's options"
bad_options "$benchmark_rows" "${allreduce[@]}"
group "values of isolate's options"
bad_options "$benchmark_rows" "${isolate[@]}"
for call in "" "--per host" "--per rank"; do
    # shellcheck disable=SC2086
    bad "isolate compares 3 members or more" isolate --device cpu $call
done
group "values of compare's options"
bad_options "" "${compare[@]}"
group "values of report's options"
bad_options "" "${report[@]}"

group "words that are not options"
for word in "${nasty[@]}" -- - --- =; do
    bad "" "${tiny[@]}" "$word"
    bad "" "${tune[@]}" "$word"
    bad "" "${allreduce[@]}" "$word"
    bad "" "${compare[@]}" "$word"
done
for word in dry-run= dry-run=x dry-run=-1; do bad "--dry-run" "${tiny[@]}" "--$word"; done
group "unknown commands"
for word in "${nasty[@]}" tun allreduces "" "compare " COMPARE report/ 1; do bad "unknown command" "$word"; done

group "lists" # tests/unit tests lists in the options of training and profiles
for word in 8,x 8,,16 "," 0 -8 1e3 8B 8KB 2T 1.0001K 0x8 "8 " "8,9," nan inf "$(printf '8%.0s,' {1..99})-1"; do
    bad "--sizes" allreduce --device cpu --iters 1 --sizes "$word"
done
for word in float,x all,float "float," int64 sum; do bad "--datatype" "${allreduce[@]}" --datatype "$word"; done

group "options that contradict each other" # tests/unit tests more cases of training and profiles
bad "--dtype" "${tiny[@]}" --dtype bf16
bad "--comm" "${tiny[@]}" --comm nccl
for word in --profile-output-dir=x --verbose --trace-gzip; do bad "--profile" "${tiny[@]}" "$word"; done
bad "--profile-activities" "${profile[@]}" --profile-activities cuda
bad "--sizes-from-model" "${allreduce[@]}" --sizes-from-model
for word in --average=0 --run-cycles=2; do bad "--overlap" "${allreduce[@]}" --overlap "$word"; done
while IFS='|' read -r words options; do # of allreduce alone
    read -ra options <<<"$options"
    bad "$words" allreduce --device cpu "${options[@]}"
done <<'END'
--sizes 8X: expected a size|--sizes 8,8X
--max-bytes 8 is less than --min-bytes 1048576|-b 1M -e 8
--max-bytes does not go with --sizes|--sizes 8 -e 1M
--step-factor does not go with --step-bytes|-f 2 -i 8
--sizes: 1024 bytes are listed twice|--sizes 1K,1024
--sizes: 3 bytes of float do not divide into elements; use multiples of 4|--sizes 8,3
--op does not go with --collective all_gather|--collective all_gather -o sum
--root needs --collective broadcast|--root 1
--blocking does not go with --overlap|--overlap -z 1
--d-model needs --sizes-from-model|--d-model 64
--check does not go with --overlap|--overlap -c 3
--nominal nvlink9: expected a rate such as 100mbit, |--nominal nvlink9
--nominal does not go with --overlap|--overlap --nominal 1gbit
more than 100000 sizes|-b 1 -e 1G -i 1
END
bad "none of the --implementations" allreduce --device cpu --sizes-from-model --implementations none
bad "--reference" "${report[@]}" --reference run

group "files to read"
for file in fifo loop dangling empty/x empty.bin truncated.bin promises.bin version.bin header.bin fifo.bin dir/; do
    bad "../in/$file" "${tiny[@]}" --data "../in/$file"
done
while IFS='|' read -r file words; do bad "--data ../in/$file: $words" "${tiny[@]}" --data "../in/$file"; done <<'END'
missing|cannot open it: No such file or directory (allowed: a file, 
empty|is empty
dir|is a directory; allowed: a file
odd.bin|3 bytes is an odd size
short|has 3 tokens, but one batch needs 9
high|token 
END
bad " is not below the vocabulary of 64" "${tiny[@]}" --data ../in/high
bad "--data /dev/zero: is not a regular file; allowed" "${tiny[@]}" --data /dev/zero
for file in /dev/null /dev/full /proc/self/mem /proc/self/environ "${nasty[@]}" Synthetic; do bad "--data" "${tiny[@]}" --data "$file"; done
kinds=()
for what in run summary; do
    for how in empty junk truncated array number missing directory fifo zero deep; do kinds+=("$what-$how"); done
done
for file in missing empty dir fifo loop dangling empty/x no_figures junk_run unfinished "${kinds[@]}"; do
    bad "" compare "../in/$file" --candidate ../in/run
    bad "" compare ../in/run "../in/$file"
    case $file in unfinished | summary-*) ;; *) bad "" report "../in/$file" ;; esac
    case $file in dir | unfinished | no_figures | junk_run | *-*) ;; *) bad "" report --metrics-csv "../in/$file" ;; esac
done
for file in /dev/zero /dev/null /proc "${nasty[@]}" ""; do
    bad "" compare "$file" ../in/run
    [ "$file" = /proc ] || bad "" report "$file" # a tree with unreadable directories prints a line for each
    [ "$file" = /proc ] || bad "" report "x=$file"
done

group "places to write to"
name300=$(printf '%0300d' 0)
deep=$(printf 'd/%.0s' {1..3000})
unwritable=(/dev/full /dev/null ../in/dir ../in/dir/ /proc/nothing/x /sys/x ../in/fifo ../in/empty/x ../in/nowhere/x "$name300" "$deep" ../in/loop/x)
for place in "${unwritable[@]}"; do
    for call in tiny profile allreduce; do
        declare -n words=$call
        bad "--prometheus" "${words[@]}" --prometheus "$place"
    done
    for option in json junit; do bad "--$option" "${compare[@]}" "--$option" "$place"; done
    for option in html markdown json csv; do bad "--$option" "${report[@]}" "--$option" "$place"; done
done
for place in /dev/full /dev/null /proc/nothing /sys/x ../in/fifo ../in/empty ../in/empty/x ../in/dangling ../in/loop ../in/loop/x \
    "$name300" "$deep" "${nasty[1]}" "${nasty[3]}" ../in/run; do
    case $place in ../in/empty/x | "$deep" | ../in/run) ;; *) bad "--output" "${tiny[@]}" --output "$place" ;; esac
    bad "--output" "${allreduce[@]}" --output "$place"
    [ "$place" = ../in/run ] || bad "--output" "${report[@]}" --output "$place"
    bad "--profile-output-dir" "${profile[@]}" --profile-output-dir "$place"
done

bad "--output ../in/empty/x: cannot make the directory" "${tiny[@]}" --output ../in/empty/x
bad "--output ../in/run already holds run.json, which is not overwritten; choose another directory" "${tiny[@]}" --output ../in/run
bad "--output: the path is longer than" "${tiny[@]}" --output "$deep"

group "sizes that exceed any machine"
huge=(--device cpu --implementations ddp)
bad "memory" "${huge[@]}" --d-model 1000000 --num-heads 1
bad "memory" "${huge[@]}" --num-layers 10000 --d-model 100000 --num-heads 1
bad "no machine has that much memory" "${huge[@]}" --d-model 1000000 --num-heads 500000 --d-ff 10000000 --num-layers 10000 --batch-size 1000000000 \
    --context-length 1000000 --vocab-size 65536
bad "memory" "${huge[@]}" --context-length 1000000
bad "use a smaller --preset, --batch-size, " "${huge[@]}" --batch-size-per-rank 1000000000
bad "--steps-per-block" "${tiny[@]}" --steps-per-block 1000000 --num-layers 1000
bad "memory" "${huge[@]}" --batch-size 1000000000 --context-length 1000000
bad "" "${tiny[@]}" --num-epochs 1000000000 --steps-per-epoch 1000000000 --steps-per-block 0
bad "" "${tiny[@]}" --steps-per-block 0 --num-epochs 10 --steps-per-epoch 1000000000
bad "" "${profile[@]}" --num-epochs 1000000000 --profile-wait 100000000000
bad "memory" "${profile[@]}" --num-epochs 1000000000 --profile-buffer-mb 1000000
bad "memory" allreduce --device cpu --sizes 1024G
bad "sizes" allreduce --device cpu --step-bytes 9 --max-bytes 1024G
bad "sizes" allreduce --device cpu --step-bytes 9
bad "sizes" allreduce --device cpu --step-bytes 1 --max-bytes 1G
bad "memory" allreduce --device cpu --step-factor 1.001 --min-bytes 1 --max-bytes 1024G --iters 1000000
bad "memory" allreduce --device cpu --sizes-from-model --d-model 1000000 --num-heads 1 --num-layers 10000

# A sample of the cases above with 2 ranks, and cases in which only one rank fails.
group "with 2 ranks"
n=${#cases[@]}
ranks=2
for ((i = 7; i < n; i += 40)); do
    case ${cases[i]} in *"${end}compare$end"* | *"${end}report$end"* | *--inject-delay* | *--overlap* | *--root* | *--profile-ranks*) continue ;; esac
    cases+=("2${cases[i]#1}")
done
for kind in empty high fifo odd.bin; do bad "../in/$kind" "${tiny[@]}" --data "../in/$kind"; done
bad "--inject-delay" "${tiny[@]}" --inject-delay rank=2,ms=1,phase=forward_pass
bad "--root 2: there are ranks 0 to 1" "${allreduce[@]}" --collective broadcast --root 2
bad "--sizes: 12 bytes of double do not divide into elements of each rank; use multiples of 16" allreduce --device cpu \
    --collective all_gather -d double --sizes 12
for kind in missing empty short promises.bin; do bad "../in/$kind" "${tune[@]}" --data "../in/$kind"; done
for place in ../in/dir ../in/nowhere/x; do bad "--prometheus" "${tune[@]}" --prometheus "$place"; done
for place in /dev/full ../in/empty/x ../in/dangling "$name300" "$deep" ../in/run; do
    bad "--output" "${tune[@]}" --output "$place"
    bad "--output" "${tiny[@]}" --output "$place"
done
bad "memory" tune --device cpu --d-model 1000000 --num-heads 1
bad "memory" tune --device cpu --batch-size 1000000000

# ---- calling ----

# call NUMBER WORKER: runs a case in the worker's empty directory, and appends what is wrong to the file WORKER.wrong.
call() {
    local field=() status=0 said=() wrong='' word launch=() left
    IFS=$end read -r -d '' -a field <<<"${cases[$1]}" || true
    unset 'field[-1]'
    [ "${field[0]}" = 1 ] || launch=("${mpirun[@]}" -n "${field[0]}")
    word=${field[2]-}
    [[ $word != DDPBENCH_* ]] || launch+=(env "$word")
    [[ $word != DDPBENCH_* ]] || unset 'field[2]'
    (ulimit -t 5 && exec timeout --kill-after=1 "$limit" "${launch[@]}" "$program" "${field[@]:2}") >../"$2.out" 2>../"$2.err" </dev/null ||
        status=$?
    mapfile -t said <../"$2.err"
    case $status in 1 | 2) ;; *) wrong+="status $status; " ;; esac
    [ ! -s ../"$2.out" ] || wrong+="something on stdout; "
    [ "${#said[@]}" = 1 ] || wrong+="${#said[@]} lines; "
    [[ ${said[0]-} == "ddpbench: "* && ${#said[0]} -le 1200 ]] || wrong+="not a short line of ddpbench; "
    [[ ${said[*]-} != *[$'\x01'-$'\x1f'$'\x7f']* && ${said[*]-} != *$'\xc2'[$'\x80'-$'\x9f']* ]] || wrong+="control characters; "
    [[ ${said[*]-} == *"${field[1]}"* ]] || wrong+="no '${field[1]}'; "
    for left in * .[!.]*; do
        [ ! -e "$left" ] || wrong+="left ${left:0:60}; "
        rm -rf -- "$left"
    done
    cat ../"$2.err" >>../"$2.all"
    [ -z "$wrong" ] || printf '%d %q\n' "$1" "$wrong [${field[*]:2:40}] said: ${said[*]:0:3}" | cut -c1-900 >>../"$2.wrong"
}

# worker W: runs the cases W, W + workers, W + 2 x workers and so on, in a directory of its own.
workers=$most_asides
worker() {
    local i
    mkdir "w$1"
    cd "w$1"
    for ((i = $1; i < ${#cases[@]}; i += workers)); do call "$i" "w$1"; done
}

# listing: prints the input files with their types, sizes and times.
listing() { find in -type d -printf '%p\n' -o -printf '%p %y %s %T@\n' | sort; }
listing >before
for ((w = 0; w < workers; w++)); do worker "$w" & done
wait
cat ./*.wrong 2>/dev/null | sort -n >wrong || true
cat ./*.all >all

firsts+=("${#cases[@]}")
for ((g = 0; g < ${#groups[@]}; g++)); do
    awk -v from="${firsts[g]}" -v to="${firsts[g + 1]}" '$1 >= from && $1 < to' wrong >said
    good=0
    [ ! -s said ] || good=1
    result $good "${groups[g]}: $((firsts[g + 1] - firsts[g])) calls, $(wc -l <said) handled badly"
done
: >said
succeeds "all error messages are valid UTF-8" iconv -f UTF-8 -t UTF-8 -o /dev/null all
listing >after
succeeds "bad calls do not change their input files" diff before after
is "the bad calls leave no process" "$(gone "")" ""
exit $failed
