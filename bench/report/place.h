/* place.h - where a run ran, in words, from its run.json. */
#ifndef BENCH_REPORT_PLACE_H
#define BENCH_REPORT_PLACE_H

#include <cJSON.h>
#include <stddef.h>

/* What computes: the GPU, or the CPU of the first host. "" where the run does not say. Control characters
 * are spaces, here and below. */
void place_machine(char *text, size_t size, const cJSON *run);

/* What joins its ranks: its name, if it was given one, or what sends and between how many hosts; "" of one rank, and
 * where the run does not say. Control characters are spaces. */
void place_link(char *text, size_t size, const cJSON *run);

#endif
