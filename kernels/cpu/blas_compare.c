/* blas_compare.c - times a model's matrix products by the CBLAS and by oneDNN. */
#include "kernels/blas.h"
#include "kernels/clock.h"
#include "kernels/cpu/cpu.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* Sides are odd multiples of 64: kernels compute whole blocks, and rows a power of two apart, which share few lines of
 * the caches, may take twice as long. A longer side is tried only if it leaves time for LEAST_PASSES passes. */
enum { FIRST_SIDE = 64, STEP_SIDE = 128, LONGEST_SIDE = 960, LEAST_PASSES = 5, MOST_PASSES = 100, OPERATIONS = 3 };
static const int64_t longest_ns = 200000000;

/* A product of each operation with one weight matrix [O, I]. */
struct timed {
    size_t N, I, O;
    double weight; /* operations of the model's products that it stands for / its own */
    double least_ns[OPERATIONS][BLAS_LIBRARIES];
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Cuts all sides to `side`; products that are then equal become one. Fills timed[p->n]. Returns how many there are. */
static size_t cut(const struct blas_products *p, size_t side, struct timed *timed)
{
    size_t n = 0, N = least(p->N, side), at;
    for (const struct blas_weight *w = p->weight; w < p->weight + p->n; w++) {
        size_t I = least(w->I, side), O = least(w->O, side);
        for (at = 0; at < n && (timed[at].I != I || timed[at].O != O); at++)
            ;
        if (at == n)
            timed[n++] = (struct timed){.N = N, .I = I, .O = O};
        timed[at].weight += (double)p->N / (double)N * ((double)w->I / (double)I) * ((double)w->O / (double)O);
    }
    for (at = 0; at < n * OPERATIONS; at++)
        for (int library = 0; library < BLAS_LIBRARIES; library++)
            timed[at / OPERATIONS].least_ns[at % OPERATIONS][library] = INFINITY;
    return n;
}

static void run(const struct timed *t, int operation, float *const m[3])
{
    if (operation == 0)
        cpu_linear_forward(m[0], m[1], m[2], t->N, t->I, t->O);
    else if (operation == 1)
        cpu_linear_backward_input(m[1], m[0], m[2], t->N, t->I, t->O, 0);
    else
        cpu_linear_backward_weight(m[2], m[0], m[1], t->N, t->I, t->O, 0);
}

/* Times n products once by each library, until end_ns. Returns the nanoseconds of this pass. */
static int64_t pass(struct timed *timed, size_t n, int operations, float *const m[3], int64_t end_ns)
{
    int64_t first = clock_now_ns(), begin = first;
    for (struct timed *t = timed; t < timed + n; t++)
        for (int i = 0; i < 2 * operations && begin < end_ns; i++) {
            double *least_ns = &t->least_ns[i / 2][i % 2 ? BLAS_ONEDNN : BLAS_CBLAS];
            blas_use(i % 2 ? BLAS_ONEDNN : BLAS_CBLAS);
            begin = clock_now_ns();
            run(t, i / 2, m);
            *least_ns = fmin(*least_ns, (double)(clock_now_ns() - begin));
        }
    return clock_now_ns() - first;
}

/* Times products of longer and longer sides, and repeats the last ones. The shorter ones warm up the libraries. */
static size_t time_products(const struct blas_products *p, int operations, struct timed *timed)
{
    int64_t end_ns = clock_now_ns() + longest_ns, pass_ns = 0;
    size_t n = 0;
    int is_last = 0;
    for (size_t side = FIRST_SIDE; !is_last; side += STEP_SIDE) {
        const double growth = pow(1 + (double)STEP_SIDE / (double)side, 3); /* of the operations, with the next side */
        float *memory = cpu_allocate(3 * side * side * sizeof *memory);
        float *const m[3] = {memory, memory + side * side, memory + 2 * side * side};
        n = cut(p, side, timed);
        for (int i = 0; i < (is_last ? MOST_PASSES : 2) && clock_now_ns() < end_ns; i++) {
            pass_ns = pass(timed, n, operations, m, end_ns);
            is_last |= i == 1 && (side == LONGEST_SIDE ||
                                  growth * LEAST_PASSES * (double)pass_ns > (double)(end_ns - clock_now_ns()));
        }
        is_last |= clock_now_ns() >= end_ns;
        cpu_release(memory);
    }
    return n;
}

void blas_compare(const struct blas_products *p, double seconds[BLAS_LIBRARIES])
{
    const int operations = p->forward_only ? 1 : OPERATIONS;
    struct timed *timed = allocate(p->n, sizeof *timed);
    size_t n = time_products(p, operations, timed);
    for (struct timed *t = timed; t < timed + n; t++)
        for (int i = 0; i < operations; i++) {
            const double *ns = t->least_ns[i];
            for (int library = BLAS_CBLAS; library < BLAS_LIBRARIES && isfinite(ns[BLAS_CBLAS] + ns[BLAS_ONEDNN]);
                 library++)
                seconds[library] += 1e-9 * t->weight * ns[library];
        }
    free(timed);
}
