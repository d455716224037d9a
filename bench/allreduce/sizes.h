/* sizes.h - the sizes of messages: a range, a list, or those that a model's strategies send. */
#ifndef BENCH_ALLREDUCE_SIZES_H
#define BENCH_ALLREDUCE_SIZES_H

#include "training/training.h"

#define MESSAGE_MOST_BYTES 1099511627776.0 /* 1 TiB */

struct sizes {
    size_t *bytes; /* [n], increasing */
    size_t n;
};

/* From low to high, each the last times factor; or, where step is above 0, plus step. */
struct size_range {
    size_t low, high, step;
    double factor;
};

/* --sizes: in the order and as often as they were given. */
struct size_list {
    size_t n;
    size_t bytes[1000];
};
extern const struct option_kind option_sizes;

/* Each makes *sizes, which is zeroed before and released by sizes_destroy. Returns 0; or -1, reported. */
int sizes_of_range(struct sizes *sizes, const struct size_range *range);
int sizes_of_list(struct sizes *sizes, const struct size_list *list);
int sizes_of_workload(struct sizes *sizes, struct workload *workload);
void sizes_destroy(struct sizes *sizes);

#endif
