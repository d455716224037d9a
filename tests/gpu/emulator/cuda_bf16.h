/* cuda_bf16.h - bfloat16 numbers and conversions, as the project's kernels use them; no arithmetic. */
#ifndef EMULATED_CUDA_BF16_H
#define EMULATED_CUDA_BF16_H

#include "cuda_runtime.h"

struct __nv_bfloat16 {
    uint16_t bits;
};
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

inline float __bfloat162float(__nv_bfloat16 x)
{
    return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}
/* Rounds to nearest, ties to even; every NaN becomes 0x7fff, as on GPUs. */
inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    if (x != x)
        return {0x7fff};
    unsigned bits = __float_as_uint(x);
    return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 x)
{
    return __floats2bfloat162_rn(x.x, x.y);
}
#endif
