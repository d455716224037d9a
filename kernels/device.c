/* device.c - the names of the precisions. */
#include "kernels/device.h"

const char *const precision_name[PRECISIONS + 1] = {"fp32", "tf32", "bf16", NULL};
