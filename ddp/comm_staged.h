/* comm_staged.h - collectives by a host library on device memory that the host cannot read: staged through the host's.
 *
 * A collective's input is copied to host memory concurrently with operations, once those issued before it are done; the
 * library works there, in place; the result is copied back. The library is given collectives in the order of their
 * tickets, which is the same on every rank, however the copies fare. */
#ifndef DDP_COMM_STAGED_H
#define DDP_COMM_STAGED_H

#include "ddp/comm_thread.h"
#include "kernels/device.h"

/* Wraps a transport whose collectives work in host memory, and owns it from now on. capacity as of the comm_thread that
 * it is for. Host memory is allocated as collectives need it, and kept. */
struct transport comm_staged(struct transport inner, const struct device *device, int rank, int ranks, size_t capacity);

#endif
