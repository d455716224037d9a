/* arrays.c - arrays for tests of a device: filled, guarded, fetched and compared. */
#include "tests/support/arrays.h"
#include "kernels/bf16.h"
#include "kernels/error.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each array has guards before and after it: signalling NaNs, so that reading them spoils a result, and adding to them
 * changes them. After ODD_GUARD bytes an array is aligned only like a float, the minimum that operations may rely on.
 * After EVEN_GUARD bytes it is aligned like the device's memory, for which some operations have a faster path. About
 * half of the cases align all arrays; the others decide at random for each array. */
enum { ODD_GUARD = 17 * sizeof(float), EVEN_GUARD = 16 * sizeof(float), ARRAYS = 16 };
static const uint32_t guard_bits = 0x7FA5A5A5u;

static struct array arrays[ARRAYS];
static int arrays_used, all_aligned, must_align; /* all_aligned: by chance, must_align: on request of this case */
static void *scratch[64];                        /* memory of array_doubles(), freed by arrays_finish() */
static int scratch_used;
static uint32_t random_state = 1;
static const struct device *device;
static const char *label;

void arrays_begin(const struct device *on, const char *name)
{
    device = on;
    label = name;
    random_state = 2463534242u;
}

static float array_random(float low, float high)
{
    random_state ^= random_state << 13; /* by Marsaglia, Xorshift RNGs, 2003 */
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return low + (high - low) * (float)(random_state >> 8) * 0x1p-24f;
}

double *array_doubles(size_t n)
{
    ck_assert_int_lt(scratch_used, (int)(sizeof scratch / sizeof *scratch));
    return scratch[scratch_used++] = allocate(n, sizeof(double));
}

void arrays_align(void)
{
    must_align = 1;
}

struct array *array_bytes(size_t bytes)
{
    ck_assert_int_lt(arrays_used, ARRAYS);
    struct array *a = &arrays[arrays_used++];
    if (arrays_used == 1)
        all_aligned = array_random(0.0f, 1.0f) < 0.5f;
    int aligned = must_align || all_aligned || array_random(0.0f, 1.0f) < 0.5f;
    size_t guard = aligned ? EVEN_GUARD : ODD_GUARD, whole = bytes + 2 * guard;
    *a = (struct array){.bytes = bytes, .guard = guard, .width = sizeof(float)};
    a->start = allocate(whole, 1);
    a->got = allocate(whole, 1);
    a->block = device->allocate(whole);
    for (size_t i = 0; i < guard; i += sizeof guard_bits) {
        memcpy(a->start + i, &guard_bits, sizeof guard_bits);
        memcpy(a->start + guard + bytes + i, &guard_bits, sizeof guard_bits);
    }
    return a;
}

struct array *array_floats(size_t n, float low, float high)
{
    struct array *a = array_bytes(n * sizeof(float));
    float *to = (float *)(void *)(a->start + a->guard);
    for (size_t i = 0; i < n; i++)
        to[i] = array_random(low, high);
    return a;
}

struct array *array_numbers(size_t n, float low, float high)
{
    struct array *a = array_bytes(n * device->compute_bytes);
    a->width = device->compute_bytes;
    for (size_t i = 0; i < n; i++)
        array_set(a, i, (double)array_random(low, high));
    return a;
}

void array_set(struct array *a, size_t i, double value)
{
    if (a->width == sizeof(float))
        ((float *)array_before(a))[i] = (float)value;
    else
        ((uint16_t *)array_before(a))[i] = bf16_narrow((float)value);
}

static double number(const struct array *a, const void *numbers, size_t i)
{
    return a->width == sizeof(float) ? (double)((const float *)numbers)[i]
                                     : (double)bf16_widen(((const uint16_t *)numbers)[i]);
}

struct array *array_tokens(size_t n, size_t below)
{
    struct array *a = array_bytes(n * sizeof(int32_t));
    int32_t *to = (int32_t *)(void *)(a->start + a->guard);
    for (size_t i = 0; i < n; i++)
        to[i] = (int32_t)array_random(0.0f, (float)below);
    return a;
}

void *array_device(const struct array *a)
{
    return a->block + a->guard;
}

void *array_before(const struct array *a)
{
    return a->start + a->guard;
}

void *array_after(const struct array *a)
{
    return a->got + a->guard;
}

double *array_wide(const struct array *a)
{
    size_t n = a->bytes / a->width;
    double *to = array_doubles(n);
    for (size_t i = 0; i < n; i++)
        to[i] = number(a, array_before(a), i);
    return to;
}

void arrays_upload(void)
{
    for (int i = 0; i < arrays_used; i++)
        device->upload(arrays[i].block, arrays[i].start, arrays[i].bytes + 2 * arrays[i].guard);
}

void arrays_download(int pass)
{
    for (int i = 0; i < arrays_used; i++) {
        size_t whole = arrays[i].bytes + 2 * arrays[i].guard;
        unsigned char *now = allocate(whole, 1);
        device->download(now, arrays[i].block, whole);
        if (pass == 1)
            ck_assert_msg(memcmp(now, arrays[i].got, whole) == 0, "%s: array %d differs between two equal calls", label,
                          i);
        memcpy(arrays[i].got, now, whole);
        free(now);
    }
}

void array_near_columns(struct array *a, size_t stride, size_t first, size_t width, const double *want, double relative,
                        double absolute)
{
    double rounding = a->width == sizeof(float) ? 0 : 0x1p-8;
    a->checked = 1;
    for (size_t i = 0; i < a->bytes / a->width / stride * width; i++) {
        size_t at = i / width * stride + first + i % width;
        double got = number(a, array_after(a), at);
        double error = fabs(got - want[i]), allowed = (relative + rounding) * fabs(want[i]) + absolute;
        if (!(error <= allowed))
            ck_abort_msg("%s: element %zu of array %d is %.9g, not %.9g: error %g, allowed %g", label, at,
                         (int)(a - arrays), got, want[i], error, allowed);
    }
}

void array_near(struct array *a, const double *want, double relative, double absolute)
{
    size_t n = a->bytes / a->width;
    array_near_columns(a, n, 0, n, want, relative, absolute);
}

void array_equal(struct array *a, const void *want)
{
    a->checked = 1;
    ck_assert_msg(memcmp(array_after(a), want, a->bytes) == 0, "%s: array %d has wrong bits", label, (int)(a - arrays));
}

void arrays_finish(void)
{
    for (int i = 0; i < arrays_used; i++) {
        struct array *a = &arrays[i];
        size_t end = a->guard + a->bytes;
        ck_assert_msg(memcmp(a->got, a->start, a->guard) == 0, "%s: wrote before array %d", label, i);
        ck_assert_msg(memcmp(a->got + end, a->start + end, a->guard) == 0, "%s: wrote past array %d", label, i);
        if (!a->checked)
            ck_assert_msg(memcmp(a->got, a->start, end) == 0, "%s: changed its input, array %d", label, i);
        device->release(a->block);
        free(a->start);
        free(a->got);
    }
    for (int i = 0; i < scratch_used; i++)
        free(scratch[i]);
    arrays_used = scratch_used = must_align = 0;
}
