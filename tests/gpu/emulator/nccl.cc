/* nccl.cc - emulated NCCL: communicators, whose ranks exchange data in shared memory, and the issue of collectives. */
#include "nccl.h"
#include "rendezvous.h"
#include "traced.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using emulated::Lock;
using emulated::machine;
using emulated::Rendezvous;

namespace
{
/* A communicator's state, which queued collectives may still need after the communicator is destroyed. */
struct State {
    Rendezvous ranks;
    bool blocking, connected, finalized;
    std::atomic<bool> aborted;
    long issued, done;                /* collectives issued; collectives done, in the order of issue */
    int busy;                         /* calls in progress in separate threads */
    std::atomic<ncclResult_t> broken; /* the asynchronous error, or 0 */
};

thread_local ncclResult_t last_result;
long collectives;               /* collectives issued by this process so far */
std::atomic<long> threads;      /* threads started by calls on non-blocking communicators */
std::atomic<int> communicators; /* open communicators; while there are any, a thread does queued work */
std::atomic<int> own_rank;      /* this process's rank in the communicator that it opened last, not by a split */

ncclResult_t answer(ncclResult_t result)
{
    if (result && result != ncclInProgress)
        last_result = result;
    return result;
}

/* Returns n if the environment variable `name` is "r,call=n", where r is this rank, or FINALIZE if it is "r,finalize";
 * otherwise -1. */
constexpr long FINALIZE = LONG_MAX;
long chosen_call(const char *name)
{
    const char *text = getenv(name);
    int of_rank, end = 0;
    long call = FINALIZE;
    if (!text)
        return -1;
    if (sscanf(text, "%d,finalize%n", &of_rank, &end) != 1 || !end)
        sscanf(text, "%d,call=%ld%n", &of_rank, &call, &end);
    if (!end || text[end] || call < 0)
        emulated_wrong(__FILE__, __LINE__, "%s=%s is not of the form rank,call=number or rank,finalize", name, text);
    return of_rank == own_rank ? call : -1;
}

[[noreturn]] void hang()
{
    for (;;)
        pause();
}

/* Does work in the background, as a real GPU does while its host waits for something else. */
void *work_in_background(void *)
{
    while (communicators) {
        usleep(1000);
        Lock lock(machine);
        emulated::work_a_little();
    }
    return nullptr;
}

void count_communicators(int more)
{
    pthread_t thread;
    if ((communicators += more) == 1 && more == 1 &&
        (pthread_create(&thread, nullptr, work_in_background, nullptr) || pthread_detach(thread)))
        emulated_wrong(__FILE__, __LINE__, "no thread");
}
} // namespace

struct ncclComm {
    std::shared_ptr<State> state;
    std::string name; /* of its shared memory */
    std::map<int, ncclComm_t>
        pairs; /* by peer: a communicator of two ranks, opened by the first message between them */
};

namespace
{
/* Returns a number for this rank's GPU: as for NCCL, ranks with different NCCL_HOSTID are on different hosts. */
int gpu_of_rank()
{
    const char *host = getenv("NCCL_HOSTID");
    return emulated::physical_gpu() + (host ? 64 * static_cast<int>(1 + std::hash<std::string>{}(host) % 1000000) : 0);
}

/* Connects the ranks, which have all attached. Like NCCL, refuses ranks that share a GPU; from 2.30 on, only by
 * default. */
ncclResult_t connect(State &state)
{
    int version = 0;
    ncclGetVersion(&version);
    state.connected = true;
    bool may_share = version >= 23000 && getenv("NCCL_MULTI_RANK_GPU_ENABLE");
    return state.ranks.same_device() && !may_share ? ncclInvalidUsage : ncclSuccess;
}

/* Returns the error with which a call on the communicator fails at once, or ncclSuccess. The caller holds the lock. */
ncclResult_t refusal(const State &state)
{
    if (state.broken)
        return state.broken;
    if (!state.connected || state.finalized)
        return ncclInvalidArgument;
    return ncclSuccess;
}

/* Makes a call at once; or, on a non-blocking communicator, in a new thread, as NCCL 2.28 does for every collective
 * (groupLaunchNonBlocking in group.cc), and returns ncclInProgress. */
ncclResult_t carry_out(const std::shared_ptr<State> &state, const std::function<ncclResult_t()> &call)
{
    if (state->blocking)
        return call();
    {
        Lock lock(machine);
        if (state->busy) /* the last call is still in progress */
            return ncclInvalidArgument;
        state->busy++;
    }
    if (++threads > emulated::setting("EMULATED_NCCL_THREADS", LONG_MAX))
        emulated_wrong(__FILE__, __LINE__, "a non-blocking communicator has started a thread for a call");
    std::thread([=] {
        ncclResult_t result = call();
        Lock lock(machine);
        if (result)
            state->broken = result;
        state->busy--;
    }).detach();
    return ncclInProgress;
}

bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
    return x < y + b_bytes && y < x + a_bytes;
}

/* Returns whether input and output are disjoint, or overlap as NCCL allows for this kind of collective (in place). */
bool placed_well(const emulated::Call &call, const Rendezvous &ranks, const char *in, const char *out)
{
    size_t one = call.count * emulated::type_bytes(call.type), all = one * static_cast<size_t>(ranks.size);
    size_t own = one * static_cast<size_t>(ranks.rank);
    switch (call.kind) {
    case emulated::REDUCE_SCATTER:
        return out == in + own || !overlap(in, all, out, one);
    case emulated::ALL_GATHER:
        return in == out + own || !overlap(in, one, out, all);
    case emulated::ALL_TO_ALL:
        return !overlap(in, all, out, all);
    case emulated::BROADCAST:
        return call.root != ranks.rank || in == out || !overlap(in, one, out, one);
    default:
        return in == out || !overlap(in, one, out, one);
    }
}

/* Does a collective of a single rank as NCCL does in ncclLaunchOneRank: a copy, or nothing if in place. (Averages run a
 * kernel, so `put` does them.) The caller does not hold the lock. */
ncclResult_t put_alone(const emulated::Call &call, const void *in, void *out, cudaStream_t stream)
{
    size_t bytes = call.count * emulated::type_bytes(call.type);
    if (in == out || !bytes)
        return ncclSuccess;
    return cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream) ? ncclUnhandledCudaError : ncclSuccess;
}

/* Queues a collective on the stream. The caller holds the lock. */
ncclResult_t put(Lock &lock, const std::shared_ptr<State> &state, const emulated::Call &call, const void *in, void *out,
                 cudaStream_t stream)
{
    long number = ++collectives, place = state->issued++;
    bool fails = number == chosen_call("EMULATED_NCCL_FAIL_RANK");
    bool hangs = number == chosen_call("EMULATED_NCCL_HANG_RANK");
    auto progress = std::make_shared<emulated::Progress>();
    emulated::Traced launch("cuLaunchKernelEx", emulated::Traced::KERNEL,
                            "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE", true);
    cudaError_t error = emulated::queue(lock, stream, [=] {
        if (state->aborted)
            return true;
        if (fails && place == state->done)
            state->broken = ncclSystemError;
        if (place != state->done || fails || hangs || !state->ranks.advance(call, in, out, *progress))
            return false;
        state->done++;
        return true;
    });
    return error ? ncclUnhandledCudaError : ncclSuccess;
}

ncclResult_t issue(ncclComm_t comm, emulated::Call call, const void *in, void *out, cudaStream_t stream)
{
    if (!comm || !emulated::type_bytes(call.type) || call.root < 0 || call.root >= comm->state->ranks.size)
        return answer(ncclInvalidArgument);
    if (call.op != ncclSum && call.op != ncclMax && call.op != ncclAvg)
        emulated_wrong(__FILE__, __LINE__, "only sum, max and avg are emulated");
    std::shared_ptr<State> state = comm->state;
    auto later = [=] {
        Lock lock(machine);
        bool reads = call.kind != emulated::BROADCAST || call.root == state->ranks.rank;
        if (call.count &&
            ((reads && emulated::kind_of(in) == emulated::PAGEABLE) || emulated::kind_of(out) == emulated::PAGEABLE))
            return ncclInvalidArgument;
        if (!placed_well(call, state->ranks, static_cast<const char *>(in), static_cast<const char *>(out)))
            emulated_wrong(__FILE__, __LINE__,
                           "a collective's input and output overlap in a way that NCCL does not allow");
        if (ncclResult_t refused = refusal(*state))
            return refused;
        if (state->ranks.size > 1 || call.op == ncclAvg)
            return put(lock, state, call, in, out, stream);
        lock.unlock();
        return put_alone(call, in, out, stream);
    };
    return answer(carry_out(state, later));
}

ncclResult_t wait_for_all(State &state)
{
    Lock lock(machine);
    emulated::work_until(lock, [&] { return state.done == state.issued || state.broken || state.aborted; });
    return state.broken;
}

/* Gathers four numbers of each rank, all[size][4], while no collective is in flight. */
void gather(State &state, const int32_t (&mine)[4], int32_t (*all)[4])
{
    emulated::Progress progress;
    for (;;) {
        {
            Lock lock(machine);
            if (state.ranks.advance({emulated::ALL_GATHER, ncclInt32, ncclSum, 0, 4}, mine, all, progress))
                return;
        }
        usleep(100);
    }
}

/* Opens a communicator with this name, and returns when all of its ranks have. */
ncclResult_t open_communicator(ncclComm_t *comm, const char *name, int ranks, int rank, const ncclConfig_t *config)
{
    auto state = std::make_shared<State>();
    if (!state->ranks.attach(name, ranks, rank, gpu_of_rank()))
        return ncclSystemError;
    state->blocking = emulated::setting("NCCL_COMM_BLOCKING", !config || config->blocking != 0) != 0;
    *comm = new ncclComm{state, name, {}};
    count_communicators(1);
    return carry_out(state, [=] {
        while (!state->ranks.all_here())
            usleep(100);
        return connect(*state);
    });
}
} // namespace

/* ---- communicators ---- */

ncclResult_t ncclGetVersion(int *version)
{
    *version = static_cast<int>(emulated::setting("EMULATED_NCCL_VERSION", NCCL_VERSION_CODE));
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const text[] = {"no error",
                                       "unhandled cuda error",
                                       "unhandled system error",
                                       "internal error",
                                       "invalid argument",
                                       "invalid usage",
                                       "remote process exited or there was a network error",
                                       "operation in progress"};
    return static_cast<unsigned>(result) < sizeof text / sizeof *text ? text[result] : "unknown result code";
}

/* Returns the asynchronous error of a communicator, to which messages between its ranks belong; or ncclSuccess. */
static ncclResult_t broken(ncclComm_t comm)
{
    ncclResult_t error = comm->state->broken;
    for (const auto &pair : comm->pairs)
        error = error ? error : pair.second->state->broken.load();
    return error;
}

const char *ncclGetLastError(ncclComm_t comm)
{
    if (comm && broken(comm))
        return "emulated NCCL: requested failure";
    return last_result ? ncclGetErrorString(last_result) : "";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    static std::atomic<int> made;
    timespec now;
    if (emulated::no_machine())
        return answer(ncclUnhandledCudaError);
    clock_gettime(CLOCK_REALTIME, &now);
    *id = {};
    snprintf(id->internal, sizeof id->internal, "/emulated_nccl.%d.%d.%ld", getpid(), made++, now.tv_nsec);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank, ncclConfig_t *config)
{
    *comm = nullptr;
    if (nranks < 1 || rank < 0 || rank >= nranks || (config && config->magic != 0xcafebeef))
        return answer(ncclInvalidArgument);
    if (emulated::no_machine())
        return answer(ncclUnhandledCudaError);
    own_rank = rank;
    if (!chosen_call("EMULATED_NCCL_HANG_RANK"))
        hang();
    if (!chosen_call("EMULATED_NCCL_FAIL_RANK"))
        return answer(ncclSystemError);
    return answer(open_communicator(comm, id.internal, nranks, rank, config));
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *part, ncclConfig_t *config)
{
    static std::atomic<int32_t> splits;
    State &state = *comm->state;
    *part = nullptr;
    if (color < 0 || (config && config->magic != 0xcafebeef))
        return answer(ncclInvalidArgument);
    if (ncclResult_t broken = wait_for_all(state))
        return answer(broken);
    const int32_t mine[4] = {color, key, getpid(), splits++};
    std::vector<int32_t[4]> all(static_cast<size_t>(state.ranks.size));
    gather(state, mine, all.data());
    int ranks = 0, rank = 0, first = -1;
    for (int r = 0; r < state.ranks.size; r++) {
        const int32_t *other = all[static_cast<size_t>(r)];
        if (other[0] != color)
            continue;
        first = first < 0 ? r : first;
        ranks++;
        rank += other[1] < key || (other[1] == key && r < state.ranks.rank);
    }
    char name[NCCL_UNIQUE_ID_BYTES];
    snprintf(name, sizeof name, "/emulated_nccl.split.%d.%d", all[static_cast<size_t>(first)][2],
             all[static_cast<size_t>(first)][3]);
    return answer(open_communicator(part, name, ranks, rank, config));
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank)
{
    return ncclCommInitRankConfig(comm, nranks, id, rank, nullptr);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    Lock lock(machine);
    State &state = *comm->state;
    *error = ncclInProgress;
    if (ncclResult_t found = broken(comm))
        *error = found;
    else if (!state.busy && (!state.finalized || state.done == state.issued))
        *error = ncclSuccess;
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    std::shared_ptr<State> state = comm->state;
    if (chosen_call("EMULATED_NCCL_HANG_RANK") == FINALIZE)
        hang();
    {
        Lock lock(machine);
        if (ncclResult_t refused = refusal(*state))
            return answer(refused);
        state->finalized = true;
    }
    return state->blocking ? answer(wait_for_all(*state)) : ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (!comm)
        return ncclSuccess;
    ncclResult_t result = wait_for_all(*comm->state);
    comm->state->aborted = true;
    for (const auto &pair : comm->pairs)
        ncclCommDestroy(pair.second);
    count_communicators(-1);
    delete comm;
    return answer(result);
}

/* ---- memory ---- */

ncclResult_t ncclCommRegister(ncclComm_t comm, void *buffer, size_t bytes, void **handle)
{
    Lock lock(machine);
    *handle = nullptr;
    if (!comm || emulated::kind_of(buffer) != emulated::DEVICE ||
        emulated::kind_of(static_cast<char *>(buffer) + bytes) != emulated::DEVICE)
        return answer(ncclInvalidArgument);
    *handle = new size_t(bytes); /* leaks unless the caller deregisters it */
    return ncclSuccess;
}

ncclResult_t ncclCommDeregister(ncclComm_t comm, void *handle)
{
    if (!comm || !handle)
        return answer(ncclInvalidArgument);
    delete static_cast<size_t *>(handle);
    return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void **memory, size_t bytes)
{
    if (!emulated::setting("EMULATED_NCCL_MEMORY", 1))
        return answer(ncclUnhandledCudaError);
    return answer(cudaMalloc(memory, bytes) ? ncclUnhandledCudaError : ncclSuccess);
}

ncclResult_t ncclMemFree(void *memory)
{
    return answer(cudaFree(memory) ? ncclUnhandledCudaError : ncclSuccess);
}

/* ---- collectives ---- */

ncclResult_t ncclAllReduce(const void *in, void *out, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream)
{
    return issue(comm, {emulated::ALL_REDUCE, type, op, 0, count}, in, out, stream);
}

ncclResult_t ncclReduceScatter(const void *in, void *out, size_t count_of_rank, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream)
{
    return issue(comm, {emulated::REDUCE_SCATTER, type, op, 0, count_of_rank}, in, out, stream);
}

ncclResult_t ncclAllGather(const void *in, void *out, size_t count_of_rank, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream)
{
    return issue(comm, {emulated::ALL_GATHER, type, ncclSum, 0, count_of_rank}, in, out, stream);
}

ncclResult_t ncclBroadcast(const void *in, void *out, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream)
{
    return issue(comm, {emulated::BROADCAST, type, ncclSum, root, count}, in, out, stream);
}

/* ---- groups of messages ---- */

namespace
{
struct Message {
    const void *from; /* NULL: the message is received */
    void *to;
    size_t count;
    ncclDataType_t type;
    int peer;
    ncclComm_t comm;
    cudaStream_t stream;
};
thread_local bool in_group;
thread_local std::vector<Message> group;

/* Issues a message outside a group: a broadcast in a communicator of the two ranks. */
ncclResult_t issue_message(const Message &m)
{
    int own = m.comm->state->ranks.rank, lower = std::min(own, m.peer), higher = std::max(own, m.peer);
    int is_higher = own == higher;
    char name[NCCL_UNIQUE_ID_BYTES];
    ncclComm_t &pair = m.comm->pairs[m.peer];
    snprintf(name, sizeof name, "%.80s.%d.%d", m.comm->name.c_str(), lower, higher);
    if (!pair)
        if (ncclResult_t failed = open_communicator(&pair, name, 2, is_higher, nullptr))
            return answer(failed);
    int root = m.from ? is_higher : !is_higher;
    return issue(pair, {emulated::BROADCAST, m.type, ncclSum, root, m.count}, m.from,
                 m.from ? const_cast<void *>(m.from) : m.to, m.stream);
}

ncclResult_t add_message(const Message &message)
{
    if (!in_group)
        return issue_message(message);
    group.push_back(message);
    return ncclSuccess;
}
} // namespace

ncclResult_t ncclGroupStart()
{
    in_group = true;
    group.clear();
    return ncclSuccess;
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int to_rank, ncclComm_t comm,
                      cudaStream_t stream)
{
    return add_message({from, nullptr, count, type, to_rank, comm, stream});
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int from_rank, ncclComm_t comm, cudaStream_t stream)
{
    return add_message({nullptr, to, count, type, from_rank, comm, stream});
}

/* Issues a group with a message to each rank and one from each rank, in the order of ranks, as an all-to-all. */
ncclResult_t ncclGroupEnd()
{
    in_group = false;
    if (group.size() < 2)
        return answer(ncclInvalidUsage);
    const Message first = group[0];
    size_t part = first.count * emulated::type_bytes(first.type);
    const auto *in = static_cast<const char *>(first.from);
    auto *out = static_cast<char *>(group[1].to);
    bool whole = group.size() == 2 * static_cast<size_t>(first.comm->state->ranks.size);
    for (size_t i = 0; i < group.size(); i++) {
        const Message &m = group[i];
        size_t r = i / 2;
        whole = whole && m.peer == static_cast<int>(r) && m.count == first.count && m.type == first.type &&
                m.comm == first.comm && m.stream == first.stream &&
                (i % 2 ? m.to == out + r * part : m.from == in + r * part);
    }
    if (!whole)
        emulated_wrong(__FILE__, __LINE__, "a group of messages that is no all-to-all is not emulated");
    return issue(first.comm, {emulated::ALL_TO_ALL, first.type, ncclSum, 0, first.count}, in, out, first.stream);
}
