/* rope.cu - rotary position embedding of queries and keys; attention rotates gradients back when it stores them. */
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/block.cuh"

constexpr int THREADS = 128;          /* threads per block; a block handles all heads of one position */
constexpr int SEQUENCES = 4;          /* a thread loads this many sequences before it rotates the first of them */
constexpr size_t MOST_BLOCKS = 65535; /* the largest grid along y that CUDA allows */

/* Rotates q (blockIdx.z is 0) and k (1). blockIdx.x is the position, and blockIdx.y covers the batch. A thread handles
 * `count` neighbouring numbers of a head, which are whole pairs, and rotates them by the same angles in every sequence.
 * D, or D - 1 if D is odd, is a multiple of count. */
template <typename T, int count>
__global__ void __launch_bounds__(THREADS)
    rope_kernel(T *q, T *k, const float *__restrict__ table, size_t B, struct attention_sizes sizes)
{
    constexpr bool whole = count > 2; /* true: aligned vectors; false: pairs at any address */
    unsigned D = sizes.D, pairs = D / 2 * 2, pieces = pairs / count; /* the last number of an odd D is not rotated */
    size_t width = static_cast<size_t>(sizes.H) * D, sequence = static_cast<size_t>(sizes.T) * sizes.stride;
    T *rows = (blockIdx.z > 0 ? k : q) + static_cast<size_t>(blockIdx.x) * sizes.stride;
    for (unsigned i = threadIdx.x; i < sizes.H * pieces; i += THREADS) {
        unsigned d = i % pieces * count;
        size_t at = i / pieces * D + d;
        Group<float, count> angle = load<whole, count>(table + static_cast<size_t>(blockIdx.x) * pairs, d, pairs);
        for (size_t b = blockIdx.y * SEQUENCES; b < B; b += gridDim.y * SEQUENCES) {
            Group<T, count> group[SEQUENCES];
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++)
                if (b + s < B)
                    group[s] = load<whole, count>(rows + (b + s) * sequence, at, width);
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++)
                if (b + s < B) {
#pragma unroll
                    for (int j = 0; j < count; j += 2) {
                        float even = widen(group[s].number[j]), odd = widen(group[s].number[j + 1]);
                        rotate_pair(even, odd, angle.number[j], angle.number[j + 1]);
                        group[s].number[j] = narrow<T>(even);
                        group[s].number[j + 1] = narrow<T>(odd);
                    }
                    store<whole>(rows + (b + s) * sequence, group[s], at, width);
                }
        }
    }
}

template <typename Number>
void cuda_rope_forward(void *q, void *k, const float *rope, size_t B, size_t Tokens, size_t H, size_t D, size_t stride)
{
    constexpr int count = Vector<Number>::count;
    struct attention_sizes sizes =
        attention_sizes_of<Number>(Tokens, H, D, stride, attention_aligned(q) && attention_aligned(k));
    dim3 grid(static_cast<unsigned>(Tokens), static_cast<unsigned>(min((B + SEQUENCES - 1) / SEQUENCES, MOST_BLOCKS)),
              2);
    bool vectors = sizes.vectors && aligned(rope);
    launch(vectors ? rope_kernel<Number, count> : rope_kernel<Number, 2>, grid, THREADS, 0, static_cast<Number *>(q),
           static_cast<Number *>(k), rope, B, sizes);
}

template void cuda_rope_forward<float>(void *, void *, const float *, size_t, size_t, size_t, size_t, size_t);
template void cuda_rope_forward<bf16>(void *, void *, const float *, size_t, size_t, size_t, size_t, size_t);
