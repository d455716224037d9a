/* plan.c - cuts the gradient arena into buckets, each of which is reduced as a whole. */
#include "ddp/plan.h"

#include "kernels/error.h"

#include <stdlib.h>

static void plan_cut(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes, int matrices)
{
    *plan = (struct plan){0, allocate((size_t)tensors, sizeof *plan->bucket)};
    struct bucket *bucket = NULL;
    for (int i = tensors - 1; i >= 0; i--) {
        int whole = i - (matrices && tensor[i].joined > 1 ? tensor[i].joined - 1 : 0); /* last tensor of the matrix */
        size_t end = tensor[i].offset + tensor[i].count, whole_end = tensor[whole].offset + tensor[whole].count;
        int may_cut = !matrices || tensor[i].joined;
        if (!bucket || (may_cut && (whole_end - bucket->offset) * sizeof(float) > max_bytes)) {
            bucket = &plan->bucket[plan->n++];
            bucket->offset = tensor[i].offset;
        }
        bucket->count = end - bucket->offset;
        bucket->last_tensor = i;
        bucket->tensors++;
    }
}

void plan_create(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes)
{
    plan_cut(plan, tensor, tensors, max_bytes, 0);
}

void plan_matrices(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes)
{
    plan_cut(plan, tensor, tensors, max_bytes, 1);
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
