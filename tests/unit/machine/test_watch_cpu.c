/* test_watch_cpu.c - counters read from made-up copies of the kernel's files on several machines; samples computed from
 * two readings; and the findings for values just below and just above each threshold. */
#include "machine/watch.h"

#include "base/files.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define SAME(a, b)    ck_assert_double_eq_tol(a, b, 1e-9)

static const char *root;
static cpu_set_t cpus;

static void setup(void)
{
    root = scratch_make();
    CPU_ZERO(&cpus);
    CPU_SET(1, &cpus);
    CPU_SET(3, &cpus);
}

/* Makes the file root/folder/name. */
static void make(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    ck_assert_int_eq(files_make_directories("output", path), 0);
    ck_assert_int_eq(files_replace(path, name, text), 0);
}

static struct cpu_counters read_all(int *pid, int pids)
{
    struct monitor_cpu cpu = {.root = root, .pid = pid, .pids = pids, .cpus = cpus};
    return cpu_counters_read(&cpu);
}

/* ---- a machine ---- */

static const char stat_text[] = "cpu  100 20 300 4000 50 6 7 8 9 10\n"
                                "cpu0 50 10 150 2000 25 3 3 4 5 5\n"
                                "intr 12345 0 0\n"
                                "ctxt 987654\n"
                                "btime 1700000000\n";

/* Makes the files of a machine that has every source of counters; the job uses CPUs 1 and 3. */
static void make_machine(void)
{
    make("proc", "stat", stat_text);
    make("proc", "meminfo", "MemTotal:       1048576 kB\nMemFree:  1 kB\nMemAvailable:    262144 kB\n");
    make("proc/77", "stat", "77 (a) R 1 77 1 0 -1 0 1 0 0 0 250 50 9 9 20 0 3 0 22 31 256 18 1\n");
    make("proc/78", "stat", "78 (b) (c 1) S 1 77 1 0 -1 0 1 0 0 0 1000 0 9 9 20 0 3 0 22 31 512 18 1\n");
    for (int cpu = 0; cpu < 5; cpu++) {
        char folder[64], text[32];
        snprintf(folder, sizeof folder, "sys/devices/system/cpu/cpu%d/cpufreq", cpu);
        snprintf(text, sizeof text, "%d\n", 1000000 + 500000 * cpu);
        make(folder, "scaling_cur_freq", text);
        snprintf(folder, sizeof folder, "sys/devices/system/cpu/cpu%d/thermal_throttle", cpu);
        snprintf(text, sizeof text, "%d\n", 10 * cpu);
        make(folder, "core_throttle_count", text);
        make(folder, "package_throttle_count", "1\n");
    }
    make("proc/self", "cgroup", "0::/job.slice/step\n");
    make("sys/fs/cgroup", "cpu.stat", "usage_usec 1\n");
    make("sys/fs/cgroup/job.slice", "cpu.stat", "usage_usec 1\nnr_throttled 5\nthrottled_usec 7000\n");
    make("sys/fs/cgroup/job.slice/step", "cpu.stat", "nr_throttled 1\nthrottled_usec 500\n");
}

static int both[] = {77, 78};

TEST(a_whole_machine)
{
    double ticks = (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE);
    make_machine();
    struct cpu_counters c = read_all(both, 2);
    SAME(c.user, 120 / ticks);
    SAME(c.system, 313 / ticks);
    SAME(c.idle, 4000 / ticks);
    SAME(c.iowait, 50 / ticks);
    SAME(c.steal, 8 / ticks);
    SAME(c.mhz, 2000);
    SAME(c.thermal_throttles, 10 + 30 + 2);
    SAME(c.quota_ms, 7.5);
    SAME(c.memory_used, 1024 - 256);
    SAME(c.job_seconds, 1300 / ticks);
    SAME(c.job_resident, 768 * page / 1048576);
}

/* If a source of counters is missing, its numbers are unknown (NAN), and all others are known. */
TEST_EACH(missing_sources_are_unknown, 8)
{
    static const struct {
        const char *remove;
        int first, last; /* indices of the first and last unknown double of struct cpu_counters */
    } cases[] = {
        {"proc/stat", 0, 4},
        {"sys/devices/system/cpu/cpu*/cpufreq", 5, 5},
        {"sys/devices/system/cpu/cpu*/thermal_throttle", 6, 6},
        {"proc/self/cgroup", 7, 7},
        {"sys/fs/cgroup/job.slice", 7, 7},
        {"proc/meminfo", 8, 8},
        {"proc/78", 9, 10},
        {"proc sys", 0, 10},
    };
    char command[256];
    make_machine();
    snprintf(command, sizeof command, "cd %s && rm -r %s", root, cases[_i].remove);
    ck_assert_int_eq(system(command), 0);
    struct cpu_counters c = read_all(both, 2);
    double values[sizeof c / sizeof(double)];
    memcpy(values, &c, sizeof c);
    for (int i = 0; i < (int)LENGTH(values); i++)
        ck_assert_msg((isnan(values[i]) != 0) == (i >= cases[_i].first && i <= cases[_i].last),
                      "number %d is %g without %s", i, values[i], cases[_i].remove);
}

/* A file that exceeds the initial buffer is read to its end, where the line with the counters is. */
TEST(a_long_file_is_read_whole)
{
    size_t n = 200000;
    char *text = kept(malloc(n + 64));
    ck_assert_ptr_nonnull(text);
    memset(text, '7', n);
    memcpy(text, "intr ", 5);
    strcpy(text + n, "\ncpu  1 1 1 1 1 1 1 1 0 0\n");
    make("proc", "stat", text);
    SAME(read_all(NULL, 0).user, 2 / (double)sysconf(_SC_CLK_TCK));
}

/* ---- samples ---- */

TEST(samples_are_differences_of_counters)
{
    struct cpu_counters a = {.user = 10,
                             .system = 5,
                             .idle = 100,
                             .iowait = 1,
                             .steal = 2,
                             .thermal_throttles = 3,
                             .quota_ms = 70,
                             .job_seconds = 8};
    struct cpu_counters b = {.user = 13,
                             .system = 6,
                             .idle = 103,
                             .iowait = 1.5,
                             .steal = 2.5,
                             .thermal_throttles = 3,
                             .quota_ms = 100,
                             .job_seconds = 11,
                             .cpus = 4, /* 8 CPU seconds passed, in 2 s */
                             .mhz = 2000};
    struct cpu_sample sample = cpu_sample_between(&a, &b, 2);
    SAME(sample.user, 37.5);
    SAME(sample.system, 12.5);
    SAME(sample.iowait, 6.25);
    SAME(sample.steal, 6.25);
    SAME(sample.job_cores, 1.5);
    SAME(sample.other_processes_cores, 0.5);
    SAME(sample.thermal_throttles, 0);
    SAME(sample.quota_ms, 30);
    SAME(sample.now.mhz, 2000);
    sample = cpu_sample_between(&a, &b, 0.5); /* a wrong length of the sample does not give more cores than there are */
    SAME(sample.job_cores + sample.other_processes_cores, 2);
    b.job_seconds = 13; /* more than the machine's CPUs can give */
    b.iowait = 0.9;     /* smaller than before */
    sample = cpu_sample_between(&a, &b, 2);
    SAME(sample.other_processes_cores, 0);
    SAME(sample.iowait, 0);
    b.job_seconds = b.steal = NAN;
    sample = cpu_sample_between(&a, &b, 2);
    ck_assert(isnan(sample.job_cores) && isnan(sample.other_processes_cores) && isnan(sample.user));
}

/* ---- findings ---- */

static struct cpu_sample healthy(void)
{
    return (struct cpu_sample){.length = 1, .user = 90, .system = 5, .job_cores = 1.9, .now.mhz = 2000};
}

#define FIELD(field) offsetof(struct cpu_sample, field)
static const struct limit {
    const char *name;
    size_t field;
    double silent, beyond, most; /* `silent` gives no finding; `beyond` in sample 2 and `most` in sample 3 give one */
    const char *words[3];
} limits[] = {
    {"other_processes", FIELD(other_processes_cores), 0.24, 0.25, 1.5, {"0.25 cores or more in 2 of 5 s", "1.50 at"}},
    {"steal", FIELD(steal), 1.9, 2, 12.5, {"2 % or more", "in 2 of 5 s", "12.5 %"}},
    {"cpu_clock", FIELD(now.mhz), 1801, 1799, 1500, {"more than 10 % below", "in 2 of 5 s", "2000 to 1500 MHz"}},
    {"cpu_thermal_throttling", FIELD(thermal_throttles), 0, 1, 3, {"temperature in 2 of 5 s (4 times)"}},
};

/* Reports on five samples of 1 s each; the limit's field is `second` in the second sample and `third` in the third. */
static void five_seconds(const struct limit *limit, double second, double third, struct monitor_findings *report)
{
    struct cpu_tally tally = {0};
    memset(report, 0, sizeof *report);
    for (int i = 0; i < 5; i++) {
        struct cpu_sample sample = healthy();
        if (i == 1 || i == 2)
            *(double *)(void *)((char *)&sample + limit->field) = i == 1 ? second : third;
        cpu_tally_add(&tally, &sample);
    }
    cpu_tally_report(&tally, report);
}

TEST_EACH(a_finding_begins_at_its_threshold, LENGTH(limits))
{
    const struct limit *limit = &limits[_i];
    struct monitor_findings report;
    five_seconds(limit, limit->silent, limit->silent, &report);
    ck_assert_msg(report.n == 0, "finding '%s' at %g", report.finding[0].text, limit->silent);
    five_seconds(limit, NAN, NAN, &report);
    ck_assert_msg(report.n == 0, "finding '%s' for an unknown value", report.finding[0].text);
    five_seconds(limit, limit->beyond, limit->most, &report);
    ck_assert_int_eq(report.n, 1);
    ck_assert_str_eq(report.finding[0].name, limit->name);
    for (size_t i = 0; i < LENGTH(limit->words) && limit->words[i]; i++)
        check_has(report.finding[0].text, limit->words[i]);
    five_seconds(limit, limit->silent, limit->most, &report);
    check_has(report.finding[0].text, "in 1 of 5 s");
}

/* No finding arises from clocks that rise, or that are low on idle cores. */
TEST(clocks_that_may_be_low)
{
    struct cpu_tally tally = {0};
    struct monitor_findings report = {0};
    for (int i = 0; i < 4; i++) {
        struct cpu_sample sample = healthy();
        sample.now.mhz = 1000 + 300 * i;
        cpu_tally_add(&tally, &sample);
    }
    struct cpu_sample idle = healthy();
    idle.user = 44.9;
    idle.now.mhz = 800;
    cpu_tally_add(&tally, &idle);
    cpu_tally_report(&tally, &report);
    ck_assert_msg(report.n == 0, "%s", report.finding[0].text);
    idle.user = 45;
    cpu_tally_add(&tally, &idle);
    idle.now.mhz = NAN; /* samples with an unknown clock are ignored */
    cpu_tally_add(&tally, &idle);
    cpu_tally_report(&tally, &report);
    ck_assert_int_eq(report.n, 1);
    check_has(report.finding[0].text, "in 1 of 5 s: it fell from 1900 to 800 MHz");
}

SUITE("monitor_cpu", setup, scratch_remove_all)
