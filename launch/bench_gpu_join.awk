# bench_gpu_join.awk - PyTorch's kernels and ours side by side: first the table of bench/peers/torch_kernels.py, then tables
# of bench_kernels --tsv. Rates are joined by operation and type; those of products and attention by their sizes as well,
# the others are of arrays beyond any cache, whatever their size. A ratio above 1: ours is faster.

BEGIN {
    FS = OFS = "\t"
    print "operation", "dtype", "sizes", "backend", "ours", "theirs", "unit", "ratio"
}

FNR == 1 { tables++ }
/^#/ || $1 == "operation" { next }

{ key = $1 SUBSEP $3 SUBSEP ($9 == "GFLOP/s" ? $4 : "") }

tables == 1 {
    backend[key, ++backends[key]] = $2
    theirs[key, $2] = $8
    next
}

key in backends && !(key in seen) { # what works on fp32 anyway is in each of our tables
    seen[key]
    for (i = 1; i <= backends[key]; i++) {
        rate = theirs[key, backend[key, i]]
        print $1, $3, $4, backend[key, i], $8, rate, $9, (rate == "n/a" ? rate : sprintf("%.3f", $8 / rate))
    }
}
