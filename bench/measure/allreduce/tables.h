/* tables.h - the tables of timings (columns as in nccl-tests), overlaps and the fitted link, and their figures. */
#ifndef BENCH_MEASURE_ALLREDUCE_TABLES_H
#define BENCH_MEASURE_ALLREDUCE_TABLES_H

#include "allreduce/timing.h"
#include "base/figures.h"
#include "base/link_model.h"
#include "base/table.h"

/* A table that is printed as it grows, with the columns for table_add_row. The caller deletes `json`. */
struct growing_table {
    cJSON *json;
    struct column column[48];
    size_t columns;
};

/* Creates an empty table. Its headings and the first 13 fields of its rows are those of nccl-tests, for programs that
 * read them. show_cpu_time 1: prints CPU time instead of time. After these fields, show_nominal 1 prints the share of
 * the nominal rate, and show_iterations 1 calls, the 95 % interval, and min, median, p95, p99 and max over iterations.
 * The JSON always has all columns. bus_factor: busbw / algbw, printed below the table. */
void timing_table_create(struct growing_table *table, int show_cpu_time, int show_nominal, int show_iterations,
                         double bus_factor);

/* Adds the row of two timings of one size. out_of_place NULL: not measured, printed as N/A. Returns the row. */
cJSON *timing_table_add(struct growing_table *table, const struct collective_timing *out_of_place,
                        const struct collective_timing *in_place);

/* Creates an empty table whose rows are struct overlap_timing. */
void overlap_table_create(struct growing_table *table, const struct device *device, const struct comm *comm);

/* Adds the figures of a finished timing, with a subject such as "all_reduce float sum out_of_place [root 1]". */
void timing_figures(struct figure_list *list, const struct collective_timing *timing);

/* Adds the figures of an overlap. A comparison of runs judges `both`: seconds of computation and collective at once. */
void overlap_timing_figures(struct figure_list *list, const struct overlap_timing *overlap);

/* The model of the link (link_model.h) fitted to the timings of one type, operation and placement. */
struct fitted_link {
    const struct collective_timing *largest; /* the timing with the most bytes */
    double bus_bytes;                        /* bus bytes of the timing `largest` */
    int regimes;                             /* number of fitted lines; 0: none could be fitted */
    struct link_regime regime[LINK_REGIMES]; /* here from_bytes and to_bytes are message bytes, not bus bytes */
};
enum { FITTED_LINKS = COMM_DTYPES * COMM_OPS * 2 };

/* Fits a model for each type, operation and placement in timing[n], in that order. Returns how many; 0 for one rank. */
size_t links_fit(struct fitted_link link[FITTED_LINKS], const struct collective_timing *timing, size_t n, int ranks);

/* Makes the table of the fitted links; NULL if no line could be fitted. The caller owns the table. */
cJSON *link_table(const struct fitted_link *link, size_t n);

#endif
