/* test_progress.c - the time left that is promised, in simulated runs of work. */
#include "base/progress.h"
#include "tests/support/suite.h"

#include <math.h>

/* A simulated run: `units` units of `unit` work each grow by `growth` per unit, and take latency + unit x seconds. */
static const struct {
    int units;
    double unit, growth, latency, seconds;
    int weighs; /* 1: units count as much as allreduce weighs messages of these bytes, with a fixed number of iterations
                 */
} runs[] = {
    {300, 1, 1, 0, 0.2, 0},           /* rounds of equal blocks */
    {24, 8, 2, 20e-6, 1 / 12e6, 1},   /* messages of 8 B to 64 MiB over 100 Mbit/s */
    {21, 8, 2, 100e-6, 1 / 12e6, 1},  /* to 8 MiB */
    {24, 8, 2, 10e-6, 1 / 10e9, 1},   /* in shared memory */
    {12, 16, 4, 30e-6, 1 / 125e6, 1}, /* over 1 Gbit/s */
};

/* Once a third is over, at least half of what remains is promised. */
TEST_EACH(estimates_are_not_too_short, sizeof runs / sizeof *runs)
{
    double all = 0, spent = 0, seconds[300];
    size_t weight[300], done = 0;
    struct progress progress = {0};
    for (int i = 0; i < runs[_i].units; i++) {
        double unit = runs[_i].unit * pow(runs[_i].growth, i);
        weight[i] = runs[_i].weighs ? 1 + (size_t)unit / 65536 : 1;
        all += seconds[i] = (runs[_i].latency + unit * runs[_i].seconds) * (1 + 0.2 * sin(i));
        progress.total += weight[i];
    }
    for (int i = 0; i < runs[_i].units; i++) {
        done += weight[i];
        spent += seconds[i];
        if (spent > all / 3)
            ck_assert_double_ge(progress_left(&progress, done, spent), 0.5 * (all - spent));
    }
}

/* Rounds of --resolve end when the answer is known: whatever is done, the time up to the limit is promised. */
TEST(work_with_an_open_end_may_last_until_its_limit)
{
    struct progress progress = {.total = 20, .limit_s = 180};
    ck_assert_double_eq(progress_left(&progress, 19, 60), 120);
    ck_assert_double_eq(progress_left(&progress, 20, 179), 1);
    ck_assert_double_eq(progress_left(&progress, 20, 181), 0);
}

SUITE("progress", NULL, NULL)
