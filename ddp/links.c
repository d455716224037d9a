/* links.c - times the links between ranks, and computes from these times the send and receive rates of each host. */
#include "ddp/links.h"

#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRIPS = 9 }; /* round trips of a pair */

/* Returns the seconds from sending `bytes` bytes until the partner's answer arrives. */
static double exchange(struct comm *comm, int partner, void *message, size_t bytes)
{
    int64_t begin = clock_now_ns();
    comm->transfer(comm, message, bytes, partner, 0);
    comm->transfer(comm, message, LINKS_LEAST, partner, 1);
    return clock_seconds_since(begin);
}

static void answer(struct comm *comm, int partner, void *message, size_t bytes)
{
    comm->transfer(comm, message, bytes, partner, 1);
    comm->transfer(comm, message, LINKS_LEAST, partner, 0);
}

/* Returns the size of the message before the one that is timed. Its answer ends the wait for the rank that left the
 * barrier last, and the message brings both buffers into the caches. Without it, the first direction of a pair of ranks
 * on one host would take 10 % longer than the second, because other work has evicted the buffers from the caches. */
static size_t warm_up_bytes(size_t bytes)
{
    const size_t most = 4 << 20;
    return bytes < most ? bytes : most;
}

static double time_message(struct comm *comm, int partner, void *message, size_t bytes)
{
    exchange(comm, partner, message, warm_up_bytes(bytes));
    return exchange(comm, partner, message, bytes);
}

static void answer_message(struct comm *comm, int partner, void *message, size_t bytes)
{
    answer(comm, partner, message, warm_up_bytes(bytes));
    answer(comm, partner, message, bytes);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sends a few bytes to and fro, and returns the median of the times from sending until the next bytes arrive. One rank
 * of the pair is `first` to send; its last bytes end the last trip of the other. */
static double time_trips(struct comm *comm, int partner, void *message, int first)
{
    double seconds[TRIPS];
    if (!first)
        comm->transfer(comm, message, LINKS_LEAST, partner, 1);
    for (int i = 0; i < TRIPS; i++)
        seconds[i] = exchange(comm, partner, message, LINKS_LEAST);
    if (first)
        comm->transfer(comm, message, LINKS_LEAST, partner, 0);
    qsort(seconds, TRIPS, sizeof *seconds, by_size);
    return seconds[TRIPS / 2];
}

void links_time(const struct job *job, struct comm *comm, int partner, void *message, size_t bytes,
                struct link_times *times)
{
    enum { LOWER_SENDS, HIGHER_SENDS, ROUND_TRIPS, PARTS };
    int lower = job->rank < partner;
    char words[96];
    *times = (struct link_times){NAN, NAN};
    for (int part = 0; part < PARTS; part++) {
        job_barrier(job);
        if (partner < 0)
            continue;
        int sends = lower == (part == LOWER_SENDS), trips = part == ROUND_TRIPS;
        snprintf(words, sizeof words,
                 trips   ? "exchanging %zu bytes with rank %d"
                 : sends ? "sending %zu bytes to rank %d"
                         : "receiving %zu bytes from rank %d",
                 trips ? (size_t)LINKS_LEAST : bytes, partner);
        watchdog_wait(job->watchdog, words, 0, 0);
        if (trips)
            times->round_trip = time_trips(comm, partner, message, lower);
        else if (sends)
            times->send = time_message(comm, partner, message, bytes);
        else
            answer_message(comm, partner, message, bytes);
        watchdog_arrived(job->watchdog);
    }
}

/* ---- the ring ---- */

int links_ring_rounds(int n)
{
    return 2 + n % 2;
}

int links_ring_partner(int n, int round, int i)
{
    int last = n - 1;
    if (round == 0) /* 0-1 2-3 ...; if n is odd, the last member rests */
        return (i ^ 1) < n ? i ^ 1 : -1;
    if (i == 0 || (n % 2 == 0 && i == last)) /* 0 and the last; if n is odd, 0 rests in round 1 */
        return n % 2 && round == 1 ? -1 : last - i;
    if (round == 2 && i >= last - 1)
        return i == last ? 0 : -1;
    return i % 2 ? i + 1 : i - 1;
}

/* ---- the rates of hosts ---- */

void links_measure(const struct job *job, struct comm *comm, struct link_rates *rates)
{
    enum { MESSAGE = 1 << 20, REPEATS = 2, MOST_ROUNDS = 3 };
    struct sent {
        int host, leads;
        double rate[MOST_ROUNDS];
    } mine = {job->host, job->local_rank == 0, {0}}, *all = allocate((size_t)job->size, sizeof *all);
    int hosts = job->hosts, rounds = links_ring_rounds(hosts);
    void *message = comm->allocate(comm, MESSAGE);
    job_gather(job, &mine, sizeof mine, all);
    for (int r = 0; r < job->size; r++)
        if (all[r].leads)
            rates[all[r].host] = (struct link_rates){.rank = r};
    for (int i = 0; i < rounds * REPEATS; i++) {
        struct link_times times;
        int peer = mine.leads ? links_ring_partner(hosts, i % rounds, job->host) : -1;
        links_time(job, comm, peer < 0 ? -1 : rates[peer].rank, message, MESSAGE, &times);
        mine.rate[i % rounds] = fmax(mine.rate[i % rounds], MESSAGE / times.send);
    }
    comm->release(comm, message);
    job_gather(job, &mine, sizeof mine, all);
    for (int i = 0; i < rounds * hosts; i++) {
        int host = i % hosts, round = i / hosts, peer = links_ring_partner(hosts, round, host);
        double rate = all[rates[host].rank].rate[round];
        if (peer < 0)
            continue;
        rates[host].send = fmax(rates[host].send, rate);
        rates[peer].receive = fmax(rates[peer].receive, rate);
    }
    free(all);
}
