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

/* The one with the shortest median step among those that reduce, or among all if none does. */
static const struct profile *find_fastest(const struct profile *profile, int n)
{
    const struct profile *fastest = NULL;
    for (const struct profile *p = profile; p < profile + n; p++)
        if ((!fastest || p->controls.step.median < fastest->controls.step.median) && p->facts.strategy->reduces)
            fastest = p;
    return fastest ? fastest : profile;
}

/* Which of those that reduce take longer, each with how much; "" where none does. */
static void list_slower(const struct compared *row, const struct profile *profile, int n, int slower, char text[1024])
{
    size_t at = 0;
    *text = 0;
    for (int i = 0; i < n && at < 1024; i++) {
        const struct estimate *ratio = &row[i].to_fastest;
        int is_slower = ratio->ci_low > 1;
        if (profile[i].facts.strategy->reduces && ratio->median != 1 && is_slower == slower)
            at += (size_t)snprintf(text + at, 1024 - at, "%s%s %+.1f %%", at ? ", " : "", row[i].label,
                                   100 * (ratio->median - 1));
    }
}

static void add_answer(const struct compared *row, const struct profile *profile, int n, const struct profile *fastest,
                       cJSON *summary)
{
    char slower[1024], open[1024];
    list_slower(row, profile, n, 1, slower);
    list_slower(row, profile, n, 0, open);
    results_add_line(summary, "answers", "\nShortest step: %s, %.3f ms.%s%s%s%s%s%s", fastest->facts.label,
                     1e3 * fastest->controls.step.median, *slower ? " Slower: " : "", slower, *slower ? "." : "",
                     *open ? " Not significantly different: " : "", open, *open ? "." : "");
}

#define ESTIMATE(key, heading, field, unit, scale, decimals)                                                           \
    {key, heading, COLUMN_REAL, offsetof(struct compared, field.median), unit, scale, 10, decimals},                   \
    {                                                                                                                  \
        key "_95", "95 %\ninterval", COLUMN_INTERVAL, offsetof(struct compared, field.ci_low), unit, scale, -20,       \
            decimals                                                                                                   \
    }
#define LABEL                                                                                                          \
    {                                                                                                                  \
        "implementation", "implementation", COLUMN_NAME, offsetof(struct compared, label), NULL, 0, -18, 0             \
    }

/* clang-format off */
static const struct column step_columns[] = {
    LABEL, ESTIMATE("step", "step\nms", step, "s", 1e3, 3),
    ESTIMATE("to_fastest", "step /\nshortest", to_fastest, "1", 1, 3),
    ESTIMATE("memory_peak", "peak\nMiB", peak, "B", 1.0 / 1048576, 1),
};
static const struct column phase_columns[] = {
    LABEL, ESTIMATE("forward_pass", "forward\nms", forward, "s", 1e3, 3),
    ESTIMATE("backward_pass", "backward\nms", backward, "s", 1e3, 3),
    ESTIMATE("compute_slowdown", "compute\nslowdown", compute_slowdown, "1", 1, 3),
};
static const struct column communication_columns[] = {
    LABEL, ESTIMATE("exposed", "exposed\nms", exposed, "s", 1e3, 3),
    ESTIMATE("overlap", "overlap\nms", overlap, "s", 1e3, 3),
    ESTIMATE("comm_slowdown", "comm\nslowdown", comm_slowdown, "1", 1, 3),
};
/* clang-format on */

static void add_tables(const struct compared *row, int n, size_t rounds, size_t steps, const char *fastest,
                       cJSON *summary)
{
    char title[160], note[512];
    snprintf(title, sizeof title, "Implementations, interleaved in %zu round%s of %zu timed step%s, traced", rounds,
             text_plural(rounds), steps, text_plural(steps));
    snprintf(note, sizeof note,
             "step / shortest: geometric mean over the rounds of the step time over that of %s in the same round;\nnot "
             "significantly different where the interval includes 1. peak: of the rank where it is largest, without "
             "what\nonly other implementations use.\n",
             fastest);
    const struct table tables[] = {
        {"implementations", title, step_columns, sizeof step_columns / sizeof *step_columns, row, (size_t)n,
         sizeof *row, 0, note},
        {"phases", "Computation", phase_columns, sizeof phase_columns / sizeof *phase_columns, row, (size_t)n,
         sizeof *row, 0, "compute slowdown: time of computation / that of none, whose ranks do not communicate.\n"},
        {"communication", "Communication", communication_columns,
         sizeof communication_columns / sizeof *communication_columns, row, (size_t)n, sizeof *row, 0,
         "exposed: without computation beside it. overlap: with it; with MPI from post to completion, so that it is an "
         "upper\nbound. comm slowdown: duration of a collective in the step / alone.\n"},
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
        {"memory_peak", "B", &row->peak, BETTER_LOWER},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        figures_add_estimate(list, row->label, figures[i].name, figures[i].unit, figures[i].estimate, figures[i].better,
                             i == 0);
}

void profiles_add_comparison(const struct profile *profile, int n, const struct measurements *m, cJSON *summary,
                             struct figure_list *list)
{
    const struct profile *fastest = find_fastest(profile, n);
    struct compared *row = allocate((size_t)n + 1, sizeof *row);
    for (int i = 0; i < n; i++) {
        const struct profile *p = &profile[i];
        const struct controls *c = &p->controls;
        struct paired paired = stats_paired(measurements_of(m, p->row, FIGURE_STEP),
                                            measurements_of(m, fastest->row, FIGURE_STEP), m->rounds, 0.95);
        row[i] = (struct compared){
            .label = p->facts.label,
            .step = c->step,
            .to_fastest = {paired.ratio, paired.ci_low, paired.ci_high, NAN, NAN, paired.n},
            .forward = c->forward,
            .backward = c->backward,
            .exposed = c->exposed_of_rounds,
            .overlap = c->overlap_of_rounds,
            .comm_slowdown = c->comm_slowdown,
            .compute_slowdown = c->compute_slowdown,
            .peak = c->peak_bytes,
        };
    }
    if (m->rounds && fastest->facts.strategy->reduces)
        add_answer(row, profile, n, fastest, summary);
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
    results_add_line(summary, "answers",
                     "Each has a summary of its own with all tables and what to try: "
                     "<implementation>/<implementation>_summary.txt.");
    free(row);
}
