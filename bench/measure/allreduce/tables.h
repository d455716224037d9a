/* tables.h - the tables of timings, overlaps and the link, with the columns of nccl-tests, and their figures. */
#ifndef BENCH_MEASURE_ALLREDUCE_TABLES_H
#define BENCH_MEASURE_ALLREDUCE_TABLES_H

#include "allreduce/link_model.h"
#include "allreduce/timing.h"
#include "base/figures.h"
#include "base/table.h"

/* A table that is printed as it grows, with the columns for table_add_row. The owner deletes the JSON. */
struct growing_table {
    cJSON *json;
    struct column column[48];
    size_t columns;
};

/* An empty table whose rows are sizes: a struct collective_timing out of place followed by the one in place, or that in
 * place alone. show_*: also prints CPU time (instead of time), the share of the nominal rate, or min, median, p95, p99
 * and max over the iterations; all of them are kept. bus_factor is for the note. */
void timing_table_create(struct growing_table *table, int show_cpu_time, int show_nominal, int show_iterations,
                         int in_place_only, double bus_factor);

/* An empty table whose rows are struct overlap_timing. */
void overlap_table_create(struct growing_table *table, const struct device *device, const struct comm *comm);

/* Adds the figures of a finished timing, with a subject such as "all_reduce float sum out_of_place [root 1]". */
void timing_figures(struct figure_list *list, const struct collective_timing *timing);

/* Adds those of an overlap; `both`, the seconds of both at once, is judged. */
void overlap_timing_figures(struct figure_list *list, const struct overlap_timing *overlap);

/* The model of the link (link_model.h) fitted to the timings of one type, operation and placement. */
struct fitted_link {
    const struct collective_timing *largest; /* timing by bytes */
    double bus_bytes;                        /* of the largest */
    int regimes;                             /* 0: nothing could be fitted */
    struct link_regime regime[LINK_REGIMES]; /* from_bytes and to_bytes are those of messages */
};
enum { FITTED_LINKS = COMM_DTYPES * COMM_OPS * 2 };

/* Fits one to the timings of each, in the order of timing_create; returns how many. None with one rank. */
size_t links_fit(struct fitted_link link[FITTED_LINKS], const struct collective_timing *timing, size_t n, int ranks);

/* The table of them; NULL if nothing could be fitted. The caller owns it. */
cJSON *link_table(const struct fitted_link *link, size_t n);

#endif
