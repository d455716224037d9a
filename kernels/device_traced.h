/* device_traced.h - a device whose operations are recorded on a timeline as another one runs them. */
#ifndef KERNELS_DEVICE_TRACED_H
#define KERNELS_DEVICE_TRACED_H

#include "kernels/device.h"
#include "kernels/timeline.h"

/* A table that hands every call on to `inner` and records each operation on the compute lane (name and number from
 * operations.h, with its sizes) and each range on the host lane: from the call to the return, and by stamps of the
 * device when it did them, which is the same on a device that finishes before it returns. Allocations are marks of the
 * memory lane; uploads and downloads are not recorded. Costs two stamps and one span. The table is static: a later call
 * changes inner and timeline for all. */
const struct device *device_traced(const struct device *inner, struct timeline *timeline);

#endif
