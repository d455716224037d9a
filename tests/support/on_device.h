/* on_device.h - the device that a test of more than operations runs on: the CPU, or what TEST_DEVICE says. */
#ifndef TESTS_SUPPORT_ON_DEVICE_H
#define TESTS_SUPPORT_ON_DEVICE_H

#include "kernels/device.h"

#include <stddef.h>
#include <stdint.h>

/* Before any test: 0 where TEST_DEVICE asks for a GPU and there is none, after a line "skip - " with the reason. Where
 * there is one, tests run in this process, since GPUs do not survive a fork. */
int on_device_is_there(void);

/* TEST_DEVICE is cpu (or not set), cuda, cuda:tf32 or cuda:bf16; on a GPU number `rank` counts them around. */
const struct device *on_device(int rank);

/* A copy of n floats of its memory on the host; release with free. */
float *on_host(const struct device *device, const float *memory, size_t n);

/* A copy of n tokens in its memory; release with device->release. */
int32_t *to_device(const struct device *device, const int32_t *tokens, size_t n);

/* One float of its memory. */
float float_of(const struct device *device, const float *memory);

#endif
