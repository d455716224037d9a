/* links.h - times the links between ranks, and computes from these times the send and receive rates of each host. */
#ifndef DDP_LINKS_H
#define DDP_LINKS_H

#include "ddp/comm.h"
#include "ddp/job.h"

/* The times of a rank with its partner, in seconds; NAN without a partner. */
struct link_times {
    double send;       /* of a message to the partner plus the partner's answer of a few bytes */
    double round_trip; /* of a few bytes, the median of several */
};

/* Times one round, in which disjoint pairs of ranks use their links at the same time, by each rank's own clock. First
 * the lower rank of each pair sends `bytes` bytes, then the higher rank does, and then come the round trips. partner:
 * the other rank of this rank's pair; -1: this rank rests. message: memory of the comm for `bytes` bytes, at least
 * LINKS_LEAST. All ranks call it while no collective is in flight. */
enum { LINKS_LEAST = 8 };
void links_time(const struct job *job, struct comm *comm, int partner, void *message, size_t bytes,
                struct link_times *times);

/* The rounds of a ring of n >= 2 pair each member with both its neighbours: 0-1 2-3 ... in round 0 and 1-2 3-4 ... in
 * round 1. An odd n needs a third round, which pairs the last member with the first, and the others as in round 1, so
 * that the network carries as much traffic as before. Return the number of rounds, and the partner of i in a round (-1:
 * i rests). */
int links_ring_rounds(int n);
int links_ring_partner(int n, int round, int i);

/* The best rates of a host over its peers, in bytes per second: a host that is slow with every peer is slow itself. */
struct link_rates {
    int rank; /* the first rank of the host */
    double send, receive;
};

/* Fills rates[job->hosts], for 2 hosts or more: the first ranks of neighbours exchange 1 MiB, twice. All ranks call it
 * while no collective is in flight. */
void links_measure(const struct job *job, struct comm *comm, struct link_rates *rates);

#endif
