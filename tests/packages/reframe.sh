#!/usr/bin/env bash
# reframe.sh - packaging/reframe with ReFrame of PyPI and its local scheduler: runs pass, become a baseline, and fail with an
# injected delay, by figure and reason; references hold; and each verdict of isolate.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# skip REASON: says that ReFrame cannot be had here, and ends the script.
skip() {
    echo "skip - ReFrame: $1"
    exit 0
}

command -v python3 >/dev/null || skip "python3 is not installed"
python3 -m venv venv >/dev/null 2>&1 || skip "python3 makes no virtual environment"
venv/bin/pip install -q reframe-hpc >said 2>&1 || skip "pip cannot install it: $(tail -n 1 said)"
mkdir bin home
# ReFrame starts `mpirun`, and isolate ends with the status of the file `isolate`, if there is one.
printf '%s\n' '#!/bin/sh' "exec $(quote_words "${mpirun[@]}") \"\$@\"" >bin/mpirun
printf '%s\n' '#!/bin/sh' "$(quote_words "$program") \"\$@\"" "status=\$?; [ \"\$1\" != isolate ] || exit \"\$(cat '$temporary/isolate')\"; exit \$status" >bin/ddpbench
chmod +x bin/*
export PATH=$temporary/bin:$temporary/venv/bin:$PATH HOME=$temporary/home TMPDIR=$temporary
unset "${!RFM_@}"

# reframe NAME OPTION...: runs the test ddpbench_NAME; `printed` has what ReFrame prints.
reframe() {
    try venv/bin/reframe --nocolor -C "$root/packaging/reframe/settings.py" -c "$root/packaging/reframe/ddpbench.py" \
        --prefix "$temporary/prefix" -n "^ddpbench_$1\$" -r "${@:2}"
}
# outcome: prints ReFrame's word for the test, such as OK.
outcome() { sed -nE 's/^\[ +([A-Z]+) \] \(1\/1\).*/\1/p' printed; }
# reason: prints why the test failed, or was skipped.
reason() { sed -nE 's/^  \* Reason: (.*)/\1/p; s/^\[ +SKIP \].* \[(.*)\]$/\1/p' printed; }
# matches WORDS TEXT PATTERN: checks that a text matches an extended regular expression.
matches() { is "$1" "$(grep -oE -- "$3" <<<"$2" || echo "$2")" "$(grep -oE -- "$3" <<<"$2" || echo "$3")"; }

# A single rank, which no other rank keeps from its core, and a delay that is most of the step make runs alike on a busy machine;
# they are too short to measure whether it was busy, which would make verdicts undecided.
step='--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 4 --vocab-size 256 --threads 1
    --implementations ddp --rounds 1 --steps-per-block 1 --inject-delay rank=0,phase=backward_pass,ms='
step=${step//$'\n'/}
judged=(-S num_tasks=1 -S baseline=baseline -S 'compare_options=--tolerance 50 --allow inject-delay')

reframe benchmark --output baseline -S num_tasks=1 -S "options=${step}10" --performance-report
is "benchmark passes, and its step is a performance variable" "$status $(outcome) $(grep -cE '^P: ddp_step: [0-9.]+ ms$' printed)" "0 OK 1"
reframe benchmark -S "options=${step}10" "${judged[@]}"
is "it passes against its baseline" "$status $(outcome)" "0 OK"
reframe benchmark -S "options=${step}30" "${judged[@]}"
is "it fails with a longer delay" "$status $(outcome)" "1 FAIL"
matches "the reason names figure and change" "$(reason)" 'regressed \+[0-9.]+ % \(ddp step\): the figures called regressed are worse by more than 50 %'
reframe benchmark -S num_tasks=1 -S "options=${step}30" -S baseline=baseline
matches "incomparable runs fail, and the reason names the setting" "$(reason)" 'Settings differ: inject-delay: .*Verdict: incomparable'
reframe benchmark -S "options=${step}10" -S runs=1 "${judged[@]}" -S baseline=baseline/here/local/builtin/ddpbench_benchmark/runs
is "one run that cannot tell is skipped, or passes; a directory of runs is a baseline" "$status $([[ $(outcome) == @(SKIP|OK) ]] && echo fine)" "0 fine"
reframe benchmark -S "options=${step}10" -S runs=2 -S "control=$program" -S strict=1
matches "a control runs in turn; with strict the test fails where two runs cannot tell" "$(outcome) $(reason)" 'FAIL .*2 against 2 runs'
reframe benchmark -S "options=${step}10" -S runs=1 -S expected=ddp_step:0.001
matches "a step above the expected one fails" "$(outcome) $(reason)" 'FAIL performance error: .*ddp_step=[0-9.]+ ms, expected 0.001'
reframe benchmark -S "options=${step}10" -S runs=1 -S expected=step:1
matches "an unknown figure is an error with the known ones" "$(reason)" 'there is no step; known are ddp_step$'
reframe benchmark -S "options=${step}10" -S baseline=elsewhere
matches "a baseline without runs is an error" "$(reason)" 'baseline=elsewhere: there are no runs in '
reframe benchmark -S options=--no-such
matches "a run that fails: status and message" "$(reason)" "a run ended with status 2: .*unknown option '--no-such'"

reframe allreduce -S 'options=-b 8 -e 64 -f 8' -S runs=2
is "allreduce passes, with time and bandwidth" "$status $(outcome) $(grep -oE '^P: all_reduce_float_sum_out_of_place_[a-z0-9_]*: [0-9.e-]+ (us|GB/s)$' printed | sed -E 's/.*place_//; s/: .* / /' | xargs)" \
    "0 OK time_8 us busbw_64 GB/s"

isolate=(isolate -S 'options=--per rank --max-minutes 0.1 --threads 1' -S num_tasks=3)
echo 0 >isolate
reframe "${isolate[@]}"
is "isolate passes, with the slowest members" "$status $(outcome) $(grep -cE '^P: slowest_(send|receive|product|copy): [0-9.]+ ms$' printed)" "0 OK 4"
echo 3 >isolate
reframe "${isolate[@]}"
is "isolate: a slow member fails, with the answer" "$status $(outcome) $(reason)" \
    "1 FAIL sanity error: $(sed -nE 's/^\t"answers":\t\["(.*)"\],?$/\1/p' prefix/stage/here/local/builtin/ddpbench_isolate/runs/1/summary.json | sed 's/", "/ /g')"
echo 4 >isolate
reframe "${isolate[@]}"
is "isolate: undecided is skipped" "$status $(outcome)" "0 SKIP"
exit "$failed"
