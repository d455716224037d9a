/* settings.h - the settings of runs as keys and values, and the differences between them. Keys that differ only in -
 * and _ are equal. */
#ifndef BENCH_READ_COMPARE_SETTINGS_H
#define BENCH_READ_COMPARE_SETTINGS_H

#include "results/results.h"

#include <cJSON.h>

/* Runs that differ in a SETTING are incomparable unless that is allowed. A difference in what is LISTED is only
 * reported: the environment, and options that do not change what is measured, such as the number of samples. */
enum { SETTING, LISTED, SETTING_KINDS };

/* A run, and its settings as objects of strings; the mode is the first. */
struct compare_run {
    struct saved_run saved;
    cJSON *setting[SETTING_KINDS];
};

/* Reads the results in a directory. Names of the run and its files (label, output, times), and values that follow from
 * others, are no settings. Returns 0; or -1, reported. Release with destroy in either case. */
int compare_run_read(struct compare_run *run, const char *directory);
void compare_run_destroy(struct compare_run *run); /* a zeroed one is fine */

/* Adds a setting to an object of settings, or replaces it. */
void settings_add(cJSON *settings, const char *key, const char *value);

/* Appends the differences of another run from the first baseline to an array, each once: {key, baseline, other (null
 * for a run without the key), side (such as "candidate"), environment (it is only listed), allowed}. A key that one run
 * lacks is only listed, since other versions of the program have other options. */
void differences_add(cJSON *differences, const struct compare_run *baseline, const struct compare_run *other,
                     const char *side);

/* Marks differences as allowed, by a comma-separated list of keys, or `all`. Returns 0; or -1, reported: a word is
 * neither a key of the baseline nor of a difference. */
int differences_allow(cJSON *differences, const char *list, const struct compare_run *baseline);

/* Whether a difference makes runs incomparable: it is neither allowed nor only listed. */
int difference_is_refused(const cJSON *difference);

#endif
