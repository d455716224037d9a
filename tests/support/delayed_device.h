/* delayed_device.h - a device that does its work late, as device.h allows; the host cannot access its memory. */
#ifndef TESTS_SUPPORT_DELAYED_DEVICE_H
#define TESTS_SUPPORT_DELAYED_DEVICE_H

#include "kernels/device.h"

/* Returns a device that has only memory, synchronize, zero and copies. It does operations in the order of issue, and
 * asynchronous copies too, but late: a random few in each call of stage_reached, and all operations in download,
 * synchronize and release. A host access to the device's memory ends the process. The returned table is static. */
const struct device *delayed_device(void);

/* Returns the number of forbidden calls since the process began: two threads in stage_in at once, marks that do not
 * exist, memory or marks released before all asynchronous copies are done. */
int delayed_device_wrong(void);

#endif
