/* test_lines.c - a file always holds whole lines, also after write errors. */
#include "base/lines.h"

#include "kernels/error.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *directory;

static void setup(void)
{
    directory = scratch_make();
}

static struct lines lines;

static int open_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return lines_open(&lines, path);
}

static void check_file(const char *name, const char *expected)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    ck_assert_str_eq(text_of_file(path), expected);
}

TEST(an_empty_file_with_another_name_is_not_written)
{
    char path[128], another[128];
    snprintf(path, sizeof path, "%s/a", directory);
    snprintf(another, sizeof another, "%s/b", directory);
    ck_assert_int_eq(open_file("a"), 0);
    ck_assert_int_eq(lines_close(&lines), 0);
    ck_assert_int_eq(link(path, another), 0);
    ck_assert_int_eq(open_file("a"), -1);
    ck_assert_int_eq(errno, EEXIST);
    ck_assert_int_eq(unlink(another), 0);
    ck_assert_int_eq(open_file("a"), 0);
    ck_assert_int_eq(lines_close(&lines), 0);
}

TEST(lines_are_appended)
{
    ck_assert_int_eq(open_file("m.csv"), 0);
    ck_assert_int_eq(lines_append(&lines, "a,b,c\n", 6), 0);
    check_file("m.csv", "a,b,c\n");
    ck_assert_int_eq(lines_append(&lines, "1,,\n2,,\n", 8), 0);
    ck_assert_int_eq(lines_report(&lines), 0);
    ck_assert_int_eq(lines_close(&lines), 0);
    ck_assert_int_eq(lines_close(&lines), 0);
    check_file("m.csv", "a,b,c\n1,,\n2,,\n");
}

/* Under a limit on the size of files, the line that does not fit is left out and earlier lines stay. */
TEST(a_full_disk_keeps_whole_lines)
{
    struct rlimit limit = {10, 10};
    ck_assert_int_eq(open_file("m"), 0);
    ck_assert_int_eq(lines_append(&lines, "abc\nx\n", 6), 0);
    ck_assert_int_eq(lines_append(&lines, "x\n", 2), 0);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(lines_append(&lines, "1234\n", 5), -1); /* does not fit */
    ck_assert_int_eq(lines_append(&lines, "x\n", 2), -1);    /* "x" would fit, but no write follows a failed one */
    check_file("m", "abc\nx\nx\n");
    ck_assert_int_eq(lines_report(&lines), -1);
    error_clear();
    ck_assert_int_eq(lines_close(&lines), -1);
    check_has(error_text(), strerror(EFBIG));
    check_has(error_text(), "/m: ");
    ck_assert_int_eq(lines_close(&lines), 0);
}

TEST(a_file_that_cannot_be_opened)
{
    ck_assert_int_eq(lines_open(&lines, "/proc/nowhere/m.csv"), -1);
    check_has(error_text(), "/proc/nowhere/m.csv");
    ck_assert_int_eq(lines_close(&lines), 0);
}

SUITE("lines", setup, scratch_remove_all)
