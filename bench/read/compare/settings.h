/* settings.h - the settings of runs as keys and values, and differences between runs. In keys, - equals _. */
#ifndef BENCH_READ_COMPARE_SETTINGS_H
#define BENCH_READ_COMPARE_SETTINGS_H

#include "results/saved_run.h"

#include <cJSON.h>

/* Runs that differ in a SETTING are incomparable unless --allow permits that. A difference in a LISTED key is only
 * reported: LISTED are the environment, and options that do not change what is measured, such as --rounds. */
enum { SETTING, LISTED, SETTING_KINDS };

/* A run, and its settings of each kind as a JSON object of strings; the first SETTING is the mode. */
struct compare_run {
    struct saved_run saved;
    double began; /* seconds since 1970; 0: not known */
    cJSON *setting[SETTING_KINDS];
};

/* Reads the run in a directory. Names of the run and its files (label, output, times), and values that follow from
 * other values, do not become settings. Returns 0; or -1, reported. Release with compare_run_destroy in either case. */
int compare_run_read(struct compare_run *run, const char *directory);
void compare_run_destroy(struct compare_run *run); /* frees all members, which may be 0 */

/* Appends to an array the differences between the first baseline and another run, unless the array has them: {key,
 * baseline and other (the values; null: the run lacks the key), side (such as "candidate"), environment (true: only
 * reported), allowed}. A key that one run lacks is only reported, since versions of the program differ in options. */
void differences_add(cJSON *differences, const struct compare_run *baseline, const struct compare_run *other,
                     const char *side);

/* Marks differences as allowed: list is a comma-separated list of keys, or `all`. Returns 0; or -1, reported, if a word
 * is neither a key of the baseline nor of a difference. */
int differences_allow(cJSON *differences, const char *list, const struct compare_run *baseline);

/* Returns what a difference means: it makes runs incomparable; it is only reported; or it is allowed. */
enum difference_kind { DIFFERENCE_REFUSED, DIFFERENCE_LISTED, DIFFERENCE_ALLOWED };
enum difference_kind difference_kind(const cJSON *difference);

#endif
