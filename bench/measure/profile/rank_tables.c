/* rank_tables.c - the tables of a profile with a row for each rank or host; if there are many, the worst come first. */
#include "kernels/error.h"
#include "profile/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- stragglers ---- */

struct straggler_row {
    struct rank_figure rank;
    struct straggler by_collectives;
    const char *phase;
    double late_by;
};
#define LATE(field) offsetof(struct straggler_row, field)
static const struct column straggler_columns[] = {
    {"rank", "rank", COLUMN_INT, LATE(rank.rank), "1", 1, 5, 0},
    {"late", "late,\nms", COLUMN_REAL, LATE(rank.late), "s", 1e3, 9, 3},
    {"saves", "would\nsave, ms", COLUMN_REAL, LATE(rank.saves), "s", 1e3, 9, 3},
    {"core_wait", "without a\ncore, ms", COLUMN_REAL, LATE(rank.core_wait), "s", 1e3, 9, 3},
    {"late_phase", " most in", COLUMN_NAME, LATE(phase), NULL, 0, -24, 0},
    {"late_by", "by, ms", COLUMN_REAL, LATE(late_by), "s", 1e3, 8, 3},
    {"last", NULL, COLUMN_COUNT, LATE(by_collectives.last), "1", 1, 6, 0},
    {"share", "last, %", COLUMN_REAL, LATE(by_collectives.share), "1", 100, 8, 1},
    {"behind", "behind,\nus", COLUMN_REAL, LATE(by_collectives.late), "s", 1e6, 10, 1},
    {"behind_most", "at most,\nus", COLUMN_REAL, LATE(by_collectives.most), "s", 1e6, 10, 1},
    {"cost", "cost,\nms", COLUMN_REAL, LATE(by_collectives.cost), "s", 1e3, 9, 3},
};

static int by_lateness(const void *a, const void *b)
{
    const struct straggler_row *x = a, *y = b;
    return x->rank.late == y->rank.late ? x->rank.rank - y->rank.rank : x->rank.late < y->rank.late ? 1 : -1;
}

static void add_stragglers(const struct profile *p, cJSON *summary)
{
    const struct collectives *c = &p->capture.collectives;
    char title[160];
    if (c->ranks == 1 || !c->considered)
        return;
    struct straggler_row *row = allocate((size_t)c->ranks, sizeof *row);
    for (int r = 0; r < c->ranks; r++) {
        const struct rank_figure *rank = &p->figures.rank[r];
        enum step_phase latest = rank_latest_in(rank);
        double by = rank->late_in[latest];
        row[r] = (struct straggler_row){*rank, c->straggler[r], by > 0 ? phase_name[latest] : "", by};
    }
    qsort(row, (size_t)c->ranks, sizeof *row, by_lateness);
    snprintf(title, sizeof title, "Stragglers in the same steps; the last rank is known for %zu of %zu collectives",
             c->attributed, c->considered);
    results_add_table(
        summary,
        &(struct table){
            "stragglers", title, TABLE_COLUMNS(straggler_columns), row, (size_t)c->ranks, sizeof *row, SHOWN,
            .note = {
                "All times are per step. late: work (all phases but waits and checkpoint) minus the work of the "
                "fast ranks (up to the lower quartile). would save: how much shorter a step is if this rank and all "
                "above it are as fast as the rank below. without a core: while others used the cores of its training "
                "thread. most in: the phase where it is late in most steps. last: share of the collectives that it "
                "posted last; behind: time after the second-to-last post (median). cost: stall time of others in "
                "gradient_sync."}});
    free(row);
}

/* ---- overlap ---- */

#define RANK(field) offsetof(struct rank_figure, field)

static int by_exposed(const void *a, const void *b)
{
    const struct rank_figure *x = a, *y = b;
    return x->mean.exposed == y->mean.exposed ? x->rank - y->rank : x->mean.exposed < y->mean.exposed ? 1 : -1;
}

/* If there are more than SHOWN ranks, those with the most exposed communication come first. */
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
        {"clock_offset", NULL, COLUMN_REAL, RANK(offset), "s", 1, 0, 0},
        {"clock_drift", NULL, COLUMN_REAL, RANK(drift), "1", 1, 0, 0},
        {"clock_drift_error", NULL, COLUMN_REAL, RANK(drift_error), "1", 1, 0, 0},
        {"clock_residual", NULL, COLUMN_REAL, RANK(residual), "s", 1, 0, 0},
    };
    int traced = isfinite(f->mean.compute);
    const char *comm_note = !on_device
                                ? "comm busy: from post to completion; MPI does not show when data moves, so span "
                                  "overlap is only an upper bound of what was hidden. Controls (--rounds) "
                                  "measure it."
                            : traced ? "comm busy: while kernels of NCCL ran, waiting for other ranks included."
                                     : "comm busy: between events around each collective, where the GPU also waits "
                                       "for the host to launch it and for other ranks.";
    const char *compute_note = traced ? "compute busy: kernels, copies and fills of operations."
                                      : "compute busy: N/A, since records of CUPTI are missing.";
    char title[160];
    snprintf(title, sizeof title, "Overlap in the captured steps of %s epochs, ms a step", f->epochs);
    results_add_table(summary,
                      &(struct table){"ranks", title, TABLE_COLUMNS(columns), f->rank, (size_t)f->ranks,
                                      sizeof *f->rank, SHOWN,
                                      .note = {comm_note, p->facts.on_gpu ? compute_note : NULL}, .order = by_exposed});
}

/* ---- links ---- */

static const struct column link_columns[] = {
    {"rank", "rank", COLUMN_INT, offsetof(struct link_rates, rank), "1", 1, 6, 0},
    {"send", "sends", COLUMN_REAL, offsetof(struct link_rates, send), "B/s", 1e-6, 10, 1},
    {"receive", "receives", COLUMN_REAL, offsetof(struct link_rates, receive), "B/s", 1e-6, 10, 1},
};

static int by_rate(const void *a, const void *b)
{
    const struct link_rates *x = a, *y = b;
    double of_x = fmin(x->send, x->receive), of_y = fmin(y->send, y->receive);
    return (of_x > of_y) - (of_x < of_y);
}

static void add_links(const struct profile *p, cJSON *summary)
{
    static const char title[] = "Links of the hosts by their first ranks, MB/s: 1 MiB to and from the neighbours, "
                                "nothing else in flight";
    if (p->links)
        results_add_table(summary, &(struct table){"links", title, TABLE_COLUMNS(link_columns), p->links,
                                                   (size_t)p->facts.hosts, sizeof *p->links, SHOWN, .order = by_rate});
}

void profile_add_rank_tables(const struct profile *p, cJSON *summary)
{
    add_stragglers(p, summary);
    add_links(p, summary);
    add_ranks(p, summary);
}
