/* payload.c - inputs whose reduction is exact in any order. */
#include "allreduce/payload.h"

#include "kernels/bf16.h"

#include <math.h>
#include <string.h>

/* The output function of Steele, Lea and Flood's SplitMix, OOPSLA 2014. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* What all elements of a payload have in common. */
struct rule {
    int64_t ranks, ramp; /* ranks in the ramp */
    int64_t carriers;    /* ranks that add the base, those of the ramp first */
    int64_t reach, most; /* the base is in [-reach, reach]; whole numbers up to `most` are exact */
    uint64_t round;
};

static struct rule rule_of(const struct payload *p)
{
    /* whole numbers up to the limit are exact in the type, and so are sums that do not exceed it; the ramp's positive
       half sums up to at most a quarter of it */
    static const int64_t limits[COMM_DTYPES] = {1 << 24, 1 << 8, (int64_t)1 << 53, 1 << 30};
    int64_t limit = limits[p->collective.dtype], most_ramp = p->collective.dtype == COMM_BF16 ? 16 : 4096;
    int64_t ramp = most_ramp < p->ranks ? most_ramp : p->ranks;
    /* An average needs the base of every rank to stay whole; a largest adds nothing up. */
    int64_t carriers = p->collective.op == COMM_SUM ? ramp : p->ranks;
    int64_t reach = p->collective.op == COMM_MAX ? limit - ramp : (limit - (ramp / 2 + 1) * (ramp / 2 + 1)) / carriers;
    return (struct rule){p->ranks, ramp, carriers, reach, limit, (uint64_t)p->round << 48};
}

/* A whole number in [-reach, reach]. */
static int64_t whole(uint64_t hash, int64_t reach)
{
    return (int64_t)(hash >> 8) % (2 * reach + 1) - reach;
}

static int64_t input_value(const struct rule *rule, int64_t rank, size_t element)
{
    uint64_t hash = mix(element ^ rule->round);
    int64_t slot = (rank + (int64_t)(hash & 0xff)) % rule->ranks;
    return (slot < rule->carriers ? whole(hash, rule->reach) : 0) +
           (slot < rule->ramp ? 2 * slot - (rule->ramp - 1) : 0);
}

static int64_t reduced_value(const struct rule *rule, enum comm_op op, size_t element)
{
    int64_t h = whole(mix(element ^ rule->round), rule->reach);
    return op == COMM_SUM ? rule->carriers * h : op == COMM_AVG ? h : h + rule->ramp - 1;
}

static int64_t own_value(const struct rule *rule, int64_t rank, size_t element)
{
    return whole(mix((element ^ rule->round) + ((uint64_t)rank << 40)), rule->most);
}

/* Writes a whole number as element i of an array of a type. */
static void put(enum comm_dtype dtype, void *array, size_t i, int64_t value)
{
    float f = (float)value;
    double d = (double)value;
    int32_t n = (int32_t)value;
    uint16_t b = bf16_narrow(f);
    const void *from[COMM_DTYPES] = {&f, &b, &d, &n};
    size_t size = comm_dtype_bytes(dtype);
    memcpy((char *)array + i * size, from[dtype], size);
}

static int differs(enum comm_dtype dtype, const void *array, size_t i, int64_t value)
{
    unsigned char bytes[8];
    size_t size = comm_dtype_bytes(dtype);
    put(dtype, bytes, 0, value);
    return memcmp((const char *)array + i * size, bytes, size) != 0;
}

static int gathers(const struct collective *c)
{
    return c->kind == COMM_ALL_GATHER || c->kind == COMM_BROADCAST;
}

size_t payload_result(const struct collective *c, int ranks)
{
    return c->kind == COMM_ALL_GATHER ? c->count * (size_t)ranks : c->count;
}

static int64_t result_value(const struct payload *p, const struct rule *rule, size_t i)
{
    const struct collective *c = &p->collective;
    if (c->kind == COMM_ALL_GATHER)
        return own_value(rule, (int64_t)(i / c->count), i % c->count);
    if (c->kind == COMM_BROADCAST)
        return own_value(rule, c->root, i);
    return reduced_value(rule, c->op, i + (c->kind == COMM_REDUCE_SCATTER ? (size_t)p->rank * c->count : 0));
}

void payload_fill(const struct payload *p, void *in, void *buffer)
{
    const struct collective *c = &p->collective;
    struct rule rule = rule_of(p);
    size_t inputs = c->kind == COMM_REDUCE_SCATTER ? c->count * (size_t)p->ranks : c->count;
    char *own =
        (char *)buffer + (c->kind == COMM_ALL_GATHER ? (size_t)p->rank * c->count : 0) * comm_dtype_bytes(c->dtype);
    for (size_t i = 0; i < payload_result(c, p->ranks); i++)
        put(c->dtype, buffer, i, result_value(p, &rule, i) == 1 ? 2 : 1);
    if (c->kind == COMM_BROADCAST && p->rank != c->root)
        return;
    for (size_t i = 0; i < inputs; i++)
        put(c->dtype, in ? in : own, i, gathers(c) ? own_value(&rule, p->rank, i) : input_value(&rule, p->rank, i));
}

/* How far a result may be off. A rounded 1 / n makes each input wrong by two roundings, and each of the n - 1 additions
 * by one more of at most the largest partial sum. */
static double tolerance_of(const struct payload *p, const struct rule *rule)
{
    static const double rounding[COMM_DTYPES] = {0x1p-24, 0x1p-8, 0x1p-53, 0};
    const struct collective *c = &p->collective;
    int exact = c->op != COMM_AVG || gathers(c) || !p->rounds_average || (p->ranks & (p->ranks - 1)) == 0;
    return exact ? 0 : (p->ranks + 2) * rounding[c->dtype] * (double)(rule->reach + rule->ramp);
}

/* Of floating point: only those have a tolerance. */
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
    double tolerance = tolerance_of(p, &rule);
    size_t wrong = 0;
    for (size_t i = 0; i < payload_result(c, p->ranks); i++) {
        int64_t value = result_value(p, &rule, i);
        wrong += (size_t)(tolerance > 0 ? !(fabs(value_at(c->dtype, result, i) - (double)value) <= tolerance)
                                        : differs(c->dtype, result, i, value));
    }
    return wrong;
}
