/* test_core_wait.c - the measured time of waiting for a shared core, compared with the Linux kernel's count. */
#include "kernels/clock.h"
#include "kernels/core_wait.h"
#include "tests/support/suite.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void spin_for(int64_t ns)
{
    int64_t start = clock_now_ns();
    while (clock_now_ns() - start < ns)
        ;
}

/* Returns the waiting time counted by the Linux kernel; -1 if the kernel does not count it. */
static int64_t kernel_wait_ns(void)
{
    long long ran, waited = -1;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file && fscanf(file, "%lld %lld", &ran, &waited) != 2)
        waited = -1;
    if (file)
        fclose(file);
    return waited;
}

static void stay_on_first_core(void)
{
    cpu_set_t allowed, first;
    size_t cpu = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    ck_assert_int_eq(sched_setaffinity(0, sizeof first, &first), 0);
}

TEST(grows_while_another_has_the_core)
{
    enum { LEAST_NS = 20000000 };
    if (kernel_wait_ns() < 0)
        return;
    stay_on_first_core();
    pid_t other = fork();
    if (!other) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            spin_for(1000000);
    }
    int64_t before = core_wait_ns(), gained = 0, start = clock_now_ns();
    while (gained < LEAST_NS && clock_now_ns() - start < 10000000000) {
        spin_for(1000000);
        int64_t low = kernel_wait_ns(), now = core_wait_ns(), high = kernel_wait_ns();
        ck_assert_int_ge(now, low);
        ck_assert_int_le(now, high);
        gained = now - before;
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    ck_assert_int_ge(gained, LEAST_NS);
}

SUITE("core_wait", NULL, NULL)
