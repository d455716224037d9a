/* stamps.c - events with times, and how the GPU's clock stands to the host's. */
#include "kernels/cuda/stamps.h"

#include "kernels/clock.h"
#include "kernels/cuda/runtime.h"

#include <stdlib.h>

/* Stamps in the order of their tickets: ticket t is stamp -1 - t. Events are made when they are first needed and used
 * again after stamps_begin, so that a program's first block makes all that it needs. */
static struct stamp {
    cudaEvent_t event;
    double ms; /* since the first anchor, once stamps_end has asked */
} * stamp;
static size_t stamps, made, known; /* recorded; events made; of which the times are known */

/* Elapsed times are floats of milliseconds: 24 bits are a microsecond after 16 s. So each stamp is compared with the
 * last one that was far enough behind the one before, and these are added up in double. */
enum { ANCHOR_MS = 100 };

/* The two clocks side by side: at this time of the host, the GPU was at this stamp. */
struct ranking {
    int64_t host_ns;
    int64_t ticket;
};
static struct ranking first, last;

static struct stamp *stamp_of(int64_t ticket)
{
    size_t i = (size_t)(-1 - ticket);
    if (ticket >= 0 || i >= stamps)
        FATAL("stamp %lld is none of the %zu that there are", (long long)ticket, stamps);
    return &stamp[i];
}

static void make_one(void)
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
        make_one();
    CUDA_CHECK(cudaEventRecord(stamp[stamps].event, stream));
    stamps++;
    return -(int64_t)stamps;
}

int64_t cuda_stamp(void)
{
    return cuda_stamp_on(cuda_stream);
}

/* Compares the clocks while the GPU has nothing else to do: of several stamps, the one whose recording took the host
 * the shortest time; it lies in the middle of that, or half of it away at most. */
static struct ranking compare(void)
{
    enum { TRIES = 10 };
    struct ranking best = {0, 0};
    int64_t shortest = INT64_MAX;
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < TRIES; i++) {
        int64_t before = clock_now_ns(), ticket = cuda_stamp();
        CUDA_CHECK(cudaEventSynchronize(stamp_of(ticket)->event));
        int64_t after = clock_now_ns();
        if (after - before < shortest) {
            shortest = after - before;
            best = (struct ranking){before + shortest / 2, ticket};
        }
    }
    return best;
}

void cuda_stamps_begin(void)
{
    stamps = known = 0;
    first = compare();
    last = first;
}

/* The times of all stamps since the last call. Streams run concurrently, so a stamp may be earlier than the one
 * before; anchors are those that moved forward. */
static void ask(void)
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
    last = compare();
    ask();
}

int64_t cuda_stamp_ns(int64_t ticket)
{
    if ((size_t)(-ticket) > known)
        FATAL("the time of stamp %lld is not known before stamps end", (long long)ticket);
    double begin = stamp_of(first.ticket)->ms, length = stamp_of(last.ticket)->ms - begin;
    double rate = length > 0 ? (double)(last.host_ns - first.host_ns) / length : 1e6; /* ns of the host in a GPU's ms */
    return first.host_ns + (int64_t)((stamp_of(ticket)->ms - begin) * rate);
}
