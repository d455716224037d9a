/* device_traced.h - a device that runs the operations of another device and records them on a timeline. */
#ifndef KERNELS_DEVICE_TRACED_H
#define KERNELS_DEVICE_TRACED_H

#include "kernels/device.h"
#include "kernels/timeline.h"

/* Returns a table that forwards every call to `inner` and records operations on the compute lane (name and number from
 * operations.h, with sizes), ranges on the host lane and allocations as marks of the memory lane; uploads and downloads
 * are not recorded. A span has the times of the call and the return, and the times on the device; on the CPU both are
 * the same. On an asynchronous device, with stamps 1 the device's times are stamps: an operation lasts from the last
 * stamp before it to its own stamp, idle time included. With stamps 0 the device's times stay 0 until
 * activities_attribute gets them from the device's tracer. The table is static: a later call changes it for all users.
 */
const struct device *device_traced(const struct device *inner, struct timeline *timeline, int stamps);

#endif
