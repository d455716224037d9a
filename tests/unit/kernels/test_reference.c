/* test_reference.c - the backward operations of the reference against finite differences of its forward ones. */
#include "tests/support/arrays.h"
#include "tests/support/reference.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A forward operation with up to three inputs and one output, and fixed weights that make a scalar of the output. */
struct probe {
    void (*forward)(const struct probe *p);
    double *in[3], *out, *weight;
    size_t n; /* of out */
};

enum { FD_N = 3, FD_I = 4, FD_O = 5, FD_B = 2, FD_T = 5, FD_H = 2, FD_D = 4, FD_A = FD_B * FD_T * FD_H * FD_D };
static const int32_t fd_token[FD_N] = {1, 3, 1};
static double fd_side[FD_A]; /* rstd, lse: what a forward operation writes besides its output */

static double *random_doubles(size_t n)
{
    double *x = array_doubles(n);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)array_random(-1.5f, 1.5f);
    return x;
}

static struct probe probe_create(void (*forward)(const struct probe *p), size_t n0, size_t n1, size_t n2, size_t n)
{
    arrays_begin(NULL, "reference");
    return (struct probe){.forward = forward,
                          .in = {random_doubles(n0), random_doubles(n1), random_doubles(n2)},
                          .out = array_doubles(n),
                          .weight = random_doubles(n),
                          .n = n};
}

static double probe_value(const struct probe *p)
{
    double sum = 0.0;
    p->forward(p);
    for (size_t i = 0; i < p->n; i++)
        sum += p->weight[i] * p->out[i];
    return sum;
}

/* Central differences err by about h^2 times the third derivative, 1e-10, and by rounding / h, 1e-11: 1e-7 of
 * gradients of about 1 leaves room, and any wrong formula is further away. */
static void gradient_matches(const struct probe *p, double *x, const double *gradient, size_t n)
{
    const double h = 1e-5;
    for (size_t i = 0; i < n; i++) {
        double kept = x[i];
        x[i] = kept + h;
        double up = probe_value(p);
        x[i] = kept - h;
        double down = probe_value(p);
        x[i] = kept;
        double difference = (up - down) / (2.0 * h);
        ck_assert_msg(fabs(difference - gradient[i]) <= 1e-7 * (1.0 + fabs(gradient[i])),
                      "element %zu: the gradient is %.12g, the difference %.12g", i, gradient[i], difference);
    }
    p->forward(p);
}

static void fd_embedding(const struct probe *p)
{
    reference_embedding_forward(p->out, p->in[0], fd_token, FD_N, FD_I);
}

static void fd_linear(const struct probe *p)
{
    reference_linear_forward(p->out, p->in[0], p->in[1], FD_N, FD_I, FD_O);
}

static void fd_rmsnorm(const struct probe *p)
{
    reference_rmsnorm_forward(p->out, fd_side, p->in[0], p->in[1], FD_N, FD_I);
}

static void fd_rope(const struct probe *p)
{
    memcpy(p->out, p->in[0], FD_A * sizeof(double));
    reference_rope(p->out, p->in[1], FD_B, FD_T, FD_H, FD_D, 0);
}

static void fd_attention(const struct probe *p)
{
    double row[FD_T];
    reference_attention_forward(p->out, fd_side, p->in[0], p->in[1], p->in[2], row, FD_B, FD_T, FD_H, FD_D);
}

static void fd_swiglu(const struct probe *p)
{
    reference_swiglu_forward(p->out, p->in[0], p->in[1], FD_N);
}

static void fd_cross_entropy(const struct probe *p)
{
    double logits[FD_N * FD_O];
    memcpy(logits, p->in[0], sizeof logits);
    p->out[0] = 0.0;
    reference_cross_entropy(p->out, logits, fd_token, FD_N, FD_O, p->weight[0], 1.0);
    p->out[0] /= p->weight[0]; /* probe_value multiplies with it */
}

START_TEST(reference_of_products_is_a_gradient)
{
    struct probe p = probe_create(fd_embedding, 4 * FD_I, 1, 1, FD_N * FD_I);
    double *d = array_doubles(4 * FD_I);
    reference_embedding_backward(d, p.weight, fd_token, FD_N, FD_I);
    gradient_matches(&p, p.in[0], d, 4 * FD_I);

    p = probe_create(fd_linear, FD_N * FD_I, FD_O * FD_I, 1, FD_N * FD_O);
    double *dx = random_doubles(FD_N * FD_I), *dw = array_doubles(FD_O * FD_I); /* dx is overwritten */
    reference_linear_backward_input(dx, p.weight, p.in[1], FD_N, FD_I, FD_O, 0);
    reference_linear_backward_weight(dw, p.weight, p.in[0], FD_N, FD_I, FD_O);
    gradient_matches(&p, p.in[0], dx, FD_N * FD_I);
    gradient_matches(&p, p.in[1], dw, FD_O * FD_I);

    p = probe_create(fd_rope, FD_A, FD_T * FD_D, 1, FD_A);
    double *turned = array_doubles(FD_A);
    memcpy(turned, p.weight, FD_A * sizeof *turned);
    reference_rope(turned, p.in[1], FD_B, FD_T, FD_H, FD_D, 1);
    gradient_matches(&p, p.in[0], turned, FD_A);
    arrays_finish();
}
END_TEST

START_TEST(reference_of_rmsnorm_is_a_gradient)
{
    struct probe p = probe_create(fd_rmsnorm, FD_N * FD_I, FD_I, 1, FD_N * FD_I);
    double *dx = array_doubles(FD_N * FD_I), *dw = array_doubles(FD_I);
    p.forward(&p);
    reference_rmsnorm_backward(dx, dw, p.weight, p.in[0], p.in[1], fd_side, FD_N, FD_I);
    gradient_matches(&p, p.in[0], dx, FD_N * FD_I);
    gradient_matches(&p, p.in[1], dw, FD_I);
    arrays_finish();
}
END_TEST

START_TEST(reference_of_attention_is_a_gradient)
{
    struct probe p = probe_create(fd_attention, FD_A, FD_A, FD_A, FD_A);
    double *d[3] = {array_doubles(FD_A), array_doubles(FD_A), array_doubles(FD_A)};
    p.forward(&p);
    reference_attention_backward(d[0], d[1], d[2], p.weight, p.out, fd_side, p.in[0], p.in[1], p.in[2], FD_B, FD_T,
                                 FD_H, FD_D);
    for (int i = 0; i < 3; i++)
        gradient_matches(&p, p.in[i], d[i], FD_A);
    arrays_finish();
}
END_TEST

START_TEST(reference_of_swiglu_is_a_gradient)
{
    struct probe p = probe_create(fd_swiglu, FD_N, FD_N, 1, FD_N);
    double *da = array_doubles(FD_N), *dg = array_doubles(FD_N);
    reference_swiglu_backward(da, dg, p.weight, p.in[0], p.in[1], FD_N);
    gradient_matches(&p, p.in[0], da, FD_N);
    gradient_matches(&p, p.in[1], dg, FD_N);
    arrays_finish();
}
END_TEST

START_TEST(reference_of_cross_entropy_is_a_gradient)
{
    struct probe p = probe_create(fd_cross_entropy, FD_N * FD_O, 1, 1, 1);
    double *d = array_doubles(FD_N * FD_O), loss = 0.0;
    memcpy(d, p.in[0], FD_N * FD_O * sizeof *d);
    reference_cross_entropy(&loss, d, fd_token, FD_N, FD_O, 1.0, p.weight[0]);
    gradient_matches(&p, p.in[0], d, FD_N * FD_O);
    arrays_finish();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, reference_of_products_is_a_gradient);
    tcase_add_test(reference, reference_of_rmsnorm_is_a_gradient);
    tcase_add_test(reference, reference_of_attention_is_a_gradient);
    tcase_add_test(reference, reference_of_swiglu_is_a_gradient);
    tcase_add_test(reference, reference_of_cross_entropy_is_a_gradient);
    suite_add_tcase(suite, reference);
    return suite_run(suite);
}
