/* test_directory.c - files that a run would overwrite are found, even if another program wrote them. */
#include "results/results.h"

#include "kernels/error.h"
#include "tests/support/saved.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *top;

static void setup(void)
{
    top = scratch_make();
    error_clear();
}

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", top, name);
    return path;
}

/* Checks the directories top and top/ddp for existing files, as a profile of `ddp` does. */
static int check_free(void)
{
    return results_check_free("profile-output-dir", top, "ddp");
}

static const struct taken {
    const char *below, *name; /* name: file in the directory top/below; the error must name it */
} taken[] = {
    {"", "run.json"},
    {"", "RUN.json"},
    {"", "ddp_summary.txt"},
    {"", "ddp_rank_7_trace.json"},
    {"", "ddp_rank_0_trace.json.gz"},
    {"ddp", "run.json"},
    {"ddp", "summary.csv"},
    {"ddp", "Metrics.CSV"},
    {"ddp", "rank_12_metrics.jsonl"},
    {"ddp", "gpu_monitor_host.csv"},
    {"ddp", "checkpoint.bin"},
};

TEST_EACH(a_file_that_a_run_writes_is_not_written_over, sizeof taken / sizeof *taken)
{
    char directory[200];
    snprintf(directory, sizeof directory, "%s/%s", top, taken[_i].below);
    saved_file(directory, taken[_i].name, "somebody's");
    ck_assert_int_eq(check_free(), -1);
    ck_assert_msg(strstr(error_text(), "--profile-output-dir ") == error_text() && strstr(error_text(), taken[_i].name),
                  "%s", error_text());
}

TEST(other_files_stay_beside_it)
{
    static const char *const others[] = {"ddp_flat_rank_0_trace.json", "ddp_flat_summary.txt", "notes.txt",
                                         "run.json~"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        saved_file(top, others[i], "somebody's");
    ck_assert_msg(check_free() == 0, "%s", error_text());
}

TEST(an_empty_file_is_written_to)
{
    saved_file(path_of("ddp"), "summary.json", "");
    ck_assert_msg(check_free() == 0, "%s", error_text());
}

TEST(an_empty_file_with_another_name_is_taken)
{
    char other[256];
    saved_file(path_of("ddp"), "summary.json", "");
    snprintf(other, sizeof other, "%s/%s", top, "somebody's");
    ck_assert_int_eq(link(path_of("ddp/summary.json"), other), 0);
    ck_assert_int_eq(check_free(), -1);
    check_has(error_text(), "summary.json");
}

TEST(a_directory_of_that_name_is_taken)
{
    saved_file(path_of("ddp/all_ranks"), "anything", "somebody's");
    ck_assert_int_eq(check_free(), -1);
    check_has(error_text(), "all_ranks");
}

/* A directory that can be written but not listed is refused; root can list it, and is refused because of its file. */
TEST(a_directory_that_cannot_be_listed_is_refused)
{
    saved_file(path_of("ddp"), "summary.json", "somebody's");
    ck_assert_int_eq(chmod(path_of("ddp"), 0300), 0);
    int listed = !access(path_of("ddp"), R_OK), status = check_free();
    ck_assert_int_eq(chmod(path_of("ddp"), 0700), 0);
    ck_assert_int_eq(status, -1);
    check_has(error_text(), listed ? "already holds summary.json" : strerror(EACCES));
}

SUITE("results_directory", setup, scratch_remove_all)
