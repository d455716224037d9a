#!/usr/bin/env bash
# make.sh - remakes the reference results, each with its command, version, date and machine.
set -Eeuo pipefail

here=$(dirname "$(realpath "$0")")
all=(allreduce-100mbit profile-100mbit overlap-100mbit sweep-bandwidth sweep-latency controls-by-rate hierarchical
    slurm-series gate trend same-strategy-twice bench-step bench-kernels bench-profile bench-allreduce isolate-simulated predict
    chakra coverage replay-check)

# shellcheck source=launch/common.sh
. "$here/../../launch/common.sh"

usage() {
    cat <<END
Usage: results/reference/make.sh [NAME...], as root, after \`make\`, on an idle machine: all take about an hour
Makes these reference results anew (default: all), and keeps the older result if its command fails:
  ${all[*]}
Exit status: that of the first command that fails, after which nothing more is made.
END
}

most_arguments=99
read_options "$@"
set -- "${arguments[@]:-${all[@]}}"
for name in "$@"; do
    [[ " ${all[*]} " == *" $name "* ]] || usage_error "'$name' is not a reference result; expected some of ${all[*]}"
done
cd "$here/../.."
need_program build/ddpbench
work=$(mktemp -d) slurm_is_ours=''
slurm_lab=tests/support/slurm_lab.sh

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    end_child
    lab_down
    [ -z "$slurm_is_ours" ] || $slurm_lab down
    rm -rf "$work"
}
trap clean_up EXIT
trap_signals
trap 'say "$name could not be made"' ERR

# print_heading COMMAND...: prints a line for each command, and a line with the version, the date and the machine.
print_heading() {
    printf '# %s\n' "$@"
    printf '# %s, %s, %s, %s CPUs, %s, kernel %s\n' "$(build/ddpbench --version)" "$(date +%F)" \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(count_cpus)" "$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release)" "$(uname -r)"
}

# run COMMAND: runs a line of bash, in which OUTPUT means $work/output. Saves its output, with OUTPUT again, below a heading
# with all commands of this result so far.
run() {
    commands+=("$1")
    print_heading ${up:+"$up"} "${commands[@]}" >"$work/printed"
    wait_child bash -c "${1//OUTPUT/"'$work/output'"}" >>"$work/printed"
    sed -i "s|$work/output|OUTPUT|g" "$work/printed"
}

# link_up NODES OPTION...: creates a network of NODES nodes; sets the variable `up` to the command that creates it.
link_up() {
    lab_up "$@"
    up="launch/netlab.sh up --nodes $*"
}

# keep_printed saves the printed output as the result. keep_directory saves the results directory and the printed output.
keep_printed() {
    sed -i -E '/^(CC|NVCC|AR|LINK) /d' "$work/printed" # lines about compiling
    cp --remove-destination "$work/printed" "$here/$name.txt"
}
keep_directory() {
    rm -f "$work/output/metrics.csv" # `ddpbench report --metrics-csv` can make it from the other files
    cp "$work/printed" "$work/output/output.txt"
    rm -rf "${here:?}/${name:?}"
    cp -r "$work/output" "$here/$name"
    { grep -rlZF -e "$work/" -e "$PWD/" "$here/$name" || true; } | xargs -0r sed -i "s|$work/output|OUTPUT|g; s|$work/||g; s|$PWD/||g"
}

# ---- the results ----

make_allreduce-100mbit() {
    link_up 2 --rate 100mbit
    run 'launch/netlab.sh run -- build/ddpbench allreduce -b 16 -e 16M -f 4 --output OUTPUT'
    keep_directory
}

make_profile-100mbit() {
    link_up 2 --rate 100mbit
    launch/corpus.sh build/corpus.txt
    run 'launch/netlab.sh run -n 2 -- build/ddpbench --threads 1 --data build/corpus.txt --d-model 128 --num-layers 4 --num-heads 4 --d-ff 512 --context-length 128 --batch-size 128 --profile --profile-implementation ddp_bucketed --bucket-size-mb 0.25 --rounds 12 --profile-output-dir OUTPUT'
    keep_printed
}

make_overlap-100mbit() {
    run 'tests/long/overlap.sh --rounds 12 --output OUTPUT'
    keep_directory
}

# sweep REPEATS OPTION...: runs a sweep with REPEATS runs of each point, over a link with these options.
sweep() {
    link_up 2 "${@:2}"
    run "launch/sweep.sh --launcher 'launch/netlab.sh run -n {ranks} --' --ranks 2 --implementations none,ddp_flat,ddp_bucketed --bucket-size-mb 0.02,0.05,0.1,0.25,0.5,1,2 --repeats $1 --rounds 4 --output OUTPUT --model 'd64-l8:--d-model 64 --num-layers 8 --num-heads 4 --d-ff 256 --context-length 64 --batch-size-per-rank 32 --vocab-size 256' -- --threads 1 --steps-per-block 3"
    mv "$work/output" "$work/sweep"
    mkdir "$work/output"
    cp "$work/sweep/report/report.csv" "$work/output"
    cp "$work"/sweep/report/pictures/sweep_*.svg "$work/output/step.svg"
    keep_directory
}
make_sweep-bandwidth() { sweep 6 --rate 100mbit; }
make_sweep-latency() { sweep 12 --rate 1gbit --delay 2ms; }

# A small model, whose step takes about as long as its all-reduce over 100 Mbit/s.
small='--threads 1 --data build/corpus.txt --d-model 128 --num-layers 4 --num-heads 4 --d-ff 512 --context-length 128'

make_controls-by-rate() {
    local rate
    launch/corpus.sh build/corpus.txt
    for rate in 50mbit 100mbit 500mbit 2gbit 10gbit; do
        link_up 2 --rate $rate
        run "launch/netlab.sh run -- build/ddpbench $small --batch-size 32 --bucket-size-mb 1 --rounds 6 --steps-per-block 4 --implementations none,ddp_bucketed,ddp_powersgd:1,ddp_powersgd:4,ddp_local:4 --output OUTPUT-$rate"
        cat "$work/printed" >>"$work/all"
        commands=()
    done
    mv "$work/all" "$work/printed"
    keep_printed
}

make_hierarchical() {
    launch/corpus.sh build/corpus.txt
    link_up 3 --rate 50mbit
    run "MPIR_CVAR_IREDUCE_SCATTER_BLOCK_INTRA_ALGORITHM=sched_pairwise launch/netlab.sh run -n 6 -- build/ddpbench $small --batch-size 12 --bucket-size-mb 0.5,1 --rounds 6 --steps-per-block 2 --implementations none,ddp_bucketed,ddp_hierarchical --attainable --output OUTPUT"
    keep_printed
}

# Runs three Slurm jobs, one after another, and reports them together.
make_slurm-series() {
    need_tools chromium chromium
    local nodes run runs=() in_lab=("$slurm_lab" run launch/slurm.sh)
    $slurm_lab up 4 >&2
    slurm_is_ours=yes
    "${in_lab[@]}" configure --output "$work/series" --time 30 --cpus-per-task 1 </dev/null >&2
    for nodes in 1 2 4; do
        "${in_lab[@]}" submit --output "$work/series" --nodes "$nodes" --cpu --no-analyze -- --preset laptop --batch-size-per-rank 2 \
            --threads 1 --rounds 12 --bucket-size-mb 0.5,1,4,16 >&2
        wait_child "${in_lab[@]}" wait --output "$work/series" >&2
        run=("$work/series"/run_*/"cpu_${nodes}node"/run_*)
        [ -d "${run[0]}" ] || run=("$work/series/cpu_${nodes}node"/run_*)
        for part in benchmark profile allreduce; do runs+=("${nodes}node=${run[0]}/$part"); done
    done
    $slurm_lab down >&2
    slurm_is_ours=
    print_heading "$slurm_lab up 4" \
        'launch/slurm.sh submit --nodes N --cpu --no-analyze -- --preset laptop --batch-size-per-rank 2 --threads 1 --rounds 12 --bucket-size-mb 0.5,1,4,16 (N: 1, 2, 4)' \
        'build/ddpbench report Nnode=... --output OUTPUT' >"$work/printed"
    build/ddpbench report "${runs[@]}" --output "$work/output" >>"$work/printed"
    rm "$work"/output/report.{json,csv}
    chromium --headless --no-sandbox --hide-scrollbars --window-size=1000,1100 \
        --screenshot="$work/output/report.png" "file://$work/output/report.html" >&2
    keep_directory
}

# judge COMMAND: runs a command whose status is a verdict, which its output states: saves the output in either case.
judge() {
    run "$1" || true
    keep_printed
}
make_gate() { judge 'tests/long/gate.sh --output OUTPUT'; }
make_trend() { judge 'tests/long/trend_check.sh --output OUTPUT'; }
make_same-strategy-twice() { judge tests/long/same_twice.sh; }
# PYTHON: a Python with PyTorch
# shellcheck disable=SC2016 # expanded where the command runs
make_replay-check() { judge 'bench/peers/replay_check.sh --python "${PYTHON:-python3}" --output OUTPUT'; }
make_bench-allreduce() { judge 'make --no-print-directory bench-allreduce'; }
# bench TARGET: saves the output of a make target.
bench() {
    run "make --no-print-directory $1"
    keep_printed
}
make_bench-step() { bench bench-step; }
make_bench-kernels() { bench bench-kernels; }
make_bench-profile() { bench bench-profile; }
make_isolate-simulated() { bench bench-isolate; }
make_coverage() {
    make --no-print-directory tests >&2
    run 'build/tests/support/programs/coverage 1000' && keep_printed
}

# Saves the table of errors, and every prediction.
make_predict() {
    run "tests/long/predict_check.sh --output OUTPUT"
    mv "$work/output/predictions.csv" "$work"
    rm -rf "$work/output"
    mkdir "$work/output"
    mv "$work/predictions.csv" "$work/output"
    keep_directory
}

# Exports a step of five strategies on 2, 4 and 8 ranks as Chakra execution traces, and saves the predicted times.
make_chakra() {
    local kind links=''
    launch/corpus.sh build/corpus.txt
    link_up 2 --rate 100mbit
    run "launch/netlab.sh run -- build/ddpbench $small --batch-size 64 --attainable --rounds 6 --steps-per-block 3 --implementations none,ddp_bucketed,ddp_sharded --bucket-size-mb 0.5 --output OUTPUT/run"
    for kind in all_reduce reduce_scatter all_gather; do
        run "launch/netlab.sh run -- build/ddpbench allreduce --collective $kind --blocking yield -b 512 -e 8M -f 2 --output OUTPUT/$kind"
        links+=,OUTPUT/$kind
    done
    run "build/ddpbench predict OUTPUT/run --link ${links#,} --ranks 2,4,8 --implementations ddp,ddp_flat,ddp_individual,ddp_bucketed,ddp_sharded --bucket-size-mb 0.5 --csv OUTPUT/predictions.csv --export-chakra OUTPUT/chakra"
    mv "$work/output/predictions.csv" "$work/output/chakra"
    mv "$work/output/chakra" "$work"
    rm -rf "$work/output"
    mv "$work/chakra" "$work/output"
    keep_directory
}

for name in "$@"; do
    say "makes $name, after $SECONDS s"
    rm -rf "${work:?}"/*
    up='' commands=()
    "make_$name"
    lab_down
done
