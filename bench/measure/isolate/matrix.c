/* matrix.c - every message and round trip that a search measured, as a table for matrix.csv and for `report`, and as
 * figures for `compare`; and the rate of the median message as a share of --nominal. */
#include "isolate/output.h"

#include "base/text.h"
#include "kernels/error.h"
#include "results/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void matrix_create(struct outcome *o)
{
    int n = o->progress.pairings * o->members;
    o->row = allocate((size_t)n, sizeof *o->row);
    for (int i = 0; i < n; i++) {
        int from = i % o->members, to = diagnosis_partner(o->diagnosis, i / o->members, from);
        struct matrix_row *row = &o->row[o->rows];
        if (to < 0)
            continue;
        *row = (struct matrix_row){.from = o->member[from].name, .to = o->member[to].name};
        row->message = diagnosis_typical(o->diagnosis, FAULT_SENDS, from, to);
        row->round_trip = diagnosis_typical(o->diagnosis, FAULT_ROUND_TRIP, from, to);
        row->bytes_per_second = (double)o->bytes / row->message.seconds;
        o->rows += row->message.n > 0;
        if (i < o->progress.ring * o->members)
            o->ring_rows = o->rows;
    }
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

static struct table table_of(const struct outcome *o)
{
    return (struct table){"matrix", NULL, TABLE_COLUMNS(columns), TABLE_ROWS(o->row, o->rows)};
}

void matrix_print(FILE *out, const struct outcome *o)
{
    struct table table = table_of(o);
    table_print_csv(out, &table);
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

void matrix_add(const struct outcome *o, cJSON *summary, struct figure_list *figures)
{
    char subject[sizeof((struct figure *)NULL)->subject];
    struct table table = table_of(o);
    results_add_table(summary, &table);
    for (const struct matrix_row *row = o->row; row < o->row + o->ring_rows; row++) {
        snprintf(subject, sizeof subject, "%.90s -> %.90s", row->from, row->to);
        matrix_add_figure(figures, subject, "message", &row->message, o->bytes, 1);
        if (strcmp(row->from, row->to) > 0) /* one name, whatever the order of the hosts */
            continue;
        snprintf(subject, sizeof subject, "%.90s <-> %.90s", row->from, row->to);
        matrix_add_figure(figures, subject, "round_trip", &row->round_trip, 0, 1);
    }
}

/* ---- the share of the nominal rate ---- */

/* Writes the seconds of the ring's messages and round trips; across 1: of pairs on two hosts only. Returns how many. */
static size_t typical_seconds(const struct outcome *o, int across, double *message, double *trip)
{
    size_t n = 0;
    for (const struct matrix_row *row = o->row; row < o->row + o->ring_rows; row++) {
        if (across && o->member[row->message.member].host == o->member[row->message.other].host)
            continue;
        message[n] = row->message.seconds;
        trip[n++] = row->round_trip.seconds;
    }
    return n;
}

void matrix_add_share(const struct outcome *o, const struct nominal *nominal, cJSON *summary,
                      struct figure_list *figures)
{
    char words[NOMINAL_WORDS], size[CELL];
    if (!(nominal->rate > 0))
        return;
    double *message = allocate(2 * o->ring_rows + 1, sizeof *message), *trip = message + o->ring_rows;
    size_t n = typical_seconds(o, !nominal->sort->of_gpus, message, trip);
    if (!n)
        n = typical_seconds(o, 0, message, trip);
    double share = (double)o->bytes / stats_median(message, n) / nominal->rate;
    /* the time of a message ends with an answer of a few bytes, so the latency counts twice, as in a round trip */
    double attainable = nominal_attainable(nominal, stats_median(trip, n), (double)o->bytes);
    free(message);
    results_add_sentence(summary, "notes", "%s", nominal_describe(words, nominal));
    if (!n)
        return;
    results_add_sentence(summary, "notes",
                         "The median of %zu messages of %s, which shows if most members are equally slow: %s.", n,
                         text_bytes(size, (double)o->bytes), nominal_words(words, nominal, share, attainable));
    figures_add_value(figures, "all", "nominal_share", "1", share, n, BETTER_HIGHER);
}
