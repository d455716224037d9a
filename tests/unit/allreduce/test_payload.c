/* test_payload.c - inputs whose reduction is exact in any order, and detection of wrong results. */
#include "allreduce/payload.h"

#include "kernels/bf16.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

enum { COUNT = 37 };

/* Adds element *from to element *to, or takes their maximum, in the arithmetic of their type. */
static void combine(enum comm_dtype dtype, enum comm_op op, void *to, const void *from)
{
    float f;
    switch (dtype) {
    case COMM_FLOAT32:
        f = *(const float *)from;
        *(float *)to = op == COMM_MAX ? (f > *(float *)to ? f : *(float *)to) : *(float *)to + f;
        return;
    case COMM_FLOAT64: {
        double d = *(const double *)from;
        *(double *)to = op == COMM_MAX ? (d > *(double *)to ? d : *(double *)to) : *(double *)to + d;
        return;
    }
    case COMM_BF16: {
        float a = bf16_widen(*(uint16_t *)to), b = bf16_widen(*(const uint16_t *)from);
        *(uint16_t *)to = bf16_narrow(op == COMM_MAX ? (a > b ? a : b) : a + b);
        return;
    }
    default: {
        int32_t i = *(const int32_t *)from;
        *(int32_t *)to = op == COMM_MAX ? (i > *(int32_t *)to ? i : *(int32_t *)to) : *(int32_t *)to + i;
    }
    }
}

static void divide(enum comm_dtype dtype, void *x, int ranks)
{
    switch (dtype) {
    case COMM_FLOAT32:
        *(float *)x /= (float)ranks;
        return;
    case COMM_FLOAT64:
        *(double *)x /= ranks;
        return;
    case COMM_BF16:
        *(uint16_t *)x = bf16_narrow(bf16_widen(*(uint16_t *)x) / (float)ranks);
        return;
    default:
        *(int32_t *)x /= ranks;
    }
}

/* Reduces the inputs of all ranks into result[COUNT], in an order that starts at rank `first` and steps by `step`. */
static void reduce(const struct payload *payload, int first, int step, char *result)
{
    enum comm_dtype dtype = payload->collective.dtype;
    size_t size = comm_dtype_bytes(dtype);
    char *in = kept(allocate(COUNT, size)), *ignored = kept(allocate(COUNT, size));
    for (int i = 0; i < payload->ranks; i++) {
        struct payload p = *payload;
        p.rank = (first + i * step) % p.ranks;
        payload_fill(&p, in, ignored);
        for (size_t e = 0; e < COUNT; e++)
            if (i)
                combine(dtype, p.collective.op, result + e * size, in + e * size);
            else
                memcpy(result + e * size, in + e * size, size);
    }
    for (size_t e = 0; e < COUNT && payload->collective.op == COMM_AVG; e++)
        divide(dtype, result + e * size, payload->ranks);
}

static struct payload payload_of(int i, int ranks)
{
    struct collective c = {
        .count = COUNT, .dtype = (enum comm_dtype)(i % COMM_DTYPES), .op = (enum comm_op)(i / COMM_DTYPES)};
    return (struct payload){.collective = c, .ranks = ranks, .round = (unsigned)ranks};
}

static const int sizes[] = {1, 2, 3, 4, 7, 8, 16, 17, 31, 64, 250, 300};

TEST_EACH(reductions_are_exact_in_any_order, COMM_DTYPES *COMM_OPS)
{
    char result[COUNT * 8];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct payload p = payload_of(_i, sizes[s]);
        int step = sizes[s] % 7 ? 7 : 5; /* coprime to the number of ranks, so that every rank is visited */
        reduce(&p, 0, 1, result);
        ck_assert_uint_eq(payload_wrong(&p, result), 0);
        reduce(&p, sizes[s] - 1, sizes[s] > 1 ? sizes[s] - 1 : 1, result);
        ck_assert_uint_eq(payload_wrong(&p, result), 0);
        reduce(&p, sizes[s] / 2, step % sizes[s] ? step : 1, result);
        ck_assert_uint_eq(payload_wrong(&p, result), 0);
    }
}

TEST_EACH(one_flipped_bit_is_one_wrong_element, COMM_DTYPES *COMM_OPS)
{
    char result[COUNT * 8];
    struct payload p = payload_of(_i, 3);
    size_t bits = 8 * comm_dtype_bytes(p.collective.dtype) * COUNT;
    reduce(&p, 0, 1, result);
    for (size_t bit = 0; bit < bits; bit++) {
        result[bit / 8] = (char)(result[bit / 8] ^ 1 << bit % 8);
        ck_assert_uint_eq(payload_wrong(&p, result), 1);
        result[bit / 8] = (char)(result[bit / 8] ^ 1 << bit % 8);
    }
    ck_assert_uint_eq(payload_wrong(&p, result), 0);
}

/* The input of a rank differs from the result, so that a reduction that does nothing is detected. */
TEST_EACH(inputs_are_not_results, COMM_DTYPES *COMM_OPS)
{
    char in[COUNT * 8], buffer[COUNT * 8];
    static const int numbers[] = {2, 3, 4, 5, 8, 64, 300};
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        struct payload p = payload_of(_i, numbers[n]);
        if (p.collective.op == COMM_AVG && p.collective.dtype == COMM_BF16 && numbers[n] > 175)
            continue; /* all averages are 0, as are most inputs */
        payload_fill(&p, in, buffer);
        ck_assert_uint_gt(payload_wrong(&p, in), COUNT / 3);
        ck_assert_uint_eq(payload_wrong(&p, buffer), COUNT); /* all elements are wrong before the reduction */
        struct payload next = p;
        next.round++;
        reduce(&p, 0, 1, buffer);
        ck_assert_uint_gt(payload_wrong(&next, buffer), COUNT / 2); /* a round's result is wrong in the next round */
    }
}

/* The result of an all-gather is right with the parts of all ranks in order, and wrong if another part replaces one. */
TEST_EACH(gathered_parts_are_told_apart, COMM_DTYPES)
{
    enum { RANKS = 300 };
    enum comm_dtype dtype = (enum comm_dtype)_i;
    size_t size = comm_dtype_bytes(dtype);
    static char in[COUNT * 8], result[RANKS * COUNT * 8], ignored[RANKS * COUNT * 8];
    struct collective c = {.count = COUNT, .dtype = dtype, .kind = COMM_ALL_GATHER};
    for (int r = 0; r < RANKS; r++) {
        struct payload p = {.collective = c, .rank = r, .ranks = RANKS};
        payload_fill(&p, in, ignored);
        ck_assert_uint_eq(payload_wrong(&p, ignored), RANKS * COUNT);
        memcpy(result + (size_t)r * COUNT * size, in, COUNT * size);
        payload_fill(&p, NULL, ignored); /* NULL: in place, the input goes into the rank's part of the buffer */
        ck_assert_mem_eq(ignored + (size_t)r * COUNT * size, in, COUNT * size);
    }
    struct payload p = {.collective = c, .rank = 0, .ranks = RANKS};
    ck_assert_uint_eq(payload_wrong(&p, result), 0);
    memcpy(result, result + COUNT * size, COUNT * size);
    ck_assert_uint_gt(payload_wrong(&p, result), COUNT / 2);
}

TEST_EACH(a_broadcast_is_the_roots, COMM_DTYPES)
{
    char root[COUNT * 8], other[COUNT * 8];
    struct collective c = {.count = COUNT, .dtype = (enum comm_dtype)_i, .kind = COMM_BROADCAST, .root = 1};
    struct payload p = {.collective = c, .rank = 1, .ranks = 3};
    payload_fill(&p, NULL, root);
    ck_assert_uint_eq(payload_wrong(&p, root), 0);
    p.rank = 2;
    payload_fill(&p, NULL, other);
    ck_assert_uint_eq(payload_wrong(&p, other), COUNT);
    ck_assert_uint_eq(payload_wrong(&p, root), 0);
}

/* In a reduce-scatter, rank r gets part r of the sum. */
TEST_EACH(a_scattered_part_is_the_ranks_own, COMM_DTYPES)
{
    enum { RANKS = 2 };
    enum comm_dtype dtype = (enum comm_dtype)_i;
    size_t size = comm_dtype_bytes(dtype);
    char in[RANKS][RANKS * COUNT * 8], ignored[COUNT * 8];
    struct collective c = {.count = COUNT, .dtype = dtype, .kind = COMM_REDUCE_SCATTER};
    for (int r = 0; r < RANKS; r++) {
        struct payload p = {.collective = c, .rank = r, .ranks = RANKS};
        payload_fill(&p, in[r], ignored);
    }
    for (size_t e = 0; e < RANKS * COUNT; e++)
        combine(dtype, COMM_SUM, in[0] + e * size, in[1] + e * size);
    for (int r = 0; r < RANKS; r++) {
        struct payload p = {.collective = c, .rank = r, .ranks = RANKS};
        ck_assert_uint_eq(payload_wrong(&p, in[0] + (size_t)r * COUNT * size), 0);
        ck_assert_uint_gt(payload_wrong(&p, in[0] + (size_t)(1 - r) * COUNT * size), COUNT / 2);
    }
}

static float narrow(enum comm_dtype dtype, float x)
{
    return dtype == COMM_BF16 ? bf16_widen(bf16_narrow(x)) : x;
}

/* Computes averages as NCCL does: multiplies each input by a rounded 1 / ranks and adds the products, all in the type
 * of the payload. Leaves out the last `missing` ranks. */
static void average_premultiplied(const struct payload *payload, int missing, char *result)
{
    enum comm_dtype dtype = payload->collective.dtype;
    char *in = kept(allocate(COUNT, 8)), *ignored = kept(allocate(COUNT, 8));
    float sum[COUNT] = {0}, part = narrow(dtype, 1 / (float)payload->ranks);
    for (int r = 0; r < payload->ranks - missing; r++) {
        struct payload p = *payload;
        p.rank = r;
        payload_fill(&p, in, ignored);
        for (size_t e = 0; e < COUNT; e++) {
            float x = dtype == COMM_BF16 ? bf16_widen(((uint16_t *)(void *)in)[e]) : ((float *)(void *)in)[e];
            sum[e] = narrow(dtype, sum[e] + narrow(dtype, x * part));
        }
    }
    for (size_t e = 0; e < COUNT; e++)
        if (dtype == COMM_BF16)
            ((uint16_t *)(void *)result)[e] = bf16_narrow(sum[e]);
        else
            ((float *)(void *)result)[e] = sum[e];
}

/* Rounding errors of averages pass only if rounds_average is set; a missing rank is detected in either case. */
TEST_EACH(rounded_averages_are_told_from_wrong_ones, 2)
{
    static const int ranks[] = {2, 3, 4, 5, 6, 7, 12};
    char result[COUNT * 8];
    size_t inexact = 0;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        struct collective c = {.count = COUNT, .dtype = _i ? COMM_BF16 : COMM_FLOAT32, .op = COMM_AVG};
        struct payload p = {.collective = c, .ranks = ranks[i], .rounds_average = 1};
        average_premultiplied(&p, 0, result);
        ck_assert_uint_eq(payload_wrong(&p, result), 0);
        p.rounds_average = 0;
        inexact += payload_wrong(&p, result);
        p.rounds_average = 1;
        average_premultiplied(&p, 1, result);
        ck_assert_uint_gt(payload_wrong(&p, result), _i ? 0 : COUNT / 2); /* in bf16, most elements are still right */
    }
    ck_assert_uint_gt(inexact, 0);
}

SUITE("payload", NULL, NULL)
