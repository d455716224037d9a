/* benchmark.h - the benchmark, which compares all implementations on one model; and tune, which finds the best one. */
#ifndef BENCH_MEASURE_BENCHMARK_BENCHMARK_H
#define BENCH_MEASURE_BENCHMARK_BENCHMARK_H

#include "training/training.h"

/* Checks the options of a benchmark, and makes the rows of the comparison. Returns 0; or -1, reported. */
int benchmark_options_check(struct training_options *options, const struct option_table *table);

/* Runs the benchmark and writes its results. All ranks call it. Returns 0; or -1 on every rank, reported by rank 0. In
 * either case the results of all complete rounds have been written and printed. */
int benchmark_run(const struct job *job, const struct run_options *options, const struct command *command);

#define TUNE_SYNOPSIS "mpirun -n RANKS ddpbench tune" /* the command line, without its options */

/* Runs `ddpbench tune`, which finds the strategy and bucket size with the shortest step. All ranks call it. */
enum exit_status tune_main(const struct job *job, int argc, char *const argv[]);

/* ---- the search of `tune`: successive halving over candidates ----
 *
 * A stage is a few rounds of all candidates that are still in the search. At the end of a stage the slower half is
 * dropped (Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits, ICML 2013). The last few
 * candidates, the sizes next to the best one, and plans around it run in new rounds: the final. Its figures and
 * verdicts use these rounds alone, so that no candidate gains from luck in the rounds that selected it. */

enum search_state {
    SEARCH_CONTROL,  /* runs in every round, but is not a candidate */
    SEARCH_IN,       /* runs in the next round */
    SEARCH_RESERVE,  /* size between two others, or a plan, which may enter the final if it is next to the best */
    SEARCH_LEFT_OUT, /* does not run, since time is short; may still enter the final if it is next to the best */
    SEARCH_DROPPED,  /* was in the slower half of a stage */
    SEARCH_SLOWER    /* was significantly slower than the best in the final */
};

enum search_end {
    SEARCH_GOES_ON,
    SEARCH_BEST,   /* the best is significantly faster than all others of the final */
    SEARCH_WITHIN, /* all candidates left are within VERDICT_WITHIN of the best */
    SEARCH_TIME
};

struct search_row {
    enum search_state state;
    int series;      /* above 0: number of a strategy; its rows have its bucket sizes, in order */
    int is_plan;     /* 1: has buckets of several sizes; enters the final, if at all, with the best size */
    size_t from, to; /* the row's figures use rounds [from, to): of the final, or all if it was dropped */
    /* step / step of the best, as last compared; in the final over its rounds alone; ratio.n 0: not yet compared */
    struct against_best against;
};

struct search {
    int n;
    struct search_row row[MAX_IMPLEMENTATIONS];
    double limit, seconds; /* limit: seconds that all rounds may take; seconds: taken by the rounds so far */
    size_t rounds, blocks;
    int stage, stages;    /* stage: the current one, counted from 0; stages: estimated number before the final */
    size_t stage_from;    /* first round of the current stage */
    double stage_seconds; /* `seconds` when the current stage began */
    int final, looks;     /* final 1: the final has begun; looks 1: candidates are compared repeatedly and the final
                             may end early, with intervals that allow for this */
    int best;             /* row of the best candidate; -1 before the first comparison */
    enum search_end end;
};

/* Begins a search of `limit` seconds over row[n], whose state (CONTROL, IN or RESERVE) and series are set. If the
 * time is too short for all sizes, at block_seconds a block, leaves only every second (fourth, eighth ...) size of a
 * series IN, and makes the other sizes LEFT_OUT. */
void search_begin(struct search *search, double limit, double block_seconds);

/* Call after each round, `seconds` after the first round began: sets states, best and end. step[n][rounds]: the samples
 * of each row in seconds, finite in the rounds in which the row ran. */
void search_round(struct search *search, const double *const *step, size_t rounds, double seconds);

int search_count(const struct search *search, enum search_state state); /* returns the number of rows in a state */
int search_has_plans(const struct search *search);                      /* returns 1 if plans run in the next round */

/* ---- the command `tune` ---- */

struct tune_options {
    struct run_options run; /* run.training.implementation holds the candidates (candidates_make) */
    double max_minutes;
    struct search search; /* search.row holds the states of the candidates; the search itself runs on rank 0 */
};

/* Adds the options of `tune`, which fill *options, to a table. */
void tune_options_add(struct option_table *table, struct tune_options *options);

/* Checks the options (struct harness_command), and makes the candidates. line: a struct tune_options *. */
int tune_options_check(void *line, const struct option_table *table, int ranks, int on_gpus);

/* Runs the search and writes its results. line: a struct tune_options *. All ranks call it. Returns 0; or -1 on every
 * rank, reported by rank 0. In either case the results of all complete rounds have been written and printed. */
int tune_search(void *line, const struct job *job, const struct command *command);

/* Makes the rows of a search on a model with tensor[tensors], and their states and series: the control `none`; the
 * strategies that reduce without buckets; and each strategy with buckets at sizes of 2^(i/2) MiB, rounded to three
 * digits, from the smallest size that joins two tensors to the first power of two that makes a single bucket. Sizes
 * that make the same buckets share one row, with the greatest power of two among them, if there is one; sizes that are
 * no power of two are in reserve. So are the next CANDIDATE_PLANS rows of a strategy, for plans with buckets of several
 * sizes, which candidates_plan makes anew once the best size is known. Then come rows with a bucket for each
 * transformer block and, for ddp_bucketed, with PyTorch's default buckets, unless a size makes the same buckets.
 * Returns the number of rows, at most MAX_IMPLEMENTATIONS. */
enum { CANDIDATE_PLANS = 4 };
int candidates_make(struct implementation row[MAX_IMPLEMENTATIONS], struct search_row searched[MAX_IMPLEMENTATIONS],
                    const struct tensor *tensor, int tensors);

/* Makes row[CANDIDATE_PLANS] around a row with buckets of S MiB: the first bucket of S / 4; the last of S / 4; both;
 * and both, with sizes that double up to 2 S. is_new[p] becomes 1 if plan p differs from the plans before it and from
 * the plan with buckets of S. Keeps the strategies of the rows, which the caller has set; sets size and label. */
void candidates_plan(struct implementation *row, char is_new[CANDIDATE_PLANS], const struct implementation *around,
                     const struct tensor *tensor, int tensors);

/* Adds the figures of all candidates that ran, each over the rounds [from, to) of its search_row. Once the search has
 * compared candidates, adds to the summary which one to use, its cost, how the others compare with it, why the search
 * ended, and a table of all candidates that ran. implementation[i] and reducer[i] belong to search->row[i]. */
void answer_add(const struct search *search, const struct measurements *measurements,
                const struct implementation *implementation, const struct reducer *reducer, int busy, cJSON *summary,
                struct figure_list *figures);

#endif
