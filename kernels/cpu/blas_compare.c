/* blas_compare.c - times a model's matrix products by the CBLAS and by oneDNN. */
#include "kernels/blas.h"
#include "kernels/clock.h"
#include "kernels/cpu/cpu.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* Rows of activations, and sides of weights, are cut to the longest of these that leave time for LEAST_PASSES passes.
 * Sides are odd multiples of 64: kernels compute whole blocks, and rows a power of two apart, which share few lines of
 * the caches, may take twice as long. */
enum { ROWS_OF_THREAD = 256, LEAST_PASSES = 3, MOST_PASSES = 100, OPERATIONS = 3, SIDES = 5 };
static const size_t sides[SIDES] = {64, 192, 448, 960, 1600};
static const int64_t longest_ns = 200000000;

/* A product of each operation with one weight matrix [O, I]. */
struct timed {
    size_t N, I, O;
    double weight; /* operations of the model's products that it stands for / its own */
    double least_ns[OPERATIONS][BLAS_CPU_LIBRARIES];
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Cuts all sides to `side`, and rows further; products that are then equal become one. Fills timed[p->n]. Returns how
 * many there are. */
static size_t cut(const struct blas_products *p, size_t side, struct timed *timed)
{
    size_t n = 0, N = least(p->N, least(side, ROWS_OF_THREAD * (size_t)cpu_threads)), at;
    for (const struct blas_weight *w = p->weight; w < p->weight + p->n; w++) {
        size_t I = least(w->I, side), O = least(w->O, side);
        for (at = 0; at < n && (timed[at].I != I || timed[at].O != O); at++)
            ;
        if (at == n)
            timed[n++] = (struct timed){.N = N, .I = I, .O = O};
        timed[at].weight += (double)p->N / (double)N * ((double)w->I / (double)I) * ((double)w->O / (double)O);
    }
    for (at = 0; at < n * OPERATIONS; at++)
        for (int library = 0; library < BLAS_CPU_LIBRARIES; library++)
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

/* Times n products once by each library, until end_ns. One library runs after the other: threads of its own may still
 * wait on the cores for a while, through the product that is not timed. */
static void pass(struct timed *timed, size_t n, int operations, float *const m[3], int64_t end_ns)
{
    for (enum blas_library library = BLAS_CBLAS; library < BLAS_CPU_LIBRARIES; library++) {
        blas_use(library);
        run(timed, 0, m);
        for (size_t i = 0; i < n * (size_t)operations && clock_now_ns() < end_ns; i++) {
            struct timed *t = &timed[i / (size_t)operations];
            const int operation = (int)(i % (size_t)operations);
            double *least_ns = &t->least_ns[operation][library];
            int64_t begin = clock_now_ns();
            run(t, operation, m);
            *least_ns = fmin(*least_ns, (double)(clock_now_ns() - begin));
        }
    }
}

/* Returns the multiplications of n products of one operation. */
static double work_of(const struct timed *timed, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)timed[i].N * (double)timed[i].I * (double)timed[i].O;
    return sum;
}

/* Times the products, cut to longer and longer sides, and repeats the longest; the shorter ones warm up the libraries.
 * timed[2, p->n]. Returns the number of products. */
static size_t time_products(const struct blas_products *p, int operations, struct timed *timed)
{
    const int64_t end_ns = clock_now_ns() + longest_ns;
    size_t n = 0;
    for (int at = 0, is_last = 0; at < SIDES && !is_last; at++) {
        const size_t side = sides[at], rows = least(side, ROWS_OF_THREAD * (size_t)cpu_threads);
        float *memory = cpu_allocate((2 * rows + side) * side * sizeof *memory);
        float *const m[3] = {memory, memory + rows * side, memory + 2 * rows * side};
        n = cut(p, side, timed);
        pass(timed, n, operations, m, end_ns);
        int64_t begin = clock_now_ns();
        pass(timed, n, operations, m, end_ns);
        int64_t end = clock_now_ns();
        double pass_ns = (double)(end - begin) / work_of(timed, n);
        if (at + 1 < SIDES)
            pass_ns *= work_of(timed + p->n, cut(p, sides[at + 1], timed + p->n));
        is_last = at + 1 == SIDES || LEAST_PASSES * pass_ns > (double)(end_ns - end);
        for (int i = 0; is_last && i < MOST_PASSES && clock_now_ns() < end_ns; i++)
            pass(timed, n, operations, m, end_ns);
        cpu_release(memory);
    }
    return n;
}

void blas_compare(const struct blas_products *p, double seconds[BLAS_CPU_LIBRARIES])
{
    const int operations = p->forward_only ? 1 : OPERATIONS;
    struct timed *timed = allocate(2 * p->n, sizeof *timed);
    size_t n = time_products(p, operations, timed);
    for (struct timed *t = timed; t < timed + n; t++)
        for (int i = 0; i < operations; i++) {
            const double *ns = t->least_ns[i];
            for (int library = BLAS_CBLAS; library < BLAS_CPU_LIBRARIES && isfinite(ns[BLAS_CBLAS] + ns[BLAS_ONEDNN]);
                 library++)
                seconds[library] += 1e-9 * t->weight * ns[library];
        }
    free(timed);
}
