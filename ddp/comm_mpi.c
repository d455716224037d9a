/* comm_mpi.c - collectives by MPI: non-blocking all-reduces on a communicator of their own. */
#include "comm.h"

#include "bf16.h"
#include "comm_thread.h"
#include "error.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* MPI counts in int, so a collective is sent in pieces; a slot keeps a request for each of its pieces. */
struct slot {
    MPI_Request *request;
    int pieces, capacity;
};

struct mpi_state {
    MPI_Comm comm;
    MPI_Op sum_bf16;
    size_t piece; /* most elements in one MPI call */
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

/* MPI has no bfloat16: its sum is an operation of ours on 16-bit words, each addition in fp32 and rounded. */
static void sum_bf16(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    const uint16_t *a = in;
    uint16_t *b = inout;
    for (int i = 0; i < *n; i++)
        b[i] = bf16_narrow(bf16_widen(a[i]) + bf16_widen(b[i]));
}

static void mpi_post(void *state, size_t slot_index, const struct collective *c)
{
    struct mpi_state *s = state;
    struct slot *slot = &s->slot[slot_index];
    int bf16 = c->dtype == COMM_BF16;
    slot->pieces = 0;
    for (size_t at = 0; at < c->count; at += s->piece) {
        size_t n = c->count - at < s->piece ? c->count - at : s->piece;
        if (slot->pieces == slot->capacity) {
            slot->capacity = slot->capacity * 2 + 1;
            slot->request = realloc(slot->request, (size_t)slot->capacity * sizeof *slot->request);
            if (!slot->request)
                FATAL("no memory for %d requests", slot->capacity);
        }
        MPI_CHECK(MPI_Iallreduce(MPI_IN_PLACE, (char *)c->buffer + at * comm_dtype_bytes(c->dtype), (int)n,
                                 bf16 ? MPI_UINT16_T : MPI_FLOAT, bf16 ? s->sum_bf16 : MPI_SUM, s->comm,
                                 &slot->request[slot->pieces++]));
    }
}

static int mpi_test(void *state, size_t slot_index)
{
    struct mpi_state *s = state;
    struct slot *slot = &s->slot[slot_index];
    int all = 1;
    for (int i = 0; i < slot->pieces; i++) { /* a request found complete is null from then on, and tests as done */
        int done;
        MPI_CHECK(MPI_Test(&slot->request[i], &done, MPI_STATUS_IGNORE));
        all &= done;
    }
    return all;
}

static void mpi_destroy(void *state)
{
    struct mpi_state *s = state;
    MPI_Op_free(&s->sum_bf16);
    MPI_Comm_free(&s->comm);
    for (size_t i = 0; i < s->slots; i++)
        free(s->slot[i].request);
    free(s->slot);
    free(s);
}

struct comm *comm_mpi_create_pieces(struct timeline *timeline, size_t capacity, struct comm_progress progress,
                                    int core_to_spare, size_t piece)
{
    struct mpi_state *s = allocate(1, sizeof *s);
    MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    MPI_Op_create(sum_bf16, 1, &s->sum_bf16);
    s->piece = piece;
    s->slots = capacity;
    s->slot = allocate(capacity, sizeof *s->slot);
    for (size_t i = 0; i < capacity; i++) {
        s->slot[i].capacity = 1;
        s->slot[i].request = allocate(1, sizeof *s->slot[i].request);
    }
    if (progress.kind == PROGRESS_AUTO)
        progress =
            core_to_spare ? (struct comm_progress){PROGRESS_POLL, 0} : (struct comm_progress){PROGRESS_SLEEP, 500};
    struct transport transport = {mpi_post, mpi_test, mpi_destroy, s};
    return comm_thread_create("mpi", transport, timeline, capacity, progress);
}

struct comm *comm_mpi_create(struct timeline *timeline, size_t capacity, struct comm_progress progress,
                             int core_to_spare)
{
    return comm_mpi_create_pieces(timeline, capacity, progress, core_to_spare, INT_MAX / 2 + 1);
}
