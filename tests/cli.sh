# cli.sh - what the scripts that test the program from outside share; they define usage() and then read this file.
# It takes BUILD_DIR from the command line, goes to a directory of its own, and counts failed checks in `failed`.
# shellcheck shell=bash
# Used by the scripts:
# shellcheck disable=SC2034

say() { echo "$(basename "$0"): $*" >&2; }

build=
for argument in "$@"; do
    case $argument in
    --help) usage; exit 0 ;;
    -*) say "unknown option '$argument'; known is --help"; exit 2 ;;
    *)
        [ -z "$build" ] || { say "one BUILD_DIR only, not also '$argument'"; exit 2; }
        build=$argument
        ;;
    esac
done
[ -n "$build" ] || { usage >&2; exit 2; }
build=$(realpath -e "$build") || { say "there is no directory '$argument'; build the tests first"; exit 2; }
program=$build/ddpbench
root=$(realpath -e "$(dirname "$0")/..")
[ -x "$program" ] || { say "there is no $program; build it first"; exit 2; }

# MPIRUN may hold options
read -ra mpirun <<<"${MPIRUN:-mpirun}"
export OMP_NUM_THREADS=1
export LSAN_OPTIONS=${LSAN_OPTIONS:+${LSAN_OPTIONS/suppressions=tests/suppressions=$root/tests}}

temporary=$(mktemp -d "${TMPDIR:-/tmp}/$(basename "$0" .sh).XXXXXX")
trap 'rm -rf "$temporary"' EXIT
cd "$temporary" || exit
failed=0

# result STATUS WORDS: STATUS is that of a command; the run's own words follow where it failed.
result() {
    if [ "$1" = 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        failed=1
        [ ! -s said ] || sed 's/^/    /' said
    fi
}

# Whether all of these files are valid JSON (lines of it in a .jsonl).
valid() { "$build/tests/test_results" "$@"; }
