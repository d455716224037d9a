# sweep_figures.awk - from sweep.csv to a line, with tabs, for each point of a sweep; points of the same ranks and model
# follow each other, the fastest first:
#   ranks model implementation bucket strategy n mean low high pairs ratio ratio_low ratio_high verdict
# Step times in ms; low and high are Student's 95 % interval over the runs, "-" for fewer than two. ratio is the geometric
# mean, over the repeats that both have, of the step time over that of the fastest implementation that reduces, with its
# 95 % interval. verdict: best; control (none); slower, if its ratio is above 1 and the paired t test on the logarithms
# says so at the 5 % level by Holm over all pairs of implementations of these ranks and model that reduce, since the best
# is chosen by the same data; otherwise tied.

BEGIN { FS = ","; pi = atan2(0, -1) }

# P(|T| < t) of Student's t with df degrees of freedom, a whole number: Abramowitz and Stegun 26.7.3 and 26.7.4.
function t_within(t, df,    angle, c, term, sum, k) {
    angle = atan2(t, sqrt(df))
    c = cos(angle)
    term = sum = df % 2 ? (df > 1 ? c : 0) : 1
    for (k = df % 2 ? 3 : 2; k <= df - 2; k += 2) {
        term *= c * c * (k - 1) / k
        sum += term
    }
    return df % 2 ? 2 / pi * (angle + sin(angle) * sum) : sin(angle) * sum
}

# The t that is exceeded, either way, with a probability of 5 %.
function t_95(df,    low, high, middle, i) {
    if (df in t_known) return t_known[df]
    low = 0
    for (high = 1; t_within(high, df) < 0.95; high *= 2) low = high
    for (i = 0; i < 60; i++) {
        middle = (low + high) / 2
        if (t_within(middle, df) < 0.95) low = middle
        else high = middle
    }
    return t_known[df] = high
}

# Mean of x[1..n] and half of its interval, in mean and half (-1 for n < 2); p: that of a mean of 0.
function describe(x, n,    i, squares, error) {
    mean = squares = 0
    for (i = 1; i <= n; i++) mean += x[i] / n
    for (i = 1; i <= n; i++) squares += (x[i] - mean) ^ 2
    half = -1
    p = 1
    if (n < 2) return
    error = sqrt(squares / (n - 1) / n)
    half = t_95(n - 1) * error
    if (error > 0) p = 1 - t_within((mean < 0 ? -mean : mean) / error, n - 1)
    else p = mean == 0
}

# The logarithms of ratios a / b of the repeats that both have, described; returns how many there are.
function pair(a, b,    repeat, n, x) {
    n = 0
    for (repeat = 1; repeat <= last_repeat; repeat++)
        if ((a, repeat) in step && (b, repeat) in step) x[++n] = log(step[a, repeat] / step[b, repeat])
    describe(x, n)
    return n
}

function compare(point, best) {
    pairs[point] = pair(point, best)
    ratio[point] = pairs[point] ? sprintf("%.6f", exp(mean)) : "-"
    ratio_low[point] = half < 0 ? "-" : sprintf("%.6f", exp(mean - half))
    ratio_high[point] = half < 0 ? "-" : sprintf("%.6f", exp(mean + half))
    difference[point] = mean
}

# Verdicts of the points of a group: member[1..n], in the order of their mean logarithms.
function judge(n, best,    i, j, k, m, all_pairs, rival, other, probability, value, adjusted) {
    m = all_pairs = 0
    for (i = 1; i <= n; i++) {
        compare(member[i], best)
        verdict[member[i]] = member[i] == best ? "best" : (strategy[member[i]] == "none" ? "control" : "tied")
        if (strategy[member[i]] != "none") rival[++m] = member[i]
    }
    for (i = 1; i <= m; i++) # sorted by probability; other: the one that is compared with the best, if it is such a pair
        for (j = 1; j < i; j++) {
            pair(rival[i], rival[j])
            value = p
            for (k = ++all_pairs; k > 1 && value < probability[k - 1]; k--) {
                probability[k] = probability[k - 1]
                other[k] = other[k - 1]
            }
            probability[k] = value
            other[k] = rival[j] == best ? rival[i] : (rival[i] == best ? rival[j] : "")
        }
    adjusted = 0
    for (k = 1; k <= all_pairs; k++) { # Holm: the first that is not small enough ends it
        if (probability[k] * (all_pairs - k + 1) > adjusted) adjusted = probability[k] * (all_pairs - k + 1)
        if (adjusted < 0.05 && other[k] != "" && difference[other[k]] > 0) verdict[other[k]] = "slower"
    }
}

$9 == "step" && $12 != "" {
    point = $1 "\t" $2 "\t" $3 "\t" ($4 == "" ? "-" : $4)
    if (!(point in strategy)) {
        all[++points] = point
        group_of[point] = $1 "\t" $2
        if (!(group_of[point] in seen)) group[++groups] = group_of[point]
        seen[group_of[point]] = 1
        strategy[point] = $6
    }
    step[point, $5] = $12
    logs[point] += log($12)
    runs[point]++
    if ($5 + 0 > last_repeat) last_repeat = $5 + 0
}

END {
    for (g = 1; g <= groups; g++) {
        n = 0
        for (i = 1; i <= points; i++) {
            if (group_of[all[i]] != group[g]) continue
            for (j = ++n; j > 1 && logs[all[i]] / runs[all[i]] < logs[member[j - 1]] / runs[member[j - 1]]; j--)
                member[j] = member[j - 1]
            member[j] = all[i]
        }
        best = ""
        for (i = n; i > 0; i--) if (strategy[member[i]] != "none") best = member[i]
        if (best != "") judge(n, best)
        for (i = 1; i <= n; i++) {
            point = member[i]
            k = 0
            for (r = 1; r <= last_repeat; r++) if ((point, r) in step) sample[++k] = step[point, r]
            describe(sample, k)
            printf "%s\t%s\t%d\t%.6f\t%s\t%s", point, strategy[point], k, mean,
                (half < 0 ? "-" : sprintf("%.6f", mean - half)), (half < 0 ? "-" : sprintf("%.6f", mean + half))
            if (best == "") printf "\t0\t-\t-\t-\tcontrol\n"
            else printf "\t%d\t%s\t%s\t%s\t%s\n",
                pairs[point], ratio[point], ratio_low[point], ratio_high[point], verdict[point]
        }
    }
}
