/* cupti_names.h - names for CUPTI's records, which outlive the records. */
#ifndef KERNELS_CUDA_CUPTI_NAMES_H
#define KERNELS_CUDA_CUPTI_NAMES_H

#include "kernels/cuda/cupti_library.h"

/* Returns the demangled name of a kernel, cached by the address `mangled`: CUPTI's records of one kernel share it. */
const char *cupti_kernel_name(const char *mangled);

/* Names as in PyTorch's Kineto, for example "Memcpy HtoD (Pinned -> Device)", "Memset (Device)", "Stream Wait Event".
 */
const char *cupti_copy_name(unsigned kind, unsigned from, unsigned to);
const char *cupti_fill_name(unsigned memory);
const char *cupti_wait_name(unsigned type);

/* Returns the name of a call of the runtime (driver 0) or the driver (1). NULL for calls that neither start work of the
 * GPU, nor wait, nor allocate, for example cudaGetLastError, and for all of the driver's calls except launches, because
 * the runtime itself makes the driver's other calls. *marks becomes 1 if the call records an event, else 0. */
const char *cupti_call_name(const struct cupti *cupti, int driver, uint32_t number, int *marks);

#endif
