/* test_operations.c - shapes, FLOPs and bytes of operations, compared with values by hand; peak rates of GPUs. */
#include "kernels/gpu_peak.h"
#include "kernels/operations.h"
#include "tests/support/suite.h"

#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- shapes ---- */

static size_t words(const char *list)
{
    size_t n = *list != 0;
    for (; *list; list++)
        n += *list == ',';
    return n;
}

/* Operations have the input shapes of device.h; for attention, lse of all heads is one array, [B, H, T]. */
TEST(shapes_are_those_of_the_device)
{
    for (int i = 0; i < OPERATIONS; i++)
        ck_assert_uint_eq(words(operation_facts[i].inputs), strlen(operation_facts[i].types));
    ck_assert_str_eq(operation_facts[OPERATION_LINEAR_BACKWARD_INPUT].inputs, "NO,OI");
    ck_assert_str_eq(operation_facts[OPERATION_RMSNORM_BACKWARD].inputs, "NC,NC,C,N");
    ck_assert_str_eq(operation_facts[OPERATION_ATTENTION_BACKWARD].inputs, "BTHD,BTHD,BHT,BTHD,BTHD,BTHD,TD");
}

/* ---- values ---- */

enum { N = 3, I = 5, O = 7, C = 11, V = 13, B = 2, T = 17, H = 4, D = 6, X = 1009 };
static const struct {
    enum operation operation;
    size_t size[4];
    double flops, bytes;
} values[] = {
    {OPERATION_ZERO, {X}, 0, 4 * X},
    {OPERATION_COPY, {X}, 0, 4 * X + 4 * X},
    {OPERATION_PACK_BF16, {X}, 0, 4 * X + 2 * X},
    {OPERATION_UNPACK_BF16, {X, 3}, 0, 3 * 2 * X + 4 * X},
    {OPERATION_EMBEDDING_FORWARD, {N, C}, 0, 4 * N + 4 * (N * C + N * C)},
    {OPERATION_EMBEDDING_BACKWARD, {N, C, V}, 33, 8 * N + 4 * (N * C + V * C)},
    {OPERATION_LINEAR_FORWARD, {N, I, O}, 210, 4 * (15 + 35 + 21)},
    {OPERATION_LINEAR_RESIDUAL_FORWARD, {N, I, O}, 210, 4 * (21 + 15 + 35 + 21)},
    {OPERATION_LINEAR_BACKWARD_INPUT, {N, I, O}, 210, 4 * (21 + 35 + 15)},
    {OPERATION_LINEAR_BACKWARD_WEIGHT, {N, I, O}, 210, 4 * (21 + 15 + 35)},
    {OPERATION_RMSNORM_FORWARD, {N, C}, 4 * 33, 4 * (2 * N * C + C + N)},
    {OPERATION_RMSNORM_BACKWARD, {N, C}, 10 * 33, 4 * (2 * N * C + 2 * N * C + C + C + N)},
    {OPERATION_ROPE_FORWARD, {B, T, H, D}, 2 * 3 * B *T *H *D, 4 * (2 * 2 * B * T * H * D + T * D)},
    {OPERATION_ATTENTION_FORWARD, {B, T, H, D}, 2.0 * B *H *T *T *D, 4 * (4 * B * T * H * D + B * H * T)},
    {OPERATION_ATTENTION_BACKWARD, {B, T, H, D}, 5.0 * B *H *T *T *D, 4 * (8 * B * T * H * D + B * H * T + T * D)},
    {OPERATION_SWIGLU_FORWARD, {N, C}, 5 * 33, 4 * 3 * N *C},
    {OPERATION_SWIGLU_BACKWARD, {N, C}, 11 * 33, 4 * 5 * N *C},
    {OPERATION_CROSS_ENTROPY, {N, V}, 4 * 39, 4 * (2 * N * V + N)},
    {OPERATION_GRAD_NORM, {X}, 2 * X, 4 * X},
    {OPERATION_ADAMW, {X}, 15 * X, 4 * (3 * 2 * X + X)},
    {OPERATION_AXPBY, {X}, 3 * X, 4 * (2 * X + X)},
    {OPERATION_LOW_RANK_LEFT, {N, I, O}, 210, 4 * (2 * 35 + 35 + 15 + 21)},
    {OPERATION_LOW_RANK_RIGHT, {N, I, O}, 210 + 4 * 63, 4 * (2 * 21 + 35 + 15)},
    {OPERATION_LOW_RANK_RESTORE, {N, I, O}, 210, 4 * (35 + 2 * 35 + 15 + 21)},
};

TEST_EACH(work_has_known_values, OPERATIONS)
{
    const struct operation_facts *f = &operation_facts[values[_i].operation];
    ck_assert_int_eq((int)values[_i].operation, _i); /* no operation is left out */
    ck_assert_double_eq(operation_amount(f->flops, f->sizes, values[_i].size, sizeof(float)), values[_i].flops);
    ck_assert_double_eq(operation_amount(f->bytes, f->sizes, values[_i].size, sizeof(float)), values[_i].bytes);
}

/* Forward keeps all that it writes, gradients of weights are fp32, and operations in place keep nothing. */
TEST(kept_results_have_known_sizes)
{
    static const struct {
        enum operation operation;
        size_t size[4], bytes;
    } rows[] = {{OPERATION_EMBEDDING_FORWARD, {N, C}, 2 * N * C},
                {OPERATION_EMBEDDING_BACKWARD, {N, C, V}, 4 * V * C},
                {OPERATION_LINEAR_FORWARD, {N, I, O}, 2 * N * O},
                {OPERATION_LINEAR_RESIDUAL_FORWARD, {N, I, O}, 2 * N * O},
                {OPERATION_LINEAR_BACKWARD_WEIGHT, {N, I, O}, 4 * O * I},
                {OPERATION_RMSNORM_FORWARD, {N, C}, 2 * N * C + 4 * N},
                {OPERATION_RMSNORM_BACKWARD, {N, C}, 4 * C},
                {OPERATION_ATTENTION_FORWARD, {B, T, H, D}, 2 * B * T * H * D + 4 * B * T * H},
                {OPERATION_SWIGLU_FORWARD, {N, C}, 2 * N * C}};
    size_t keep = 0;
    for (int i = 0; i < OPERATIONS; i++)
        keep += *operation_facts[i].kept != 0;
    ck_assert_uint_eq(keep, LENGTH(rows));
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct operation_facts *f = &operation_facts[rows[i].operation];
        ck_assert_double_eq(operation_amount(f->kept, f->sizes, rows[i].size, 2), (double)rows[i].bytes);
    }
}

TEST(formulas_are_sums_of_products)
{
    static const size_t sizes[] = {3, 5};
    static const struct {
        const char *formula;
        double value;
    } rows[] = {{"", 0},          {"7", 7},        {"10", 10},    {"a", 3},   {"b", 5},      {"ab", 15},
                {"aab", 45},      {"2a", 6},       {"12ab", 180}, {"a+b", 8}, {"2a+3b", 21}, {"2a+3b+4ab", 81},
                {"4a+10b+1", 63}, {"a+a+a+a", 12}, {"x", 0},      {"ax+b", 5}};
    for (size_t i = 0; i < LENGTH(rows); i++)
        ck_assert_msg(operation_amount(rows[i].formula, "ab", sizes, sizeof(float)) == rows[i].value,
                      "%s is %g, not %g", rows[i].formula,
                      operation_amount(rows[i].formula, "ab", sizes, sizeof(float)), rows[i].value);
    ck_assert_double_eq(operation_amount("eab+2ea", "ab", sizes, 2), 2 * 15 + 2 * 2 * 3);
    ck_assert_uint_eq(operation_size("ab", sizes, 'b'), 5);
    ck_assert_uint_eq(operation_size("ab", sizes, 'c'), 0);
    ck_assert_uint_eq(operation_size("ab", sizes, 0), 0);
}

/* FLOPs are right even if the product of the sizes exceeds 64 bits. */
TEST(large_work_does_not_overflow)
{
    static const size_t sizes[] = {1UL << 22, 1UL << 21, 1UL << 22};
    const struct operation_facts *f = &operation_facts[OPERATION_LINEAR_FORWARD];
    ck_assert_double_eq(operation_amount(f->flops, f->sizes, sizes, sizeof(float)), 0x1p66);
    static const size_t none[] = {0, 5, 7};
    ck_assert_double_eq(operation_amount(f->flops, f->sizes, none, sizeof(float)), 0);
    ck_assert_double_eq(operation_amount(f->bytes, f->sizes, none, sizeof(float)), 140);
    /* with bfloat16, only the gradient of a weight stays in fp32 */
    const size_t three[] = {3, 5, 7};
    f = &operation_facts[OPERATION_LINEAR_BACKWARD_WEIGHT];
    ck_assert_double_eq(operation_amount(f->bytes, f->sizes, three, 2), 2 * (21 + 15) + 4 * 35);
}

TEST(a_gpu_is_known_by_its_name)
{
    static const struct {
        const char *name;
        enum precision precision;
        double tera;
    } rows[] = {{"NVIDIA H100 80GB HBM3", PRECISION_BF16, 989},
                {"NVIDIA H100 80GB HBM3", PRECISION_FP32, 67},
                {"NVIDIA H100 PCIe", PRECISION_BF16, 756},
                {"NVIDIA H200", PRECISION_BF16, 989},
                {"NVIDIA H200 NVL", PRECISION_BF16, 835},
                {"NVIDIA A100-SXM4-80GB", PRECISION_BF16, 312},
                {"NVIDIA A100 80GB PCIe", PRECISION_TF32, 156},
                {"NVIDIA A10", PRECISION_BF16, 125},
                {"NVIDIA L40S", PRECISION_BF16, 362},
                {"NVIDIA A10G", PRECISION_BF16, 0},
                {"NVIDIA H100 80GB HBM3 MIG 1g.10gb", PRECISION_BF16, 0},
                {"emulated GPU (no real one)", PRECISION_BF16, 0}};
    for (size_t i = 0; i < LENGTH(rows); i++)
        ck_assert_msg(gpu_peak(rows[i].name, rows[i].precision) == 1e12 * rows[i].tera, "%s: wrong peak", rows[i].name);
}

SUITE("operations", NULL, NULL)
