/* candidates.c - what a search compares. */
#include "benchmark/candidates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* 2^(i/2) MiB as --bucket-size-mb takes it, with three digits, and what that is. */
static struct candidate of_size(int i, char words[16])
{
    double mb = pow(2, i / 2.0);
    snprintf(words, 16, mb < 1000 ? "%.3g" : "%.0f", mb);
    return (struct candidate){.bucket_mb = strtod(words, NULL), .between = i % 2 != 0};
}

static int same_plan(const struct plan *a, const struct plan *b)
{
    int same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = a->bucket[i].offset == b->bucket[i].offset;
    return same;
}

static int add(struct implementation *row, const struct strategy *strategy, double bucket_mb, const char *words)
{
    *row = (struct implementation){.strategy = strategy, .bucket_bytes = (size_t)(bucket_mb * 1048576)};
    snprintf(row->bucket_words, sizeof row->bucket_words, "%s", words);
    snprintf(row->label, sizeof row->label, *words ? "%s:%s" : "%s", strategy->name, words);
    return 1;
}

/* The rows of ddp_bucketed, from number n on; returns how many there are then. */
static int add_sizes(struct implementation *row, struct candidate *candidate, int n, const struct tensor *tensor,
                     int tensors)
{
    enum { LEAST = -32, MOST = 40 }; /* 16 bytes, and 1 TiB */
    const struct strategy *strategy = &strategy_ddp_bucketed;
    struct plan last;
    strategy->plan(&last, tensor, tensors, 0);
    /* one bucket at 2^(i/2) MiB with an odd i is one at the power of two above it as well */
    for (int i = LEAST, first = n; i <= MOST && (last.n > 1 || i % 2 == 0) && n < MAX_IMPLEMENTATIONS; i++) {
        char words[16];
        struct candidate size = of_size(i, words);
        struct plan plan;
        strategy->plan(&plan, tensor, tensors, (size_t)(size.bucket_mb * 1048576));
        int same = same_plan(&plan, &last);
        plan_destroy(&last);
        last = plan;
        if (same && !(n > first && candidate[n - 1].between && !size.between))
            continue;
        n -= same; /* the size of the first round stands for both */
        candidate[n] = size;
        n += add(&row[n], strategy, size.bucket_mb, words);
    }
    plan_destroy(&last);
    return n;
}

int candidates_make(struct implementation row[MAX_IMPLEMENTATIONS], struct candidate candidate[MAX_IMPLEMENTATIONS],
                    const struct tensor *tensor, int tensors)
{
    int n = 0;
    for (int pass = 0; pass < 2; pass++) /* first the control */
        for (int i = 0; strategies[i]; i++)
            if (strategies[i]->reduces == pass && !strategies[i]->buckets) {
                candidate[n] = (struct candidate){0};
                n += add(&row[n], strategies[i], 0, "");
            }
    return add_sizes(row, candidate, n, tensor, tensors);
}
