#!/usr/bin/env bash
# corpus.sh - makes a text to train on from the compiler's header files, which every machine with a compiler has
#
# Usage: launch/corpus.sh [--help] OUTPUT
# Writes the C and C++ headers of this machine, in order of their names, to OUTPUT, at most 8 MiB. Does nothing if OUTPUT
# exists and is not empty.
set -euo pipefail

# shellcheck source=launch/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

most_arguments=1
read_options "$@"
output=${arguments[0]:-}
[ -n "$output" ] || usage_error "OUTPUT is missing: give a file for the text, such as corpus.txt"
[ ! -e "$output" ] || [ -f "$output" ] || die "$output is not a file"

if [ -s "$output" ]; then
    say "$output: made earlier, $(stat -c %s "$output") bytes"
    exit 0
fi
[ ! -L "$output" ] || die "$output is a symbolic link; name the file itself"

export LC_ALL=C
most=$((8 << 20)) least=$((1 << 20))

# Lists the directories that the compiler searches for headers, leaving out subdirectories of listed ones.
find_compiler
search=$("${compiler[@]}" -E -Wp,-v - </dev/null 2>&1 >/dev/null) || die "cannot run ${CC:-cc}, which comes with gcc: ${search##*: }"
directories=()
while read -r directory; do
    for known in "${directories[@]}"; do
        [[ $directory/ != "$known"/* ]] || continue 2
    done
    directories+=("$directory")
done < <(sed -n 's/^ \(\/.*\)/\1/p' <<<"$search" | xargs -rd '\n' realpath -qe | sort -u)
[ ${#directories[@]} -gt 0 ] || die "${CC:-cc} searches no directory of headers"

error=$(mkdir -p -- "$(dirname -- "$output")" 2>&1) || die "cannot make the directory of $output: ${error##*: }"
temporary=$(mktemp -- "$output.XXXXXX" 2>&1) || die "cannot write $output: ${temporary##*: }"
trap 'rm -f "$temporary" "$temporary.names"' EXIT
# Selects enough files to fill the corpus and cuts the last one. Files with other names, such as precompiled headers, are left out.
find "${directories[@]}" -type f -readable \( -name '*.h' -o -name '*.hpp' -o -name '*.tcc' -o ! -name '*.*' \) -printf '%p\t%s\n' |
    sort -u | awk -F'\t' -v most="$most" 'total < most { print $1 } { total += $2 }' >"$temporary.names"
xargs -rd '\n' cat -- <"$temporary.names" >"$temporary"
truncate -s "<$most" "$temporary"
bytes=$(stat -c %s "$temporary")
[ "$bytes" -ge "$least" ] || die "only $bytes bytes of headers in ${directories[*]}, at least 1 MiB is needed; name another text with CORPUS=FILE"
chmod 644 "$temporary"
mv -T "$temporary" "$output"
say "$output: $(wc -l <"$temporary.names") header files from ${directories[*]}, $bytes bytes"
