/* comparison.c - profiles of several implementations in one run, side by side. */
#include "profile/comparison.h"
#include "base/best.h"
#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct compared {
    const char *label;
    struct against_best against; /* of those that are candidates; its n is 0 for the others */
    struct estimate to_fastest;
    struct controls controls;
};

static struct paired compare(const struct profile *a, const struct profile *b, const struct measurements *m)
{
    return stats_paired(measurements_of(m, a->row, FIGURE_STEP), measurements_of(m, b->row, FIGURE_STEP), m->rounds,
                        0.95);
}

/* The one with the shortest step among those that reduce, or among all if none does, by the medians that are shown; and
 * how the others of these stand to it. Returns its index. */
static int find_fastest(const struct profile *profile, int n, const struct measurements *m, struct compared *row)
{
    const double **step = allocate((size_t)n + 1, sizeof *step);
    struct against_best *against = allocate((size_t)n + 1, sizeof *against);
    int *of = allocate((size_t)n + 1, sizeof *of), candidates = 0, reduce = 0;
    for (int i = 0; i < n; i++)
        reduce |= profile[i].facts.strategy->reduces;
    for (int i = 0; i < n; i++)
        if (profile[i].facts.strategy->reduces || !reduce) {
            step[candidates] = measurements_of(m, profile[i].row, FIGURE_STEP);
            of[candidates++] = i;
        }
    int fastest = of[best_of(step, candidates, m->rounds, 0, against)];
    for (int j = 0; j < candidates; j++)
        row[of[j]].against = against[j];
    free(step);
    free(against);
    free(of);
    return fastest;
}

static void add_verdict(const struct profile *profile, const struct compared *row, int n, int fastest, cJSON *summary)
{
    struct verdict_item other[MAX_IMPLEMENTATIONS];
    struct verdict verdict = {.ranks = profile->facts.ranks,
                              .label = row[fastest].label,
                              .strategy = profile[fastest].facts.strategy->name,
                              .size = profile[fastest].facts.bucket_words,
                              .step = row[fastest].controls.step,
                              .best_size = "",
                              .sample = "round",
                              .explain = 1,
                              .item = other};
    for (int i = 0; i < n; i++) {
        verdict.candidates += profile[i].facts.strategy->reduces;
        if (i != fastest && row[i].against.paired.n)
            other[verdict.n++] = (struct verdict_item){row[i].label, row[i].controls.step.median, row[i].against.paired,
                                                       row[i].against.slower ? VERDICT_SLOWER : VERDICT_TIE};
    }
    verdict_add(&verdict, "answers", summary);
}

/* Columns of the median of an estimate, which is that far into a row, and of its interval. */
#define ESTIMATE(name, heading, at, unit, scale, decimals)                                                             \
    {(name), (heading), COLUMN_REAL, (at) + offsetof(struct estimate, median), (unit), (scale), 10, (decimals)},       \
    {                                                                                                                  \
        (name), "95 %\ninterval", COLUMN_INTERVAL, (at) + offsetof(struct estimate, ci_low), (unit), (scale), -20,     \
            (decimals)                                                                                                 \
    }
#define FIELD(field) offsetof(struct compared, field)
#define LABEL                                                                                                          \
    {                                                                                                                  \
        "implementation", "implementation", COLUMN_NAME, FIELD(label), NULL, 0, -18, 0                                 \
    }

/* clang-format off */
static const struct column step_columns[] = {
    LABEL, ESTIMATE("step", "step\nms", FIELD(controls.step), "s", 1e3, 3),
    ESTIMATE("to_fastest", "step /\nshortest", FIELD(to_fastest), "1", 1, 3),
    ESTIMATE("memory_peak_of_blocks", "peak\nMiB", FIELD(controls.peak_bytes), "B", 1.0 / 1048576, 1),
};
static const struct column phase_columns[] = {
    LABEL, ESTIMATE("forward_pass", "forward\nms", FIELD(controls.forward), "s", 1e3, 3),
    ESTIMATE("backward_pass", "backward\nms", FIELD(controls.backward), "s", 1e3, 3),
    ESTIMATE("compute_slowdown", "compute\nslowdown", FIELD(controls.compute_slowdown), "1", 1, 3),
};
static const struct column communication_columns[] = {
    LABEL, ESTIMATE("exposed", "exposed\nms", FIELD(controls.exposed_of_rounds), "s", 1e3, 3),
    ESTIMATE("overlap", "overlap\nms", FIELD(controls.overlap_of_rounds), "s", 1e3, 3),
    ESTIMATE("comm_slowdown", "comm\nslowdown", FIELD(controls.comm_slowdown), "1", 1, 3),
};
/* clang-format on */

static void add_tables(const struct compared *row, int n, size_t rounds, size_t steps, const char *fastest,
                       cJSON *summary)
{
    char title[160], note[512];
    snprintf(title, sizeof title, "Implementations, interleaved in %zu round%s of %zu timed step%s, traced", rounds,
             text_plural(rounds), steps, text_plural(steps));
    snprintf(note, sizeof note,
             "step / shortest: geometric mean over the rounds of the step time over that of %s in the same round; "
             "intervals of those that reduce hold for all of them together. "
             "peak: of memory in its blocks, on the rank where it is largest, without what only other implementations "
             "use.",
             fastest);
    const struct table tables[] = {
        {"implementations", title, TABLE_COLUMNS(step_columns), row, (size_t)n, sizeof *row, 0, .note = {note}},
        {"phases", "Computation", TABLE_COLUMNS(phase_columns), row, (size_t)n, sizeof *row, 0,
         .note = {"compute slowdown: time of computation / that of none, whose ranks do not communicate."}},
        {"communication", "Communication", TABLE_COLUMNS(communication_columns), row, (size_t)n, sizeof *row, 0,
         .note = {"exposed: without computation beside it. overlap: with it; with MPI from post to completion, so that "
                  "it is an upper bound. comm slowdown: duration of a collective in the step / alone."}},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        results_add_table(summary, &tables[i]);
}

static void add_figures(const struct compared *row, struct figure_list *list)
{
    const struct controls *c = &row->controls;
    const struct {
        const char *name, *unit;
        const struct estimate *estimate;
        enum better better;
    } figures[] = {
        {"step", "s", &c->step, BETTER_LOWER},
        {"step_to_shortest", "1", &row->to_fastest, BETTER_NONE},
        {"forward_pass", "s", &c->forward, BETTER_LOWER},
        {"backward_pass", "s", &c->backward, BETTER_LOWER},
        {"exposed", "s", &c->exposed_of_rounds, BETTER_LOWER},
        {"overlap", "s", &c->overlap_of_rounds, BETTER_HIGHER},
        {"comm_slowdown", "1", &c->comm_slowdown, BETTER_LOWER},
        {"compute_slowdown", "1", &c->compute_slowdown, BETTER_LOWER},
        {"memory_peak_of_blocks", "B", &c->peak_bytes, BETTER_LOWER},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        figures_add_estimate(list, row->label, figures[i].name, figures[i].unit, figures[i].estimate, figures[i].better,
                             i == 0);
}

void profiles_add_comparison(const struct profile *profile, int n, const struct measurements *m, cJSON *summary,
                             struct figure_list *list)
{
    struct compared *row = allocate((size_t)n + 1, sizeof *row);
    int fastest = find_fastest(profile, n, m, row);
    for (int i = 0; i < n; i++) {
        const struct profile *p = &profile[i];
        struct paired alone = compare(p, &profile[fastest], m);
        row[i] =
            (struct compared){p->facts.label, row[i].against,
                              stats_of_paired(row[i].against.paired.n ? &row[i].against.paired : &alone), p->controls};
    }
    if (m->rounds && n > 1)
        add_verdict(profile, row, n, fastest, summary);
    for (int i = 0; i < n; i++) {
        const struct profile *p = &profile[i];
        results_add_sentence(summary, "answers", "%s: %s", p->facts.label, p->overlap.text);
        for (int f = 0; f < p->findings.n; f++) {
            const struct finding *finding = &p->findings.finding[f];
            if (finding->level != LEVEL_NOTE)
                results_add_sentence(summary, "answers", "%s (%s): %s.", finding->name, level_name[finding->level],
                                     finding->text);
        }
        if (m->rounds)
            add_figures(&row[i], list);
    }
    if (m->rounds)
        add_tables(row, n, m->rounds, profile->facts.block_steps, row[fastest].label, summary);
    else if (!m->capacity)
        results_add_sentence(summary, "answers",
                             "Their steps are not compared: that takes --rounds of 1 or more, with their controls.");
    results_add_sentence(summary, "answers",
                         "Each has a summary of its own with all tables and what to try: "
                         "<implementation>/<implementation>_summary.txt.");
    free(row);
}
