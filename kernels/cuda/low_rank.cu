/* low_rank.cu - the steps of a low-rank approximation: products by cuBLAS, and Gram-Schmidt. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/matmul.cuh"
#include "kernels/cuda/operations.cuh"

constexpr int THREADS = 1024;

/* Returns the sum of the products of two rows to every thread of the block. */
__device__ inline double dot(const float *x, const float *y, size_t O)
{
    double sum = 0.0;
    for (size_t k = threadIdx.x; k < O; k += THREADS)
        sum += static_cast<double>(x[k]) * y[k];
    return block_sum<THREADS>(sum);
}

/* Makes the rows of p[R, O] orthonormal by modified Gram-Schmidt, twice; a row of zeros stays zero. One block does it
 * all in one launch, since 2 R launches, one for each row and pass, take longer than the work of small ranks. In
 * return, a single multiprocessor reads about 4 R^2 O numbers, from its L1 cache or L2, and sums R^2 + R times over the
 * block: an estimate is that 2 R launches with a block a row are faster from a rank of about 16, but PowerSGD is used
 * with ranks of 1 to 4. A thread has the same columns in each row, so that it reads only numbers that it has written
 * itself. */
__global__ void __launch_bounds__(THREADS) orthonormalise_kernel(float *p, size_t R, size_t O)
{
    for (size_t turn = 0; turn < 2 * R; turn++) {
        float *x = p + turn % R * O;
        double square = dot(x, x, O);
        for (float *y = x + O; y < p + R * O; y += O) {
            double product = dot(x, y, O);
            float part = square > 0.0 ? static_cast<float>(product / square) : 0.0f;
            for (size_t k = threadIdx.x; k < O; k += THREADS)
                y[k] -= part * x[k];
        }
        float scale = square > 0.0 ? static_cast<float>(1.0 / sqrt(square)) : 0.0f;
        for (size_t k = threadIdx.x; k < O; k += THREADS)
            x[k] *= scale;
    }
}

void cuda_low_rank_left(float *p, float *e, const float *g, const float *q, size_t R, size_t I, size_t O)
{
    cuda_axpby(e, g, O * I, 1.0f, 1.0f);
    cuda_multiply(p, q, 0, e, 1, R, O, I);
}

void cuda_low_rank_right(float *q, float *p, const float *e, size_t R, size_t I, size_t O)
{
    launch(orthonormalise_kernel, 1, THREADS, 0, p, R, O);
    cuda_multiply(q, p, 0, e, 0, R, I, O);
}

void cuda_low_rank_restore(float *g, float *e, const float *p, const float *q, size_t R, size_t I, size_t O,
                           float share)
{
    cuda_multiply(g, p, 1, q, 0, O, I, R);
    cuda_axpby(e, g, O * I, -share, 1.0f);
}
