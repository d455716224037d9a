/* comparison.c - profiles of several implementations in one run, side by side. */
#include "base/best.h"
#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"
#include "profile/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct compared {
    const char *label;
    struct against_best against; /* n is 0 where this one is no candidate for the fastest */
    struct estimate to_fastest;
    struct controls controls;
};

/* Finds the profile with the shortest step among those that reduce, or among all if none does, and how the others of
 * these compare with it. Returns its index. */
static int find_fastest(const struct profile *profile, int n, const struct measurements *m, struct compared *row)
{
    const double *step[MAX_IMPLEMENTATIONS] = {0};
    struct against_best against[MAX_IMPLEMENTATIONS];
    int of[MAX_IMPLEMENTATIONS] = {0}, candidates = 0, reduce = 0;
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

#define FIELD(field) offsetof(struct compared, field)

/* Every estimate is a figure, and in a table a column with its interval. */
enum { STEPS, COMPUTATION, COMMUNICATION, TABLES };
static const struct {
    int table;
    const char *name, *heading, *unit;
    size_t offset;
    double scale;
    int decimals;
    enum better better;
} estimates[] = {
    {STEPS, "step", "step\nms", "s", FIELD(controls.step), 1e3, 3, BETTER_LOWER},
    {STEPS, "step_to_shortest", "step /\nshortest", "1", FIELD(to_fastest), 1, 3, BETTER_NONE},
    {STEPS, "memory_peak_of_blocks", "peak\nMiB", "B", FIELD(controls.peak_bytes), 1.0 / 1048576, 1, BETTER_LOWER},
    {COMPUTATION, "forward_pass", "forward\nms", "s", FIELD(controls.forward), 1e3, 3, BETTER_LOWER},
    {COMPUTATION, "backward_pass", "backward\nms", "s", FIELD(controls.backward), 1e3, 3, BETTER_LOWER},
    {COMPUTATION, "compute_slowdown", "compute\nslowdown", "1", FIELD(controls.compute_slowdown), 1, 3, BETTER_LOWER},
    {COMMUNICATION, "exposed", "exposed\nms", "s", FIELD(controls.exposed_of_rounds), 1e3, 3, BETTER_LOWER},
    {COMMUNICATION, "overlap", "overlap\nms", "s", FIELD(controls.overlap_of_rounds), 1e3, 3, BETTER_HIGHER},
    {COMMUNICATION, "comm_slowdown", "comm\nslowdown", "1", FIELD(controls.comm_slowdown), 1, 3, BETTER_LOWER},
};
enum { ESTIMATES = sizeof estimates / sizeof *estimates };

static void add_table(cJSON *summary, int table, const char *key, const char *title, const struct compared *row, int n,
                      const char *note)
{
    struct column column[1 + 2 * ESTIMATES] = {
        {"implementation", "implementation", COLUMN_NAME, FIELD(label), NULL, 0, -18, 0}};
    size_t columns = 1;
    for (int i = 0; i < ESTIMATES; i++) {
        if (estimates[i].table != table)
            continue;
        struct column value = {estimates[i].name, estimates[i].heading, COLUMN_REAL, estimates[i].offset,
                               estimates[i].unit, estimates[i].scale,   10,          estimates[i].decimals};
        column[columns] = column[columns + 1] = value;
        column[columns].offset += offsetof(struct estimate, median);
        column[++columns].offset += COLUMN_ENDS(struct estimate, ci_low, ci_high);
        column[columns].heading = "95 %\ninterval";
        column[columns].kind = COLUMN_INTERVAL;
        column[columns++].width = -20;
    }
    results_add_table(summary,
                      &(struct table){key, title, column, columns, row, (size_t)n, sizeof *row, 0, .note = {note}});
}

static void add_tables(const struct compared *row, int n, size_t rounds, size_t steps, const char *fastest,
                       cJSON *summary)
{
    char title[160], note[512];
    snprintf(title, sizeof title, "Implementations, interleaved in %zu round%s of %zu timed step%s, traced", rounds,
             text_plural(rounds), steps, text_plural(steps));
    snprintf(note, sizeof note,
             "step / shortest: geometric mean over the rounds of the step time over that of %s in the same round; the "
             "intervals of all that reduce hold together. peak: memory in use during its blocks, on the rank where it "
             "is largest, without what only other implementations use.",
             fastest);
    add_table(summary, STEPS, "implementations", title, row, n, note);
    add_table(summary, COMPUTATION, "phases", "Computation", row, n,
              "compute slowdown: time of computation / that of none, whose ranks do not communicate.");
    add_table(summary, COMMUNICATION, "communication", "Communication", row, n,
              "exposed: without concurrent computation. overlap: with it; an upper bound with MPI, where it is counted "
              "from post to completion. comm slowdown: duration of a collective in the step / alone.");
}

void profiles_add_comparison(const struct profile *profile, int n, const struct measurements *m, cJSON *summary,
                             struct figure_list *list)
{
    struct compared *row = allocate((size_t)n + 1, sizeof *row);
    int fastest = find_fastest(profile, n, m, row);
    for (int i = 0; i < n; i++) {
        const struct profile *p = &profile[i];
        struct paired alone = stats_paired(measurements_of(m, p->row, FIGURE_STEP),
                                           measurements_of(m, profile[fastest].row, FIGURE_STEP), m->rounds, 0.95);
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
        for (int e = 0; e < ESTIMATES && m->rounds; e++)
            figures_add_estimate(list, row[i].label, estimates[e].name, estimates[e].unit,
                                 (const struct estimate *)((const char *)&row[i] + estimates[e].offset),
                                 estimates[e].better, e == 0);
    }
    if (m->rounds)
        add_tables(row, n, m->rounds, profile->facts.block_steps, row[fastest].label, summary);
    else if (!m->capacity)
        results_add_sentence(summary, "answers", "Their steps are not compared: use --rounds 1 or more.");
    results_add_sentence(summary, "answers",
                         "All tables and what to try are in the summary of each: "
                         "<implementation>/<implementation>_summary.txt.");
    free(row);
}
