/* on_device.c - opens the device under test and copies to and from it. */
#include "tests/support/on_device.h"

#include "kernels/device_cuda.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of_device(void)
{
    const char *name = getenv("TEST_DEVICE");
    return name ? name : "cpu";
}

int on_device_is_there(void)
{
    const char *name = name_of_device();
    if (!strcmp(name, "cpu"))
        return 1;
    if (!accelerator_cuda() || accelerator_cuda()->count() < 0) {
        printf("skip - on %s: %s\n", name, error_text());
        return 0;
    }
    setenv("CK_FORK", "no", 1);
    return 1;
}

const struct device *on_device(int rank)
{
    static const char *const names[PRECISIONS] = {"cuda", "cuda:tf32", "cuda:bf16"};
    const char *name = name_of_device();
    const struct device *device = NULL;
    if (!strcmp(name, "cpu"))
        return device_cpu(1);
    for (int i = 0; i < PRECISIONS; i++)
        if (!strcmp(name, names[i]) && accelerator_cuda()->open(rank % accelerator_cuda()->count(), (enum precision)i,
                                                                &(struct gpu_products){0}, &device))
            FATAL("%s", error_text());
    if (!device)
        FATAL("TEST_DEVICE is cpu, cuda, cuda:tf32 or cuda:bf16, not '%s'", name);
    return device;
}

float *on_host(const struct device *device, const float *memory, size_t n)
{
    float *copy = kept(allocate(n, sizeof *copy));
    device->download(copy, memory, n * sizeof *copy);
    return copy;
}

int32_t *to_device(const struct device *device, const int32_t *tokens, size_t n)
{
    int32_t *copy = device->allocate(n * sizeof *copy);
    device->upload(copy, tokens, n * sizeof *copy);
    return copy;
}

float float_of(const struct device *device, const float *memory)
{
    float x;
    device->download(&x, memory, sizeof x);
    return x;
}
