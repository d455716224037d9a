/* cuda_parts.h - the parts of the program that need CUDA's libraries, in a shared object that is opened when one is
 * used.
 *
 * libddpbench_cuda.so lies beside the program, or in ../lib/ddpbench if the program is installed. It offers a table of
 * functions for each part: ddpbench_accelerator, ddpbench_tracer (if built with CUPTI) and ddpbench_nccl (with NCCL).
 */
#ifndef KERNELS_CUDA_PARTS_H
#define KERNELS_CUDA_PARTS_H

#include "kernels/error.h"

/* What the shared object calls in the program; as in error.h. */
struct program_calls {
    __typeof__(error_report) *error_report;
    __typeof__(fatal) *fatal;
    __typeof__(fatal_no_memory) *fatal_no_memory;
    __typeof__(allocate) *allocate;
};

/* Defined in the shared object: keeps `calls`, and returns the version and description that it was built from. */
const char *ddpbench_start(const struct program_calls *calls);

/* Returns the table of that name, for example "ddpbench_nccl"; it is never closed. NULL: the shared object cannot be
 * used, which is reported, or it was built without this part, which is not. Not for several threads at once. */
const void *cuda_part(const char *name);

/* Returns 1 if the machine shows an NVIDIA GPU to this process, whether or not the program can use it; else 0. */
int cuda_gpu_is_here(void);

#endif
