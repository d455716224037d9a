/* place.h - where a run ran, from its run.json. */
#ifndef BENCH_RESULTS_PLACE_H
#define BENCH_RESULTS_PLACE_H

#include <cJSON.h>
#include <stddef.h>

/* Each text is "" if run.json does not have it; control characters are replaced by spaces. */

/* The model of the GPU, or of the CPU of the first host. */
void place_machine(char *text, size_t size, const cJSON *run);

/* The machines that the ranks run on. All 0 if run.json does not have it. */
struct place {
    size_t machines;     /* kernels: fewer than hosts if containers or namespaces share one */
    size_t cpus;         /* logical CPUs of all machines */
    double memory_bytes; /* of all machines */
};
struct place place_of(const cJSON *run);

/* The link between the ranks: DDPBENCH_LINK of the run, or else the communication backend and the number of hosts; ""
 * for one rank. */
void place_link(char *text, size_t size, const cJSON *run);

#endif
