/* machine.cuh - stands in for kernels/cuda/machine.cuh in the emulation: the same functions, with the same meaning.
 *
 * A warp's lanes form groups of four: g = lane / 4, t = lane % 4. All lanes of a warp must make each call marked "Warp"
 * together. */
#ifndef MACHINE_CUH
#define MACHINE_CUH

#include <cuda_runtime.h>

#include <stddef.h>
#include <stdint.h>

/* Return the block's dynamic shared memory, whose size is given at launch; it is aligned to 16 bytes. */
void *emulated_dynamic_shared();
template <typename T> T *dynamic_shared()
{
    return static_cast<T *>(emulated_dynamic_shared());
}

/* Warp: d[16, 8] += a[16, 16] * b[16, 8] of bfloat16, sums in fp32. A word has two numbers, the lower index in the low
 * half. a: {[g][2t, 2t+1], [g+8][2t, 2t+1], [g][2t+8, 2t+9], [g+8][2t+8, 2t+9]}; b: {[2t, 2t+1][g], [2t+8, 2t+9][g]};
 * d: {[g][2t], [g][2t+1], [g+8][2t], [g+8][2t+1]}; these are the words of one lane. */
void mma_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], EMULATED_WHERE);

/* Warp: d[16, 8] += a[16, 8] * b[8, 8] of TF32 (results of round_tf32; of other floats the last 13 bits are dropped).
 * a: {[g][t], [g+8][t], [g][t+4], [g+8][t+4]}; b: {[t][g], [t+4][g]}; d: as in mma_bf16. */
void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], EMULATED_WHERE);

/* Returns the bits of a float: x rounded to TF32 (10 bits of fraction), ties away from zero. */
inline uint32_t round_tf32(float x)
{
    uint32_t bits = __float_as_uint(x);
    if ((bits & 0x7f800000) == 0x7f800000)
        return x != x ? 0x7fffffff : bits;
    return (bits + 0x1000) & 0xffffe000;
}

/* Returns 2^x with a relative error of 2^-22, and 0 if the result is below 2^-126, also for -inf. */
inline float exp2_approximate(float x)
{
    float y = exp2f(x);
    return y < 0x1p-126f ? 0 : y;
}

/* Warp: loads four 8 x 8 matrices of 16-bit numbers from shared memory. Lane 8 i + r gives the address of row r of
 * matrix i; a row has 16 bytes, aligned to 16. word[i] of each lane becomes row g, columns 2t and 2t+1, of matrix i. */
void load_matrices(uint32_t (&word)[4], const void *row, EMULATED_WHERE);

/* Warp: like load_matrices, but word[i] becomes rows 2t and 2t+1 of column g of matrix i. */
void load_matrices_transposed(uint32_t (&word)[4], const void *row, EMULATED_WHERE);

/* On a GPU, fetches memory to a cache; here, reads a byte, so that AddressSanitizer checks the address. */
inline void prefetch(const void *global)
{
    (void)*static_cast<const volatile char *>(global);
}

/* Begins to copy 16 bytes; both addresses are aligned to 16. The first `valid` bytes (0 to 16) come from global memory,
 * the rest become 0. The lane may read the copy after copy_async_wait, other lanes after a following __syncthreads.
 * The emulation writes 0xFF bytes to the destination at once, and reads the source only in copy_async_wait. */
void copy_async(void *shared, const void *global, int valid, EMULATED_WHERE);

/* copy_async_commit ends a group of this lane's copies; copy_async_wait waits for all its groups but the last n. */
void copy_async_commit();
void emulated_copy_wait(int n);
template <int n> void copy_async_wait()
{
    emulated_copy_wait(n);
}

#endif
