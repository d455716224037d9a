/* cuda_runtime.h - CUDA C++ as the project's kernels use it, for a C++ compiler: qualifiers, built-ins, launching.
 *
 * The threads of a block are fibers of one host thread, which switches between them in a random order, and only where
 * they wait for each other. Available in kernels: threadIdx blockIdx blockDim gridDim, __syncthreads, __syncwarp,
 * __shfl_sync, __shfl_xor_sync, __any_sync, __ballot_sync, __expf exp2f and the functions of math.h, min, max,
 * __float_as_uint, __uint_as_float, float2, and the contents of cuda_bf16.h. Warp-wide calls need all lanes of a warp,
 * at the same line; otherwise the program ends with a message. `__shared__` is `static`: the first block finds zeros in
 * it, later blocks the data of another block. */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <math.h>
#include <tuple>
#include <type_traits>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) float2 {
    float x, y;
};

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

/* ---- calls that threads make together; `file` and `line` are the caller's, for messages ---- */
#define EMULATED_WHERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
/* Each lane of the warp passes a pointer; the last to arrive calls act(pointers, lanes), then all lanes continue. */
void emulated_warp(const char *call, void *mine, void (*act)(void **of_lane, int lanes), const char *file, int line);
/* The same for a warp that must have 32 lanes. */
void emulated_full_warp(const char *call, void *mine, void (*act)(void **of_lane, int lanes), const char *file,
                        int line);
[[noreturn]] void emulated_wrong(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void __syncthreads(EMULATED_WHERE);

inline void emulated_mask(unsigned mask, const char *file, int line)
{
    if (mask != 0xffffffffu)
        emulated_wrong(file, line, "a warp-wide call with mask %#x; the emulation supports only all lanes", mask);
}

inline void __syncwarp(unsigned mask = 0xffffffffu, EMULATED_WHERE)
{
    emulated_mask(mask, file, line);
    emulated_warp(
        "__syncwarp", nullptr, [](void **, int) {}, file, line);
}

/* Returns the value of lane `from`; 0xFF bytes if that lane does not exist. */
uint64_t emulated_shuffle(uint64_t value, int from, const char *call, const char *file, int line);
template <typename T> T emulated_shuffle_of(T value, int from, const char *call, const char *file, int line)
{
    static_assert(std::is_arithmetic<T>::value, "shuffles need numbers");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = emulated_shuffle(bits, from, call, file, line);
    memcpy(&value, &bits, sizeof value);
    return value;
}
int emulated_lane();

template <typename T> T __shfl_sync(unsigned mask, T x, int from, int width = 32, EMULATED_WHERE)
{
    emulated_mask(mask, file, line);
    int first = emulated_lane() / width * width;
    return emulated_shuffle_of(x, first + (from & (width - 1)), "__shfl_sync", file, line);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T x, int lanes, int width = 32, EMULATED_WHERE)
{
    emulated_mask(mask, file, line);
    int lane = emulated_lane(), from = lane ^ lanes;
    return emulated_shuffle_of(x, from / width <= lane / width ? from : lane, "__shfl_xor_sync", file, line);
}

inline unsigned __ballot_sync(unsigned mask, int yes, EMULATED_WHERE)
{
    struct Vote {
        int yes;
        unsigned result;
    } mine = {yes, 0};
    emulated_mask(mask, file, line);
    emulated_warp(
        "a vote", &mine,
        [](void **of_lane, int lanes) {
            unsigned all = 0;
            for (int i = 0; i < lanes; i++)
                all |= static_cast<Vote *>(of_lane[i])->yes ? 1u << i : 0;
            for (int i = 0; i < lanes; i++)
                static_cast<Vote *>(of_lane[i])->result = all;
        },
        file, line);
    return mine.result;
}
inline int __any_sync(unsigned mask, int yes, EMULATED_WHERE)
{
    return __ballot_sync(mask, yes, file, line) != 0;
}

/* ---- calls of a single thread ---- */

template <typename To, typename From> To emulated_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From), "both types need the same size");
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}
inline unsigned __float_as_uint(float x)
{
    return emulated_bits<unsigned>(x);
}
inline float __uint_as_float(unsigned x)
{
    return emulated_bits<float>(x);
}
#define __expf(x) expf(x) /* a macro, because math.h declares a function of this name */
inline float __fdividef(float x, float y)
{
    return x / y;
}

/* min and max also take mixed types, as in CUDA. */
template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b)
{
    return b < a ? b : a;
}
template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b)
{
    return a < b ? b : a;
}

/* ---- launching ---- */
struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

/* Queues a kernel; each thread runs body. pointers[n]: for each argument a pointer to the GPU's memory, or NULL if the
 * argument is not a pointer. */
cudaError_t emulated_launch(const cudaLaunchConfig_t *config, const void *kernel, std::function<void()> body,
                            const void *const *pointers, size_t n);

template <typename T> const void *emulated_pointer(const T &argument)
{
    if constexpr (std::is_pointer<T>::value)
        return argument;
    return nullptr;
}

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments &&...arguments)
{
    static_assert((std::is_trivially_copyable<Parameters>::value && ...), "arguments are copied byte by byte");
    static_assert((sizeof(Parameters) + ... + 0) <= 4096, "at most 4 KiB of arguments");
    std::tuple<Parameters...> kept(static_cast<Parameters>(arguments)...);
    const void *pointers[] = {emulated_pointer(arguments)..., nullptr};
    return emulated_launch(
        config, reinterpret_cast<const void *>(kernel), [kernel, kept] { std::apply(kernel, kept); }, pointers,
        sizeof...(Parameters));
}

template <typename T> cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void **>(memory), bytes);
}
template <typename T> cudaError_t cudaMallocHost(T **memory, size_t bytes)
{
    return cudaMallocHost(reinterpret_cast<void **>(memory), bytes);
}
template <typename... P> cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <typename... P> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(P...))
{
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}

#endif
