/* plan.c - cuts the gradient arena into buckets, each of which is reduced as a whole. */
#include "ddp/plan.h"

#include "kernels/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int bucket_caps_parse(struct bucket_caps *caps, const char *words)
{
    const double low = 1e-5, high = 1e6;
    struct bucket_caps parsed = {.last = 0};
    int n = 0;
    if (!strcmp(words, "block")) {
        *caps = (struct bucket_caps){.cap = {SIZE_MAX}, .blocks = 1};
        return 0;
    }
    for (const char *at = words;; at++) {
        int is_last = n && !strncmp(at, "last", 4);
        char *end;
        at += 4 * is_last;
        double mb = strtod(at, &end);
        int is_plain = end == at + strspn(at, "0123456789.eE-"); /* strtod also accepts 0x10, nan, " 1", +1 and 1e+1 */
        if (!is_plain || !(mb >= low && mb <= high) || (*end && (*end != '+' || is_last)) ||
            (!is_last && n == BUCKET_CAPS))
            return -1;
        *(is_last ? &parsed.last : &parsed.cap[n++]) = (size_t)(mb * 1048576);
        if (!*end)
            break;
        at = end;
    }
    while (n > 1 && parsed.cap[n - 1] == parsed.cap[n - 2]) /* the cap before it holds anyway */
        parsed.cap[--n] = 0;
    *caps = parsed;
    return 0;
}

size_t bucket_cap(const struct bucket_caps *caps, int bucket)
{
    int i = bucket < BUCKET_CAPS ? bucket : BUCKET_CAPS - 1;
    while (i > 0 && !caps->cap[i])
        i--;
    return caps->cap[i];
}

/* Returns the tensor with which the last bucket begins in the arena; -1 if that bucket has no cap of its own. */
static int start_of_last(const struct tensor *tensor, int tensors, size_t last_bytes, int matrices)
{
    size_t bytes = 0;
    int start = -1;
    for (int i = 0; last_bytes && i < tensors; i++) {
        bytes += tensor[i].count * sizeof(float);
        if ((!matrices || tensor[i].joined) && (start < 0 || bytes <= last_bytes))
            start = i;
    }
    return start;
}

static void plan_cut(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps,
                     int matrices)
{
    *plan = (struct plan){0, allocate((size_t)tensors, sizeof *plan->bucket)};
    struct bucket *bucket = NULL;
    size_t bytes = 0; /* of the bucket's tensors, without gaps */
    int last = start_of_last(tensor, tensors, caps->last, matrices);
    for (int i = tensors - 1; i >= 0; i--) {
        int may_cut = i > last && (!matrices || tensor[i].joined);
        int is_full = bucket && (bytes >= bucket_cap(caps, plan->n - 1) ||
                                 (caps->blocks && tensor[i].layer != tensor[i + 1].layer));
        if (!bucket || i == last || (may_cut && is_full)) {
            bucket = &plan->bucket[plan->n++];
            bucket->offset = tensor[i].offset;
            bytes = 0;
        }
        bytes += tensor[i].count * sizeof(float);
        bucket->count = tensor[i].offset + tensor[i].count - bucket->offset;
        bucket->last_tensor = i;
        bucket->tensors++;
    }
}

void plan_create(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps)
{
    plan_cut(plan, tensor, tensors, caps, 0);
}

void plan_matrices(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps)
{
    plan_cut(plan, tensor, tensors, caps, 1);
}

void plan_per_tensor(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps)
{
    (void)caps;
    plan_create(plan, tensor, tensors, &(struct bucket_caps){.cap = {0}});
}

void plan_whole(struct plan *plan, const struct tensor *tensor, int tensors, const struct bucket_caps *caps)
{
    (void)caps;
    plan_create(plan, tensor, tensors, &(struct bucket_caps){.cap = {SIZE_MAX}});
}

void plan_destroy(struct plan *plan)
{
    free(plan->bucket);
    *plan = (struct plan){0};
}

size_t plan_end(const struct plan *plan, int i, size_t arena)
{
    return i + 1 < plan->n ? plan->bucket[i + 1].offset : arena;
}

size_t plan_largest(const struct plan *plan, size_t arena)
{
    size_t most = 0;
    for (int i = 0; i < plan->n; i++) {
        size_t floats = plan_end(plan, i, arena) - plan->bucket[i].offset;
        most = floats > most ? floats : most;
    }
    return most;
}

size_t bucket_parameters(const struct tensor *tensor, const struct bucket *bucket)
{
    size_t n = 0;
    for (int t = bucket->last_tensor; t < bucket->last_tensor + bucket->tensors; t++)
        n += tensor[t].count;
    return n;
}
