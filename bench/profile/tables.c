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
    {"usual", " usual, %", COLUMN_CHARS, offsetof(struct phase_figure, usual), NULL, 0, -1, 0},
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
             "n = ranks x steps = %d. min and max: of the ranks' medians; p95_steps: over the steps of one rank, the "
             "most.\nusual: of a well-tuned step. "
             "%.0f tokens per second, %.1f GFLOP/s of the model; communication ratio (gradient_sync / step) %.3f.\n",
             f->ranks * f->steps, p->facts.tokens / step, 1e-9 * p->facts.flops / step,
             f->phase[PHASE_GRADIENT_SYNC].share);
    results_add_table(summary, &(struct table){"phases", title, COLUMNS(phase_columns), f->phase, PHASES + 1,
                                               sizeof *f->phase, 0, note});
}

/* ---- operations ---- */

static const struct column operation_columns[] = {
    {"name", "name", COLUMN_CHARS, offsetof(struct name_total, name), NULL, 0, -26, 0},
    {"kind", "kind", COLUMN_NAME, offsetof(struct name_total, kind_name), NULL, 0, -10, 0},
    {"calls", "calls", COLUMN_REAL, offsetof(struct name_total, calls), "1", 1, 7, 0},
    {"total", NULL, COLUMN_REAL, offsetof(struct name_total, total), "s", 1e3, 0, 3},
    {"self", "self, ms", COLUMN_REAL, offsetof(struct name_total, self), "s", 1e3, 10, 3},
    {"share", "self, %", COLUMN_REAL, offsetof(struct name_total, share), "1", 100, 7, 1},
    {"mean", NULL, COLUMN_REAL, offsetof(struct name_total, mean), "s", 1e6, 0, 2},
    {"least", "min, us", COLUMN_REAL, offsetof(struct name_total, least), "s", 1e6, 9, 1},
    {"median", "median", COLUMN_REAL, offsetof(struct name_total, median), "s", 1e6, 9, 1},
    {"p95", "p95", COLUMN_REAL, offsetof(struct name_total, p95), "s", 1e6, 9, 1},
    {"most", "max", COLUMN_REAL, offsetof(struct name_total, most), "s", 1e6, 9, 1},
    {"flops", "GFLOP/s", COLUMN_REAL, offsetof(struct name_total, flops_per_second), "FLOP/s", 1e-9, 8, 1},
    {"bandwidth", "GB/s", COLUMN_REAL, offsetof(struct name_total, bytes_per_second), "B/s", 1e-9, 7, 2},
};

static void add_operations(const struct profile *p, cJSON *summary)
{
    char title[160], note[480];
    size_t shown = 0; /* no rows of 0.0 %, which come last in this order */
    for (int i = 0; i < p->totals.n && p->options->sort == SORT_SELF; i++)
        shown += p->totals.row[i].share >= 0.0005;
    snprintf(title, sizeof title, "Operations in the same steps, all ranks together, by %s (--profile-sort)",
             sort_name[p->options->sort]);
    snprintf(note, sizeof note,
             "self: without the named operations inside, and its share of the steps. min to max: of a call; median "
             "over ranks "
             "of\ntheir medians, p95 of the rank where it is largest. Collectives run in parallel to %s.\n",
             p->facts.comm_on_device ? "the operations, on a stream of their own"
                                     : "the training thread,\nfrom post to completion");
    results_add_table(summary, &(struct table){"operations", title, COLUMNS(operation_columns), p->totals.row,
                                               (size_t)p->totals.n, sizeof *p->totals.row, shown, note});
}

/* ---- layers ---- */

static const struct column layer_columns[] = {
    {"name", "part", COLUMN_CHARS, offsetof(struct layer_figure, name), NULL, 0, -12, 0},
    {"forward", "forward", COLUMN_REAL, offsetof(struct layer_figure, forward), "s", 1e3, 10, 3},
    {"backward", "backward", COLUMN_REAL, offsetof(struct layer_figure, backward), "s", 1e3, 10, 3},
    {"parameters", "parameters", COLUMN_COUNT, offsetof(struct layer_figure, parameters), "1", 1, 12, 0},
    {"bytes", "bytes reduced", COLUMN_COUNT, offsetof(struct layer_figure, bytes), "B", 1, 14, 0},
};

static void add_layers(const struct profile *p, cJSON *summary)
{
    results_add_table(summary,
                      &(struct table){"layers", "Parts of the model in a step, ms; medians over steps and ranks",
                                      COLUMNS(layer_columns), p->figures.layer, (size_t)p->figures.layers,
                                      sizeof *p->figures.layer, SHOWN, NULL});
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
    int64_t residual_ns = p->capture.collectives.residual_ns;
    char note[640], beyond[80] = "";
    if (!f->collectives || f->ranks == 1)
        return;
    if (residual_ns)
        snprintf(beyond, sizeof beyond, ", where that\nis beyond twice the residual of the clocks, %.2f us",
                 1e-3 * (double)residual_ns);
    snprintf(note, sizeof note,
             "queued: before it was posted. duration: from post to completion. wait: of calls that did, until the last "
             "rank posts%s.\n"
             "transfer: from then to completion. Each column is a median over the calls for which it is known; "
             "bandwidths are\nof the median duration.%s\n",
             beyond,
             !p->facts.comm_on_device    ? ""
             : isfinite(f->mean.compute) ? " Posted: its kernel began."
                                         : " Posted: the GPU came to it, perhaps before the host\nlaunched it.");
    results_add_table(summary, &(struct table){"collectives", "Collectives by size, all ranks; medians in us; GB/s",
                                               COLUMNS(collective_columns), f->collective, (size_t)f->collectives,
                                               sizeof *f->collective, SHOWN, note});
}

static const struct column bucket_columns[] = {
    {"bucket", "bucket", COLUMN_INT, offsetof(struct bucket_figure, bucket), "1", 1, 8, 0},
    {"tensors", "tensors", COLUMN_INT, offsetof(struct bucket_figure, tensors), "1", 1, 7, 0},
    {"parameters", "parameters", COLUMN_COUNT, offsetof(struct bucket_figure, parameters), "1", 1, 11, 0},
    {"ready", "ready", COLUMN_REAL, offsetof(struct bucket_figure, ready), "s", 1e3, 10, 3},
    {"queued", "queued", COLUMN_REAL, offsetof(struct bucket_figure, queued), "s", 1e3, 10, 3},
    {"posted", "posted", COLUMN_REAL, offsetof(struct bucket_figure, posted), "s", 1e3, 10, 3},
    {"done", "done", COLUMN_REAL, offsetof(struct bucket_figure, done), "s", 1e3, 10, 3},
    {"exposed", "exposed", COLUMN_REAL, offsetof(struct bucket_figure, exposed), "s", 1e3, 9, 3},
    {"last", "last, %", COLUMN_REAL, offsetof(struct bucket_figure, last), "1", 100, 8, 1},
};

static int by_exposure(const void *a, const void *b)
{
    const struct bucket_figure *x = a, *y = b;
    if (x->last != y->last)
        return x->last < y->last ? 1 : -1;
    return x->exposed == y->exposed ? x->bucket - y->bucket : x->exposed < y->exposed ? 1 : -1;
}

/* Where they are too many for a page, those that matter most come first. */
static void add_buckets(const struct profile *p, cJSON *summary)
{
    const struct profile_figures *f = &p->figures;
    if (f->buckets > SHOWN)
        qsort(f->bucket, (size_t)f->buckets, sizeof *f->bucket, by_exposure);
    if (f->buckets)
        results_add_table(
            summary, &(struct table){"buckets",
                                     "Buckets in the order in which backward completes them, ms from the step's "
                                     "start; medians over steps and ranks",
                                     COLUMNS(bucket_columns), f->bucket, (size_t)f->buckets, sizeof *f->bucket, SHOWN,
                                     "ready: its last gradient is final. queued: its collective is asked for. "
                                     "exposed: the part of posted to done\nwithout computation beside it. last: "
                                     "share of the steps in which it was done last.\n"});
}

struct straggler_row {
    struct rank_figure rank;
    struct straggler by_collectives;
    const char *phase;
    double late_by;
};
#define LATE(field) offsetof(struct straggler_row, field)
static const struct column straggler_columns[] = {
    {"rank", "rank", COLUMN_INT, LATE(rank.rank), "1", 1, 5, 0},
    {"late", "late,\nms a step", COLUMN_REAL, LATE(rank.late), "s", 1e3, 10, 3},
    {"saves", "would save,\nms a step", COLUMN_REAL, LATE(rank.saves), "s", 1e3, 12, 3},
    {"late_phase", " most in", COLUMN_NAME, LATE(phase), NULL, 0, -25, 0},
    {"late_by", "by, ms", COLUMN_REAL, LATE(late_by), "s", 1e3, 8, 3},
    {"last", "last", COLUMN_COUNT, LATE(by_collectives.last), "1", 1, 6, 0},
    {"share", "last, %", COLUMN_REAL, LATE(by_collectives.share), "1", 100, 8, 1},
    {"behind", "behind,\nus", COLUMN_REAL, LATE(by_collectives.late), "s", 1e6, 10, 1},
    {"behind_most", "at most,\nus", COLUMN_REAL, LATE(by_collectives.most), "s", 1e6, 10, 1},
    {"cost", "cost,\nms a step", COLUMN_REAL, LATE(by_collectives.cost), "s", 1e3, 10, 3},
    {"ahead", "done ahead\nby, ms", COLUMN_REAL, LATE(rank.ahead), "s", 1e3, 11, 3},
};

static int by_lateness(const void *a, const void *b)
{
    const struct straggler_row *x = a, *y = b;
    int order = (x->rank.late < y->rank.late) - (x->rank.late > y->rank.late);
    return order ? order : x->rank.rank - y->rank.rank;
}

static void add_stragglers(const struct profile *p, cJSON *summary)
{
    const struct collectives *c = &p->capture.collectives;
    char title[160];
    if (c->ranks == 1 || !c->considered)
        return;
    struct straggler_row *row = allocate((size_t)c->ranks, sizeof *row);
    for (int r = 0; r < c->ranks; r++) {
        row[r] = (struct straggler_row){p->figures.rank[r], c->straggler[r], "", 0};
        row[r].late_by = row[r].rank.late_in[row[r].rank.late_phase];
        if (row[r].rank.late > 0)
            row[r].phase = phase_name[row[r].rank.late_phase];
    }
    qsort(row, (size_t)c->ranks, sizeof *row, by_lateness);
    snprintf(title, sizeof title, "Stragglers in the same steps; the last rank is known for %zu of %zu collectives",
             c->attributed, c->considered);
    results_add_table(summary,
                      &(struct table){"stragglers", title, COLUMNS(straggler_columns), row, (size_t)c->ranks,
                                      sizeof *row, SHOWN,
                                      "late: all phases but gradient_sync, beyond those of the fast ranks (up to the "
                                      "lower quartile); most in one phase.\nwould save: if this rank and those above "
                                      "it were as fast as the one below. last: in so many collectives, by so\nmuch "
                                      "behind the last but one (median). cost: stall time of the other ranks in "
                                      "gradient_sync until it posts.\ndone ahead by: how long before the others it "
                                      "completes collectives of at least a quarter of the largest size (median).\n"});
    free(row);
}

/* Who waits for whom, where the ranks are few enough for a page. */
static void add_stalls(const struct profile *p, cJSON *summary)
{
    const struct collectives *c = &p->capture.collectives;
    char key[SHOWN][28], heading[SHOWN][28];
    struct column column[SHOWN + 1] = {{"rank", "rank", COLUMN_REAL, 0, "1", 1, 5, 0}};
    size_t ranks = (size_t)c->ranks, width = ranks + 1;
    if (ranks == 1 || ranks > SHOWN || !c->attributed)
        return;
    double *row = allocate(ranks * width, sizeof *row);
    for (size_t r = 0; r < ranks; r++) {
        snprintf(key[r], sizeof key[r], "for_%zu", r);
        snprintf(heading[r], sizeof heading[r], "for %zu", r);
        column[r + 1] = (struct column){key[r], heading[r], COLUMN_REAL, (r + 1) * sizeof *row, "s", 1e3, 9, 3};
        row[r * width] = (double)r;
        memcpy(&row[r * width + 1], &c->stall[r * ranks], ranks * sizeof *row);
    }
    results_add_table(summary, &(struct table){"stalls", "Who waits for whom in gradient_sync, ms a step", column,
                                               ranks + 1, row, ranks, width * sizeof *row, 0, NULL});
    free(row);
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

static const struct column link_columns[] = {
    {"rank", "rank", COLUMN_INT, offsetof(struct link_rates, rank), "1", 1, 6, 0},
    {"send", "sends", COLUMN_REAL, offsetof(struct link_rates, send), "B/s", 1e-6, 10, 1},
    {"receive", "receives", COLUMN_REAL, offsetof(struct link_rates, receive), "B/s", 1e-6, 10, 1},
};

void profile_add_tables(const struct profile *p, cJSON *summary)
{
    const struct controls *c = &p->controls;
    struct control_row row[CONTROLS];
    char title[160];
    add_phases(p, summary);
    add_operations(p, summary);
    add_layers(p, summary);
    add_collectives(p, summary);
    add_buckets(p, summary);
    add_stragglers(p, summary);
    add_stalls(p, summary);
    if (p->links)
        results_add_table(summary, &(struct table){"links",
                                                   "Links of the hosts by their first ranks, MB/s: 1 MiB to and from "
                                                   "the neighbours, nothing else in flight",
                                                   COLUMNS(link_columns), p->links, (size_t)p->facts.hosts,
                                                   sizeof *p->links, SHOWN, NULL});
    add_ranks(p, summary);
    if (!c->rounds)
        return;
    profile_controls(p, row);
    snprintf(title, sizeof title, "Controls, interleaved with it in %zu round%s of %zu timed step%s", c->rounds,
             text_plural(c->rounds), p->facts.block_steps, text_plural(p->facts.block_steps));
    add_controls(summary, "controls", title, "ms a step", "s", 1e3, row, NULL);
    add_controls(summary, "control_ratios", NULL, "ratio", "1", 1, row,
                 c->step_to_attainable.median < 0.95
                     ? "step / attainable below 1: several collectives in flight hide each other's latency, or the "
                       "machine was\nless busy then.\n"
                     : NULL);
}
