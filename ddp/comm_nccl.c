/* comm_nccl.c - collectives by NCCL, on a separate stream, concurrently with the device's stream.
 *
 * The two streams wait for each other by events; during a step the host does not wait. Collectives of groups run on the
 * same stream, one after another in the order of their tickets. Communicators are blocking, because NCCL starts a
 * thread for each call on a non-blocking communicator. From before the ranks connect until they have disconnected, the
 * watchdog ends the job if a call does not return. */
#include "ddp/comm_nccl.h"

#include "ddp/nccl_library.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/stamps.h"
#include "kernels/error.h"
#include "kernels/library.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A collective that was issued to the communication stream. */
struct entry {
    struct collective collective;
    long number; /* the collective's number, from watchdog_started */
    int64_t queued_ns;
    cudaEvent_t done;
};

/* Memory allocated by NCCL; handle NULL: the memory is not registered. */
struct buffer {
    void *memory, *handle;
    struct buffer *next;
};

struct comm_nccl {
    struct comm comm;
    const struct nccl_calls *program;
    const struct device *device;
    struct timeline *timeline; /* NULL: spans are not recorded */
    int gpu;
    cudaStream_t stream;
    cudaEvent_t ready; /* recorded on the device's stream when a collective starts; the collective waits for it */
    struct buffer *buffers;
    char about[128]; /* the library's version and settings */
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
        code =
            library.ncclSend((const char *)l->in + (size_t)r * part, l->count, type, r, c->nccl[l->group], c->stream);
        if (code == ncclSuccess)
            code =
                library.ncclRecv((char *)l->buffer + (size_t)r * part, l->count, type, r, c->nccl[l->group], c->stream);
    }
    end = library.ncclGroupEnd();
    return code == ncclSuccess ? end : code;
}

/* Issues a collective to the communication stream. */
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
    const char *in = l->in ? l->in : l->buffer;
    char *out = comm_result(&c->comm, l);
    ncclResult_t code;
    pthread_mutex_lock(&c->calling);
    switch (l->kind) {
    case COMM_REDUCE_SCATTER:
        code = library.ncclReduceScatter(in, out, l->count, type[l->dtype], op, nccl, c->stream);
        break;
    case COMM_ALL_GATHER:
        if (!l->in) /* the input is at buffer[rank], where NCCL expects it */
            in += c->comm.scattered * l->count * comm_dtype_bytes(l->dtype);
        code = library.ncclAllGather(in, out, l->count, type[l->dtype], nccl, c->stream);
        break;
    case COMM_ALL_TO_ALL:
        code = issue_messages(c, l, type[l->dtype]);
        break;
    case COMM_BROADCAST:
        code = library.ncclBroadcast(in, out, l->count, type[l->dtype], l->root, nccl, c->stream);
        break;
    default:
        code = library.ncclAllReduce(in, out, l->count, type[l->dtype], op, nccl, c->stream);
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
    *e = (struct entry){*collective, number, now, e->done};
    pthread_mutex_unlock(&c->lock);
    return e;
}

static long nccl_start(struct comm *comm, const struct collective *collective)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    struct entry *e = add_entry(c, collective);
    int64_t begin = 0;
    CUDA_CHECK(cudaEventRecord(c->ready, cuda_stream));
    CUDA_CHECK(cudaStreamWaitEvent(c->stream, c->ready, 0));
    if (c->timeline)
        begin = cuda_stamp_on(c->stream);
    issue_call(c, collective);
    if (c->timeline) {
        struct span span = collective_span(collective, c->comm.ranks, c->comm.local_size, c->started, e->queued_ns,
                                           begin, cuda_stamp_on(c->stream));
        span.returned_ns = clock_now_ns();
        timeline_add(c->timeline, LANE_COMMUNICATION, span);
    }
    CUDA_CHECK(cudaEventRecord(e->done, c->stream));
    pthread_mutex_lock(&c->lock);
    c->issued = c->started;
    pthread_mutex_unlock(&c->lock);
    return c->started;
}

static void nccl_join(struct comm *comm, long ticket)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    if (ticket > 0) /* if the ring has wrapped around, this is the event of a later collective */
        CUDA_CHECK(cudaStreamWaitEvent(cuda_stream, c->ring[ticket % c->capacity].done, 0));
}

/* Advances `completed` to the last collective that the GPU has completed; the caller holds the lock. Returns the GPU's
 * error status. */
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
    CUDA_CHECK(cudaStreamSynchronize(c->stream));
    end_call(c);
}

static void nccl_transfer(struct comm *comm, void *buffer, size_t bytes, int peer, int receive)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    ncclComm_t nccl = c->nccl[COMM_ALL];
    begin_call_of(c, receive ? "receiving from another rank" : "sending to another rank", 0);
    pthread_mutex_lock(&c->calling);
    ncclResult_t code = receive ? library.ncclRecv(buffer, bytes, ncclInt8, peer, nccl, c->stream)
                                : library.ncclSend(buffer, bytes, ncclInt8, peer, nccl, c->stream);
    pthread_mutex_unlock(&c->calling);
    if (code != ncclSuccess)
        fail_and_wait(c, code);
    CUDA_CHECK(cudaStreamSynchronize(c->stream));
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
    int buffers = 0, registered = 0;
    for (const struct buffer *b = c->buffers; b; b = b->next) {
        buffers++;
        registered += b->handle != NULL;
    }
    snprintf(c->progress_text, sizeof c->progress_text, "%s, buffers %s", c->about,
             !registered             ? "not registered"
             : registered == buffers ? "registered"
                                     : "registered in part");
}

/* Allocates memory by NCCL, which can make the memory accessible to other GPUs and to networks; by CUDA if NCCL cannot
 * allocate it. */
static void *nccl_allocate(struct comm *comm, size_t bytes)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    struct buffer *b = allocate(1, sizeof *b);
    void *handle = NULL;
    pthread_mutex_lock(&c->calling);
    if (library.ncclMemAlloc(&b->memory, bytes ? bytes : 1) == ncclSuccess) {
        CUDA_CHECK(cudaMemsetAsync(b->memory, 0, bytes, cuda_stream));
        if (library.ncclCommRegister(c->nccl[COMM_ALL], b->memory, bytes, &handle) == ncclSuccess)
            b->handle = handle;
        b->next = c->buffers;
        c->buffers = b;
        if (c->timeline && c->timeline->lane[LANE_MEMORY].capacity) /* the traced device does not see this allocation */
            timeline_add_memory(c->timeline, bytes, b->memory);
    } else {
        (void)cudaGetLastError();
        free(b);
        b = NULL;
    }
    pthread_mutex_unlock(&c->calling);
    describe_settings(c);
    return b ? b->memory : c->device->allocate(bytes);
}

static void nccl_release(struct comm *comm, void *memory)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    struct buffer **at = &c->buffers, *b;
    while (*at && (*at)->memory != memory)
        at = &(*at)->next;
    b = *at;
    if (!b) {
        c->device->release(memory);
        return;
    }
    c->device->synchronize();
    pthread_mutex_lock(&c->calling);
    if (b->handle)
        NCCL_CHECK(c, library.ncclCommDeregister(c->nccl[COMM_ALL], b->handle));
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

static void nccl_destroy(struct comm *comm)
{
    struct comm_nccl *c = (struct comm_nccl *)comm;
    CUDA_CHECK(cudaStreamSynchronize(c->stream));
    begin_call(c, "disconnecting from the other ranks by NCCL");
    pthread_mutex_lock(&c->calling);
    for (int i = COMM_GROUPS - 1; i >= 0; i--) {
        if (!c->nccl[i])
            continue;
        NCCL_CHECK(c, library.ncclCommFinalize(c->nccl[i]));
        NCCL_CHECK(c, library.ncclCommDestroy(c->nccl[i]));
        c->nccl[i] = NULL;
    }
    pthread_mutex_unlock(&c->calling);
    end_call(c);
    c->program->watchdog_look(comm->watchdog, NULL, NULL);
    for (long i = 0; i < c->capacity; i++)
        CUDA_CHECK(cudaEventDestroy(c->ring[i].done));
    CUDA_CHECK(cudaEventDestroy(c->ready));
    CUDA_CHECK(cudaStreamDestroy(c->stream));
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
    snprintf(words, sizeof words, "connecting %d ranks by NCCL (NCCL_DEBUG=INFO shows how)", job->size);
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
    NCCL_CHECK(c, code);
}

static void create_stream(struct comm_nccl *c, size_t capacity)
{
    int lowest, highest;
    CUDA_CHECK(cudaGetDevice(&c->gpu));
    CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUDA_CHECK(cudaStreamCreateWithPriority(&c->stream, cudaStreamNonBlocking, highest));
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
                            .rounds_average = 1,
                            .allocate = nccl_allocate,
                            .release = nccl_release,
                            .start = nccl_start,
                            .join = nccl_join,
                            .complete = nccl_complete,
                            .run_blocking = nccl_run,
                            .call = nccl_call,
                            .transfer = nccl_transfer,
                            .thread_id = nccl_thread_id,
                            .cpu_seconds = nccl_cpu_seconds,
                            .destroy = nccl_destroy};
    c->program = program;
    c->device = device;
    c->timeline = timeline;
    pthread_mutex_init(&c->calling, NULL);
    pthread_mutex_init(&c->lock, NULL);
    create_stream(c, STEPS_AHEAD * capacity + 1);
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
