/* test_metrics.c - metrics.csv: which lines become rows, which members become columns, and how fields are written. */
#include "results/metrics.h"
#include "results/results.h"

#include "kernels/error.h"
#include "tests/support/saved.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *directory;

static void set_up(void)
{
    directory = scratch_make();
}

static const char *in_directory(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* Checks the table that is made from these lines. */
static void check_table(const char *lines, const char *expected)
{
    unlink(in_directory("metrics.csv")); /* the table of earlier lines, which has other columns */
    saved_file(directory, "rank_0_metrics.jsonl", lines);
    ck_assert_msg(results_write_metrics_csv(directory) == 0, "%s", error_text());
    ck_assert_str_eq(text_of_file(in_directory("metrics.csv")), expected);
}

TEST(columns_are_scalar_members_in_order_of_first_appearance)
{
    check_table("{\"a\": 1, \"list\": [1, {\"x\": 2}], \"b\": \"two\"}\n"
                "{\"b\": \"three\", \"c\": true, \"a\": 4, \"object\": {\"a\": 9, \"d\": 1}}\n"
                "{\"c\":false,\"list\":5}\n"
                "{}\n",
                "a,b,c,list\n"
                "1,two,,\n"
                "4,three,true,\n"
                ",,false,5\n"
                ",,,\n");
}

TEST(numbers_keep_their_value)
{
    check_table("{\"x\": 0.10000000000000000555, \"y\": -1.50e-07, \"z\": 0.123456789012345, \"n\": null}\n"
                "{\"x\": 1E+5, \"y\": -7.0, \"z\": 3.000000}\n",
                "x,y,z,n\n"
                "0.1,-1.5e-07,0.123456789012345,\n"
                "100000,-7,3,\n");
}

TEST(texts_are_quoted_where_they_must_be)
{
    check_table("{\"name, with \\\"comma\\\"\": \"plain\"}\n"
                "{\"name, with \\\"comma\\\"\": \"a,b\"}\n"
                "{\"name, with \\\"comma\\\"\": \"say \\\"hi\\\"\"}\n"
                "{\"name, with \\\"comma\\\"\": \"two\\nlines\\r\"}\n"
                "{\"name, with \\\"comma\\\"\": \"\\u00e9\\\\ \\/ \\ud83d\\ude00\"}\n"
                "{\"name, with \\\"comma\\\"\": \"caf\xc3\xa9\"}\n"
                "{\"name, with \\\"comma\\\"\": \"bad\xff\xfe\"}\n"
                "{\"name, with \\\"comma\\\"\": \"\"}\n",
                "\"name, with \"\"comma\"\"\"\n"
                "plain\n"
                "\"a,b\"\n"
                "\"say \"\"hi\"\"\"\n"
                "two lines \n"
                "\xc3\xa9\\ / \xf0\x9f\x98\x80\n"
                "caf\xc3\xa9\n"
                "bad??\n"
                "\n");
}

static void check_reported(const char *words)
{
    ck_assert_int_eq(results_write_metrics_csv(directory), -1);
    check_has(error_text(), words);
    error_clear();
}

/* A line that is not a JSON object is an error; an incomplete last line is only left out. */
TEST(a_line_that_is_not_an_object_is_an_error)
{
    static const char *const broken[] = {
        "[1, 2]", "7", "", "{\"x\": 1", "{x: nan}", "{\"x\": \"half \\ud83d\"}", "{\"x\": 1} {\"x\": 2}",
    };
    char lines[400];
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        snprintf(lines, sizeof lines, "{\"a\": 1}\n%s\n{\"a\": 2}\n", broken[i]);
        saved_file(directory, "rank_0_metrics.jsonl", lines);
        check_reported("rank_0_metrics.jsonl, line 2: is not a JSON object");
    }
    check_table("{\"a\": 1}\n{\"a\": 2, \"y\": 3}x", "a\n1\n");
    check_table("{\"a\": 1}\n{\"a\": 2, \"y\": 3}", "a\n1\n"); /* a last line without a newline may be incomplete */
}

TEST(no_lines_make_no_file)
{
    saved_file(directory, "rank_0_metrics.jsonl", "");
    ck_assert_int_eq(results_write_metrics_csv(directory), 0);
    saved_file(directory, "rank_0_metrics.jsonl", "{\"a\": 1");
    ck_assert_int_eq(results_write_metrics_csv(directory), 0);
    ck_assert_int_ne(access(in_directory("metrics.csv"), F_OK), 0);
}

TEST(failures_are_reported)
{
    char lines[20000] = "{", *at = lines + 1;
    check_reported("cannot read");
    check_reported(strerror(ENOENT));
    ck_assert_int_eq(mkdir(in_directory("rank_0_metrics.jsonl"), 0777), 0);
    check_reported(strerror(EISDIR));
    ck_assert_int_eq(rmdir(in_directory("rank_0_metrics.jsonl")), 0);
    for (int i = 0; i <= 1000; i++)
        at += sprintf(at, "%s\"m%d\": 1", i ? "," : "", i);
    strcpy(at, "}\n");
    saved_file(directory, "rank_0_metrics.jsonl", lines);
    check_reported("more than 1000");
    saved_file(directory, "rank_0_metrics.jsonl", "{\"a\": 1}\n");
    ck_assert_int_eq(mkdir(in_directory("metrics.csv"), 0777), 0);
    check_reported("metrics.csv");
    ck_assert_int_ne(access(in_directory("metrics.csv.tmp"), F_OK), 0);
}

/* Every rank closes its metrics; only rank 0 writes the table, once. */
TEST(a_run_that_closes_its_metrics_has_the_table)
{
    for (int rank = 1; rank >= 0; rank--) {
        struct results results = {.rank = rank};
        char name[40];
        snprintf(results.directory, sizeof results.directory, "%s", directory);
        snprintf(name, sizeof name, "rank_%d_metrics.jsonl", rank);
        ck_assert_int_eq(lines_open(&results.telemetry, in_directory(name)), 0);
        fputs("{\"a\": 1}\n", results_begin(&results));
        ck_assert_int_eq(results_end(&results), 0);
        ck_assert_int_eq(results_close(&results), 0);
        ck_assert_int_eq(access(in_directory("metrics.csv"), F_OK), rank ? -1 : 0);
        ck_assert_int_eq(rank ? 0 : unlink(in_directory("metrics.csv")), 0);
        ck_assert_int_eq(results_close(&results), 0);
        ck_assert_int_ne(access(in_directory("metrics.csv"), F_OK), 0);
    }
}

void __asan_init(void) __attribute__((weak)); /* defined if AddressSanitizer, which keeps freed memory, is used */

/* Writing the table of 50,000 lines, 27 MB, needs less than 20 MB of memory. */
TEST(many_lines_take_little_memory)
{
    enum { LINES = 50000, NUMBERS = 22 };
    FILE *file = fopen(in_directory("rank_0_metrics.jsonl"), "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < LINES; i++) {
        fprintf(file, "{\"implementation\": \"ddp\", \"step\": %d", i);
        for (int k = 0; k < NUMBERS; k++)
            fprintf(file, ", \"figure_%d_ms\": %.6f", k, 1e-3 * k * i);
        fprintf(file, ", \"list\": [1, 2]}\n");
    }
    fclose(file);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    ck_assert_int_eq(results_write_metrics_csv(directory), 0);
    getrusage(RUSAGE_SELF, &after);
    if (!__asan_init)
        ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 20000); /* KiB */
}

SUITE("metrics", set_up, scratch_remove_all)
