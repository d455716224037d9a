# profile.sh - what the tests of profile mode share. Source it after cli.sh.
# The variables are used by the scripts that source this file:
# shellcheck disable=SC2034,SC2154,SC2317 shell=bash

tiny=(--d-model 32 --num-layers 2 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 12 --vocab-size 256 --profile
    --num-epochs 5 --warmup-epochs 2)
runs=0

# profile RANKS IMPLEMENTATION OPTION...: makes a profile in the new directory $out; sets status.
profile() {
    local ranks=$1
    implementation=$2
    shift 2
    runs=$((runs + 1)) out=$temporary/out$runs status=0
    latest "${tiny[@]}" --rounds 0 --profile-implementation "$implementation" --profile-output-dir "$out" "$@"
    timeout --kill-after=5 "$limit" "${mpirun[@]}" -n "$ranks" "$program" "${latest[@]}" >printed 2>said </dev/null || status=$?
}

# agrees: recomputes the figures of the last profile from its traces; check_printed checks at the end what the profiles printed.
agrees() {
    printed_by+=("$out/$implementation")
    python3 "$root/tests/consumers/recompute_trace.py" "$out" "$implementation"
}
printed_by=()
check_printed() {
    local run complete=()
    for run in "${printed_by[@]}"; do [ ! -e "$run/run.json" ] || complete+=("$run"); done
    with_python "all that the profiles printed follows from their lines" python3 "$root/tests/consumers/recompute_printed.py" "${complete[@]}"
}

# summary EXPRESSION: tests a Python expression on s, the summary.json, and t, the rows of its tables by key.
summary() { python3 -c "import json, sys; s = json.load(open(sys.argv[1], encoding='utf-8'))
t = {table['key']: table['rows'] for table in s['tables']}; assert ($1), t['stragglers']" "$out/$implementation/summary.json"; }

# rows EXPRESSION: tests a Python expression on rank 0's trace: rows, a list of names, and t, all events.
rows() {
    python3 -c "import json, sys; t = json.load(open(sys.argv[1], encoding='utf-8'))['traceEvents']
rows = [r['name'] for r in t]; assert $1, rows" "$out/${implementation}_rank_0_trace.json"
}

# together: checks several profiles, NAME in the directory NAME/NAME.
together() {
    local inner=("$out"/*/*/run.json)
    printed_by+=("$out/comparison" "${inner[@]%/run.json}")
    python3 "$root/tests/consumers/recompute_trace.py" "$out"
}
