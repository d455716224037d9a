/* on_device.h - the device for tests of more than single operations: the CPU, or the device named by TEST_DEVICE. */
#ifndef TESTS_SUPPORT_ON_DEVICE_H
#define TESTS_SUPPORT_ON_DEVICE_H

#include "kernels/device.h"

#include <stddef.h>
#include <stdint.h>

/* Must be called before any test. Returns 0, after a line "skip - " with the reason, if TEST_DEVICE names a GPU and
 * there is no GPU. On a GPU, tests run in this process, since CUDA does not work after a fork. */
int on_device_is_there(void);

/* Opens the device of TEST_DEVICE: cpu (or not set), cuda, cuda:tf32 or cuda:bf16; ranks use GPUs round-robin. */
const struct device *on_device(int rank);

/* Copies n floats from the device to new host memory; release with free. */
float *on_host(const struct device *device, const float *memory, size_t n);

/* Copies n tokens to new memory of the device; release with device->release. */
int32_t *to_device(const struct device *device, const int32_t *tokens, size_t n);

/* Returns one float from the device's memory. */
float float_of(const struct device *device, const float *memory);

#endif
