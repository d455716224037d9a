/* tables.c - the tables of a profile, column by column: {key, heading, kind, field, unit, scale, width, decimals}. */
#include "base/table.h"
#include "base/text.h"
#include "profile/outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 16 }; /* rows at most, of ranks and of sizes */

#define COLUMNS(columns) (columns), sizeof(columns) / sizeof *(columns)

/* ---- phases ---- */

static const struct column phase_columns[] = {
    {"name", "", COLUMN_NAME, offsetof(struct phase_figure, name), NULL, 0, -26, 0},
    {"mean", "mean", COLUMN_REAL, offsetof(struct phase_figure, mean), "s", 1e3, 10, 3},
    {"median", "median", COLUMN_REAL, offsetof(struct phase_figure, median), "s", 1e3, 10, 3},
    {"p95_steps", "p95_steps", COLUMN_REAL, offsetof(struct phase_figure, p95_steps), "s", 1e3, 10, 3},
    {"share", "share, %", COLUMN_REAL, offsetof(struct phase_figure, share), "1", 100, 8, 1},
    {"usual", " usual when well tuned", COLUMN_NAME, offsetof(struct phase_figure, usual), NULL, 0, -1, 0},
};

static void add_phases(const struct profile *p, cJSON *summary)
{
    const struct profile_figures *f = &p->figures;
    char title[160], note[320];
    double step = f->phase[PHASES].mean;
    snprintf(title, sizeof title, "Phases of %s in %d captured step%s of %s epochs on %d rank%s, ms a step",
             p->facts.label, f->steps, text_plural((size_t)f->steps), f->epochs, f->ranks,
             text_plural((size_t)f->ranks));
    snprintf(note, sizeof note,
             "n = ranks x steps = %d; p95_steps is over the steps of rank %d, the slowest.\n"
             "%.0f tokens per second, %.1f GFLOP/s of the model; communication ratio (gradient_sync / step) %.3f.\n",
             f->ranks * f->steps, f->slowest, p->facts.tokens / step, 1e-9 * p->facts.flops / step,
             f->phase[PHASE_GRADIENT_SYNC].share);
    results_add_table(summary, &(struct table){"phases", title, COLUMNS(phase_columns), f->phase, PHASES + 1,
                                               sizeof *f->phase, 0, note});
}

/* ---- operations ---- */

static const struct column operation_columns[] = {
    {"name", "name", COLUMN_CHARS, offsetof(struct name_total, name), NULL, 0, -26, 0},
    {"kind", "kind", COLUMN_NAME, offsetof(struct name_total, kind_name), NULL, 0, -10, 0},
    {"calls", "calls", COLUMN_REAL, offsetof(struct name_total, calls), "1", 1, 8, 0},
    {"total", "total, ms", COLUMN_REAL, offsetof(struct name_total, total), "s", 1e3, 11, 3},
    {"self", "self, ms", COLUMN_REAL, offsetof(struct name_total, self), "s", 1e3, 11, 3},
    {"mean", "mean, us", COLUMN_REAL, offsetof(struct name_total, mean), "s", 1e6, 10, 2},
    {"share", "self, %", COLUMN_REAL, offsetof(struct name_total, share), "1", 100, 7, 1},
    {"flops", "GFLOP/s", COLUMN_REAL, offsetof(struct name_total, flops_per_second), "FLOP/s", 1e-9, 8, 1},
    {"bandwidth", "GB/s", COLUMN_REAL, offsetof(struct name_total, bytes_per_second), "B/s", 1e-9, 7, 2},
};

static void add_operations(const struct profile *p, cJSON *summary)
{
    char title[160], note[320];
    snprintf(title, sizeof title, "Operations in the same steps, all ranks together, by %s (--profile-sort)",
             sort_name[p->options->sort]);
    snprintf(
        note, sizeof note,
        "self: without the named operations inside, and its share of the steps. Collectives run in parallel\nto %s.\n",
        p->facts.comm_on_device ? "the operations, on a stream of their own"
                                : "the training thread, from post to completion");
    results_add_table(summary, &(struct table){"operations", title, COLUMNS(operation_columns), p->totals.row,
                                               (size_t)p->totals.n, sizeof *p->totals.row, 0, note});
}

/* ---- collectives ---- */

static const struct column collective_columns[] = {
    {"bytes", "bytes", COLUMN_COUNT, offsetof(struct collective_figure, bytes), "B", 1, 12, 0},
    {"parameters", "parameters", COLUMN_COUNT, offsetof(struct collective_figure, parameters), "1", 1, 11, 0},
    {"calls", "calls", COLUMN_COUNT, offsetof(struct collective_figure, calls), "1", 1, 7, 0},
    {"calls_that_waited", NULL, COLUMN_COUNT, offsetof(struct collective_figure, waited), "1", 1, 0, 0},
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
    char note[640];
    if (!f->collectives || f->ranks == 1)
        return;
    snprintf(note, sizeof note,
             "queued: before it was posted. duration: from post to completion. wait: until the last rank posts, where\n"
             "that is beyond twice the residual of the clocks, %.2f us. transfer: from then to completion. Each column "
             "is a\nmedian over the calls for which it is known; bandwidths are of the median duration.%s\n",
             1e-3 * (double)p->capture.collectives.residual_ns,
             !p->facts.comm_on_device    ? ""
             : isfinite(f->mean.compute) ? " Posted: its kernel began."
                                         : " Posted: the GPU came to it, perhaps before the host\nlaunched it.");
    results_add_table(summary, &(struct table){"collectives", "Collectives by size, all ranks; medians in us; GB/s",
                                               COLUMNS(collective_columns), f->collective, (size_t)f->collectives,
                                               sizeof *f->collective, SHOWN, note});
}

static const struct column straggler_columns[] = {
    {"rank", "rank", COLUMN_INT, offsetof(struct straggler, rank), "1", 1, 6, 0},
    {"last", "last", COLUMN_COUNT, offsetof(struct straggler, last), "1", 1, 8, 0},
    {"share", "share, %", COLUMN_REAL, offsetof(struct straggler, share), "1", 100, 8, 1},
    {"late", "late by, us", COLUMN_REAL, offsetof(struct straggler, late), "s", 1e6, 14, 1},
    {"late_most", "at most, us", COLUMN_REAL, offsetof(struct straggler, most), "s", 1e6, 14, 1},
    {"cost", "cost, ms a step", COLUMN_REAL, offsetof(struct straggler, cost), "s", 1e3, 18, 3},
};

static void add_stragglers(const struct profile *p, cJSON *summary)
{
    const struct collectives *c = &p->capture.collectives;
    char title[160];
    if (c->ranks == 1 || !c->considered)
        return;
    snprintf(title, sizeof title, "Stragglers in the same steps: last rank, known for %zu of %zu collectives",
             c->attributed, c->considered);
    results_add_table(summary,
                      &(struct table){"stragglers", title, COLUMNS(straggler_columns), c->straggler, (size_t)c->ranks,
                                      sizeof *c->straggler, 2 * SHOWN,
                                      "late by: median, behind the last but one. cost: stall time of the other ranks "
                                      "in gradient_sync until this one\nposts (mean over the other ranks).\n"});
}

/* ---- overlap ---- */

#define RANK(field) offsetof(struct rank_figure, field)

static void add_ranks(const struct profile *p, cJSON *summary)
{
    const struct profile_figures *f = &p->figures;
    int on_device = p->facts.comm_on_device;
    const struct column columns[] = {
        {"rank", "rank", COLUMN_INT, RANK(rank), "1", 1, 6, 0},
        {"step", NULL, COLUMN_REAL, RANK(mean.step), "s", 1e3, 0, 3},
        {"compute_busy", "compute\nbusy", COLUMN_REAL, RANK(mean.compute), "s", 1e3, 10, 3},
        {"comm_busy", "comm\nbusy", COLUMN_REAL, RANK(mean.communication), "s", 1e3, 10, 3},
        {"overlap", "overlap", COLUMN_REAL, RANK(mean.overlap), "s", 1e3, 10, 3},
        {"exposed", "exposed", COLUMN_REAL, RANK(mean.exposed), "s", 1e3, 10, 3},
        {"exposed_tail", "exposed\ntail", COLUMN_REAL, RANK(mean.exposed_tail), "s", 1e3, 10, 3},
        {overlap_span_name(on_device), on_device ? "hidden\nratio" : "span overlap\n(upper bound)", COLUMN_REAL,
         RANK(mean.span), "1", 1, 12, 3},
        {"compute_coverage", "compute\ncoverage", COLUMN_REAL, RANK(mean.coverage), "1", 1, 10, 3},
        {"utilisation", "busy, %", COLUMN_REAL, RANK(mean.utilisation), "1", 100, 8, 1},
        {"collectives", NULL, COLUMN_REAL, RANK(mean.collectives), "1", 1, 0, 0},
        {"clock_offset", NULL, COLUMN_REAL, RANK(offset), "s", 1e6, 0, 2},
        {"clock_drift", NULL, COLUMN_REAL, RANK(drift), "1", 1e6, 0, 3},
        {"clock_drift_error", NULL, COLUMN_REAL, RANK(drift_error), "1", 1e6, 0, 3},
        {"clock_residual", NULL, COLUMN_REAL, RANK(residual), "s", 1e6, 0, 2},
    };
    int traced = isfinite(f->mean.compute);
    char title[160], note[400];
    snprintf(title, sizeof title, "Overlap in the captured steps of %s epochs, ms a step", f->epochs);
    if (on_device)
        snprintf(note, sizeof note, "comm busy: %s.\n",
                 traced ? "while kernels of NCCL ran, waiting for other ranks included. hidden ratio: the part of it "
                          "during\nwhich operations ran"
                        : "between events around each collective, where the GPU also waits for the host to launch it "
                          "and for\nother ranks");
    else
        snprintf(note, sizeof note,
                 "comm busy: from post to completion; MPI does not show when data moves, so span overlap is only an "
                 "upper bound\nof what was hidden. %s\n",
                 p->controls.rounds ? "The controls below measure it." : "Controls (--rounds) would measure it.");
    if (p->facts.on_gpu)
        snprintf(note + strlen(note), sizeof note - strlen(note), "compute busy: %s.\n",
                 traced ? "kernels, copies and fills of operations, without the time between them"
                        : "n/a, since there are no records of CUPTI, or not all of them");
    results_add_table(summary, &(struct table){"ranks", title, COLUMNS(columns), f->rank, (size_t)f->ranks,
                                               sizeof *f->rank, SHOWN, note});
}

/* ---- controls ---- */

/* A table of the controls in one unit, which is shown by that scale. */
static void add_controls(cJSON *summary, const char *key, const char *title, const char *heading, const char *unit,
                         double scale, const struct control_row *all, const char *note)
{
    struct control_row row[CONTROLS];
    size_t n = 0;
    for (const struct control_row *r = all; r < all + CONTROLS; r++)
        if (r->meaning && !strcmp(r->unit, unit) && isfinite(r->estimate.median))
            row[n++] = *r;
    const struct column columns[] = {
        {"name", "", COLUMN_NAME, offsetof(struct control_row, name), NULL, 0, -20, 0},
        {"value", heading, COLUMN_REAL, offsetof(struct control_row, estimate.median), unit, scale, 10, 3},
        {"interval", "95 % interval", COLUMN_INTERVAL, offsetof(struct control_row, estimate.ci_low), unit, scale, -18,
         3},
        {"n", NULL, COLUMN_COUNT, offsetof(struct control_row, estimate.n), "1", 1, 0, 0},
        {"meaning", "", COLUMN_NAME, offsetof(struct control_row, meaning), NULL, 0, -1, 0},
    };
    results_add_table(summary, &(struct table){key, title, COLUMNS(columns), row, n, sizeof *row, 0, note});
}

void profile_add_tables(const struct profile *p, cJSON *summary)
{
    const struct controls *c = &p->controls;
    struct control_row row[CONTROLS];
    char title[160];
    add_phases(p, summary);
    add_operations(p, summary);
    add_collectives(p, summary);
    add_stragglers(p, summary);
    add_ranks(p, summary);
    if (!c->rounds)
        return;
    profile_controls(p, row);
    snprintf(title, sizeof title, "Controls, interleaved with it in %zu round%s of %zu timed step%s", c->rounds,
             text_plural(c->rounds), p->facts.block_steps, text_plural(p->facts.block_steps));
    add_controls(summary, "controls", title, "ms a step", "s", 1e3, row, NULL);
    add_controls(summary, "control_ratios", NULL, "ratio", "1", 1, row,
                 c->step.median < 0.95 * c->attainable
                     ? "step / attainable below 1: several collectives in flight hide each other's latency, or the "
                       "machine was\nless busy then.\n"
                     : NULL);
}
