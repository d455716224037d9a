/* plan.c - cuts the gradient arena into the slices that are all-reduced together. */
#include "ddp/plan.h"

#include "kernels/error.h"

#include <stdlib.h>

void plan_create(struct plan *plan, const struct tensor *tensor, int tensors, size_t max_bytes)
{
    *plan = (struct plan){0, allocate((size_t)tensors, sizeof *plan->slice)};
    struct slice *slice = NULL;
    for (int i = tensors - 1; i >= 0; i--) {
        size_t end = tensor[i].offset + tensor[i].count;
        if (!slice || (end - slice->offset) * sizeof(float) > max_bytes) {
            slice = &plan->slice[plan->n++];
            slice->offset = tensor[i].offset;
        }
        slice->count = end - slice->offset;
        slice->last_tensor = i;
        slice->tensors++;
    }
}

void plan_destroy(struct plan *plan)
{
    free(plan->slice);
    *plan = (struct plan){0};
}

size_t slice_parameters(const struct tensor *tensor, const struct slice *slice)
{
    size_t n = 0;
    for (int t = slice->last_tensor; t < slice->last_tensor + slice->tensors; t++)
        n += tensor[t].count;
    return n;
}
