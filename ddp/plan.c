/* plan.c - cuts the gradient arena into buckets, each of which is all-reduced as a whole. */
#include "ddp/plan.h"

#include "kernels/error.h"

#include <stdlib.h>

void plan_create(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes)
{
    *plan = (struct plan){0, allocate((size_t)tensors, sizeof *plan->bucket)};
    struct bucket *bucket = NULL;
    for (int i = tensors - 1; i >= 0; i--) {
        size_t end = tensor[i].offset + tensor[i].count;
        if (!bucket || (end - bucket->offset) * sizeof(float) > max_bytes) {
            bucket = &plan->bucket[plan->n++];
            bucket->offset = tensor[i].offset;
        }
        bucket->count = end - bucket->offset;
        bucket->last_tensor = i;
        bucket->tensors++;
    }
}

void plan_per_tensor(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes)
{
    (void)max_bytes;
    plan_create(plan, tensor, tensors, 0);
}

void plan_whole(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes)
{
    (void)max_bytes;
    plan_create(plan, tensor, tensors, SIZE_MAX);
}

void plan_destroy(struct plan *plan)
{
    free(plan->bucket);
    *plan = (struct plan){0};
}

size_t bucket_parameters(const struct tensor *tensor, const struct bucket *bucket)
{
    size_t n = 0;
    for (int t = bucket->last_tensor; t < bucket->last_tensor + bucket->tensors; t++)
        n += tensor[t].count;
    return n;
}
