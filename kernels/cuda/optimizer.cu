/* optimizer.cu - the gradient's norm and one step of AdamW. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/operations.cuh"

constexpr int THREADS = 256;
constexpr int SUM_THREADS = 1024;
constexpr int COUNT = 4; /* a thread handles this many numbers at a time */

/* The largest number of blocks. It is fixed, so that all GPUs add a norm in the same order, and is several times the
 * number that runs at once, so that little time is lost while only the last blocks run. */
constexpr unsigned BLOCKS = 4096;

/* Return the index at which a thread's first group begins, and the distance from each of its groups to its next. */
__device__ inline size_t first_group()
{
    return thread_of_grid() * COUNT;
}
__device__ inline size_t next_group()
{
    return static_cast<size_t>(gridDim.x) * THREADS * COUNT;
}

static unsigned blocks_for(size_t n)
{
    return max(1u, min(blocks_of(n, THREADS * COUNT), BLOCKS));
}

/* ---- the norm ---- */

template <bool whole> __device__ inline void add_squares(double (&sum)[COUNT], const float *g, size_t i, size_t n)
{
    Group<float, COUNT> gs = load<whole, COUNT>(g, i, n);
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        double x = gs.number[k];
        sum[k] += x * x;
    }
}

/* Stores each block's sum of g^2 in partial[blocks]. The order of additions is the same with and without vectors. */
__global__ void __launch_bounds__(THREADS, 8)
    grad_norm_kernel(double *__restrict__ partial, const float *__restrict__ g, size_t n, bool vectors)
{
    double sum[COUNT] = {};
    size_t i = first_group();
#pragma unroll 2
    for (; vectors && i + COUNT <= n; i += next_group())
        add_squares<true>(sum, g, i, n);
    for (; i < n; i += next_group())
        add_squares<false>(sum, g, i, n);
    double total = block_sum<THREADS>((sum[0] + sum[1]) + (sum[2] + sum[3]));
    if (threadIdx.x == 0)
        partial[blockIdx.x] = total;
}

__global__ void __launch_bounds__(SUM_THREADS)
    grad_norm_sum_kernel(float *scalars, const double *partial, unsigned blocks, float max_norm)
{
    double sum = 0.0;
    for (unsigned b = threadIdx.x; b < blocks; b += SUM_THREADS)
        sum += partial[b];
    double norm = sqrt(block_sum<SUM_THREADS>(sum));
    if (threadIdx.x > 0)
        return;
    scalars[SCALAR_GRAD_NORM] = static_cast<float>(norm);
    if (max_norm > 0.0f)
        scalars[SCALAR_CLIP] = static_cast<float>(fmin(1.0, max_norm / (norm + 1e-6)));
}

void cuda_grad_norm(float *scalars, const float *g, size_t n, float max_norm)
{
    unsigned blocks = blocks_for(n);
    double *partial = static_cast<double *>(cuda_scratch(blocks * sizeof *partial));
    launch(grad_norm_kernel, blocks, THREADS, 0, partial, g, n, aligned(g));
    launch(grad_norm_sum_kernel, 1, SUM_THREADS, 0, scalars, partial, blocks, max_norm);
}

/* ---- AdamW ---- */

/* Factors common to all elements; computed in double, because 1 - beta^t loses digits in float. */
struct Step {
    float beta1, rest1, beta2, rest2, decay, rate, root, clip, epsilon;
};

__device__ inline Step make_step(const float *scalars, const struct adamw &adamw)
{
    double lr = scalars[SCALAR_LEARNING_RATE], t = scalars[SCALAR_STEP], beta1 = adamw.beta1, beta2 = adamw.beta2;
    Step step;
    step.beta1 = adamw.beta1;
    step.rest1 = static_cast<float>(1.0 - beta1);
    step.beta2 = adamw.beta2;
    step.rest2 = static_cast<float>(1.0 - beta2);
    step.decay = static_cast<float>(1.0 - lr * adamw.weight_decay);
    step.rate = static_cast<float>(lr / (1.0 - pow(beta1, t)));
    step.root = static_cast<float>(1.0 / sqrt(1.0 - pow(beta2, t)));
    step.clip = scalars[SCALAR_CLIP];
    step.epsilon = adamw.epsilon;
    return step;
}

template <typename T, bool whole>
__device__ inline void adamw_group(float *__restrict__ w, T *__restrict__ compute_w, float *__restrict__ m,
                                   float *__restrict__ v, const float *__restrict__ g, size_t i, size_t n,
                                   const Step &step)
{
    Group<float, COUNT> ws = load<whole, COUNT>(w, i, n), ms = load<whole, COUNT>(m, i, n),
                        vs = load<whole, COUNT>(v, i, n), gs = load<whole, COUNT>(g, i, n);
    Group<T, COUNT> narrowed;
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        float G = gs.number[k] * step.clip;
        float m_new = step.beta1 * ms.number[k] + step.rest1 * G;
        float v_new = step.beta2 * vs.number[k] + step.rest2 * (G * G);
        float change = step.rate * m_new / (sqrtf(v_new) * step.root + step.epsilon);
        ms.number[k] = m_new;
        vs.number[k] = v_new;
        ws.number[k] = ws.number[k] * step.decay - change;
        narrowed.number[k] = narrow<T>(ws.number[k]);
    }
    store<whole>(w, ws, i, n);
    store<whole>(m, ms, i, n);
    store<whole>(v, vs, i, n);
    if (compute_w != nullptr)
        store<whole>(compute_w, narrowed, i, n);
}

template <typename T>
__global__ void __launch_bounds__(THREADS)
    adamw_kernel(float *__restrict__ w, T *__restrict__ compute_w, float *__restrict__ m, float *__restrict__ v,
                 const float *__restrict__ g, size_t n, const float *__restrict__ scalars, struct adamw adamw,
                 bool vectors)
{
    __shared__ Step shared;
    if (threadIdx.x == 0)
        shared = make_step(scalars, adamw);
    __syncthreads();
    Step step = shared;
    for (size_t i = first_group(); i < n; i += next_group())
        if (vectors && i + COUNT <= n)
            adamw_group<T, true>(w, compute_w, m, v, g, i, n, step);
        else
            adamw_group<T, false>(w, compute_w, m, v, g, i, n, step);
}

template <typename Number>
void cuda_adamw(float *w, void *compute_w, float *m, float *v, const float *g, size_t n, const float *scalars,
                const struct adamw *adamw)
{
    launch(adamw_kernel<Number>, blocks_for(n), THREADS, 0, w, static_cast<Number *>(compute_w), m, v, g, n, scalars,
           *adamw, aligned(w, compute_w, m, v, g));
}

template void cuda_adamw<float>(float *, void *, float *, float *, const float *, size_t, const float *,
                                const struct adamw *);
template void cuda_adamw<bf16>(float *, void *, float *, float *, const float *, size_t, const float *,
                               const struct adamw *);
