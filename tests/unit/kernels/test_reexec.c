/* test_reexec.c - environment variables that the program sets for itself, and when threads oversubscribe the cores. */
#include "kernels/control_group.h"
#include "kernels/reexec.h"
#include "tests/support/suite.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
    long ranks, threads;
    int cpus, launcher_cpus;
    enum waiting waiting;
    double quota;
} cases[] = {
    {1, 2, 2, 2, WAIT_SPINNING_BRIEFLY, INFINITY},
    {1, 3, 2, 2, WAIT_SLEEPING, INFINITY},
    {2, 2, 2, 2, WAIT_SLEEPING, INFINITY},
    {2, 1, 2, 2, WAIT_SPINNING, INFINITY}, /* a rank's only thread waits for no other thread */
    {16, 1, 2, 2, WAIT_SPINNING, INFINITY},
    {16, 0, 2, 2, WAIT_SPINNING, INFINITY}, /* 0 threads: the default, at most a rank's cores */
    {1, 0, 2, 2, WAIT_SPINNING_BRIEFLY, INFINITY},
    {4, 4, 16, 16, WAIT_SPINNING_BRIEFLY, INFINITY},
    {4, 5, 16, 16, WAIT_SLEEPING, INFINITY},
    {4, 4, 4, 16, WAIT_SPINNING_BRIEFLY, INFINITY}, /* each rank has 4 cores of its own */
    {4, 5, 4, 16, WAIT_SLEEPING, INFINITY},
    {4, 4, 4, 4, WAIT_SLEEPING, INFINITY},
    {4, 4, 0, 0, WAIT_SPINNING, INFINITY}, /* 0 cores: the number is unknown */
    {4, 4, 16, 0, WAIT_SPINNING_BRIEFLY, INFINITY},
    {-1, 4, 2, 2, WAIT_SPINNING, INFINITY},
    {4, -1, 2, 2, WAIT_SPINNING, INFINITY},
    {0, 4, 2, 2, WAIT_SPINNING, INFINITY},
    {2, LONG_MAX, 2, 2, WAIT_SLEEPING, INFINITY},
    {LONG_MAX, LONG_MAX, 2, 2, WAIT_SLEEPING, INFINITY},
    {1, 2, 2, 2, WAIT_SLEEPING, 1}, /* two CPUs, but a quota of one */
    {2, 2, 4, 4, WAIT_SLEEPING, 3},
    {2, 2, 4, 4, WAIT_SPINNING_BRIEFLY, 4},
    {1, 0, 2, 2, WAIT_SPINNING, 1.5},
};

TEST_EACH(threads_wait_as_the_cpus_allow, sizeof cases / sizeof *cases)
{
    ck_assert_int_eq(
        reexec_waiting(cases[_i].ranks, cases[_i].threads, cases[_i].cpus, cases[_i].launcher_cpus, cases[_i].quota),
        cases[_i].waiting);
}

/* Checks OMP_WAIT_POLICY after the program has set its environment for a number of ranks and an option. It is set only
 * if threads oversubscribe the cores, and never replaces values that the user has set. */
static void ask(const char *ranks, char *option, const char *policy)
{
    unsetenv("OMP_NUM_THREADS");
    setenv("MPI_LOCALNRANKS", ranks, 1);
    reexec_set_waiting(2, (char *[]){"ddpbench", option, NULL});
    ck_assert_pstr_eq(getenv("OMP_WAIT_POLICY"), policy);
}

TEST(threads_wait_passively_only_if_oversubscribed)
{
    unsetenv("OMP_WAIT_POLICY");
    unsetenv("OPENBLAS_THREAD_TIMEOUT");
    ask("1", "--threads=1", NULL);
    ask("4096", "--threads=1", NULL);
    ask("4096", "--threads-of-another-name=2", NULL);
    setenv("GOMP_SPINCOUNT", "7", 1);
    ask("4096", "--threads=2", NULL);
    unsetenv("GOMP_SPINCOUNT");
    setenv("OMP_WAIT_POLICY", "active", 1);
    ask("4096", "--threads=2", "active");
    unsetenv("OMP_WAIT_POLICY");
    ask("4096", "--threads=2", "passive");
    ck_assert_str_eq(getenv("OPENBLAS_THREAD_TIMEOUT"), "4");
}

TEST(threads_spin_briefly_if_there_are_cpus_for_them)
{
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) || CPU_COUNT(&mine) < 2 || control_group_cpus("") < 2) {
        printf("skip - threads spin briefly: needs two logical CPUs\n");
        return;
    }
    unsetenv("OMP_WAIT_POLICY");
    ask("1", "--threads=1", NULL);
    ck_assert_ptr_null(getenv("GOMP_SPINCOUNT"));
    ask("1", "--threads=2", NULL);
    ck_assert_str_eq(getenv("GOMP_SPINCOUNT"), "1000");
}

SUITE("reexec", NULL, NULL)
