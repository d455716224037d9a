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

/* Each adds one section: how well the replay gives the run's own steps; the predicted steps; the best of them, and what
 * limits it; the bandwidth that is needed. */
void prediction_add_replay(cJSON *document, const struct points_model *model);
void prediction_add_steps(cJSON *document, const struct points_model *model, const struct prediction *prediction);
void prediction_add_answers(cJSON *document, const struct prediction *prediction);
void prediction_add_bandwidths(cJSON *document, const struct points_model *model, const struct prediction *prediction);

/* Prints the points as comma-separated values. */
void prediction_print_csv(FILE *out, const struct prediction *prediction);

#endif
