/* step_profile.h - what a training step computes: its tensors, and when it is done with each. A run of the benchmark
 * writes it; predictions read it. */
#ifndef BENCH_RESULTS_STEP_PROFILE_H
#define BENCH_RESULTS_STEP_PROFILE_H

#include "ddp/tensors.h"

#include <cJSON.h>
#include <stdio.h>

/* A step without communication, in seconds: when, from its start, the first forward and the last backward end and each
 * gradient is final; the duration of the optimizer, `update`; and the duration of all else, `rest`. */
struct step_compute {
    double forward_end, backward_end, update, rest;
    double *ready; /* [tensors], owned; the gradient of tensor 0 is the last to be final */
    int tensors;
};

/* The tensors of a model, placed in the arena, and steps that compute their gradients. */
struct step_profile {
    struct tensor *tensor; /* [tensors], owned */
    int tensors;
    size_t arena;              /* floats of the gradient */
    struct step_compute *step; /* [steps], owned */
    size_t steps;
};

/* Returns a step whose times are all 0. The caller frees `ready`. */
struct step_compute step_compute_create(int tensors);

/* Sets the times of *to, whose `ready` has room, to those of *from x `scale`; or, if add is 1, adds these products. */
void step_compute_add(struct step_compute *to, const struct step_compute *from, double scale, int add);

/* Allocates `steps` steps whose times are all 0. step_profile_destroy releases tensors and steps. */
void step_profile_create_steps(struct step_profile *profile, size_t steps);
void step_profile_destroy(struct step_profile *profile); /* a zeroed profile is fine */

/* Add the tensors to run.json, and a step to a line of a rank's metrics, each member after a comma and in ms. */
void step_profile_add_tensors(cJSON *run, const struct tensor *tensor, int tensors, size_t arena);
void step_compute_print(FILE *out, const struct step_compute *compute);

/* Reads the tensors of a run.json: sets offset, count, joined and layer of each. Returns 0; or -1, reported. */
int step_profile_read_tensors(struct step_profile *profile, const char *directory, const cJSON *run);

/* Raises the times of a step, but for `rest`, to those of a line of metrics that are longer, so that the lines of all
 * ranks give the slowest rank's times. Returns 0; or -1, not reported, if a time is lacking or not possible. */
int step_compute_raise(struct step_compute *compute, const cJSON *line);

/* Raises n values, the first at `first` and each next one `bytes` after it, to the times (ms) in array[n] if these are
 * longer. Returns 0; or -1, not reported, if the array does not hold n times. */
int times_raise(const cJSON *array, int n, size_t bytes, void *first);

/* Returns milliseconds in seconds; NAN if they are negative, far too long or no number. */
double times_seconds(double ms);

#endif
