/* accelerator.c - the table of accelerators. */
#include "kernels/accelerator.h"

#include "kernels/device_cuda.h"

const struct accelerator *const accelerators[] = {&accelerator_cuda, NULL};
const char *const device_names[] = {"auto", "cpu", "cuda", NULL};
