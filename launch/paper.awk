# paper.awk - paper.sh's results: tables on stdout, and all that is in them in the file `csv`.
#
# Reads paper.tsv, and of each run, behind an operand run=NAME, run.json, summary.json and summary.csv; the JSON as ddpbench writes
# it, a member a line. Figures are the runs' own; made here are only ratios of two of them, and what is a step's is divided by the
# micro-batches of a step. Variables: csv, and of paper.sh: ranks, every, batch, rounds, steps.

# text(LINE): the value of a member of JSON that is a text, or a number.
function text(line) {
    sub(/^[^:]*:[ \t]*"?/, "", line)
    sub(/"?,?$/, "", line)
    gsub(/\\"/, "\"", line)
    gsub(/\\\//, "/", line)
    gsub(/\\\\/, "\\", line)
    return line
}

FNR == 1 { kind = FILENAME; sub(/.*\//, "", kind) }
kind == "paper.tsv" {
    if (!/^#/) fact[++facts] = $0
    next
}
kind == "run.json" {
    if (FNR == 1) gpu = 0
    if (/^\t\t"gpu":/) gpu = 1
    if (gpu == 1 && /^\t\t\t"name":/) { machine[run] = text($0); gpu = 2 }
    if (/^\t\t\t"cpu":/ && machine[run] == "") machine[run] = text($0)
    if (/^\t\t"world_size":/) ranks_of[run] = text($0)
    if (/^\t\t"host_count":/) hosts = text($0)
    if (/^\t\t"comm":/) comm = text($0) # the last one is the one that was taken, not what was asked for
    if (/^\t\t"DDPBENCH_LINK":/) named[run] = text($0)
    link[run] = ranks_of[run] == 1 ? "" : named[run] != "" ? named[run] : comm " on " hosts " host" (hosts == 1 ? "" : "s")
    next
}
kind == "summary.json" {
    if (/^\t"heading":/) {
        model[run] = on[run] = $0
        sub(/.*"model +/, "", model[run])
        sub(/".*/, "", model[run])
        sub(/^[^"]*"heading":[^"]*"ddpbench [^ ]* on /, "", on[run])
        sub(/", ".*/, "", on[run])
    }
    if (/^\t"blocks_watched":/) watched[run] = text($0)
    if (/^\t"blocks_with_other_processes":/) beside[run] = text($0)
    next
}
kind == "summary.csv" {
    # label,subject,name,bytes,unit,value,low,high,n,better,judged
    if (FNR > 1 && split($0, f, ",") == 11 && f[4] == "") {
        key = run SUBSEP f[2] SUBSEP f[3]
        unit[key] = f[5]; value[key] = f[6]; low[key] = f[7]; high[key] = f[8]; n[key] = f[9]
        if (f[3] == "step") subject[run, ++subjects[run]] = f[2]
    }
}

# ---- the tidy file ----
function quoted(word) {
    gsub(/"/, "\"\"", word)
    return word ~ /[",]/ ? "\"" word "\"" : word
}

# tidy(WHOSE, RUN, SUBJECT, NAME, UNIT, VALUE, LOW, HIGH, N, FROM)
function tidy(whose, run, subject, name, unit, value, low, high, n, from) {
    print experiment, whose, run, quoted(subject), quoted(name), unit, quoted(value), low, high, n, ranks_of[run], quoted(machine[run]),
        quoted(model[run]), quoted(link[run]), quoted(from) >csv
}

# figure(RUN, SUBJECT, NAME): the key of a figure, which then is in the tidy file too.
function figure(run, subject, name,    key) {
    key = run SUBSEP subject SUBSEP name
    if (value[key] != "" && !written[experiment, key]++)
        tidy("here", run, subject, name, unit[key], value[key], low[key], high[key], n[key], \
            run (run == "latency" ? "/ddp_bucketed" : "") "/summary.csv")
    return key
}

# ratio(NAME, A, B, BY, WORDS): A / B / BY of two figures, by their keys.
function ratio(name, a, b, by, words,    parts, r) {
    if (value[a] == "" || value[b] == "" || value[b] == 0) return ""
    r = value[a] / value[b] / by
    split(a, parts, SUBSEP)
    tidy("ratio", parts[1], parts[2], name, 1, sprintf("%.17g", r), "", "", "", words)
    return r
}

# ---- tables ----
function shown(number, scale, decimals) { return number == "" ? "n/a" : sprintf("%.*f", decimals, number * scale) }
function range(key, scale, decimals) {
    return low[key] == "" ? "n/a" : "[" shown(low[key], scale, decimals) ", " shown(high[key], scale, decimals) "]"
}
# Where a run ran, and what else did: two lines at most.
function where(run,    more) {
    more = link[run] == "" ? "" : "link: " link[run]
    if (beside[run] > 0)
        more = more (more == "" ? "" : "; ") "other programs used the CPUs in " beside[run] " of " watched[run] " blocks"
    return on[run] (more == "" ? "" : "\n   " more)
}
function title(words, run) {
    print "\n" words
    if (run in on) print "   " where(run)
}
function row(words, key, scale, decimals) {
    printf "   %-44s %10s  %-22s %4s\n", words, shown(value[key], scale, decimals), range(key, scale, decimals),
        value[key] == "" ? "" : n[key]
}
function plain(words, number, scale, decimals) { printf "   %-44s %10s\n", words, shown(number, scale, decimals) }

# What the paper says of this experiment, beside which the lines before stand.
function paper(    i, f, line) {
    for (i = 1; i <= facts; i++) {
        split(fact[i], f, "\t")
        if (f[1] != experiment) continue
        tidy("paper", "", "", f[2], f[4], f[3], "", "", "", f[5])
        line = sprintf("   paper: %-36s %10s", f[2], f[3] (f[4] == "" ? "" : " " f[4]))
        printf "%-58s  (%s)\n", line, f[5]
    }
}

function absent(run) { print "   There is no complete run " run " in these results." }

function latency(    with, saved, after) {
    experiment = "latency"
    title("1. Latency breakdown with and without overlap (the paper's figure 6)", "latency")
    if (!("latency" in on)) { absent("latency"); return }
    printf "   %-44s %10s  %-22s %4s\n", "ddp_bucketed", "ms a step", "95 % interval", "n"
    row("forward", figure("latency", "ddp_bucketed", "forward_pass"), 1e3, 2)
    row("backward, with reductions beside it", figure("latency", "ddp_bucketed", "backward_pass"), 1e3, 2)
    row("waiting for reductions after backward", figure("latency", "ddp_bucketed", "gradient_sync"), 1e3, 2)
    row("optimizer", figure("latency", "ddp_bucketed", "optimizer_step"), 1e3, 2)
    row("backward without communication", figure("latency", "ddp_bucketed", "backward_none"), 1e3, 2)
    row("the reductions alone", figure("latency", "ddp_bucketed", "comm_alone"), 1e3, 2)
    with = figure("latency", "ddp_bucketed", "step")
    after = figure("latency", "after_backward", "step")
    saved = figure("latency", "ddp_bucketed", "saved_by_overlap")
    row("step with overlap", with, 1e3, 2)
    row("step with the same reductions after backward", after, 1e3, 2)
    row("step without communication", figure("latency", "none", "step"), 1e3, 2)
    row("saved by overlap", saved, 1e3, 2)
    row("the same, % of what could be saved", figure("latency", "ddp_bucketed", "overlap_efficiency"), 100, 1)
    plain("the same, % of the step without overlap", ratio("saved_of_after_backward", saved, after, 1, \
        "saved_by_overlap / step of after_backward"), 100, 1)
    plain("the same, % of the step with overlap", ratio("saved_of_step", saved, with, 1, "saved_by_overlap / step"), 100, 1)
    paper()
    if (low[saved] == "") print "   Without intervals (fewer than 6 rounds) nothing is shown."
    else if (low[saved] <= 0 && high[saved] >= 0) print "   The interval of what overlap saves holds 0: no gain is shown here."
    print "   The first four are of the captured steps (n = ranks x steps); the others are medians over rounds of controls."
    print "   Whether the paper's speed-up is of the longer or of the shorter step is not said in the sentence: hence both."
}

function buckets(    i, s, slowest, key) {
    experiment = "buckets"
    title("2. Step time against bucket size (figures 7 and 8)", "buckets")
    if (!("buckets" in on)) { absent("buckets"); return }
    printf "   %-17s %9s  %-18s %4s   %-20s %8s  %s\n", "", "ms a step", "95 % interval", "n", "step / the shortest", "sync", \
        "95 % interval"
    for (i = 1; i <= subjects["buckets"]; i++) {
        s = subject["buckets", i]
        key = figure("buckets", s, "step")
        printf "   %-17s %9s  %-18s %4s   ", s, shown(value[key], 1e3, 2), range(key, 1e3, 2), n[key]
        key = figure("buckets", s, "step_to_shortest")
        if (value[key] + 0 > value[slowest] + 0) slowest = key
        printf "%-5s %-14s ", shown(value[key], 1, 2), range(key, 1, 2)
        key = figure("buckets", s, "sync_cost")
        printf "%8s  %s\n", shown(value[key], 1e3, 2), range(key, 1e3, 2)
    }
    printf "   %-44s %10s x  %s\n", "the slowest / the fastest of these", shown(value[slowest], 1, 2), range(slowest, 1, 2)
    paper()
    print "   ddp_individual: each tensor by itself. ddp_flat: one reduction, after backward. sync: step - that of none, ms."
}

function scaling(    list, m, i, run, base, first, by, key, control) {
    experiment = "scaling"
    title("3. Scaling over ranks (figure 9), " batch " sequence" (batch == 1 ? "" : "s") " a rank", "")
    m = split(ranks, list, ",")
    printf "   %5s %9s  %-18s %9s  %-18s %4s  %-8s  %-11s  %-11s\n", "ranks", "ms a step", "95 % interval", "tokens/s", "95 % interval",
        "n", "speed-up", "of linear,%", "without any"
    for (i = 1; i <= m; i++) {
        run = "ranks=" list[i]
        if (!(run in on)) { absent(run); continue }
        key = figure(run, "ddp_bucketed", "step")
        printf "   %5s %9s  %-18s ", list[i], shown(value[key], 1e3, 2), range(key, 1e3, 2)
        figure(run, "ddp_bucketed", "sync_cost")
        key = figure(run, "ddp_bucketed", "tokens_per_second")
        control = figure(run, "none", "tokens_per_second")
        if (base == "") { base = key; first = control; by = list[i] }
        printf "%9s  %-18s %4s  %8s  %11s  %11s\n", shown(value[key], 1, 0), range(key, 1, 0), n[key],
            shown(ratio("speed_up", key, base, 1, "tokens_per_second / that of " by " rank" (by == 1 ? "" : "s")), 1, 2),
            shown(ratio("efficiency", key, base, list[i] / by, "tokens_per_second / that of " by " / (" list[i] " / " by ")"), 100, 1),
            shown(ratio("efficiency", control, first, list[i] / by, "the same of none"), 100, 1)
    }
    paper()
    for (i = 1; i <= m; i++)
        if (("ranks=" list[i]) in on) print "   " where("ranks=" list[i])
    print "   without any: of linear without communication: what ranks take from each other otherwise (memory, clock, cores)."
    print "   Each number of ranks is a run of its own: a machine that drifts between them is in the ratios."
}

function skipping(    list, m, i, run, base, by, step, key, sync, none) {
    experiment = "skipping"
    title("4. Reducing gradients every n micro-batches only (figure 10)", "every=" (every + 0))
    m = split(every, list, ",")
    printf "   %4s %12s %9s  %-18s %4s  %-8s  %9s  %-18s %s\n", "n", "step / n, ms", "tokens/s", "95 % interval", "n", "speed-up", \
        "sync, ms", "95 % interval", "% of none"
    for (i = 1; i <= m; i++) {
        run = "every=" list[i]
        if (!(run in on)) { absent(run); continue }
        step = figure(run, "ddp_bucketed", "step")
        none = figure(run, "none", "step")
        key = figure(run, "ddp_bucketed", "tokens_per_second")
        sync = figure(run, "ddp_bucketed", "sync_cost")
        if (base == "") { base = key; by = list[i] }
        printf "   %4s %12s %9s  %-18s %4s  %8s  %9s  %-18s %9s\n", list[i], shown(value[step] / list[i], 1e3, 2),
            shown(value[key], 1, 0), range(key, 1, 0), n[key], shown(ratio("speed_up", key, base, 1, \
                "tokens_per_second / that of n = " by), 1, 2),
            shown(value[sync], 1e3, 2), range(sync, 1e3, 2), shown(ratio("sync_of_none", sync, none, 1, "sync_cost / step of none"), 100, 1)
    }
    paper()
    print "   sync: of a step, which is n micro-batches: step - that of none, also as a share of it. As under PyTorch's no_sync,"
    print "   gradients add up over n forward and backward passes, and only the last of these reduces, beside its backward. It"
    print "   differs in that a step of the optimizer belongs to each reduction and is spread over n micro-batches as well (none"
    print "   has it too, so sync is free of it), and in that the batch is n times as large; what becomes of convergence is not"
    print "   measured. Each n is a run of its own."
}

BEGIN { OFS = "," }
END {
    print "experiment,whose,run,subject,name,unit,value,low,high,n,ranks,machine,model,link,from" >csv
    print "The experiments of Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training,"
    print "PVLDB 13(12), 2020 (arXiv:2006.15704), with " version
    for (run in model) { print "model: " model[run]; break }
    print "rounds of each run: " rounds "; timed steps of a block: " steps
    print "95 % intervals are the runs' own; a ratio without one is of two figures"
    latency()
    buckets()
    scaling()
    skipping()
    print "\n5. Round-robin over several communicators (figure 12)"
    print "   Left out: ddpbench sends all reductions through one communicator and has no option for more."
    print "\nThe paper's figures are of other hardware (clusters of GPUs) and models: they say what to look for, not what to reach."
}
