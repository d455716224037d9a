/* option_lists.h - values of options that are made of several words; used by options.c. All return 0, or -1, reported,
 * with the output unchanged. */
#ifndef OPTION_LISTS_H
#define OPTION_LISTS_H

#include "options.h"

/* A finite number, the whole text; -1 without a report. */
int option_number(const char *text, double *value);

/* Makes the rows of the comparison from --implementations and --bucket-size-mb, or those of --profile. */
int option_implementations(struct options *options);

/* rank=R,ms=TIME,phase=NAME, and back. */
int option_delay(const char *text, struct delay *delay);
void option_print_delay(const struct delay *delay, char *text, size_t size);

/* Changes those that are listed as name=percent, and back. */
int option_thresholds(const char *text, struct thresholds *thresholds);
void option_print_thresholds(const struct thresholds *thresholds, char *text, size_t size);

int option_sort(const char *text, enum sort *sort);
int option_activities(const char *text);

#endif
