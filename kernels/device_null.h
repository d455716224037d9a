/* device_null.h - a device whose operations do nothing: the time of a step on it is the harness's own. */
#ifndef KERNELS_DEVICE_NULL_H
#define KERNELS_DEVICE_NULL_H

#include "kernels/device.h"

/* Allocates like the CPU (zeroed, and untouched until first used); every other operation returns at once. */
const struct device *device_null(void);

#endif
