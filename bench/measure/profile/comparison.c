/* comparison.c - compares the profiles of several implementations in one run. */
#include "base/table.h"
#include "base/text.h"
#include "profile/summary.h"

#include <stdio.h>

/* Compares the step of each profile with the shortest step (of those that may be the best, if any may), adds the
 * verdict, and sets step_to_shortest of every profile. Returns the label of the profile with the shortest step. */
static const char *compare_steps(struct profile *profile, int n, const struct measurements *m, double round_seconds,
                                 cJSON *summary)
{
    const double *step[MAX_IMPLEMENTATIONS] = {0};
    struct against_best against[MAX_IMPLEMENTATIONS];
    struct verdict_item other[MAX_IMPLEMENTATIONS];
    int of[MAX_IMPLEMENTATIONS] = {0}, candidates = 0, reduce = 0;
    for (int i = 0; i < n; i++)
        reduce += implementation_is_compared(profile[i].facts.row);
    for (int i = 0; i < n; i++)
        if (implementation_is_compared(profile[i].facts.row) || !reduce) {
            step[candidates] = measurements_of(m, profile[i].row, FIGURE_STEP);
            of[candidates++] = i;
        }
    int best = best_of(step, candidates, m->rounds, 0, against);
    const struct profile *shortest = &profile[of[best]];
    struct verdict verdict = implementations_verdict(shortest->facts.row, round_seconds);
    verdict.ranks = shortest->facts.ranks;
    verdict.candidates = reduce;
    verdict.step = shortest->controls.step;
    verdict.within = VERDICT_WITHIN;
    verdict.busy = shortest->facts.busy;
    verdict.option = "--rounds";
    verdict.item = other;
    for (struct profile *p = profile; p < profile + n; p++)
        p->step_to_shortest = stats_ratios(measurements_of(m, p->row, FIGURE_STEP), step[best], m->rounds, 0);
    for (int j = 0; j < candidates && m->rounds; j++) {
        struct profile *p = &profile[of[j]];
        p->step_to_shortest = against[j].ratio;
        if (j != best)
            other[verdict.n++] = (struct verdict_item){p->facts.label, against[j]};
    }
    if (m->rounds && n > 1)
        verdict_add(&verdict, "answers", summary);
    return shortest->facts.label;
}

#define FIELD(field) offsetof(struct profile, field)

/* Each estimate becomes a figure, and two columns of one of these tables: the median and the interval. */
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
    {STEPS, "step_to_shortest", "step /\nshortest", "1", FIELD(step_to_shortest), 1, 3, BETTER_NONE},
    {STEPS, "memory_peak_of_blocks", "peak\nMiB", "B", FIELD(controls.peak_bytes), 1.0 / 1048576, 1, BETTER_LOWER},
    {COMPUTATION, "forward_pass", "forward\nms", "s", FIELD(controls.forward), 1e3, 3, BETTER_LOWER},
    {COMPUTATION, "backward_pass", "backward\nms", "s", FIELD(controls.backward), 1e3, 3, BETTER_LOWER},
    {COMPUTATION, "compute_slowdown", "compute\nslowdown", "1", FIELD(controls.compute_slowdown), 1, 3, BETTER_LOWER},
    {COMMUNICATION, "exposed", "exposed\nms", "s", FIELD(controls.exposed_of_rounds), 1e3, 3, BETTER_LOWER},
    {COMMUNICATION, "overlap", "overlap\nms", "s", FIELD(controls.overlap_of_rounds), 1e3, 3, BETTER_HIGHER},
    {COMMUNICATION, "comm_slowdown", "comm\nslowdown", "1", FIELD(controls.comm_slowdown), 1, 3, BETTER_LOWER},
};
enum { ESTIMATES = sizeof estimates / sizeof *estimates };

/* Adds one table: its columns are the `estimates` that name this table. */
static void add_table(cJSON *summary, int table, const char *key, const char *title, const struct profile *profile,
                      int n, const char *note)
{
    struct column column[1 + 2 * ESTIMATES] = {
        {"implementation", "implementation", COLUMN_NAME, FIELD(facts.label), NULL, 0, -18, 0}};
    size_t columns = 1;
    for (int i = 0; i < ESTIMATES; i++) {
        if (estimates[i].table != table)
            continue;
        const char *name = estimates[i].name, *unit = estimates[i].unit;
        size_t median = estimates[i].offset + offsetof(struct estimate, median);
        size_t ends = estimates[i].offset + COLUMN_ENDS(struct estimate, ci_low, ci_high);
        double scale = estimates[i].scale;
        column[columns++] =
            (struct column){name, estimates[i].heading, COLUMN_REAL, median, unit, scale, 10, estimates[i].decimals};
        column[columns++] =
            (struct column){name, "95 %\ninterval", COLUMN_INTERVAL, ends, unit, scale, -20, estimates[i].decimals};
    }
    results_add_table(
        summary, &(struct table){key, title, column, columns, profile, (size_t)n, sizeof *profile, 0, .note = {note}});
}

static void add_tables(const struct profile *profile, int n, size_t rounds, const char *shortest, cJSON *summary)
{
    char title[160], note[512];
    size_t steps = profile->facts.block_steps;
    snprintf(title, sizeof title, "Implementations, interleaved in %zu round%s of %zu timed step%s, traced", rounds,
             text_plural(rounds), steps, text_plural(steps));
    snprintf(note, sizeof note,
             "Geometric means over the rounds. step / shortest: the step / the step of %s in the same round; the "
             "intervals of all implementations that reduce hold simultaneously. peak: memory in use during the "
             "implementation's blocks, median, on the rank with the most, without what only other implementations use.",
             shortest);
    add_table(summary, STEPS, "implementations", title, profile, n, note);
    add_table(summary, COMPUTATION, "phases", "Computation", profile, n,
              "compute slowdown: time of computation / its time in `none`, where ranks do not communicate.");
    add_table(summary, COMMUNICATION, "communication", "Communication", profile, n,
              "Medians; comm slowdown: geometric mean. exposed: time without concurrent computation. overlap: time "
              "with it (with MPI an upper bound, since collectives count from post to completion). comm slowdown: "
              "duration of a collective in the step / alone.");
}

void profiles_add_comparison(struct profile *profile, int n, const struct measurements *m, double round_seconds,
                             cJSON *summary, struct figure_list *list)
{
    const char *shortest = compare_steps(profile, n, m, round_seconds, summary);
    for (const struct profile *p = profile; p < profile + n; p++) {
        results_add_sentence(summary, "answers", "%s: %s", p->facts.label, p->overlap);
        for (const struct finding *f = p->finding; f < p->finding + p->findings; f++)
            if (f->level != LEVEL_NOTE)
                results_add_sentence(summary, "answers", "%s (%s): %s.", f->name, level_name[f->level], f->text);
        for (int e = 0; e < ESTIMATES && m->rounds; e++)
            figures_add_estimate(list, p->facts.label, estimates[e].name, estimates[e].unit,
                                 (const struct estimate *)((const char *)p + estimates[e].offset), estimates[e].better,
                                 e == 0);
    }
    if (m->rounds)
        add_tables(profile, n, m->rounds, shortest, summary);
    else if (!m->capacity)
        results_add_sentence(summary, "answers", "The steps are not compared: use --rounds 1 or more.");
    results_add_sentence(summary, "answers",
                         "The summary of each implementation has all tables and advice: "
                         "<implementation>/<implementation>_summary.txt.");
}
