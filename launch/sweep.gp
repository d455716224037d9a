# sweep.gp - step time against bucket size: gnuplot -c sweep.gp NAME TITLE VERDICT NOTE INTERVALS SIZES draws NAME.tsv, which
# `ddpbench report` wrote, as NAME.png and NAME.svg. Each block of the data is an implementation; INTERVALS is 1 if some
# points have one, SIZES are the bucket sizes, for the ticks; its fifth column is 2 of the best, 1 of what is as good.
data = ARG1.".tsv"
intervals = ARG5 eq "1"
set datafile separator "\t"
set title "Step time against bucket size\n".ARG2."\n".ARG3.(ARG4 eq "" ? "" : "\n".ARG4) noenhanced
set logscale x 2
set xtics () rotate by (words(ARG6) > 8 ? -40 : 0)
do for [size in ARG6] { eval "set xtics add ('".size."' ".size.")" } # as a number only what is evaluated may be 5e-05
set xlabel "bucket size, MiB (logarithmic)"

# Zero is on the axis, unless all lies in the upper 40 % above it.
stats data using 2 name "step" nooutput
stats data using 5 name "marks" nooutput
low = step_min
high = step_max
if (intervals) {
    stats data using 3 name "low" nooutput
    stats data using 4 name "high" nooutput
    low = low_min < low ? low_min : low
    high = high_max > high ? high_max : high
}
cut = low > 0.6 * high
span = high > low ? high - low : 0.1 * high
set yrange [cut ? low - 0.25 * span : 0 : high + 0.1 * span]
set ylabel "step, ms: mean over the runs".(intervals ? ", 95 % interval" : "").(cut ? "\nAXIS IS CUT: it does not begin at 0" : "")

set grid ytics linecolor rgb "#DDDDDD" linetype 1
set offsets graph 0.05, graph 0.05, 0, 0
set border 3
set tics nomirror
set key outside right center
array color[8] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#6B8E23"]
do for [type in "png svg"] {
    if (type eq "png") { set terminal pngcairo size 1100,650 font "sans,12" noenhanced }
    else { set terminal svg size 1100,650 font "sans,14" noenhanced background rgb "white" }
    set output ARG1.".".type
    plot for [i=1:(intervals ? step_blocks : 0)] data index i-1 using 1:(valid(3) ? $2 : NaN):3:4 with yerrorbars notitle \
            linewidth 2 pointtype 7 linecolor rgb color[(i - 1) % 8 + 1], \
        for [i=1:step_blocks] data index i-1 using 1:2 with linespoints title columnheader(1) \
            linewidth 2 pointtype 7 linecolor rgb color[(i - 1) % 8 + 1], \
        for [i=1:(marks_max >= 1 ? 1 : 0)] data using 1:($5 == 1 ? $2 : NaN) with points title "as good" \
            pointtype 6 pointsize 2.2 linewidth 1.5 linecolor rgb "black", \
        for [i=1:(marks_max >= 2 ? 1 : 0)] data using 1:($5 == 2 ? $2 : NaN) with points title "best" \
            pointtype 6 pointsize 3.2 linewidth 3 linecolor rgb "black"
    unset output
}
