/* tables.c - the tables of a profile. A column is {key, heading, kind, field, unit, scale, width, decimals}. */
#include "base/table.h"
#include "base/text.h"
#include "profile/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_OPERATIONS = 15 }; /* rows that are printed without --verbose */

/* ---- phases ---- */

static const struct column phase_columns[] = {
    {"name", "", COLUMN_NAME, offsetof(struct phase_figure, name), NULL, 0, -26, 0},
    {"mean", "mean", COLUMN_REAL, offsetof(struct phase_figure, mean), "s", 1e3, 9, 3},
    {"least", "min", COLUMN_REAL, offsetof(struct phase_figure, least), "s", 1e3, 9, 3},
    {"least_rank", "rank", COLUMN_INT, offsetof(struct phase_figure, least_rank), "1", 1, 4, 0},
    {"median", "median", COLUMN_REAL, offsetof(struct phase_figure, median), "s", 1e3, 9, 3},
    {"most", "max", COLUMN_REAL, offsetof(struct phase_figure, most), "s", 1e3, 9, 3},
    {"most_rank", "rank", COLUMN_INT, offsetof(struct phase_figure, most_rank), "1", 1, 4, 0},
    {"p95_steps", "p95_steps", COLUMN_REAL, offsetof(struct phase_figure, p95_steps), "s", 1e3, 9, 3},
    {"p95_rank", "rank", COLUMN_INT, offsetof(struct phase_figure, p95_rank), "1", 1, 4, 0},
    {"share", "share, %", COLUMN_REAL, offsetof(struct phase_figure, share), "1", 100, 8, 1},
};

static void add_phases(const struct profile *p, cJSON *summary)
{
    const struct profile_figures *f = &p->figures;
    struct phase_figure row[PHASES + 1];
    char title[160], note[420], rates[100] = "";
    double step = f->phase[PHASES].mean;
    size_t rows = 0;
    for (int i = 0; i <= PHASES; i++)
        if (f->phase[i].mean > 0) /* the phase ran */
            row[rows++] = f->phase[i];
    snprintf(title, sizeof title, "Phases of %s in %d captured step%s of %s epochs on %d rank%s, ms a step",
             p->facts.label, f->steps, text_plural((size_t)f->steps), f->epochs, f->ranks,
             text_plural((size_t)f->ranks));
    if (isfinite(p->facts.flops))
        snprintf(rates, sizeof rates, "%.0f tokens per second, %.1f GFLOP/s of the model; ", p->facts.tokens / step,
                 1e-9 * p->facts.flops / step);
    snprintf(note, sizeof note,
             "n = ranks x steps = %d. min, max: the smallest and largest of the ranks' medians. p95_steps: over the "
             "steps of the rank where it is largest. %scommunication ratio (waits for communication / step) %.3f.",
             f->ranks * f->steps, rates, f->communication_ratio);
    results_add_table(summary, &(struct table){"phases", title, TABLE_COLUMNS(phase_columns), row, rows, sizeof *row, 0,
                                               .note = {note}});
}

/* ---- operations ---- */

enum { OPERATION_CALLS = 2 }; /* the columns from this one on are the choices of --profile-sort */
static const struct column operation_columns[] = {
    {"name", "name", COLUMN_CHARS, offsetof(struct name_total, name), NULL, 0, -26, 0},
    {"kind", "kind", COLUMN_NAME, offsetof(struct name_total, kind_name), NULL, 0, -10, 0},
    {"calls", "calls", COLUMN_REAL, offsetof(struct name_total, calls), "1", 1, 7, 0},
    {"total", NULL, COLUMN_REAL, offsetof(struct name_total, total), "s", 1e3, 0, 3},
    {"self", "self, ms", COLUMN_REAL, offsetof(struct name_total, self), "s", 1e3, 10, 3},
    {"share", "self, %", COLUMN_REAL, offsetof(struct name_total, share), "1", 100, 7, 1},
    {"mean", "mean, us", COLUMN_REAL, offsetof(struct name_total, mean), "s", 1e6, 10, 2},
    {"flops", "GFLOP/s", COLUMN_REAL, offsetof(struct name_total, flops_per_second), "FLOP/s", 1e-9, 8, 1},
    {"bandwidth", "GB/s", COLUMN_REAL, offsetof(struct name_total, bytes_per_second), "B/s", 1e-9, 7, 2},
    {"memory", "kept, MiB", COLUMN_REAL, offsetof(struct name_total, memory), "B", 1.0 / 1048576, 9, 3},
};

static void add_operations(const struct profile *p, cJSON *summary)
{
    struct totals totals = p->totals;
    size_t shown = 0;
    char limits[160];
    totals_sort(&totals, operation_columns[OPERATION_CALLS + p->options->sort].offset);
    for (int i = 0; i < totals.n && shown < SHOWN_OPERATIONS; i++)
        shown += p->options->sort != SORT_TIME || totals.row[i].share >= 0.0005; /* by time 0.0 % comes last */
    snprintf(limits, sizeof limits, "While all ranks computed, products reached %.4g GFLOP/s, and memory %.4g GB/s.",
             1e-9 * p->facts.limits.flops, 1e-9 * p->facts.limits.bandwidth);
    results_add_table(
        summary, &(struct table){
                     "operations", "Operations in the same steps, all ranks together", TABLE_COLUMNS(operation_columns),
                     totals.row, (size_t)totals.n, sizeof *totals.row, shown,
                     .note = {"self: time without the named operations inside it, and its share of the steps. mean: "
                              "mean time of a call. kept: memory of a rank for results that outlive the next "
                              "operations: activations for backward, gradients of weights. Collectives run at the same "
                              "time as operations.",
                              limits}});
}

/* ---- collectives ---- */

static const struct column collective_columns[] = {
    {"kind", "kind", COLUMN_NAME, offsetof(struct collective_figure, kind_name), NULL, 0, -14, 0},
    {"bytes", "bytes", COLUMN_COUNT, offsetof(struct collective_figure, bytes), "B", 1, 12, 0},
    {"parameters", "parameters", COLUMN_COUNT, offsetof(struct collective_figure, parameters), "1", 1, 11, 0},
    {"calls", "calls", COLUMN_COUNT, offsetof(struct collective_figure, calls), "1", 1, 7, 0},
    {"queued", "queued", COLUMN_REAL, offsetof(struct collective_figure, queued), "s", 1e6, 10, 1},
    {"duration", "duration", COLUMN_REAL, offsetof(struct collective_figure, duration), "s", 1e6, 10, 1},
    {"wait", "wait", COLUMN_REAL, offsetof(struct collective_figure, wait), "s", 1e6, 10, 1},
    {"transfer", "transfer", COLUMN_REAL, offsetof(struct collective_figure, transfer), "s", 1e6, 10, 1},
    {"algbw", "algbw", COLUMN_REAL, offsetof(struct collective_figure, algbw), "B/s", 1e-9, 8, 3},
    {"busbw", "busbw", COLUMN_REAL, offsetof(struct collective_figure, busbw), "B/s", 1e-9, 8, 3},
};

static void add_collectives(const struct profile *p, cJSON *summary)
{
    const struct profile_figures *f = &p->figures;
    if (!f->collectives || f->ranks == 1)
        return;
    size_t columns = sizeof collective_columns / sizeof *collective_columns;
    size_t hidden = !f->several_kinds; /* a single kind is not named */
    const char *posted = !p->facts.comm_on_device    ? NULL
                         : isfinite(f->mean.compute) ? "Posted: its kernel began."
                                                     : "Posted: the GPU reached the collective's place in the stream, "
                                                       "perhaps before the host launched the collective.";
    results_add_table(
        summary, &(struct table){"collectives", "Collectives by size, all ranks; medians in us; GB/s",
                                 collective_columns + hidden, columns - hidden, f->collective, (size_t)f->collectives,
                                 sizeof *f->collective, SHOWN,
                                 .note = {"queued: before it was posted. duration: from post to completion. wait: "
                                          "until the last rank posts, 0 if there is none to wait for. transfer: from "
                                          "that post to completion. Bandwidths are of the median duration.",
                                          posted}});
}

static const struct column bucket_columns[] = {
    {"bucket", "bucket", COLUMN_INT, offsetof(struct bucket_figure, bucket), "1", 1, 8, 0},
    {"tensors", "tensors", COLUMN_INT, offsetof(struct bucket_figure, tensors), "1", 1, 7, 0},
    {"parameters", "parameters", COLUMN_COUNT, offsetof(struct bucket_figure, parameters), "1", 1, 11, 0},
    {"ready", "ready", COLUMN_REAL, offsetof(struct bucket_figure, time[BUCKET_READY]), "s", 1e3, 10, 3},
    {"queued", "queued", COLUMN_REAL, offsetof(struct bucket_figure, time[BUCKET_QUEUED]), "s", 1e3, 10, 3},
    {"posted", "posted", COLUMN_REAL, offsetof(struct bucket_figure, time[BUCKET_POSTED]), "s", 1e3, 10, 3},
    {"done", "done", COLUMN_REAL, offsetof(struct bucket_figure, time[BUCKET_DONE]), "s", 1e3, 10, 3},
    {"exposed", "exposed", COLUMN_REAL, offsetof(struct bucket_figure, time[BUCKET_EXPOSED]), "s", 1e3, 9, 3},
    {"last", "last, %", COLUMN_REAL, offsetof(struct bucket_figure, time[BUCKET_LAST]), "1", 100, 8, 1},
};

static int by_exposure(const void *a, const void *b)
{
    const struct bucket_figure *x = a, *y = b;
    for (int time = BUCKET_LAST; time >= BUCKET_EXPOSED; time--)
        if (x->time[time] != y->time[time])
            return x->time[time] < y->time[time] ? 1 : -1;
    return x->bucket - y->bucket;
}

/* If there are more than SHOWN buckets, those that complete last most often come first, then those exposed longest. */
static void add_buckets(const struct profile *p, cJSON *summary)
{
    const struct profile_figures *f = &p->figures;
    char title[160];
    snprintf(title, sizeof title, "Buckets, %s first, ms from the step's start; medians over steps and ranks",
             f->buckets > SHOWN ? "those that complete last most often" : "those that backward completes");
    if (f->buckets)
        results_add_table(
            summary,
            &(struct table){"buckets", title, TABLE_COLUMNS(bucket_columns), f->bucket, (size_t)f->buckets,
                            sizeof *f->bucket, SHOWN,
                            .note = {"ready: its last gradient is final. queued: its collective is requested. "
                                     "exposed: time in flight without concurrent computation. last: share of the "
                                     "steps in which it completed last."},
                            .order = by_exposure});
}

/* ---- controls ---- */

struct control_row {
    const char *name, *meaning;
    struct estimate estimate;
};

/* Adds a table of the control results whose unit is `unit`; it prints values times `scale`. */
static void add_controls(const struct profile *p, cJSON *summary, const char *key, const char *title,
                         const char *heading, const char *unit, double scale, const char *note)
{
    struct control_row row[CONTROL_RESULTS];
    size_t n = 0;
    for (const struct control_result *r = control_results; r < control_results + CONTROL_RESULTS; r++) {
        const struct estimate *estimate = control_estimate(&p->controls, r);
        if (r->meaning && !strcmp(r->unit, unit) && isfinite(estimate->median))
            row[n++] = (struct control_row){r->name ? r->name : p->facts.label, r->meaning, *estimate};
    }
    const struct column columns[] = {
        {"name", "", COLUMN_NAME, offsetof(struct control_row, name), NULL, 0, -20, 0},
        {"value", heading, COLUMN_REAL, offsetof(struct control_row, estimate.median), unit, scale, 10, 3},
        {"interval", "95 % interval", COLUMN_INTERVAL,
         COLUMN_ENDS(struct control_row, estimate.ci_low, estimate.ci_high), unit, scale, -18, 3},
        {"n", NULL, COLUMN_COUNT, offsetof(struct control_row, estimate.n), "1", 1, 0, 0},
        {"meaning", "", COLUMN_NAME, offsetof(struct control_row, meaning), NULL, 0, -1, 0},
    };
    results_add_table(summary,
                      &(struct table){key, title, TABLE_COLUMNS(columns), row, n, sizeof *row, 0, .note = {note}});
}

void profile_add_tables(const struct profile *p, cJSON *summary)
{
    size_t rounds = p->controls.rounds, steps = p->facts.block_steps;
    char title[200];
    struct criterion row[CRITERIA];
    add_phases(p, summary);
    memcpy(row, p->criterion, sizeof row);
    const struct table shares =
        criteria_table(row, CRITERIA,
                       "device busy: of the least busy rank. exposed communication, copies: of the rank with most. "
                       "collectives alone: of the controls. memory: of the whole run. The rest: means over all ranks.");
    results_add_table(summary, &shares);
    add_operations(p, summary);
    add_collectives(p, summary);
    add_buckets(p, summary);
    profile_add_rank_tables(p, summary);
    snprintf(title, sizeof title, "Controls, interleaved with %s in %zu round%s of %zu timed step%s", p->facts.label,
             rounds, text_plural(rounds), steps, text_plural(steps));
    if (rounds) {
        add_controls(p, summary, "controls", title, "ms a step", "s", 1e3, NULL);
        add_controls(p, summary, "control_ratios", NULL, "ratio", "1", 1,
                     attainable_note(p->facts.ranks, p->facts.comm_on_device, p->controls.step_to_attainable.median));
    }
    if (p->options->verbose)
        results_show_all(summary);
    else
        results_add_sentence(summary, "notes", "All rows of all tables are in summary.json; --verbose prints them.");
}
