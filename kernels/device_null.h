/* device_null.h - a device whose operations do nothing: what a step on it takes is the harness's own time. */
#ifndef KERNELS_DEVICE_NULL_H
#define KERNELS_DEVICE_NULL_H

#include "kernels/device.h"

/* Allocates like the CPU (zeroed, and not touched until somebody else does); every other operation returns at once. */
const struct device *device_null(void);

#endif
