/* tracer.c - the tracer of the CUDA parts. */
#include "kernels/activity.h"
#include "kernels/cuda_parts.h"
#include "kernels/error.h"

static const struct tracer *tracer; /* NULL: it was never started */

int tracer_start(struct activities *activities)
{
    if (!tracer)
        tracer = cuda_part("ddpbench_tracer");
    if (!tracer)
        return error_report(
            "the program's CUDA parts were built without CUPTI, CUDA's tracing library; install it with "
            "the CUDA toolkit and build again");
    return tracer->start(activities);
}

void tracer_pause(void)
{
    if (tracer)
        tracer->pause();
}

void tracer_resume(void)
{
    if (tracer)
        tracer->resume();
}

void tracer_stop(void)
{
    if (tracer)
        tracer->stop();
}
