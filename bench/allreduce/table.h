/* table.h - the table of a sweep, in the columns of nccl-tests. */
#ifndef BENCH_ALLREDUCE_TABLE_H
#define BENCH_ALLREDUCE_TABLE_H

#include "allreduce/measure.h"

/* What runs where; and the names of the columns. */
void sweep_report_head(FILE *out, const struct sweep *sweep, const struct host_facts *host, int threads);
void sweep_report_columns(FILE *out, const struct sweep *sweep);

/* The line of a size: row[0] and, if there are two ways to place it, row[1]. */
void sweep_report_rows(FILE *out, const struct sweep *sweep, const struct measured *row);

/* The foot: wrong results, mean bus bandwidth, what the columns mean. */
void sweep_report_foot(FILE *out, const struct sweep *sweep);

/* Returns 0; or -1, reported, if what was printed could not be written. */
int sweep_report_flush(FILE *out);

/* What the monitors found, if there were any. */
void sweep_report_notes(FILE *out, const struct sweep *sweep);

/* Wrong elements of all rows that were checked. */
long sweep_wrong(const struct sweep *sweep);

#endif
