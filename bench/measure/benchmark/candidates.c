/* candidates.c - the strategies and bucket sizes that a search compares. */
#include "benchmark/benchmark.h"

#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether two rows have the same buckets. */
static int same_buckets(const struct implementation *a, const struct implementation *b, const struct tensor *tensor,
                        int tensors)
{
    struct plan x, y;
    a->strategy->plan(&x, tensor, tensors, &a->size.caps);
    b->strategy->plan(&y, tensor, tensors, &b->size.caps);
    int same = x.n == y.n;
    for (int i = 0; same && i < x.n; i++)
        same = x.bucket[i].offset == y.bucket[i].offset;
    plan_destroy(&x);
    plan_destroy(&y);
    return same;
}

/* Makes a row; words: the row's bucket size in MiB, as --bucket-size-mb takes it, or "". */
static struct implementation make_row(const struct strategy *strategy, const char *words)
{
    struct implementation row = {.strategy = strategy};
    if (*words && bucket_size_parse(&row.size, "bucket-size-mb", "", words))
        FATAL("%s", error_text());
    snprintf(row.label, sizeof row.label, *words ? "%s:%s" : "%s", strategy->name, words);
    return row;
}

static const char *size_words(char text[16], double mb)
{
    snprintf(text, 16, mb < 1000 ? "%.3g" : "%.0f", mb);
    return text;
}

/* Adds the rows of a strategy: one for each bucket size, from two tensors in a bucket to the whole gradient; rows for
 * plans; and, unless a size makes the same buckets, one with a bucket for each transformer block, if the tensors have
 * blocks, and one with PyTorch's default buckets. n: rows so far. Returns the new number of rows. */
static int add_sizes(struct implementation *row, struct search_row *searched, int n, const struct strategy *strategy,
                     const struct tensor *tensor, int tensors)
{
    enum { LEAST = -32, MOST = 38 }; /* least and greatest i of the sizes 2^(i/2) MiB: 16 bytes and 512 GiB */
    static const char *const others[] = {"block", "1+25"};
    const int most_sizes = MAX_IMPLEMENTATIONS - CANDIDATE_PLANS - 2, first = n;
    const struct implementation whole = {.strategy = strategy, .size.caps.cap = {SIZE_MAX}};
    struct implementation last = {.strategy = strategy}; /* with caps of 0, each tensor is a bucket */
    char is_new[CANDIDATE_PLANS];
    /* If an odd i is the first to make a single bucket, i + 1 is tried too: a power of two is preferred. */
    for (int i = LEAST; i <= MOST && n < most_sizes && (i % 2 == 0 || !same_buckets(&last, &whole, tensor, tensors));
         i++) {
        char words[16];
        struct implementation size = make_row(strategy, size_words(words, pow(2, i / 2.0)));
        int same = same_buckets(&size, &last, tensor, tensors);
        last = size;
        if (same && (n == first || i % 2))
            continue;
        n -= same; /* if the buckets are the same, this power of two replaces the row before it */
        searched[n] = (struct search_row){.state = i % 2 ? SEARCH_RESERVE : SEARCH_IN, .series = first + 1};
        row[n++] = size;
    }
    if (n == first)
        return n;
    for (int p = n; p < n + CANDIDATE_PLANS; p++) {
        searched[p] = (struct search_row){.state = SEARCH_RESERVE, .series = first + 1, .is_plan = 1};
        row[p].strategy = strategy;
    }
    candidates_plan(&row[n], is_new, &row[n - 1], tensor, tensors);
    const int plans = n;
    n += CANDIDATE_PLANS;
    for (int k = !tensor[tensors - 1].layer; k < 2; k++) {
        int is_other = k == 0 || strategy == &strategy_ddp_bucketed;
        searched[n] = (struct search_row){.state = SEARCH_IN};
        row[n] = make_row(strategy, others[k]);
        for (int i = first; i < n; i++)
            is_other &= (i >= plans && i < plans + CANDIDATE_PLANS) || !same_buckets(&row[n], &row[i], tensor, tensors);
        n += is_other;
    }
    return n;
}

void candidates_plan(struct implementation *row, char is_new[CANDIDATE_PLANS], const struct implementation *around,
                     const struct tensor *tensor, int tensors)
{
    const char *size = around->size.words;
    double mb = strtod(size, NULL);
    char small[16], half[16], twice[16], words[CANDIDATE_PLANS][3 * BUCKET_WORDS];
    size_words(small, fmax(mb / 4, 1e-5)); /* --bucket-size-mb takes 1e-5 to 1e6 */
    size_words(half, fmax(mb / 2, 1e-5));
    size_words(twice, fmin(mb * 2, 1e6));
    snprintf(words[0], sizeof *words, "%s+%s", small, size);
    snprintf(words[1], sizeof *words, "%s+last%s", size, small);
    snprintf(words[2], sizeof *words, "%s+%s+last%s", small, size, small);
    snprintf(words[3], sizeof *words, "%s+%s+%s+%s+last%s", small, half, size, twice, small);
    for (int p = 0; p < CANDIDATE_PLANS; p++) {
        row[p] = make_row(row[p].strategy, words[p]);
        is_new[p] = !same_buckets(&row[p], around, tensor, tensors);
        for (int other = 0; other < p; other++)
            is_new[p] = is_new[p] && !same_buckets(&row[p], &row[other], tensor, tensors);
    }
}

int candidates_make(struct implementation row[MAX_IMPLEMENTATIONS], struct search_row searched[MAX_IMPLEMENTATIONS],
                    const struct tensor *tensor, int tensors)
{
    int n = 0;
    for (int pass = 0; pass < 2; pass++) /* pass 0 adds the control `none`, pass 1 the others */
        for (int i = 0; strategies[i]; i++) {
            const struct traits *traits = strategies[i]->traits[VARIANT_PLAIN];
            if (traits->reduces != pass || traits->exact != pass || traits->buckets)
                continue;
            searched[n] = (struct search_row){.state = pass ? SEARCH_IN : SEARCH_CONTROL};
            row[n++] = make_row(strategies[i], "");
        }
    for (int i = 0; strategies[i]; i++) {
        const struct traits *traits = strategies[i]->traits[VARIANT_PLAIN];
        if (traits->buckets && traits->exact && !traits->staged) /* a staged one may be the same as another */
            n = add_sizes(row, searched, n, strategies[i], tensor, tensors);
    }
    return n;
}
