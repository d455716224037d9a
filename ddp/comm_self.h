/* comm_self.h - collectives of a single rank. */
#ifndef DDP_COMM_SELF_H
#define DDP_COMM_SELF_H

#include "ddp/comm.h"
#include "kernels/device.h"

/* Creates the comm of a single rank. The host must be able to read the device's memory. timeline NULL: records no
 * spans. */
struct comm *comm_self_create(const struct device *device, struct timeline *timeline);

#endif
