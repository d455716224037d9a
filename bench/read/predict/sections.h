/* sections.h - the sections of a prediction, as parts of a document. */
#ifndef BENCH_READ_PREDICT_SECTIONS_H
#define BENCH_READ_PREDICT_SECTIONS_H

#include "predict/points.h"

#include <cJSON.h>
#include <stdio.h>

/* Predictions, what they were made from, and the document about them. */
struct prediction {
    cJSON *document;
    cJSON *figures; /* array of {subject, ranks, link, name, unit, value, low, high, basis} of each number of a point */
    struct points_model model;
    struct point *point; /* [groups, n]: a group for each number of ranks */
    size_t groups, n;
};

/* Each adds one section to the document: how well the replay gives the run's own steps; the predicted steps; the best
 * of them, and what limits it; the bandwidth that is needed. Steps and bandwidths also go into the figures. */
void prediction_add_replay(const struct prediction *prediction);
void prediction_add_steps(const struct prediction *prediction);
void prediction_add_answers(const struct prediction *prediction);
void prediction_add_bandwidths(const struct prediction *prediction);

/* Prints the points of a prediction as comma-separated values. */
void prediction_print_csv(FILE *out, const void *prediction);

#endif
