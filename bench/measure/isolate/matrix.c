/* matrix.c - every message and round trip that a search measured, as a table and as figures. */
#include "isolate/matrix.h"

#include "isolate/output.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the rows ---- */

static void add_row(struct matrix *matrix, const struct diagnosis *diagnosis, const struct member *member, int from,
                    int to, const struct fault *round_trip)
{
    struct matrix_row *row = &matrix->row[matrix->n];
    row->message = diagnosis_typical(diagnosis, FAULT_SENDS, from, to);
    if (!row->message.n)
        return;
    row->from = member[from].name;
    row->to = member[to].name;
    row->round_trip = *round_trip;
    row->bytes_per_second = (double)matrix->bytes / row->message.seconds;
    matrix->n++;
}

void matrix_create(struct matrix *matrix, const struct diagnosis *diagnosis, const struct member *member, int members,
                   size_t bytes)
{
    const struct diagnosis_progress progress = diagnosis_progress(diagnosis);
    *matrix = (struct matrix){.bytes = bytes};
    matrix->row = allocate((size_t)progress.pairings * (size_t)members, sizeof *matrix->row);
    for (int pairing = 0; pairing < progress.pairings; pairing++) {
        for (int m = 0; m < members; m++) {
            int partner = diagnosis_partner(diagnosis, pairing, m);
            if (partner < m)
                continue;
            struct fault round_trip = diagnosis_typical(diagnosis, FAULT_ROUND_TRIP, m, partner);
            add_row(matrix, diagnosis, member, m, partner, &round_trip);
            add_row(matrix, diagnosis, member, partner, m, &round_trip);
        }
        if (pairing < progress.ring)
            matrix->ring = matrix->n;
    }
}

void matrix_destroy(struct matrix *matrix)
{
    free(matrix->row);
    *matrix = (struct matrix){0};
}

/* ---- the table ---- */

#define OF(field) offsetof(struct matrix_row, field)
static const struct column columns[] = {
    {"from", NULL, COLUMN_NAME, OF(from), NULL, 0, 0, 0},
    {"to", NULL, COLUMN_NAME, OF(to), NULL, 0, 0, 0},
    {"seconds", NULL, COLUMN_REAL, OF(message.seconds), "s", 1, 0, 0},
    {"bytes_per_second", NULL, COLUMN_REAL, OF(bytes_per_second), "B/s", 1, 0, 0},
    {"ratio", NULL, COLUMN_REAL, OF(message.ratio), "1", 1, 0, 0},
    {"ratio", NULL, COLUMN_INTERVAL, COLUMN_ENDS(struct matrix_row, message.low, message.high), "1", 1, 0, 0},
    {"n", NULL, COLUMN_COUNT, OF(message.n), "1", 1, 0, 0},
    {"round_trip_seconds", NULL, COLUMN_REAL, OF(round_trip.seconds), "s", 1, 0, 0},
    {"round_trip_ratio", NULL, COLUMN_REAL, OF(round_trip.ratio), "1", 1, 0, 0},
    {"round_trip_ratio", NULL, COLUMN_INTERVAL, COLUMN_ENDS(struct matrix_row, round_trip.low, round_trip.high), "1", 1,
     0, 0},
    {"round_trip_n", NULL, COLUMN_COUNT, OF(round_trip.n), "1", 1, 0, 0},
};

struct table matrix_table(const struct matrix *matrix)
{
    return (struct table){"matrix", NULL, TABLE_COLUMNS(columns), TABLE_ROWS(matrix->row, matrix->n)};
}

/* ---- figures ---- */

void matrix_add_figure(struct figure_list *figures, const char *subject, const char *name, const struct fault *fault,
                       size_t bytes, int judged)
{
    double peers = fault->seconds / fault->ratio;
    struct figure figure = {.unit = "s",
                            .bytes = (double)bytes,
                            .value = fault->seconds,
                            .low = fault->low * peers,
                            .high = fault->high * peers,
                            .n = fault->n,
                            .judged = judged};
    snprintf(figure.subject, sizeof figure.subject, "%s", subject);
    snprintf(figure.name, sizeof figure.name, "%s", name);
    figures_add(figures, &figure);
}

void matrix_add_figures(const struct matrix *matrix, struct figure_list *figures)
{
    char subject[sizeof((struct figure *)NULL)->subject];
    for (const struct matrix_row *row = matrix->row; row < matrix->row + matrix->ring; row++) {
        snprintf(subject, sizeof subject, "%.90s -> %.90s", row->from, row->to);
        matrix_add_figure(figures, subject, "message", &row->message, matrix->bytes, 1);
        if (row->message.member > row->message.other)
            continue;
        snprintf(subject, sizeof subject, "%.90s <-> %.90s", row->from, row->to);
        matrix_add_figure(figures, subject, "round_trip", &row->round_trip, 0, 1);
    }
}
