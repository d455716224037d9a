/* losses.c - do the strategies train the same model? */
#include "training/training.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void losses_create(struct losses *l, int steps, int judged, int ranks)
{
    size_t n = (size_t)steps;
    *l = (struct losses){.steps = steps, .judged = judged, .difference = NAN};
    l->mean = allocate(n, sizeof *l->mean);
    l->expected = allocate(n, sizeof *l->expected);
    l->gathered = allocate(n * (size_t)ranks, sizeof *l->gathered);
}

void losses_destroy(struct losses *l)
{
    free(l->mean);
    free(l->expected);
    free(l->gathered);
    *l = (struct losses){0};
}

void losses_add(struct losses *l, const struct job *job, const double *mine, int must_agree)
{
    size_t bytes = (size_t)l->steps * sizeof *mine;
    job_gather(job, mine, bytes, l->gathered);
    for (int i = 0; i < l->steps; i++) {
        l->mean[i] = 0;
        for (int r = 0; r < job->size; r++)
            l->mean[i] += l->gathered[r * l->steps + i] / job->size;
        l->not_a_number |= !isfinite(l->mean[i]);
    }
    if (!must_agree)
        return;
    if (!l->have_expected) {
        memcpy(l->expected, l->mean, bytes);
        l->have_expected = 1;
        return;
    }
    for (int i = 0; i < l->steps; i++) {
        double difference = fabs(l->mean[i] - l->expected[i]) / fabs(l->expected[i]);
        if (!isfinite(l->mean[i]) || !isfinite(l->expected[i])) /* training may diverge, but then everywhere */
            difference = isfinite(l->mean[i]) == isfinite(l->expected[i]) ? 0 : INFINITY;
        l->difference = fmax(l->difference, difference);
        if (i == l->judged)
            l->wrong = fmax(l->wrong, difference);
    }
}

int losses_are_wrong(const struct losses *l)
{
    return l->wrong > 1e-3;
}
