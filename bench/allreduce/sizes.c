/* sizes.c - the sizes of messages: a range, a list, or those that a model's strategies send. */
#include "allreduce/options.h"

#include "ddp/plan.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At its place, once. */
static void add_size(struct sizes *sizes, size_t bytes)
{
    size_t at = sizes->n;
    while (at && sizes->bytes[at - 1] > bytes)
        at--;
    if (at && sizes->bytes[at - 1] == bytes)
        return;
    if (sizes->n % 64 == 0)
        sizes->bytes = realloc(sizes->bytes, (sizes->n + 64) * sizeof *sizes->bytes);
    if (!sizes->bytes)
        FATAL("no memory for %zu sizes", sizes->n + 64);
    memmove(sizes->bytes + at + 1, sizes->bytes + at, (sizes->n++ - at) * sizeof *sizes->bytes);
    sizes->bytes[at] = bytes;
}

static int of_range(struct sizes *sizes, const struct allreduce_options *o)
{
    enum { MOST_SIZES = 100000 };
    if (o->max_bytes < o->min_bytes)
        return error_report("--max-bytes %zu is less than --min-bytes %zu", o->max_bytes, o->min_bytes);
    for (double bytes = (double)o->min_bytes; bytes <= (double)o->max_bytes;
         bytes = o->step_bytes ? bytes + (double)o->step_bytes : fmax(bytes + 1, floor(bytes * o->step_factor))) {
        if (sizes->n == MOST_SIZES)
            return error_report("more than %d sizes from --min-bytes to --max-bytes; use a larger step", MOST_SIZES);
        add_size(sizes, (size_t)bytes);
    }
    return 0;
}

static int of_list(struct sizes *sizes, const char *text)
{
    static const struct option option = {.name = "sizes", .low = 1, .high = MESSAGE_MOST_BYTES};
    char word[32];
    size_t bytes;
    int more;
    for (const char *at = text; (more = option_next_word(&at, word, sizeof word)) > 0;) {
        if (option_bytes.parse(&option, word, &bytes))
            return -1;
        add_size(sizes, bytes);
    }
    return more < 0 || !sizes->n ? error_report("--sizes '%.200s': expected a list such as 8,64K,25M", text) : 0;
}

static int of_workload(struct sizes *sizes, struct workload *workload)
{
    struct implementation implementation[MAX_IMPLEMENTATIONS];
    int n = implementations_make(implementation, &workload->strategies, &workload->bucket_sizes);
    if (n < 0 || workload_check(workload, "synthetic"))
        return -1;
    struct model_sizes of_model = workload_sizes(workload, 1);
    struct model model;
    model_plan(&model, &of_model, sizeof(float));
    for (int i = 0; i < n; i++) {
        const struct strategy *strategy = implementation[i].strategy;
        enum comm_dtype dtype = strategy->stages ? workload->grad_dtype : COMM_FLOAT32;
        struct plan plan;
        if (!strategy->reduces)
            continue;
        strategy->plan(&plan, model.tensor, model.tensors, implementation[i].bucket_bytes);
        for (int bucket = 0; bucket < plan.n; bucket++)
            add_size(sizes, plan.bucket[bucket].count * comm_dtype_bytes(dtype));
        plan_destroy(&plan);
    }
    model_destroy(&model);
    return sizes->n ? 0 : error_report("--sizes-from-model: none of the --implementations sends anything");
}

int allreduce_sizes(struct sizes *sizes, struct allreduce_options *o)
{
    if (o->sizes_from_model)
        return of_workload(sizes, &o->workload);
    return *o->sizes ? of_list(sizes, o->sizes) : of_range(sizes, o);
}
