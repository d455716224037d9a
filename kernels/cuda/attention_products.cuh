/* attention_products.cuh - attention's products on tensor cores: one struct per precision.
 *
 * Each product is d[16, 8] += a[16, STEP] * b[STEP, 8] by a warp, with sums in fp32. Operands are made from words.
 * Words are read from a tile by load_matrices, or made from sums that become operand a of the next product, so that
 * probabilities never leave the registers. g = lane / 4 and t = lane % 4 as in machine.cuh.
 *
 * A product may sum over its STEP indices in any order that is the same in a and b. Products of fp32 numbers use this
 * freedom if a comes from sums: as a's columns t and t+4, a lane supplies the columns of the sums that it holds, 2t and
 * 2t+1. Correspondingly, b's rows t and t+4 are rows 2t and 2t+1 of the tile. */
#ifndef KERNELS_CUDA_ATTENTION_PRODUCTS_CUH
#define KERNELS_CUDA_ATTENTION_PRODUCTS_CUH

#include "kernels/cuda/kernel.cuh"

#include <string.h>

/* Products of bfloat16 tiles. */
struct products_bf16 {
    typedef bf16 Number;
    static constexpr int STEP = 16, WORDS = 1; /* WORDS: operand words per word of a tile */

    template <int n> struct Operand {
        uint32_t word[n];
    };

    template <int n> static __device__ void prepare(Operand<n> &operand, const uint32_t *word)
    {
        for (int i = 0; i < n; i++)
            operand.word[i] = word[i];
    }

    static __device__ void multiply(float (&d)[4], const Operand<4> &a, const Operand<2> &b)
    {
        mma_bf16(d, a.word, b.word);
    }

    static __device__ uint32_t pack(float low, float high)
    {
        __nv_bfloat162 pair = __float22bfloat162_rn(float2{low, high});
        uint32_t word;
        memcpy(&word, &pair, sizeof word);
        return word;
    }

    /* Makes the words of an operand a[16, 16] from two neighbouring sums[16, 8]. */
    static __device__ void words_of_sums(uint32_t (&word)[4], const float (*sums)[4])
    {
        word[0] = pack(sums[0][0], sums[0][1]);
        word[1] = pack(sums[0][2], sums[0][3]);
        word[2] = pack(sums[1][0], sums[1][1]);
        word[3] = pack(sums[1][2], sums[1][3]);
    }

    /* Makes the words of two operands b[16, 8], two words each, from 16 rows, `row` numbers apart, and 16 columns. */
    static __device__ void words_of_rows(uint32_t (&word)[4], const bf16 *tile, int row)
    {
        int lane = threadIdx.x % WARP;
        load_matrices_transposed(word, tile + lane % 16 * row + lane / 16 * 8);
    }
};

/* Makes the words of operands from fp32 sums and tiles, for TF32 products and fp32 products. */
struct tiles_fp32 {
    typedef float Number;
    static constexpr int STEP = 8;

    static __device__ void words_of_sums(uint32_t (&word)[4], const float (*sums)[4])
    {
        word[0] = __float_as_uint(sums[0][0]);
        word[1] = __float_as_uint(sums[0][2]);
        word[2] = __float_as_uint(sums[0][1]);
        word[3] = __float_as_uint(sums[0][3]);
    }

    /* Makes the words of two operands b[8, 8] from 8 rows, `row` numbers apart, and 16 columns. */
    static __device__ void words_of_rows(uint32_t (&word)[4], const float *tile, int row)
    {
        int lane = threadIdx.x % WARP;
        const float *from = tile + lane % 4 * 2 * row + lane / 4;
        word[0] = __float_as_uint(from[0]);
        word[1] = __float_as_uint(from[row]);
        word[2] = __float_as_uint(from[8]);
        word[3] = __float_as_uint(from[row + 8]);
    }
};

/* Products of fp32 tiles, with factors rounded to TF32. */
struct products_tf32 : tiles_fp32 {
    static constexpr int WORDS = 1;

    template <int n> struct Operand {
        uint32_t word[n];
    };

    template <int n> static __device__ void prepare(Operand<n> &operand, const uint32_t *word)
    {
        for (int i = 0; i < n; i++)
            operand.word[i] = round_tf32(__uint_as_float(word[i]));
    }

    static __device__ void multiply(float (&d)[4], const Operand<4> &a, const Operand<2> &b)
    {
        mma_tf32(d, a.word, b.word);
    }
};

/* Products of fp32 tiles. Each factor is the sum of a big and a small TF32 number, which together have 21 bits and a
 * sign; the product of two small numbers is below the precision of fp32 sums and is omitted. Tensor cores truncate sums
 * instead of rounding them, which would add up to a bias over many steps, so each step starts from 0 and is added by an
 * ordinary, rounding addition. Source: Ootomo and Yokota, Recovering single precision accuracy from Tensor Cores, 2022,
 * arXiv:2203.03341. */
struct products_fp32 : tiles_fp32 {
    static constexpr int WORDS = 2;

    template <int n> struct Operand {
        uint32_t big[n], small[n];
    };

    template <int n> static __device__ void prepare(Operand<n> &operand, const uint32_t *word)
    {
        for (int i = 0; i < n; i++) {
            float x = __uint_as_float(word[i]);
            operand.big[i] = round_tf32(x);
            operand.small[i] = round_tf32(x - __uint_as_float(operand.big[i]));
        }
    }

    static __device__ void multiply(float (&d)[4], const Operand<4> &a, const Operand<2> &b)
    {
        float step[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        mma_tf32(step, a.small, b.big);
        mma_tf32(step, a.big, b.small);
        mma_tf32(step, a.big, b.big);
        for (int i = 0; i < 4; i++)
            d[i] += step[i];
    }
};

#endif
