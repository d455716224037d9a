/* delayed_device.h - host memory that pretends to be a device's: the host cannot reach it, and every operation and copy
 * is put off as long as the rules allow. */
#ifndef TESTS_SUPPORT_DELAYED_DEVICE_H
#define TESTS_SUPPORT_DELAYED_DEVICE_H

#include "kernels/device.h"

/* Memory, synchronize, zero and the copies beside the operations are there, and nothing else. Operations and copies are
 * done in order on their two lanes, but when is up to a random generator: a few at most whenever somebody asks for a
 * mark, all operations in download and synchronize. A host access to the device's memory ends the process. The table is
 * static. */
const struct device *delayed_device(void);

/* Calls that were not allowed, since the process began: two threads in stage_in at once, marks that do not exist,
 * memory released while a copy to or from it was put off. */
int delayed_device_wrong(void);

#endif
