/* prometheus.h - figures of runs as metrics in Prometheus' text format, version 0.0.4, such as for the textfile
 * collector of node_exporter.
 *
 * ddpbench_run_done and ddpbench_run_planned count the complete and the planned rounds or rows of a run. A figure is a
 * gauge ddpbench_result_<figure>_<unit>, such as ddpbench_result_step_seconds. Units are spelled out: seconds, bytes,
 * bytes_per_second, per_second, flops_per_second. A ratio or a count has none, and a unit that ends the name of the
 * figure is not repeated. The ends of the 95 % interval, if there is one, and the number of samples are metrics of
 * their own, with _low, _high and _samples behind the name, so that a sum over a metric has a meaning. Labels are run,
 * mode and directory, and of figures also subject, and bytes for a size. Names are in lower case, with _ in place of
 * characters that Prometheus does not allow. Sources: https://prometheus.io/docs/instrumenting/exposition_formats/ and
 * https://prometheus.io/docs/practices/naming/. */
#ifndef BENCH_BASE_PROMETHEUS_H
#define BENCH_BASE_PROMETHEUS_H

#include "base/figures.h"

#include <stddef.h>
#include <stdio.h>

/* A run with its labels, which are any text. No two runs have the same directory. */
struct prometheus_run {
    const struct figure_list *figures;
    const char *run, *mode, *directory;
    double done, planned; /* rounds or rows */
};

/* Prints all figures of all runs, by metric, sorted by name; nothing without runs. In labels, control characters and
 * bytes that are not UTF-8 become ?. */
void prometheus_print(FILE *out, const struct prometheus_run *run, size_t runs);

#endif
