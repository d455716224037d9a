/* comm_nccl.c - collectives by NCCL, on streams of their own, concurrently with the device's stream.
 *
 * Each group has a communicator and a stream: collectives of different groups can run at the same time, those of a
 * group run in the order of their tickets. All streams wait for each other by events; during a step the host does not
 * wait. Kernels of NCCL wait on the GPU for the other ranks, so ranks that start collectives of two communicators in
 * different orders can wait for each other forever. So all ranks issue the collectives of all groups in one order, that
 * of their tickets. The kernels of all groups must also fit on a GPU at once (--nccl-max-ctas makes them smaller).
 * Source: NCCL user guide, "Using multiple NCCL communicators concurrently".
 *
 * Communicators are blocking, because NCCL starts a thread for each call on a non-blocking communicator. From before
 * the ranks connect until they disconnect, the watchdog ends the job if a call does not return. */
#include "ddp/comm_nccl.h"

#include "ddp/nccl_library.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/stamps.h"
#include "kernels/error.h"
#include "kernels/library.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* A collective that was issued to the stream of its group. */
struct entry {
    struct collective collective;
    long number; /* the collective's number, from watchdog_started */
    int64_t queued_ns;
    cudaEvent_t done;
    long last[COMM_GROUPS]; /* as in struct comm_nccl, when the collective was issued */
};

/* Memory for collectives; handle NULL: it is not registered with the group's communicator. */
struct buffer {
    void *memory, *handle[COMM_GROUPS];
    size_t bytes;
    int by_device; /* 1: allocated by the device, since NCCL could not; never registered */
    struct buffer *next;
};

struct comm_nccl {
    struct comm comm;
    const struct nccl_calls *program;
    const struct device *device;
    struct timeline *timeline; /* NULL: spans are not recorded */
    int gpu;
    cudaStream_t stream[COMM_GROUPS];
    cudaEvent_t ready; /* recorded on the device's stream when a collective starts; the collective waits for it */
    /* The ticket whose event comes after all collectives of the group so far; 0: there was none. It is in the ring. */
    long last[COMM_GROUPS];
    struct buffer *buffers;
    double patience_s; /* the longest time to disconnect; 0: no limit */
    char about[128];   /* the library's version and settings */
    char progress_text[192];

    pthread_mutex_t calling;      /* held during calls of NCCL, which allows one thread at a time */
    ncclComm_t nccl[COMM_GROUPS]; /* NULL: the ranks are not connected, or there are no groups */

    pthread_mutex_t lock; /* guards the members below; never held during calls of NCCL */
    struct entry *ring;   /* [capacity]; ticket t is at index t % capacity */
    long capacity;
    long started;   /* the newest ticket */
    long issued;    /* the event `done` of every ticket up to this one is recorded on the stream */
    long completed; /* every ticket up to this one is known to be complete */
    int64_t completed_ns;
    ncclResult_t failed; /* the error returned by a call of NCCL; ncclSuccess: none */
    struct watched call; /* the call that the host waits for; since_ns 0: the host waits for none */
};

static struct nccl_library library;

#define NCCL_CHECK(c, code)                                                                                            \
    do {                                                                                                               \
        ncclResult_t code_ = (code);                                                                                   \
        if (code_ != ncclSuccess)                                                                                      \
            FATAL("%s: NCCL: %s: %s", #code, library.ncclGetErrorString(code_),                                        \
                  library.ncclGetLastError((c)->nccl[COMM_ALL]));                                                      \
    } while (0)

/* ---- the library ---- */

/* Loads NCCL. Returns NULL; or why it cannot be loaded. */
static const char *load(void)
{
    static const struct library_function functions[] = {NCCL_FUNCTIONS(NCCL_FUNCTION)};
    char file[32];
    if (library.ncclRecv)
        return NULL;
    snprintf(file, sizeof file, "libnccl.so.%d", NCCL_MAJOR);
    return library_open(&library, functions, sizeof functions / sizeof *functions, file);
}

/* Returns NCCL's version code; 0 without NCCL. */
static int version_number(void)
{
    int code = 0;
    return !load() && library.ncclGetVersion(&code) == ncclSuccess ? code : 0;
}

static const char *version(void)
{
    static char text[32];
    int code = version_number();
    if (!code)
        return NULL;
    snprintf(text, sizeof text, "%d.%d.%d", code / 10000, code / 100 % 100, code % 100);
    return text;
}

static int check(const struct comm_options *options)
{
    /* The first version that lets ranks share a GPU. Source: NCCL's user guide, environment variables,
     * NCCL_MULTI_RANK_GPU_ENABLE; init.cc of older versions refuses shared GPUs. */
    enum { SHARING_SINCE = 23000 };
    if (load())
        return error_report(
            "--comm nccl: cannot load NCCL (%s); install it, add its directory to LD_LIBRARY_PATH, or use "
            "--comm mpi",
            load());
    /* ranks with different NCCL_HOSTID count as ranks of different hosts */
    if (options->shares_gpu && version_number() < SHARING_SINCE && !getenv("NCCL_HOSTID"))
        return error_report(
            "--comm nccl with --share-gpu needs NCCL 2.30 or later, but this is %s: use --comm mpi, or give each rank "
            "a GPU or an NCCL_HOSTID of its own",
            version());
    const char *blocking = getenv("NCCL_COMM_BLOCKING"); /* NCCL reads text that is not a number as 0 */
    if (blocking && *blocking && strtoll(blocking, NULL, 0) == 0)
        return error_report(
            "NCCL_COMM_BLOCKING=%s makes NCCL start a thread for each collective, which costs time: unset it, "
            "or use --comm mpi",
            blocking);
    return 0;
}

/* ---- calls that the host waits for ---- */

/* Begins a call of NCCL in which the host waits; the watchdog limits the time until end_call. number: as in struct
 * watched. */
static void begin_call_of(struct comm_nccl *c, const char *words, long number)
{
    struct watched call = {.since_ns = clock_now_ns(), .number = number};
    snprintf(call.words, sizeof call.words, "%s", words);
    pthread_mutex_lock(&c->lock);
    c->call = call;
    pthread_mutex_unlock(&c->lock);
}

/* Begins a call that all ranks make. */
static void begin_call(struct comm_nccl *c, const char *words)
{
    begin_call_of(c, words, c->program->watchdog_started(c->comm.watchdog));
}

static void end_call(struct comm_nccl *c)
{
    pthread_mutex_lock(&c->lock);
    c->call.since_ns = 0;
    pthread_mutex_unlock(&c->lock);
}

/* ---- collectives ---- */

/* Passes an error of NCCL to the watchdog, and waits until the watchdog has reported it and ended the job. */
static void fail_and_wait(struct comm_nccl *c, ncclResult_t code)
{
    pthread_mutex_lock(&c->lock);
    c->failed = code;
    pthread_mutex_unlock(&c->lock);
    for (;;)
        pause();
}

/* Issues the messages of an all-to-all, which NCCL has no call for before 2.28. */
static ncclResult_t issue_messages(struct comm_nccl *c, const struct collective *l, ncclDataType_t type)
{
    size_t part = l->count * comm_dtype_bytes(l->dtype);
    ncclResult_t code = library.ncclGroupStart(), end;
    for (int r = 0; r < comm_group_ranks(l->group, c->comm.ranks, c->comm.local_size) && code == ncclSuccess; r++) {
        code = library.ncclSend((const char *)l->in + (size_t)r * part, l->count, type, r, c->nccl[l->group],
                                c->stream[l->group]);
        if (code == ncclSuccess)
            code = library.ncclRecv((char *)l->buffer + (size_t)r * part, l->count, type, r, c->nccl[l->group],
                                    c->stream[l->group]);
    }
    end = library.ncclGroupEnd();
    return code == ncclSuccess ? end : code;
}

/* Issues a collective to the stream of its group. */
static void issue_call(struct comm_nccl *c, const struct collective *l)
{
    static const ncclDataType_t type[COMM_DTYPES] = {[COMM_FLOAT32] = ncclFloat32,
                                                     [COMM_BF16] = ncclBfloat16,
                                                     [COMM_FLOAT64] = ncclFloat64,
                                                     [COMM_INT32] = ncclInt32};
    static const ncclRedOp_t ops[COMM_OPS] = {ncclSum, ncclMax, ncclAvg};
    /* One rank's average is its sum. NCCL before 2.29.7 leaves out the last elements of such an average. Source:
     * NVIDIA/nccl, issue 1950. */
    int ranks = comm_group_ranks(l->group, c->comm.ranks, c->comm.local_size);
    ncclRedOp_t op = ranks == 1 ? ncclSum : ops[l->op];
    ncclComm_t nccl = c->nccl[l->group];
    cudaStream_t stream = c->stream[l->group];
    const char *in = l->in ? l->in : l->buffer;
    char *out = comm_result(&c->comm, l);
    ncclResult_t code;
    pthread_mutex_lock(&c->calling);
    switch (l->kind) {
    case COMM_REDUCE_SCATTER:
        code = library.ncclReduceScatter(in, out, l->count, type[l->dtype], op, nccl, stream);
        break;
    case COMM_ALL_GATHER:
        if (!l->in) /* the input is at buffer[rank], where NCCL expects it */
            in += c->comm.scattered * l->count * comm_dtype_bytes(l->dtype);
        code = library.ncclAllGather(in, out, l->count, type[l->dtype], nccl, stream);
        break;
    case COMM_ALL_TO_ALL:
        code = issue_messages(c, l, type[l->dtype]);
        break;
    case COMM_BROADCAST:
        code = library.ncclBroadcast(in, out, l->count, type[l->dtype], l->root, nccl, stream);
        break;
    default:
        code = library.ncclAllReduce(in, out, l->count, type[l->dtype], op, nccl, stream);
    }
    pthread_mutex_unlock(&c->calling);
    if (code != ncclSuccess)
        fail_and_wait(c, code);
}

/* Gives a collective the next ticket and enters it in the ring: from now on it is in flight. */
static struct entry *add_entry(struct comm_nccl *c, const struct collective *collective)
{
    int64_t now = clock_now_ns();
    long number = c->program->watchdog_started(c->comm.watchdog);
    pthread_mutex_lock(&c->lock);
    struct entry *e = &c->ring[++c->started % c->capacity];
    if (c->completed < c->started - c->capacity)
        c->completed = c->started - c->capacity; /* the ring no longer describes older collectives */
    *e = (struct entry){.collective = *collective, .number = number, .queued_ns = now, .done = e->done};
    pthread_mutex_unlock(&c->lock);
    return e;
}

static void wait_for_event(const struct comm_nccl *c, cudaStream_t stream, long ticket)
{
    CUDA_CHECK(cudaStreamWaitEvent(stream, c->ring[ticket % c->capacity].done, 0));
}

/* Makes a stream wait for the collectives of all groups up to that ticket, or up to a later one. If the ring has
 * wrapped around, the entry of the ticket, or of the last collective of a group up to it, is that of a later one. */
static void wait_up_to(const struct comm_nccl *c, cudaStream_t stream, long ticket)
{
    const struct entry *e = &c->ring[ticket % c->capacity];
    for (int g = 0; g < COMM_GROUPS; g++) {
        long last = e->last[g] > c->started - c->capacity ? e->last[g] : c->last[g];
        if (e->last[g])
            wait_for_event(c, stream, last);
    }
}

/* Makes the stream of a new collective wait for the device's work so far, and for the collectives that come first. If
 * the event that the new one will record is still the last one of a group, the new one comes after it, too. */
static void order_stream(struct comm_nccl *c, struct entry *e)
{
    const struct collective *l = &e->collective;
    cudaStream_t stream = c->stream[l->group];
    long ticket = c->started, replaced = ticket - c->capacity;
    CUDA_CHECK(cudaEventRecord(c->ready, cuda_stream));
    CUDA_CHECK(cudaStreamWaitEvent(stream, c->ready, 0));
    if (l->after_earlier && ticket > 1)
        wait_up_to(c, stream, ticket - 1);
    else if (l->after)
        wait_for_event(c, stream, l->after);
    for (int g = 0; g < COMM_GROUPS; g++)
        if (c->last[g] && c->last[g] == replaced) {
            wait_for_event(c, stream, replaced);
            c->last[g] = ticket;
        }
    c->last[l->group] = ticket;
    memcpy(e->last, c->last, sizeof e->last);
}

static long nccl_start(struct comm *comm, const struct collective *collective)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    cudaStream_t stream = c->stream[collective->group];
    struct entry *e = add_entry(c, collective);
    int64_t begin = 0;
    order_stream(c, e);
    if (c->timeline)
        begin = cuda_stamp_on(stream);
    issue_call(c, collective);
    if (c->timeline) {
        struct span span = collective_span(collective, c->comm.ranks, c->comm.local_size, c->started, e->queued_ns,
                                           begin, cuda_stamp_on(stream));
        span.returned_ns = clock_now_ns();
        timeline_add(c->timeline, LANE_COMMUNICATION, span);
    }
    CUDA_CHECK(cudaEventRecord(e->done, stream));
    pthread_mutex_lock(&c->lock);
    c->issued = c->started;
    pthread_mutex_unlock(&c->lock);
    return c->started;
}

static void nccl_join(struct comm *comm, long ticket)
{
    if (ticket > 0)
        wait_up_to((struct comm_nccl *)comm, cuda_stream, ticket);
}

/* Advances `completed` to the last collective that the GPU has completed together with all earlier ones, of any group;
 * the caller holds the lock. Returns the GPU's error status. */
static cudaError_t advance_completed(struct comm_nccl *c)
{
    cudaError_t code = cudaSuccess;
    while (c->completed < c->issued && code == cudaSuccess) {
        code = cudaEventQuery(c->ring[(c->completed + 1) % c->capacity].done);
        if (code == cudaSuccess) {
            c->completed++;
            c->completed_ns = clock_now_ns();
        }
    }
    (void)cudaGetLastError(); /* clears the "not ready" error, which the next check would report */
    return code == cudaErrorNotReady ? cudaSuccess : code;
}

static int nccl_complete(struct comm *comm, long ticket)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    pthread_mutex_lock(&c->lock);
    cudaError_t gpu = advance_completed(c);
    int complete = c->completed >= ticket;
    pthread_mutex_unlock(&c->lock);
    CUDA_CHECK(gpu);
    return complete;
}

static void nccl_run(struct comm *comm, const struct collective *collective)
{
    nccl_join(comm, nccl_start(comm, collective));
}

static void nccl_call(struct comm *comm, const struct collective *collective, size_t n)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    char words[COMM_WORDS];
    comm_words(collective, 0, words);
    begin_call(c, words);
    for (size_t i = 0; i < n; i++)
        issue_call(c, collective);
    CUDA_CHECK(cudaStreamSynchronize(c->stream[collective->group]));
    end_call(c);
}

static void nccl_transfer(struct comm *comm, void *buffer, size_t bytes, int peer, int receive)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    ncclComm_t nccl = c->nccl[COMM_ALL];
    cudaStream_t stream = c->stream[COMM_ALL];
    begin_call_of(c, receive ? "receiving from another rank" : "sending to another rank", 0);
    pthread_mutex_lock(&c->calling);
    ncclResult_t code = receive ? library.ncclRecv(buffer, bytes, ncclInt8, peer, nccl, stream)
                                : library.ncclSend(buffer, bytes, ncclInt8, peer, nccl, stream);
    pthread_mutex_unlock(&c->calling);
    if (code != ncclSuccess)
        fail_and_wait(c, code);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    end_call(c);
}

/* ---- watching ---- */

/* Runs on the watchdog's thread: tells it what this rank waits for, and any error of CUDA or NCCL. */
static void nccl_look(void *state, struct watched *watched)
{
    struct comm_nccl *c = state;
    CUDA_CHECK(cudaSetDevice(c->gpu)); /* the current GPU is set per thread */
    pthread_mutex_lock(&c->lock);
    cudaError_t gpu = advance_completed(c);
    if (c->call.since_ns) {
        *watched = c->call;
    } else if (c->completed < c->started) {
        const struct entry *e = &c->ring[(c->completed + 1) % c->capacity];
        comm_words(&e->collective, c->completed + 1, watched->words);
        watched->number = e->number;
        watched->since_ns = c->completed_ns > e->queued_ns ? c->completed_ns : e->queued_ns;
    }
    ncclResult_t code = c->failed, async = ncclSuccess;
    pthread_mutex_unlock(&c->lock);
    if (gpu != cudaSuccess)
        snprintf(watched->broken, sizeof watched->broken, "CUDA: %s", cudaGetErrorString(gpu));
    /* NCCL is not asked for errors if this rank waits for nothing, CUDA has failed, or another thread is inside NCCL.
     */
    if (watched->since_ns == INT64_MAX || gpu != cudaSuccess || pthread_mutex_trylock(&c->calling))
        return;
    for (int i = 0; i < COMM_GROUPS && code == ncclSuccess; i++) {
        if (c->nccl[i])
            code = library.ncclCommGetAsyncError(c->nccl[i], &async);
        if (code == ncclSuccess && async != ncclInProgress)
            code = async;
    }
    if (code != ncclSuccess)
        snprintf(watched->broken, sizeof watched->broken, "NCCL: %s: %.150s", library.ncclGetErrorString(code),
                 library.ncclGetLastError(c->nccl[COMM_ALL]));
    pthread_mutex_unlock(&c->calling);
}

/* ---- memory ---- */

static void describe_settings(struct comm_nccl *c)
{
    int wanted = 0, registered = 0;
    for (const struct buffer *b = c->buffers; b; b = b->next)
        for (int g = 0; g < COMM_GROUPS; g++) {
            wanted += c->nccl[g] != NULL;
            registered += b->handle[g] != NULL;
        }
    snprintf(c->progress_text, sizeof c->progress_text, "%s%s", c->about,
             !wanted                ? "" /* there are no buffers yet */
             : !registered          ? ", buffers not registered"
             : registered == wanted ? ", buffers registered"
                                    : ", buffers registered in part");
}

/* register_with registers a buffer with a group's communicator, unless there is none, or NCCL cannot; deregister_from
 * ends that. The caller holds `calling`. */
static void register_with(const struct comm_nccl *c, struct buffer *b, enum comm_group group)
{
    void *handle = NULL;
    if (c->nccl[group] && !b->by_device &&
        library.ncclCommRegister(c->nccl[group], b->memory, b->bytes, &handle) == ncclSuccess)
        b->handle[group] = handle;
}

static void deregister_from(const struct comm_nccl *c, struct buffer *b, enum comm_group group)
{
    if (b->handle[group])
        NCCL_CHECK(c, library.ncclCommDeregister(c->nccl[group], b->handle[group]));
    b->handle[group] = NULL;
}

/* Allocates memory by NCCL, which can make the memory accessible to other GPUs and to networks; by CUDA if NCCL cannot
 * allocate it. Returns when it is zero, since `call` and `transfer` do not wait for the device's stream. */
static void *nccl_allocate(struct comm *comm, size_t bytes)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    struct buffer *b = allocate(1, sizeof *b);
    b->bytes = bytes;
    pthread_mutex_lock(&c->calling);
    b->by_device = library.ncclMemAlloc(&b->memory, bytes ? bytes : 1) != ncclSuccess;
    if (b->by_device) {
        (void)cudaGetLastError();
        b->memory = c->device->allocate(bytes);
    } else {
        CUDA_CHECK(cudaMemsetAsync(b->memory, 0, bytes, cuda_stream));
        if (c->timeline && c->timeline->lane[LANE_MEMORY].capacity) /* the traced device does not see this allocation */
            timeline_add_memory(c->timeline, bytes, b->memory);
    }
    for (int g = 0; g < COMM_GROUPS; g++)
        register_with(c, b, (enum comm_group)g);
    b->next = c->buffers;
    c->buffers = b;
    pthread_mutex_unlock(&c->calling);
    describe_settings(c);
    CUDA_CHECK(cudaStreamSynchronize(cuda_stream));
    return b->memory;
}

static void nccl_release(struct comm *comm, void *memory)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    struct buffer **at = &c->buffers, *b;
    if (!memory)
        return;
    while ((*at)->memory != memory)
        at = &(*at)->next;
    b = *at;
    c->device->synchronize();
    pthread_mutex_lock(&c->calling);
    for (int g = 0; g < COMM_GROUPS; g++)
        deregister_from(c, b, (enum comm_group)g);
    if (b->by_device)
        c->device->release(memory);
    else
        NCCL_CHECK(c, library.ncclMemFree(memory));
    pthread_mutex_unlock(&c->calling);
    *at = b->next;
    free(b);
}

/* ---- the comm ---- */

static long nccl_thread_id(struct comm *comm)
{
    (void)comm;
    return 0;
}

static double nccl_cpu_seconds(struct comm *comm)
{
    (void)comm;
    return 0;
}

/* Disconnects the ranks of a group; the caller holds `calling`. */
static void disconnect_group(struct comm_nccl *c, enum comm_group group)
{
    if (!c->nccl[group])
        return;
    NCCL_CHECK(c, library.ncclCommFinalize(c->nccl[group]));
    NCCL_CHECK(c, library.ncclCommDestroy(c->nccl[group]));
    c->nccl[group] = NULL;
}

static void nccl_regroup(struct comm *comm, int colour, int size)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    begin_call(c, "regrouping the ranks by NCCL");
    pthread_mutex_lock(&c->calling);
    for (struct buffer *b = c->buffers; b; b = b->next)
        deregister_from(c, b, COMM_HOST);
    disconnect_group(c, COMM_HOST);
    NCCL_CHECK(c, library.ncclCommSplit(c->nccl[COMM_ALL], colour, comm->rank, &c->nccl[COMM_HOST], NULL));
    for (struct buffer *b = c->buffers; b; b = b->next)
        register_with(c, b, COMM_HOST);
    pthread_mutex_unlock(&c->calling);
    end_call(c);
    comm->local_size = size;
    describe_settings(c);
}

static void *disconnect(void *state)
{
    struct comm_nccl *c = state;
    CUDA_CHECK(cudaSetDevice(c->gpu)); /* the current GPU is set per thread */
    pthread_mutex_lock(&c->calling);
    for (int g = COMM_GROUPS - 1; g >= 0; g--)
        disconnect_group(c, (enum comm_group)g);
    pthread_mutex_unlock(&c->calling);
    return NULL;
}

/* Disconnects the ranks, on a thread of its own. Returns 1; or 0, reported, if that takes too long, since then NCCL
 * itself hangs or another rank has ended, and no collective is in flight whose result would be lost. The thread then
 * stays in NCCL: only a non-blocking communicator may be aborted during another call. Source: NCCL user guide, "Fault
 * Tolerance" and "Thread Safety". */
static int disconnect_in_time(struct comm_nccl *c)
{
    pthread_t thread;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)ceil(c->patience_s);
    c->program->threads_start(&thread, disconnect, c, "the thread that disconnects the ranks");
    if (!(c->patience_s > 0 ? pthread_timedjoin_np(thread, NULL, &until) : pthread_join(thread, NULL)))
        return 1;
    fprintf(stderr,
            "ddpbench: rank %d: NCCL has not disconnected from the other ranks within %.0f s (half of --timeout); this "
            "rank ends without that\n",
            c->comm.rank, ceil(c->patience_s));
    return 0;
}

static void nccl_destroy(struct comm *comm)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    for (int g = 0; g < COMM_GROUPS; g++)
        CUDA_CHECK(cudaStreamSynchronize(c->stream[g]));
    int disconnected = disconnect_in_time(c);
    c->program->watchdog_look(comm->watchdog, NULL, NULL);
    if (!disconnected) /* the thread still uses everything */
        return;
    for (long i = 0; i < c->capacity; i++)
        CUDA_CHECK(cudaEventDestroy(c->ring[i].done));
    CUDA_CHECK(cudaEventDestroy(c->ready));
    for (int g = 0; g < COMM_GROUPS; g++)
        CUDA_CHECK(cudaStreamDestroy(c->stream[g]));
    pthread_mutex_destroy(&c->calling);
    pthread_mutex_destroy(&c->lock);
    free(c->ring);
    free(c);
}

/* Connects the ranks of the groups. Returns the first error. */
static ncclResult_t split_groups(struct comm_nccl *c, const struct job *job, ncclConfig_t *config)
{
    ncclComm_t all = c->nccl[COMM_ALL];
    ncclResult_t code = library.ncclCommSplit(all, job->host, job->rank, &c->nccl[COMM_HOST], config);
    if (code == ncclSuccess)
        code = library.ncclCommSplit(all, job->local_rank, job->rank, &c->nccl[COMM_ACROSS], config);
    return code;
}

/* Describes how the ranks connect, and what to try if that fails: Docker gives /dev/shm 64 MB, and NVLS hangs or fails
 * where the fabric manager does not run. */
static void connecting_words(int ranks, char words[COMM_WORDS])
{
    struct statvfs shm;
    double free_mib = statvfs("/dev/shm", &shm) ? 0 : (double)shm.f_bavail * (double)shm.f_frsize / 0x1p20;
    snprintf(
        words, COMM_WORDS,
        "connecting %d ranks by NCCL (NCCL_DEBUG=INFO shows how; if it fails: NCCL_NVLS_ENABLE=0, or more space in "
        "/dev/shm, which has %.0f MiB free)",
        ranks, free_mib);
}

/* Connects the ranks. */
static void connect_ranks(struct comm_nccl *c, const struct job *job, const struct comm_options *options)
{
    ncclUniqueId id = {{0}}, *all = allocate((size_t)job->size, sizeof *all);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    char words[COMM_WORDS];
    if (options->nccl_max_ctas)
        config.maxCTAs = (int)options->nccl_max_ctas;
    if (options->shares_gpu)
        setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 0);
    if (job->rank == 0)
        NCCL_CHECK(c, library.ncclGetUniqueId(&id));
    c->program->job_gather(job, &id, sizeof id, all);
    connecting_words(job->size, words);
    begin_call(c, words);
    pthread_mutex_lock(&c->calling);
    ncclResult_t code = library.ncclCommInitRankConfig(&c->nccl[COMM_ALL], job->size, all[0], job->rank, &config);
    if (code == ncclSuccess && options->groups)
        code = split_groups(c, job, &config);
    pthread_mutex_unlock(&c->calling);
    end_call(c);
    free(all);
    if (code == ncclInProgress)
        FATAL("nccl.conf sets NCCL_COMM_BLOCKING=0, which starts a thread for each collective: remove it");
    if (code != ncclSuccess)
        FATAL("NCCL: %s: %s, in %s", library.ncclGetErrorString(code), library.ncclGetLastError(NULL), words);
}

static void create_streams(struct comm_nccl *c, size_t capacity)
{
    int lowest, highest;
    CUDA_CHECK(cudaGetDevice(&c->gpu));
    CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    for (int g = 0; g < COMM_GROUPS; g++)
        CUDA_CHECK(cudaStreamCreateWithPriority(&c->stream[g], cudaStreamNonBlocking, highest));
    CUDA_CHECK(cudaEventCreateWithFlags(&c->ready, cudaEventDisableTiming));
    c->capacity = (long)capacity;
    c->ring = allocate(capacity, sizeof *c->ring);
    for (size_t i = 0; i < capacity; i++)
        CUDA_CHECK(cudaEventCreateWithFlags(&c->ring[i].done, cudaEventDisableTiming));
}

static struct comm *create(const struct nccl_calls *program, const struct job *job, const struct device *device,
                           struct timeline *timeline, size_t capacity, const struct comm_options *options)
{
    enum { STEPS_AHEAD = 4 }; /* steps; if the host is further ahead, the ring overwrites collectives in flight */
    struct comm_nccl *c = allocate(1, sizeof *c);
    c->comm = (struct comm){.name = "nccl",
                            .progress = c->progress_text,
                            .rank = job->rank,
                            .ranks = job->size,
                            .local_size = job->local_size,
                            .scattered = (size_t)job->rank,
                            .on_device = 1,
                            .groups_in_order = 1,
                            .rounds_average = 1,
                            .allocate = nccl_allocate,
                            .release = nccl_release,
                            .start = nccl_start,
                            .join = nccl_join,
                            .complete = nccl_complete,
                            .run_blocking = nccl_run,
                            .call = nccl_call,
                            .transfer = nccl_transfer,
                            .regroup = nccl_regroup,
                            .thread_id = nccl_thread_id,
                            .cpu_seconds = nccl_cpu_seconds,
                            .destroy = nccl_destroy};
    c->program = program;
    c->device = device;
    c->timeline = timeline;
    pthread_mutex_init(&c->calling, NULL);
    pthread_mutex_init(&c->lock, NULL);
    c->patience_s = options->timeout_s / 2;
    create_streams(c, STEPS_AHEAD * capacity + 1);
    c->comm.watchdog = job->watchdog;
    program->watchdog_look(job->watchdog, nccl_look, c);
    connect_ranks(c, job, options);
    if (options->nccl_max_ctas)
        snprintf(c->about, sizeof c->about, "NCCL %s, at most %zu CTAs", version(), options->nccl_max_ctas);
    else
        snprintf(c->about, sizeof c->about, "NCCL %s, CTAs chosen by NCCL", version());
    describe_settings(c);
    return &c->comm;
}

const struct comm_nccl_part ddpbench_nccl = {version, check, create};
