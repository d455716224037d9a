/* settings.h - with what runs were made, as keys and values, and in what they differ. In keys - and _ are the same. */
#ifndef BENCH_READ_COMPARE_SETTINGS_H
#define BENCH_READ_COMPARE_SETTINGS_H

#include "results/results.h"

#include <cJSON.h>

/* A difference of a setting makes runs incomparable unless it is allowed. One of the environment is listed, and so is
 * one of an option that does not change what is measured, such as how many samples are taken. */
enum { SETTING, LISTED, SETTING_KINDS };

/* One run that is compared: what it left, and the settings it was made with, as objects of strings; the mode first. */
struct compare_run {
    struct saved_run saved;
    cJSON *setting[SETTING_KINDS];
};

/* Reads the results in a directory. What only names a run or says where its files go (label, output, times) is no
 * setting, nor is what follows from others. Returns 0; or -1, reported. Release with destroy in either case. */
int compare_run_read(struct compare_run *run, const char *directory);
void compare_run_destroy(struct compare_run *run); /* a zeroed one is fine */

/* Adds a value to an object of them, or replaces it. */
void settings_add(cJSON *settings, const char *key, const char *value);

/* Appends to an array in what another run differs from the first baseline, but for what was listed of one like it:
 * {key, baseline, other (null where one does not have the key), side, such as "candidate", environment (it is only
 * listed), allowed}. A key that one side lacks is only listed: another version of the program has other options. */
void differences_add(cJSON *differences, const struct compare_run *baseline, const struct compare_run *other,
                     const char *side);

/* Marks as allowed the keys of a comma list, in which `all` stands for every key. Returns 0; or -1, reported: a word
 * that is no key of the baseline nor of a difference. */
int differences_allow(cJSON *differences, const char *list, const struct compare_run *baseline);

/* Whether a difference makes runs incomparable: it is neither allowed nor only listed. */
int difference_is_refused(const cJSON *difference);

#endif
