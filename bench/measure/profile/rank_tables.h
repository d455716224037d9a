/* rank_tables.h - the tables of a profile that have a row for each rank. */
#ifndef BENCH_MEASURE_PROFILE_RANK_TABLES_H
#define BENCH_MEASURE_PROFILE_RANK_TABLES_H

#include "profile/summary.h"

/* Adds these tables to a summary. */
void profile_add_rank_tables(const struct profile *profile, cJSON *summary);

#endif
