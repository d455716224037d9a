#!/usr/bin/env bash
# compare.sh - ddpbench and PyTorch: runs both in turn with the same options, again and again, and compares them.
set -euo pipefail

usage() {
    cat <<'END'
Usage: bench/peers/compare.sh [--ranks N] [--threads N] [--link RATE] [--repeats N] [--implementations LIST]
                              [--python PROGRAM] [--output DIR] [-- OPTION VALUE...], after `make`
  --ranks N         ranks of each run (default 2)
  --threads N       of each rank (default: its share of the cores)
  --link RATE       a rank on each node of an emulated cluster, joined by links of this rate (launch/netlab.sh; needs root)
  --repeats N       runs of each program, alternating (default 5)
  --implementations LIST  what both run (default all), besides torch_ddp: PyTorch's own DistributedDataParallel, which
                    is compared with a ddp_bucketed of ours under that name, or none on one rank
  --python PROGRAM  a Python that has PyTorch and NumPy (default python3)
  --output DIR      where the runs go, DIR/PROGRAM-NUMBER, and what was printed, DIR/output.txt (default results/peers)
Options behind -- go to all programs; without any these are the sizes of make bench on the text of make bench.
PyTorch runs eagerly, and compiled where there is a C++ compiler. At the end ddpbench compare prints ratios: above 1
PyTorch is slower. Two lines follow: the fastest implementation of each and their ratio, and how far losses are apart.
Exit status: 0 whichever is faster, 1 if a run or a comparison failed, 2 for a wrong option.
END
}

say() { echo "compare.sh: $*" >&2; }

die() {
    say "$@"
    exit 1
}

ranks=2 threads='' link='' repeats=5 python=python3 output=results/peers
implementations=none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed
options=(--d-model 256 --num-layers 4 --num-heads 4 --d-ff 1024 --context-length 128 --batch-size-per-rank 4
    --data build/corpus.txt --bucket-size-mb '1,4' --rounds 4 --steps-per-block 3)
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --ranks | --threads | --link | --repeats | --implementations | --python | --output)
        [ $# -gt 1 ] || { say "$1 needs a value"; exit 2; }
        declare "${1#--}=$2"
        shift 2
        ;;
    --) shift; options=("$@"); break ;;
    *) say "unknown option '$1'; see --help (options of the programs follow --)"; exit 2 ;;
    esac
done
threads=${threads:-$(($(nproc) > ranks ? $(nproc) / ranks : 1))}
for value in "$ranks" "$repeats" "$threads"; do
    [[ $value =~ ^[1-9][0-9]*$ ]] || { say "'$value': --ranks, --repeats and --threads take a whole number above 0"; exit 2; }
done

cd "$(dirname "$0")/../.."
# shellcheck source=launch/mpi.sh
. launch/mpi.sh
find_mpirun
program=build/ddpbench
[ -x $program ] || { say "$program is not built; run make first"; exit 1; }
"$python" -c 'import numpy, torch' 2>/dev/null || { say "$python has no PyTorch or no NumPy; name one that has with --python"; exit 1; }
[ ! -e "$output" ] || { say "$output is there already; choose another --output"; exit 1; }
[[ " ${options[*]} " != *" build/corpus.txt "* ]] || launch/corpus.sh build/corpus.txt
mkdir -p "$output"

export OMP_NUM_THREADS=$threads # the same for all
if [ -n "$link" ]; then
    launch/netlab.sh up --nodes "$ranks" --rate "$link" >"$output/link.txt" || exit 1
    trap 'launch/netlab.sh down' EXIT
    ours=(launch/netlab.sh run -n "$ranks" -- "$program")
    theirs=(launch/netlab.sh run -n "$ranks" -- env MASTER_ADDR=10.77.0.1 GLOO_SOCKET_IFNAME=eth0 "$python" bench/peers/torch_ddp.py)
else
    ours=("${mpirun[@]}" -n "$ranks" "$program")
    theirs=("$python" -m torch.distributed.run --standalone --nproc-per-node "$ranks" bench/peers/torch_ddp.py)
fi
own=torch_ddp their=torch_ddp=ddp_bucketed
[ "$ranks" -gt 1 ] || own='' their=''

peers=(torch torch_compile)
command -v "${CXX:-c++}" >/dev/null || { peers=(torch) && say "there is no C++ compiler here: PyTorch runs eagerly only"; }

# run NAME COMMAND...: with the options of all; what it says is shown only if it fails.
run() {
    local name=$1
    shift
    say "$name"
    "$@" "${options[@]}" --output "$output/$name" >"$output/said" 2>&1 || { cat "$output/said" >&2; exit 1; }
}

for ((i = 1; i <= repeats; i++)); do
    run "ddpbench-$i" "${ours[@]}" --implementations "$implementations${their:+,$their}"
    run "torch-$i" "${theirs[@]}" --implementations "$implementations${own:+,$own}"
    [ "${#peers[@]}" = 1 ] ||
        run "torch_compile-$i" "${theirs[@]}" --implementations "$implementations${own:+,$own}" --compile
done
rm "$output/said"
for name in "${peers[@]}"; do
    status=0
    $program compare "$output"/ddpbench-* --candidate "$output/$name"-* --allow implementations \
        --label "ddpbench,$name" || status=$?
    [[ $status == [034] ]] || exit 1 # regressed (3) and ambiguous (4) are findings, too
    "$python" bench/peers/fastest.py "$output" "$name"
    echo
done | tee "$output/output.txt"
