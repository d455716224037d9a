#!/usr/bin/env bash
# ranks_differ.sh - ranks that are started differently. Values that must be equal but differ are refused by name, with
# both values, before anything is measured. Values that may differ are noted, and recorded for each rank. Runs
# BUILD_DIR/ddpbench. Names with $ are words of the program:
# shellcheck disable=SC2016
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

tiny=(--device cpu --d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --vocab-size 256 --context-length 8 --batch-size-per-rank 1
    --rounds 1 --steps-per-block 1 --implementations ddp)

unset OMP_SCHEDULE OMP_WAIT_POLICY OPENBLAS_CORETYPE

# refused NAME THEIRS HERE COMMAND... -- COMMAND...: rank 0 runs the first command, rank 1 the second; the run must fail
# with a line that names what differs, its value on rank 1 and on rank 0, with no output and no result.
refused() {
    local name=$1 theirs=$2 here=$3 rank_0=()
    shift 3
    while [ "$1" != -- ]; do
        rank_0+=("$1")
        shift
    done
    rm -rf out
    try "${mpirun[@]}" -n 1 "${rank_0[@]}" : -n 1 "${@:2}"
    [ ! -s printed ] && [ ! -e out ] && good=0 || good=1
    [ "$good" = 0 ] || echo "it printed or wrote something" >>said
    [ "$good" = 0 ] && ended_by_itself && [ "$status" != 0 ] && ! grep -q Abort said &&
        grep -qE "^ddpbench: rank 1: $name is $here here and $theirs on rank 0; they must be equal on all ranks\$" said || good=1
    result "$good" "ranks that differ in $name are refused (status $status)"
}

# beside NAME THEIRS HERE COMMAND... -- OPTION...: like refused; rank 1 has the same command with the options added.
beside() {
    local name=$1 theirs=$2 here=$3 command=()
    shift 3
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    refused "$name" "$theirs" "$here" "${command[@]}" --output out -- "${command[@]}" --output out "${@:2}"
}

benchmark=("$program" "${tiny[@]}")
for option in '--lr 0.1' '--seed 7' '--shard gradients' '--wire-dtype bf16' '--max-norm 2' '--grad-accumulation 1' '--attainable' \
    '--timeout 50' '--comm mpi'; do
    read -r name value <<<"$option"
    # shellcheck disable=SC2086 # an option and its value
    beside "$name" 'not given' "${value:-given}" "${benchmark[@]}" -- $option
done
for option in '--d-ff 32' '--vocab-size 300' '--steps-per-block 2'; do
    read -r name value <<<"$option"
    usual=$(sed -E "s/.* $name ([0-9]+) .*/\1/" <<<"${tiny[*]} ")
    alike=("${tiny[@]}")
    for i in "${!alike[@]}"; do [ "${alike[i]}" != "$name" ] || alike[i + 1]=$value; done
    refused "$name" "$usual" "$value" "${benchmark[@]}" --output out -- "$program" "${alike[@]}" --output out
done
for option in '--resolve 3' '--max-minutes 1' '--bytes 64'; do
    read -r name value <<<"$option"
    # shellcheck disable=SC2086
    beside "$name" 'not given' "$value" "$program" isolate --device cpu -- $option
done
for option in '-e 64' '--collective broadcast'; do
    read -r name value <<<"$option"
    # shellcheck disable=SC2086
    beside "$name" 'not given' "$value" "$program" allreduce --device cpu --iters 1 -- $option
done
beside --profile-ranks 'not given' 0 "$program" "${tiny[@]:0:${#tiny[@]}-2}" --profile -- --profile-ranks 0
refused 'the command' 'the benchmark' tune "${benchmark[@]}" --output out -- "$program" tune --device cpu --output out
swapped=("$program" allreduce --device cpu --iters 1 --output out)
refused --label -c1 -z1 "${swapped[@]}" --label -c1 -z1 -- "${swapped[@]}" --label -z1 -c1
refused 'the command' allreduce isolate "$program" allreduce --output out -- "$program" isolate --output out

# ---- another program, other data, another environment ----

# Makes a program of another version, by replacing the version's text with one of the same length.
version=$("$program" --version)
version=${version#ddpbench }
version=${version%% *}
LC_ALL=C sed "s/$(literal "$version")/${version//[0-9]/9}/g" "$program" >another && chmod +x another
refused 'the version of ddpbench' "$(literal "$version").*" "${version//[0-9]/9}.*" "${benchmark[@]}" --output out -- ./another "${tiny[@]}" --output out

mkdir a b
head -c 5000 /dev/zero | tr '\0' 'a' >a/text
{ head -c 4999 a/text && echo bb; } >b/text
in_directory=(sh -c 'cd "$1" && shift && exec "$@"' sh)
refused 'the file text' '5000 bytes with the digest [0-9a-f]{16}' '5002 bytes with the digest [0-9a-f]{16}' \
    "${in_directory[@]}" a "${benchmark[@]}" --data text --output ../out -- "${in_directory[@]}" b "${benchmark[@]}" --data text --output ../out
rm b/text
refused 'the file text' '5000 bytes with the digest [0-9a-f]{16}' 'unreadable \(No such file or directory\)' \
    "${in_directory[@]}" a "${benchmark[@]}" --data text --output ../out -- "${in_directory[@]}" b "${benchmark[@]}" --data text --output ../out
# Some variables choose messages of MPI's collectives, none those of a broadcast, with which MPICH 4.2 starts.
for variable in MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE=512 MPICH_ALLREDUCE_INTRA_ALGORITHM=reduce_scatter_allgather \
    MPIR_CVAR_BARRIER_INTRA_ALGORITHM=nb MPIR_CVAR_DEVICE_COLLECTIVES=none MKL_CBWR=COMPATIBLE NVIDIA_TF32_OVERRIDE=0 NCCL_ALGO=Ring; do
    refused "[$]${variable%=*}" 'not given' "${variable#*=}" "${benchmark[@]}" --output out -- env "$variable" "${benchmark[@]}" --output out
done

# Launchers set each of these variables to the name of the rank's host.
launched=(MPIR_CVAR_CH3_INTERFACE_HOSTNAME MPICH_INTERFACE_HOSTNAME)
try "${mpirun[@]}" -n 1 env "${launched[@]/%/=node1}" "${benchmark[@]}" --output out : -n 1 env "${launched[@]/%/=node2}" "${benchmark[@]}" --output out
[[ $(<printed) != *'ranks differ'* ]] && good=$status || good=1
result "$good" "variables that launchers set for each host are neither refused nor noted (status $status)"

if [[ $("${mpirun[@]}" --version 2>&1) = *HYDRA* ]]; then
    rm -rf out
    try "${mpirun[@]}" -launcher fork -hosts localhost,127.0.0.1 -n 2 "${benchmark[@]}" --output out
    is "ranks on two hosts of Hydra are equal" "$status$(grep 'ranks differ' printed)" 0
fi

# ---- a rank that cannot start ----

if [[ $("$program" --version; "${mpirun[@]}" --version 2>&1) = *HYDRA* ]]; then
    try "${mpirun[@]}" -n 1 "${benchmark[@]}" --output out : -n 1 env MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=none-such "${benchmark[@]}" --output out
    ended_by_itself && [ "$status" != 0 ] && grep -q '^ddpbench: rank 1: MPI could not start' said && good=0 || good=1
    result "$good" "a rank that cannot start MPI ends the others of its host, which wait for it (status $status)"
else
    echo "skip - a rank that cannot start MPI: the launcher is not Hydra"
fi

# ---- what may differ ----

# noted NAME FIRST SECOND VARIABLE...: rank 1 has other variables; the run succeeds, and notes the value of each rank.
noted() {
    local name=$1 first=$2 second=$3
    shift 3
    rm -rf out
    try "${mpirun[@]}" -n 1 "${benchmark[@]}" --output out : -n 1 env "$@" "${benchmark[@]}" --output out
    tr '\n' ' ' <printed | grep -qF "Warning: ranks differ in $name: $first on rank 0, $second on rank 1." &&
        good=$status || good=1
    result "$good" "ranks that differ in $name are measured and noted (status $status)"
    succeeds "run.json is valid" valid out/run.json
    grep -qF "\"$name: $first on rank 0, $second on rank 1\"" out/run.json && [ "$(sed -n '/"ranks":/,/"hosts":/p' out/run.json | grep -cF "\"$name\":")" = 2 ] &&
        good=0 || good=1
    result "$good" "run.json has $name of both ranks"
}
noted threads 1 2 OMP_NUM_THREADS=2
[ "$(nice)" = 19 ] || noted 'nice value' "$(nice)" 19 nice -n 19
if chrt -b 0 true 2>/dev/null && [[ $(LC_ALL=C chrt -p $$) = *SCHED_OTHER* ]]; then
    noted 'scheduling policy' other batch chrt -b 0
else
    echo "skip - ranks that differ in scheduling policy: no chrt that may set it, or another policy here"
fi
noted '$OMP_SCHEDULE' 'not set' static OMP_SCHEDULE=static
noted '$MALLOC_ARENA_MAX' 'not set' "'1 '" 'MALLOC_ARENA_MAX=1 '
noted '$OMP_WAIT_POLICY' 'not set' active OMP_WAIT_POLICY=active
# digests NAME: checks that the run notes that its two ranks have different files with this name.
digests() {
    tr '\n' ' ' <printed | grep -qE "Warning: ranks differ in $1: [0-9]+ bytes with the digest [0-9a-f]{16} on rank 0, [0-9]+ bytes with the digest [0-9a-f]{16} on rank 1[.]" &&
        good=$status || good=1
}
cp "$program" changed && echo >>changed
rm -rf out
try "${mpirun[@]}" -n 1 "${benchmark[@]}" --output out : -n 1 ./changed "${tiny[@]}" --output out
digests program
result "$good" "ranks with two builds of one version are measured and noted (status $status)"
library=$(ldd "$program" 2>/dev/null | sed -nE 's/.* => (.*\/libhwloc[^ ]*) .*/\1/p' | head -n 1)
if [ -n "$library" ]; then
    mkdir other && cp "$library" other/ && echo >>"other/${library##*/}"
    rm -rf out
    try "${mpirun[@]}" -n 1 "${benchmark[@]}" --output out : -n 1 env "LD_LIBRARY_PATH=$PWD/other:$LD_LIBRARY_PATH" "${benchmark[@]}" --output out
    digests "${library##*/}"
    result "$good" "ranks with two versions of a library are measured and noted (status $status)"
else
    echo "skip - ranks with two versions of a library: ldd shows no libhwloc"
fi
if [ "$(env -u OMP_NUM_THREADS nproc)" -gt 1 ]; then
    rm -rf out
    try "${mpirun[@]}" -n 1 "${benchmark[@]}" --output out : -n 1 env OMP_PROC_BIND=true "${benchmark[@]}" --output out
    tr '\n' ' ' <printed | grep -qF 'Warning: ranks differ in $DDPBENCH_IGNORED_OMP_PROC_BIND: not set on rank 0, true on rank 1.' && good=$status || good=1
    result "$good" "a rank whose OMP_PROC_BIND is ignored is noted (status $status)"
else
    echo "skip - a rank whose OMP_PROC_BIND is ignored: there is one CPU"
fi
for variable in OMP_DYNAMIC=true OMP_MAX_ACTIVE_LEVELS=0; do
    rm -rf out
    try taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" env $variable "${mpirun[@]}" -n 1 "${benchmark[@]}" --output out --threads 2
    is "two threads on one CPU compute with $variable" "$status" 0
done
rm -rf out
try "${mpirun[@]}" -n 1 "${benchmark[@]}" --output out --threads 2 : -n 1 env OMP_THREAD_LIMIT=1 "${benchmark[@]}" --output out --threads 2
check 1 "a rank whose OMP_THREAD_LIMIT is too small is refused" '^ddpbench: (rank 1: )?OMP_THREAD_LIMIT allows a rank 1 thread, and it needs 2 for computation; unset it, or use fewer --threads$'
if "$program" "${tiny[@]}" --output alone >printed 2>&1 && ! grep -qF '"OPENBLAS_CORETYPE"' alone/run.json; then
    noted '$OPENBLAS_CORETYPE' 'not set' Prescott OPENBLAS_CORETYPE=Prescott
else
    echo "skip - ranks that differ in OPENBLAS_CORETYPE: the program sets it on this CPU"
fi
rm -rf out
try "${mpirun[@]}" -n 2 "${benchmark[@]}" --output out
grep -q 'ranks differ' printed && good=1 || good=$status
result "$good" "equal ranks have no such note"
is "run.json has no variables of the environment by rank" "$(grep -c '"\$' out/run.json)" 0
exit "$failed"
