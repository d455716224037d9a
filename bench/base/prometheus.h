/* prometheus.h - what runs found as metrics of Prometheus, in its text format, version 0.0.4, for example for the
 * textfile collector of node_exporter.
 *
 * ddpbench_run_done and ddpbench_run_planned say how many rounds or rows of a run are complete, of how many. A figure
 * is a gauge, ddpbench_result_<figure>_<unit>, such as ddpbench_result_step_seconds; the unit is spelled out and in
 * base units: seconds, bytes, bytes_per_second, per_second, flops_per_second; a ratio or a count has none, and one that
 * ends the figure's own name is not repeated. The ends of its 95 % interval and the samples behind it are gauges of
 * their own, so that a sum over a metric means something: the same name with _low and _high, where there is an
 * interval, and with _samples. Each has the labels run, mode and directory; those of figures also subject, and bytes
 * for what has a size. Letters are small, and what a name may not hold is _. Of figures with the same name and labels,
 * which a file may not have twice, the first is kept. Sources:
 * https://prometheus.io/docs/instrumenting/exposition_formats/ and https://prometheus.io/docs/practices/naming/. */
#ifndef BENCH_BASE_PROMETHEUS_H
#define BENCH_BASE_PROMETHEUS_H

#include "base/figures.h"

#include <stddef.h>
#include <stdio.h>

/* The figures of a run, and its labels, any text: what the reader calls it, its mode, and where it is, which no two
 * runs have in common. */
struct prometheus_run {
    const struct figure_list *figures;
    const char *run, *mode, *directory;
    double done, planned; /* rounds or rows */
};

/* All figures of all runs, the samples of a metric together, in the order of their names. Without runs nothing. Of a
 * label, control characters and bytes that are not UTF-8 become ?. */
void prometheus_print(FILE *out, const struct prometheus_run *run, size_t runs);

#endif
