/* comparison.c - profiles of several implementations in one run, side by side. */
#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"
#include "profile/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct compared {
    const char *label;
    struct estimate step, to_fastest, forward, backward, exposed, overlap, comm_slowdown, compute_slowdown, peak;
};

static struct paired compare(const struct profile *a, const struct profile *b, const struct measurements *m)
{
    return stats_paired(measurements_of(m, a->row, FIGURE_STEP), measurements_of(m, b->row, FIGURE_STEP), m->rounds,
                        0.95);
}

/* The one with the shortest step among those that reduce, or among all if none does: by the ratios that are shown, so
 * that these do not contradict it. */
static const struct profile *find_fastest(const struct profile *profile, int n, const struct measurements *m)
{
    const struct profile *fastest = NULL;
    int reduce = 0;
    for (const struct profile *p = profile; p < profile + n; p++)
        reduce |= p->facts.strategy->reduces;
    for (const struct profile *p = profile; p < profile + n; p++)
        if ((p->facts.strategy->reduces || !reduce) && (!fastest || compare(p, fastest, m).ratio < 1))
            fastest = p;
    return fastest;
}

/* adjusted[n]: the level at which each step differs from the shortest, by Holm's correction over all pairs of those
 * that reduce; 1 for the others. */
static void adjust(const struct profile *profile, int n, const struct profile *fastest, const struct measurements *m,
                   double *adjusted)
{
    double *p = allocate((size_t)n * (size_t)n + 1, sizeof *p);
    size_t pairs = 0, *of = allocate((size_t)n + 1, sizeof *of); /* the pair with the fastest, from 1 */
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++) {
            if (!profile[a].facts.strategy->reduces || !profile[b].facts.strategy->reduces)
                continue;
            p[pairs++] = compare(&profile[a], &profile[b], m).p;
            if (&profile[a] == fastest || &profile[b] == fastest)
                of[&profile[a] == fastest ? b : a] = pairs;
        }
    stats_holm(p, pairs);
    for (int i = 0; i < n; i++)
        adjusted[i] = of[i] ? p[of[i] - 1] : 1;
    free(p);
    free(of);
}

/* Which of the others that reduce take significantly longer, or not, each with how much; "" where none does. */
static void list_others(const struct compared *row, const struct profile *profile, int n, const struct profile *fastest,
                        const double *adjusted, int slower, char text[2048])
{
    size_t at = 0;
    *text = 0;
    for (int i = 0; i < n && at < 2048; i++) {
        const struct estimate *ratio = &row[i].to_fastest;
        int is_slower = adjusted[i] < 0.05 && ratio->median > 1;
        if (&profile[i] == fastest || !profile[i].facts.strategy->reduces || is_slower != slower)
            continue;
        at += (size_t)snprintf(text + at, 2048 - at, "%s%s %+.1f %%", at ? ", " : "", row[i].label,
                               100 * (ratio->median - 1));
        if (isfinite(ratio->ci_low) && at < 2048)
            at += (size_t)snprintf(text + at, 2048 - at, " [%+.1f, %+.1f]", 100 * (ratio->ci_low - 1),
                                   100 * (ratio->ci_high - 1));
    }
}

static void add_answer(const struct compared *row, const struct profile *profile, int n, const struct profile *fastest,
                       const struct measurements *m, cJSON *summary)
{
    char slower[2048], open[2048];
    double *adjusted = allocate((size_t)n + 1, sizeof *adjusted);
    adjust(profile, n, fastest, m, adjusted);
    list_others(row, profile, n, fastest, adjusted, 1, slower);
    list_others(row, profile, n, fastest, adjusted, 0, open);
    free(adjusted);
    results_add_line(summary, "answers", "\nShortest step: %s, %.3f ms in the median of %zu round%s.",
                     fastest->facts.label, 1e3 * fastest->controls.step.median, m->rounds, text_plural(m->rounds));
    if (*slower)
        results_add_line(summary, "answers", "Slower: %s.", slower);
    if (*open)
        results_add_line(summary, "answers", "Not significantly different%s: %s.",
                         m->rounds < 2 ? " (too few rounds to tell)" : "", open);
    if (*slower || *open)
        results_add_line(summary, "answers",
                         "(geometric mean of the ratios of each round with 95 %% interval; slower: significant at the "
                         "5 %% level, by Holm's correction over all pairs)");
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
    LABEL, ESTIMATE("step", "step\nms", FIELD(step), "s", 1e3, 3),
    ESTIMATE("to_fastest", "step /\nshortest", FIELD(to_fastest), "1", 1, 3),
    ESTIMATE("memory_peak_of_blocks", "peak\nMiB", FIELD(peak), "B", 1.0 / 1048576, 1),
};
static const struct column phase_columns[] = {
    LABEL, ESTIMATE("forward_pass", "forward\nms", FIELD(forward), "s", 1e3, 3),
    ESTIMATE("backward_pass", "backward\nms", FIELD(backward), "s", 1e3, 3),
    ESTIMATE("compute_slowdown", "compute\nslowdown", FIELD(compute_slowdown), "1", 1, 3),
};
static const struct column communication_columns[] = {
    LABEL, ESTIMATE("exposed", "exposed\nms", FIELD(exposed), "s", 1e3, 3),
    ESTIMATE("overlap", "overlap\nms", FIELD(overlap), "s", 1e3, 3),
    ESTIMATE("comm_slowdown", "comm\nslowdown", FIELD(comm_slowdown), "1", 1, 3),
};
/* clang-format on */

static void add_tables(const struct compared *row, int n, size_t rounds, size_t steps, const char *fastest,
                       cJSON *summary)
{
    char title[160], note[512];
    snprintf(title, sizeof title, "Implementations, interleaved in %zu round%s of %zu timed step%s, traced", rounds,
             text_plural(rounds), steps, text_plural(steps));
    snprintf(note, sizeof note,
             "step / shortest: geometric mean over the rounds of the step time over that of %s in the same round.\n"
             "peak: of memory in its blocks, on the rank where it is largest, without what only other implementations "
             "use.\n",
             fastest);
    const struct table tables[] = {
        {"implementations", title, TABLE_COLUMNS(step_columns), row, (size_t)n, sizeof *row, 0, .note = note},
        {"phases", "Computation", TABLE_COLUMNS(phase_columns), row, (size_t)n, sizeof *row, 0,
         .note = "compute slowdown: time of computation / that of none, whose ranks do not communicate.\n"},
        {"communication", "Communication", TABLE_COLUMNS(communication_columns), row, (size_t)n, sizeof *row, 0,
         .note = "exposed: without computation beside it. overlap: with it; with MPI from post to completion, so that "
                 "it is an upper\nbound. comm slowdown: duration of a collective in the step / alone.\n"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        results_add_table(summary, &tables[i]);
}

static void add_figures(const struct compared *row, struct figure_list *list)
{
    const struct {
        const char *name, *unit;
        const struct estimate *estimate;
        enum better better;
    } figures[] = {
        {"step", "s", &row->step, BETTER_LOWER},
        {"step_to_shortest", "1", &row->to_fastest, BETTER_NONE},
        {"forward_pass", "s", &row->forward, BETTER_LOWER},
        {"backward_pass", "s", &row->backward, BETTER_LOWER},
        {"exposed", "s", &row->exposed, BETTER_LOWER},
        {"overlap", "s", &row->overlap, BETTER_HIGHER},
        {"comm_slowdown", "1", &row->comm_slowdown, BETTER_LOWER},
        {"compute_slowdown", "1", &row->compute_slowdown, BETTER_LOWER},
        {"memory_peak_of_blocks", "B", &row->peak, BETTER_LOWER},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        figures_add_estimate(list, row->label, figures[i].name, figures[i].unit, figures[i].estimate, figures[i].better,
                             i == 0);
}

void profiles_add_comparison(const struct profile *profile, int n, const struct measurements *m, cJSON *summary,
                             struct figure_list *list)
{
    const struct profile *fastest = find_fastest(profile, n, m);
    struct compared *row = allocate((size_t)n + 1, sizeof *row);
    for (int i = 0; i < n; i++) {
        const struct profile *p = &profile[i];
        const struct controls *c = &p->controls;
        struct paired paired = compare(p, fastest, m);
        row[i] = (struct compared){
            .label = p->facts.label,
            .step = c->step,
            .to_fastest = stats_of_paired(&paired),
            .forward = c->forward,
            .backward = c->backward,
            .exposed = c->exposed_of_rounds,
            .overlap = c->overlap_of_rounds,
            .comm_slowdown = c->comm_slowdown,
            .compute_slowdown = c->compute_slowdown,
            .peak = c->peak_bytes,
        };
    }
    if (m->rounds && n > 1)
        add_answer(row, profile, n, fastest, m, summary);
    for (int i = 0; i < n; i++) {
        const struct profile *p = &profile[i];
        results_add_line(summary, "answers", "%s%s: %s", i ? "" : "\n", p->facts.label, p->findings.verdict);
        for (int f = 0; f < p->findings.n; f++) {
            const struct finding *finding = &p->findings.finding[f];
            if (finding->level != LEVEL_NOTE)
                results_add_line(summary, "answers", "  %s (%s): %s.", finding->name, level_name[finding->level],
                                 finding->text);
        }
        if (m->rounds)
            add_figures(&row[i], list);
    }
    if (m->rounds)
        add_tables(row, n, m->rounds, profile->facts.block_steps, fastest->facts.label, summary);
    else if (!m->capacity)
        results_add_line(summary, "answers",
                         "Their steps are not compared: that takes --rounds of 1 or more, with their controls.");
    results_add_line(summary, "answers",
                     "Each has a summary of its own with all tables and what to try: "
                     "<implementation>/<implementation>_summary.txt.");
    free(row);
}
