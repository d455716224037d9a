/* calibration.h - how fast the machine computes in a later run, from its steps of `none` or `ddp_flat`. */
#ifndef BENCH_READ_PREDICT_CALIBRATION_H
#define BENCH_READ_PREDICT_CALIBRATION_H

#include "predict/trained.h"

#include <stddef.h>

/* A step of the later run, in which no communication overlaps. */
struct calibration {
    const struct strategy *strategy; /* `none`, or ddp_flat if the run lacks it; NULL: there is no later run */
    size_t ranks;
    double step, error; /* its figure `step` in seconds; the standard error of its logarithm, from the 95 % interval
                           as Student's t; with --resolve, whose interval is wider, too large */
};

/* Reads the step from the summary of a run of the benchmark with the model, the batch of a rank and the device of
 * `trained`. Returns 0; or -1, reported, if the directory cannot be read, holds an unfinished run or one of another
 * command, model, batch or device, or if the run has neither `none` nor ddp_flat in fp32 with an interval. */
int calibration_read(struct calibration *calibration, const char *directory, const struct trained *trained);

#endif
