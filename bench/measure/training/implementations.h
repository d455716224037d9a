/* implementations.h - the rows of a comparison, and the options that they are made from. */
#ifndef BENCH_MEASURE_TRAINING_IMPLEMENTATIONS_H
#define BENCH_MEASURE_TRAINING_IMPLEMENTATIONS_H

#include "base/option_table.h"
#include "ddp/comm.h"
#include "ddp/step.h"

enum { MAX_IMPLEMENTATIONS = 64, IMPLEMENTATION_LABEL = 120 };

/* A bucket size: the caps of a plan, and as --bucket-size-mb takes them, such as 25 or 1+4+25+last0.25. */
enum { BUCKET_WORDS = 50 };
struct bucket_size {
    char words[BUCKET_WORDS];
    struct bucket_caps caps;
};

/* Parses the words of a bucket size. option: the option that has them; before: what an error message puts before "sizes
 * in MiB". Returns 0; or -1, reported. */
int bucket_size_parse(struct bucket_size *size, const char *option, const char *before, const char *words);

/* A row of the comparison: a strategy and a variant of it, a label, and a bucket size if the strategy has buckets. */
struct implementation {
    char label[IMPLEMENTATION_LABEL];
    const struct strategy *strategy;
    enum variant variant;
    struct bucket_size size; /* words "": the strategy has no buckets */
    size_t number;           /* N of NAME:N; 0 if the strategy has no number */
    int traced;              /* 1: while the row runs, the device's operations are recorded */
    int after_backward;      /* 1: the row's collectives wait until backward ends (the control without overlap) */
    int captured;            /* 1: a profile captures the row; the uncaptured rows right after it are its controls */
    const char *twin_of;     /* label of a row of another strategy that runs the same operations; NULL: none */
};

/* Returns the traits of a row's variant. */
static inline const struct traits *implementation_traits(const struct implementation *row)
{
    return row->strategy->traits[row->variant];
}

/* Returns 1 if a row may be the best: its strategy may be, and the row is not a twin of another. 0: it is a control. */
int implementation_is_compared(const struct implementation *row);

/* Sets twin_of in row[n], for `ranks` ranks, local_size on each host. If a row's strategy is replaced by another one
 * (strategy_used), it is the twin of that strategy's row with the same buckets, as only chance could rank the two. */
void implementations_mark_twins(struct implementation *row, int n, int ranks, int local_size);

/* --implementations: a list of NAME or LABEL=NAME, where NAME may be NAME:SIZE with a bucket size, and is NAME:N for a
 * strategy with a number; or `all`: every strategy without a number, labelled with its name. */
struct strategy_list {
    int n;
    struct {
        char label[41];
        const struct strategy *strategy;
        size_t number;           /* 0: the strategy has none */
        struct bucket_size size; /* words "": the sizes of --bucket-size-mb */
    } item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_strategies;

/* --bucket-size-mb: the sizes given; or, if automatic is 1, a single size that workload_check chooses. */
struct bucket_sizes {
    int n, automatic;
    struct bucket_size item[MAX_IMPLEMENTATIONS];
};
extern const struct option_kind option_buckets;

/* --shard: what is divided among the ranks. */
enum sharding { SHARD_OPTIMIZER, SHARD_GRADIENTS, SHARDINGS };
extern const char *const sharding_name[SHARDINGS + 1]; /* optimizer, gradients, NULL */

/* --inject-delay: which rank sleeps at the start of which phase, and for how long. */
struct delays {
    int n;
    struct delay {
        int rank;
        double ms;
        enum step_phase phase;
    } item[16];
};
extern const struct option_kind option_delay;

/* Makes the rows of a comparison: for each strategy, and each bucket size if it has buckets, a row of every variant
 * that it has and that is asked for. wires (--wire-dtype) is a set of 1 << enum comm_dtype, and shards (--shard) of 1
 * << enum sharding; update 1 adds a row that updates early. A row's label is the strategy's label; then :SIZE if there
 * are several sizes; then :update, or :bf16 or :gradients if the plain row exists, too. Returns the number of rows; or
 * -1, reported, if there are too many, two have one label, or none uses the given sizes, types, shards or update. */
int implementations_make(struct implementation row[MAX_IMPLEMENTATIONS], const struct strategy_list *strategies,
                         const struct bucket_sizes *sizes, unsigned wires, unsigned shards, int update);

/* Sets what distinguishes a variant from the plain one: its options, such as " --wire-dtype bf16", and words for a
 * sentence, such as ", bf16". Both are "" for the plain one. */
void variant_words(enum variant variant, const char **options, const char **words);

/* Returns how many of n rows shard the optimizer's work (struct traits). */
int implementations_sharding(const struct implementation *row, int n);

/* Prints the list of strategies for --help. */
void implementations_help(FILE *out);

#endif
