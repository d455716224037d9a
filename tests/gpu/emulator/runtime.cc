/* runtime.cc - the CUDA runtime without streams and memory: errors, GPUs' properties, kernels and their limits. */
#include "traced.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

using emulated::Lock;
using emulated::machine;

std::mutex emulated::machine;

namespace
{
constexpr size_t SHARED = 48 << 10, SHARED_RESERVED = 1 << 10; /* a block's shared memory in bytes: default; reserved */
constexpr int MULTIPROCESSORS = 4, REGISTERS = 32;

thread_local cudaError_t last_error;
thread_local int current;
thread_local bool chosen;                                 /* this thread has set a GPU */
std::atomic<bool> other_than_0;                           /* a thread has set a GPU other than 0 */
auto &shared_limit = *new std::map<const void *, size_t>; /* shared_limit[kernel]: bytes; SHARED if not set */

int arch()
{
    return static_cast<int>(emulated::setting("EMULATED_CUDA_ARCH", 90));
}

/* Returns the most bytes of shared memory of a block; by default as sm_90 (sm_86, sm_89 and sm_120 have 101376). */
size_t shared_most()
{
    return static_cast<size_t>(emulated::setting("EMULATED_CUDA_SHARED", 227 << 10));
}

/* Returns the GPUs that CUDA_VISIBLE_DEVICES, a list of numbers, makes visible, up to the first that does not exist. */
std::vector<int> visible()
{
    int only = static_cast<int>(emulated::setting("EMULATED_CUDA_ONLY", -1)), first = only < 0 ? 0 : only;
    int all = only < 0 ? static_cast<int>(emulated::setting("EMULATED_CUDA_GPUS", 8)) : 1;
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    std::vector<int> shown;
    for (int i = 0; !list && i < all; i++)
        shown.push_back(first + i);
    while (list && *list) {
        char *end;
        long i = strtol(list, &end, 10);
        if (end == list || i < 0 || i >= all)
            break;
        shown.push_back(first + static_cast<int>(i));
        list = *end == ',' ? end + 1 : "";
    }
    return shown;
}

int gpus()
{
    return static_cast<int>(visible().size());
}

const char *driver()
{
    const char *text = getenv("EMULATED_CUDA_DRIVER");
    return text ? text : "new";
}

size_t shared_limit_of(const void *kernel)
{
    auto limit = shared_limit.find(kernel);
    return limit == shared_limit.end() ? SHARED : limit->second;
}

cudaError_t no_code()
{
    cudaError_t error = emulated::no_machine();
    return error ? error : arch() < 80 ? cudaErrorNoKernelImageForDevice : cudaSuccess;
}
} // namespace

uint32_t emulated::chance(uint32_t n)
{
    static uint64_t state = static_cast<uint64_t>(setting("EMULATED_CUDA_SEED", 1)) * 0x9e3779b97f4a7c15;
    uint64_t x = state += 0x9e3779b97f4a7c15; /* SplitMix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return static_cast<uint32_t>(((x ^ x >> 31) >> 32) * n >> 32);
}

long long emulated::setting(const char *name, long long otherwise)
{
    const char *text = getenv(name);
    if (!text)
        return otherwise;
    char *end;
    long long value = strtoll(text, &end, 10);
    if (!*text || *end || value < 0)
        emulated_wrong(__FILE__, __LINE__, "%s=%s is not a number", name, text);
    return value;
}

cudaError_t emulated::result(cudaError_t error)
{
    if (error)
        last_error = error;
    return error;
}

cudaError_t emulated::no_machine()
{
    if (strcmp(driver(), "new"))
        return cudaErrorInsufficientDriver;
    return gpus() ? cudaSuccess : cudaErrorNoDevice;
}

int emulated::physical_gpu()
{
    return visible()[static_cast<size_t>(current)];
}

void emulated::check_thread()
{
    if (other_than_0 && !chosen)
        emulated_wrong(__FILE__, __LINE__, "a thread that has set no GPU creates a context on GPU 0");
}

/* ---- errors ---- */

static const struct {
    cudaError_t code;
    const char *text;
} known[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorNotSupported, "operation not supported"},
};

const char *cudaGetErrorString(cudaError_t error)
{
    for (auto &row : known)
        if (row.code == error)
            return row.text;
    return "unrecognized error code";
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

/* ---- GPUs ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
    if (cudaError_t error = emulated::no_machine())
        return emulated::result(error); /* *count is unchanged */
    *count = gpus();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (cudaError_t error = emulated::no_machine())
        return emulated::result(error);
    if (device < 0 || device >= gpus())
        return emulated::result(cudaErrorInvalidDevice);
    current = device;
    chosen = true;
    if (device > 0)
        other_than_0 = true;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return emulated::result(emulated::no_machine());
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (cudaError_t error = emulated::no_machine())
        return emulated::result(error);
    if (device < 0 || device >= gpus())
        return emulated::result(cudaErrorInvalidDevice);
    *properties = {};
    strcpy(properties->name, "emulated GPU (no real one)");
    memcpy(properties->uuid.bytes, "emulated GPU", 12);
    properties->uuid.bytes[15] = static_cast<char>(visible()[static_cast<size_t>(device)]);
    properties->totalGlobalMem = static_cast<size_t>(emulated::setting("EMULATED_CUDA_MEMORY", 8LL << 30));
    properties->sharedMemPerBlock = SHARED;
    properties->sharedMemPerBlockOptin = shared_most();
    properties->sharedMemPerMultiprocessor = shared_most() + SHARED_RESERVED;
    properties->reservedSharedMemPerBlock = SHARED_RESERVED;
    properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
    properties->maxThreadsDim[2] = 64;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->maxBlocksPerMultiProcessor = 32;
    properties->maxGridSize[0] = 2147483647;
    properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
    properties->major = arch() / 10;
    properties->minor = arch() % 10;
    properties->multiProcessorCount = MULTIPROCESSORS;
    properties->asyncEngineCount = 3;
    properties->concurrentKernels = properties->unifiedAddressing = properties->streamPrioritiesSupported = 1;
    properties->l2CacheSize = 4 << 20;
    properties->memoryBusWidth = 5120;
    properties->pciBusID = 1 + visible()[static_cast<size_t>(device)];
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = !strcmp(driver(), "none") ? 0 : !strcmp(driver(), "old") ? 11040 : CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* ---- kernels ---- */

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
    return emulated::locked([=](Lock &) {
        *attributes = {};
        attributes->maxThreadsPerBlock = 1024;
        attributes->numRegs = REGISTERS;
        attributes->ptxVersion = attributes->binaryVersion = arch();
        attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_limit_of(kernel));
        return no_code();
    });
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    Lock lock(machine);
    if (cudaError_t error = no_code())
        return emulated::result(error);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return value < -1 || value > 100 ? emulated::result(cudaErrorInvalidValue) : cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        static_cast<size_t>(value) > shared_most())
        return emulated::result(cudaErrorInvalidValue);
    shared_limit[kernel] = static_cast<size_t>(value);
    return cudaSuccess;
}

static cudaError_t check_launch(const cudaLaunchConfig_t *how, const void *kernel)
{
    dim3 grid = how->gridDim, block = how->blockDim;
    if (cudaError_t error = no_code())
        return error;
    if (how->numAttrs)
        return cudaErrorNotSupported;
    if (!grid.x || !grid.y || !grid.z || grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535 || !block.x ||
        !block.y || !block.z || block.x > 1024 || block.y > 1024 || block.z > 64 || block.x * block.y * block.z > 1024)
        return cudaErrorInvalidConfiguration;
    return how->dynamicSmemBytes > shared_limit_of(kernel) ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t emulated_launch(const cudaLaunchConfig_t *config, const void *kernel, std::function<void()> body,
                            const void *const *pointers, size_t n)
{
    emulated::Traced call("cudaLaunchKernelExC", emulated::Traced::KERNEL, "_Z15emulated_kernelv");
    call.grid = config->gridDim;
    call.block = config->blockDim;
    call.bytes = config->dynamicSmemBytes;
    Lock lock(machine);
    cudaLaunchConfig_t how = *config;
    if (cudaError_t error = check_launch(config, kernel))
        return emulated::result(error);
    for (size_t i = 0; i < n; i++)
        if (pointers[i] && emulated::kind_of(pointers[i]) == emulated::PAGEABLE)
            emulated_wrong(__FILE__, __LINE__, "argument %zu of a kernel points to memory that is not the GPU's", i);
    return emulated::result(emulated::queue(lock, how.stream, [how, body] {
        emulated::run_grid(how.gridDim, how.blockDim, how.dynamicSmemBytes, body);
        return true;
    }));
}
