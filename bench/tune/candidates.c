/* candidates.c - what a search compares. */
#include "tune/candidates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* 2^(i/2) MiB as words of three digits, and what a reader of the words takes it for. */
static struct candidate of_size(int i)
{
    struct candidate candidate = {.between = i % 2 != 0};
    double mb = pow(2, i / 2.0);
    snprintf(candidate.words, sizeof candidate.words, mb < 1000 ? "%.3g" : "%.0f", mb);
    candidate.bucket_mb = strtod(candidate.words, NULL);
    return candidate;
}

static int same_plan(const struct plan *a, const struct plan *b)
{
    int same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = a->bucket[i].offset == b->bucket[i].offset;
    return same;
}

static int add(struct implementation *row, const struct strategy *strategy, const struct candidate *candidate)
{
    *row = (struct implementation){.strategy = strategy, .bucket_bytes = (size_t)(candidate->bucket_mb * 1048576)};
    snprintf(row->bucket_words, sizeof row->bucket_words, "%s", candidate->words);
    snprintf(row->label, sizeof row->label, *candidate->words ? "%s:%s" : "%s", strategy->name, candidate->words);
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
        struct candidate size = of_size(i);
        struct plan plan;
        strategy->plan(&plan, tensor, tensors, (size_t)(size.bucket_mb * 1048576));
        int same = same_plan(&plan, &last);
        plan_destroy(&last);
        last = plan;
        if (same && !(n > first && candidate[n - 1].between && !size.between))
            continue;
        n -= same; /* the size of the first round stands for both */
        candidate[n] = size;
        n += add(&row[n], strategy, &size);
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
                n += add(&row[n], strategies[i], &candidate[n]);
            }
    return add_sizes(row, candidate, n, tensor, tensors);
}
