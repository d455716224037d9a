/* test_cpu.c - the kernel's files as they are on several machines, made up below a directory; what is made of
 * two readings of them; and each finding from both sides of its threshold. */
#include "monitor/cpu.h"

#include "base/files.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define SAME(a, b)    ck_assert_double_eq_tol(a, b, 1e-9)

static char root[64];
static cpu_set_t cpus;

static void setup(void)
{
    strcpy(root, "/tmp/ddpbench_monitor.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    CPU_ZERO(&cpus);
    CPU_SET(1, &cpus);
    CPU_SET(3, &cpus);
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %.50s", root);
    ck_assert_int_eq(system(command), 0);
}

/* Makes the file root/folder/name. */
static void make(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    ck_assert_int_eq(files_make_directories("output", path), 0);
    ck_assert_int_eq(files_replace(path, name, text), 0);
}

static void read_all(const int *pid, int pids, struct proc_counters *c)
{
    struct proc proc;
    proc_create(&proc, root, pid, pids, &cpus);
    memset(c, 0, sizeof *c);
    proc_read(&proc, c);
    proc_destroy(&proc);
}

/* ---- texts ---- */

static const char stat_text[] = "cpu  100 20 300 4000 50 6 7 8 9 10\n"
                                "cpu0 50 10 150 2000 25 3 3 4 5 5\n"
                                "intr 12345 0 0\n"
                                "ctxt 987654\n"
                                "btime 1700000000\n";

START_TEST(machine_times)
{
    struct proc_counters c = {0};
    proc_parse_stat(stat_text, 100, &c);
    SAME(c.user, 1.2);
    SAME(c.system, 3.13);
    SAME(c.idle, 40);
    SAME(c.iowait, 0.5);
    SAME(c.steal, 0.08);
    SAME(c.context_switches, 987654);
    proc_parse_stat(stat_text, 1000, &c);
    SAME(c.idle, 4);
    struct proc_counters none = {.user = NAN, .idle = NAN, .steal = NAN, .context_switches = NAN};
    proc_parse_stat("cpu0 50 10 150 2000 25 3 3 4 5 5\ncpu 1 2 3\nthe ctxt 5\n", 100, &none);
    ck_assert(isnan(none.user) && isnan(none.steal) && isnan(none.context_switches));
    proc_parse_stat("", 100, &none);
    ck_assert(isnan(none.idle));
}
END_TEST

/* A name may hold blanks, parentheses and numbers. */
START_TEST(a_process)
{
    static const char *const names[] = {"ddpbench", "a b) (c) 1 2", ")", ""};
    for (size_t i = 0; i < LENGTH(names); i++) {
        char text[512];
        double seconds = 0, bytes = 0;
        snprintf(
            text, sizeof text,
            "77 (%s) R 1 77 1 0 -1 4194304 101 0 0 0 250 50 900 800 20 0 3 0 2251393 313344000 410 184467440 1 2 3\n",
            names[i]);
        ck_assert_int_eq(proc_parse_process(text, 100, 4096, &seconds, &bytes), 0);
        SAME(seconds, 3);
        SAME(bytes, 410 * 4096.0);
    }
    double seconds = 7, bytes = 7;
    ck_assert_int_eq(proc_parse_process("77 (x) R 1 77 1", 100, 4096, &seconds, &bytes), -1);
    ck_assert_int_eq(proc_parse_process("", 100, 4096, &seconds, &bytes), -1);
    SAME(seconds, 7);
}
END_TEST

START_TEST(a_control_group)
{
    double throttles = 1, ms = 10;
    ck_assert_int_eq(
        proc_parse_group("usage_usec 9\nnr_periods 50\nnr_throttled 12\nthrottled_usec 34567\n", &throttles, &ms), 0);
    SAME(throttles, 13);
    SAME(ms, 44.567);
    ck_assert_int_eq(proc_parse_group("nr_periods 50\nnr_throttled 2\nthrottled_time 5000000\n", &throttles, &ms), 0);
    SAME(throttles, 15);
    SAME(ms, 49.567);
    ck_assert_int_eq(proc_parse_group("usage_usec 9\nuser_usec 5\n", &throttles, &ms), -1);
    SAME(throttles, 15);
}
END_TEST

/* ---- a machine ---- */

static const char cpuinfo[] =
    "processor\t: 0\ncpu MHz\t\t: 800.5\n\nprocessor\t: 1\nmodel name\t: A processor : 9\ncpu MHz\t\t: 2000.25\n"
    "\nprocessor\t: 3\ncpu MHz\t\t: 3000.75\n\nprocessor\t: 4\ncpu MHz\t\t: 1.0\n";

/* Every source, of a machine that has them all; CPUs 1 and 3 are the job's. */
static void make_machine(void)
{
    make("proc", "stat", stat_text);
    make("proc", "loadavg", "1.25 0.90 0.50 3/200 12345\n");
    make("proc", "meminfo", "MemTotal:       1048576 kB\nMemFree:  1 kB\nMemAvailable:    262144 kB\n");
    make("proc", "cpuinfo", cpuinfo);
    make("proc/77", "stat", "77 (a) R 1 77 1 0 -1 0 1 0 0 0 250 50 9 9 20 0 3 0 22 31 256 18 1\n");
    make("proc/78", "stat", "78 (b) S 1 77 1 0 -1 0 1 0 0 0 1000 0 9 9 20 0 3 0 22 31 512 18 1\n");
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
    make("sys/fs/cgroup/job.slice", "cpu.stat", "usage_usec 1\nnr_periods 9\nnr_throttled 5\nthrottled_usec 7000\n");
    make("sys/fs/cgroup/job.slice/step", "cpu.stat", "nr_throttled 1\nthrottled_usec 500\n");
}

static const int both[] = {77, 78};

START_TEST(a_whole_machine)
{
    struct proc_counters c;
    double ticks = (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE);
    make_machine();
    read_all(both, 2, &c);
    SAME(c.user, 120 / ticks);
    SAME(c.context_switches, 987654);
    SAME(c.load, 1.25);
    SAME(c.memory_total, 1024);
    SAME(c.memory_available, 256);
    SAME(c.mhz_min, 1500);
    SAME(c.mhz_mean, 2000);
    SAME(c.thermal_throttles, 10 + 30 + 2);
    SAME(c.quota_throttles, 6);
    SAME(c.quota_ms, 7.5);
    SAME(c.job_seconds, 1300 / ticks);
    SAME(c.job_resident, 768 * page / 1048576);
}
END_TEST

/* A machine without a source does not know its numbers, and knows all others. */
START_TEST(what_is_missing_is_unknown)
{
    static const struct {
        const char *remove;
        int unknown[4]; /* which of the doubles in struct proc_counters, ended by -1 */
    } cases[] = {
        {"proc/stat", {0, 4, 5, -1}},
        {"proc/loadavg", {6, -1}},
        {"proc/meminfo", {13, 12, -1}},
        {"sys/devices/system/cpu/cpu*/thermal_throttle", {9, -1}},
        {"proc/self/cgroup", {10, 11, -1}},
        {"sys/fs/cgroup/job.slice", {10, 11, -1}},
        {"proc/78", {14, 15, -1}},
        {"sys/devices/system/cpu/cpu*/cpufreq proc/cpuinfo", {7, 8, -1}},
        {"proc sys", {-1}},
    };
    char command[256];
    struct proc_counters c;
    make_machine();
    snprintf(command, sizeof command, "cd %s && rm -r %s", root, cases[_i].remove);
    ck_assert_int_eq(system(command), 0);
    read_all(both, 2, &c);
    double values[sizeof c / sizeof(double)];
    memcpy(values, &c, sizeof c);
    for (int i = 0; i < (int)LENGTH(values); i++) {
        int unknown = cases[_i].unknown[0] < 0;
        for (const int *u = cases[_i].unknown; *u >= 0; u++)
            unknown |= *u == i || (cases[_i].unknown[0] == 0 && i < 6);
        ck_assert_msg((isnan(values[i]) != 0) == unknown, "number %d is %g without %s", i, values[i], cases[_i].remove);
    }
}
END_TEST

START_TEST(clocks_of_cpuinfo_and_unknown_processes)
{
    struct proc_counters c;
    make("proc", "cpuinfo", cpuinfo);
    read_all(NULL, 0, &c);
    SAME(c.mhz_min, 2000.25);
    SAME(c.mhz_mean, 2500.5);
    ck_assert(isnan(c.job_seconds) && isnan(c.job_resident));
}
END_TEST

/* As on a large machine: 27 lines of each of 512 CPUs. A second of the monitor must not go by over it. */
START_TEST(cpuinfo_of_a_large_machine)
{
    enum { CPUS = 512 };
    struct proc_counters c = {0};
    char *text = NULL, flags[1024];
    size_t length;
    FILE *out = open_memstream(&text, &length);
    memset(flags, 'f', sizeof flags - 1);
    flags[sizeof flags - 1] = 0;
    CPU_ZERO(&cpus);
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        fprintf(out, "processor\t: %zu\nvendor_id\t: X\ncpu MHz\t\t: %zu.500\n", cpu, 1000 + cpu);
        for (int line = 0; line < 22; line++)
            fprintf(out, "some key %d\t: %d\n", line, line);
        fprintf(out, "flags\t\t: %s\n\n", flags);
        if (cpu >= 100 && cpu != 511)
            CPU_SET(cpu, &cpus);
    }
    fclose(out);
    clock_t begin = clock();
    proc_parse_cpuinfo(text, &cpus, &c);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    SAME(c.mhz_min, 1100.5);
    SAME(c.mhz_mean, 1305.5);
    ck_assert_msg(seconds < 0.1, "%g s", seconds);
    free(text);
}
END_TEST

/* What is no number, or of no CPU, is left out. */
START_TEST(cpuinfo_that_is_odd)
{
    static const char *const none[] = {"", "cpu MHz : 1000\n", "processor : 1\ncpu MHz : fast\n",
                                       "processor : 1\ncpu MHz 1000\n", "processor : 99999999999\ncpu MHz : 1000\n"};
    for (size_t i = 0; i < LENGTH(none); i++) {
        struct proc_counters c = {.mhz_min = 7, .mhz_mean = 8};
        proc_parse_cpuinfo(none[i], &cpus, &c);
        SAME(c.mhz_min, 7);
        SAME(c.mhz_mean, 8);
    }
}
END_TEST

/* A group's line, and where its counters are; in version 1 under one of two names, never counted twice. */
START_TEST(control_groups_of_all_versions)
{
    static const struct {
        const char *lines, *folder[2];
        double throttles;
    } cases[] = {
        {"0::/a\n", {"sys/fs/cgroup/a"}, 4},
        {"0::/a\n", {"sys/fs/cgroup/unified/a"}, 4},
        {"0::/host/a\n", {"sys/fs/cgroup"}, 4}, /* the path is another namespace's */
        {"0::/\n", {"sys/fs/cgroup"}, 4},
        {"9:cpuset:/a\n4:cpu,cpuacct:/a/b\n1:name=systemd:/a\n0::/a\n", {"sys/fs/cgroup/cpu,cpuacct/a"}, 4},
        {"4:cpu,cpuacct:/a\n", {"sys/fs/cgroup/cpu,cpuacct/a", "sys/fs/cgroup/cpu/a"}, 4},
        {"4:cpu,cpuacct:/a\n", {"sys/fs/cgroup/cpu/a"}, 4},
        {"1:cpu:/a\n", {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu/a"}, 8},
        {"3:cpuset:/a\n2:cpuacct:/a\n", {"sys/fs/cgroup/cpuset/a", "sys/fs/cgroup/cpu/a"}, NAN},
        {"", {"sys/fs/cgroup"}, NAN},
    };
    struct proc_counters c;
    make("proc/self", "cgroup", cases[_i].lines);
    for (int i = 0; i < 2 && cases[_i].folder[i]; i++)
        make(cases[_i].folder[i], "cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 3000000\n");
    read_all(NULL, 0, &c);
    if (isnan(cases[_i].throttles))
        ck_assert(isnan(c.quota_throttles) && isnan(c.quota_ms));
    else {
        SAME(c.quota_throttles, cases[_i].throttles);
        SAME(c.quota_ms, cases[_i].throttles * 0.75);
    }
}
END_TEST

/* More than fits at first, and what counts comes last. */
START_TEST(a_long_file_is_read_whole)
{
    size_t n = 200000;
    char *text = malloc(n + 64);
    ck_assert_ptr_nonnull(text);
    memset(text, '7', n);
    memcpy(text, "intr ", 5);
    strcpy(text + n, "\nctxt 42\ncpu  1 1 1 1 1 1 1 1 0 0\n");
    make("proc", "stat", text);
    free(text);
    struct proc_counters c;
    read_all(NULL, 0, &c);
    SAME(c.context_switches, 42);
    ck_assert(isfinite(c.user));
}
END_TEST

/* ---- rows ---- */

START_TEST(differences)
{
    struct proc_counters a = {.user = 10,
                              .system = 5,
                              .idle = 100,
                              .iowait = 1,
                              .steal = 2,
                              .context_switches = 100,
                              .thermal_throttles = 3,
                              .quota_throttles = 7,
                              .quota_ms = 70,
                              .job_seconds = 8};
    struct proc_counters b = {.user = 13,
                              .system = 6,
                              .idle = 103,
                              .iowait = 1.5,
                              .steal = 2.5,
                              .context_switches = 500,
                              .thermal_throttles = 3,
                              .quota_throttles = 9,
                              .quota_ms = 100,
                              .job_seconds = 11,
                              .load = 2};
    struct cpu_sample sample;
    cpu_sample_between(&a, &b, 2, &sample);
    SAME(sample.user, 37.5);
    SAME(sample.system, 12.5);
    SAME(sample.iowait, 6.25);
    SAME(sample.steal, 6.25);
    SAME(sample.job_cores, 1.5);
    SAME(sample.other_processes_cores, 0.5);
    SAME(sample.context_switches, 200);
    SAME(sample.thermal_throttles, 0);
    SAME(sample.quota_throttles, 2);
    SAME(sample.quota_ms, 30);
    SAME(sample.now.load, 2);
    b.job_seconds = 13; /* more than the machine counted */
    b.iowait = 0.9;     /* back */
    cpu_sample_between(&a, &b, 2, &sample);
    SAME(sample.other_processes_cores, 0);
    SAME(sample.iowait, 0);
    b.job_seconds = b.steal = NAN;
    cpu_sample_between(&a, &b, 2, &sample);
    ck_assert(isnan(sample.job_cores) && isnan(sample.other_processes_cores) && isnan(sample.user));
    SAME(sample.context_switches, 200);
}
END_TEST

/* ---- findings ---- */

static struct cpu_sample healthy(void)
{
    return (struct cpu_sample){.length = 1, .user = 90, .system = 5, .job_cores = 1.9, .now.mhz_mean = 2000};
}

static void other_processes(struct cpu_sample *sample, double x)
{
    sample->other_processes_cores = x;
}
static void steal(struct cpu_sample *sample, double x)
{
    sample->steal = x;
}
static void mhz(struct cpu_sample *sample, double x)
{
    sample->now.mhz_mean = x;
}
static void thermal(struct cpu_sample *sample, double x)
{
    sample->thermal_throttles = x;
}
static void quota(struct cpu_sample *sample, double x)
{
    sample->quota_throttles = x;
    sample->quota_ms = 12.3;
}

static const struct limit {
    const char *name;
    void (*set)(struct cpu_sample *, double);
    double silent, beyond, most; /* the second and third of the rows in which it is found */
    const char *words[3];
} limits[] = {
    {"other_processes", other_processes, 0.24, 0.25, 1.5, {"0.25 cores or more in 2 of 5 s", "1.50 at most"}},
    {"steal", steal, 1.9, 2, 12.5, {"2 % or more", "in 2 of 5 s", "12.5 %"}},
    {"cpu_clock", mhz, 1801, 1799, 1500, {"more than 10 % below", "in 2 of 5 s", "from 2000 to 1500 MHz"}},
    {"cpu_thermal_throttling", thermal, 0, 1, 3, {"temperature in 2 of 5 s (4 times)"}},
    {"cpu_quota_throttling", quota, 0, 2, 3, {"stopped it in 2 of 5 s (5 times, 25 ms)"}},
};

/* Five seconds; the second is as given, the third has the most. */
static void five_seconds(const struct limit *limit, double second, double third, struct monitor_report *report)
{
    struct cpu_tally tally = {0};
    memset(report, 0, sizeof *report);
    for (int i = 0; i < 5; i++) {
        struct cpu_sample sample = healthy();
        if (i == 1 || i == 2)
            limit->set(&sample, i == 1 ? second : third);
        cpu_tally_add(&tally, &sample);
    }
    cpu_tally_report(&tally, report);
}

START_TEST(finding_is)
{
    const struct limit *limit = &limits[_i];
    struct monitor_report report;
    five_seconds(limit, limit->silent, limit->silent, &report);
    ck_assert_msg(report.n == 0, "%s at %g", report.finding[0].text, limit->silent);
    five_seconds(limit, NAN, NAN, &report);
    ck_assert_msg(report.n == 0, "%s where it is unknown", report.finding[0].text);
    five_seconds(limit, limit->beyond, limit->most, &report);
    ck_assert_int_eq(report.n, 1);
    ck_assert_str_eq(monitor_kind_name[report.finding[0].kind], limit->name);
    for (size_t i = 0; i < LENGTH(limit->words) && limit->words[i]; i++)
        ck_assert_msg(strstr(report.finding[0].text, limit->words[i]) != NULL, "no '%s' in: %s", limit->words[i],
                      report.finding[0].text);
    five_seconds(limit, limit->silent, limit->most, &report);
    ck_assert_ptr_nonnull(strstr(report.finding[0].text, "in 1 of 5 s"));
}
END_TEST

/* Clocks that rise are no finding, nor those of cores that idle. */
START_TEST(clocks_that_may_be_low)
{
    struct cpu_tally tally = {0};
    struct monitor_report report = {0};
    for (int i = 0; i < 4; i++) {
        struct cpu_sample sample = healthy();
        sample.now.mhz_mean = 1000 + 300 * i;
        cpu_tally_add(&tally, &sample);
    }
    struct cpu_sample idle = healthy();
    idle.user = 44.9;
    idle.now.mhz_mean = 800;
    cpu_tally_add(&tally, &idle);
    cpu_tally_report(&tally, &report);
    ck_assert_msg(report.n == 0, "%s", report.finding[0].text);
    idle.user = 45;
    cpu_tally_add(&tally, &idle);
    idle.now.mhz_mean = NAN; /* and what is unknown counts for nothing */
    cpu_tally_add(&tally, &idle);
    cpu_tally_report(&tally, &report);
    ck_assert_int_eq(report.n, 1);
    ck_assert_ptr_nonnull(strstr(report.finding[0].text, "in 1 of 5 s: it fell from 1900 to 800 MHz"));
}
END_TEST

START_TEST(all_at_once_fit)
{
    struct cpu_tally tally = {1e9, 1e9, 1e4, 1e9, 100, 1e9, 1e9, 1e5, 1, 1e5, 1e5, 1e9, 1e9, 1e9, 1e9, 1e12};
    struct monitor_report report = {0};
    cpu_tally_report(&tally, &report);
    ck_assert_int_eq(report.n, (int)LENGTH(limits));
    for (int i = 0; i < report.n; i++)
        ck_assert_uint_lt(strlen(report.finding[i].text), MONITOR_TEXT - MONITOR_HOST - 2);
}
END_TEST

/* ---- the line ---- */

START_TEST(a_line_has_every_column)
{
    char path[128], line[1024], columns[1024];
    struct monitor_cpu *cpu = calloc(1, sizeof *cpu);
    ck_assert_ptr_nonnull(cpu);
    make("proc", "loadavg", "1.25 0.90 0.50 3/200 12345\n"); /* and nothing else is known */
    proc_create(&cpu->proc, root, NULL, 0, &cpus);
    snprintf(path, sizeof path, "%s/cpu_monitor.csv", root);
    ck_assert_int_eq(monitor_cpu_open(cpu, path), 0);
    monitor_cpu_begin(cpu);
    monitor_cpu_sample(cpu, 1.5);
    ck_assert_int_eq(lines_close(&cpu->csv), 0);
    proc_destroy(&cpu->proc);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(columns, sizeof columns, file));
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    ck_assert_ptr_null(fgets(path, sizeof path, file));
    fclose(file);
    ck_assert_int_eq(strncmp(columns, "seconds,user_percent,", 21), 0);
    ck_assert_str_eq(line, "1.500,,,,,,,1.25,,,,,,,,,\n");
    size_t commas = 0, of_line = 0;
    for (const char *c = columns; *c; c++)
        commas += *c == ',';
    for (const char *c = line; *c; c++)
        of_line += *c == ',';
    ck_assert_uint_eq(commas, of_line);
    free(cpu);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("monitor_cpu");
    TCase *tests = tcase_create("monitor_cpu");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, machine_times);
    tcase_add_test(tests, a_process);
    tcase_add_test(tests, a_control_group);
    tcase_add_test(tests, a_whole_machine);
    tcase_add_loop_test(tests, what_is_missing_is_unknown, 0, 9);
    tcase_add_test(tests, clocks_of_cpuinfo_and_unknown_processes);
    tcase_add_test(tests, cpuinfo_of_a_large_machine);
    tcase_add_test(tests, cpuinfo_that_is_odd);
    tcase_add_loop_test(tests, control_groups_of_all_versions, 0, 10);
    tcase_add_test(tests, a_long_file_is_read_whole);
    tcase_add_test(tests, differences);
    tcase_add_loop_test(tests, finding_is, 0, (int)LENGTH(limits));
    tcase_add_test(tests, clocks_that_may_be_low);
    tcase_add_test(tests, all_at_once_fit);
    tcase_add_test(tests, a_line_has_every_column);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
