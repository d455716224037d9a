/* links.h - how fast each host sends and receives, measured while nothing else is sent. */
#ifndef DDP_LINKS_H
#define DDP_LINKS_H

#include "ddp/job.h"

/* Bytes per second, the best that was seen: a host that is slow with every peer has a slow side itself. */
struct link_rates {
    int rank; /* the first of that host, which stands for it */
    double send, receive;
};

/* Fills rates[job->hosts], of two hosts or more: the first rank of each host sends 1 MiB to the next host and to the
 * one before, twice, and times what arrives; half of the hosts send at a time. Takes as long as eight such messages, or
 * twelve. All ranks call, while no collective is in flight. */
void links_measure(const struct job *job, struct link_rates *rates);

#endif
