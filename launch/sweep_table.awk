# sweep_table.awk - the table of a sweep, from the lines of sweep_figures.awk.

BEGIN {
    FS = "\t"
    mark["best"] = "*"
    mark["tied"] = "="
    mark["control"] = mark["slower"] = " "
}

function digits(ms) { return ms < 1 ? 4 : (ms < 10 ? 3 : 2) }
function name_of(implementation, bucket) { return bucket == "-" ? implementation : implementation " at " bucket " MiB" }

# What the group says, below its rows.
function conclude() {
    if (best == "") return
    printf "  Best: %s, %s ms a step (n = %d run%s)", best, best_ms, best_n, (best_n == 1 ? "" : "s")
    if (tied != "") printf "; cannot be told apart from it: %s", tied
    print "."
}

($1 SUBSEP $2) != last {
    conclude()
    printf "%s%d rank%s, model %s\n", (NR > 1 ? "\n" : ""), $1, ($1 == 1 ? "" : "s"), $2
    printf "    %-18s %10s %10s %-19s %3s  %s\n",
        "implementation", "bucket MiB", "step ms", "[95 % interval]", "n", "/ best [95 %]"
    last = $1 SUBSEP $2
    best = tied = ""
}

{
    interval = $8 == "-" ? "" : sprintf("[%.*f, %.*f]", digits($7), $8, digits($7), $9)
    paired = $11 == "-" ? "n/a" : sprintf("%.3f", $11)
    if ($12 != "-") paired = paired sprintf(" [%.3f, %.3f]", $12, $13)
    printf "  %s %-18s %10s %10.*f %-19s %3d  %s\n",
        mark[$14], $3, $4, digits($7), $7, interval, $6, ($14 == "best" ? "best" : paired)
    if ($14 == "best") {
        best = name_of($3, $4)
        best_ms = sprintf("%.*f", digits($7), $7)
        best_n = $6
    }
    if ($14 == "tied") tied = tied (tied == "" ? "" : "; ") name_of($3, $4)
}

END {
    conclude()
    print "\nstep: mean over the runs (n) of a run's median step, with Student's 95 % interval. / best: geometric mean of the"
    print "ratios to the best (*) in the same repeat. =: not slower than the best at the 5 % level (paired t test of the"
    print "logarithms, adjusted by Holm over all pairs of these ranks and model). More --repeats tell more apart."
}
