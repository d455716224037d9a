/* tracer.c - the tracer of the CUDA parts. */
#include "kernels/activity.h"
#include "kernels/cuda_parts.h"
#include "kernels/error.h"

const struct tracer *tracer_find(void)
{
    const struct tracer *tracer = cuda_part("ddpbench_tracer");
    if (!tracer)
        error_report("the program's CUDA parts were built without CUPTI, CUDA's tracing library; install it with the "
                     "CUDA toolkit and build again");
    return tracer;
}
