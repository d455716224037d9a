#!/usr/bin/env bash
# fences.sh - rules for the sources: allowed includes, maximum sizes of folders, and no conditional compilation; each
# rule is also shown to detect a file that breaks it.
# Rules are called through variables, and awk expands its own fields:
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
    usage_error "unknown option '$1'; expected --help"
    ;;
esac
cd "$(dirname "$0")/../.."

# includes TREE: prints "file header quote" for each include in TREE's kernels, ddp and bench; quote is " or <.
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

# only HEADERS FILES: reads the output of includes; prints the includes of HEADERS in files other than FILES (regular expressions).
only() { awk -v headers="^($1)\$" -v files="^($2)\$" '$2 ~ headers && $1 !~ files { print $1 ": " $2 }'; }

# floor[FOLDER]: the layer of kernels, of ddp and of each folder in bench, bench/measure and bench/read. floor[main]: the
# layer of bench. A file may include its own folder and lower layers. only[FOLDER] restricts the includes of a folder further.
rooms='
BEGIN {
    split("kernels 1 base 2 ddp 2 machine 3 chart 3 document 3 spans 3 results 3 import 4 harness 4 training 5 trace 5 benchmark 6 profile 6 allreduce 6 isolate 6 check 7" \
        " predict 5 compare 6 report 6 main 8 selfbench 8", words, " ")
    for (i = 1; i in words; i += 2) floor[words[i]] = words[i + 1]
    only["base"] = "^kernels/(error|exit_handlers|files|clock|random|utf8)[.]h$"
    only["chart"] = only["document"] = "^base/|^kernels/(error|utf8)[.]h$"
    only["compare"] = "^(base|results|document|chart)/|^kernels/(error|clock|random)[.]h$"
    only["report"] = "^(base|results|chart|document|predict)/|^kernels/(error|clock)[.]h$"
    only["predict"] = "^(base|results|import|chart|document)/|^ddp/(plan|strategy|collective)[.]h$|^kernels/(error|random)[.]h$"
}
function room_of(path) { sub("^bench/((measure|read)/)?", "", path); return sub("/.*", "", path) ? path : "main" }
'

# Each rule is a function that prints the lines in tree $1 that break it.
mpi() { includes "$1" | only 'mpi[.]h' 'ddp/comm_mpi[.]c|ddp/comm_nccl[.]c|ddp/job[.]c|kernels/error[.]c|bench/selfbench/allreduce[.]c'; }
cuda() { includes "$1" | only 'cuda_runtime.*[.]h' 'kernels/cuda/.*|ddp/comm_nccl[.]c'; }
cblas() { includes "$1" | only 'cblas[.]h' 'kernels/cpu/.*'; }
# names: a header is included by its folder and name: "spans/spans.h", not "spans.h", "../spans/spans.h" or
# "bench/measure/spans/spans.h". Headers in bench itself have no folder.
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
# wings: bench/measure and bench/read never include each other; both may include results, base and lower layers.
wings() {
    includes "$1" | awk -v rooms="$(cd "$1/bench" && echo measure/*/ read/*/)" '
        BEGIN { n = split(rooms, room, " "); for (i = 1; i <= n; i++) { split(room[i], part, "/"); wing[part[2]] = part[1] } }
        {
            to = $2
            sub("/.*", "", to)
            if (match($1, "^bench/(measure|read)/") && to in wing && $1 !~ "^bench/" wing[to] "/") print $1 ": " $2
        }'
}
# reached: folders of bench/read include no header of ddp, not even indirectly. predict may include four of numbers.
reached() {
    includes "$1" | awk '
        function name_of(path) { sub("^bench/((measure|read)/)?", "", path); return path }
        function visit(header, i, n, next_one) {
            if (header in seen) return
            seen[header] = 1
            n = split(to[header], next_one, " ")
            for (i = 1; i <= n; i++) visit(next_one[i])
        }
        $3 == "\"" { to[name_of($1)] = to[name_of($1)] " " $2; path[name_of($1)] = $1 }
        END {
            for (file in path) if (path[file] ~ "^bench/read/") {
                split("", seen)
                visit(file)
                numbers = file ~ "^predict/" ? "^ddp/(collective|plan|strategy|tensors)[.]h$" : "^$"
                for (header in seen) if (header ~ "^ddp/" && header !~ numbers) print path[file] ": reaches " header
            }
        }' | sort
}
# private: a folder X of bench offers only X/X.h to others; base and results offer all headers, and selfbench may include any.
private() {
    includes "$1" | awk "$rooms"'
        $1 ~ "^bench/" && $3 == "\"" && $2 ~ "/" {
            from = room_of($1)
            to = room_of($2)
            if (to !~ /^(kernels|ddp|base|results)$/ && from != to && from != "selfbench" && $2 != to "/" to ".h") print $1 ": " $2
        }'
}
# Size limits in lines. A change that deletes code lowers the limit in the same commit; raising it needs a commit of its
# own with the reason (what the program can now do). Long lines do not evade a limit: clang-format wraps C at 120 columns.
limits='bench 36403 launch 4141 tests 48563 README.md 202'
folder_limit=3820

# sizes TREE [LIMITS]: prints which of these have more lines than their limits: C in bench and in each folder of bench, programs and
# data (not pages) in launch, programs in tests, README.md.
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
        # The include guard is the header's path, on its first line, so that headers of the same name in two folders
        # have different guards. The emulator's headers, which replace the vendor's, may have conditionals.
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
# printers: JSON is printed by json_print, which makes it valid UTF-8, not by cJSON's functions.
printers() {
    (
        cd "$1"
        find bench -name '*.c' | sort | xargs -r awk '
            /cJSON_Print(Unformatted|Buffered)?\(/ && FILENAME != "bench/base/json.c" { print FILENAME ": " $0 }'
    )
}
# clones: every CPU operation with omp simd must be declared CPU_CLONES: PORTABLE=1 then also compiles it for wider vectors.
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

# good TREE: makes a small tree that follows every rule.
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
    printf '#ifndef BENCH_RESULTS_PROVENANCE_H\n#define BENCH_RESULTS_PROVENANCE_H\n#include "ddp/absent.h"\n#endif\n' >"$1/bench/results/provenance.h"
    printf '#include "trace/rows.h"\n#include "profile/profile.h"\n' >>"$1/bench/selfbench/selfbench.c"
    printf '#include "helper.h"\n#include "profile/profile.h"\n#include "kernels/device.h"\n' >"$1/bench/main.c"
    printf '/* #if in words */\nint if_else;\n' >>"$1/bench/main.c"
    printf '#include "spans/spans.h"\n#include "ddp/job.h"\n' >"$1/tests/test_spans.c"
}

# expect RULE FILE LINE: checks that the rule finds nothing in a good tree, and reports FILE once LINE is appended to it.
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

# grown FILE LINES PATTERN: checks the output of sizes for a good tree in which FILE has LINES lines.
grown() {
    local found
    good "$temporary/tree"
    mkdir -p "$(dirname "$temporary/tree/$1")"
    seq "$2" >"$temporary/tree/$1"
    found=$(sizes "$temporary/tree" 'bench 4000 launch 400 tests 500 README.md 23')
    # shellcheck disable=SC2053 # $3 is a pattern
    if [[ $found == $3 ]]; then
        echo "ok - sizes, $1 of $2 lines: ${found:-nothing}"
    else
        echo "not ok - sizes, $1 of $2 lines: '$found', expected '$3'"
        failed=1
    fi
}

failed=0
# check RULE WORDS: checks that the rule finds nothing in this source tree.
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
expect reached bench/read/compare/compare.c '#include "ddp/job.h"'
expect reached bench/read/compare/compare.c '#include "results/provenance.h"'
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
expect printers bench/results/results.c 'char *text = cJSON_Print(json);'
expect clones kernels/cpu/scale.c 'void cpu_add(float *x,\n             size_t n)\n{\n#pragma omp parallel for simd\n}'
grown bench/measure/machine/more.c 3820 ''
grown bench/measure/machine/more.c 3821 'bench/measure/machine: 3821 lines, the limit is 3820'
grown bench/more.c 4001 'bench: 4??? lines, the limit is 4000'
grown bench/more.py 4001 ''
grown launch/setup 401 'launch: 401 lines, the limit is 400'
grown launch/more.md 401 ''
grown launch/pack/more.awk 401 'launch: 401 lines, the limit is 400'
grown tests/cli/more.sh 501 'tests: 50? lines, the limit is 500'
grown tests/cli/more.json 501 ''
grown README.md 24 'README.md: 24 lines, the limit is 23'

check mpi "mpi.h only in comm_mpi.c, comm_nccl.c, job.c, error.c and selfbench/allreduce.c"
check cuda "cuda_runtime headers only in kernels/cuda and comm_nccl.c"
check cblas "cblas.h only in kernels/cpu"
check printers "JSON is printed by json_print"
check clones "CPU operations with omp simd are CPU_CLONES"
check conditionals "no conditional compilation except include guards"
if [ "$(includes . | wc -l)" -gt 100 ]; then
    echo "ok - includes finds more than 100 lines"
else
    echo "not ok - includes finds more than 100 lines"
    failed=1
fi

check names "headers are included by folder and name"
check floors "no include of a higher layer, or of another folder of the same layer"
check private "no include of another folder's private header"
check reached "folders of bench/read reach no header of ddp; predict reaches only its headers on numbers"
check wings "bench/measure and bench/read do not include each other"
check sizes "sizes in lines are within $limits, folders of bench within $folder_limit"
exit "$failed"
