#!/usr/bin/env bash
# bench_gpu_aims.sh - the figures that launch/bench_gpu.sh left, against the aims of this project.
# shellcheck disable=SC2016 # the fields of awk
set -euo pipefail

usage() {
    cat <<'END'
Usage: launch/bench_gpu_aims.sh DIR
Prints a table from the files of DIR, which launch/bench_gpu.sh made. What is not there is "not measured".
END
}

say() { echo "bench_gpu_aims.sh: $*" >&2; }

case ${1:-} in
--help) usage; exit 0 ;;
'' | -*) usage >&2; exit 2 ;;
esac
if [ $# -gt 1 ] || [ ! -d "$1" ]; then
    say "expected one directory, not '$*'"
    exit 2
fi
cd "$1"

# What follows prints, for each figure, a line of: figure, least, most, n and what n counts, and a name where there are
# several; nothing if its file is not there.

read_table() {
    local file=$1
    shift
    [ ! -s "$file" ] || awk -F '\t' -v OFS='\t' "$@" "$file"
}

# peers LABEL PROGRAM: our step over PyTorch's, where the table has PyTorch's over ours.
peers() {
    [ ! -s peers.txt ] || awk -v OFS='\t' -v label="$1" -v program="$2" '
        match($0, /median over [0-9]+ repeats/) { split(substr($0, RSTART), word, " "); n = word[3] }
        $1 == label && $2 == program && NF == 8 {
            gsub(/[][,]/, "")
            print 1 / $6, 1 / $8, 1 / $7, n, "repeats, 95 %"
        }' peers.txt
}

mfu() { read_table "$1" '$1 == "mfu" { print $3, $4, $5, $6, "pairs" }'; }

enough=0.8 # of the bandwidth of a copy
slowest() {
    read_table "$1" '$9 == "GB/s" && $1 !~ /^copy/ && (least == "" || $10 < least) {
            least = $10
            line = $10 OFS $11 OFS $12 OFS $7 OFS "rounds: " $1
        }
        END { if (line != "") print line }'
}

# The worst of all sizes; least and most are over the sizes.
attention() {
    read_table kernels-ratio.txt -v operation="$1" '
        $1 == operation && $2 == "bfloat16" && $4 == "flash" && $8 != "n/a" {
            n++
            if (n == 1 || $8 < least) { least = $8; sizes = $3 }
            if (n == 1 || $8 > most) most = $8
        }
        END { if (n) print least, least, most, n, "sizes: " sizes }'
}

strategies() {
    [ ! -s strategies/summary.csv ] || awk -F , -v OFS='\t' '
        $8 == "step" && $3 == "none" { none = $11 }
        $8 == "sync_cost" && $10 > 0 { name[++m] = $2; n[m] = $10; cost[m] = $11; low[m] = $12; high[m] = $13 }
        END {
            for (i = 1; i <= m && none; i++)
                print cost[i] / none, low[i] / none, high[i] / none, n[i], "rounds, 95 %", name[i]
        }' strategies/summary.csv
}

profiling() {
    [ ! -s profiling.txt ] || awk -v OFS='\t' '
        /^Controls, interleaved / { n = $6 }
        /^  profiling overhead / {
            gsub(/[][,]/, "")
            print $3 - 1, $4 - 1, $5 - 1, n, "rounds, 95 %"
        }' profiling.txt
}

# row NAME SENSE AIM: a row of the table for each of these lines; SENSE is at_least or at_most.
row() {
    awk -F '\t' -v name="$1" -v sense="$2" -v aim="$3" '
        function show(x) { return sprintf(aim < 0.1 ? "%+.4f" : "%.3f", x) }
        BEGIN { wanted = (sense == "at_least" ? ">= " : "<= ") aim }
        {
            met = sense == "at_least" ? $1 >= aim : $1 <= aim
            printf "%-42s %8s  %-8s %-7s %s to %s, n %s %s\n", name ($6 == "" ? "" : " " $6), show($1), wanted,
                met ? "met" : "missed", show($2), show($3), $4, $5
        }
        END { if (!NR) printf "%-42s %8s  %-8s not measured\n", name, "n/a", wanted }'
}

printf '%-42s %8s  %-8s %-7s %s\n' '' figure aim '' 'least to most, or interval'
peers none torch | row "step / PyTorch eager" at_most 0.8
peers none torch_compile | row "step / torch.compile" at_most 1.0
peers torch_ddp torch | row "ddp_bucketed / DistributedDataParallel" at_most 0.8
peers torch_ddp torch_compile | row "ddp_bucketed / the same, torch.compile" at_most 1.0
mfu step-default.tsv | row "mfu, default model" at_least 0.5
mfu step-d1600.tsv | row "mfu, d 1600 x 24 layers" at_least 0.5
for dtype in fp32 bf16; do
    slowest "kernels-$dtype.tsv" | row "slowest memory-bound / copy, $dtype" at_least $enough
done
attention attention_forward | row "slowest attention forward / flash" at_least 0.6
attention attention_backward | row "slowest attention backward / flash" at_least 0.4
strategies | row "at one rank, cost of" at_most 0.01
profiling | row "cost of profiling" at_most 0.01
for dtype in fp32 bf16; do
    read_table "kernels-$dtype.tsv" -v aim=$enough -v dtype=$dtype '
        $9 == "GB/s" && $1 !~ /^copy/ && $10 < aim {
            printf "%s%s %.2f", (n++ ? ", " : "Below " 100 * aim " % of the copy, " dtype ": "), $1, $10
        }
        END { if (n) print "." }'
done
