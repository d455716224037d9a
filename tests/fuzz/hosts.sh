#!/usr/bin/env bash
# hosts.sh - fuzzes host files: launch/run.sh must read any host file, or refuse it with one line. The reader is a function of a
# shell script, which libFuzzer cannot instrument, so this script itself changes lines of tests/fuzz/corpus/hosts at random.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=launch/common.sh
. "$here/launch/common.sh"

seconds=60 findings=. seed=${FUZZ_SEED:-1}
while [ $# -gt 0 ]; do
    case $1 in
    --help) echo "Usage: [FUZZ_SEED=1] tests/fuzz/hosts.sh [--seconds N] [--findings DIR] [--help]"; exit 0 ;;
    --seconds) need_value "$@"; check_integer "$1" "$2" 1 999999; seconds=$2 ;;
    --findings) need_value "$@"; findings=$2 ;;
    *) usage_error "unknown '$1'; known are --seconds, --findings, --help" ;;
    esac
    shift 2
done
check_integer FUZZ_SEED "$seed" 1 999999999
[ -d "$findings" ] || usage_error "--findings $findings: there is no directory of that name"
work=$(mktemp -d -p "${FUZZ_SCRATCH:-/tmp}")
trap 'rm -rf "$work"' EXIT
ulimit -v 262144 # KiB
export LC_ALL=C

# Defines the function read_hosts, copied from launch/run.sh, and sets `script` to "run.sh", with which its error messages begin.
# shellcheck source=/dev/null
source /dev/stdin <<<"$(sed -n '/^read_hosts() {/,/^}/p' "$here/launch/run.sh")"
# shellcheck disable=SC2034 # used by common.sh
script=run.sh

# mutate N: writes N files, $work/in.0, $work/in.1 and so on. Each has lines of the corpus, changed in a few random places.
mutate() {
    awk -v seed="$seed" -v n="$1" -v to="$work/in." '
        function some(most) { return int(rand() * most) }
        function piece() { return some(3) ? word[1 + some(words)] : sprintf("%c", some(256)) }
        BEGIN {
            srand(seed)
            words = split("slots= = : # 0 1 9999 10000 99999999999999999999 node . - _ -1 \t \r \n \\ % $0 /dev/stdin", word, " ")
            word[++words] = " "; word[++words] = "\n"; word[++words] = "\t"
        }
        { line[++lines] = $0 }
        END {
            for (i = 0; i < n; i++) {
                text = ""
                for (k = some(5); k >= 0; k--) text = text line[1 + some(lines)] "\n"
                for (k = some(6); k >= 0; k--) {
                    at = some(length(text) + 1)
                    text = substr(text, 1, at) piece() substr(text, at + 1 + some(4) * some(2))
                }
                printf "%s", text >(to i)
                close(to i)
            }
        }' "$here"/tests/fuzz/corpus/hosts/*
}

# check FILE: tests whether read_hosts either reads FILE or refuses it, with one line on stderr and nothing on stdout.
check() {
    local status=0 words
    (read_hosts "$1") >"$work/out" 2>"$work/words" || status=$?
    words=$(<"$work/words")
    if [ "$status" = 0 ]; then
        [ -z "$words" ] && ! grep -qvE '^[A-Za-z0-9][A-Za-z0-9._-]* [1-9][0-9]*$' "$work/out"
    else
        [ "$status" = 2 ] && [ ! -s "$work/out" ] && [[ $words == "run.sh: --hosts "* && $words != *$'\n'* ]]
    fi
}

runs=0 batch=200
while [ "$SECONDS" -lt "$seconds" ]; do
    mutate $batch
    for ((i = 0; i < batch; i++)); do
        runs=$((runs + 1))
        if ! check "$work/in.$i"; then
            found=$findings/hosts-$seed-$i
            cp "$work/in.$i" "$found"
            echo "stat::number_of_executed_units: $runs"
            cat "$work/out" "$work/words"
            echo "Test unit written to $found"
            exit 1
        fi
    done
    seed=$((seed + 1))
done
echo "stat::number_of_executed_units: $runs"
