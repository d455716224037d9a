/* sections.h - the sections of a prediction, as parts of a document. */
#ifndef BENCH_READ_PREDICT_SECTIONS_H
#define BENCH_READ_PREDICT_SECTIONS_H

#include "predict/points.h"

#include <cJSON.h>
#include <stdio.h>

/* The points of each number of ranks, one number after the other: [groups * n]. */
struct prediction {
    struct point *point;
    size_t groups, n;
};

/* A point beside the step that a run measured for it. */
struct checked {
    struct point point;
    double measured, error, attainable_error, sum_error; /* seconds; predicted / measured - 1 */
    const char *covered;                                 /* whether the interval contains the measured step: yes or no */
};

/* Each adds one section: how well the replay gives the run's own steps; the predicted steps; the best of them, where
 * its time goes and what limits it; the bandwidth that is needed; predictions beside a run's steps. */
void prediction_add_replay(cJSON *document, const struct points_model *model, const struct points_replayed *row);
void prediction_add_steps(cJSON *document, const struct points_model *model, const struct prediction *prediction);
void prediction_add_answers(cJSON *document, const struct points_model *model, const struct prediction *prediction);
void prediction_add_bandwidths(cJSON *document, const struct points_model *model, const struct prediction *prediction);
void prediction_add_check(cJSON *document, struct checked *row, size_t n);

/* Print the points, or the checked points, as comma-separated values. */
void prediction_print_csv(FILE *out, const struct prediction *prediction);
void prediction_print_check_csv(FILE *out, const struct checked *row, size_t n);

#endif
