/* samples.c - the samples and losses of blocks. */
#include "training/samples.h"

#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sample_figure sample_figure(int figure)
{
    static const struct sample_figure others[] = {[FIGURE_STEP - PHASES] = {"step", "s", 1}};
    _Static_assert(sizeof others / sizeof *others == FIGURES - PHASES, "each figure has a row");
    return figure < PHASES ? (struct sample_figure){phase_name[figure], "s", 0} : others[figure - PHASES];
}

void measurements_create(struct measurements *m, int n, size_t capacity)
{
    *m = (struct measurements){n, capacity, 0, allocate((size_t)n * FIGURES * capacity, sizeof *m->value)};
}

void measurements_destroy(struct measurements *m)
{
    free(m->value);
    *m = (struct measurements){0};
}

double *measurements_of(const struct measurements *m, int implementation, int figure)
{
    return m->value + ((size_t)implementation * FIGURES + (size_t)figure) * m->capacity;
}

void measurements_keep(struct measurements *m, int implementation, size_t round, const double *of_rank, int ranks)
{
    for (int figure = 0; figure < FIGURES; figure++) {
        double sum = 0, most = 0;
        for (int r = 0; r < ranks; r++) {
            sum += of_rank[r * FIGURES + figure];
            most = fmax(most, of_rank[r * FIGURES + figure]);
        }
        measurements_of(m, implementation, figure)[round] = sample_figure(figure).of_slowest ? most : sum / ranks;
    }
}

void series_grow(double **series, size_t n, size_t *room)
{
    double *grown = allocate(2 * n * *room, sizeof *grown);
    for (size_t i = 0; i < n; i++)
        memcpy(grown + 2 * i * *room, *series + i * *room, *room * sizeof *grown);
    free(*series);
    *series = grown;
    *room *= 2;
}

/* ---- losses ---- */

void losses_create(struct losses *l, int steps, int judged)
{
    *l = (struct losses){.steps = steps, .judged = judged, .difference = NAN};
    l->mean = allocate((size_t)steps, sizeof *l->mean);
}

void losses_destroy(struct losses *l)
{
    free(l->mean);
    free(l->expected);
    *l = (struct losses){0};
}

void losses_add(struct losses *l, const struct job *job, const double *mine, int must_agree)
{
    size_t bytes = (size_t)l->steps * sizeof *mine;
    double *all = allocate((size_t)job->size, bytes);
    job_gather(job, mine, bytes, all);
    for (int i = 0; i < l->steps; i++) {
        l->mean[i] = 0;
        for (int r = 0; r < job->size; r++)
            l->mean[i] += all[r * l->steps + i] / job->size;
        l->not_a_number |= !isfinite(l->mean[i]);
    }
    free(all);
    int first = must_agree && !l->expected;
    if (first)
        l->expected = memcpy(allocate(1, bytes), l->mean, bytes);
    for (int i = 0; must_agree && !first && i < l->steps; i++) {
        double difference = fabs(l->mean[i] - l->expected[i]) / fabs(l->expected[i]);
        if (!isfinite(l->mean[i]) || !isfinite(l->expected[i])) /* a model that diverges does so in all blocks */
            difference = isfinite(l->mean[i]) == isfinite(l->expected[i]) ? 0 : INFINITY;
        l->difference = fmax(l->difference, difference);
        if (i == l->judged)
            l->wrong = fmax(l->wrong, difference);
    }
}

int losses_check(const struct losses *l, const struct job *job)
{
    int wrong = l->wrong > 1e-3; /* more than a different order of fp32 sums explains */
    if (job->rank == 0 && wrong)
        fprintf(stderr,
                "ddpbench: the losses of strategies that must agree differ by %.1e, relatively, in step %d of a block: "
                "gradients were not reduced correctly\n",
                l->wrong, l->judged);
    return wrong ? -1 : 0;
}
