/* prometheus.h - prints figures of a run as metrics in Prometheus' text format, version 0.0.4, for example for the
 * textfile collector of node_exporter.
 *
 * ddpbench_run_done and ddpbench_run_planned count the complete and the planned rounds or rows of a run. A figure is a
 * gauge ddpbench_result_<figure>_<unit>, such as ddpbench_result_step_seconds. Units are spelled out: seconds, bytes,
 * bytes_per_second, per_second, flops_per_second. Ratios and counts have no unit, and a unit at the end of a figure's
 * name is not repeated. The ends of the 95 % interval, if the figure has one, and the number of samples are separate
 * metrics with the suffixes _low, _high and _samples; this keeps sums over a metric meaningful. All metrics have the
 * labels run, mode and directory; figures also have subject, and bytes if they have a size. Names are in lower case,
 * with _ in place of characters that Prometheus does not allow. HELP describes a metric, with its unit. Sources:
 * https://prometheus.io/docs/instrumenting/exposition_formats/ and https://prometheus.io/docs/practices/naming/. */
#ifndef BENCH_RESULTS_PROMETHEUS_H
#define BENCH_RESULTS_PROMETHEUS_H

#include "base/figures.h"

#include <stddef.h>
#include <stdio.h>

/* A run. The texts become values of labels, and may contain anything. */
struct prometheus_run {
    const struct figure_list *figures;
    const char *run, *mode, *directory;
    double done, planned; /* numbers of rounds or rows */
};

/* Prints the progress and all figures, sorted by metric name. In labels, ? replaces control and invalid characters. */
void prometheus_print(FILE *out, const struct prometheus_run *run);

#endif
