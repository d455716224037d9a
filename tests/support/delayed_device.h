/* delayed_device.h - a device whose memory the host cannot access; delays operations and copies as device.h allows. */
#ifndef TESTS_SUPPORT_DELAYED_DEVICE_H
#define TESTS_SUPPORT_DELAYED_DEVICE_H

#include "kernels/device.h"

/* Returns a device that has only memory, synchronize, zero and asynchronous copies. Operations are done in their order,
 * and so are copies, at random times: at most a few whenever a mark is tested, and all operations in download and
 * synchronize. A host access to the device's memory ends the process. The returned table is static. */
const struct device *delayed_device(void);

/* Returns the number of forbidden calls since the process began: two threads in stage_in at once, marks that do not
 * exist, memory released during a delayed copy to or from it. */
int delayed_device_wrong(void);

#endif
