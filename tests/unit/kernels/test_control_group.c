/* test_control_group.c - memory, CPU quotas and stops of made-up control groups of versions 1 and 2. */
#include "kernels/control_group.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
static const struct {
    const char *groups;   /* /proc/self/cgroup */
    const char *files[6]; /* below /sys/fs/cgroup: "path", "content" */
    int quotas;
    double cpus, periods, ms; /* the lowest quota, and the stops */
    size_t memory;
} cases[] = {
    {"", {"cpu.max", "1000 1000"}, 0, INFINITY, NAN, NAN, SIZE_MAX},
    {"0::/", {"cpu.max", "150000 100000", "cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_usec 3000"}, 1, 1.5, 4, 3, SIZE_MAX},
    {"0::/a", {"a/cpu.max", "max 100000", "a/cpu.stat", "usage_usec 1"}, 0, INFINITY, NAN, NAN, SIZE_MAX},
    {"9:cpuset:/a\n1:name=systemd:/a\n0::/a/b", {"a/cpu.max", "20000 100000", "a/b/cpu.max", "3 1"}, 2, 0.2, NAN, NAN, SIZE_MAX},
    {"0::/a/b", {"a/cpu.stat", "nr_throttled 4\nthrottled_usec 3000", "a/b/cpu.stat", "nr_throttled 2\nthrottled_usec 500"},
     0, INFINITY, 6, 3.5, SIZE_MAX},
    {"0::/host/a", {"cpu.max", "50000 25000"}, 1, 2, NAN, NAN, SIZE_MAX}, /* the host's path, in a container */
    {"3:memory:/x\n4:cpu,cpuacct:/a:b\n0::/", {"cpu/a:b/cpu.cfs_quota_us", "50000", "cpu/a:b/cpu.cfs_period_us", "100000",
     "cpu/a:b/cpu.stat", "nr_throttled 1\nthrottled_time 5000000"}, 1, 0.5, 1, 5, SIZE_MAX},
    {"4:cpuacct,cpu:/host/a", {"cpu/cpu.cfs_quota_us", "5", "cpu/cpu.cfs_period_us", "1"}, 1, 5, NAN, NAN, SIZE_MAX},
    {"4:cpu:/", {"cpu/cpu.cfs_quota_us", "-1", "cpu/cpu.cfs_period_us", "100000"}, 0, INFINITY, NAN, NAN, SIZE_MAX},
    {"4:cpuset:/", {"cpu/cpu.cfs_quota_us", "5", "cpu/cpu.cfs_period_us", "1"}, 0, INFINITY, NAN, NAN, SIZE_MAX},
    {"0::/a", {"a/memory.max", "1000", "a/memory.current", "900", "a/memory.stat", "anon 1\ninactive_file 200"},
     0, INFINITY, NAN, NAN, 300},
    {"0::/a", {"a/memory.max", "100", "a/memory.current", "900"}, 0, INFINITY, NAN, NAN, 0},
    {"0::/a", {"a/memory.max", "max", "a/memory.current", "900"}, 0, INFINITY, NAN, NAN, SIZE_MAX},
    {"5:memory:/a", {"memory/a/memory.limit_in_bytes", "500", "memory/a/memory.usage_in_bytes", "450",
     "memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 50"}, 0, INFINITY, NAN, NAN, 100},
};
/* clang-format on */

TEST_EACH(limits_of_control_groups, sizeof cases / sizeof *cases)
{
    const char *root = scratch_make();
    char command[512];
    struct control_group_quota quota[CONTROL_GROUP_QUOTAS];
    for (int i = -2; i < 6 && (i < 0 || cases[_i].files[i]); i += 2) {
        snprintf(command, sizeof command, "f='%s/%s%s' && mkdir -p \"${f%%/*}\" && echo '%s' >\"$f\"", root,
                 i < 0 ? "proc/self/cgroup" : "sys/fs/cgroup/", i < 0 ? "" : cases[_i].files[i],
                 i < 0 ? cases[_i].groups : cases[_i].files[i + 1]);
        ck_assert_int_eq(system(command), 0);
    }
    ck_assert_int_eq(control_group_quotas(root, quota), cases[_i].quotas);
    ck_assert(cases[_i].quotas < 2 || quota[0].group != quota[1].group);
    ck_assert_double_eq(control_group_cpus(root), cases[_i].cpus);
    struct control_group_stops none = {NAN, NAN}, stops = control_group_stops(root);
    ck_assert_msg(isnan(cases[_i].ms) ? isnan(stops.ms) && isnan(stops.periods)
                                      : stops.periods == cases[_i].periods && fabs(stops.ms - cases[_i].ms) < 1e-9,
                  "stopped %g times for %g ms", stops.periods, stops.ms);
    ck_assert_double_eq(control_group_stops_between(none, stops).periods, 0);
    ck_assert_uint_eq(control_group_memory_left(root), cases[_i].memory);
}

SUITE("control_group", NULL, scratch_remove_all)
