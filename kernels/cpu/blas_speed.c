/* blas_speed.c - measures the speed of matrix products and the peak of the CPU's vector units. */
#include "kernels/blas.h"
#include "kernels/clock.h"
#include "kernels/cpu/cpu.h"

#include <math.h>

enum { REPEATS = 21, SIDE = 256, SUMS = 12, ROUNDS = 80000 };

/* Runs fused multiply-adds on SUMS independent vectors of `bytes` bytes: enough for units that start two per cycle with
 * a latency of six cycles, and few enough for the registers. A CPU with shorter vectors splits each vector, and is
 * fastest with the function for the length of its own vectors. *number supplies the operands and takes a result, so
 * that the compiler can neither precompute nor remove the work. Returns the number of operations, two per element. */
#define VECTOR_ROUNDS(name, bytes)                                                                                     \
    CPU_CLONES static double name(volatile float *number)                                                              \
    {                                                                                                                  \
        typedef float vector __attribute__((vector_size(bytes)));                                                      \
        const vector scale = (vector){0} + *number, term = (vector){0} + *number;                                      \
        vector sum[SUMS];                                                                                              \
        for (int i = 0; i < SUMS; i++)                                                                                 \
            sum[i] = (vector){0} + *number;                                                                            \
        for (int r = 0; r < ROUNDS; r++)                                                                               \
            for (int i = 0; i < SUMS; i++)                                                                             \
                sum[i] = sum[i] * scale + term;                                                                        \
        for (int i = 1; i < SUMS; i++)                                                                                 \
            sum[0] += sum[i];                                                                                          \
        *number = sum[0][0] > 0 ? 0.5f : 0.25f;                                                                        \
        return 2.0 * ROUNDS * SUMS * (bytes) / sizeof(float);                                                          \
    }
VECTOR_ROUNDS(rounds_of_16, 16)
VECTOR_ROUNDS(rounds_of_32, 32)
VECTOR_ROUNDS(rounds_of_64, 64)

/* Takes the best of REPEATS repetitions, because other users of the core can only slow them down. */
void blas_measure(struct blas_facts *facts)
{
    double (*const rounds[])(volatile float *) = {rounds_of_16, rounds_of_32, rounds_of_64};
    volatile float number = 0.5f;
    float *matrix = cpu_allocate((size_t)3 * SIDE * SIDE * sizeof *matrix);
    const float *x = matrix, *w = matrix + (size_t)SIDE * SIDE;
    float *y = matrix + (size_t)2 * SIDE * SIDE;
    double product = 0, vector = 0;
    cpu_blas_set_threads(1);
    cpu_linear_forward(y, x, w, SIDE, SIDE, SIDE); /* lets OpenBLAS allocate its buffers, and wakes up the CPU */
    const int64_t longest_ns = 2000000000;         /* a time limit, for shared cores and emulated CPUs */
    for (int64_t i = 0, start = clock_now_ns(); i < REPEATS && clock_now_ns() - start < longest_ns; i++) {
        int64_t begin = clock_now_ns();
        cpu_linear_forward(y, x, w, SIDE, SIDE, SIDE);
        product = fmax(product, 2.0 * SIDE * SIDE * SIDE / (double)(clock_now_ns() - begin));
        for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++) {
            begin = clock_now_ns();
            double operations = rounds[r](&number);
            vector = fmax(vector, operations / (double)(clock_now_ns() - begin));
        }
    }
    facts->product_gflops = product;
    facts->vector_gflops = vector;
    cpu_blas_set_threads(cpu_threads);
    cpu_release(matrix);
}
