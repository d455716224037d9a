/* streams.cc - streams and events: does queued work in a random order, among those that streams and events allow. */
#include "traced.h"

#include <ctime>
#include <deque>
#include <memory>
#include <unistd.h>
#include <vector>

using emulated::Lock;
using emulated::machine;

/* One recording of an event. */
struct Recording {
    bool done;
    int64_t ns;
};

struct CUevent_st {
    unsigned flags;
    std::shared_ptr<Recording> last; /* null if the event was never recorded */
    uint32_t number;                 /* the event's id for a tracer */
};

namespace
{
struct Place {
    CUstream_st *stream;
    uint64_t number; /* of a piece of work, counted from 1 in its stream */
};

struct Work {
    std::function<bool()> work;
    std::vector<Place> after;         /* earlier work that must be done before this */
    std::shared_ptr<Recording> event; /* event that must be recorded before this */
};
} // namespace

struct CUstream_st {
    std::deque<Work> queue;
    uint64_t queued, done;
    bool blocking; /* this stream and the default stream wait for each other */
    int priority;
    bool destroyed;
    uint32_t number; /* the stream's id for a tracer; the default stream has 7 */
};

namespace
{
constexpr size_t LONGEST_QUEUE = 4096;
constexpr int LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5;

auto &default_stream = *new CUstream_st{{}, 0, 0, true, 0, false, 7};
/* Destroyed streams are kept, since other streams may still wait for their last work. */
auto &streams = *new std::vector<std::unique_ptr<CUstream_st>>;

CUstream_st *stream_of(cudaStream_t stream)
{
    return stream ? stream : &default_stream;
}

template <typename Do> void each_stream(Do what)
{
    what(&default_stream);
    for (auto &stream : streams)
        what(stream.get());
}

bool may_begin(const Work &work)
{
    for (const Place &place : work.after)
        if (place.stream->done < place.number)
            return false;
    return !work.event || work.event->done;
}

/* Returns the work of other streams that must be done before new work on this stream. */
std::vector<Place> find_dependencies(CUstream_st *stream)
{
    std::vector<Place> after;
    if (stream == &default_stream)
        each_stream([&](CUstream_st *other) {
            if (other != stream && other->blocking && other->done < other->queued)
                after.push_back({other, other->queued});
        });
    else if (stream->blocking && default_stream.done < default_stream.queued)
        after.push_back({&default_stream, default_stream.queued});
    return after;
}

/* Does the first work of a random stream, among the streams whose work may begin. Returns whether some work has ended;
 * sets *waits if some work waits only for other ranks. */
bool advance(bool *waits)
{
    std::vector<CUstream_st *> able;
    each_stream([&](CUstream_st *stream) {
        if (!stream->queue.empty() && may_begin(stream->queue.front()))
            able.push_back(stream);
    });
    while (!able.empty()) {
        size_t which = emulated::chance(static_cast<uint32_t>(able.size()));
        CUstream_st *stream = able[which];
        Work &work = stream->queue.front();
        if (!work.work || work.work()) {
            stream->queue.pop_front();
            stream->done++;
            return true;
        }
        *waits = true;
        able.erase(able.begin() + static_cast<std::ptrdiff_t>(which));
    }
    return false;
}

cudaError_t put(Lock &lock, cudaStream_t handle, std::function<bool()> work, std::shared_ptr<Recording> event)
{
    CUstream_st *stream = stream_of(handle);
    if (stream->destroyed)
        return cudaErrorInvalidResourceHandle;
    if (stream->queue.size() >= LONGEST_QUEUE)
        emulated::work_until(lock, [&] { return stream->queue.size() < LONGEST_QUEUE / 2; });
    if (work)
        work = emulated::traced(stream->number, std::move(work));
    stream->queue.push_back({std::move(work), find_dependencies(stream), std::move(event)});
    stream->queued++;
    if (!emulated::chance(4)) /* sometimes does work at once, as a fast GPU would */
        emulated::work_a_little();
    return cudaSuccess;
}

int64_t now_ns()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}
} // namespace

cudaError_t emulated::queue(Lock &lock, cudaStream_t stream, std::function<bool()> work)
{
    return put(lock, stream, std::move(work), nullptr);
}

void emulated::work_until(Lock &lock, const std::function<bool()> &condition)
{
    open_memory(true);
    while (!condition()) {
        bool waits = false;
        if (advance(&waits))
            continue;
        if (!waits)
            emulated_wrong(__FILE__, __LINE__, "the host waits for a stream, but no stream can advance");
        open_memory(false);
        lock.unlock();
        usleep(50);
        lock.lock();
        open_memory(true);
    }
    open_memory(false);
}

void emulated::work_a_little()
{
    bool waits = false;
    open_memory(true);
    advance(&waits);
    open_memory(false);
}

/* ---- the runtime's functions ---- */

cudaError_t cudaDeviceSynchronize(void)
{
    emulated::Traced call("cudaDeviceSynchronize");
    call.waits(4, UINT32_MAX, UINT32_MAX);
    return emulated::locked([](Lock &lock) {
        emulated::work_until(lock, [] {
            bool empty = true;
            each_stream([&](CUstream_st *stream) { empty = empty && stream->queue.empty(); });
            return empty;
        });
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = LEAST_PRIORITY;
    *greatest = GREATEST_PRIORITY;
    return emulated::result(emulated::no_machine());
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    return emulated::locked([=](Lock &) {
        static uint32_t next = 13;
        if (flags & ~1u)
            return cudaErrorInvalidValue;
        int clamped = min(max(priority, GREATEST_PRIORITY), LEAST_PRIORITY);
        streams.emplace_back(new CUstream_st{{}, 0, 0, !(flags & cudaStreamNonBlocking), clamped, false, next});
        next += 4;
        *stream = streams.back().get();
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    Lock lock(machine);
    if (!stream || stream->destroyed)
        return emulated::result(cudaErrorInvalidResourceHandle);
    stream->destroyed = true; /* queued work is still done later */
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    return emulated::locked([=](Lock &lock) {
        CUstream_st *stream = stream_of(handle);
        if (stream->destroyed)
            return cudaErrorInvalidResourceHandle;
        emulated::Traced call("cudaStreamSynchronize");
        call.waits(3, stream->number, UINT32_MAX);
        uint64_t last = stream->queued;
        emulated::work_until(lock, [&] { return stream->done >= last; });
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return emulated::locked([=](Lock &) {
        static uint32_t next = 1;
        if (flags & ~3u)
            return cudaErrorInvalidValue;
        *event = new CUevent_st{flags, nullptr, next++};
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    Lock lock(machine);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    emulated::check_thread();
    Lock lock(machine);
    if (!event)
        return emulated::result(cudaErrorInvalidResourceHandle);
    emulated::Traced call("cudaEventRecord");
    call.marks(stream_of(stream)->number, event->number);
    auto recording = event->last = std::make_shared<Recording>();
    return emulated::result(emulated::queue(lock, stream, [recording] {
        *recording = {true, now_ns()};
        return true;
    }));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    Lock lock(machine);
    if (!event)
        return emulated::result(cudaErrorInvalidResourceHandle);
    if (flags)
        return emulated::result(cudaErrorInvalidValue);
    emulated::Traced call("cudaStreamWaitEvent");
    call.waits(2, stream_of(stream)->number, event->number);
    if (!event->last) /* never recorded: nothing to wait for */
        return cudaSuccess;
    return emulated::result(put(lock, stream, nullptr, event->last));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    emulated::check_thread();
    Lock lock(machine);
    if (!event)
        return emulated::result(cudaErrorInvalidResourceHandle);
    emulated::Traced call("cudaEventQuery");
    std::shared_ptr<Recording> last = event->last;
    emulated::work_a_little();
    bool done = !last || last->done;
    call.asks(event->number, done);
    return done ? cudaSuccess : emulated::result(cudaErrorNotReady); /* stored for cudaGetLastError, as in CUDA */
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    Lock lock(machine);
    if (!event)
        return emulated::result(cudaErrorInvalidResourceHandle);
    emulated::Traced call("cudaEventSynchronize");
    call.waits(1, UINT32_MAX, event->number);
    if (std::shared_ptr<Recording> last = event->last)
        emulated::work_until(lock, [&] { return last->done; });
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    Lock lock(machine);
    if (!from || !to || !from->last || !to->last || (from->flags | to->flags) & cudaEventDisableTiming)
        return emulated::result(cudaErrorInvalidResourceHandle);
    if (!from->last->done || !to->last->done)
        return emulated::result(cudaErrorNotReady);
    *ms = static_cast<float>(static_cast<double>(to->last->ns - from->last->ns) * 1e-6);
    return cudaSuccess;
}
