/* comm_mpi.c - collectives by MPI, on communicators of their own: one for each queue of collectives. */
#include "ddp/comm_mpi.h"

#include "ddp/backoff.h"
#include "ddp/comm_staged.h"
#include "ddp/comm_thread.h"
#include "ddp/watchdog.h"
#include "kernels/bf16.h"
#include "kernels/error.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

/* A collective in flight. MPI's counts are ints, so a large collective is split into pieces with a request each. */
struct slot {
    MPI_Request *request;
    int pieces, capacity;
    struct collective collective;
};

struct mpi_state {
    MPI_Comm comm[COMM_QUEUES]; /* MPI_COMM_NULL: there are no groups */
    int ranks, local_size;
    int crowded; /* as in struct comm_progress */
    struct watchdog *watchdog;
    MPI_Op sum_bf16, max_bf16;
    size_t piece; /* the most elements of one MPI call */
    struct slot *slot;
    size_t slots;
};

#define MPI_CHECK(call)                                                                                                \
    do {                                                                                                               \
        int status_ = (call);                                                                                          \
        if (status_ != MPI_SUCCESS) {                                                                                  \
            char text_[MPI_MAX_ERROR_STRING];                                                                          \
            int length_;                                                                                               \
            MPI_Error_string(status_, text_, &length_);                                                                \
            FATAL("%s: %s", #call, text_);                                                                             \
        }                                                                                                              \
    } while (0)

/* MPI has no bfloat16, so these operations work on 16-bit words; each addition is computed in fp32 and rounded. */
static void sum_bf16(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    const uint16_t *a = in;
    uint16_t *b = inout;
    for (int i = 0; i < *n; i++)
        b[i] = bf16_narrow(bf16_widen(a[i]) + bf16_widen(b[i]));
}

static void max_bf16(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    const uint16_t *a = in;
    uint16_t *b = inout;
    for (int i = 0; i < *n; i++)
        b[i] = bf16_widen(a[i]) > bf16_widen(b[i]) ? a[i] : b[i];
}

static MPI_Datatype type_of(enum comm_dtype dtype)
{
    static const MPI_Datatype type[COMM_DTYPES] = {[COMM_FLOAT32] = MPI_FLOAT,
                                                   [COMM_BF16] = MPI_UINT16_T,
                                                   [COMM_FLOAT64] = MPI_DOUBLE,
                                                   [COMM_INT32] = MPI_INT32_T};
    return type[dtype];
}

static MPI_Op op_of(const struct mpi_state *s, const struct collective *c)
{
    if (c->dtype == COMM_BF16)
        return c->op == COMM_MAX ? s->max_bf16 : s->sum_bf16;
    return c->op == COMM_MAX ? MPI_MAX : MPI_SUM;
}

/* Divides complete sums by the number of ranks, because MPI has no average. */
static void divide_average(const struct mpi_state *s, const struct collective *c)
{
    if (c->op != COMM_AVG || !comm_reduces(c->kind))
        return;
    int n = comm_group_ranks(c->group, s->ranks, s->local_size);
    float ranks = (float)n;
    for (size_t i = 0; i < c->count; i++)
        switch (c->dtype) {
        case COMM_FLOAT32:
            ((float *)c->buffer)[i] /= ranks;
            break;
        case COMM_FLOAT64:
            ((double *)c->buffer)[i] /= (double)n;
            break;
        case COMM_BF16:
            ((uint16_t *)c->buffer)[i] = bf16_narrow(bf16_widen(((uint16_t *)c->buffer)[i]) / ranks);
            break;
        default:
            ((int32_t *)c->buffer)[i] /= n;
        }
}

/* Elements [at, at + n) of a collective, as arguments for MPI. */
struct piece {
    const void *in;
    void *out;
    int n;
    MPI_Datatype type;
    MPI_Op op;
};

static struct piece piece_of(const struct mpi_state *s, const struct collective *c, size_t at)
{
    size_t left = c->count - at, skip = at * comm_dtype_bytes(c->dtype);
    if (c->count > s->piece && comm_parts(c->kind, 2) > 1)
        FATAL("%s of %zu elements per rank; MPI takes at most %zu", comm_kind_name[c->kind], c->count, s->piece);
    return (struct piece){c->in ? (const char *)c->in + skip : MPI_IN_PLACE, (char *)c->buffer + skip,
                          (int)(left < s->piece ? left : s->piece), type_of(c->dtype), op_of(s, c)};
}

static void begin_piece(const struct mpi_state *s, const struct collective *c, const struct piece *p,
                        MPI_Request *request)
{
    MPI_Comm comm = s->comm[comm_queue(c)];
    switch (c->kind) {
    case COMM_REDUCE_SCATTER:
        MPI_CHECK(MPI_Ireduce_scatter_block(p->in, p->out, p->n, p->type, p->op, comm, request));
        break;
    case COMM_ALL_GATHER:
        MPI_CHECK(MPI_Iallgather(p->in, p->n, p->type, p->out, p->n, p->type, comm, request));
        break;
    case COMM_ALL_TO_ALL:
        MPI_CHECK(MPI_Ialltoall(p->in, p->n, p->type, p->out, p->n, p->type, comm, request));
        break;
    case COMM_BROADCAST:
        MPI_CHECK(MPI_Ibcast(p->out, p->n, p->type, c->root, comm, request));
        break;
    default:
        MPI_CHECK(MPI_Iallreduce(p->in, p->out, p->n, p->type, p->op, comm, request));
    }
}

static void mpi_post(void *state, size_t slot_index, const struct collective *c)
{
    struct mpi_state *s = state;
    struct slot *slot = &s->slot[slot_index];
    slot->pieces = 0;
    slot->collective = *c;
    for (size_t at = 0; at < c->count; at += s->piece) {
        if (slot->pieces == slot->capacity) {
            slot->capacity = slot->capacity * 2 + 1;
            slot->request = realloc(slot->request, (size_t)slot->capacity * sizeof *slot->request);
            if (!slot->request)
                fatal_no_memory((size_t)slot->capacity, sizeof *slot->request);
        }
        struct piece piece = piece_of(s, c, at);
        begin_piece(s, c, &piece, &slot->request[slot->pieces++]);
    }
}

static void mpi_call(void *state, const struct collective *c)
{
    struct mpi_state *s = state;
    MPI_Comm comm = s->comm[comm_queue(c)];
    for (size_t at = 0; at < c->count; at += s->piece) {
        struct piece p = piece_of(s, c, at);
        switch (c->kind) {
        case COMM_REDUCE_SCATTER:
            MPI_CHECK(MPI_Reduce_scatter_block(p.in, p.out, p.n, p.type, p.op, comm));
            break;
        case COMM_ALL_GATHER:
            MPI_CHECK(MPI_Allgather(p.in, p.n, p.type, p.out, p.n, p.type, comm));
            break;
        case COMM_ALL_TO_ALL:
            MPI_CHECK(MPI_Alltoall(p.in, p.n, p.type, p.out, p.n, p.type, comm));
            break;
        case COMM_BROADCAST:
            MPI_CHECK(MPI_Bcast(p.out, p.n, p.type, c->root, comm));
            break;
        default:
            MPI_CHECK(MPI_Allreduce(p.in, p.out, p.n, p.type, p.op, comm));
        }
    }
    divide_average(s, c);
}

/* Uses the request of the first slot, since no collective is in flight. Tests it with the pauses of comm_thread's join,
 * so that ranks which share a core take turns. */
static void mpi_transfer(void *state, void *buffer, size_t bytes, int peer, int receive)
{
    const struct mpi_state *s = state;
    MPI_Request *request = &s->slot[0].request[0];
    unsigned pauses = 0;
    if (bytes > INT_MAX)
        FATAL("%zu bytes are too many for one message", bytes);
    if (receive)
        MPI_CHECK(MPI_Irecv(buffer, (int)bytes, MPI_BYTE, peer, 0, s->comm[0], request));
    else
        MPI_CHECK(MPI_Isend(buffer, (int)bytes, MPI_BYTE, peer, 0, s->comm[0], request));
    for (int done = 0;;) {
        MPI_CHECK(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done)
            return;
        backoff_pause(s->crowded, &pauses);
    }
}

static int mpi_test(void *state, size_t slot_index)
{
    struct mpi_state *s = state;
    struct slot *slot = &s->slot[slot_index];
    int all = 1;
    for (int i = 0; i < slot->pieces; i++) { /* MPI_Test reports a request that was complete before as complete, too */
        int done;
        MPI_CHECK(MPI_Test(&slot->request[i], &done, MPI_STATUS_IGNORE));
        all &= done;
    }
    if (all)
        divide_average(s, &slot->collective);
    return all;
}

/* Creates the communicator of each queue of a group: the first by a split, which all ranks make together, the others as
 * duplicates of it. MPI orders the collectives of each communicator. Ranks with equal colours form a group. */
static void connect_group(struct mpi_state *s, enum comm_group group, int colour)
{
    MPI_Comm *comm = &s->comm[1 + ((int)group - 1) * COMM_KINDS];
    MPI_Comm_split(MPI_COMM_WORLD, colour, 0, comm); /* equal keys: in the order of all ranks */
    for (int i = 1; i < COMM_KINDS; i++)
        MPI_Comm_dup(comm[0], &comm[i]);
    for (int i = 0; i < COMM_KINDS; i++)
        MPI_Comm_set_errhandler(comm[i], MPI_ERRORS_RETURN);
}

static void connect_ranks(struct mpi_state *s, const struct job *job, int groups)
{
    s->watchdog = job->watchdog;
    watchdog_wait(s->watchdog, "creating communicators", watchdog_started(s->watchdog), 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &s->comm[0]);
    MPI_Comm_set_errhandler(s->comm[0], MPI_ERRORS_RETURN);
    for (int i = 1; i < COMM_QUEUES; i++)
        s->comm[i] = MPI_COMM_NULL;
    if (groups) {
        connect_group(s, COMM_HOST, job->host);
        connect_group(s, COMM_ACROSS, job->local_rank);
    }
    watchdog_arrived(s->watchdog);
}

static void free_communicators(struct mpi_state *s, int begin, int end)
{
    for (int i = begin; i < end; i++)
        if (s->comm[i] != MPI_COMM_NULL)
            MPI_Comm_free(&s->comm[i]);
}

static int mpi_regroup(void *state, int colour, int size)
{
    struct mpi_state *s = state;
    int rank;
    watchdog_wait(s->watchdog, "creating communicators", watchdog_started(s->watchdog), 0);
    free_communicators(s, 1, 1 + COMM_KINDS);
    connect_group(s, COMM_HOST, colour);
    watchdog_arrived(s->watchdog);
    s->local_size = size;
    MPI_Comm_rank(s->comm[1], &rank);
    return rank;
}

static void mpi_destroy(void *state)
{
    struct mpi_state *s = state;
    MPI_Op_free(&s->sum_bf16);
    MPI_Op_free(&s->max_bf16);
    free_communicators(s, 0, COMM_QUEUES);
    for (size_t i = 0; i < s->slots; i++)
        free(s->slot[i].request);
    free(s->slot);
    free(s);
}

static struct transport transport_create(const struct job *job, const struct comm_options *options, size_t capacity,
                                         size_t piece)
{
    struct mpi_state *s = allocate(1, sizeof *s);
    connect_ranks(s, job, options->groups);
    s->crowded = options->progress.crowded;
    s->ranks = job->size;
    s->local_size = job->local_size;
    MPI_Op_create(sum_bf16, 1, &s->sum_bf16);
    MPI_Op_create(max_bf16, 1, &s->max_bf16);
    s->piece = piece;
    s->slots = capacity;
    s->slot = allocate(capacity, sizeof *s->slot);
    for (size_t i = 0; i < capacity; i++) {
        s->slot[i].capacity = 1;
        s->slot[i].request = allocate(1, sizeof *s->slot[i].request);
    }
    return (struct transport){.post = mpi_post,
                              .test = mpi_test,
                              .call = mpi_call,
                              .transfer = mpi_transfer,
                              .regroup = mpi_regroup,
                              .destroy = mpi_destroy,
                              .state = s};
}

struct comm *comm_mpi_create_pieces(const struct job *job, const struct device *device, struct timeline *timeline,
                                    size_t capacity, const struct comm_options *options, size_t piece)
{
    struct transport transport = transport_create(job, options, capacity, piece);
    struct comm_progress progress = options->progress;
    if (!device->host_reads_memory)
        transport = comm_staged(transport, device, job, capacity);
    if (progress.kind == PROGRESS_AUTO)
        progress =
            (struct comm_progress){.kind = options->core_to_spare ? PROGRESS_POLL : PROGRESS_SLEEP, .sleep_us = 500};
    progress.crowded = options->progress.crowded;
    struct comm *comm = comm_thread_create("mpi", transport, device, timeline, capacity, progress);
    comm->rank = job->rank;
    comm->ranks = job->size;
    comm->local_size = job->local_size;
    comm->watchdog = job->watchdog;
    watchdog_look(comm->watchdog, comm_thread_look, comm);
    return comm;
}

struct comm *comm_mpi_create(const struct job *job, const struct device *device, struct timeline *timeline,
                             size_t capacity, const struct comm_options *options)
{
    return comm_mpi_create_pieces(job, device, timeline, capacity, options, COMM_MPI_PIECE);
}
