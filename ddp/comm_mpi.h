/* comm_mpi.h - collectives by MPI.
 *
 * If the host cannot read the device's memory, collectives are staged through host memory (comm_staged.h).
 * PROGRESS_AUTO polls if options->core_to_spare is set, and otherwise sleeps 500 us between tests. */
#ifndef DDP_COMM_MPI_H
#define DDP_COMM_MPI_H

#include "ddp/comm.h"
#include "ddp/job.h"
#include "kernels/device.h"

/* Creates the comm of all ranks; every rank calls it. capacity: the most collectives in flight. timeline NULL: records
 * no spans. */
struct comm *comm_mpi_create(const struct job *job, const struct device *device, struct timeline *timeline,
                             size_t capacity, const struct comm_options *options);

/* Like comm_mpi_create, but with at most `piece` elements per MPI call instead of COMM_MPI_PIECE (MPI's counts are
 * ints). Larger all-reduces and broadcasts are sent in pieces; reduce-scatters and all-gathers must not be larger. */
#define COMM_MPI_PIECE ((size_t)1 << 30)
struct comm *comm_mpi_create_pieces(const struct job *job, const struct device *device, struct timeline *timeline,
                                    size_t capacity, const struct comm_options *options, size_t piece);

#endif
