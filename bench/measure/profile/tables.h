/* tables.h - the tables of a profile. */
#ifndef BENCH_MEASURE_PROFILE_TABLES_H
#define BENCH_MEASURE_PROFILE_TABLES_H

#include "profile/summary.h"

/* Adds all tables to a summary (results_summary_create). */
void profile_add_tables(const struct profile *profile, cJSON *summary);

#endif
