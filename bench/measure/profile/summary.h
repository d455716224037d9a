/* summary.h - a profile, and the parts of its summary. */
#ifndef BENCH_MEASURE_PROFILE_SUMMARY_H
#define BENCH_MEASURE_PROFILE_SUMMARY_H

#include "base/figures.h"
#include "profile/findings.h"

enum { SHOWN = 8 }; /* rows of a long table that are printed without --verbose */

struct profile {
    const struct profile_options *options;
    int row;                         /* index of the profile's implementation among those of the run */
    char name[IMPLEMENTATION_LABEL]; /* start of the names of the profile's files: the label, with . in place of : */
    struct results *results;
    struct profile_facts facts;
    struct capture capture;
    struct profile_figures figures; /* figures of the captured steps */
    struct totals totals;
    struct controls controls;
    struct estimate step_to_shortest; /* step / the shortest step of any profile; set by profiles_add_comparison */
    char overlap[OVERLAP_VERDICT];
    struct findings findings;
    const struct link_rates *links; /* [facts.hosts]; NULL: not measured (one host, or GPUs communicate directly) */
};

/* Adds to the summary which steps were captured, and what their traces lack. */
void profile_add_capture(const struct profile *profile, cJSON *summary);

/* Adds to the summary where the time of a step goes, whether communication overlapped, and the findings. */
void profile_add_answers(const struct profile *profile, cJSON *summary);

/* Adds every figure of a profile to a list. */
void profile_add_figures(const struct profile *profile, struct figure_list *list);

/* Adds all tables to a summary; for those with a row for each rank, it calls profile_add_rank_tables. */
void profile_add_tables(const struct profile *profile, cJSON *summary);
void profile_add_rank_tables(const struct profile *profile, cJSON *summary);

/* Compares n profiles of one run over the complete rounds. Adds the answers of each profile and the tables to the
 * summary, and every figure of the comparison to the list. */
void profiles_add_comparison(struct profile *profile, int n, const struct measurements *measurements,
                             double round_seconds, cJSON *summary, struct figure_list *list);

#endif
