/* memory.cc - allocation of the GPU's memory and of pinned host memory, fills, and copies. */
#include "traced.h"

#include <cstdlib>
#include <map>
#include <memory>

extern "C" { /* defined only with AddressSanitizer */
void __asan_poison_memory_region(const volatile void *, size_t) __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void *, size_t) __attribute__((weak));
}

using emulated::Lock;
using emulated::machine;

namespace
{
struct Piece {
    size_t bytes;
    emulated::Kind kind;
};

auto &pieces = *new std::map<uintptr_t, Piece>;
size_t used, pinned;                /* used: bytes used on the GPU; pinned: bytes pinned on the host */
constexpr size_t GUARDED = 1 << 20; /* bytes of an allocation that are guarded; not all, to save time */
bool is_open;

void guard(uintptr_t at, size_t bytes, bool open)
{
    auto *memory = reinterpret_cast<void *>(at);
    bytes = min(bytes, GUARDED);
    if (open && __asan_unpoison_memory_region)
        __asan_unpoison_memory_region(memory, bytes);
    if (!open && __asan_poison_memory_region)
        __asan_poison_memory_region(memory, bytes);
}

size_t memory_of_gpu()
{
    return static_cast<size_t>(emulated::setting("EMULATED_CUDA_MEMORY", 8LL << 30));
}

size_t most_pinned()
{
    return static_cast<size_t>(emulated::setting("EMULATED_PINNED_MIB", 1LL << 30)) << 20;
}

cudaError_t get(void **memory, size_t bytes, emulated::Kind kind)
{
    return emulated::locked([=](Lock &) {
        bool on_gpu = kind == emulated::DEVICE;
        size_t left = on_gpu ? memory_of_gpu() - used : most_pinned() - pinned;
        *memory = nullptr;
        if (!bytes)
            return cudaSuccess;
        if (bytes > left || posix_memalign(memory, 256, bytes))
            return cudaErrorMemoryAllocation;
        memset(*memory, 0xff, bytes);
        auto at = reinterpret_cast<uintptr_t>(*memory);
        pieces[at] = {bytes, kind};
        (on_gpu ? used : pinned) += bytes;
        if (on_gpu)
            guard(at, bytes, false);
        return cudaSuccess;
    });
}

/* Does not wait for queued work, since NVIDIA does not promise that a release waits. */
cudaError_t give_back(void *memory, emulated::Kind kind)
{
    return emulated::locked([=](Lock &) {
        auto piece = pieces.find(reinterpret_cast<uintptr_t>(memory));
        if (!memory)
            return cudaSuccess;
        if (piece == pieces.end() || piece->second.kind != kind)
            return cudaErrorInvalidValue;
        guard(piece->first, piece->second.bytes, true);
        (kind == emulated::DEVICE ? used : pinned) -= piece->second.bytes;
        pieces.erase(piece);
        free(memory);
        return cudaSuccess;
    });
}

bool allowed(cudaMemcpyKind kind, emulated::Kind to, emulated::Kind from)
{
    bool to_gpu = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_gpu = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return kind == cudaMemcpyDefault || (to_gpu == (to == emulated::DEVICE) && from_gpu == (from == emulated::DEVICE));
}

/* Queues a copy. A pageable source is read at once. */
cudaError_t queue_copy(Lock &lock, void *to, const void *from, size_t bytes, emulated::Kind source, cudaStream_t stream)
{
    std::shared_ptr<char> staged;
    if (source == emulated::PAGEABLE) {
        staged.reset(new char[bytes], std::default_delete<char[]>());
        memcpy(staged.get(), from, bytes);
        from = staged.get();
    }
    return emulated::queue(lock, stream, [to, from, bytes, staged] {
        memcpy(to, from, bytes);
        return true;
    });
}

/* Copies. The host waits if `to` is pageable. If blocking, it also waits for a copy from or to pinned memory. */
cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool blocking)
{
    Lock lock(machine);
    if (cudaError_t error = emulated::no_machine())
        return error;
    emulated::Kind target = emulated::kind_of(to), source = emulated::kind_of(from);
    if (!bytes)
        return cudaSuccess;
    if (!allowed(kind, target, source))
        return cudaErrorInvalidValue;
    if (emulated::Traced *call = emulated::traced_call()) {
        call->bytes = bytes;
        call->from = source;
        call->to = target;
    }
    cudaError_t error = queue_copy(lock, to, from, bytes, source, stream);
    bool wait = blocking ? !(target == emulated::DEVICE && source != emulated::PINNED) : target == emulated::PAGEABLE;
    if (error || !wait)
        return error;
    lock.unlock();
    return cudaStreamSynchronize(stream);
}
} // namespace

emulated::Kind emulated::kind_of(const void *address)
{
    auto at = reinterpret_cast<uintptr_t>(address);
    auto after = pieces.upper_bound(at);
    if (after == pieces.begin())
        return PAGEABLE;
    auto piece = std::prev(after);
    return at - piece->first <= piece->second.bytes ? piece->second.kind : PAGEABLE;
}

void emulated::open_memory(bool open)
{
    if (open == is_open)
        return;
    is_open = open;
    for (auto &piece : pieces)
        if (piece.second.kind == DEVICE)
            guard(piece.first, piece.second.bytes, open);
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    emulated::Traced call("cudaMalloc");
    return get(memory, bytes, emulated::DEVICE);
}

cudaError_t cudaFree(void *memory)
{
    return give_back(memory, emulated::DEVICE);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    if (flags & ~7u)
        return emulated::result(cudaErrorInvalidValue);
    return get(memory, bytes, emulated::PINNED);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    return cudaHostAlloc(memory, bytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *memory)
{
    return give_back(memory, emulated::PINNED);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    emulated::Traced call("cudaMemcpy", emulated::Traced::COPY);
    return emulated::result(copy(to, from, bytes, kind, nullptr, true));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    emulated::Traced call("cudaMemcpyAsync", emulated::Traced::COPY);
    return emulated::result(copy(to, from, bytes, kind, stream, false));
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    emulated::Traced call("cudaMemsetAsync", emulated::Traced::FILL);
    call.bytes = bytes;
    return emulated::locked([=](Lock &lock) {
        if (bytes && emulated::kind_of(memory) == emulated::PAGEABLE)
            return cudaErrorInvalidValue;
        return emulated::queue(lock, stream, [memory, value, bytes] {
            memset(memory, value, bytes);
            return true;
        });
    });
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    return cudaMemsetAsync(memory, value, bytes, nullptr); /* as in CUDA, the host does not wait for the fill */
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    return emulated::locked([=](Lock &) {
        *total = memory_of_gpu();
        *free = *total - used;
        return cudaSuccess;
    });
}
