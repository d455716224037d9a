/* device_null.h - a device whose operations do nothing, to measure the overhead of the harness. */
#ifndef KERNELS_DEVICE_NULL_H
#define KERNELS_DEVICE_NULL_H

#include "kernels/device.h"

/* Returns a device that allocates zeroed memory without touching it; every other operation returns immediately. */
const struct device *device_null(void);

#endif
