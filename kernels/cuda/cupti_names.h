/* cupti_names.h - the names of what CUPTI records, which outlive its records. */
#ifndef KERNELS_CUDA_CUPTI_NAMES_H
#define KERNELS_CUDA_CUPTI_NAMES_H

#include "kernels/cuda/cupti_library.h"

/* Of a kernel, demangled; CUPTI hands out the same pointer for all records of a kernel. */
const char *cupti_kernel_name(const char *mangled);

/* Such as "Memcpy HtoD (Pinned -> Device)", "Memset (Device)" and "Stream Wait Event": the words of PyTorch's Kineto.
 */
const char *cupti_copy_name(unsigned kind, unsigned from, unsigned to);
const char *cupti_fill_name(unsigned memory);
const char *cupti_wait_name(unsigned type);

/* A call of the runtime (driver 0) or the driver: NULL for one that makes the GPU do nothing and waits for nothing,
 * such as cudaGetLastError, and for all of the driver's but launches: what the runtime calls for itself is the
 * runtime's. marks: whether it records an event. */
const char *cupti_call_name(const struct cupti *cupti, int driver, uint32_t number, int *marks);

#endif
