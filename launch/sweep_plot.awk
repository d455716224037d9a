# sweep_plot.awk - scripts for gnuplot, from the lines of sweep_figures.awk: for each number of ranks and model the step time
# against the bucket size; implementations without buckets are horizontal lines, named at the right, each with its interval
# at a place of its own. Needs -v output=DIR. A group without buckets has no picture.

BEGIN {
    FS = "\t"
    split("0072B2 D55E00 009E73 CC79A7 E69F00 56B4E9 882255 6B8E23", palette, " ") # Okabe and Ito's first
}

function low(i) { return lows[i] == "-" ? means[i] : lows[i] }
function high(i) { return highs[i] == "-" ? means[i] : highs[i] }
function color(k) { return "\"#" palette[(k - 1) % 8 + 1] "\"" }
function digits(ms) { return ms < 1 ? 4 : (ms < 10 ? 3 : 2) }
function say(words) { print words >script }

# Distinct bucket sizes in order, in x[1..sizes].
function sort_sizes(    i, j, k) {
    sizes = 0
    for (i = 1; i <= n; i++) {
        if (buckets[i] == "-") continue
        for (j = 1; j <= sizes && x[j] != buckets[i] + 0; j++);
        if (j <= sizes) continue
        for (k = ++sizes; k > 1 && x[k - 1] > buckets[i] + 0; k--) x[k] = x[k - 1]
        x[k] = buckets[i] + 0
    }
}

# Sets bottom and top of the picture, with room for the label of the best.
function find_range(    i, room) {
    bottom = low(1)
    top = high(1)
    for (i = 2; i <= n; i++) {
        if (low(i) < bottom) bottom = low(i)
        if (high(i) > top) top = high(i)
    }
    room = (top - bottom) * 0.12
    if (room < top * 1e-3) room = top * 1e-3
    bottom -= room
    top += room
}

# Heights of the names at the right, in label_y: as near to their lines as there is room for one below the other.
function spread_labels(    gap, i, j, k) {
    lines = 0
    for (i = 1; i <= n; i++) { # ascending by their means
        if (buckets[i] != "-") continue
        for (j = ++lines; j > 1 && means[line[j - 1]] > means[i]; j--) line[j] = line[j - 1]
        line[j] = i
    }
    gap = (top - bottom) / 22
    for (k = 1; k <= lines; k++) {
        label_y[k] = means[line[k]]
        if (k > 1 && label_y[k] < label_y[k - 1] + gap) label_y[k] = label_y[k - 1] + gap
    }
    for (k = lines; k > 0; k--) {
        if (k == lines && label_y[k] > top) label_y[k] = top
        if (k < lines && label_y[k] > label_y[k + 1] - gap) label_y[k] = label_y[k + 1] - gap
    }
}

function find_series(    i) {
    series = best = 0
    split("", number)
    for (i = n; i > 0; i--) {
        if (buckets[i] == "-") continue
        best = i # the first line of a group is the fastest
        if (!(names[i] in number)) {
            number[names[i]] = ++series
            series_name[series] = names[i]
        }
    }
}

# Every line of the picture has its interval at an x of its own, right of the last bucket.
function line_x(k) { return x[sizes] * step_x ^ (k + 0.5) }

function write_data(    s, i, j, k) {
    say("$best << END\n" buckets[best] " " means[best] "\nEND")
    for (s = 1; s <= series; s++) {
        say("$series" s " << END")
        for (j = 1; j <= sizes; j++)
            for (i = 1; i <= n; i++)
                if (names[i] == series_name[s] && buckets[i] != "-" && buckets[i] + 0 == x[j])
                    say(x[j] " " means[i] " " low(i) " " high(i))
        say("END")
    }
    for (k = 1; k <= lines; k++)
        say("$line" k " << END\n" left " " means[line[k]] "\n" right " " means[line[k]] "\nEND\n$interval" k " << END\n" line_x(k) " " means[line[k]] " " low(line[k]) " " high(line[k]) "\nEND")
}

function write_labels(    k, at, side) {
    for (k = 1; k <= lines; k++) {
        say("set label " k " \"" names[line[k]] "\" at graph 1.03, first " label_y[k] " left textcolor rgb " color(series + k))
        say("set arrow " k " from graph 1.0, first " means[line[k]] " to graph 1.025, first " label_y[k] " nohead linecolor rgb " color(series + k))
    }
    at = buckets[best]
    side = at + 0 == x[1] && sizes > 1 ? "left" : (at + 0 == x[sizes] && sizes > 1 ? "right" : "center")
    say("set style textbox opaque noborder fillcolor rgb \"white\" margins 0.3,0.3")
    say(sprintf("set label %d \"best bucket: %s MiB, %.*f ms\" at first %s, first %s %s offset 0,-2.2 boxed front", lines + 1, at, digits(means[best]), means[best], at, means[best], side))
}

function write_plot(    s, k, comma) {
    printf "plot " >script
    for (k = 1; k <= lines; k++) {
        printf "%s$line%d with lines notitle linewidth 1.5 dashtype 2 linecolor rgb %s", comma, k, color(series + k) >script
        comma = ", \\\n    "
        printf "%s$interval%d with yerrorbars notitle pointtype 7 pointsize 0.6 linewidth 1.5 linecolor rgb %s", comma, k, color(series + k) >script
    }
    for (s = 1; s <= series; s++) {
        printf "%s$series%d with yerrorlines title \"%s\" pointtype 7 pointsize 1.1 linewidth 2 linecolor rgb %s", comma, s, series_name[s], color(s) >script
        comma = ", \\\n    "
    }
    printf "%s$best using 1:2 with points notitle pointtype 6 pointsize 3.2 linewidth 2.5 linecolor rgb \"black\"\n", comma >script
}

function write_script(    i, j, name, tics, widest) {
    sort_sizes()
    find_range()
    find_series()
    spread_labels()
    name = "sweep-" ranks "-" model
    script = output "/" name ".gp"
    step_x = sizes > 1 ? exp(log(x[sizes] / x[1]) * 0.035) : 1.05
    left = x[1] / step_x ^ 2
    right = x[sizes] * step_x ^ (lines + 2)
    for (i = 1; i <= n; i++) if (buckets[i] == "-" && length(names[i]) > widest) widest = length(names[i])
    for (j = 1; j <= sizes; j++) tics = tics (j > 1 ? ", " : "") "\"" x[j] "\" " x[j]
    say("# " name ".gp - step time against bucket size; gnuplot " name ".gp draws the .png and the .svg again.")
    write_data()
    say("set title \"Step time, " ranks " rank" (ranks == 1 ? "" : "s") ", model " model "\" noenhanced")
    say("set xlabel \"bucket size, MiB\"\nset ylabel \"step, ms" (runs_most > 1 ? " (mean of " runs_most " runs, 95 % interval)" : " (one run)") "\"")
    say("set logscale x\nset xtics (" tics ")" (sizes > 12 ? " rotate by -45" : "") "\nset grid ytics linecolor rgb \"#DDDDDD\" linetype 1")
    say("set xrange [" left ":" right "]\nset yrange [" bottom ":" top "]\nset rmargin " widest + 6 "\nset bmargin 5\nset key at screen 0.5, screen 0.015 center bottom horizontal\nset border 3\nset tics nomirror")
    write_labels()
    say("set terminal pngcairo size 1000,600 font \"sans,12\" noenhanced\nset output \"" name ".png\"")
    write_plot()
    say("set terminal svg size 1000,600 font \"sans,14\" noenhanced background rgb \"white\"\nset output \"" name ".svg\"\nreplot")
    close(script)
}

function end_group() {
    for (i = 1; i <= n; i++) if (buckets[i] != "-") break
    if (i <= n) write_script()
    n = runs_most = 0
}

NR > 1 && ($1 != ranks || $2 != model) { end_group() }

{
    ranks = $1
    model = $2
    names[++n] = $3
    buckets[n] = $4
    means[n] = $7
    lows[n] = $8
    highs[n] = $9
    if ($6 > runs_most) runs_most = $6
}

END { end_group() }
