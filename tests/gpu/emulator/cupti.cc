/* cupti.cc - CUPTI's activity API: makes records of the emulation's calls and of the work on its GPUs. */
#include "cupti.h"
#include "traced.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

using emulated::Traced;

namespace
{
struct Buffer {
    uint8_t *memory;
    size_t size, used;
    bool incomplete; /* has records of a GPU, whose times become known only after a first flush */
};

std::mutex tracing; /* guards the variables below; never held during a callback that takes a buffer */
bool enabled[CUPTI_ACTIVITY_KIND_COUNT];
std::atomic<bool> subscribed, all_waits{true};
std::atomic<bool> left_out[16]; /* left_out[call]: whether calls of this number are not recorded */
CUpti_BuffersCallbackRequestFunc request;
CUpti_BuffersCallbackCompleteFunc complete;
CUpti_TimestampCallbackFunc timestamp;
auto &full = *new std::vector<Buffer>;
auto &current = *new std::map<pid_t, Buffer>; /* current[thread]: buffer of a thread; current[0]: of all threads */
bool per_thread = true, zeroed;
size_t size_of[CUPTI_ACTIVITY_KIND_COUNT]; /* size_of[kind]: bytes of a record */
size_t kernels, buffers, records;
std::atomic<size_t> dropped_records; /* records dropped since the last query */
std::atomic<uint32_t> correlations{1000};
thread_local Traced *going_on;

/* CUPTI's names of calls; the number of a call is the index of its name. */
const char *const runtime_names[] = {"INVALID",
                                     "cudaLaunchKernelExC_v11060",
                                     "cudaMemcpy_v3020",
                                     "cudaMemcpyAsync_v3020",
                                     "cudaMemsetAsync_v3020",
                                     "cudaEventRecord_v3020",
                                     "cudaStreamWaitEvent_v3020",
                                     "cudaEventQuery_v3020",
                                     "cudaStreamSynchronize_v3020",
                                     "cudaDeviceSynchronize_v3020",
                                     "cudaEventSynchronize_v3020",
                                     "cudaMalloc_v3020"};
const char *const driver_names[] = {"INVALID", "cuLaunchKernelEx", "cuEventQuery"};

template <size_t n> uint32_t number_of(const char *const (&names)[n], const std::string &call)
{
    for (uint32_t i = 1; i < n; i++)
        if (!strncmp(names[i], call.c_str(), call.size()) && (!names[i][call.size()] || names[i][call.size()] == '_'))
            return i;
    emulated_wrong(__FILE__, __LINE__, "CUPTI has no number for %s", call.c_str());
}

size_t rounded(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* Delivers full buffers, the last one first: at a flush, or when many have accumulated, as CUPTI's own thread does. */
void hand_over(std::vector<Buffer> due)
{
    for (; !due.empty(); due.pop_back())
        complete(nullptr, 0, due.back().memory, due.back().size, due.back().used);
}

Buffer new_buffer()
{
    Buffer buffer = {};
    size_t most;
    request(&buffer.memory, &buffer.size, &most);
    buffers++;
    if (!buffer.memory)
        emulated_wrong(__FILE__, __LINE__, "CUPTI got no buffer: some versions would crash, others lose records");
    if (reinterpret_cast<uintptr_t>(buffer.memory) % 8 || buffer.size < 1024)
        emulated_wrong(__FILE__, __LINE__, "a buffer for CUPTI is not aligned to 8 bytes, or too small");
    for (size_t i = 0; zeroed && i < buffer.size; i++)
        if (buffer.memory[i])
            emulated_wrong(__FILE__, __LINE__, "a buffer for CUPTI that should be zeroed is not");
    return buffer;
}

/* Appends a record, if its kind is enabled, to the buffer of the thread that made the call. */
template <typename Record> void put(const Record &record, pid_t thread, bool of_gpu = false)
{
    std::unique_lock<std::mutex> lock(tracing);
    if (!enabled[record.kind])
        return;
    if (long long us = emulated::setting("EMULATED_CUPTI_US", 0))
        usleep(static_cast<useconds_t>(us));
    long long each = emulated::setting("EMULATED_CUPTI_DROP", 0);
    if (each && ++records % static_cast<size_t>(each) == 0) {
        dropped_records++;
        return;
    }
    size_t size = size_of[record.kind] = rounded(sizeof record);
    Buffer &buffer = current[per_thread ? thread : 0];
    if (buffer.memory && buffer.used + size > buffer.size)
        full.push_back(buffer);
    if (!buffer.memory || buffer.used + size > buffer.size)
        buffer = new_buffer();
    memset(buffer.memory + buffer.used, 0, size);
    memcpy(buffer.memory + buffer.used, &record, sizeof record);
    buffer.used += size;
    buffer.incomplete |= of_gpu;
    std::vector<Buffer> due;
    if (full.size() > 4)
        due.swap(full);
    lock.unlock();
    hand_over(std::move(due));
}

uint64_t now()
{
    return timestamp ? timestamp() : 0;
}
} // namespace

/* ---- events of the emulation ---- */

Traced::Traced(const char *name, Work work, const char *kernel_name, bool driver)
    : call(name), queues(work), kernel(kernel_name), by_driver(driver), within(going_on), correlation(0)
{
    if (within || !subscribed)
        return;
    going_on = this;
    correlation = ++correlations;
    start = now();
}

Traced::~Traced()
{
    if (going_on != this)
        return;
    going_on = nullptr;
    if (!subscribed)
        return;
    uint64_t end = now();
    CUpti_ActivityAPI record = {};
    record.kind = by_driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
    record.cbid = by_driver ? number_of(driver_names, call) : number_of(runtime_names, call);
    record.start = start;
    record.end = end;
    record.processId = static_cast<uint32_t>(getpid());
    record.threadId = static_cast<uint32_t>(gettid());
    record.correlationId = correlation;
    if (wait_type)
        put(CUpti_ActivitySynchronization{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, wait_type, start, end, correlation, 1,
                                          wait_stream, wait_event},
            gettid());
    if (by_driver || !left_out[record.cbid])
        put(record, gettid());
}

void Traced::marks(uint32_t stream, uint32_t event)
{
    if (going_on == this && subscribed)
        put(CUpti_ActivityCudaEvent{CUPTI_ACTIVITY_KIND_CUDA_EVENT, correlation, 1, stream, event}, gettid());
}

void Traced::waits(uint32_t type, uint32_t stream, uint32_t event)
{
    wait_type = type;
    wait_stream = stream;
    wait_event = event;
}

void Traced::asks(uint32_t event, bool done)
{
    if (done || all_waits)
        waits(1, UINT32_MAX, event);
}

Traced *emulated::traced_call()
{
    return going_on;
}

static unsigned memory_kind(emulated::Kind kind)
{
    return kind == emulated::PAGEABLE ? 1 : kind == emulated::PINNED ? 2 : 3;
}

std::function<bool()> emulated::traced(uint32_t stream, std::function<bool()> work)
{
    if (!going_on || going_on->queues == Traced::NOTHING || !subscribed)
        return work;
    Traced::Work queues = going_on->queues;
    const char *name = going_on->kernel;
    dim3 grid = going_on->grid, block = going_on->block;
    size_t bytes = going_on->bytes;
    uint32_t correlation = going_on->correlation;
    unsigned from = memory_kind(going_on->from), to = memory_kind(going_on->to);
    pid_t thread = gettid();
    auto begun = std::make_shared<uint64_t>(0);
    return [=] {
        if (!*begun)
            *begun = now();
        if (!work())
            return false;
        auto put_work = [&](CUpti_ActivityKind kind, auto record) {
            record.kind = kind;
            record.start = *begun;
            record.end = now();
            record.contextId = 1;
            record.streamId = stream;
            record.correlationId = correlation;
            long long each = setting("EMULATED_CUPTI_LOSE", 0);
            if (queues == Traced::KERNEL && each && ++kernels % static_cast<size_t>(each) == 0)
                record.start = record.end = 0;
            put(record, thread, true);
        };
        if (queues == Traced::KERNEL) {
            CUpti_ActivityKernel9 k = {};
            k.registersPerThread = 32;
            k.gridX = static_cast<int32_t>(grid.x);
            k.gridY = static_cast<int32_t>(grid.y);
            k.gridZ = static_cast<int32_t>(grid.z);
            k.blockX = static_cast<int32_t>(block.x);
            k.blockY = static_cast<int32_t>(block.y);
            k.blockZ = static_cast<int32_t>(block.z);
            k.dynamicSharedMemory = static_cast<int32_t>(bytes);
            k.name = name;
            put_work(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, k);
        } else if (queues == Traced::COPY) {
            CUpti_ActivityMemcpy5 c = {};
            c.copyKind = static_cast<uint8_t>(from < 3 ? (to < 3 ? 9 : 1) : (to < 3 ? 2 : 8));
            c.srcKind = static_cast<uint8_t>(from);
            c.dstKind = static_cast<uint8_t>(to);
            c.bytes = bytes;
            put_work(CUPTI_ACTIVITY_KIND_MEMCPY, c);
        } else {
            CUpti_ActivityMemset4 f = {};
            f.bytes = bytes;
            f.memoryKind = 3;
            put_work(CUPTI_ACTIVITY_KIND_MEMSET, f);
        }
        return true;
    };
}

/* ---- CUPTI's functions ---- */

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *)
{
    const char *state = getenv("EMULATED_CUPTI");
    if (state && !strcmp(state, "taken"))
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    if (state && !strcmp(state, "absent"))
        return CUPTI_ERROR_NOT_INITIALIZED;
    if (subscribed)
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    if (!callback)
        return CUPTI_ERROR_INVALID_PARAMETER;
    subscribed = true;
    *subscriber = nullptr;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle)
{
    subscribed = false;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc how_to_request,
                                           CUpti_BuffersCallbackCompleteFunc how_to_complete)
{
    request = how_to_request;
    complete = how_to_complete;
    return request && complete ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc how_to_tell)
{
    for (bool on : enabled)
        if (on)
            emulated_wrong(__FILE__, __LINE__, "register the clock before activities are enabled");
    timestamp = how_to_tell;
    return timestamp ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    const char *state = getenv("EMULATED_CUPTI");
    if (state && !strcmp(state, "restricted") && kind == CUPTI_ACTIVITY_KIND_MEMSET)
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    std::lock_guard<std::mutex> lock(tracing);
    enabled[kind] = true;
    for (auto &call : left_out)
        if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
            call = false;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    std::lock_guard<std::mutex> lock(tracing);
    enabled[kind] = false;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, uint8_t on)
{
    if (call >= sizeof runtime_names / sizeof *runtime_names)
        return CUPTI_ERROR_INVALID_PARAMETER;
    left_out[call] = !on;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t on)
{
    all_waits = on;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
    bool *flag = attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER   ? &per_thread
                 : attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ? &zeroed
                                                                               : nullptr;
    if (!flag || !size || *size != 1)
        return CUPTI_ERROR_INVALID_PARAMETER;
    bool on = *static_cast<uint8_t *>(value) != 0;
    if (flag == &per_thread && on != *flag && request)
        emulated_wrong(__FILE__, __LINE__, "set the attribute for buffers per thread before callbacks are registered");
    *flag = on;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    std::unique_lock<std::mutex> lock(tracing);
    std::vector<Buffer> due;
    for (const auto &of_thread : current)
        if (of_thread.second.memory)
            full.push_back(of_thread.second);
    current.clear();
    due.swap(full);
    for (size_t i = due.size(); i-- > 0 && flag != CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;)
        if (due[i].incomplete) {
            due[i].incomplete = false;
            full.push_back(due[i]);
            due.erase(due.begin() + static_cast<ptrdiff_t>(i));
        }
    lock.unlock();
    hand_over(std::move(due));
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    auto *last = reinterpret_cast<uint8_t *>(*record);
    uint8_t *next = last ? last + size_of[(*record)->kind] : buffer;
    if (!buffer)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity *>(next);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t *dropped)
{
    *dropped = dropped_records.exchange(0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    size_t n = domain == CUPTI_CB_DOMAIN_DRIVER_API ? sizeof driver_names / sizeof *driver_names
                                                    : sizeof runtime_names / sizeof *runtime_names;
    if (id == 0 || id >= n)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *name = domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver_names[id] : runtime_names[id];
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = result == CUPTI_ERROR_NOT_INITIALIZED ? "CUPTI_ERROR_NOT_INITIALIZED" : "CUPTI_ERROR";
    return CUPTI_SUCCESS;
}

size_t emulated_cupti_buffers(void)
{
    return buffers;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType)
{
    return CUPTI_SUCCESS;
}
