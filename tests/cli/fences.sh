#!/usr/bin/env bash
# fences.sh - who may include what, and no conditionals; each rule is also shown to find a file that breaks it.
# Rules are called by name, and awk has its own dollars:
# shellcheck disable=SC2317,SC2016
set -euo pipefail

case ${1:-} in
--help)
    echo "Usage: tests/cli/fences.sh [--help] [BUILD_DIR]"
    echo "Reads the sources beside this script (BUILD_DIR is not used). Prints a line for each check."
    exit 0
    ;;
-*)
    echo "fences_cli.sh: unknown option '$1'; known is --help" >&2
    exit 2
    ;;
esac
cd "$(dirname "$0")/../.."

# includes TREE: a line "file header" for each include line below TREE's kernels, ddp and bench.
includes() {
    (
        cd "$1"
        find kernels ddp bench -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort |
            xargs -r awk 'match($0, /^[ \t]*#[ \t]*include(_next)?[ \t]*[<"][^>"]+/) {
                header = substr($0, RSTART, RLENGTH)
                sub(/^[^<"]*[<"]/, "", header)
                print FILENAME, header
            }'
    )
}

# only HEADERS FILES: of the lines of includes, those that name a header (a regular expression) in another file.
only() { awk -v headers="^($1)\$" -v files="^($2)\$" '$2 ~ headers && $1 !~ files { print $1 ": " $2 }'; }

# not_from TREE FOLDER FORBIDDEN: includes of FOLDER whose header is in one of the FORBIDDEN folders ("ddp bench").
not_from() {
    awk -v tree="$1" -v folder="$2" -v forbidden="$3" '
        BEGIN { n = split(forbidden, below, " ") }
        index($1, folder "/") == 1 {
            name = $2
            sub(/.*\//, "", name)
            for (i = 1; i <= n; i++) {
                path = tree "/" below[i] "/" name
                there = (getline line < path) >= 0
                close(path)
                if (there || $2 ~ "(^|/)" below[i] "/") print $1 ": " $2
            }
        }'
}

# Each rule prints the lines of the tree $1 that break it.
mpi() { includes "$1" | only 'mpi[.]h' 'ddp/comm_mpi[.]c|ddp/comm_nccl[.]c|ddp/job[.]c|kernels/error[.]c|bench/bench_allreduce[.]c'; }
cuda() { includes "$1" | only 'cuda_runtime.*[.]h' 'kernels/cuda/.*|ddp/comm_nccl[.]c'; }
cblas() { includes "$1" | only 'cblas[.]h' 'kernels/cpu/.*'; }
kernels() { includes "$1" | not_from "$1" kernels "ddp bench"; }
ddp() { includes "$1" | not_from "$1" ddp bench; }
conditionals() {
    (
        cd "$1"
        # the name that guards a header is its path's, first in the file (so that two headers of one name in two folders
        # are two); the emulated headers stand in for a vendor's, which C and C++ read
        find kernels ddp bench tests -path tests/gpu/emulator -prune -o \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print | sort | xargs -r awk '
            FNR == 1 {
                guard = FILENAME
                guard = FILENAME ~ /[.]c?u?h$/ ? toupper(guard) : ""
                gsub(/[^A-Z0-9]/, "_", guard)
                seen = 0
            }
            /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)([^a-z]|$)/ {
                if (!seen++ && guard != "" && $1 == "#ifndef" && $2 == guard) next
                print FILENAME ": " $0
            }'
    )
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# good TREE: a small tree that keeps every rule.
good() {
    rm -rf "$1"
    mkdir -p "$1/kernels/cpu" "$1/kernels/cuda" "$1/ddp" "$1/bench" "$1/tests"
    printf '#ifndef KERNELS_DEVICE_H\n#define KERNELS_DEVICE_H\n#include <stddef.h>\n#endif\n' >"$1/kernels/device.h"
    printf '#ifndef DDP_JOB_H\n#define DDP_JOB_H\n#include "kernels/device.h"\n#endif\n' >"$1/ddp/job.h"
    printf '#ifndef BENCH_RUN_H\n#define BENCH_RUN_H\n#include "ddp/job.h"\n#endif\n' >"$1/bench/run.h"
    printf '#include "ddp/job.h"\n#include <mpi.h>\n' >"$1/ddp/job.c"
    printf '#include "kernels/device.h"\n#include <cblas.h>\n' >"$1/kernels/cpu/linear.c"
    printf '#include <cuda_runtime.h>\n#include <cuda_runtime_api.h>\n' >"$1/kernels/cuda/a.cu"
    printf '#include "run.h"\n#include "kernels/device.h"\n/* #if in words */\nint if_else;\n' >"$1/bench/run.c"
    printf '#include "run.h"\n#include "ddp/job.h"\n' >"$1/tests/test_run.c"
}

# expect RULE FILE LINE: the rule finds nothing in a good tree, and FILE when that line is put into it.
expect() {
    local rule=$1 file=$2 line=$3 found
    good "$temporary/tree"
    found=$("$rule" "$temporary/tree")
    [ -z "$found" ] || { echo "not ok - $rule objects to a good tree: $found"; failed=1; return; }
    printf '%b\n' "$line" >>"$temporary/tree/$file"
    found=$("$rule" "$temporary/tree")
    if [[ $found == "$file: "* && $found != *$'\n'* ]]; then
        echo "ok - $rule finds '$line' in $file"
    else
        echo "not ok - $rule does not find '$line' in $file, but: '$found'"
        failed=1
    fi
}

failed=0
# check RULE WORDS: the rule finds nothing in this tree.
check() {
    local found
    found=$("$1" .)
    if [ -z "$found" ]; then
        echo "ok - $2"
    else
        echo "not ok - $2: ${found//$'\n'/; }"
        failed=1
    fi
}

check mpi "mpi.h only in the comms, job.c, error.c and what is compared with MPI itself"
check cuda "cuda_runtime only in kernels/cuda and comm_nccl.c"
check cblas "cblas.h only in kernels/cpu"
check kernels "kernels/ includes nothing of ddp/ and bench/"
check ddp "ddp/ includes nothing of bench/"
check conditionals "no conditionals but include guards"
if [ "$(includes . | wc -l)" -gt 100 ]; then
    echo "ok - include lines are found"
else
    echo "not ok - include lines are found"
    failed=1
fi

expect mpi bench/run.c '#include <mpi.h>'
expect mpi ddp/model.c '#include "mpi.h"'
expect mpi kernels/cpu/linear.c '  #  include <mpi.h>'
expect cuda ddp/model.c '#include <cuda_runtime.h>'
expect cuda kernels/cpu/linear.c '#include <cuda_runtime_api.h>'
expect cblas ddp/model.c '#include <cblas.h>'
expect cblas bench/run.c '#include <cblas.h>'
expect kernels kernels/cpu/linear.c '#include "job.h"'
expect kernels kernels/cpu/linear.c '#include "run.h"'
expect kernels kernels/device.h '#include "../ddp/absent.h"'
expect ddp ddp/job.c '#include "run.h"'
expect ddp ddp/job.h '#include <bench/absent.h>'
expect conditionals ddp/job.c '#if 1'
expect conditionals ddp/job.c '#ifdef HAVE_CUDA'
expect conditionals ddp/job.c '#ifndef JOB_C'
expect conditionals ddp/job.h '#ifndef NDEBUG'
expect conditionals kernels/cuda/a.cu '# if defined(X)'
expect conditionals tests/test_run.c '#else'
expect conditionals bench/run.c '#elif 1'
exit "$failed"
