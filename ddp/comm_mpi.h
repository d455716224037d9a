/* comm_mpi.h - collectives by MPI.
 *
 * Where the host cannot read the device's memory, they are staged through the host's (comm_staged.h). Auto progress
 * polls where options->core_to_spare, and otherwise sleeps 500 us between tests. */
#ifndef DDP_COMM_MPI_H
#define DDP_COMM_MPI_H

#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/device.h"

/* All ranks together; every rank calls. capacity is the most collectives that are ever in flight. timeline NULL: no
 * spans are recorded. */
struct comm *comm_mpi_create(const struct job *job, const struct device *device, struct timeline *timeline,
                             size_t capacity, const struct comm_options *options);

/* The same, with at most `piece` elements in one MPI call instead of COMM_MPI_PIECE: MPI counts in int. All-reduces and
 * broadcasts of more are sent in pieces; the other two may have no more. */
#define COMM_MPI_PIECE ((size_t)1 << 30)
struct comm *comm_mpi_create_pieces(const struct job *job, const struct device *device, struct timeline *timeline,
                                    size_t capacity, const struct comm_options *options, size_t piece);

#endif
