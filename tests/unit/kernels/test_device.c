/* test_device.c - every operation of every device compared with the double-precision reference, for many sizes.
 *
 * Operations run twice from the same start and must give the same bits, without changing inputs or other memory. */
#include "kernels/bf16.h"
#include "kernels/clock.h"
#include "kernels/cpu/cpu.h"
#include "kernels/device_cuda.h"
#include "kernels/error.h"
#include "tests/support/arrays.h"
#include "tests/support/reference.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct device *cpu(int threads)
{
    return device_cpu(threads);
}

/* Returns the accelerator for NVIDIA's GPUs if this process sees one; else NULL. */
static const struct accelerator *gpus(void)
{
    const struct accelerator *accelerator = accelerator_cuda();
    return accelerator && accelerator->count() > 0 ? accelerator : NULL;
}

/* Returns GPU 0 of this process; NULL without a GPU. */
static const struct device *open_gpu(int precision, enum blas_library library)
{
    const struct device *opened;
    if (!gpus())
        return NULL;
    if (gpus()->open(0, (enum precision)precision, &(struct gpu_products){library, 0}, &opened))
        FATAL("%s", error_text());
    return opened;
}

static const struct device *cuda(int precision)
{
    return open_gpu(precision, BLAS_CUBLAS);
}

static const struct device *cublaslt(int precision)
{
    return open_gpu(precision, BLAS_CUBLASLT);
}

/* The devices under test. */
static const struct {
    const char *name;
    const struct device *(*create)(int how);
    int how;
} devices[] = {
    {"cpu with 1 thread", cpu, 1},
    {"cpu with 2 threads", cpu, 2},
    {"cuda fp32", cuda, PRECISION_FP32},
    {"cuda tf32", cuda, PRECISION_TF32},
    {"cuda bf16", cuda, PRECISION_BF16},
    {"cuda fp32 by cublasLt", cublaslt, PRECISION_FP32},
    {"cuda tf32 by cublasLt", cublaslt, PRECISION_TF32},
    {"cuda bf16 by cublasLt", cublaslt, PRECISION_BF16},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define UNIT          0x1p-24 /* the largest relative error of rounding to float; called u in comments */

static const struct device *device; /* the device under test */

/* called[i] is 1 if the running test has called pointer i of struct device. */
enum { SLOTS = sizeof(struct device) / sizeof(void *) };
static int called[SLOTS];
#define SLOT(operation) (offsetof(struct device, operation) / sizeof(void *))
#define CALL(operation) (called[SLOT(operation)] = 1, device->operation)

/* Runs an operation of the device twice on the same data. */
#define RUN(operation, ...)                                                                                            \
    do {                                                                                                               \
        for (int pass = 0; pass < 2; pass++) {                                                                         \
            arrays_upload();                                                                                           \
            CALL(operation)(__VA_ARGS__);                                                                              \
            arrays_download(pass);                                                                                     \
        }                                                                                                              \
    } while (0)

/* ---- memory and moving numbers ---- */

static const size_t lengths[] = {1, 3, 17, 130, 1000, 100003};

static void test_memory(void)
{
    static const size_t sizes[] = {1, 100, 4097,
                                   ((size_t)5 << 20) + 3}; /* the last size is large enough for huge pages */
    for (size_t s = 0; s < LENGTH(sizes); s++) {
        size_t n = sizes[s];
        unsigned char *memory = CALL(allocate)(n), *out = allocate(n, 1), *back = allocate(n, 1);
        ck_assert_uint_eq((uintptr_t)memory % 64, 0);
        CALL(download)(back, memory, n);
        ck_assert_msg(memcmp(back, out, n) == 0, "memory of %zu bytes is not zeroed", n);
        for (size_t i = 0; i < n; i++)
            out[i] = (unsigned char)(i * 7 + 1);
        CALL(upload)(memory, out, n);
        CALL(synchronize)();
        CALL(download)(back, memory, n);
        ck_assert_msg(memcmp(back, out, n) == 0, "%zu bytes came back changed", n);
        CALL(release)(memory);
        free(out);
        free(back);
    }
    CALL(release)(NULL);
}

/* Stamps are times of the host's clock, in the order in which they were queued. */
static void test_stamps(void)
{
    size_t n = 100003;
    struct array *x = array_floats(n, -1.0f, 1.0f);
    arrays_upload();
    CALL(stamps_begin)();
    int64_t before = clock_now_ns(), stamp[4];
    for (int i = 0; i < 4; i++) {
        stamp[i] = CALL(stamp)();
        ck_assert(device->asynchronous ? stamp[i] < 0 : stamp[i] > 0);
        device->zero(array_device(x), n);
    }
    CALL(stamps_end)();
    int64_t after = clock_now_ns(),
            slack = device->asynchronous ? 1000000 : 0; /* GPU and host clock may differ by 1 ms */
    for (int i = 0; i < 4; i++) {
        int64_t now = CALL(stamp_ns)(stamp[i]);
        ck_assert_msg(now >= before - slack && now <= after + slack, "stamp %d is %lld ns off", i,
                      (long long)(now < before ? now - before : now - after));
        ck_assert(i == 0 || now >= device->stamp_ns(stamp[i - 1]));
    }
    arrays_download(0);
    x->checked = 1;
    arrays_finish();
}

/* stage_out copies data computed before the call, and data of stage_in has arrived once its mark is reached. */
static void test_staging(void)
{
    enum { MARKS = 3 };
    size_t n = 100003, bytes = n * sizeof(float);
    struct array *from = array_floats(n, -1.0f, 1.0f), *to = array_floats(n, -1.0f, 1.0f);
    struct array *source = array_floats(n, -1.0f, 1.0f);
    CALL(staging_create)(MARKS);
    float *host = CALL(allocate_host)(bytes);
    arrays_upload();
    device->copy(array_device(from), array_device(source), n);
    for (size_t mark = 0; mark < MARKS; mark++) {
        CALL(stage_out)(host, array_device(from), bytes, mark);
        while (!CALL(stage_reached)(mark))
            ;
        ck_assert_msg(memcmp(host, array_before(source), bytes) == 0, "stage_out copied other data than was computed");
        CALL(stage_in)(array_device(to), host, bytes, mark);
        while (!device->stage_reached(mark))
            ;
    }
    device->synchronize();
    arrays_download(0);
    array_equal(from, array_before(source));
    array_equal(to, array_before(source));
    CALL(release_host)(host);
    CALL(staging_destroy)();
    arrays_finish();
}

/* Ranges, phases and annotations change no data. */
static void test_ranges(void)
{
    struct array *x = array_floats(17, -1.0f, 1.0f);
    arrays_upload();
    CALL(phase)("forward_pass");
    CALL(phase)(NULL);
    CALL(range_begin)("block", 3);
    CALL(range_begin)("attention", -1);
    CALL(range_end)();
    CALL(range_end)();
    CALL(annotation_begin)("all_reduce bucket %d", 3);
    CALL(annotation_end)();
    arrays_download(0);
    array_equal(x, array_before(x));
    arrays_finish();
}

static void test_zero(void)
{
    for (size_t l = 0; l < LENGTH(lengths); l++) {
        struct array *x = array_floats(lengths[l], -1.0f, 1.0f);
        RUN(zero, array_device(x), lengths[l]);
        array_equal(x, array_doubles(lengths[l])); /* all zeros */
        arrays_finish();
    }
}

static void test_copy(void)
{
    for (size_t l = 0; l < LENGTH(lengths); l++) {
        struct array *to = array_floats(lengths[l], -1.0f, 1.0f), *from = array_floats(lengths[l], -1.0f, 1.0f);
        RUN(copy, array_device(to), array_device(from), lengths[l]);
        array_equal(to, array_before(from));
        arrays_finish();
    }
}

/* bf16_cases: bits of a float, and of the bfloat16 that it rounds to, for ties to even, neighbours of ties, overflow to
 * infinity, infinities, subnormals, zeros. nan_cases: NaNs; without their lower half, some would be an infinity. */
static const uint32_t bf16_cases[][2] = {
    {0x3F800000u, 0x3F80u}, {0x3F808000u, 0x3F80u}, {0x3F818000u, 0x3F82u}, {0x3F807FFFu, 0x3F80u},
    {0x3F808001u, 0x3F81u}, {0x3F817FFFu, 0x3F81u}, {0x3F818001u, 0x3F82u}, {0xBF808000u, 0xBF80u},
    {0xBF818000u, 0xBF82u}, {0x3FFF8000u, 0x4000u}, {0x7F7F7FFFu, 0x7F7Fu}, {0x7F7F8000u, 0x7F80u},
    {0xFF7FFFFFu, 0xFF80u}, {0x7F800000u, 0x7F80u}, {0xFF800000u, 0xFF80u}, {0x00000001u, 0x0000u},
    {0x00008000u, 0x0000u}, {0x00008001u, 0x0001u}, {0x00018000u, 0x0002u}, {0x007FFFFFu, 0x0080u},
    {0x80018000u, 0x8002u}, {0x00000000u, 0x0000u}, {0x80000000u, 0x8000u},
};
static const uint32_t nan_cases[] = {0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0x7F808000u,
                                     0x7FFFFFFFu, 0xFFFFFFFFu, 0xFF800001u, 0x7FBFFFFFu};

static int is_bf16_nan(uint16_t x)
{
    return (x & 0x7FFFu) > 0x7F80u;
}

static void test_pack_exact(void)
{
    struct array *from = array_floats(LENGTH(bf16_cases) + LENGTH(nan_cases), 0.0f, 1.0f);
    struct array *to = array_bytes((LENGTH(bf16_cases) + LENGTH(nan_cases)) * sizeof(uint16_t));
    uint32_t *bits = array_before(from);
    for (size_t i = 0; i < LENGTH(bf16_cases); i++)
        bits[i] = bf16_cases[i][0];
    memcpy(bits + LENGTH(bf16_cases), nan_cases, sizeof nan_cases);
    RUN(pack_bf16, array_device(to), array_device(from), LENGTH(bf16_cases) + LENGTH(nan_cases));
    const uint16_t *got = array_after(to);
    to->checked = 1;
    for (size_t i = 0; i < LENGTH(bf16_cases); i++) {
        float x;
        memcpy(&x, &bf16_cases[i][0], sizeof x);
        ck_assert_msg(reference_pack_bf16(x) == bf16_cases[i][1], "the reference is wrong in case %zu", i);
        ck_assert_msg(got[i] == bf16_cases[i][1], "%08x becomes %04x, not %04x", bf16_cases[i][0], got[i],
                      bf16_cases[i][1]);
    }
    for (size_t i = 0; i < LENGTH(nan_cases); i++)
        ck_assert_msg(is_bf16_nan(got[LENGTH(bf16_cases) + i]), "%08x is no longer NaN", nan_cases[i]);
    arrays_finish();
}

static void test_pack_bf16(void)
{
    test_pack_exact();
    for (size_t l = 0; l < LENGTH(lengths); l++) {
        struct array *from = array_floats(lengths[l], -10.0f, 10.0f), *to = array_bytes(lengths[l] * sizeof(uint16_t));
        RUN(pack_bf16, array_device(to), array_device(from), lengths[l]);
        uint16_t *want = (uint16_t *)(void *)array_doubles(lengths[l]);
        for (size_t i = 0; i < lengths[l]; i++)
            want[i] = reference_pack_bf16(((float *)array_before(from))[i]);
        array_equal(to, want);
        arrays_finish();
    }
}

/* Sums of rows are exact, because the numbers are whole and small; the stride leaves out numbers between rows. */
static void test_unpack_rows(void)
{
    static const size_t cases[][3] = {{1, 2, 1}, {17, 3, 19}, {130, 4, 136}, {1000, 2, 1000}, {4096, 5, 4104}};
    for (size_t l = 0; l < LENGTH(cases); l++) {
        size_t n = cases[l][0], rows = cases[l][1], stride = cases[l][2];
        struct array *from = array_bytes(rows * stride * sizeof(uint16_t)), *to = array_floats(n, 0.0f, 1.0f);
        for (size_t i = 0; i < rows * stride; i++)
            ((uint16_t *)array_before(from))[i] = bf16_narrow((float)(i % 37) - 11);
        RUN(unpack_bf16, array_device(to), array_device(from), n, rows, stride);
        to->checked = 1;
        for (size_t i = 0; i < n; i++) {
            float sum = 0;
            for (size_t r = 0; r < rows; r++)
                sum += (float)((r * stride + i) % 37) - 11;
            ck_assert_float_eq(((float *)array_after(to))[i], sum);
        }
        arrays_finish();
    }
}

/* All 65,536 values are unpacked, then the first few in shorter arrays. All NaNs count as equal. */
static void test_unpack_bf16(void)
{
    static const size_t counts[] = {65536, 1, 3, 17, 130, 1000};
    test_unpack_rows();
    for (size_t l = 0; l < LENGTH(counts); l++) {
        struct array *from = array_bytes(counts[l] * sizeof(uint16_t)), *to = array_floats(counts[l], 0.0f, 1.0f);
        for (size_t i = 0; i < counts[l]; i++)
            ((uint16_t *)array_before(from))[i] = (uint16_t)i;
        RUN(unpack_bf16, array_device(to), array_device(from), counts[l], 1, counts[l]);
        to->checked = 1;
        for (size_t i = 0; i < counts[l]; i++) {
            uint32_t got = ((uint32_t *)array_after(to))[i];
            int both_nan = is_bf16_nan((uint16_t)i) && (got & 0x7FFFFFFFu) > 0x7F800000u;
            ck_assert_msg(got == (uint32_t)i << 16 || both_nan, "%04zx becomes %08x", i, got);
        }
        arrays_finish();
    }
}

/* ---- layers ---- */

static const size_t row_counts[] = {1, 3, 17, 130};

/* Returns whether a shape has both many and long rows. Tests skip such shapes, on which an emulated GPU would spend
 * most of its time. They would find no further errors, since kernels treat rows one by one. */
static int both_are_large(size_t rows, size_t width)
{
    return rows * width > 20000;
}

static void test_embedding_forward(void)
{
    static const size_t sizes[][2] = {{3, 1}, {257, 6}, {1000, 77}}; /* V, C */
    for (size_t r = 0; r < LENGTH(row_counts); r++)
        for (size_t s = 0; s < LENGTH(sizes); s++) {
            size_t N = row_counts[r], V = sizes[s][0], C = sizes[s][1];
            struct array *x = array_numbers(N * C, -1.0f, 1.0f), *table = array_numbers(V * C, -1.0f, 1.0f),
                         *token = array_tokens(N, V);
            RUN(embedding_forward, array_device(x), array_device(table), array_device(token), N, C);
            double *want = array_doubles(N * C);
            reference_embedding_forward(want, array_wide(table), array_before(token), N, C);
            array_near(x, want, 0.0, 0.0); /* numbers are copied, so the result is exact */
            arrays_finish();
        }
}

/* Makes an array of the places of tokens[N], below V, in the order that embedding_backward needs. */
static struct array *array_order(const struct array *tokens, size_t N, size_t V)
{
    struct array *order = array_tokens(N, 1);
    const int32_t *token = array_before(tokens);
    int32_t *to = array_before(order);
    for (size_t v = 0; v < V; v++)
        for (size_t i = 0; i < N; i++)
            if ((size_t)token[i] == v)
                *to++ = (int32_t)i;
    return order;
}

/* The result exactly equals a float sum in the documented order; the double reference checks which rows are added. */
static void test_embedding_backward(void)
{
    /* V, C: tokens repeat if V is small; all differ if it is 1009 */
    static const size_t sizes[][2] = {{1, 5}, {3, 1}, {3, 132}, {257, 6}, {1009, 12}};
    static const size_t counts[] = {1, 3, 17, 130, 1000}; /* a GPU reads the numbers of 32 rows at once */
    for (size_t r = 0; r < LENGTH(counts); r++)
        for (size_t s = 0; s < 2 * LENGTH(sizes); s++) {
            size_t N = counts[r], V = sizes[s / 2][0], C = sizes[s / 2][1];
            int accumulate = s % 2;
            struct array *dtable = array_floats(V * C, -1.0f, 1.0f), *dx = array_numbers(N * C, -1.0f, 1.0f),
                         *token = array_tokens(N, V);
            for (size_t i = 0; V == 1009 && i < N; i++)
                ((int32_t *)array_before(token))[i] = (int32_t)(i * 101 % V);
            struct array *order = array_order(token, N, V);
            RUN(embedding_backward, array_device(dtable), array_device(dx), array_device(token), array_device(order), N,
                C, V, accumulate);
            double *want = accumulate ? array_wide(dtable) : array_doubles(V * C);
            reference_embedding_backward(want, array_wide(dx), array_before(token), N, C);
            /* The tolerance is N + 1 roundings of partial sums, which rarely exceed sqrt(N). */
            array_near(dtable, want, 0.0, (double)(N + 1) * UNIT * sqrt((double)N));
            const double *rows = array_wide(dx);
            float *ordered = (float *)(void *)array_doubles(V * C);
            if (accumulate)
                memcpy(ordered, array_before(dtable), dtable->bytes);
            for (size_t i = 0; i < N; i++)
                for (size_t c = 0; c < C; c++)
                    ordered[(size_t)((int32_t *)array_before(token))[i] * C + c] += (float)rows[i * C + c];
            array_equal(dtable, ordered);
            arrays_finish();
        }
}

/* Tolerance for a sum of K products of numbers up to 1. Each of K roundings errs by u times a partial sum of about
 * sqrt(K) / 3. The errors add up like a random walk, to about K u / 3. The tolerance is twelve times this error. */
static double product_error(size_t K)
{
    return 4.0 * (double)(K + 1) * UNIT;
}

/* Tolerance for a matrix product of numbers up to 1, whose inputs may be rounded to TF32. Adds K errors of random sign,
 * each at most twice the unit of TF32, to product_error. */
static double matmul_error(size_t K)
{
    double rounding = device->precision == PRECISION_TF32 ? 0x1p-11 : 0;
    return product_error(K) + 4.0 * sqrt((double)K) * rounding;
}

static void linear_case(size_t N, size_t I, size_t O)
{
    struct array *y = array_numbers(N * O, -1.0f, 1.0f), *x = array_numbers(N * I, -1.0f, 1.0f);
    struct array *w = array_numbers(O * I, -1.0f, 1.0f);
    RUN(linear_forward, array_device(y), array_device(x), array_device(w), N, I, O);
    double *want = array_doubles(N * O);
    reference_linear_forward(want, array_wide(x), array_wide(w), N, I, O);
    array_near(y, want, 0.0, matmul_error(I));
    arrays_finish();
    struct array *residual = array_numbers(N * O, -1.0f, 1.0f);
    y = array_numbers(N * O, -1.0f, 1.0f);
    x = array_numbers(N * I, -1.0f, 1.0f);
    w = array_numbers(O * I, -1.0f, 1.0f);
    RUN(linear_residual_forward, array_device(y), array_device(residual), array_device(x), array_device(w), N, I, O);
    want = array_doubles(N * O);
    reference_linear_forward(want, array_wide(x), array_wide(w), N, I, O);
    const double *add = array_wide(residual);
    for (size_t i = 0; i < N * O; i++)
        want[i] += add[i];
    array_near(y, want, 0.0, matmul_error(I));
    array_near(residual, add, 0.0, 0.0);
    arrays_finish();
    for (int accumulate = 0; accumulate < 2; accumulate++) {
        struct array *dx = array_numbers(N * I, -1.0f, 1.0f), *dy = array_numbers(N * O, -1.0f, 1.0f);
        w = array_numbers(O * I, -1.0f, 1.0f);
        RUN(linear_backward_input, array_device(dx), array_device(dy), array_device(w), N, I, O, accumulate);
        want = array_wide(dx);
        reference_linear_backward_input(want, array_wide(dy), array_wide(w), N, I, O, accumulate);
        array_near(dx, want, 0.0, matmul_error(O));
        arrays_finish();
    }
    for (int accumulate = 0; accumulate < 2; accumulate++) {
        struct array *dw = array_floats(O * I, -1.0f, 1.0f), *dy = array_numbers(N * O, -1.0f, 1.0f);
        x = array_numbers(N * I, -1.0f, 1.0f);
        RUN(linear_backward_weight, array_device(dw), array_device(dy), array_device(x), N, I, O, accumulate);
        want = accumulate ? array_wide(dw) : array_doubles(O * I);
        reference_linear_backward_weight(want, array_wide(dy), array_wide(x), N, I, O);
        array_near(dw, want, 0.0, matmul_error(N));
        arrays_finish();
    }
}

static void test_linear(void)
{
    static const size_t sizes[][2] = {{1, 1}, {3, 17}, {17, 3}, {64, 130}, {131, 65}}; /* I, O */
    for (size_t r = 0; r < LENGTH(row_counts); r++)
        for (size_t s = 0; s < LENGTH(sizes); s++)
            linear_case(row_counts[r], sizes[s][0], sizes[s][1]);
}

static const size_t norm_widths[] = {1, 3, 17, 64, 257, 1032}; /* a row takes one or several warps */

static void rmsnorm_forward_case(size_t N, size_t C)
{
    struct array *y = array_numbers(N * C, -1.0f, 1.0f), *rstd = array_floats(N, -1.0f, 1.0f);
    struct array *x = array_numbers(N * C, -2.0f, 2.0f), *w = array_numbers(C, -2.0f, 2.0f);
    RUN(rmsnorm_forward, array_device(y), array_device(rstd), array_device(x), array_device(w), N, C);
    double *want = array_doubles(N * C), *want_rstd = array_doubles(N);
    reference_rmsnorm_forward(want, want_rstd, array_wide(x), array_wide(w), N, C);
    /* A sum of C positive numbers errs by at most C u, its square root by half as much; a few roundings are added. */
    array_near(y, want, ((double)C / 2.0 + 6.0) * UNIT, 0.0);
    array_near(rstd, want_rstd, ((double)C / 2.0 + 4.0) * UNIT, 0.0);
    arrays_finish();
}

static void test_rmsnorm_forward(void)
{
    for (size_t r = 0; r < LENGTH(row_counts); r++)
        for (size_t s = 0; s < LENGTH(norm_widths); s++)
            if (!both_are_large(row_counts[r], norm_widths[s]))
                rmsnorm_forward_case(row_counts[r], norm_widths[s]);
}

static void rmsnorm_backward_case(size_t N, size_t C, int accumulate, int accumulate_weight)
{
    float end = accumulate ? 1.0f : NAN; /* an output that is overwritten may hold anything */
    struct array *dx = array_numbers(N * C, -end, end), *dw = array_floats(C, -1.0f, 1.0f);
    struct array *dy = array_numbers(N * C, -1.0f, 1.0f), *x = array_numbers(N * C, -2.0f, 2.0f);
    struct array *w = array_numbers(C, -1.0f, 1.0f),
                 *rstd = array_floats(N, 0.5f, 2.0f); /* any numbers, not computed from x */
    RUN(rmsnorm_backward, array_device(dx), array_device(dw), array_device(dy), array_device(x), array_device(w),
        array_device(rstd), N, C, accumulate, accumulate_weight);
    double *want = accumulate ? array_wide(dx) : array_doubles(N * C),
           *want_dw = accumulate_weight ? array_wide(dw) : array_doubles(C);
    reference_rmsnorm_backward(want, want_dw, array_wide(dy), array_wide(x), array_wide(w), array_wide(rstd), N, C);
    /* The mean of C numbers up to 4 errs by about 4 u sqrt(C), which the factors n = x rstd and rstd magnify at most 8
     * times; a few roundings of numbers up to 32 are added. dw sums N numbers up to 4. */
    array_near(dx, want, 0.0, (32.0 * sqrt((double)C) + 128.0) * UNIT);
    array_near(dw, want_dw, 0.0, 4.0 * product_error(N));
    arrays_finish();
}

static void test_rmsnorm_backward(void)
{
    for (size_t r = 0; r < LENGTH(row_counts); r++)
        for (size_t s = 0; s < LENGTH(norm_widths); s++)
            for (int which = 0; which < 4 && !both_are_large(row_counts[r], norm_widths[s]); which++)
                rmsnorm_backward_case(row_counts[r], norm_widths[s], which & 1, which & 2);
    rmsnorm_backward_case(300, 7, 1, 1); /* more rows than a GPU handles at once, by blocks and, aligned, by warps */
    arrays_align();
    rmsnorm_backward_case(2100, 8, 1, 1);
}

static const struct shape {
    size_t B, T, H, D;
} shapes[] = {{1, 1, 1, 2}, {2, 7, 3, 6},   {1, 129, 2, 16}, {1, 200, 1, 64},
              {3, 1, 2, 2}, {1, 64, 2, 64}, {2, 65, 1, 16},  {1, 130, 5, 2}};

/* Head widths for which a GPU kernel uses tiles of other sizes, depending on its shared memory. */
static const struct shape wide_heads[] = {{1, 70, 1, 32}, {1, 70, 1, 128}, {1, 70, 2, 200}};

/* Tolerance for the relative error of an attention probability. A score is at most size^2 sqrt(D), and its rounding is
 * an error of the exponential's argument; sums of D and T numbers round too. If inputs of products are rounded, so are
 * probabilities; tensor cores multiply fp32 as three products in TF32, with a relative error of 2^-21. */
static double probability_error(const struct shape *s, float size)
{
    double unit = device->precision == PRECISION_TF32   ? 0x1p-11
                  : device->precision == PRECISION_BF16 ? 0x1p-9
                  : device->asynchronous                ? 0x1p-21
                                                        : UNIT;
    return ((double)(size * size) * sqrt((double)s->D) + 8.0 + sqrt((double)(s->D + s->T))) * unit;
}

/* Queries and keys are within +-size: 1 gives nearly equal probabilities, 3 a few large ones, 30 a single large one. */
static const float score_sizes[] = {1.0f, 3.0f, 30.0f};

/* Tells whether shape s is tested with score size number z. An emulated GPU takes seconds for a long shape, so it tests
 * each shape with one size only, unless TEST_LONG is set (tests/run.sh --long). */
static int is_tested(size_t s, size_t z)
{
    int emulated = device->asynchronous && !strcmp(device->accelerator->built, "an emulated GPU");
    return !emulated || getenv("TEST_LONG") || z == s % LENGTH(score_sizes);
}

/* Returns v, k or q (which: 0, 1, 2), [B, T, H, D], from an array that holds v, k and q of each token together. */
static double *unpacked(const double *packed, const struct shape *s, size_t which)
{
    size_t width = s->H * s->D, rows = s->B * s->T;
    double *part = array_doubles(rows * width);
    for (size_t i = 0; i < rows * width; i++)
        part[i] = packed[i / width * 3 * width + which * width + i % width];
    return part;
}

/* v, k or q (which: 0, 1, 2) in a packed array: part_of returns its address on the device, part_near checks that it is
 * close to want, [B, T, H, D], and part_is_unchanged that its bits are unchanged. */
static void *part_of(const struct array *a, const struct shape *s, size_t which)
{
    return (char *)array_device(a) + which * s->H * s->D * a->width;
}
static void part_near(struct array *a, const struct shape *s, size_t which, const double *want, double absolute)
{
    size_t width = s->H * s->D;
    array_near_columns(a, 3 * width, which * width, width, want, 0.0, absolute);
}
static void part_is_unchanged(const struct array *a, const struct shape *s, size_t which)
{
    size_t bytes = s->H * s->D * a->width;
    const char *before = array_before(a), *after = array_after(a);
    for (size_t row = 0; row < s->B * s->T; row++)
        ck_assert_mem_eq(after + (3 * row + which) * bytes, before + (3 * row + which) * bytes, bytes);
}

/* Return random inputs for attention: queries and keys within +-size, values within 1; angles of rotary embedding. */
static struct array *array_vkq(const struct shape *s, float size)
{
    struct array *vkq = array_numbers(3 * s->B * s->T * s->H * s->D, -size, size);
    const double *drawn = array_wide(vkq);
    size_t width = s->H * s->D;
    for (size_t i = 0; i < 3 * s->B * s->T * width; i++)
        if (i / width % 3 == 0)
            array_set(vkq, i, drawn[i] / (double)size);
    return vkq;
}
static struct array *array_angles(const struct shape *s)
{
    arrays_align();
    struct array *rope = array_floats(s->T * s->D, -3.14159f, 3.14159f);
    float *angle = array_before(rope);
    for (size_t i = 0; i + 1 < s->T * (s->D / 2 * 2); i += 2) {
        float x = angle[i];
        angle[i] = cosf(x);
        angle[i + 1] = sinf(x);
    }
    return rope;
}

static void test_rope_forward(void)
{
    static const struct shape odd = {2, 70, 2, 5}; /* if D is odd, the last number is not rotated */
    const float size = 3.0f;
    for (size_t i = 0; i <= LENGTH(shapes); i++) {
        const struct shape *s = i < LENGTH(shapes) ? &shapes[i] : &odd;
        struct array *vkq = array_vkq(s, size), *rope = array_angles(s);
        RUN(rope_forward, part_of(vkq, s, 2), part_of(vkq, s, 1), array_device(rope), s->B, s->T, s->H, s->D,
            3 * s->H * s->D);
        double *k = unpacked(array_wide(vkq), s, 1), *q = unpacked(array_wide(vkq), s, 2);
        reference_rope(q, array_wide(rope), s->B, s->T, s->H, s->D, 0);
        reference_rope(k, array_wide(rope), s->B, s->T, s->H, s->D, 0);
        part_is_unchanged(vkq, s, 0);
        part_near(vkq, s, 1, k, 4.0 * UNIT * (double)size); /* two products and a sum are rounded */
        part_near(vkq, s, 2, q, 4.0 * UNIT * (double)size);
        arrays_finish();
    }
}

static void attention_forward_case(const struct shape *s, float size)
{
    size_t n = s->B * s->T * s->H * s->D, rows = s->B * s->T * s->H;
    struct array *o = array_numbers(n, -1.0f, 1.0f), *lse = array_floats(rows, -1.0f, 1.0f), *vkq = array_vkq(s, size);
    RUN(attention_forward, array_device(o), array_device(lse), part_of(vkq, s, 2), part_of(vkq, s, 1),
        part_of(vkq, s, 0), s->B, s->T, s->H, s->D, 3 * s->H * s->D);
    const double *v = unpacked(array_wide(vkq), s, 0), *k = unpacked(array_wide(vkq), s, 1),
                 *q = unpacked(array_wide(vkq), s, 2);
    double *want = array_doubles(n), *want_lse = array_doubles(rows), *p = array_doubles(s->T);
    reference_attention_forward(want, want_lse, q, k, v, p, s->B, s->T, s->H, s->D);
    double error = probability_error(s, size);
    array_near(o, want, 0.0, 2.0 * error);        /* twice the error, as the sum of weights errs too */
    array_near(lse, want_lse, UNIT, 2.0 * error); /* twice the error, as the maximum of scores errs too */
    arrays_finish();
}

static void test_attention_forward(void)
{
    for (size_t s = 0; s < LENGTH(shapes); s++)
        for (size_t z = 0; z < LENGTH(score_sizes); z++)
            if (is_tested(s, z))
                attention_forward_case(&shapes[s], score_sizes[z]);
    attention_forward_case(&(struct shape){2, 70, 2, 5}, 1.0f);
    for (size_t s = 0; s < LENGTH(wide_heads); s++)
        attention_forward_case(&wide_heads[s], 1.0f);
}

static void attention_backward_case(const struct shape *s, float size)
{
    size_t n = s->B * s->T * s->H * s->D, rows = s->B * s->T * s->H;
    struct array *dvkq = array_numbers(3 * n, -1.0f, 1.0f), *d_o = array_numbers(n, -1.0f, 1.0f),
                 *vkq = array_vkq(s, size), *o = array_numbers(n, 0.0f, 0.0f), *lse = array_floats(rows, 0.0f, 0.0f),
                 *rope = array_angles(s);
    const double *v = unpacked(array_wide(vkq), s, 0), *k = unpacked(array_wide(vkq), s, 1),
                 *q = unpacked(array_wide(vkq), s, 2);
    double *true_o = array_doubles(n), *true_lse = array_doubles(rows), *p = array_doubles(s->T);
    reference_attention_forward(true_o, true_lse, q, k, v, p, s->B, s->T, s->H, s->D);
    for (size_t i = 0; i < n; i++)
        array_set(o, i, true_o[i]);
    for (size_t i = 0; i < rows; i++)
        ((float *)array_before(lse))[i] = (float)true_lse[i];
    RUN(attention_backward, part_of(dvkq, s, 2), part_of(dvkq, s, 1), part_of(dvkq, s, 0), array_device(d_o),
        array_device(o), array_device(lse), part_of(vkq, s, 2), part_of(vkq, s, 1), part_of(vkq, s, 0),
        array_device(rope), s->B, s->T, s->H, s->D, 3 * s->H * s->D);
    double *want_q = array_doubles(n), *want_k = array_doubles(n), *want_v = array_doubles(n);
    reference_attention_backward(want_q, want_k, want_v, array_wide(d_o), array_wide(o), array_wide(lse), q, k, v, s->B,
                                 s->T, s->H, s->D);
    reference_rope(want_q, array_wide(rope), s->B, s->T, s->H, s->D, 1);
    reference_rope(want_k, array_wide(rope), s->B, s->T, s->H, s->D, 1);
    /* dv sums numbers up to 1, weighted by the probabilities of a key over all queries, whose sum is mostly below 4. dq
     * and dk sum dp / sqrt(D), about 1, times a key or query up to size. */
    double error = 4.0 * probability_error(s, size);
    part_near(dvkq, s, 0, want_v, error);
    part_near(dvkq, s, 1, want_k, error * (double)size);
    part_near(dvkq, s, 2, want_q, error * (double)size);
    arrays_finish();
}

static void test_attention_backward(void)
{
    for (size_t s = 0; s < LENGTH(shapes); s++)
        for (size_t z = 0; z < LENGTH(score_sizes); z++)
            if (is_tested(s, z))
                attention_backward_case(&shapes[s], score_sizes[z]);
    attention_backward_case(&(struct shape){2, 70, 2, 5}, 1.0f);
    for (size_t s = 0; s < LENGTH(wide_heads); s++)
        attention_backward_case(&wide_heads[s], 1.0f);
}

/* Ranges of gate values: small ones, and large ones whose exponential overflows. */
static const float gate_sizes[] = {4.0f, 200.0f};

/* N, F: a row of 2F numbers holds g, then a. Some F fill whole vectors; some N F exceed a thread block. */
static const size_t gated[][2] = {{1, 1}, {3, 17}, {17, 64}, {130, 24}, {40, 1000}};

/* Returns rows of random g within 1 and a within +-size. */
static struct array *array_gated(size_t N, size_t F, float size)
{
    struct array *ga = array_numbers(2 * N * F, -size, size);
    const double *drawn = array_wide(ga);
    for (size_t i = 0; i < 2 * N * F; i++)
        if (i / F % 2 == 0)
            array_set(ga, i, drawn[i] / (double)size);
    return ga;
}

static void test_swiglu_forward(void)
{
    for (size_t l = 0; l < LENGTH(gated); l++)
        for (size_t z = 0; z < LENGTH(gate_sizes); z++) {
            size_t N = gated[l][0], F = gated[l][1], n = N * F;
            struct array *h = array_numbers(n, -1.0f, 1.0f), *ga = array_gated(N, F, gate_sizes[z]);
            RUN(swiglu_forward, array_device(h), (char *)array_device(ga) + F * ga->width, array_device(ga), N, F,
                2 * F);
            double *want = array_doubles(n), *wide = array_wide(ga);
            for (size_t i = 0; i < N; i++)
                reference_swiglu_forward(want + i * F, wide + (2 * i + 1) * F, wide + 2 * i * F, F);
            array_near(h, want, 10.0 * UNIT, 1e-35); /* tolerance: 5 roundings and an exponential; h < 1e-35 may be 0 */
            arrays_finish();
        }
}

static void test_swiglu_backward(void)
{
    for (size_t l = 0; l < LENGTH(gated); l++)
        for (size_t z = 0; z < LENGTH(gate_sizes); z++)
            for (int alias = 0; alias < 2; alias++) { /* with alias, da overwrites a and dg overwrites g */
                size_t N = gated[l][0], F = gated[l][1], n = N * F;
                struct array *ga = array_gated(N, F, gate_sizes[z]), *dh = array_numbers(n, -1.0f, 1.0f),
                             *dga = alias ? ga : array_numbers(2 * n, -1.0f, 1.0f);
                RUN(swiglu_backward, (char *)array_device(dga) + F * ga->width, array_device(dga), array_device(dh),
                    (char *)array_device(ga) + F * ga->width, array_device(ga), N, F, 2 * F);
                double *want_a = array_doubles(n), *want_g = array_doubles(n), *wide = array_wide(ga),
                       *d = array_wide(dh);
                for (size_t i = 0; i < N; i++)
                    reference_swiglu_backward(want_a + i * F, want_g + i * F, d + i * F, wide + (2 * i + 1) * F,
                                              wide + 2 * i * F, F);
                /* If 1 + a (1 - s) cancels (s: sigmoid of a), the result errs by u times the terms, which are below 2.
                 * If a is large, the error u of 1 - s is multiplied by a. */
                array_near_columns(dga, 2 * F, F, F, want_a, 10.0 * UNIT, (8.0 + (double)gate_sizes[z]) * UNIT);
                array_near_columns(dga, 2 * F, 0, F, want_g, 10.0 * UNIT, 1e-35);
                arrays_finish();
            }
}

static void cross_entropy_case(size_t N, size_t V, size_t stride, float size)
{
    const float loss_scale = 0.125f, grad_scale = 0.25f;
    arrays_align();
    struct array *loss = array_floats(1, 0.5f, 1.0f), *logits = array_numbers(N * stride, -size, size),
                 *target = array_tokens(N, V);
    if (size > 1e3f) /* sets large logits, of both signs, some of them at the target */
        for (size_t i = 0; i < N; i++)
            array_set(logits, i * stride + (i % V), (double)(i % 2 ? size : -size));
    for (size_t i = 0; i < N * stride; i++) /* padding, huge or NaN, must not reach the softmax */
        if (i % stride >= V)
            array_set(logits, i, i % 2 ? 1e30 : (double)NAN);
    RUN(cross_entropy, array_device(loss), array_device(logits), array_device(target), N, V, stride, loss_scale,
        grad_scale);
    double *want_loss = array_wide(loss), *wide = array_wide(logits), *want = array_doubles(N * V);
    for (size_t i = 0; i < N * V; i++)
        want[i] = wide[i / V * stride + i % V];
    reference_cross_entropy(want_loss, want, array_before(target), N, V, (double)loss_scale, (double)grad_scale);
    /* Differences from the maximum, up to 2 size, are rounded before their exponential is taken. Only differences up to
     * 88 matter to the relative error, since the exponential of larger differences is 0. */
    double relative = ((double)fminf(2.0f * size, 88.0f) + 8.0) * UNIT;
    array_near_columns(logits, stride, 0, V, want, relative, 2.0 * UNIT * (double)grad_scale);
    array_near_columns(logits, stride, V, stride - V, array_doubles(N * (stride - V)), 0.0, 0.0);
    array_near(loss, want_loss, 2.0 * UNIT, (double)N * (double)loss_scale * relative);
    arrays_finish();
}

static void test_cross_entropy(void)
{
    static const size_t vocabularies[] = {1, 3, 256, 1000, 5003, 10007, 20011, 30011};
    for (size_t r = 0; r < LENGTH(row_counts); r++)
        for (size_t s = 0; s < LENGTH(vocabularies) && !both_are_large(row_counts[r], vocabularies[s]); s++) {
            size_t V = vocabularies[s], next = (V + 7) / 8 * 8; /* the smallest stride */
            cross_entropy_case(row_counts[r], V, next, 5.0f);
            cross_entropy_case(row_counts[r], V, next + 56, 1e4f);
        }
}

/* ---- optimizer ---- */

static void test_grad_norm(void)
{
    static const float sizes[] = {1e-3f, 1.0f, 1e30f}; /* squares of 1e30 exceed a float */
    static const float max_norms[] = {0.0f, 1.0f, 1e3f};
    for (size_t l = 0; l < LENGTH(lengths); l++)
        for (size_t z = 0; z < LENGTH(sizes); z++)
            for (size_t m = 0; m < LENGTH(max_norms); m++) {
                struct array *scalars = array_floats(SCALARS, 0.0f, 1.0f),
                             *g = array_floats(lengths[l], -sizes[z], sizes[z]);
                RUN(grad_norm, array_device(scalars), array_device(g), lengths[l], max_norms[m]);
                double *want = array_wide(scalars);
                reference_grad_norm(want, array_wide(g), lengths[l], (double)max_norms[m]);
                array_near(scalars, want, 2.0 * UNIT, 0.0); /* computed in double and rounded once */
                arrays_finish();
            }
}

static void test_adamw(void)
{
    const struct adamw adamw = {.beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .weight_decay = 0.1f};
    static const float steps[] = {1.0f, 2.0f, 1000.0f};
    for (size_t l = 0; l < LENGTH(lengths); l++)
        for (size_t t = 0; t < LENGTH(steps); t++) {
            size_t n = lengths[l];
            float past = steps[t] > 1.0f ? 1.0f : 0.0f; /* at the first step, the moments are 0 */
            struct array *w = array_floats(n, -1.0f, 1.0f), *m = array_floats(n, -0.1f * past, 0.1f * past);
            struct array *v = array_floats(n, 0.0f, 0.01f * past), *g = array_floats(n, -1.0f, 1.0f);
            struct array *scalars = array_floats(SCALARS, 0.0f, 1.0f), *narrow = array_numbers(n, 0.0f, 1.0f);
            void *compute_w = device->compute_bytes < sizeof(float) ? array_device(narrow) : NULL;
            float *set = array_before(scalars);
            set[SCALAR_LEARNING_RATE] = 0.01f;
            set[SCALAR_STEP] = steps[t];
            set[SCALAR_CLIP] = 0.7f;
            RUN(adamw, array_device(w), compute_w, array_device(m), array_device(v), array_device(g), n,
                array_device(scalars), &adamw);
            double *want_w = array_wide(w), *want_m = array_wide(m), *want_v = array_wide(v);
            reference_adamw(want_w, want_m, want_v, array_wide(g), n, array_wide(scalars), &adamw);
            /* Terms of m, up to 0.1, may cancel, so its error is absolute. w changes by at most about 10 lr, as m and v
             * are random, and its change errs by some ten roundings. */
            array_near(m, want_m, 2.0 * UNIT, 0.4 * UNIT);
            array_near(v, want_v, 6.0 * UNIT, 0.0);
            array_near(w, want_w, 3.0 * UNIT, 1.0 * UNIT);
            if (compute_w) {
                uint16_t *rounded = (uint16_t *)(void *)array_doubles(n);
                for (size_t i = 0; i < n; i++)
                    rounded[i] = bf16_narrow(((float *)array_after(w))[i]);
                array_equal(narrow, rounded);
            }
            arrays_finish();
        }
}

/* ---- other arithmetic ---- */

static void test_axpby(void)
{
    for (size_t l = 0; l < LENGTH(lengths); l++)
        for (int alias = 0; alias < 2; alias++) {
            size_t n = lengths[l];
            struct array *y = array_floats(n, -1.0f, 1.0f), *x = alias ? y : array_floats(n, -1.0f, 1.0f);
            RUN(axpby, array_device(y), array_device(x), n, 0.75f, -3.0f);
            double *want = array_wide(y), *from = array_wide(x);
            for (size_t i = 0; i < n; i++)
                want[i] = 0.75 * (alias ? want[i] : from[i]) - 3.0 * want[i];
            array_near(y, want, 0.0, 6.0 * UNIT); /* both products and their sum are at most 3.75 */
            arrays_finish();
        }
}

/* R, I, O: the rank, and the columns and rows of the matrix; a vector, as many rows as numbers in them, long rows. */
static const size_t ranks_of[][3] = {{1, 1, 1},    {1, 17, 3},    {4, 5, 4},   {2, 3, 64},
                                     {3, 65, 131}, {7, 30, 1000}, {2, 3, 2500}};

static void test_low_rank_left(void)
{
    for (size_t l = 0; l < LENGTH(ranks_of); l++) {
        size_t R = ranks_of[l][0], I = ranks_of[l][1], O = ranks_of[l][2];
        struct array *p = array_floats(R * O, -1.0f, 1.0f), *e = array_floats(O * I, -0.5f, 0.5f);
        struct array *g = array_floats(O * I, -0.5f, 0.5f), *q = array_floats(R * I, -1.0f, 1.0f);
        RUN(low_rank_left, array_device(p), array_device(e), array_device(g), array_device(q), R, I, O);
        double *sum = array_wide(e), *more = array_wide(g), *want = array_doubles(R * O);
        for (size_t i = 0; i < O * I; i++)
            sum[i] += more[i];
        reference_linear_forward(want, array_wide(q), sum, R, I, O);
        array_near(e, sum, 1.0 * UNIT, 0.0);
        array_near(p, want, 0.0, matmul_error(I));
        arrays_finish();
    }
}

static void test_independent_rows(void)
{
    for (size_t l = 0; l < LENGTH(ranks_of); l++) {
        size_t R = ranks_of[l][0], I = ranks_of[l][1], O = ranks_of[l][2];
        struct array *q = array_floats(R * I, -1.0f, 1.0f), *p = array_floats(R * O, 0.5f, 1.0f);
        struct array *e = array_floats(O * I, -1.0f, 1.0f);
        for (size_t i = 0; i < O; i++) /* rows that are far from parallel */
            for (size_t r = 0; r < R; r++)
                array_set(p, r * O + i, (double)((float *)array_before(p))[r * O + i] * (i % R == r ? 1 : 0.1));
        RUN(low_rank_right, array_device(q), array_device(p), array_device(e), R, I, O);
        double *rows = array_wide(p), *want = array_wide(q);
        reference_orthonormalise(rows, R, O);
        reference_linear_backward_input(want, rows, array_wide(e), R, I, O, 0);
        array_near(p, rows, 0.0, 8.0 * UNIT);
        array_near(q, want, 0.0, matmul_error(O));
        arrays_finish();
    }
}

/* If rows are linearly dependent, some become rounding error in an arbitrary direction. The results are orthonormal or
 * 0 even then. Row 0 is x, row 1 is 0, row 2 is a multiple of x, row 3 is x and a little of y. */
static void test_dependent_rows(void)
{
    enum { R = 4, O = 130 };
    struct array *q = array_floats(R, -1.0f, 1.0f), *p = array_floats(R * O, -1.0f, 1.0f);
    struct array *e = array_floats(O, 0.0f, 0.0f);
    float *row = array_before(p);
    for (size_t i = 0; i < O; i++) {
        row[1 * O + i] = 0;
        row[2 * O + i] = 0.3f * row[i];
        row[3 * O + i] = row[i] + 1e-6f * row[3 * O + i];
    }
    RUN(low_rank_right, array_device(q), array_device(p), array_device(e), R, 1, O);
    p->checked = q->checked = 1;
    row = array_after(p);
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j <= i; j++) {
            double product = 0;
            for (size_t k = 0; k < O; k++)
                product += (double)row[i * O + k] * (double)row[j * O + k];
            int is_one = i == j && i != 1 && (i != 2 || product > 0.5);
            ck_assert_msg(fabs(product - is_one) < 1e-6, "rows %zu and %zu have the product %g", i, j, product);
        }
    arrays_finish();
}

/* Rows of zeros stay zeros, and do not become NaN. */
static void test_zero_rows(void)
{
    enum { R = 3, I = 2, O = 40 };
    struct array *q = array_floats(R * I, -1.0f, 1.0f), *p = array_floats(R * O, 0.0f, 0.0f);
    struct array *e = array_floats(O * I, -1.0f, 1.0f);
    RUN(low_rank_right, array_device(q), array_device(p), array_device(e), R, I, O);
    array_near(p, array_doubles(R * O), 0.0, 0.0);
    array_near(q, array_doubles(R * I), 0.0, 0.0);
    arrays_finish();
}

static void test_low_rank_right(void)
{
    test_independent_rows();
    test_dependent_rows();
    test_zero_rows();
}

static void test_low_rank_restore(void)
{
    for (size_t l = 0; l < LENGTH(ranks_of); l++) {
        size_t R = ranks_of[l][0], I = ranks_of[l][1], O = ranks_of[l][2];
        struct array *g = array_floats(O * I, -1.0f, 1.0f), *e = array_floats(O * I, -1.0f, 1.0f);
        struct array *p = array_floats(R * O, -1.0f, 1.0f), *q = array_floats(R * I, -1.0f, 1.0f);
        RUN(low_rank_restore, array_device(g), array_device(e), array_device(p), array_device(q), R, I, O, 0.25f);
        double *want = array_doubles(O * I), *left = array_wide(e);
        reference_linear_backward_weight(want, array_wide(p), array_wide(q), R, I, O);
        for (size_t i = 0; i < O * I; i++)
            left[i] -= 0.25 * want[i];
        array_near(g, want, 0.0, matmul_error(R));
        array_near(e, left, 2.0 * UNIT, matmul_error(R));
        arrays_finish();
    }
}

/* ---- the list of operations ---- */

#define ROW(operation, test)                                                                                           \
    {                                                                                                                  \
#operation, SLOT(operation), test                                                                              \
    }
static const struct {
    const char *name;
    size_t slot;
    void (*test)(void);
} operations[] = {
    ROW(allocate, test_memory),
    ROW(release, test_memory),
    ROW(upload, test_memory),
    ROW(download, test_memory),
    ROW(synchronize, test_memory),
    ROW(stamp, test_stamps),
    ROW(stamps_begin, test_stamps),
    ROW(stamps_end, test_stamps),
    ROW(stamp_ns, test_stamps),
    ROW(allocate_host, test_staging),
    ROW(release_host, test_staging),
    ROW(staging_create, test_staging),
    ROW(staging_destroy, test_staging),
    ROW(stage_out, test_staging),
    ROW(stage_in, test_staging),
    ROW(stage_reached, test_staging),
    ROW(phase, test_ranges),
    ROW(range_begin, test_ranges),
    ROW(range_end, test_ranges),
    ROW(annotation_begin, test_ranges),
    ROW(annotation_end, test_ranges),
    ROW(zero, test_zero),
    ROW(copy, test_copy),
    ROW(pack_bf16, test_pack_bf16),
    ROW(unpack_bf16, test_unpack_bf16),
    ROW(embedding_forward, test_embedding_forward),
    ROW(embedding_backward, test_embedding_backward),
    ROW(linear_forward, test_linear),
    ROW(linear_residual_forward, test_linear),
    ROW(linear_backward_input, test_linear),
    ROW(linear_backward_weight, test_linear),
    ROW(rmsnorm_forward, test_rmsnorm_forward),
    ROW(rmsnorm_backward, test_rmsnorm_backward),
    ROW(rope_forward, test_rope_forward),
    ROW(attention_forward, test_attention_forward),
    ROW(attention_backward, test_attention_backward),
    ROW(swiglu_forward, test_swiglu_forward),
    ROW(swiglu_backward, test_swiglu_backward),
    ROW(cross_entropy, test_cross_entropy),
    ROW(grad_norm, test_grad_norm),
    ROW(adamw, test_adamw),
    ROW(axpby, test_axpby),
    ROW(low_rank_left, test_low_rank_left),
    ROW(low_rank_right, test_low_rank_right),
    ROW(low_rank_restore, test_low_rank_restore),
};

START_TEST(operation_matches_reference)
{
    size_t row = (size_t)_i % LENGTH(operations), which = (size_t)_i / LENGTH(operations);
    char name[128];
    snprintf(name, sizeof name, "%s, %s", devices[which].name, operations[row].name);
    device = devices[which].create(devices[which].how);
    ck_assert_ptr_nonnull(device);
    arrays_begin(device, name);
    memset(called, 0, sizeof called);
    operations[row].test();
    for (size_t i = row; i < LENGTH(operations); i++)
        ck_assert_msg(operations[i].test != operations[row].test || called[operations[i].slot],
                      "%s was not called by the test of %s", operations[i].name, name);
}
END_TEST

/* Every device implements every operation of struct device, and every operation has one row in the list above. */
START_TEST(table_is_complete)
{
    const struct device *d = devices[_i].create(devices[_i].how);
    int rows[SLOTS] = {0};
    ck_assert_str_ne(d->name, "");
    for (size_t i = 0; i < LENGTH(operations); i++)
        rows[operations[i].slot]++;
    for (size_t slot = SLOT(allocate); slot < SLOTS; slot++) {
        void *entry;
        memcpy(&entry, (const char *)d + slot * sizeof entry, sizeof entry);
        ck_assert_msg(entry != NULL, "%s: pointer %zu of struct device is NULL", devices[_i].name, slot);
        ck_assert_msg(rows[slot] == 1, "pointer %zu of struct device has %d tests, not 1", slot, rows[slot]);
    }
}
END_TEST

/* Returns the error of cpu_exp(x) in the spacing of floats at the exact result; inf is taken as the largest float. */
static double exponential_error(float x)
{
    const double most = 0x1.fffffep127, least = 0x1p-126;
    double want = exp((double)x), got = (double)cpu_exp(x);
    want = want > most ? most : want;
    got = got > most ? most : got;
    union cpu_bits spacing = {(float)(want < least ? least : want * (1 - 0x1p-25))}; /* not rounded to the next power */
    spacing.bits &= 0x7f800000u;
    return fabs(got - want) * 0x1p23 / (double)spacing.value;
}

/* Every float whose exponential rounds to neither 0, 1 nor inf, and each 1021st of the others. */
START_TEST(exponential_of_every_float)
{
    enum { SIGN = 256, SMALLEST = 127 - 25, LARGEST = 127 + 6, INFINITE = 255 };
    double worst = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : worst)
    for (uint32_t high = 0; high < 2 * SIGN; high++) {
        const uint32_t exponent = high % SIGN, step = exponent >= SMALLEST && exponent <= LARGEST ? 1 : 1021;
        for (uint32_t low = 0; exponent != INFINITE && low < 1u << 23; low += step)
            worst = fmax(worst, exponential_error((union cpu_bits){.bits = high << 23 | low}.value));
    }
    ck_assert_msg(worst <= 1.25, "an exponential errs by %.3f ulp", worst);
}
END_TEST

START_TEST(exponential_of_no_number)
{
    ck_assert_float_eq(cpu_exp(0.0f), 1.0f);
    ck_assert_float_eq(cpu_exp(-INFINITY), 0.0f);
    ck_assert_float_eq(cpu_exp(INFINITY), INFINITY);
    ck_assert_float_eq(cpu_exp(88.73f), INFINITY);
    ck_assert_float_nan(cpu_exp(NAN));
}
END_TEST

/* Identifying a GPU that does not exist fails without an error message; describing one reports an error. */
START_TEST(identifying_reports_nothing)
{
    struct gpu_facts gpu;
    const struct accelerator *accelerator = accelerator_cuda();
    error_clear();
    if (!accelerator)
        return;
    ck_assert_int_eq(accelerator->identify(1000, &gpu), -1);
    ck_assert_str_eq(error_text(), "");
    ck_assert_int_eq(accelerator->describe(1000, &gpu), -1);
    ck_assert_str_ne(error_text(), "");
    error_clear();
}
END_TEST

/* Each different product of two equal and one other weight gets a row: the fastest of cublasLt's proposals. The
 * emulated GPU proposes algorithms 0, 2 and, for all multiprocessors, 3. */
START_TEST(algorithms_are_chosen)
{
    static const char *const fastest[] = {"0", "2"};
    struct blas_weight weight[] = {{48, 64}, {16, 24}, {48, 64}};
    const struct gpu_products by_cublaslt = {BLAS_CUBLASLT, (size_t)_i};
    struct blas_products products = {.N = 40, .n = LENGTH(weight), .forward_only = _i, .weight = weight};
    cuda(PRECISION_BF16);
    ck_assert_ptr_null(gpus()->algorithms(&products));
    ck_assert_int_eq(gpus()->open(0, PRECISION_BF16, &by_cublaslt, &device), 0);
    ck_assert_uint_eq(gpus()->algorithms(NULL)->n, 0);
    setenv("EMULATED_CUBLASLT_FASTEST", fastest[_i], 1);
    const struct gpu_algorithms *chosen = gpus()->algorithms(&products);
    unsetenv("EMULATED_CUBLASLT_FASTEST");
    ck_assert_uint_eq(chosen->n, _i ? 2 : 6);
    for (const struct gpu_algorithm *row = chosen->item; row < chosen->item + chosen->n; row++) {
        ck_assert(row->used >= 0 && row->used < row->proposals);
        ck_assert(row->used ? row->time_ratio < 0.98 : row->time_ratio == 1);
        ck_assert(!strstr(gpus()->built, "emulated") || (row->used == _i && row->proposals == 3 - _i));
    }
}
END_TEST

static int is_there(int i)
{
    return devices[i].create == cpu || gpus() != NULL;
}

/* Tells whether a test of several operations, which is in the list for each of them, is in the list before this row. */
static int is_repeated(int row)
{
    int first = 0;
    while (operations[first].test != operations[row].test)
        first++;
    return first < row;
}

/* Tells whether the operation is tested on device i: with TF32 only matrix products and attention differ from fp32, and
 * by cublasLt only matrix products from cuBLAS. */
static int is_another(int i, const char *operation)
{
    const int is_product = !strncmp(operation, "linear_", 7) || !strncmp(operation, "low_rank_", 9);
    return is_product || devices[i].create == cpu ||
           (devices[i].create == cuda && (devices[i].how != PRECISION_TF32 || !strncmp(operation, "attention_", 10)));
}

int main(void)
{
    if (gpus())
        setenv("CK_FORK", "no", 1); /* CUDA does not work after a fork */
    error_clear();
    Suite *suite = suite_create("device");
    TCase *all = tcase_create("devices"), *attention = tcase_create("attention"); /* names for CK_RUN_CASE */
    tcase_set_timeout(all, 120);                                                  /* seconds; sanitizers are slow */
    tcase_set_timeout(attention, 120);
    tcase_add_test(attention, exponential_of_every_float); /* it takes as long */
    tcase_add_test(all, exponential_of_no_number);
    tcase_add_test(all, identifying_reports_nothing);
    tcase_add_loop_test(all, algorithms_are_chosen, 0, gpus() ? 2 : 0);
    for (int i = 0; i < (int)LENGTH(devices); i++) {
        if (is_there(i)) {
            int rows = (int)LENGTH(operations);
            tcase_add_loop_test(all, table_is_complete, i, i + 1);
            for (int row = 0; row < rows; row++)
                if (is_another(i, operations[row].name) && !is_repeated(row))
                    tcase_add_loop_test(strncmp(operations[row].name, "attention", 9) == 0 ? attention : all,
                                        operation_matches_reference, i * rows + row, i * rows + row + 1);
        } else {
            printf("skip - operations of %s: %s\n", devices[i].name, error_text());
            error_clear();
        }
    }
    fflush(stdout); /* else forked tests print the buffer too */
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, attention);
    return suite_run(suite);
}
