#!/usr/bin/env bash
# faults.sh - each call that writes a file fails once, or is the last of its process, in every kind of run.
set -euo pipefail

usage() {
    echo "Usage: tests/cli/faults.sh [--help] BUILD_DIR"
    echo "Runs BUILD_DIR/ddpbench with BUILD_DIR/tests/support/preload/faults.so: the k-th open, write, close, rename and"
    echo "mkdir below the directory of results fails, for every k. Then the run has to be over within 10 s, by a status"
    echo "that is not 0, with one line that says why, and all files are valid. MPIRUN: the launcher."
}
# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"
faults=$build/tests/support/preload/faults.so
[ -e "$faults" ] || { echo "not ok - there is no $faults"; exit 1; }

tiny=(--device cpu --d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --vocab-size 32 --context-length 8
    --batch-size-per-rank 1 --rounds 2 --steps-per-block 1)
"$program" "${tiny[@]}" --implementations none --output saved >said 2>&1 || die "no run to report on: $(cat said)"

# of KIND: the words of a command of that kind of run, in `command`.
of() {
    case $1 in
    benchmark) command=("$program" "${tiny[@]}" --implementations none --output outcome) ;;
    ranks) command=("${mpirun[@]}" -n 2 "$program" "${tiny[@]}" --implementations "none,ddp" --output outcome) ;;
    profile) command=("$program" "${tiny[@]}" --profile --profile-implementation ddp --num-epochs 1 --steps-per-epoch 3
        --warmup-epochs 0 --profile-output-dir outcome) ;;
    allreduce) command=("$program" allreduce --device cpu --sizes "8,64" --iters 2 --output outcome -J outcome.json) ;;
    report) command=("$program" report saved --output outcome) ;;
    compare) command=("$program" compare saved --candidate saved2 --json outcome.json --junit outcome.xml) ;;
    esac
}

# after HOW: what is wrong with the run that is over.
after() {
    local files
    case $1,$status in *,124 | [!k]*,137) echo "is not over after 10 s" ;; esac
    if [ "$1" = EINTR ]; then
        [ "$status" = 0 ] || echo "status $status of a call that was only interrupted: $(cat said)"
    else
        [ "$status" != 0 ] || echo "status 0"
    fi
    [ "$1" = kill ] || [ "$1" = EINTR ] || [ "$(grep -c '^ddpbench: ' said)" = 1 ] ||
        echo "$(grep -c '^ddpbench: ' said) lines in place of one: $(cat said)"
    mapfile -t files < <(find outcome outcome.json -name '*.json' -o -name '*.jsonl' 2>/dev/null)
    [ "${#files[@]}" = 0 ] || valid "${files[@]}" || true
    [ "$1" = kill ] || find outcome outcome.json.tmp -name '*.tmp' 2>/dev/null || true
}

# every KIND CALL HOW LEAST [RANK]: lets each such call of a run of that kind fail in turn; there are so many, at least.
every() {
    local kind=$1 call=$2 how=$3 least=$4 k wrong=0 words
    of "$kind"
    for ((k = 1;; k++)); do
        rm -rf outcome outcome.json outcome.xml hit
        { limit=10 try env LD_PRELOAD="$faults" FAULT_UNDER=outcome FAULT_CALL="$call" FAULT_AT="$k" FAULT_HOW="$how" \
            FAULT_RANK="${5:-0}" FAULT_LOG="$PWD/hit" "${command[@]}"; } 2>/dev/null # the shell tells of what was killed
        [ -d hit ] || break
        words=$(after "$how")
        [ -z "$words" ] || { wrong=1; echo "$call number $k: $words" >>wrongs; }
    done
    [ ! -e wrongs ] || mv wrongs said
    [ "$k" -gt "$least" ] || { wrong=1; echo "only $((k - 1)) calls failed, and $least were expected" >>said; }
    result "$wrong" "$kind, ${5:+rank $5: }$call: $how ($((k - 1)) calls)"
}

for kind in benchmark profile allreduce; do
    for how in ENOSPC half-ENOSPC EINTR kill; do every $kind write $how 5; done
    every $kind open EMFILE 4
    every $kind close EIO 4
    every $kind rename EIO 3
    every $kind rename kill 3
done
every benchmark mkdir ENOSPC 1
every profile mkdir ENOSPC 2
for how in half-ENOSPC kill; do every ranks write $how 2 1; done
every ranks close EIO 1 1
cp -r saved saved2
for kind in report compare; do
    every $kind write half-ENOSPC 1
    every $kind open EMFILE 1
    every $kind close EIO 1
    every $kind rename EIO 1
done

# ---- what others do to the files ----

"$program" "${tiny[@]}" --rounds 1000000 --implementations none --output shared >printed 2>said.first &
run=$!
for ((i = 0; i < 200; i++)); do
    [ ! -s shared/rank_0_metrics.jsonl ] || break
    sleep 0.05
done
try "$program" "${tiny[@]}" --implementations none --output shared
check 1 "a second run in the directory of one that goes on" '^ddpbench: --output shared: another run writes there now; choose another directory$'
rm shared/rank_0_metrics.jsonl
status=0
wait $run || status=$?
mv said.first said
check 1 "a run whose metrics another process removes says so" \
    '^ddpbench: shared/rank_0_metrics[.]jsonl was removed or changed by another process; nothing more is written to it$'
succeeds "and what else it wrote is whole" valid shared/*.json

mkfifo pipe
try "$program" allreduce --device cpu --sizes 8 --output piped -J pipe
check 1 "a pipe as the output file" '^ddpbench: --output-file pipe: is not a regular file; name a file$'
mkdir waits && mkfifo waits/run.json.tmp waits/rank_0_metrics.jsonl
try "$program" "${tiny[@]}" --implementations none --output waits
is "pipes that have the names of its files do not make a run wait" "$status" 0
exit "$failed"
