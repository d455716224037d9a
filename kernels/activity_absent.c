/* activity_absent.c - replaces the GPU's tracer in a program built without CUPTI. */
#include "kernels/activity.h"

#include "kernels/error.h"

int tracer_start(struct activities *activities)
{
    (void)activities;
    return error_report(
        "the program was built without CUPTI, CUDA's tracing library; install it with the CUDA toolkit and "
        "build again");
}

void tracer_pause(void) {}

void tracer_resume(void) {}

void tracer_stop(void) {}
