/* comm_staged.h - collectives by a host library on device memory that the host cannot read: staged through the host's.
 *
 * Memory of the comm has as much memory of the host beside it, of a kind that copies are fast to and from, and every
 * byte has its place there: nothing is allocated for a collective. Its input is copied there concurrently with
 * operations, once those issued before it are done; the library carries out the same collective in host memory; the
 * result is copied back. The library is given collectives in the order of their tickets, which is the same on every
 * rank, however the copies fare. */
#ifndef DDP_COMM_STAGED_H
#define DDP_COMM_STAGED_H

#include "ddp/comm_thread.h"
#include "kernels/device.h"

/* Wraps a transport whose collectives work in host memory, and owns it from now on. capacity as of the comm_thread that
 * it is for. Ends the program for a collective in memory that the comm has not allocated. */
struct transport comm_staged(struct transport inner, const struct device *device, int rank, int ranks, size_t capacity);

#endif
