/* low_rank.cu - the steps of a low-rank approximation: products by cuBLAS, and Gram-Schmidt. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/matmul.cuh"
#include "kernels/cuda/operations.cuh"

constexpr int THREADS = 256;

/* Subtracts from each row after row i of p[R, O] its projection onto row i. A block handles a row. */
__global__ void __launch_bounds__(THREADS) project_out_kernel(float *p, unsigned i, size_t O)
{
    const float *x = p + i * O;
    float *y = p + (i + 1 + blockIdx.x) * O;
    double square = 0.0, product = 0.0;
    for (size_t k = threadIdx.x; k < O; k += THREADS) {
        square += static_cast<double>(x[k]) * x[k];
        product += static_cast<double>(x[k]) * y[k];
    }
    square = block_sum<THREADS>(square);
    product = block_sum<THREADS>(product);
    float part = square > 0.0 ? static_cast<float>(product / square) : 0.0f;
    for (size_t k = threadIdx.x; k < O; k += THREADS)
        y[k] -= part * x[k];
}

/* Divides each row of p by its length; a row of zeros stays zero. */
__global__ void __launch_bounds__(THREADS) normalise_kernel(float *p, size_t O)
{
    float *x = p + blockIdx.x * O;
    double square = 0.0;
    for (size_t k = threadIdx.x; k < O; k += THREADS)
        square += static_cast<double>(x[k]) * x[k];
    square = block_sum<THREADS>(square);
    float scale = square > 0.0 ? static_cast<float>(1.0 / sqrt(square)) : 0.0f;
    for (size_t k = threadIdx.x; k < O; k += THREADS)
        x[k] *= scale;
}

void cuda_low_rank_left(float *p, float *e, const float *g, const float *q, size_t R, size_t I, size_t O)
{
    cuda_axpby(e, g, O * I, 1.0f, 1.0f);
    cuda_multiply(p, q, 0, e, 1, R, O, I);
}

void cuda_low_rank_right(float *q, float *p, const float *e, size_t R, size_t I, size_t O)
{
    unsigned rows = static_cast<unsigned>(R);
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i + 1 < rows; i++)
            launch(project_out_kernel, rows - 1 - i, THREADS, 0, p, i, O);
        launch(normalise_kernel, rows, THREADS, 0, p, O);
    }
    cuda_multiply(q, p, 0, e, 0, R, I, O);
}

void cuda_low_rank_restore(float *g, float *e, const float *p, const float *q, size_t R, size_t I, size_t O,
                           float share)
{
    cuda_multiply(g, p, 1, q, 0, O, I, R);
    cuda_axpby(e, g, O * I, -share, 1.0f);
}
