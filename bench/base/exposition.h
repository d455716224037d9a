/* exposition.h - numbers in the text format of Prometheus, version 0.0.4, which its servers scrape, and the textfile
 * collector of node_exporter reads. Source: https://prometheus.io/docs/instrumenting/exposition_formats/. */
#ifndef BENCH_BASE_EXPOSITION_H
#define BENCH_BASE_EXPOSITION_H

#include <stddef.h>
#include <stdio.h>

#define EXPOSITION_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* A label of a sample; its name is one that the format allows, and its value any text. */
struct exposition_label {
    const char *name, *value;
};

/* The lines that begin a metric: its type, "gauge" or "counter", and what it is, one line without a backslash. All its
 * samples follow, and no other metric's. */
void exposition_metric(FILE *out, const char *name, const char *type, const char *help);

/* A sample with n labels: with 15 significant digits; NaN, +Inf and -Inf for what is no number. Of a label,
 * control characters and bytes that are not UTF-8 become ?. */
void exposition_sample(FILE *out, const char *name, const struct exposition_label *label, size_t n, double value);

/* A metric of one sample without labels; nothing at all where the value is NAN, that is unknown. */
void exposition_single(FILE *out, const char *name, const char *type, const char *help, double value);

#endif
