#!/usr/bin/env bash
# compare.sh - runs ddpbench and PyTorch in turn, several times with the same options, and compares them.
#
# Usage: [MPIRUN=mpirun] bench/peers/compare.sh [OPTION VALUE...] [-- OPTION VALUE...], after `make`
#   --program FILE    the program ddpbench (default build/ddpbench); MPIRUN names the mpiexec of the MPI that it uses
#   --ranks N         ranks of each run (default 2)
#   --threads N       threads of each rank (default: the rank's share of the cores)
#   --link RATE       a rank on each node of an emulated cluster, joined by links of this rate (launch/netlab.sh; needs root)
#   --repeats N       runs of each program, alternating (default 5)
#   --implementations LIST  strategies that both programs run (default all but ddp_sharded). On two or more ranks PyTorch also
#                     runs its own DistributedDataParallel as torch_ddp, which is compared with a ddp_bucketed of ddpbench of that
#                     name. For ddp_sharded PyTorch runs torch_zero (ZeroRedundancyOptimizer) and torch_fsdp (FSDP2), which are
#                     compared with a ddp_sharded of these names: of all bucket sizes, and with buckets of the size of a layer
#   --python PROGRAM  a Python that has PyTorch and NumPy (default python3)
#   --peer-options WORDS  options for PyTorch alone, such as '--residual-dtype bf16'
#   --output DIR      directory of the runs, DIR/PROGRAM-NUMBER, and of the printed text, DIR/output.txt (default results/peers)
# Options after -- go to both programs; by default the model and text are those of make bench, four sequences a rank.
# PyTorch runs eagerly, and compiled where there is a C++ compiler. At the end `ddpbench compare` prints by how much PyTorch is slower (+)
# or faster (-). Then follow each program's fastest implementation with their ratio, and the largest difference between the losses.
# Exit status: 0 whichever is faster, 1 if a run or a comparison failed, 2 for a wrong option.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/../../launch/common.sh"

program=build/ddpbench ranks=2 threads='' link='' repeats=5 python=python3 output=results/peers peer_options=''
implementations=none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed
options=(--d-model 256 --num-layers 4 --num-heads 4 --d-ff 1024 --context-length 128 --batch-size-per-rank 4
    --data build/corpus.txt --bucket-size-mb '1,4' --rounds 4 --steps-per-block 3)
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --program | --ranks | --threads | --link | --repeats | --implementations | --python | --peer-options | --output)
        [ $# -gt 1 ] || usage_error "$1 needs a value"
        name=${1#--}
        declare "${name//-/_}=$2"
        shift 2
        ;;
    --) shift; options=("$@"); break ;;
    *) usage_error "unknown option '$1'; see --help (options of the programs follow --)" ;;
    esac
done
whole='^[1-9][0-9]{0,3}$'
[[ $ranks =~ $whole ]] || usage_error "--ranks $ranks: expected a whole number above 0"
[[ $repeats =~ $whole ]] || usage_error "--repeats $repeats: expected a whole number above 0"
cpus=$(count_cpus)
threads=${threads:-$((cpus > ranks ? cpus / ranks : 1))}
[[ $threads =~ $whole ]] || usage_error "--threads $threads: expected a whole number above 0"

cd "$(dirname "$0")/../.."
find_mpirun
[ -x "$program" ] || die "$program is not built; run make first"
"$python" -c 'import numpy, torch' 2>/dev/null || die "$python has no PyTorch or no NumPy; name one that has with --python"
[ ! -e "$output" ] || die "$output is there already; choose another --output"
[[ " ${options[*]} " != *" build/corpus.txt "* ]] || launch/corpus.sh build/corpus.txt

export OMP_NUM_THREADS=$threads # the same for both programs
if [ -n "$link" ]; then
    words=$(launch/netlab.sh up --nodes "$ranks" --rate "$link") || exit 1
    trap 'launch/netlab.sh down' EXIT
    ours=(launch/netlab.sh run -n "$ranks" -- "$program")
    theirs=(launch/netlab.sh run -n "$ranks" -- env MASTER_ADDR=10.77.0.1 GLOO_SOCKET_IFNAME=eth0 "$python" bench/peers/torch_ddp.py)
else
    ours=("${mpirun[@]}" -n "$ranks" "$program")
    theirs=("$python" -m torch.distributed.run --standalone --nproc-per-node "$ranks" bench/peers/torch_ddp.py)
fi
read -r -a peer <<<"$peer_options"
# sharded ROWS: prints the list of implementations with ROWS in place of ddp_sharded.
sharded() { sed -E "s/(^|,)ddp_sharded(,|\$)/\1$1\2/" <<<"$implementations"; }
layer_mb=$(printf '%s\n' "${options[@]}" | tr '=' '\n' | LC_ALL=C awk -v C=768 -v F=3072 '
    name == "--d-model" { C = $0 } name == "--d-ff" { F = $0 } { name = $0 }
    END { printf "%.4f", 4 * C * (4 * C + 3 * F + 2) / 1048576 }')
our_list=$(sharded "torch_zero=ddp_sharded,torch_fsdp=ddp_sharded:$layer_mb") their_list=$(sharded torch_zero,torch_fsdp)
[ "$ranks" = 1 ] || our_list+=,torch_ddp=ddp_bucketed their_list+=,torch_ddp

peers=(torch torch_compile)
command -v "${CXX:-c++}" >/dev/null || { peers=(torch) && say "there is no C++ compiler here: PyTorch runs eagerly only"; }

# run NAME COMMAND...: runs COMMAND with the common options; shows its output if it fails. Signals to this script also end COMMAND.
run() {
    local name=$1
    shift
    say "$name"
    "$@" "${options[@]}" --output "$output/$name" >"$output/said" 2>&1 </dev/null &
    wait $! || { cat "$output/said" >&2; exit 1; }
}
mkdir -p "$output"
[ -z "$link" ] || echo "$words" >"$output/link.txt"
trap 'kill "$!" 2>/dev/null; exit 130' INT
trap 'kill "$!" 2>/dev/null; exit 143' TERM

for ((i = 1; i <= repeats; i++)); do
    run "ddpbench-$i" "${ours[@]}" --implementations "$our_list"
    run "torch-$i" "${theirs[@]}" "${peer[@]}" --implementations "$their_list"
    [ "${#peers[@]}" = 1 ] || run "torch_compile-$i" "${theirs[@]}" "${peer[@]}" --implementations "$their_list" --compile
done
rm "$output/said"
for name in "${peers[@]}"; do
    status=0
    "$program" compare "$output"/ddpbench-* --candidate "$output/$name"-* --allow implementations \
        --label "ddpbench,$name" || status=$?
    [[ $status == [034] ]] || exit 1 # regressed (3) and ambiguous (4) are not failures
    "$python" bench/peers/fastest.py "$output" "$name"
    echo
done | tee "$output/output.txt"
