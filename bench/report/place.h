/* place.h - where a run ran, in words, from its run.json. */
#ifndef BENCH_REPORT_PLACE_H
#define BENCH_REPORT_PLACE_H

#include <cJSON.h>
#include <stddef.h>

/* What computes: the GPU, or the CPU of the first host. "" where the run does not say. Control characters
 * are spaces, here and below. */
void place_machine(char *text, size_t size, const cJSON *run);

/* The kernels that its ranks run under, which is fewer than hosts where containers or namespaces share one, and the
 * logical CPUs and bytes of memory of these together. All 0 where the run does not say. */
struct place {
    size_t machines, cpus;
    double memory_bytes;
};
struct place place_of(const cJSON *run);

/* What joins its ranks: its name, if it was given one, or what sends and between how many hosts; "" of one rank, and
 * where the run does not say. Control characters are spaces. */
void place_link(char *text, size_t size, const cJSON *run);

#endif
