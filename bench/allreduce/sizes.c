/* sizes.c - the sizes of a sweep: a range, a list, or those that a model's strategies send. */
#include "allreduce/sizes.h"

#include "ddp/plan.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_size(struct sweep_options *o, size_t bytes)
{
    if (o->sizes % 64 == 0) {
        o->size = realloc(o->size, (o->sizes + 64) * sizeof *o->size);
        if (!o->size)
            FATAL("no memory for %zu sizes", o->sizes + 64);
    }
    o->size[o->sizes++] = bytes;
}

static int sizes_of_list(struct sweep_options *o)
{
    const struct option one = {"sizes", &option_bytes, 0, NULL, 1, SWEEP_MOST_BYTES, NULL, 0};
    for (const char *at = o->size_list;; at++) {
        char word[32];
        size_t length = strcspn(at, ","), bytes;
        if (length >= sizeof word)
            return error_report("--sizes: '%.40s...' is no size", at);
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (option_bytes.parse(&one, word, &bytes))
            return -1;
        add_size(o, bytes);
        at += length;
        if (!*at)
            return 0;
    }
}

static int sizes_of_range(struct sweep_options *o)
{
    enum { MOST_SIZES = 100000 };
    if (o->max_bytes < o->min_bytes)
        return error_report("--max-bytes %zu is less than --min-bytes %zu", o->max_bytes, o->min_bytes);
    for (double bytes = (double)o->min_bytes; bytes <= (double)o->max_bytes;
         bytes = o->step_bytes ? bytes + (double)o->step_bytes : fmax(bytes + 1, floor(bytes * o->step_factor))) {
        if (o->sizes == MOST_SIZES)
            return error_report("more than %d sizes from --min-bytes to --max-bytes; use a larger step", MOST_SIZES);
        add_size(o, (size_t)bytes);
    }
    return 0;
}

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Every size that a strategy of the list reduces in one piece. */
static int sizes_of_model(struct sweep_options *o)
{
    struct options *m = &o->model;
    if (options_check_model(m))
        return -1;
    struct model_sizes sizes = {1,       m->context_length,   m->vocab_size, m->d_model, m->num_layers, m->num_heads,
                                m->d_ff, (float)m->rope_theta};
    struct model model;
    model_plan(&model, &sizes, sizeof(float));
    for (int i = 0; i < m->n; i++) {
        const struct implementation *row = &m->implementation[i];
        enum comm_dtype dtype = row->strategy->stages ? m->grad_dtype : COMM_FLOAT32;
        struct plan plan;
        if (!row->strategy->reduces)
            continue;
        row->strategy->plan(&plan, model.tensor, model.tensors, (size_t)(row->bucket_mb * 1048576));
        for (int s = 0; s < plan.n; s++)
            add_size(o, plan.bucket[s].count * comm_dtype_bytes(dtype));
        plan_destroy(&plan);
    }
    model_destroy(&model);
    return o->sizes
               ? 0
               : error_report("--sizes-from-model: none of --implementations %s sends anything", m->implementations);
}

int sweep_sizes_make(struct sweep_options *o)
{
    int status = o->sizes_from_model ? sizes_of_model(o) : *o->size_list ? sizes_of_list(o) : sizes_of_range(o);
    if (status)
        return -1;
    qsort(o->size, o->sizes, sizeof *o->size, compare_sizes);
    size_t kept = 1;
    for (size_t i = 1; i < o->sizes; i++)
        if (o->size[i] != o->size[kept - 1])
            o->size[kept++] = o->size[i];
    o->sizes = kept;
    return 0;
}
