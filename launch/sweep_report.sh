#!/usr/bin/env bash
# sweep_report.sh - what the runs of a sweep say together: sweep.csv, a table on stdout, a picture for each number of
# ranks and model. A sample is a run, and its step time the median of the run's samples.
set -euo pipefail

here=$(dirname "$(realpath "$0")")

usage() {
    cat <<'END'
Usage: launch/sweep_report.sh DIR     of a sweep (launch/sweep.sh), complete or not
Writes DIR/sweep.csv, and DIR/sweep-RANKS-MODEL.gp with its .png and .svg for bucket sizes; prints the table.
END
}

say() { echo "sweep_report.sh: $*" >&2; }

case ${1:-} in
--help) usage; exit 0 ;;
-*) say "unknown option '$1'; known is --help"; exit 2 ;;
esac
[ $# = 1 ] || { usage >&2; exit 2; }
output=$1
[ -r "$output/sweep.txt" ] || { say "$output is not the directory of a sweep"; exit 2; }

# combine: the rows of all complete runs, with what the names of their directories say; a run has one implementation.
combine() (
    echo "ranks,model,implementation,bucket_size_mb,repeat,strategy,hosts,threads,metric,unit,n,median,ci_low,ci_high,p5,p95"
    cd "$output"
    find . -path '*/repeat-*/summary.csv' | sort -V | while read -r file; do
        [[ $file =~ ^\./ranks=([0-9]+)/model=([^/,]+)/[^/,]+/repeat-([0-9]+)/summary.csv$ ]] || continue
        awk -F, -v OFS=, -v ranks="${BASH_REMATCH[1]}" -v model="${BASH_REMATCH[2]}" -v repeat="${BASH_REMATCH[3]}" '
            FNR > 1 { print ranks, model, $2, $4, repeat, $3, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15 }' "$file"
    done
)

combine >"$output/sweep.csv.part"
mv "$output/sweep.csv.part" "$output/sweep.csv"
[ "$(wc -l <"$output/sweep.csv")" -gt 1 ] || { say "no run in $output is complete"; exit 1; }

figures=$(mktemp)
trap 'rm -f "$figures"' EXIT
awk -f "$here/sweep_figures.awk" "$output/sweep.csv" >"$figures"
awk -f "$here/sweep_table.awk" "$figures"

# ---- pictures ----
rm -f "$output"/sweep-*.gp "$output"/sweep-*.png "$output"/sweep-*.svg
awk -v output="$output" -f "$here/sweep_plot.awk" "$figures"
scripts=("$output"/sweep-*.gp)
if [ ! -e "${scripts[0]}" ]; then
    say "no implementation with buckets, so there is no picture of bucket sizes"
elif ! command -v gnuplot >/dev/null; then
    say "the pictures need gnuplot: launch/setup.sh --plot, and then again with --report-only" \
        "(the scripts are $output/sweep-*.gp)"
else
    for script in "${scripts[@]}"; do
        (cd "$output" && gnuplot "$(basename "$script")") || {
            rm -f "${script%.gp}.png" "${script%.gp}.svg"
            say "gnuplot could not draw $script"
            exit 1
        }
        say "picture: ${script%.gp}.png and .svg"
    done
fi
