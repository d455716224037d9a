/* candidates.c - the strategies and bucket sizes that a search compares. */
#include "benchmark/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int same_plan(const struct plan *a, const struct plan *b)
{
    int same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = a->bucket[i].offset == b->bucket[i].offset;
    return same;
}

/* Makes a row; words: the row's bucket size in MiB, as --bucket-size-mb takes it, or "". */
static struct implementation make_row(const struct strategy *strategy, const char *words)
{
    struct implementation row = {.strategy = strategy, .size.caps.cap = {(size_t)(strtod(words, NULL) * 1048576)}};
    snprintf(row.size.words, sizeof row.size.words, "%s", words);
    snprintf(row.label, sizeof row.label, *words ? "%s:%s" : "%s", strategy->name, words);
    return row;
}

/* Adds a row for each bucket size of a strategy, from two tensors in a bucket to the whole gradient. Returns the number
 * of rows, n before. */
static int add_sizes(struct implementation row[MAX_IMPLEMENTATIONS], char between[MAX_IMPLEMENTATIONS], int n,
                     const struct strategy *strategy, const struct tensor *tensor, int tensors)
{
    enum { LEAST = -32, MOST = 40 }; /* least and greatest i of the sizes 2^(i/2) MiB: 16 bytes and 1 TiB */
    struct plan last;
    strategy->plan(&last, tensor, tensors, &(struct bucket_caps){.cap = {0}});
    /* If an odd i is the first to make a single bucket, i + 1 is tried too: a power of two is preferred. */
    for (int i = LEAST, first = n; i <= MOST && (last.n > 1 || i % 2 == 0) && n < MAX_IMPLEMENTATIONS; i++) {
        double mb = pow(2, i / 2.0);
        char words[16];
        snprintf(words, sizeof words, mb < 1000 ? "%.3g" : "%.0f", mb);
        struct implementation size = make_row(strategy, words);
        struct plan plan;
        strategy->plan(&plan, tensor, tensors, &size.size.caps);
        int same = same_plan(&plan, &last);
        plan_destroy(&last);
        last = plan;
        if (same && !(n > first && between[n - 1] && i % 2 == 0))
            continue;
        n -= same; /* if the buckets are the same, this power of two replaces the row before it */
        between[n] = i % 2 != 0;
        row[n++] = size;
    }
    plan_destroy(&last);
    return n;
}

int candidates_make(struct implementation row[MAX_IMPLEMENTATIONS], char between[MAX_IMPLEMENTATIONS],
                    const struct tensor *tensor, int tensors)
{
    int n = 0;
    for (int pass = 0; pass < 2; pass++) /* pass 0 adds the control `none`, pass 1 the others */
        for (int i = 0; strategies[i]; i++)
            if (strategies[i]->reduces == pass && !strategies[i]->buckets && !strategies[i]->approximates) {
                between[n] = 0;
                row[n++] = make_row(strategies[i], "");
            }
    for (int i = 0; strategies[i]; i++)
        if (strategies[i]->buckets && !strategies[i]->approximates &&
            !strategies[i]->on_one_level) /* that one may be the same as another */
            n = add_sizes(row, between, n, strategies[i], tensor, tensors);
    return n;
}
