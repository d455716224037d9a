/* compare.h - `ddpbench compare`: says by its exit status whether runs got slower. */
#ifndef BENCH_COMPARE_COMPARE_H
#define BENCH_COMPARE_COMPARE_H

/* Exit statuses; of the last four, incomparable comes first, then regressed, missing, ambiguous. */
enum compare_status {
    COMPARE_OK,
    COMPARE_FAILED, /* something cannot be read or written */
    COMPARE_USAGE,
    COMPARE_REGRESSED,
    COMPARE_AMBIGUOUS,
    COMPARE_MISSING,
    COMPARE_INCOMPARABLE
};

/* Compares the runs whose directories are named behind argv[0], and prints the outcome; needs no MPI. Returns the exit
 * status. */
int run_compare(int argc, char *argv[]);

#endif
