/* device_cuda_absent.c - takes the place of the CUDA device where no CUDA compiler was found. */
#include "kernels/device_cuda.h"

#include "kernels/error.h"

int device_cuda_count(void)
{
    return error_report("this program was built without CUDA; install the CUDA toolkit (nvcc) and build again");
}

int device_cuda_describe(int index, struct gpu_facts *gpu)
{
    (void)index, (void)gpu;
    return device_cuda_count();
}

int device_cuda_look(int index, struct gpu_facts *gpu)
{
    (void)index, (void)gpu;
    return -1;
}

int device_cuda_open(int index, enum precision precision, const struct device **device)
{
    (void)index, (void)precision, (void)device;
    return device_cuda_count();
}

void device_cuda_profiler(int on)
{
    (void)on;
}

const char *device_cuda_built(void)
{
    return "none";
}
