/* sizes.c - the sizes of messages: a range, a list, or those that a model's strategies send. */
#include "allreduce/sizes.h"

#include "ddp/plan.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* ---- the option ---- */

static int sizes_parse(const struct option *option, const char *text, void *field)
{
    struct size_list *list = field;
    char word[32];
    size_t n = 0;
    int more;
    for (const char *at = text; (more = option_next_word(&at, word, sizeof word)) > 0;) {
        if (n == sizeof list->bytes / sizeof *list->bytes)
            return error_report("--%s: more than %zu sizes", option->name, n);
        if (option_bytes.parse(option, word, &list->bytes[n++]))
            return -1;
    }
    if (more < 0 || !n)
        return error_report("--%s '%.200s': expected a list such as 8,64K,25M", option->name, text);
    list->n = n;
    return 0;
}

const struct option_kind option_sizes = {VALUE_TEXT, sizes_parse, NULL};

/* ---- the sizes ---- */

static void add_size(struct sizes *sizes, size_t bytes)
{
    if (sizes->n % 64 == 0) {
        sizes->bytes = realloc(sizes->bytes, (sizes->n + 64) * sizeof *sizes->bytes);
        if (!sizes->bytes)
            FATAL("no memory for %zu sizes", sizes->n + 64);
    }
    sizes->bytes[sizes->n++] = bytes;
}

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void sort_once_each(struct sizes *sizes)
{
    size_t kept = 0;
    qsort(sizes->bytes, sizes->n, sizeof *sizes->bytes, compare_sizes);
    for (size_t i = 0; i < sizes->n; i++)
        if (!kept || sizes->bytes[i] != sizes->bytes[kept - 1])
            sizes->bytes[kept++] = sizes->bytes[i];
    sizes->n = kept;
}

int sizes_of_range(struct sizes *sizes, const struct size_range *range)
{
    enum { MOST_SIZES = 100000 };
    if (range->high < range->low)
        return error_report("--max-bytes %zu is less than --min-bytes %zu", range->high, range->low);
    for (double bytes = (double)range->low; bytes <= (double)range->high;
         bytes = range->step ? bytes + (double)range->step : fmax(bytes + 1, floor(bytes * range->factor))) {
        if (sizes->n == MOST_SIZES)
            return error_report("more than %d sizes from --min-bytes to --max-bytes; use a larger step", MOST_SIZES);
        add_size(sizes, (size_t)bytes);
    }
    return 0;
}

int sizes_of_list(struct sizes *sizes, const struct size_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        add_size(sizes, list->bytes[i]);
    sort_once_each(sizes);
    return 0;
}

int sizes_of_workload(struct sizes *sizes, struct workload *workload)
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
    sort_once_each(sizes);
    return sizes->n ? 0 : error_report("--sizes-from-model: none of the --implementations sends anything");
}

void sizes_destroy(struct sizes *sizes)
{
    free(sizes->bytes);
    *sizes = (struct sizes){0};
}
