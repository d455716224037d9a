/* run.h - one run that is compared: what it left, and the settings it was made with. */
#ifndef BENCH_COMPARE_RUN_H
#define BENCH_COMPARE_RUN_H

#include "compare/settings.h"
#include "results/results.h"

struct compare_run {
    struct saved_run saved;
    struct settings settings; /* the mode first */
};

/* Reads the results in a directory. What only names a run or says where its files go (label, output, times) is no
 * setting, nor is what follows from others. Returns 0; or -1, reported. Release with destroy in either case. */
int compare_run_read(struct compare_run *run, const char *directory);
void compare_run_destroy(struct compare_run *run); /* a zeroed one is fine */

#endif
