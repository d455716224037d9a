/* figures.c - the list of figures of timings. */
#include "allreduce/figures.h"

#include <math.h>
#include <stdio.h>

static struct figure figure_of(const struct collective *c, const char *placement, size_t bytes, size_t n)
{
    struct figure figure = {.bytes = (double)bytes, .low = NAN, .high = NAN, .n = n};
    char root[24] = "";
    if (timing_root(c) >= 0)
        snprintf(root, sizeof root, " root %d", c->root);
    snprintf(figure.subject, sizeof figure.subject, "%s %s %s %s%s", comm_kind_name[c->kind], comm_dtype_name[c->dtype],
             timing_op(c), placement, root);
    return figure;
}

static void add(struct figure_list *list, struct figure figure, const char *name, const char *unit, double value,
                enum better better, int judged)
{
    snprintf(figure.name, sizeof figure.name, "%s", name);
    snprintf(figure.unit, sizeof figure.unit, "%s", unit);
    figure.value = value;
    figure.better = better;
    figure.judged = judged;
    figures_add(list, &figure);
}

void timing_figures(struct figure_list *list, const struct collective_timing *t)
{
    const struct figure f = figure_of(&t->collective, timing_placement(t), t->bytes, t->n);
    const struct {
        const char *name;
        double seconds;
    } times[] = {
        {"time", t->time},
        {"time_min", t->iterations.min},
        {"time_mean", t->iterations.mean},
        {"time_median", t->iterations.median},
        {"time_p95", t->iterations.p95},
        {"time_p99", t->iterations.p99},
        {"time_max", t->iterations.max},
        {"cpu_time", t->cpu_time},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        add(list, f, times[i].name, "s", times[i].seconds, BETTER_LOWER, i == 0);
    add(list, f, "algbw", "B/s", t->algbw, BETTER_HIGHER, 0);
    add(list, f, "busbw", "B/s", t->busbw > 0 ? t->busbw : NAN, BETTER_HIGHER, 0);
    add(list, f, "wrong_elements", "1", t->wrong, BETTER_LOWER, 0);
}

void overlap_timing_figures(struct figure_list *list, const struct overlap_timing *o)
{
    const struct figure f = figure_of(&o->collective, "in_place", o->bytes, o->overlap.n);
    const struct {
        const char *name, *unit;
        const struct estimate *estimate;
        enum better better;
    } estimates[] = {
        {"both", "s", &o->both, BETTER_LOWER},
        {"compute", "s", &o->compute, BETTER_LOWER},
        {"comm", "s", &o->comm, BETTER_LOWER},
        {"overlap", "1", &o->overlap, BETTER_HIGHER},
        {"compute_slowdown", "1", &o->compute_slowdown, BETTER_LOWER},
        {"comm_slowdown", "1", &o->comm_slowdown, BETTER_LOWER},
    };
    for (size_t i = 0; i < sizeof estimates / sizeof *estimates; i++) {
        struct figure figure = f;
        figure.low = estimates[i].estimate->ci_low;
        figure.high = estimates[i].estimate->ci_high;
        add(list, figure, estimates[i].name, estimates[i].unit, estimates[i].estimate->median, estimates[i].better,
            i == 0);
    }
}
