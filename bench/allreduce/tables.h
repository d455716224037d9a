/* tables.h - the tables of timings, of overlaps and of the link, in the columns of nccl-tests where it has them. */
#ifndef BENCH_ALLREDUCE_TABLES_H
#define BENCH_ALLREDUCE_TABLES_H

#include "allreduce/overlap.h"
#include "base/table.h"

/* A table that is printed as it grows: as JSON, with the columns of its rows. */
struct growing_table {
    cJSON *json;
    struct column column[48];
    size_t columns;
};

/* What of the timings is shown; all of it is kept. */
struct timing_view {
    size_t cpu_time;   /* 1: CPU time instead of time */
    size_t iterations; /* 1: also min, median, p95, p99 and max over the iterations */
};

/* An empty table whose rows are sizes: with both placements side by side, or in place alone. bus_factor is for the
 * note. Delete the JSON. */
void timing_table_create(struct growing_table *table, const struct timing_view *view, int in_place_only,
                         double bus_factor);

/* Adds the line that ends with a timing in place, and returns it; before[-1] of it is out of place unless there is
 * none. */
const cJSON *timing_table_add(struct growing_table *table, const struct collective_timing *in_place);

/* The same for overlaps, each of which is a row. */
void overlap_table_create(struct growing_table *table, const struct device *device, const struct comm *comm);
const cJSON *overlap_table_add(struct growing_table *table, const struct overlap_timing *overlap);

/* Fits a model of the link (link_model.h) to the timings of each type, operation and placement, and makes the table of
 * them; NULL if nothing could be fitted. The caller owns it. */
cJSON *link_table(const struct collective_timing *timing, size_t n, int ranks);

#endif
