/* attention_backward.cu - gradients of causal attention: prepares and launches the two kernels. */
#include "kernels/cuda/attention_backward.cuh"
#include "kernels/cuda/operations.cuh"

constexpr int DELTA_LANES = 8; /* lanes that share a row */

/* Computes delta, and lse to base 2, of rows [B, H, rows] (attention_rows); DELTA_LANES lanes share a row. */
template <typename Number>
__global__ void attention_delta_kernel(struct attention_rows out, const float *lse, const Number *d_o, const Number *o,
                                       size_t n, struct attention_sizes sizes)
{
    int lane = static_cast<int>(threadIdx.x) % DELTA_LANES;
    size_t i = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) / DELTA_LANES;
    size_t t = i % out.rows, bh = i / out.rows, b = bh / sizes.H, h = bh % sizes.H;
    bool there = i < n && t < static_cast<size_t>(sizes.T);
    float sum = 0.0f;
    if (there) {
        size_t row = ((b * sizes.T + t) * sizes.H + h) * sizes.D;
        if (sizes.vectors) {
            constexpr int PIECE = Vector<Number>::count;
            for (int d = lane * PIECE; d < sizes.D; d += DELTA_LANES * PIECE) {
                Vector<Number> x = *reinterpret_cast<const Vector<Number> *>(d_o + row + d);
                Vector<Number> y = *reinterpret_cast<const Vector<Number> *>(o + row + d);
                for (int j = 0; j < PIECE; j++)
                    sum += widen(x.number[j]) * widen(y.number[j]);
            }
        } else {
            for (int d = lane; d < sizes.D; d += DELTA_LANES)
                sum += widen(d_o[row + d]) * widen(o[row + d]);
        }
    }
    for (int offset = DELTA_LANES / 2; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(WHOLE_WARP, sum, offset);
    if (lane == 0 && i < n) {
        out.delta[i] = sum;
        out.lse[i] = there ? lse[bh * sizes.T + t] * LOG2_E : 0.0f;
    }
}

/* The arguments of a backward pass. */
template <typename Number> struct backward_arguments {
    Number *dq, *dk, *dv;
    const Number *d_o, *q, *k, *v;
    const float *rope;
    struct attention_rows rows;
    unsigned heads; /* B * H */
    struct attention_sizes sizes;
};

template <typename Products, int DEPTH>
static void backward_of_depth(const backward_arguments<typename Products::Number> &x)
{
    typedef typename Products::Number Number;
    attention_plan<backward_key_plan, Products, DEPTH>([&](auto plan) {
        typedef decltype(plan) Plan;
        static_assert(ROWS_FILL % Plan::QUERIES == 0, "tiles end with the rows");
        attention_launch<Plan, attention_backward_key_kernel<Plan, Number>>(
            dim3(x.heads, blocks_of(x.sizes.T, Plan::KEYS)), x.dk, x.dv, x.d_o, x.rows, x.q, x.k, x.v, x.rope, x.sizes);
    });
    attention_plan<backward_query_plan, Products, DEPTH>([&](auto plan) {
        typedef decltype(plan) Plan;
        static_assert(ROWS_FILL % Plan::QUERIES == 0, "tiles end with the rows");
        attention_launch<Plan, attention_backward_query_kernel<Plan, Number>>(
            dim3(x.heads, blocks_of(x.sizes.T, Plan::QUERIES)), x.dq, x.d_o, x.rows, x.q, x.k, x.v, x.rope, x.sizes);
    });
}

template <typename Products> static void backward(const backward_arguments<typename Products::Number> &x)
{
    if (x.sizes.D <= 32)
        backward_of_depth<Products, 32>(x);
    else if (x.sizes.D <= 64)
        backward_of_depth<Products, 64>(x);
    else if (x.sizes.D <= 128)
        backward_of_depth<Products, 128>(x);
    else
        backward_of_depth<Products, ATTENTION_MAX_DEPTH>(x);
}

/* Computes delta and lse to base 2 into scratch memory, and gathers the arguments. */
template <typename Number>
static backward_arguments<Number> prepare(void *dq, void *dk, void *dv, const void *d_o, const void *o,
                                          const float *lse, const void *q, const void *k, const void *v,
                                          const float *rope, size_t B, size_t T, size_t H, size_t D, size_t stride)
{
    int aligned = 1;
    for (const void *array :
         {static_cast<const void *>(dq), static_cast<const void *>(dk), static_cast<const void *>(dv), d_o, o, q, k, v})
        aligned &= attention_aligned(array);
    backward_arguments<Number> x = {};
    x.dq = static_cast<Number *>(dq);
    x.dk = static_cast<Number *>(dk);
    x.dv = static_cast<Number *>(dv);
    x.d_o = static_cast<const Number *>(d_o);
    x.q = static_cast<const Number *>(q);
    x.k = static_cast<const Number *>(k);
    x.v = static_cast<const Number *>(v);
    x.rope = rope;
    x.heads = static_cast<unsigned>(B * H);
    x.sizes = attention_sizes_of<Number>(T, H, D, stride, aligned);
    x.rows.rows = static_cast<int>(blocks_of(T, ROWS_FILL)) * ROWS_FILL;
    size_t n = B * H * x.rows.rows;
    x.rows.lse = static_cast<float *>(cuda_scratch(2 * n * sizeof(float)));
    x.rows.delta = x.rows.lse + n;
    constexpr unsigned THREADS = 256;
    launch(attention_delta_kernel<Number>, dim3(blocks_of(n, THREADS / DELTA_LANES)), dim3(THREADS), 0, x.rows, lse,
           x.d_o, static_cast<const Number *>(o), n, x.sizes);
    return x;
}

template <>
void cuda_attention_backward<bf16>(void *dq, void *dk, void *dv, const void *d_o, const void *o, const float *lse,
                                   const void *q, const void *k, const void *v, const float *rope, size_t B,
                                   size_t Tokens, size_t H, size_t D, size_t stride)
{
    backward<products_bf16>(prepare<bf16>(dq, dk, dv, d_o, o, lse, q, k, v, rope, B, Tokens, H, D, stride));
}

template <>
void cuda_attention_backward<float>(void *dq, void *dk, void *dv, const void *d_o, const void *o, const float *lse,
                                    const void *q, const void *k, const void *v, const float *rope, size_t B,
                                    size_t Tokens, size_t H, size_t D, size_t stride)
{
    backward_arguments<float> x = prepare<float>(dq, dk, dv, d_o, o, lse, q, k, v, rope, B, Tokens, H, D, stride);
    if (cuda_precision == PRECISION_TF32)
        backward<products_tf32>(x);
    else
        backward<products_fp32>(x);
}
