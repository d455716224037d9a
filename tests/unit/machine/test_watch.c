/* test_watch.c - the thread that monitors a host, in a made-up job: writes a line per sample, stops at any time. */
#include "machine/machine.h"

#include "base/files.h"
#include "base/json.h"
#include "ddp/job.h"
#include "kernels/clock.h"

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct job job = {.size = 1, .hosts = 1, .local_size = 1, .machine_size = 1, .cores = 1};
static const char *directory;

/* Replace the functions in ddp/job.c, which need MPI, since ThreadSanitizer does not understand MPI. */
int job_agree(const struct job *of, int status)
{
    ck_assert_ptr_eq(of, &job);
    return status;
}

void job_gather(const struct job *of, const void *mine, size_t bytes, void *all)
{
    ck_assert_ptr_eq(of, &job);
    memcpy(all, mine, bytes);
}

static void setup(void)
{
    directory = scratch_make();
}

static size_t count_lines(void)
{
    char path[FILES_PATH];
    size_t lines = 0;
    snprintf(path, sizeof path, "%s/cpu_monitor.csv", directory);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

TEST(the_monitor_writes_a_line_for_each_sample)
{
    struct monitor *monitor;
    ck_assert_int_eq(monitor_create(&monitor, &job, 1, 0), 0);
    ck_assert_int_eq(monitor_start(monitor, directory, clock_now_ns()), 0);
    ck_assert_ptr_null(monitor_findings(monitor));
    for (int64_t end = clock_now_ns() + 20000000000; clock_now_ns() < end && count_lines() < 3;)
        usleep(10000);
    ck_assert_int_eq(monitor_stop(monitor), 0);
    double samples = json_number(monitor_findings(monitor), "samples");
    monitor_destroy(monitor);
    ck_assert_double_ge(samples, 2);
    ck_assert_double_eq(samples, (double)count_lines() - 1); /* the first line is the header */
}

TEST(the_monitor_stops_at_once)
{
    struct monitor *monitor;
    for (int i = 0; i < 20; i++) {
        scratch_remove_all();
        setup();
        ck_assert_int_eq(monitor_create(&monitor, &job, 1, 0), 0);
        ck_assert_int_eq(monitor_start(monitor, directory, clock_now_ns()), 0);
        if (i % 2)
            ck_assert_int_eq(monitor_stop(monitor), 0);
        monitor_destroy(monitor); /* may be called while the thread runs */
    }
}

SUITE("watch", setup, scratch_remove_all)
