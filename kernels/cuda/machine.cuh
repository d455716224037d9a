/* machine.cuh - PTX instructions and the like: shared memory sized at launch, products of small matrices by a warp on
 * tensor cores, and asynchronous copies to shared memory. sm_80 and later.
 *
 * A warp's lanes form groups of four: g = lane / 4, t = lane % 4. Every lane of the warp must make the calls that are
 * marked "Warp". Source of the layouts: NVIDIA, PTX ISA, sections on mma.m16n8k16, mma.m16n8k8 and ldmatrix. */
#ifndef KERNELS_CUDA_MACHINE_CUH
#define KERNELS_CUDA_MACHINE_CUH

#include <stddef.h>
#include <stdint.h>

/* Returns the block's shared memory of the size given at launch, aligned to 16 bytes. */
template <typename T> __device__ inline T *dynamic_shared()
{
    extern __shared__ __align__(16) unsigned char dynamic_shared_memory[];
    return reinterpret_cast<T *>(dynamic_shared_memory);
}

/* Warp: d[16, 8] += a[16, 16] * b[16, 8] of bfloat16, sums in fp32. A word holds two numbers, the one with the lower
 * index in its low half. a: {[g][2t, 2t+1], [g+8][2t, 2t+1], [g][2t+8, 2t+9], [g+8][2t+8, 2t+9]}; b: {[2t, 2t+1][g],
 * [2t+8, 2t+9][g]}; d: {[g][2t], [g][2t+1], [g+8][2t], [g+8][2t+1]}. */
__device__ inline void mma_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Warp: d[16, 8] += a[16, 8] * b[8, 8] of TF32 (as round_tf32 makes them), sums in fp32. a: {[g][t], [g+8][t],
 * [g][t+4], [g+8][t+4]}; b: {[t][g], [t+4][g]}; d: {[g][2t], [g][2t+1], [g+8][2t], [g+8][2t+1]}. */
__device__ inline void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Returns the bits of x rounded to TF32 (10 bits after the binary point), ties away from zero: a valid float. */
__device__ inline uint32_t round_tf32(float x)
{
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

/* Returns 2^x with a relative error of 2^-22; 0 if 2^x < 2^-126, also for -inf. One instruction; exp2f takes four. */
__device__ inline float exp2_approximate(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Begins to fetch data from global memory into the L2 cache for a later load. */
__device__ inline void prefetch(const void *global)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(global)));
}

__device__ inline uint32_t shared_address(const void *shared)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

/* Warp: loads four 8 x 8 matrices of 16-bit numbers from shared memory. Lane 8 i + r passes the address of row r of
 * matrix i; a row is 16 bytes, aligned to 16. word[i] of each lane becomes row g, columns 2t and 2t+1, of matrix i. */
__device__ inline void load_matrices(uint32_t (&word)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/* Warp: like load_matrices, but word[i] becomes rows 2t and 2t+1 of column g of matrix i. */
__device__ inline void load_matrices_transposed(uint32_t (&word)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/* Begins to copy 16 bytes, aligned to 16 on both sides: the first `valid` (0 to 16) from global memory, the rest set to
 * 0. The lane itself may read them after copy_async_wait, other lanes after a following __syncthreads. */
__device__ inline void copy_async(void *shared, const void *global, int valid)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)), "r"(valid)
                 : "memory");
}

/* copy_async_commit ends a group of this lane's copies; copy_async_wait waits for all but the last n groups. */
__device__ inline void copy_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int n> __device__ inline void copy_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

#endif
