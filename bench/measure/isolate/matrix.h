/* matrix.h - every message and round trip that a search measured, as a table, for matrix.csv and for `report`, and as
 * figures, for `compare`. Rank 0 only. */
#ifndef BENCH_MEASURE_ISOLATE_MATRIX_H
#define BENCH_MEASURE_ISOLATE_MATRIX_H

#include "base/table.h"
#include "isolate/output.h"

/* Messages from a member to another, and round trips of both. */
struct matrix_row {
    const char *from, *to;
    double bytes_per_second;
    struct fault message, round_trip; /* diagnosis_typical of member `from` with other `to` */
};

/* Fills outcome->row[rows], pairing by pairing: what was measured so far. */
void matrix_create(struct outcome *outcome);

/* Returns the table "matrix", which is not printed; valid until outcome_destroy. */
struct table matrix_table(const struct outcome *outcome);

/* Prints matrix.csv. */
void matrix_print(FILE *out, const struct outcome *outcome);

/* Adds the figures of the ring: "message" of "host n1 -> host n2", "round_trip" of "host n1 <-> host n2". */
void matrix_add_figures(const struct outcome *outcome, struct figure_list *figures);

/* Appends a figure in seconds: what `fault` measured; bytes 0: it has no size. Long subjects are cut off. */
void matrix_add_figure(struct figure_list *figures, const char *subject, const char *name, const struct fault *fault,
                       size_t bytes, int judged);

#endif
