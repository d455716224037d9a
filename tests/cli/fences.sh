#!/usr/bin/env bash
# fences.sh - who may include what, how large folders may be, and no conditionals; each rule is also shown to find a file
# that breaks it.
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
    # shellcheck source=launch/common.sh
    . "$(dirname "$(realpath "$0")")/../../launch/common.sh"
    usage_error "unknown option '$1'; known is --help"
    ;;
esac
cd "$(dirname "$0")/../.."

# includes TREE: a line "file header quote" for each include line below TREE's kernels, ddp and bench; quote is " or <.
includes() {
    (
        cd "$1"
        find kernels ddp bench -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort |
            xargs -r awk 'match($0, /^[ \t]*#[ \t]*include(_next)?[ \t]*[<"][^>"]+/) {
                header = substr($0, RSTART, RLENGTH)
                sub(/^[^<"]*/, "", header)
                print FILENAME, substr(header, 2), substr(header, 1, 1)
            }'
    )
}

# only HEADERS FILES: of the lines of includes, those that name a header (a regular expression) in another file.
only() { awk -v headers="^($1)\$" -v files="^($2)\$" '$2 ~ headers && $1 !~ files { print $1 ": " $2 }'; }

# Floors of rooms, which are the folders of bench and of its two wings, measure and read, and kernels, ddp and main (what lies in
# bench itself). A file may include rooms of lower floors and its own. Where `only` names what a room includes, it may include
# nothing else.
rooms='
BEGIN {
    split("kernels 1 base 2 ddp 2 machine 3 chart 3 document 3 spans 3 results 3 harness 4 training 5 trace 5 benchmark 6 profile 6 allreduce 6" \
        " compare 6 report 6 main 7 selfbench 7", words, " ")
    for (i = 1; i in words; i += 2) floor[words[i]] = words[i + 1]
    only["base"] = "^kernels/(error|exit_handlers|files|clock|random|utf8)[.]h$"
    only["chart"] = only["document"] = "^base/|^kernels/(error|utf8)[.]h$"
    only["compare"] = "^(base|results)/|^kernels/(error|clock)[.]h$"
    only["report"] = "^(base|results|chart|document)/|^kernels/(error|clock)[.]h$"
}
function room_of(path) { sub("^bench/((measure|read)/)?", "", path); return sub("/.*", "", path) ? path : "main" }
'

# Each rule prints the lines of the tree $1 that break it.
mpi() { includes "$1" | only 'mpi[.]h' 'ddp/comm_mpi[.]c|ddp/comm_nccl[.]c|ddp/job[.]c|ddp/links[.]c|kernels/error[.]c|bench/selfbench/allreduce[.]c'; }
cuda() { includes "$1" | only 'cuda_runtime.*[.]h' 'kernels/cuda/.*|ddp/comm_nccl[.]c'; }
cblas() { includes "$1" | only 'cblas[.]h' 'kernels/cpu/.*'; }
# A header of ours is named by its folder: "spans/spans.h", not "spans.h", "../spans/spans.h" or "bench/measure/spans/spans.h". Only
# those that lie in bench itself have none.
names() {
    includes "$1" | awk '
        $3 == "\"" && ($2 !~ "/" && $1 !~ "^bench/[^/]*$" || $2 ~ /[.][.]/) || $2 ~ "^bench/" { print $1 ": " $2 }'
}
floors() {
    includes "$1" | awk "$rooms"'
        {
            from = room_of($1)
            to = room_of($2)
            known = $3 == "\"" || to in floor
            if (!known || ($2 !~ "/") || from == to) next
            if (!(from in floor) || !(to in floor)) print $1 ": " $2 " (a folder without a floor)"
            else if (floor[to] >= floor[from] || (from in only && $2 !~ only[from])) print $1 ": " $2
        }'
}
# The wings never include each other: what measures and what reads share results, base and what lies below.
wings() {
    includes "$1" | awk -v rooms="$(cd "$1/bench" && echo measure/*/ read/*/)" '
        BEGIN { n = split(rooms, room, " "); for (i = 1; i <= n; i++) { split(room[i], part, "/"); wing[part[2]] = part[1] } }
        {
            to = $2
            sub("/.*", "", to)
            if (match($1, "^bench/(measure|read)/") && to in wing && $1 !~ "^bench/" wing[to] "/") print $1 ": " $2
        }'
}
# From outside of a folder X of bench only X/X.h is included; base has one header a library, and selfbench may look inside.
private() {
    includes "$1" | awk "$rooms"'
        $1 ~ "^bench/" && $3 == "\"" && $2 ~ "/" {
            from = room_of($1)
            to = room_of($2)
            if (to !~ /^(kernels|ddp|base)$/ && from != to && from != "selfbench" && $2 != to "/" to ".h") print $1 ": " $2
        }'
}
# Limits of size, in lines. A limit is a promise: a change that deletes code lowers it in the same commit, and only a commit that
# does nothing else raises it, with the reason (what the program can now do that needs the lines). Longer lines are no way to keep
# one: clang-format folds C at 120 columns.
limits='bench 25930 launch 3590 tests 34750 README.md 230'
folder_limit=3700

# sizes TREE [LIMITS]: C in bench and in each of its folders; programs and data, but no pages, in launch; programs in tests.
sizes() {
    (
        cd "$1"
        for place in bench launch tests README.md; do
            case $place in
            bench) kinds='[.][ch]$' ;;
            launch) kinds='/([^.]*|.*[.]([^m].*|m[^d].*))$' ;;
            tests) kinds='[.](c|h|cc|cu|cuh|sh|py|awk)$' ;;
            *) kinds='' ;;
            esac
            [ ! -e "$place" ] || find "$place" -type f | grep -E -e "$kinds" | sort | LC_ALL=C xargs -r -d '\n' awk '{ print FILENAME }'
        done | LC_ALL=C awk -v limits="${2:-$limits}" -v most="$folder_limit" '
            {
                top = $0
                sub("/.*", "", top)
                lines[top]++
                folder = $0
                if (top == "bench" && sub("/[^/]*$", "", folder) && folder != "bench") lines[folder]++
            }
            END {
                split(limits, words, " ")
                for (i = 1; i in words; i += 2) limit[words[i]] = words[i + 1]
                for (place in lines) {
                    allowed = place in limit ? limit[place] : most
                    if (lines[place] > allowed) print place ": " lines[place] " lines, the limit is " allowed
                }
            }' | sort
    )
}
conditionals() {
    (
        cd "$1"
        # the name that guards a header is its path's, first in the file (so that two headers of one name in two folders
        # are two); the emulated headers stand in for a vendor's, which C and C++ read
        find kernels ddp bench tests -path tests/gpu/emulator -prune -o \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print | sort | LC_ALL=C xargs -r awk '
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
# An operation of the CPU with vectors of its own, which PORTABLE=1 is to compile for wider ones as well.
clones() {
    (
        cd "$1"
        find kernels/cpu -name '*.c' | sort | xargs -r awk '
            /^[a-zA-Z].*[ *]cpu_[a-z0-9_]+\(/ { narrow = $1 == "CPU_CLONES" ? "" : $0 }
            /^}/ { narrow = "" }
            /^#pragma omp.*simd/ && narrow != "" { print FILENAME ": " narrow; narrow = "" }'
    )
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# good TREE: a small tree that keeps every rule.
good() {
    local room
    rm -rf "$1"
    mkdir -p "$1/kernels/cpu" "$1/kernels/cuda" "$1/ddp" "$1/tests"
    printf '#ifndef KERNELS_DEVICE_H\n#define KERNELS_DEVICE_H\n#include <stddef.h>\n#endif\n' >"$1/kernels/device.h"
    printf '#ifndef DDP_JOB_H\n#define DDP_JOB_H\n#include "kernels/device.h"\n#endif\n' >"$1/ddp/job.h"
    printf '#include "ddp/job.h"\n#include <mpi.h>\n' >"$1/ddp/job.c"
    printf '#include "kernels/device.h"\n#include <cblas.h>\n' >"$1/kernels/cpu/linear.c"
    printf 'CPU_CLONES void cpu_scale(float *x)\n{\n#pragma omp simd\n}\nvoid cpu_zero(float *x)\n{\n}\n' >"$1/kernels/cpu/scale.c"
    printf '#include <cuda_runtime.h>\n#include <cuda_runtime_api.h>\n' >"$1/kernels/cuda/a.cu"
    for room in base results selfbench measure/{spans,training,trace,profile} read/compare; do
        mkdir -p "$1/bench/$room"
        printf '#include "%s/%s.h"\n#include "kernels/error.h"\n' "${room#*/}" "${room#*/}" >"$1/bench/$room/${room#*/}.c"
    done
    printf '#include "spans/spans.h"\n#include "base/stats.h"\n#include "ddp/job.h"\n' >>"$1/bench/measure/training/training.c"
    printf '#include "training/training.h"\n#include "profile/figures.h"\n' >>"$1/bench/measure/profile/profile.c"
    printf '#include "results/results.h"\n#include "base/text.h"\n' >>"$1/bench/read/compare/compare.c"
    printf '#include "trace/rows.h"\n#include "profile/profile.h"\n' >>"$1/bench/selfbench/selfbench.c"
    printf '#include "helper.h"\n#include "profile/profile.h"\n#include "kernels/device.h"\n' >"$1/bench/main.c"
    printf '/* #if in words */\nint if_else;\n' >>"$1/bench/main.c"
    printf '#include "spans/spans.h"\n#include "ddp/job.h"\n' >"$1/tests/test_spans.c"
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

# grown FILE LINES PATTERN: what the rule of sizes finds where the good tree has a file of that many lines.
grown() {
    local found
    good "$temporary/tree"
    mkdir -p "$(dirname "$temporary/tree/$1")"
    seq "$2" >"$temporary/tree/$1"
    found=$(sizes "$temporary/tree" 'bench 4000 launch 400 tests 500 README.md 23')
    # shellcheck disable=SC2053 # a pattern
    if [[ $found == $3 ]]; then
        echo "ok - sizes, $1 of $2 lines: ${found:-nothing}"
    else
        echo "not ok - sizes, $1 of $2 lines: '$found', expected '$3'"
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

expect mpi bench/main.c '#include <mpi.h>'
expect mpi ddp/model.c '#include "mpi.h"'
expect mpi kernels/cpu/linear.c '  #  include <mpi.h>'
expect cuda ddp/model.c '#include <cuda_runtime.h>'
expect cuda kernels/cpu/linear.c '#include <cuda_runtime_api.h>'
expect cblas ddp/model.c '#include <cblas.h>'
expect cblas bench/main.c '#include <cblas.h>'
expect names kernels/cpu/linear.c '#include "job.h"'
expect names kernels/device.h '#include "../ddp/absent.h"'
expect names ddp/job.h '#include <bench/absent.h>'
expect names bench/measure/spans/spans.c '#include "bench/measure/spans/steps.h"'
expect names bench/measure/spans/spans.c '#include "helper.h"'
expect floors kernels/cpu/linear.c '#include "ddp/job.h"'
expect floors ddp/job.c '#include "spans/spans.h"'
expect floors ddp/job.h '#include <base/stats.h>'
expect floors bench/base/base.c '#include "ddp/job.h"'
expect floors bench/base/base.c '#include "kernels/device.h"'
expect floors bench/measure/spans/spans.c '#include "results/results.h"'
expect floors bench/measure/training/training.c '#include "trace/trace.h"'
expect floors bench/measure/trace/trace.c '#include "profile/profile.h"'
expect floors bench/measure/profile/profile.c '#include "compare/compare.h"'
expect floors bench/read/compare/compare.c '#include "spans/spans.h"'
expect floors bench/read/compare/compare.c '#include "ddp/job.h"'
expect floors bench/main.c '#include "selfbench/program.h"'
expect floors bench/measure/profile/profile.c '#include "attic/attic.h"'
expect wings bench/measure/profile/profile.c '#include "compare/compare.h"'
expect wings bench/read/compare/compare.c '#include "spans/spans.h"'
expect private bench/main.c '#include "profile/figures.h"'
expect private bench/measure/profile/profile.c '#include "spans/steps.h"'
expect conditionals ddp/job.c '#if 1'
expect conditionals ddp/job.c '#ifdef HAVE_CUDA'
expect conditionals ddp/job.c '#ifndef JOB_C'
expect conditionals ddp/job.h '#ifndef NDEBUG'
expect conditionals kernels/cuda/a.cu '# if defined(X)'
expect conditionals tests/test_spans.c '#else'
expect conditionals bench/main.c '#elif 1'
expect clones kernels/cpu/scale.c 'void cpu_add(float *x,\n             size_t n)\n{\n#pragma omp parallel for simd\n}'
grown bench/measure/machine/more.c 3700 ''
grown bench/measure/machine/more.c 3701 'bench/measure/machine: 3701 lines, the limit is 3700'
grown bench/more.c 4001 'bench: 4??? lines, the limit is 4000'
grown bench/more.py 4001 ''
grown launch/setup 401 'launch: 401 lines, the limit is 400'
grown launch/more.md 401 ''
grown launch/pack/more.awk 401 'launch: 401 lines, the limit is 400'
grown tests/cli/more.sh 501 'tests: 50? lines, the limit is 500'
grown tests/cli/more.json 501 ''
grown README.md 24 'README.md: 24 lines, the limit is 23'

check mpi "mpi.h only in the comms, job.c, links.c, error.c and what is compared with MPI itself"
check cuda "cuda_runtime only in kernels/cuda and comm_nccl.c"
check cblas "cblas.h only in kernels/cpu"
check clones "operations of the CPU with omp simd are CPU_CLONES"
check conditionals "no conditionals but include guards"
if [ "$(includes . | wc -l)" -gt 100 ]; then
    echo "ok - include lines are found"
else
    echo "not ok - include lines are found"
    failed=1
fi

check names "headers are named by their folders"
check floors "no include of a higher floor, or of another room of one's own"
check private "no private header of another folder"
check wings "what measures includes nothing of what reads, nor the other way round"
check sizes "sizes within $limits, folders of bench within $folder_limit"
exit "$failed"
