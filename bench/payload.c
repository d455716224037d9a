/* payload.c - inputs whose reduction is exact in any order. */
#include "payload.h"

#include "bf16.h"

#include <string.h>

/* Whole numbers up to this size are exact in the type, and so are sums that do not exceed it. */
static int64_t limit_of(enum comm_dtype dtype)
{
    static const int64_t limit[COMM_DTYPES] = {1 << 24, (int64_t)1 << 53, 1 << 8, 1 << 30};
    return limit[dtype];
}

/* The most ranks that the ramp goes over: its positive half then sums up to at most a quarter of the limit. */
static int64_t ramp_of(enum comm_dtype dtype)
{
    return dtype == COMM_BF16 ? 16 : 4096;
}

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
    int64_t ranks, ramp, reach; /* ranks in the ramp; the base is in [-reach, reach] */
    uint64_t round;
};

static struct rule rule_of(const struct payload *p)
{
    int64_t ramp = ramp_of(p->collective.dtype), limit = limit_of(p->collective.dtype);
    if (ramp > p->ranks)
        ramp = p->ranks;
    return (struct rule){p->ranks, ramp, (limit - (ramp / 2 + 1) * (ramp / 2 + 1)) / p->ranks,
                         (uint64_t)p->round << 48};
}

static int64_t base(const struct rule *rule, uint64_t hash)
{
    return (int64_t)(hash >> 8) % (2 * rule->reach + 1) - rule->reach;
}

static int64_t input_value(const struct rule *rule, int64_t rank, size_t element)
{
    uint64_t hash = mix(element ^ rule->round);
    int64_t slot = (rank + (int64_t)(hash & 0xff)) % rule->ranks;
    return base(rule, hash) + (slot < rule->ramp ? 2 * slot - (rule->ramp - 1) : 0);
}

static int64_t reduced_value(const struct rule *rule, enum comm_op op, size_t element)
{
    int64_t h = base(rule, mix(element ^ rule->round));
    return op == COMM_SUM ? rule->ranks * h : op == COMM_AVG ? h : h + rule->ramp - 1;
}

static int64_t own_value(const struct rule *rule, int64_t rank, size_t element)
{
    return base(rule, mix((element ^ rule->round) + ((uint64_t)rank << 40)));
}

/* Writes a whole number in a type; returns its size. */
static size_t encode(enum comm_dtype dtype, int64_t value, unsigned char bytes[8])
{
    float f = (float)value;
    double d = (double)value;
    int32_t i = (int32_t)value;
    uint16_t b = bf16_narrow(f);
    const void *from[COMM_DTYPES] = {&f, &d, &b, &i};
    memcpy(bytes, from[dtype], comm_dtype_bytes(dtype));
    return comm_dtype_bytes(dtype);
}

static void put(enum comm_dtype dtype, void *array, size_t i, int64_t value)
{
    unsigned char bytes[8];
    size_t size = encode(dtype, value, bytes);
    memcpy((char *)array + i * size, bytes, size);
}

static int differs(enum comm_dtype dtype, const void *array, size_t i, int64_t value)
{
    unsigned char bytes[8];
    size_t size = encode(dtype, value, bytes);
    return memcmp((const char *)array + i * size, bytes, size) != 0;
}

static int gathers(const struct collective *c)
{
    return c->kind == COMM_ALL_GATHER || c->kind == COMM_BROADCAST;
}

size_t payload_input(const struct collective *c, int ranks)
{
    return c->kind == COMM_REDUCE_SCATTER ? c->count * (size_t)ranks : c->count;
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
    size_t inputs = payload_input(c, p->ranks), outputs = payload_result(c, p->ranks);
    char *own =
        (char *)buffer + (c->kind == COMM_ALL_GATHER ? (size_t)p->rank * c->count : 0) * comm_dtype_bytes(c->dtype);
    for (size_t i = 0; i < outputs; i++)
        put(c->dtype, buffer, i, result_value(p, &rule, i) == 1 ? 2 : 1);
    if (c->kind == COMM_BROADCAST && p->rank != c->root)
        return;
    for (size_t i = 0; i < inputs; i++)
        put(c->dtype, in ? in : own, i, gathers(c) ? own_value(&rule, p->rank, i) : input_value(&rule, p->rank, i));
}

size_t payload_wrong(const struct payload *p, const void *buffer)
{
    const struct collective *c = &p->collective;
    struct rule rule = rule_of(p);
    size_t wrong = 0;
    for (size_t i = 0; i < payload_result(c, p->ranks); i++)
        wrong += (size_t)differs(c->dtype, buffer, i, result_value(p, &rule, i));
    return wrong;
}
