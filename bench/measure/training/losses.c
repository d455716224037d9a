/* losses.c - the loss of each step of a block, and whether those of strategies that must agree do. */
#include "training/parts.h"

#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        if (!isfinite(l->mean[i]) || !isfinite(l->expected[i])) /* training may diverge, but then everywhere */
            difference = isfinite(l->mean[i]) == isfinite(l->expected[i]) ? 0 : INFINITY;
        l->difference = fmax(l->difference, difference);
        if (i == l->judged)
            l->wrong = fmax(l->wrong, difference);
    }
}

int run_check_losses(const struct run *run)
{
    const struct losses *l = &run->losses;
    int wrong = l->wrong > 1e-3; /* no order of fp32 sums explains so much */
    if (run->job->rank == 0 && l->not_a_number)
        fprintf(stderr, "ddpbench: warning: a loss was not a finite number: training diverged; use a smaller --lr\n");
    if (run->job->rank == 0 && wrong)
        fprintf(stderr,
                "ddpbench: the losses of strategies that must agree differ by %.1e, relatively, in step %d of a block: "
                "gradients were not reduced correctly\n",
                l->wrong, l->judged);
    return wrong ? -1 : 0;
}
