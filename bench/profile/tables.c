/* tables.c - the tables of a profile, column by column: {key, heading, kind, field, unit, scale, width, decimals}. */
#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"
#include "profile/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 16 }; /* rows at most, of ranks and of sizes */

#define COLUMNS(columns) (columns), sizeof(columns) / sizeof *(columns)

static void add_table(cJSON *summary, const struct table *table)
{
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(summary, "tables"), table_json(table));
}

static const char *epochs_of(const struct profile *p)
{
    return p->capture.step[p->figures.first].warmup ? "warm-up" : "active";
}

/* ---- phases ---- */

struct phase_row {
    struct phase_figure figure;
    const char *usual;
};
#define FIELD(field) offsetof(struct phase_row, field)
/* clang-format off */
static const struct column phase_columns[] = {
    {"name", "", COLUMN_NAME, FIELD(figure.name), NULL, 0, -26, 0},
    {"mean", "mean", COLUMN_REAL, FIELD(figure.mean), "s", 1e3, 10, 3},
    {"median", "median", COLUMN_REAL, FIELD(figure.median), "s", 1e3, 10, 3},
    {"p95_steps", "p95_steps", COLUMN_REAL, FIELD(figure.p95_steps), "s", 1e3, 10, 3},
    {"share", "share, %", COLUMN_REAL, FIELD(figure.share), "1", 100, 8, 1},
    {"usual", " usual when well tuned", COLUMN_NAME, FIELD(usual), NULL, 0, -1, 0},
};
/* clang-format on */
#undef FIELD

static void add_phases(const struct profile *p, cJSON *summary)
{
    static const char *const usual[PHASES + 1] = {[PHASE_DATA_LOADING] = " up to 5-10 %",
                                                  [PHASE_FORWARD] = " 30-40 %",
                                                  [PHASE_BACKWARD] = " 40-50 %",
                                                  [PHASE_OPTIMIZER] = " 5-10 %"};
    const struct profile_figures *f = &p->figures;
    struct phase_row row[PHASES + 1];
    char title[160], note[320];
    double step = f->phase[PHASES].mean;
    for (int i = 0; i <= PHASES; i++)
        row[i] = (struct phase_row){f->phase[i], usual[i]};
    snprintf(title, sizeof title, "Phases of %s in %d captured step%s of %s epochs on %d rank%s, ms a step",
             p->facts.label, f->steps, text_plural((size_t)f->steps), epochs_of(p), f->ranks,
             text_plural((size_t)f->ranks));
    snprintf(note, sizeof note,
             "n = ranks x steps = %d; p95_steps is over the steps of rank %d, the slowest.\n"
             "%.0f tokens per second, %.1f GFLOP/s of the model; communication ratio (gradient_sync / step) %.3f.\n",
             f->ranks * f->steps, f->slowest, p->facts.tokens / step, 1e-9 * p->facts.flops / step,
             f->phase[PHASE_GRADIENT_SYNC].share);
    add_table(summary, &(struct table){"phases", title, COLUMNS(phase_columns), row, PHASES + 1, sizeof *row, 0, note});
}

/* ---- operations ---- */

struct operation_row {
    const char *name, *kind;
    double calls, total, self, mean, share, flops, bandwidth;
};
#define FIELD(field) offsetof(struct operation_row, field)
/* clang-format off */
static const struct column operation_columns[] = {
    {"name", "name", COLUMN_NAME, FIELD(name), NULL, 0, -26, 0},
    {"kind", "kind", COLUMN_NAME, FIELD(kind), NULL, 0, -10, 0},
    {"calls", "calls", COLUMN_REAL, FIELD(calls), "1", 1, 8, 0},
    {"total", "total, ms", COLUMN_REAL, FIELD(total), "s", 1e3, 11, 3},
    {"self", "self, ms", COLUMN_REAL, FIELD(self), "s", 1e3, 11, 3},
    {"mean", "mean, us", COLUMN_REAL, FIELD(mean), "s", 1e6, 10, 2},
    {"share", "self, %", COLUMN_REAL, FIELD(share), "1", 100, 7, 1},
    {"flops", "GFLOP/s", COLUMN_REAL, FIELD(flops), "FLOP/s", 1e-9, 8, 1},
    {"bandwidth", "GB/s", COLUMN_REAL, FIELD(bandwidth), "B/s", 1e-9, 7, 2},
};
/* clang-format on */
#undef FIELD

static void add_operations(const struct profile *p, cJSON *summary)
{
    struct operation_row row[TOTALS_MOST];
    char title[160], note[320];
    for (int i = 0; i < p->totals.n; i++) {
        const struct name_total *t = &p->totals.row[i];
        double per_second = t->total_ns > 0 ? 1e9 / t->total_ns : NAN;
        row[i] = (struct operation_row){.name = t->name,
                                        .kind = total_kind_name[t->kind],
                                        .calls = t->calls,
                                        .total = 1e-9 * t->total_ns,
                                        .self = 1e-9 * t->self_ns,
                                        .mean = 1e-9 * t->total_ns / t->calls,
                                        .share = t->self_ns / p->totals.step_ns,
                                        .flops = t->flops > 0 ? t->flops * per_second : NAN,
                                        .bandwidth = t->bytes > 0 ? t->bytes * per_second : NAN};
    }
    snprintf(title, sizeof title, "Operations in the same steps, all ranks together, by %s (--profile-sort)",
             sort_name[p->options->sort]);
    snprintf(note, sizeof note,
             "self: without the named operations inside, and its share of the steps. A collective runs beside\n%s.\n",
             p->facts.comm_on_device ? "the operations, on a stream of its own"
                                     : "the training thread, from post to completion");
    add_table(summary, &(struct table){"operations", title, COLUMNS(operation_columns), row, (size_t)p->totals.n,
                                       sizeof *row, 0, note});
}

/* ---- collectives ---- */

#define FIELD(field) offsetof(struct collective_figure, field)
/* clang-format off */
static const struct column collective_columns[] = {
    {"bytes", "bytes", COLUMN_COUNT, FIELD(bytes), "B", 1, 12, 0},
    {"parameters", "parameters", COLUMN_COUNT, FIELD(parameters), "1", 1, 11, 0},
    {"calls", "calls", COLUMN_COUNT, FIELD(calls), "1", 1, 7, 0},
    {"calls_that_waited", NULL, COLUMN_COUNT, FIELD(waited), "1", 1, 0, 0},
    {"queued", "queued", COLUMN_REAL, FIELD(queued), "s", 1e6, 10, 1},
    {"duration", "duration", COLUMN_REAL, FIELD(duration), "s", 1e6, 10, 1},
    {"wait", "wait", COLUMN_REAL, FIELD(wait), "s", 1e6, 10, 1},
    {"transfer", "transfer", COLUMN_REAL, FIELD(transfer), "s", 1e6, 10, 1},
    {"algbw", "algbw", COLUMN_REAL, FIELD(algbw), "B/s", 1e-9, 8, 3},
    {"busbw", "busbw", COLUMN_REAL, FIELD(busbw), "B/s", 1e-9, 8, 3},
};
/* clang-format on */
#undef FIELD

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
             p->facts.comm_on_device ? " Posted: the GPU came to it." : "");
    add_table(summary, &(struct table){"collectives", "Collectives by size, all ranks; medians in us; GB/s",
                                       COLUMNS(collective_columns), f->collective, (size_t)f->collectives,
                                       sizeof *f->collective, SHOWN, note});
}

struct straggler_row {
    int rank;
    size_t last;
    double share, late, most, cost;
};
#define FIELD(field) offsetof(struct straggler_row, field)
/* clang-format off */
static const struct column straggler_columns[] = {
    {"rank", "rank", COLUMN_INT, FIELD(rank), "1", 1, 6, 0},
    {"last", "last", COLUMN_COUNT, FIELD(last), "1", 1, 8, 0},
    {"share", "share, %", COLUMN_REAL, FIELD(share), "1", 100, 8, 1},
    {"late", "late by, us", COLUMN_REAL, FIELD(late), "s", 1e6, 14, 1},
    {"late_most", "at most, us", COLUMN_REAL, FIELD(most), "s", 1e6, 14, 1},
    {"cost", "cost, ms a step", COLUMN_REAL, FIELD(cost), "s", 1e3, 18, 3},
};
/* clang-format on */
#undef FIELD

static void add_stragglers(const struct profile *p, cJSON *summary)
{
    const struct collectives *c = &p->capture.collectives;
    char title[160];
    if (c->ranks == 1 || !c->considered)
        return;
    struct straggler_row *row = allocate((size_t)c->ranks, sizeof *row);
    for (int r = 0; r < c->ranks; r++) {
        const struct straggler *s = &c->straggler[r];
        row[r] = (struct straggler_row){.rank = r,
                                        .last = s->last,
                                        .share = c->attributed ? (double)s->last / (double)c->attributed : 0,
                                        .late = 1e-9 * s->late_ns,
                                        .most = 1e-9 * s->most_ns,
                                        .cost = 1e-9 * s->cost_ns / p->figures.steps};
    }
    snprintf(title, sizeof title, "Stragglers in the same steps: last rank, known for %zu of %zu collectives",
             c->attributed, c->considered);
    add_table(summary, &(struct table){"stragglers", title, COLUMNS(straggler_columns), row, (size_t)c->ranks,
                                       sizeof *row, 2 * SHOWN,
                                       "late by: median, behind the last but one. cost: stall time of the other ranks "
                                       "in gradient_sync until this one\nposts (mean over the other ranks).\n"});
    free(row);
}

/* ---- overlap ---- */

struct rank_row {
    int rank;
    double step, compute, communication, overlap, exposed, exposed_tail; /* seconds a step */
    double span, coverage, utilisation;
    double collectives;                          /* a step */
    double offset, drift, drift_error, residual; /* of its clock: seconds, seconds a second */
};
#define FIELD(field) offsetof(struct rank_row, field)
enum { SPAN = 7 }; /* the column whose name depends on what communicates */
static const struct column rank_columns[] = {
    {"rank", "rank", COLUMN_INT, FIELD(rank), "1", 1, 6, 0},
    {"step", NULL, COLUMN_REAL, FIELD(step), "s", 1e3, 0, 3},
    {"compute_busy", "compute\nbusy", COLUMN_REAL, FIELD(compute), "s", 1e3, 10, 3},
    {"comm_busy", "comm\nbusy", COLUMN_REAL, FIELD(communication), "s", 1e3, 10, 3},
    {"overlap", "overlap", COLUMN_REAL, FIELD(overlap), "s", 1e3, 10, 3},
    {"exposed", "exposed", COLUMN_REAL, FIELD(exposed), "s", 1e3, 10, 3},
    {"exposed_tail", "exposed\ntail", COLUMN_REAL, FIELD(exposed_tail), "s", 1e3, 10, 3},
    [SPAN] = {NULL, NULL, COLUMN_REAL, FIELD(span), "1", 1, 12, 3},
    {"compute_coverage", "compute\ncoverage", COLUMN_REAL, FIELD(coverage), "1", 1, 10, 3},
    {"utilisation", "busy, %", COLUMN_REAL, FIELD(utilisation), "1", 100, 8, 1},
    {"collectives", NULL, COLUMN_REAL, FIELD(collectives), "1", 1, 0, 0},
    {"clock_offset", NULL, COLUMN_REAL, FIELD(offset), "s", 1e6, 0, 2},
    {"clock_drift", NULL, COLUMN_REAL, FIELD(drift), "1", 1e6, 0, 3},
    {"clock_drift_error", NULL, COLUMN_REAL, FIELD(drift_error), "1", 1e6, 0, 3},
    {"clock_residual", NULL, COLUMN_REAL, FIELD(residual), "s", 1e6, 0, 2},
};
#undef FIELD

static void add_ranks(const struct profile *p, cJSON *summary)
{
    const struct profile_figures *f = &p->figures;
    int on_device = p->facts.comm_on_device;
    struct rank_row *row = allocate((size_t)f->ranks, sizeof *row);
    struct column column[sizeof rank_columns / sizeof *rank_columns];
    memcpy(column, rank_columns, sizeof rank_columns);
    column[SPAN].key = overlap_span_name(on_device);
    column[SPAN].heading = on_device ? "hidden\nratio" : "span overlap\n(upper bound)";
    char title[160], note[320];
    double per_step = 1e-9 / f->steps;
    for (int r = 0; r < f->ranks; r++) {
        const struct overlap *o = &f->rank[r].sum;
        const struct alignment *a = &f->rank[r].alignment;
        row[r] = (struct rank_row){.rank = r,
                                   .step = per_step * (double)o->step_ns,
                                   .compute = per_step * (double)o->compute_ns,
                                   .communication = per_step * (double)o->communication_ns,
                                   .overlap = per_step * (double)o->overlap_ns,
                                   .exposed = per_step * (double)overlap_exposed(o),
                                   .exposed_tail = per_step * (double)o->exposed_tail_ns,
                                   .span = overlap_span(o),
                                   .coverage = overlap_coverage(o),
                                   .utilisation = overlap_utilisation(o),
                                   .collectives = (double)o->collectives / f->steps,
                                   .offset = 1e-9 * (double)a->before.offset_ns,
                                   .drift = 1e-9 * alignment_drift(a),
                                   .drift_error = 1e-9 * alignment_drift_error(a),
                                   .residual = 1e-9 * (double)alignment_residual_ns(a)};
    }
    snprintf(title, sizeof title, "Overlap in the captured steps of %s epochs, ms a step", epochs_of(p));
    if (on_device)
        snprintf(note, sizeof note,
                 "comm busy: while the GPU worked on collectives, waiting for other ranks included. hidden ratio: the "
                 "part of it\nduring which operations ran.\n");
    else
        snprintf(note, sizeof note,
                 "comm busy: from post to completion; MPI does not show when data moves, so span overlap is only an "
                 "upper bound\nof what was hidden. %s\n",
                 p->controls.rounds ? "The controls below measure it." : "Controls (--rounds) would measure it.");
    add_table(summary,
              &(struct table){"ranks", title, COLUMNS(column), row, (size_t)f->ranks, sizeof *row, SHOWN, note});
    free(row);
}

/* ---- controls ---- */

/* A table of the controls in one unit, which is shown by that scale. */
static void add_controls(cJSON *summary, const char *key, const char *title, const char *heading, const char *unit,
                         double scale, const struct control_row *all, const char *note)
{
    struct control_row row[CONTROLS_MOST];
    size_t n = 0;
    for (const struct control_row *r = all; r->name; r++)
        if (r->meaning && !strcmp(r->unit, unit))
            row[n++] = *r;
    const struct column columns[] = {
        {"name", "", COLUMN_NAME, offsetof(struct control_row, name), NULL, 0, -20, 0},
        {"value", heading, COLUMN_REAL, offsetof(struct control_row, estimate.median), unit, scale, 10, 3},
        {"interval", "95 % interval", COLUMN_INTERVAL, offsetof(struct control_row, estimate.ci_low), unit, scale, -18,
         3},
        {"n", NULL, COLUMN_COUNT, offsetof(struct control_row, estimate.n), "1", 1, 0, 0},
        {"meaning", "", COLUMN_NAME, offsetof(struct control_row, meaning), NULL, 0, -1, 0},
    };
    add_table(summary, &(struct table){key, title, COLUMNS(columns), row, n, sizeof *row, 0, note});
}

void profile_add_tables(const struct profile *p, cJSON *summary)
{
    const struct controls *c = &p->controls;
    struct control_row row[CONTROLS_MOST];
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
