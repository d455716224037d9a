/* test_cores.c - shares of CPUs of made-up ranks, by affinity and by the quotas of their control groups. */
#include "ddp/cores.h"
#include "tests/support/suite.h"

#include <math.h>

/* clang-format off */
static const struct {
    struct { int machine, cpus; struct control_group_quota quota[2]; } rank[3]; /* cpus: 1 bit for each */
    double by_affinity, by_quota; /* of rank 0 */
} cases[] = {
    {{{0, 0x3f, {{0}}}, {0, 0x3f, {{0}}}, {0, 0x3f, {{0}}}}, 2, INFINITY},
    {{{0, 0x3f, {{0}}}, {1, 0x3f, {{0}}}, {0, 0x03, {{0}}}}, 5, INFINITY},
    {{{0, 3, {{7, 1}}}, {1, 3, {{7, 1}}}, {2, 3, {{7, 1}}}}, 2, 1},       /* the same number on other machines */
    {{{0, 3, {{7, 1}}}, {0, 3, {{7, 1}}}, {1, 3, {{7, 1}}}}, 1, 0.5},     /* two ranks in one container */
    {{{0, 3, {{7, 1}}}, {0, 3, {{8, 1}}}, {0, 3, {{0}}}}, 2. / 3, 1},     /* each in its own container, or none */
    {{{0, 3, {{7, 2}, {1, 3}}}, {0, 3, {{8, 2}, {1, 3}}}, {0, 3, {{9, 2}, {1, 3}}}}, 2. / 3, 1}, /* of one pod */
    {{{0, 3, {{7, .3}, {1, 3}}}, {0, 3, {{7, .3}, {1, 3}}}, {0, 3, {{7, .3}, {1, 3}}}}, 2. / 3, 0.1},
};
/* clang-format on */

TEST_EACH(shares, sizeof cases / sizeof *cases)
{
    struct cores_allowed all[3] = {0};
    for (int r = 0; r < 3; r++) {
        all[r].machine = cases[_i].rank[r].machine;
        for (size_t cpu = 0; cpu < 6; cpu++)
            if (cases[_i].rank[r].cpus >> cpu & 1)
                CPU_SET(cpu, &all[r].cpus);
        for (int i = 0; i < 2; i++)
            all[r].quota[i] = cases[_i].rank[r].quota[i];
    }
    ck_assert_double_eq_tol(cores_by_affinity(all, 3, 0), cases[_i].by_affinity, 1e-9);
    double quota = cores_by_quota(all, 3, 0);
    ck_assert_msg(quota == cases[_i].by_quota || fabs(quota - cases[_i].by_quota) < 1e-9, "%g CPUs by quota", quota);
}

SUITE("cores", NULL, NULL)
