/* device_cuda_absent.c - takes the place of the CUDA device in a program built without a CUDA compiler. */
#include "kernels/device_cuda.h"

#include "kernels/error.h"

static int absent_count(void)
{
    return error_report("this program was built without CUDA; install the CUDA toolkit (nvcc) and build again");
}

static int absent_describe(int index, struct gpu_facts *gpu)
{
    (void)index, (void)gpu;
    return absent_count();
}

static int absent_identify(int index, struct gpu_facts *gpu)
{
    (void)index, (void)gpu;
    return -1;
}

static int absent_open(int index, enum precision precision, const struct device **device)
{
    (void)index, (void)precision, (void)device;
    return absent_count();
}

static void absent_profiler(int on)
{
    (void)on;
}

const struct accelerator accelerator_cuda = {"cuda",          "none",      absent_count,   absent_describe,
                                             absent_identify, absent_open, absent_profiler};
