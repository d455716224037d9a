#!/usr/bin/env bash
# check.sh - ddpbench check: its lines, and each check that fails on a machine where it must.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

# results: prints the results and names of the lines, without their words.
results() { sed -nE 's/^(ok|warning|FAILED) +([a-z]+) .*/\1 \2/p' printed | paste -sd ' '; }
# checked NAME STATUS PATTERN COMMAND...: runs a check, whose lines must match, without what depends on this machine's CPU.
checked() {
    local name=$1 expected=$2 pattern=$3
    shift 3
    try env "$@"
    is "$name" "$status $(results | sed 's/warning products/ok products/; s/warning ranks/ok ranks/')" "$expected $pattern"
}
good='ok launcher ok ranks ok products ok collectives ok clocks ok files'
two=("${mpirun[@]}" -n 2 "$program" check --device cpu --blas cblas)

checked "one rank" 0 "$good" "$program" check --device cpu --blas cblas
checked "two ranks" 0 "$good" "${two[@]}"
is "the last line counts the checks" "$(tail -n 1 printed | grep -cE '^0 of 6 checks failed, with [0-9] warnings?[.]$')" 1
is "the first line has the version" "$(head -n 1 printed)" "ddpbench $("$program" --version | sed 's/^ddpbench //')"
is "no file is left" "$(find . -name '.ddpbench*')" ''
checked "a wrong sum" 1 "${good/ok coll/FAILED coll}" DDPBENCH_TEST_FLIP_BIT=3 "${two[@]}"
is "the first wrong collective is named" "$(grep -c '180 wrong elements, first in all_reduce of 1 KiB (float sum, out of place)' printed)" 1
mkdir dir && : >dir/file
checked "a directory that is none" 1 "${good/ok files/FAILED files}" "${two[@]}" --output dir/file
checked "a directory that is missing" 1 "${good/ok files/FAILED files}" "${two[@]}" --output dir/none
is "the line has the reason" "$(grep -c '^FAILED *files *rank 0: cannot write dir/none/.*No such file' printed)" 1
checked "NCCL without a GPU" 1 "${good/ok coll/FAILED coll}" "${two[@]}" --comm nccl
[ "$mpi" = mpich ] && foreign=OMPI_COMM_WORLD_RANK=0 || foreign=MPI_LOCALRANKID=0
checked "the launcher of another MPI" 1 "${good/ok/FAILED}" "$foreign" "$program" check --device cpu --blas cblas
try "${mpirun[@]}" -n 1 nice -n 1 "$program" check --device cpu : -n 1 "$program" check --device cpu
is "ranks that differ: a warning, which names what" "$status $(grep -cE '^warning +ranks +nice value: ' printed)" "0 1"
if [ -e "$build/tests/support/preload/wrong_machine.so" ]; then
    before=${LD_PRELOAD:+:$LD_PRELOAD}
    export LD_PRELOAD=wrong_machine.so$before
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
    checked "a wrong matrix product" 1 "${good/ok prod/FAILED prod}" WRONG_PRODUCT=1 "${two[@]}"
    checked "a coarse clock" 1 "${good/ok clocks/FAILED clocks}" COARSE_CLOCK=1 "$program" check --device cpu --blas cblas
    export LD_PRELOAD=made_up_onednn.so$before
    checked "a wrong product by oneDNN, which runs could choose" 1 "${good/ok coll/FAILED products ok coll}" MADE_UP_ONEDNN=wrong "$program" check --device cpu
else
    echo "skip - wrong products and clocks: wrong_machine.so is not built"
fi
exit "$failed"
