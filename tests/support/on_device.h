/* on_device.h - opens the device for tests of models and training: the CPU, or the device named by TEST_DEVICE. */
#ifndef TESTS_SUPPORT_ON_DEVICE_H
#define TESTS_SUPPORT_ON_DEVICE_H

#include "kernels/device.h"

#include <stddef.h>
#include <stdint.h>

/* Returns 1; or 0, after printing a line "skip - " with the reason, if TEST_DEVICE names a GPU and there is none. For a
 * GPU, makes all tests run in one process, as CUDA does not work after a fork; so call it before any test. */
int on_device_is_there(void);

/* Opens the device of TEST_DEVICE: cpu (the default), cuda, cuda:tf32 or cuda:bf16; ranks share GPUs round-robin. */
const struct device *on_device(int rank);

/* Copies n floats from the device to host memory, valid until the test ends. */
float *on_host(const struct device *device, const float *memory, size_t n);

/* Copies n tokens to new memory of the device; release with device->release. */
int32_t *to_device(const struct device *device, const int32_t *tokens, size_t n);

/* Returns one float from the device's memory. */
float float_of(const struct device *device, const float *memory);

#endif
