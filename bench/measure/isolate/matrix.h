/* matrix.h - every message and round trip that a search measured, as a table, for matrix.csv and for `report`, and as
 * figures, for `compare`. Rank 0 only. */
#ifndef BENCH_MEASURE_ISOLATE_MATRIX_H
#define BENCH_MEASURE_ISOLATE_MATRIX_H

#include "base/figures.h"
#include "base/table.h"
#include "isolate/diagnosis.h"

struct member; /* output.h */

/* Messages from a member to another, and round trips of both. */
struct matrix_row {
    const char *from, *to;
    double bytes_per_second;
    struct fault message, round_trip; /* diagnosis_typical of member `from` with other `to` */
};

struct matrix {
    struct matrix_row *row; /* [n], owned: pairing by pairing, both directions of a pair one after the other */
    size_t n, ring;         /* the first `ring` rows are of the ring, which any run on these members measures */
    size_t bytes;           /* of a message */
};

/* Fills the matrix from the names of member[] and what was measured so far; names belong to the members. */
void matrix_create(struct matrix *matrix, const struct diagnosis *diagnosis, const struct member *member, int members,
                   size_t bytes);
void matrix_destroy(struct matrix *matrix); /* a zeroed one is fine */

/* Returns the table "matrix", of which nothing is printed; valid until matrix_destroy. */
struct table matrix_table(const struct matrix *matrix);

/* Adds the figures of the ring: "message" of "host n1 -> host n2", "round_trip" of "host n1 <-> host n2". */
void matrix_add_figures(const struct matrix *matrix, struct figure_list *figures);

/* Appends a figure in seconds: what `fault` measured; bytes 0: it has no size. Long subjects are cut off. */
void matrix_add_figure(struct figure_list *figures, const char *subject, const char *name, const struct fault *fault,
                       size_t bytes, int judged);

#endif
