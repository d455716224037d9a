/* payload.c - inputs whose reduction is exact in any order. */
#include "allreduce/payload.h"

#include "kernels/bf16.h"
#include "kernels/random.h"

#include <math.h>
#include <string.h>

/* The rule by which all elements of a payload get their values (see payload.h). */
struct rule {
    int64_t ranks, ramp; /* ranks: number of all ranks; ramp: number of ranks that add a value of the ramp */
    int64_t carriers;    /* number of ranks that add the base; ranks of the ramp come first */
    int64_t reach, most; /* the base is in [-reach, reach]; the type holds whole numbers up to `most` exactly */
    uint64_t round;
};

static struct rule rule_of(const struct payload *p)
{
    /* The type holds whole numbers up to its limit exactly, so sums up to the limit are exact too. The positive half of
     * the ramp sums to at most a quarter of the limit. */
    static const int64_t limits[COMM_DTYPES] = {
        [COMM_FLOAT32] = 1 << 24, [COMM_BF16] = 1 << 8, [COMM_FLOAT64] = (int64_t)1 << 53, [COMM_INT32] = 1 << 30};
    int64_t limit = limits[p->collective.dtype], most_ramp = p->collective.dtype == COMM_BF16 ? 16 : 4096;
    int64_t ramp = most_ramp < p->ranks ? most_ramp : p->ranks;
    /* For an average every rank adds the base, so that the result is whole; for a maximum nothing is summed. */
    int64_t carriers = p->collective.op == COMM_SUM ? ramp : p->ranks;
    int64_t reach = p->collective.op == COMM_MAX ? limit - ramp : (limit - (ramp / 2 + 1) * (ramp / 2 + 1)) / carriers;
    return (struct rule){p->ranks, ramp, carriers, reach, limit, (uint64_t)p->round << 48};
}

/* Maps a hash to a whole number in [-reach, reach]. */
static int64_t whole(uint64_t hash, int64_t reach)
{
    return (int64_t)(hash >> 8) % (2 * reach + 1) - reach;
}

static int64_t input_value(const struct collective *c, const struct rule *rule, int64_t rank, size_t element)
{
    if (!comm_reduces(c->kind))
        return whole(random_bits(RANDOM_STEP + (element ^ rule->round) + ((uint64_t)rank << 40)), rule->most);
    uint64_t hash = random_bits(RANDOM_STEP + (element ^ rule->round));
    int64_t slot = (rank + (int64_t)(hash & 0xff)) % rule->ranks;
    return (slot < rule->carriers ? whole(hash, rule->reach) : 0) +
           (slot < rule->ramp ? 2 * slot - (rule->ramp - 1) : 0);
}

/* Stores a whole number as element i of an array of type dtype. */
static void put(enum comm_dtype dtype, void *array, size_t i, int64_t value)
{
    float f = (float)value;
    double d = (double)value;
    int32_t n = (int32_t)value;
    uint16_t b = bf16_narrow(f);
    const void *from[COMM_DTYPES] = {[COMM_FLOAT32] = &f, [COMM_BF16] = &b, [COMM_FLOAT64] = &d, [COMM_INT32] = &n};
    size_t size = comm_dtype_bytes(dtype);
    memcpy((char *)array + i * size, from[dtype], size);
}

size_t payload_result(const struct collective *c, int ranks)
{
    return c->kind == COMM_REDUCE_SCATTER ? c->count : c->count * comm_parts(c->kind, ranks);
}

static int64_t result_value(const struct payload *p, const struct rule *rule, size_t i)
{
    const struct collective *c = &p->collective;
    if (c->kind == COMM_ALL_GATHER)
        return input_value(c, rule, (int64_t)(i / c->count), i % c->count);
    if (c->kind == COMM_BROADCAST)
        return input_value(c, rule, c->root, i);
    if (c->kind == COMM_ALL_TO_ALL)
        return input_value(c, rule, (int64_t)(i / c->count), (size_t)p->rank * c->count + i % c->count);
    size_t element = i + (c->kind == COMM_REDUCE_SCATTER ? (size_t)p->rank * c->count : 0);
    int64_t base = whole(random_bits(RANDOM_STEP + (element ^ rule->round)), rule->reach);
    return c->op == COMM_SUM ? rule->carriers * base : c->op == COMM_AVG ? base : base + rule->ramp - 1;
}

void payload_fill(const struct payload *p, void *in, void *buffer)
{
    const struct collective *c = &p->collective;
    struct rule rule = rule_of(p);
    char *own =
        (char *)buffer + (c->kind == COMM_ALL_GATHER ? (size_t)p->rank * c->count : 0) * comm_dtype_bytes(c->dtype);
    for (size_t i = 0; i < payload_result(c, p->ranks); i++)
        put(c->dtype, buffer, i, result_value(p, &rule, i) == 1 ? 2 : 1);
    if (c->kind == COMM_BROADCAST && p->rank != c->root)
        return;
    size_t inputs = c->kind == COMM_ALL_GATHER ? c->count : c->count * comm_parts(c->kind, p->ranks);
    for (size_t i = 0; i < inputs; i++)
        put(c->dtype, in ? in : own, i, input_value(c, &rule, p->rank, i));
}

/* Returns element i of an array of a floating-point type (integers have no tolerance). */
static double value_at(enum comm_dtype dtype, const void *array, size_t i)
{
    return dtype == COMM_FLOAT64 ? ((const double *)array)[i]
           : dtype == COMM_BF16  ? (double)bf16_widen(((const uint16_t *)array)[i])
                                 : (double)((const float *)array)[i];
}

size_t payload_wrong(const struct payload *p, const void *result)
{
    const struct collective *c = &p->collective;
    struct rule rule = rule_of(p);
    static const double rounding[COMM_DTYPES] = {
        [COMM_FLOAT32] = 0x1p-24, [COMM_BF16] = 0x1p-8, [COMM_FLOAT64] = 0x1p-53};
    int exact = c->op != COMM_AVG || !comm_reduces(c->kind) || !p->rounds_average || (p->ranks & (p->ranks - 1)) == 0;
    /* Multiplying by a rounded 1 / n adds two rounding errors to each input; each of the n - 1 additions adds another.
     * Each error is at most the rounding error of the largest partial sum. */
    double tolerance = exact ? 0 : (p->ranks + 2) * rounding[c->dtype] * (double)(rule.reach + rule.ramp);
    size_t wrong = 0, size = comm_dtype_bytes(c->dtype);
    for (size_t i = 0; i < payload_result(c, p->ranks); i++) {
        int64_t value = result_value(p, &rule, i);
        unsigned char right[8];
        put(c->dtype, right, 0, value);
        if (tolerance > 0 ? !(fabs(value_at(c->dtype, result, i) - (double)value) <= tolerance)
                          : memcmp((const char *)result + i * size, right, size) != 0)
            wrong++;
    }
    return wrong;
}
