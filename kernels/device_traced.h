/* device_traced.h - a device whose operations are recorded on a timeline as another one runs them. */
#ifndef KERNELS_DEVICE_TRACED_H
#define KERNELS_DEVICE_TRACED_H

#include "kernels/device.h"
#include "kernels/timeline.h"

/* A table that hands every call on to `inner` and records each operation on the compute lane (name and number from
 * operations.h, with its sizes) and each range on the host lane: from the call to the return, and when the device did
 * them, which is the same on a device that finishes before it returns. On others `stamps` says who knows: 1: a stamp
 * behind each operation, so that an operation lasts from the last stamp before it, an operation's or a caller's, to
 * its own, time without work included; 0: the tracer of the device, whose records activities_attribute reads; until
 * then these times are 0. Allocations are marks of the memory lane; uploads and downloads are not recorded. The table
 * is static: a later call changes inner, timeline and stamps for all. */
const struct device *device_traced(const struct device *inner, struct timeline *timeline, int stamps);

#endif
