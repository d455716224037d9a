/* comm_options.h - the options that choose what carries the collectives: the same in every command that communicates.
 */
#ifndef BENCH_MACHINE_COMM_OPTIONS_H
#define BENCH_MACHINE_COMM_OPTIONS_H

#include "base/option_table.h"
#include "ddp/comm.h"

/* The rows --comm, --nccl-max-ctas, --mpi-progress and --timeout, which fill library, nccl_max_ctas, progress and
 * timeout_s; the other fields are the machine's to know. */
struct option_section comm_options_section(struct comm_options *options);

#endif
