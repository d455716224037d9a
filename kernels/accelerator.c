/* accelerator.c - the table of accelerators. */
#include "kernels/accelerator.h"

#include "kernels/cuda_parts.h"
#include "kernels/device_cuda.h"

const struct accelerator *accelerator_cuda(void)
{
    return cuda_part("ddpbench_accelerator");
}

const struct accelerator *(*const accelerators[])(void) = {accelerator_cuda, NULL};
const char *const device_names[] = {"auto", "cpu", "cuda", NULL};
