/* links.h - measures the send and receive rates of each host. */
#ifndef DDP_LINKS_H
#define DDP_LINKS_H

#include "ddp/job.h"

/* The best rates of a host over its peers, in bytes per second: a host that is slow with every peer is slow itself. */
struct link_rates {
    int rank; /* the first rank of the host */
    double send, receive;
};

/* Fills rates[job->hosts], for 2 hosts or more. The first rank of each host sends 1 MiB twice to the next host and,
 * from 3 hosts on, twice to the previous one; receivers measure. At most half of the hosts send at a time. Takes as
 * long as 4 messages (2 hosts), 8 (even number) or 12 (odd). All ranks call it while no collective is in flight. */
void links_measure(const struct job *job, struct link_rates *rates);

#endif
