#!/usr/bin/env bash
# blas.sh - the BLAS library: the choice between the CBLAS and a made-up oneDNN; OpenBLAS's kernels are replaced if
# OpenBLAS took the CPU for an older one, kernels that the user chose are kept, and slow matrix products cause a warning;
# and how OpenMP threads wait. Most checks need a BUILD_DIR/ddpbench with OpenBLAS on x86-64 with AVX2.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 # because libraries are preloaded

tiny=("$program" --device cpu --d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 2 --vocab-size 256
    --implementations ddp --rounds 1 --steps-per-block 1)

# train NAME VARIABLE=VALUE...: runs one step on two ranks with these environment variables, with results in NAME.
train() {
    local name=$1
    shift
    try env "$@" "${mpirun[@]}" -n 2 "${tiny[@]}" --blas cblas --output "$name"
    is "$name: exit status" "$status" 0
}

# fact NAME KEY: prints the values of KEY in run.json of the run NAME; blas NAME: the library in use.
blas() { fact "$1" blas | tail -n 1; }
fact() { sed -n "s/^.*\"$2\":[[:space:]]*\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$1/run.json"; }

# sentences NAME PATTERN: prints how many of the sentences and paragraphs printed by the run NAME match.
sentences() { texts "$1/summary.json" | grep -cE -- "$2" || true; }

train plain -u OPENBLAS_CORETYPE
kernels=$(fact plain blas_kernels)
is "the first sentence names the library and its kernels" "$(sentences plain "^ddpbench .*, $(blas plain)( \($kernels\))?\),")" 1
# OpenBLAS takes some CPUs for older ones even without mistaken_openblas.so; the program then replaces OpenBLAS's kernels.
is "the output reports replaced kernels exactly if they were replaced" "$(sentences plain 'took this CPU')" "$(fact plain OPENBLAS_CORETYPE | grep -c .)"
succeeds "run.json contains the rate of matrix products" awk -v rate="$(fact plain product_gflops_per_thread)" 'BEGIN { exit !(rate > 0) }'

if [ -e "$build/tests/support/preload/made_up_onednn.so" ]; then
    made_up=LD_PRELOAD=made_up_onednn.so${LD_PRELOAD:+:$LD_PRELOAD}
    # choose NAME WORD WORD OPTION...: trains with a oneDNN that does what the WORD is on rank 0 and on rank 1.
    choose() {
        local words=("${tiny[@]}" --output "$1" "${@:4}") with=(-n 1 env -u OPENBLAS_CORETYPE "$made_up")
        try "${mpirun[@]}" "${with[@]}" "MADE_UP_ONEDNN=$2" "${words[@]}" : "${with[@]}" "MADE_UP_ONEDNN=$3" "${words[@]}"
    }
    choose quick idle idle
    is "a oneDNN that is faster is used" "$status $(blas quick) ($(fact quick blas_kernels))" "0 oneDNN 9.8.7 (avx2)"
    is "two sentences name it, one with the ratio" "$(sentences quick "^ddpbench .*, oneDNN 9.8.7 \\(avx2\\)\\),") $(sentences quick \
        "^Products: oneDNN 9.8.7 \\(avx2\\): 0.[0-9]+ of the time of $(blas plain)( \\($kernels\\))? in this model's products$")" "1 1"
    succeeds "run.json has the ratio" awk -v ratio="$(fact quick onednn_time_ratio)" 'BEGIN { exit !(ratio != "" && ratio < 0.98) }'
    choose slow idle slow
    is "the times of all ranks count: slow on one, oneDNN is not used" "$status $(blas slow) $(sentences slow \
        "^Products: .*: oneDNN 9.8.7 \\(avx2\\) takes [1-9][0-9.]+ of its time in this model's products$")" "0 $(blas plain) 1"
    choose lacking idle tbb
    is "nor if a rank has none with OpenMP, which a sentence tells" \
        "$status $(blas lacking) $(sentences lacking "^Products: .*, as rank 1 has no oneDNN$")" "0 $(blas plain) 1"
    choose forced slow slow --blas onednn
    is "--blas onednn uses it, without a comparison" "$status $(blas forced) $(sentences forced '^Products')" "0 oneDNN 9.8.7 0"
    choose refused right tbb --blas onednn
    check 1 "--blas onednn where a rank has none is an error" "^ddpbench: rank 1: --blas onednn: the oneDNN here was built without OpenMP"
    is "one error line, no files" "$(grep -c '^ddpbench:' said) $(ls refused 2>/dev/null)" '1 '
    choose failing failing failing --blas onednn
    is "an error of oneDNN ends the run, and names the sizes" "$((status > 0)) $(grep -om1 "oneDNN's product of 256 x 256 and 256 x 256 failed" said)" "1 oneDNN's product of 256 x 256 and 256 x 256 failed"
else
    echo "skip - the choice of oneDNN: made_up_onednn.so is not built"
fi

# set-up, with stand-ins for the commands of the system; OpenBLAS is missing until something is installed.
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"stand_in/$1" && chmod +x "stand_in/$1"; }
# shellcheck disable=SC2317 # called by succeeds
set_up() { PATH=$PWD/stand_in:$PATH "$root/launch/setup.sh" --mpicc "$PWD/stand_in/mpi_compiler"; }
mkdir stand_in
stand_in id 'echo 0'
stand_in mpi_compiler 'echo cc'
stand_in update-alternatives :
# shellcheck disable=SC2016 # expanded by sh
{
    stand_in apt-get 'echo "${0##*/} $*" | grep -oE "(libopenblas-openmp-dev|libdnnl[0-9.]*)$" >>installed'
    stand_in apt-cache '[ "$1" != pkgnames ] || printf "%s\n" libdnnl-dev libdnnl10 libdnnl9'
    stand_in pkg-config 'case $* in *openblas*) [ -e installed ] ;; esac'
}
succeeds "set-up succeeds" set_up
succeeds "set-up succeeds again" set_up
is "it has installed the newest oneDNN with OpenBLAS, once" "$(xargs <installed)" "libopenblas-openmp-dev libdnnl10"

# OpenMP threads spin while they wait, unless environment variables forbid it when the library is loaded.
too_many=$((cpus + 1))
train crowded -u OMP_WAIT_POLICY OMP_NUM_THREADS=$too_many
is "more threads than CPUs: waiting threads sleep (OMP_WAIT_POLICY=passive)" "$(fact crowded OMP_WAIT_POLICY)" passive
# The program restarts itself to set OMP_WAIT_POLICY; ps, pgrep, debuggers and profilers must see the same process.
# shellcheck disable=SC2016 # expanded by sh
OMP_NUM_THREADS=$too_many timeout "$limit" sh -c 'echo $$ >process; exec "$@"' sh "$program" --device cpu --d-model 32 --num-layers 1 \
    --num-heads 2 --d-ff 48 --context-length 16 --batch-size 2 --vocab-size 256 --implementations none --rounds 1000000 \
    --output named >printed 2>said &
run=$!
wait_until [ -s named/rank_0_metrics.jsonl ] || true
process=$(cat process)
is "a restarted process keeps its name and its executable" "$(cat "/proc/$process/comm") $(readlink "/proc/$process/exe")" "ddpbench $program"
kill "$process" || true
wait $run 2>/dev/null || true
train asked -u OMP_WAIT_POLICY OMP_NUM_THREADS=$too_many GOMP_SPINCOUNT=1000
is "OMP_WAIT_POLICY is not set if the user chose how threads wait" "$(fact asked OMP_WAIT_POLICY)" ''
train roomy -u OMP_WAIT_POLICY OMP_NUM_THREADS=1
is "OMP_WAIT_POLICY is not set if there are enough CPUs" "$(fact roomy OMP_WAIT_POLICY)" ''

# OpenMP binds the first thread when it is loaded; the CPUs that ranks use and count must not depend on that.
if [ "$cpus" = 1 ]; then
    echo "skip - OMP_PROC_BIND is ignored: needs two logical CPUs"
else
    places="OMP_PLACES={$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)}"
    for variable in OMP_PROC_BIND=true "$places" OMP_PROC_BIND=false; do
        train "$variable" "$variable"
        is "$variable: both ranks use and count the CPUs that they have without it" \
            "$(fact "$variable" binding; fact "$variable" cores_per_rank)" "$(fact plain binding; fact plain cores_per_rank)"
        [[ $variable == *true ]] || # the effect of true depends on the version of libgomp
            is "$variable: if it has an effect, one line says that it is ignored" "$(grep -cF "ddpbench: $variable in the environment is ignored" said)" "$([[ $variable == *false ]] && echo 0 || echo 1)"
    done
fi

train list OMP_NUM_THREADS=' 1 , 3'
is "OMP_NUM_THREADS=' 1 , 3': the first number is the number of threads" "$(fact list threads | tail -1)" 1
for words in 4097 four ,4; do # tests/unit/kernels/test_omp_threads.c has more
    try env OMP_NUM_THREADS="$words" "${mpirun[@]}" -n 2 "$program" --device cpu --implementations none --output refused
    check 1 "OMP_NUM_THREADS=$words is refused" \
        "^ddpbench: OMP_NUM_THREADS is '$words' in the environment: expected a whole number from 1 to 4096, or a list of such numbers; or give --threads\$"
    is "OMP_NUM_THREADS=$words: one error line, no files" "$(grep -c '^ddpbench:' said) $(ls refused 2>/dev/null)" '1 '
done
try env OMP_NUM_THREADS=four "${mpirun[@]}" -n 2 "$program" --implementations none --output refused
check 1 "OMP_NUM_THREADS=four is refused also without --device" "^ddpbench: OMP_NUM_THREADS is 'four' in the environment"

if [[ $(blas plain) != OpenBLAS* ]] || [ "$(uname -m)" != x86_64 ] || ! grep -qm1 '^flags.*avx2' /proc/cpuinfo; then
    echo "skip - OpenBLAS's choice of kernels: this is $(blas plain) on $(uname -m)"
    exit "$failed"
fi

grep -qm1 '^flags.*avx512vl' /proc/cpuinfo && better=SkylakeX || better=Haswell # the program's choice; OpenBLAS may have newer kernels
train mistaken -u OPENBLAS_CORETYPE LD_PRELOAD="mistaken_openblas.so:${LD_PRELOAD:-}"
is "kernels for an older CPU are replaced" "$(fact mistaken blas_kernels)" "$better"
is "one sentence reports the replaced kernels" "$(sentences mistaken "^Products: OpenBLAS [0-9.]+ took this CPU for a Prescott; its kernels for $better are used instead$")" 1

train obeyed LD_PRELOAD="mistaken_openblas.so:${LD_PRELOAD:-}" OPENBLAS_CORETYPE=Nehalem
is "OPENBLAS_CORETYPE set by the user is kept" "$(fact obeyed blas_kernels)" Nehalem
is "OPENBLAS_CORETYPE set by the user is not reported as a mistake" "$(sentences obeyed 'took this CPU')" 0
slow='^Warning: rank [01]: matrix products by OpenBLAS [0-9.]+ \(Nehalem\) run at [0-9]+ GFLOP/s on one thread, [0-9]+ % of the [0-9]+'
is "slow matrix products cause a warning with advice" \
    "$(sentences obeyed "$slow that the CPU's vector units can do: set OPENBLAS_CORETYPE to $better$")" 1
exit "$failed"
