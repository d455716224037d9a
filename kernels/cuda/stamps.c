/* stamps.c - timed events, and the comparison of the GPU's clock with the host's. */
#include "kernels/cuda/stamps.h"

#include "kernels/clock.h"
#include "kernels/cuda/runtime.h"

#include <stdlib.h>

/* Stamps in order of their tickets: ticket t is at index -1 - t. Events are created when needed and reused after
 * stamps_begin, so that the first block of a run creates all of them. */
static struct stamp {
    cudaEvent_t event;
    double ms; /* time since stamp 0, in ms; set by stamps_end */
} * stamp;
/* numbers of stamps; stamps: recorded; made: with an event; known: with a known time */
static size_t stamps, made, known;

/* The least time between two anchors, in ms. CUDA's elapsed times are floats of milliseconds, whose 24 bits resolve
 * only a microsecond after 16 s. So each stamp is compared with a recent anchor, which is a stamp at least ANCHOR_MS
 * after the previous anchor, and the times between anchors are added in double. */
enum { ANCHOR_MS = 100 };

/* Times on both clocks: when the host's clock read host_ns, the GPU reached the stamp `ticket`. */
struct clock_pair {
    int64_t host_ns;
    int64_t ticket;
};
static struct clock_pair first, last;

static struct stamp *stamp_of(int64_t ticket)
{
    size_t i = (size_t)(-1 - ticket);
    if (ticket >= 0 || i >= stamps)
        FATAL("unknown stamp %lld; there are %zu stamps", (long long)ticket, stamps);
    return &stamp[i];
}

static void create_event(void)
{
    if (made % 1024 == 0) {
        stamp = realloc(stamp, (made + 1024) * sizeof *stamp);
        if (!stamp)
            fatal_no_memory(made + 1024, sizeof *stamp);
    }
    CUDA_CHECK(cudaEventCreateWithFlags(&stamp[made].event, cudaEventDefault));
    made++;
}

int64_t cuda_stamp_on(cudaStream_t stream)
{
    if (stamps == made)
        create_event();
    CUDA_CHECK(cudaEventRecord(stamp[stamps].event, stream));
    stamps++;
    return -(int64_t)stamps;
}

int64_t cuda_stamp(void)
{
    return cuda_stamp_on(cuda_stream);
}

/* Compares the clocks while the GPU is idle. Records several stamps and uses the one recorded in the shortest time on
 * the host: the stamp lies in the middle of this time, with an error of at most half of it. */
static struct clock_pair compare_clocks(void)
{
    enum { TRIES = 10 };
    struct clock_pair best = {0, 0};
    int64_t shortest = INT64_MAX;
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < TRIES; i++) {
        int64_t before = clock_now_ns(), ticket = cuda_stamp();
        CUDA_CHECK(cudaEventSynchronize(stamp_of(ticket)->event));
        int64_t after = clock_now_ns();
        if (after - before < shortest) {
            shortest = after - before;
            best = (struct clock_pair){before + shortest / 2, ticket};
        }
    }
    return best;
}

void cuda_stamps_begin(void)
{
    stamps = known = 0;
    first = compare_clocks();
    last = first;
}

/* Finds the times of all stamps recorded since the last call. Streams run concurrently, so a stamp may be earlier than
 * the previous one; only stamps later than the last anchor become anchors. */
static void find_times(void)
{
    static size_t anchor;
    if (!known) {
        anchor = 0;
        stamp[0].ms = 0;
        known = 1;
    }
    for (; known < stamps; known++) {
        float ms;
        CUDA_CHECK(cudaEventElapsedTime(&ms, stamp[anchor].event, stamp[known].event));
        stamp[known].ms = stamp[anchor].ms + (double)ms;
        if (ms > ANCHOR_MS)
            anchor = known;
    }
}

void cuda_stamps_end(void)
{
    last = compare_clocks();
    find_times();
}

int64_t cuda_stamp_ns(int64_t ticket)
{
    if ((size_t)(-ticket) > known)
        FATAL("the time of stamp %lld is unknown before stamps_end", (long long)ticket);
    double begin = stamp_of(first.ticket)->ms, length = stamp_of(last.ticket)->ms - begin;
    /* ns of the host's clock per ms of the GPU's clock */
    double rate = length > 0 ? (double)(last.host_ns - first.host_ns) / length : 1e6;
    return first.host_ns + (int64_t)((stamp_of(ticket)->ms - begin) * rate);
}
