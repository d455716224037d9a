/* prometheus.h - what runs found as metrics of Prometheus, in its text format (base/exposition.h), for example for the
 * textfile collector of node_exporter.
 *
 * A figure is a gauge, ddpbench_result_<figure>_<unit>, such as ddpbench_result_step_seconds; the unit is spelled out
 * and in base units: seconds, bytes, bytes_per_second, per_second, flops_per_second; a ratio or a count has none, and
 * one that ends the figure's own name is not repeated. The ends of its 95 % interval and the samples behind it are
 * gauges of their own, so that a sum over a metric means something: the same name with _low and _high, where there is
 * an interval, and with _samples. (`result` tells them from what --live says of the moment.) Labels are those that the
 * caller gives for a run, then subject, and bytes for what has a size. Letters are small, and what a name may not hold
 * is _. Figures that have the same name and labels then, which a file may not have twice: the first. Source:
 * https://prometheus.io/docs/practices/naming/. */
#ifndef BENCH_BASE_PROMETHEUS_H
#define BENCH_BASE_PROMETHEUS_H

#include "base/exposition.h"
#include "base/figures.h"

#include <stddef.h>
#include <stdio.h>

enum { PROMETHEUS_LABELS_MOST = 8 };

/* The figures of a run, and what tells it from the others, such as {"run", its --label}. */
struct prometheus_run {
    const struct figure_list *figures;
    const struct exposition_label *label;
    size_t labels; /* at most PROMETHEUS_LABELS_MOST; the same ones in each run */
};

/* All figures of all runs, the samples of a metric together, in the order of their names. */
void prometheus_print(FILE *out, const struct prometheus_run *run, size_t runs);

#endif
