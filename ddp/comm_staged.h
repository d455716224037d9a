/* comm_staged.h - lets MPI, which works in host memory, run collectives on device memory that the host cannot read.
 *
 * The comm's device memory is mirrored in pinned host memory of the same size, so that a collective allocates nothing.
 * The input is copied to the mirror after the operations issued before the collective, and concurrently with later
 * operations. MPI runs the collective in the mirror, and the result is copied back. A collective that comes after
 * another (struct collective) finds its input in the mirror. MPI gets the collectives of a queue in the order of their
 * tickets, which is the same on every rank, whatever the order in which copies complete. */
#ifndef DDP_COMM_STAGED_H
#define DDP_COMM_STAGED_H

#include "ddp/comm_thread.h"
#include "ddp/job.h"
#include "kernels/device.h"

/* Wraps a transport whose collectives work in host memory, and owns it from now on. capacity: the
 * capacity of the comm_thread that will use the transport. A collective in memory that the comm did not allocate is
 * fatal. */
struct transport comm_staged(struct transport inner, const struct device *device, const struct job *job,
                             size_t capacity);

#endif
