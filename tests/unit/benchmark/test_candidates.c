/* test_candidates.c - which bucket sizes a search compares, on made-up tensors. */
#include "benchmark/benchmark.h"

#include "kernels/error.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Gradients of `tensors` tensors; their sizes, in floats, repeat the three in size[]. */
static const struct gradient {
    int tensors;
    size_t size[3];
    const char *last;                              /* largest bucket size, MiB */
} gradients[] = {{50, {1024, 1024, 1024}, "0.25"}, /* 0.195 MiB in all */
                 {44, {1024, 1024, 1024}, "0.25"}, /* 0.172 MiB in all; 0.177, not a power of two, is not tried */
                 {30, {16, 65536, 512}, "4"}};

static struct tensor tensor[64];
static struct implementation row[MAX_IMPLEMENTATIONS];
static struct search_row searched[MAX_IMPLEMENTATIONS];
static const struct strategy *const with_buckets[] = {&strategy_ddp_bucketed, &strategy_ddp_sharded};
enum { GRADIENTS = sizeof gradients / sizeof *gradients, CASES = 2 * GRADIENTS };
static const struct strategy *strategy;
static int all, without, first, rows; /* all: rows of all strategies; without: of those without buckets, which come
                                         first; rows [first, rows) are the sizes of `strategy` */

/* Makes the rows of a gradient, and finds the rows of a strategy. */
static void make(const struct gradient *gradient, const struct strategy *of)
{
    size_t offset = 0;
    strategy = of;
    for (int i = gradient->tensors - 1; i >= 0; i--) {
        tensor[i] = (struct tensor){.offset = offset, .count = gradient->size[i % 3], .joined = 1};
        offset += tensor[i].count;
    }
    all = candidates_make(row, searched, tensor, gradient->tensors);
    for (without = 0; without < all && !*row[without].size.words;)
        without++;
    for (first = without; first < all && row[first].strategy != of;)
        first++;
    for (rows = first; rows < all && row[rows].strategy == of && !searched[rows].is_plan;)
        rows++;
}

static struct plan plan_of(const struct gradient *gradient, const struct bucket_caps *caps)
{
    struct plan plan;
    strategy->plan(&plan, tensor, gradient->tensors, caps);
    return plan;
}

TEST_EACH(strategies_without_buckets_come_first, GRADIENTS)
{
    int n = 0;
    make(&gradients[_i], &strategy_ddp_bucketed);
    ck_assert_ptr_eq(row[0].strategy, &strategy_none);
    ck_assert_int_eq(searched[0].state, SEARCH_CONTROL);
    for (int i = 0; strategies[i]; i++) {
        const struct traits *traits = strategies[i]->traits[VARIANT_PLAIN];
        n += !traits->buckets && (traits->exact || !traits->reduces);
    }
    ck_assert_int_eq(without, n);
    for (int i = 1; i < all; i++)
        ck_assert(strategy_is_compared(row[i].strategy) && !implementation_traits(&row[i])->buckets == (i < without));
}

TEST_EACH(words_are_the_sizes, CASES)
{
    const struct option option = {.name = "bucket-size-mb", .low = 1e-5, .high = 1e6};
    make(&gradients[_i % GRADIENTS], with_buckets[_i / GRADIENTS]);
    for (int i = first; i < rows + CANDIDATE_PLANS; i++) {
        struct bucket_sizes sizes;
        char label[IMPLEMENTATION_LABEL];
        ck_assert_msg(!option_buckets.parse(&option, row[i].size.words, &sizes), "%s", error_text());
        ck_assert_mem_eq(&sizes.item[0].caps, &row[i].size.caps, sizeof row[i].size.caps);
        snprintf(label, sizeof label, "%s:%s", strategy->name, row[i].size.words);
        ck_assert_str_eq(row[i].label, label);
    }
}

/* A bucket for each block is a candidate beside the sizes, if none of them makes the same buckets. */
TEST(blocks_are_a_candidate)
{
    make(&gradients[0], &strategy_ddp_bucketed); /* all tensors are in one layer, as in the largest size */
    for (int i = 0; i < all; i++)
        ck_assert_str_ne(row[i].size.words, "block");
    for (int i = 0; i < gradients[0].tensors; i++)
        tensor[i].layer = i * i / 100;
    all = candidates_make(row, searched, tensor, gradients[0].tensors);
    int blocks = 0;
    for (int i = 0; i < all; i++)
        blocks += !strcmp(row[i].label, "ddp_bucketed:block") + !strcmp(row[i].label, "ddp_sharded:block");
    ck_assert_int_eq(blocks, 2);
}

static int same_plan(const struct plan *a, const struct plan *b)
{
    int same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = a->bucket[i].offset == b->bucket[i].offset;
    return same;
}

/* Each size gives other buckets than the previous size. The first size gives the buckets of the smallest cap that joins
 * tensors. */
TEST_EACH(each_plan_once, CASES)
{
    const struct gradient *gradient = &gradients[_i % GRADIENTS];
    make(gradient, with_buckets[_i / GRADIENTS]);
    size_t least = SIZE_MAX;
    for (int i = 0; i < gradient->tensors; i++)
        least = tensor[i].count < least ? tensor[i].count : least;
    struct plan last = plan_of(gradient, &(struct bucket_caps){.cap = {least * sizeof(float) + 1}});
    ck_assert_int_lt(last.n, gradient->tensors);
    for (int i = first; i < rows; i++) {
        struct plan plan = plan_of(gradient, &row[i].size.caps);
        ck_assert_msg(same_plan(&plan, &last) == (i == first), "%s: the buckets of the size before, or of a later one",
                      row[i].size.words);
        plan_destroy(&last);
        last = plan;
    }
    ck_assert_int_eq(last.n, 1);
    ck_assert_str_eq(row[rows - 1].size.words, gradient->last);
    plan_destroy(&last);
}

/* The greatest power of two stands for all sizes with the same buckets. */
TEST_EACH(powers_of_two_are_in_the_first_round, CASES)
{
    const struct gradient *gradient = &gradients[_i % GRADIENTS];
    int sum = 0;
    make(gradient, with_buckets[_i / GRADIENTS]);
    for (int i = first; i < rows; i++) {
        struct plan plan = plan_of(gradient, &row[i].size.caps);
        struct plan twice = plan_of(gradient, &(struct bucket_caps){.cap = {2 * row[i].size.caps.cap[0]}});
        ck_assert_msg(plan.n == 1 || !same_plan(&plan, &twice), "%s: a greater power of two has the same buckets",
                      row[i].size.words);
        plan_destroy(&plan);
        plan_destroy(&twice);
        int is_between = lround(2 * log2((double)row[i].size.caps.cap[0] / 1048576)) % 2 != 0;
        ck_assert_int_eq(searched[i].state, is_between ? SEARCH_RESERVE : SEARCH_IN);
        ck_assert_int_eq(searched[i].series, searched[first].series);
        sum += is_between;
    }
    ck_assert_int_gt(sum, 0);
}

/* The plans around 0.25 MiB, for 50 tensors of which 64 fit into 0.25 MiB. Plans with the same buckets are not new. */
TEST_EACH(plans_are_around_a_size, 2)
{
    static const struct {
        const char *words;
        int is_new, tensors[4];
    } expected[CANDIDATE_PLANS] = {{"0.0625+0.25", 1, {16, 34}},
                                   {"0.25+last0.0625", 1, {34, 16}},
                                   {"0.0625+0.25+last0.0625", 1, {16, 18, 16}},
                                   {"0.0625+0.125+0.25+0.5+last0.0625", 0, {16, 18, 16}}};
    char is_new[CANDIDATE_PLANS];
    make(&gradients[0], with_buckets[_i]);
    ck_assert(all >= rows + CANDIDATE_PLANS);
    ck_assert_str_eq(row[rows - 1].size.words, "0.25");
    candidates_plan(&row[rows], is_new, &row[rows - 1], tensor, gradients[0].tensors);
    for (int p = 0; p < CANDIDATE_PLANS; p++) {
        const struct implementation *made = &row[rows + p];
        struct plan plan = plan_of(&gradients[0], &made->size.caps);
        ck_assert_ptr_eq(made->strategy, strategy);
        ck_assert(searched[rows + p].is_plan && searched[rows + p].state == SEARCH_RESERVE);
        ck_assert_str_eq(made->size.words, expected[p].words);
        ck_assert_int_eq(is_new[p], expected[p].is_new);
        for (int b = 0; b < plan.n; b++)
            ck_assert_int_eq(plan.bucket[b].tensors, expected[p].tensors[b]);
        ck_assert_int_eq(expected[p].tensors[plan.n], 0);
        plan_destroy(&plan);
    }
}

TEST(one_tensor_has_no_sizes)
{
    make(&(struct gradient){.tensors = 1, .size = {1000}}, &strategy_ddp_bucketed);
    ck_assert_int_eq(without, all);
}

SUITE("candidates", NULL, NULL)
