# sweep.gp - step time against bucket size: gnuplot -c sweep.gp NAME TITLE draws NAME.tsv, which `ddpbench report` wrote,
# as NAME.png and NAME.svg. Block 0 of the data is the best bucket; each other one an implementation.
data = ARG1.".tsv"
set datafile separator "\t"
stats data using 1 nooutput
set title ARG2 noenhanced
set xlabel "bucket size, MiB"
set ylabel "step, ms (mean over the runs, 95 % interval)"
set logscale x 2
set xtics format "%.3g"
set grid ytics linecolor rgb "#DDDDDD" linetype 1
set offsets graph 0.05, graph 0.05, graph 0.1, graph 0.1
set border 3
set tics nomirror
set key outside right center
set style textbox opaque noborder fillcolor rgb "white" margins 0.3,0.3
array color[8] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#6B8E23"]
do for [type in "png svg"] {
    if (type eq "png") { set terminal pngcairo size 1000,600 font "sans,12" noenhanced }
    else { set terminal svg size 1000,600 font "sans,14" noenhanced background rgb "white" }
    set output ARG1.".".type
    plot for [i=1:STATS_blocks-1] data index i using 1:2:3:4 with yerrorlines title columnheader(1) \
        linewidth 2 pointtype 7 linecolor rgb color[(i - 1) % 8 + 1], \
        data index 0 using 1:2 with points notitle pointtype 6 pointsize 3 linewidth 2.5 linecolor rgb "black", \
        data index 0 using 1:2:3 with labels boxed offset 0,-2 notitle
    unset output
}
