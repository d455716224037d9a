/* rope.cu - rotary position embedding: turns pairs of each head by an angle that grows with the position. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/operations.cuh"

constexpr int WARPS = 8;         /* of a block; a warp takes a row, [H, D] */
constexpr size_t LAYERS = 65535; /* of a grid at most */

/* `count` numbers at a time: a whole number of pairs, of which a head holds a whole number. The table's row comes from
 * the cache for all heads but the first. */
template <typename T, int count>
__global__ void __launch_bounds__(WARPS *WARP) rope_kernel(T *__restrict__ x, const float *__restrict__ table, size_t B,
                                                           size_t Tokens, unsigned H, unsigned D, float sign)
{
    size_t t = static_cast<size_t>(blockIdx.x) * WARPS + threadIdx.y;
    if (t >= Tokens)
        return;
    constexpr bool whole = count > 2; /* vectors; otherwise pairs at any address */
    unsigned paired = D / 2 * 2;      /* the last number of an odd D stays as it is */
    const float *angles = table + t * paired;
    for (size_t b = blockIdx.y; b < B; b += gridDim.y) {
        T *row = x + (b * Tokens + t) * H * D;
        for (unsigned c = threadIdx.x * count; c < H * paired; c += WARP * count) {
            unsigned h = c / paired, d = c % paired;
            Group<T, count> group = load<whole, count>(row, h * D + d, H * D);
            Group<float, count> angle = load<whole, count>(angles, d, paired);
#pragma unroll
            for (int i = 0; i < count; i += 2) {
                float cosine = angle.number[i], sine = sign * angle.number[i + 1];
                float even = widen(group.number[i]), odd = widen(group.number[i + 1]);
                group.number[i] = narrow<T>(even * cosine - odd * sine);
                group.number[i + 1] = narrow<T>(even * sine + odd * cosine);
            }
            store<whole>(row, group, h * D + d, H * D);
        }
    }
}

template <typename Number>
void cuda_rope(void *x, const float *table, size_t B, size_t Tokens, size_t H, size_t D, int inverse)
{
    constexpr int count = Vector<Number>::count;
    bool vectors = D % count == 0 && aligned(x, table);
    dim3 grid(blocks_of(Tokens, WARPS), static_cast<unsigned>(min(B, LAYERS)));
    launch(vectors ? rope_kernel<Number, count> : rope_kernel<Number, 2>, grid, dim3(WARP, WARPS), 0,
           static_cast<Number *>(x), table, B, Tokens, H, D, inverse ? -1.0f : 1.0f);
}

template void cuda_rope<float>(void *, const float *, size_t, size_t, size_t, size_t, int);
template void cuda_rope<bf16>(void *, const float *, size_t, size_t, size_t, size_t, int);
