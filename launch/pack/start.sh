# start.sh - sourced by each wrapper script of the pack, which first sets root, program and cuda_libraries. Runs
# $root/programs/$program with the libraries of the pack and the CUDA libraries of this machine. Needs only a POSIX shell.
# shellcheck shell=sh
# shellcheck disable=SC2154

# take DIRECTORY...: for each library in $wanted, adds the first of these directories with it to $cuda. $wanted keeps the others.
take() {
    for directory; do
        left=''
        for name in $wanted; do
            if [ -e "$directory/$name" ]; then
                cuda=${cuda:+$cuda:}$directory took="$took $name from $directory;"
            else
                left="$left $name"
            fi
        done
        wanted=$left
    done
}

# find_cuda: sets DDPBENCH_PACK_CUDA to the directories of CUDA's libraries, separated by colons, and prints the libraries found.
find_cuda() {
    wanted=$cuda_libraries cuda='' took=''
    IFS=:
    # shellcheck disable=SC2086
    set -- ${LD_LIBRARY_PATH:-}
    unset IFS
    take "$@"
    for home in ${CUDA_HOME:+"$CUDA_HOME"} /usr/local/cuda /usr/local/cuda-*; do
        take "$home/lib64" "$home"/targets/*/lib "$home/extras/CUPTI/lib64"
    done
    take /usr/lib64 /usr/lib/*-linux-gnu /usr/lib
    if [ -n "$wanted" ]; then
        newline='
'
        IFS=$newline
        # shellcheck disable=SC2046
        set -- $("${PYTHON:-python3}" -c 'import sys; print("\n".join(sys.path))' 2>/dev/null)
        unset IFS
        for path; do take "$path"/nvidia/*/lib "$path/torch/lib"; done
    fi
    case $wanted in
    *libcublas*) took=" computing on CPUs;$took" ;;
    *) took=" computing on GPUs is possible;$took" ;;
    esac
    [ -z "$wanted" ] || took="$took not found:$wanted (in LD_LIBRARY_PATH, CUDA_HOME, /usr/local/cuda*, /usr/lib*, and \
nvidia/*/lib of ${PYTHON:-python3}'s packages; PYTHON names another)"
    [ "${PMI_RANK:-0}" != 0 ] || echo "pack:${took%;}" >&2
    export DDPBENCH_PACK_CUDA="$cuda"
}

[ -z "$cuda_libraries" ] || [ "${DDPBENCH_PACK_CUDA+set}" ] || find_cuda
# Use the compiler's libraries (libstdc++) of this machine if it has any, because CUDA's libraries need them too.
compiler=$root/lib/compiler
for directory in /usr/lib64 /usr/lib/*-linux-gnu /lib64 /lib/*-linux-gnu; do
    [ ! -e "$directory/libstdc++.so.6" ] || compiler=$directory
done
export LD_LIBRARY_PATH="$root/lib:$compiler${DDPBENCH_PACK_CUDA:+:$DDPBENCH_PACK_CUDA}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/programs/$program" "$@"
