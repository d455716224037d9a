/* summary.h - a profile, and the parts of its summary. */
#ifndef BENCH_MEASURE_PROFILE_SUMMARY_H
#define BENCH_MEASURE_PROFILE_SUMMARY_H

#include "ddp/links.h"
#include "profile/controls.h"
#include "profile/figures.h"
#include "results/criteria.h"

enum { SHOWN = 8 }; /* rows of a long table that are printed without --verbose */

enum { OVERLAP_VERDICT = 640 };

struct profile {
    const struct profile_options *options;
    int row;                         /* index of the profile's implementation among those of the run */
    char name[IMPLEMENTATION_LABEL]; /* start of the names of the profile's files: the label, with . in place of : */
    struct results *results;         /* own_results; or if the run has no other profile, those of the run */
    struct results own_results;      /* beside those of the run, which are then of the comparison */
    struct profile_facts facts;
    struct capture capture;
    struct profile_figures figures; /* figures of the captured steps */
    struct totals totals;
    struct controls controls;
    struct estimate step_to_shortest; /* step / the shortest step of any profile; set by profiles_add_comparison */
    char overlap[OVERLAP_VERDICT];
    struct criterion criterion[CRITERIA]; /* set with the findings */
    struct finding finding[10]; /* [findings] where the captured steps lose time, at most one of each name, sorted */
    int findings;
    const struct link_rates *links; /* [facts.hosts]; NULL: not measured (one host, or GPUs communicate directly) */
};

/* Writes profile->overlap: in a sentence or two whether communication overlapped, with the efficiency and its interval,
 * or why it did not. Reads facts, figures and controls, which may have no round yet. */
void overlap_verdict_write(struct profile *profile);

/* Fills profile->criterion[] and profile->finding[]: the figures beyond their thresholds. Reads what is above them; the
 * controls may have no round. */
void findings_create(struct profile *profile);

/* Adds to the summary which steps were captured, what their traces lack, where the time of a step goes, whether
 * communication overlapped, and the findings; and every figure of the profile to the list. */
void profile_add_results(const struct profile *profile, cJSON *summary, struct figure_list *list);

/* Adds all tables to a summary; for those with a row for each rank, it calls profile_add_rank_tables. */
void profile_add_tables(const struct profile *profile, cJSON *summary);
void profile_add_rank_tables(const struct profile *profile, cJSON *summary);

/* Compares n profiles of one run over the complete rounds. Adds the answers of each profile and the tables to the
 * summary, and every figure of the comparison to the list. */
void profiles_add_comparison(struct profile *profile, int n, const struct measurements *measurements,
                             double round_seconds, cJSON *summary, struct figure_list *list);

#endif
