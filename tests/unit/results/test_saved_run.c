/* test_saved_run.c - saved runs are read back unchanged; all but finished runs of this schema are refused. */
#include "base/table.h"
#include "kernels/error.h"
#include "results/results.h"
#include "results/saved_run.h"
#include "tests/support/saved.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *root;
static struct saved_run saved;

static void setup(void)
{
    root = scratch_make();
    error_clear();
}

static void teardown(void)
{
    saved_run_destroy(&saved);
    scratch_remove_all();
}

/* Returns the path of a name below root, valid until the next call but one. */
static const char *below(const char *name)
{
    static char path[2][200];
    static int at;
    at = !at;
    snprintf(path[at], sizeof path[at], "%s/%s", root, name);
    return path[at];
}

static struct figure_list some_figures(void)
{
    struct figure_list list = {0};
    struct estimate step = {.median = 0.0125, .ci_low = 0.012, .ci_high = 0.013, .n = 10};
    figures_add_estimate(&list, "ddp", "step", "s", &step, BETTER_LOWER, 1);
    figures_add_value(&list, "ddp", "tokens_per_second", "1/s", 1000, 10, BETTER_HIGHER);
    figures_add_value(&list, "ddp", "nothing", "s", NAN, 0, BETTER_LOWER);
    struct figure of_size = {.subject = "all_reduce float sum in_place",
                             .name = "time",
                             .unit = "s",
                             .bytes = 1024,
                             .value = 1e-5,
                             .low = NAN,
                             .high = NAN,
                             .n = 3,
                             .judged = 1};
    figures_add(&list, &of_size);
    return list;
}

static void write_run(const char *directory)
{
    struct figure_list list = some_figures();
    saved_run(directory, "benchmark", "\"d-model\": 32", &list);
    figures_destroy(&list);
}

TEST(a_run_is_read_back)
{
    write_run(below("run"));
    ck_assert_msg(saved_run_read(&saved, below("run/"), 0) == 0, "%s", error_text());
    ck_assert_str_eq(saved.directory, below("run"));
    ck_assert_uint_eq(saved.figures.n, 3); /* a figure that is not finite is left out */
    const struct figure *step = figures_find(&saved.figures, "ddp", "step", 0);
    ck_assert(step && step->value == 0.0125 && step->low == 0.012 && step->high == 0.013 && step->n == 10);
    ck_assert(step->judged && step->better == BETTER_LOWER);
    ck_assert_str_eq(step->unit, "s");
    const struct figure *tokens = figures_find(&saved.figures, "ddp", "tokens_per_second", 0);
    ck_assert(tokens && !tokens->judged && tokens->better == BETTER_HIGHER && isnan(tokens->low));
    const struct figure *time = figures_find(&saved.figures, "all_reduce float sum in_place", "time", 1024);
    ck_assert(time && time->value == 1e-5 && time->bytes == 1024);
}

TEST(a_profile_is_one_directory_below)
{
    ino_t inode;
    write_run(below("profile/ddp"));
    ck_assert_int_eq(saved_run_read(&saved, below("profile"), 0), 0);
    ck_assert_str_eq(saved.directory, below("profile/ddp"));
    inode = saved.inode;
    saved_run_destroy(&saved);
    ck_assert_int_eq(saved_run_read(&saved, below("profile/ddp"), 0), 0);
    ck_assert(saved.inode == inode && inode != 0);
}

/* {file, text to replace, replacement, words of the error}; in summary.json a tab follows each name and colon */
static const char *const refusals[][4] = {
    {"run.json", "\"schema_version\": 4", "\"schema_version\": 1",
     "run.json: schema_version 1: written by an older "
     "ddpbench; run it again with this one"},
    {"run.json", "\"schema_version\": 4", "\"schema_version\": 5",
     "run.json: schema_version 5: written by a newer "
     "ddpbench; read it with that one"},
    {"run.json", "\"schema_version\"", "\"other\"", "run.json: lacks schema_version, mode, configuration or derived"},
    {"run.json", "\"mode\"", "\"mood\"", "run.json: lacks schema_version, mode, configuration or derived"},
    {"run.json", "\"configuration\"", "\"options\"", "run.json: lacks schema_version, mode, configuration or derived"},
    {"run.json", "\"derived\"", "\"found\"", "run.json: lacks schema_version, mode, configuration or derived"},
    {"run.json", "\"derived\": {\"world_size\": 2}", "\"derived\": [2]",
     "run.json: \"derived\" is [2]; expected an object"},
    {"run.json", "\"world_size\": 2", "\"world_size\": -2",
     "run.json: \"derived.world_size\" is -2; expected a whole number from 0 to 10^15"},
    {"run.json", "\"world_size\": 2", "\"world_size\": 2.5", "\"derived.world_size\" is 2.5; expected a whole number"},
    {"run.json", "\"world_size\": 2", "\"world_size\": 1e300", "\"derived.world_size\" is 1e+300; expected a whole"},
    {"run.json", "\"world_size\": 2", "\"world_size\": \"2\"", "\"derived.world_size\" is \"2\"; expected a whole"},
    {"run.json", "\"configuration\": {", "\"ranks\": [{\"host\": \"a\"}, 7], \"configuration\": {",
     "run.json: \"ranks.1\" is 7; expected an object"},
    {"run.json", "\"configuration\": {", "\"ranks\": [{\"host\": [1]}], \"configuration\": {",
     "run.json: \"ranks.0.host\" is [1]; expected a text"},
    {"run.json", "\"configuration\": {", "\"configuration\": 1, \"x\": {",
     "\"configuration\" is 1; expected an object"},
    {"run.json", "\"mode\": \"benchmark\"", "\"mode\": \"profile\"",
     "run.json has mode profile and summary.json has "
     "mode benchmark, so they belong to two runs"},
    {"run.json", "{", "[", "run.json: is not valid JSON"},
    {"summary.json", "\"schema_version\":\t4", "\"schema_version\":\t1",
     "have different schema_versions, so they belong to "
     "two runs"},
    {"summary.json", "\"done\":\t2", "\"done\":\t1", "summary.json: has 1 of 2 rounds: the run has not finished"},
    {"summary.json", "\"done\"", "\"finished\"", "summary.json: lacks done or planned, so ddpbench did not write it"},
    {"summary.json", "\"done\":\t2", "\"done\":\t1e999",
     "summary.json: lacks done or planned, so ddpbench did not write it"},
    {"summary.json", "\"planned\"", "\"wanted\"", "summary.json: lacks done or planned, so ddpbench did not write it"},
    {"summary.json", "\"figures\"", "\"numbers\"", "summary.json: lacks the list \"figures\""},
    {"summary.json", "\"unit\"", "\"unity\"", "summary.json: figure 1 lacks one or more of subject"},
    {"summary.json", "{", "", "summary.json: is not valid JSON"},
    {"summary.json", "\"bytes\":\t1024", "\"bytes\":\t1e999",
     "summary.json: figure 3 (time of all_reduce float sum in_place): its bytes are no finite number from 0 on"},
    {"summary.json", "\"bytes\":\t1024", "\"bytes\":\tnull", "its bytes are no finite number"},
    {"summary.json", "\"bytes\":\t1024", "\"bytes\":\t\"1024\"", "its bytes are no finite number"},
    {"summary.json", "\"bytes\":\t1024", "\"bytes\":\t-1", "its bytes are no finite number"},
    {"summary.json", "\"value\":\t0.0125", "\"value\":\t1e999", "figure 1 lacks one or more of subject"},
    {"summary.json", "\"low\":\t0.012", "\"low\":\t\"0.012\"",
     "summary.json: \"figures.0.low\" is \"0.012\"; expected a finite number"},
    {"summary.json", "\"low\":\t0.012", "\"low\":\t-1e999", "\"figures.0.low\" is infinite; expected a finite number"},
    {"summary.json", "\"judged\":\ttrue", "\"judged\":\t1", "\"figures.0.judged\" is 1; expected true or false"},
    {"summary.json", "\"figures\":\t[", "\"figures\":\t[5, ", "summary.json: \"figures.0\" is 5; expected an object"},
    {"summary.json", "\"low\":\t0.012", "\"low\":\t0.014", "(step of ddp): its interval ends before it begins"},
    {"summary.json", "\"name\":\t\"tokens_per_second\"", "\"name\":\t\"step\"", "summary.json: has step of ddp twice"},
};

static void edit(const char *directory, const char *name, const char *from, const char *to)
{
    char path[300], edited[6400];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    const char *text = text_of_file(path), *at = strstr(text, from);
    ck_assert_msg(at != NULL, "no '%s' in %s", from, text);
    snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    saved_file(directory, name, edited);
}

TEST_EACH(edited_files_are_refused, sizeof refusals / sizeof *refusals)
{
    const char *const *row = refusals[_i];
    write_run(below("run"));
    edit(below("run"), row[0], row[1], row[2]);
    ck_assert_msg(saved_run_read(&saved, below("run"), 0) == -1, "'%s' for '%s' is accepted", row[2], row[1]);
    check_has(error_text(), row[3]);
    check_has(error_text(), below("run"));
}

static void refuses(const char *name, const char *words)
{
    error_clear();
    ck_assert_int_eq(saved_run_read(&saved, below(name), 0), -1);
    check_has(error_text(), words);
    saved_run_destroy(&saved);
}

TEST(no_directory_of_a_run)
{
    char longer[1200];
    refuses("absent", "cannot read");
    saved_file(below("empty"), "other.txt", "");
    refuses("empty", "holds no run.json, so it is not a result directory of ddpbench");
    refuses("empty/other.txt", "is not a directory; give the directory with the results of a run");
    write_run(below("many/a"));
    write_run(below("many/b"));
    refuses("many", "holds the results of 2 runs; give one of them, such as ");
    write_run(below("half"));
    unlink(below("half/summary.json"));
    refuses("half", "holds no summary.json: the run has not finished");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    error_clear();
    ck_assert_int_eq(saved_run_read(&saved, longer, 0), -1);
    check_has(error_text(), "the path is longer than");
}

/* ---- limits: a file that no run writes is refused, quickly and without using memory; the error names it ---- */

static const char *run_json(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", below("run"), name);
    return path;
}

TEST(only_regular_files_are_read)
{
    static const char *const names[] = {"run.json", "summary.json"};
    for (int i = 0; i < 2; i++) {
        write_run(below("run"));
        unlink(run_json(names[i]));
        ck_assert_int_eq(mkfifo(run_json(names[i]), 0600), 0); /* a pipe without a writer */
        refuses("run", "json: it is not a regular file");
        unlink(run_json(names[i]));
        ck_assert_int_eq(symlink("/dev/zero", run_json(names[i])), 0);
        refuses("run", "json: it is not a regular file");
        unlink(run_json(names[i]));
        ck_assert_int_eq(mkdir(run_json(names[i]), 0700), 0);
        refuses("run", "json: Is a directory");
        ck_assert_int_eq(rmdir(run_json(names[i])), 0);
    }
}

TEST(large_files_are_not_read)
{
    static const off_t sizes[] = {((off_t)64 << 20) + 1, (off_t)8 << 30, ((off_t)1 << 40) - 1};
    char words[100];
    struct rusage before, after;
    write_run(below("run"));
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ck_assert_int_eq(truncate(run_json("summary.json"), sizes[i]), 0);
        snprintf(words, sizeof words, "run/summary.json: it has %lld bytes; at most 64 MiB are read",
                 (long long)sizes[i]);
        refuses("run", words);
    }
    getrusage(RUSAGE_SELF, &after);
    ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 16 << 10);           /* in KiB: no file was read */
    ck_assert_int_eq(truncate(run_json("summary.json"), (off_t)64 << 20), 0); /* appends zeros */
    refuses("run", "summary.json: is not valid JSON");
}

/* Writes a run.json whose member `name` is a list or object of n items. */
static void fill(const char *name, const char *item, size_t n, char open)
{
    FILE *file = fopen(run_json("run.json"), "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "{\"schema_version\": 4, \"mode\": \"benchmark\", \"configuration\": {}, \"derived\": {}, \"%s\":\n%c",
            name, open);
    for (size_t i = 0; i < n; i++)
        fprintf(file, item, i ? "," : "");
    fprintf(file, "%c}", open == '{' ? '}' : ']');
    fclose(file);
}

TEST(lists_have_limits)
{
    static const struct {
        const char *name, *item;
        size_t most;
        char open;
        const char *words;
    } lists[] = {{"ranks", "%s{}", 100000, '[', "run.json: \"ranks\" has 100001 items; at most 100000 are read"},
                 {"hosts", "%s\"h\":{}", 10000, '{', "\"hosts\" has 10001 items; at most 10000 are read"},
                 {"implementations", "%s{}", 1000, '[', "\"implementations\" has 1001 items; at most 1000"},
                 {"environment", "%s\"e\":\"1\"", 1000, '{', "\"environment\" has 1001 items; at most 1000 are read"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        write_run(below("run"));
        fill(lists[i].name, lists[i].item, lists[i].most, lists[i].open);
        error_clear();
        ck_assert_msg(saved_run_read(&saved, below("run"), 0) == 0, "%s", error_text());
        saved_run_destroy(&saved);
        fill(lists[i].name, lists[i].item, lists[i].most + 1, lists[i].open);
        refuses("run", lists[i].words);
    }
}

/* A run that was interrupted can be read if it has figures, as a profile without rounds. tune plans one round at a
 * time. */
TEST(a_run_that_was_interrupted)
{
    char words[RESULTS_UNFINISHED];
    write_run(below("run"));
    ck_assert_int_eq(saved_run_read(&saved, below("run"), 1), 0);
    ck_assert_str_eq(results_unfinished(words, saved.summary), "");
    saved_run_destroy(&saved);
    edit(below("run"), "summary.json", "\"done\":\t2", "\"done\":\t1");
    ck_assert_int_eq(saved_run_read(&saved, below("run"), 1), 0);
    ck_assert_uint_eq(saved.figures.n, 3);
    ck_assert_str_eq(results_unfinished(words, saved.summary), "1 of 2 rounds");
    cJSON_ReplaceItemInObject(saved.summary, "mode", cJSON_CreateString("tune"));
    ck_assert_str_eq(results_unfinished(words, saved.summary), "1 of at least 2 rounds");
    saved_run_destroy(&saved);
    edit(below("run"), "summary.json", "\"done\":\t1", "\"done\":\t0");
    ck_assert_int_eq(saved_run_read(&saved, below("run"), 1), 0);
    ck_assert_uint_eq(saved.figures.n, 3);
    saved_run_destroy(&saved);
    edit(below("run"), "summary.json", "\"figures\":\t[", "\"figures\":\t[], \"others\":\t[");
    ck_assert_int_eq(saved_run_read(&saved, below("run"), 1), -1);
    check_has(error_text(), "has 0 of 2 rounds and no figures: the run has not finished");
}

/* The heading of a summary states that the run is unfinished; a summary of allreduce has # before each sentence. */
TEST(a_summary_states_that_it_is_unfinished)
{
    static const char *const mode[] = {"benchmark", "allreduce"};
    struct results results = {.telemetry.file = -1};
    struct figure_list none = {0};
    snprintf(results.directory, sizeof results.directory, "%s", root);
    for (int i = 0; i < 2; i++) {
        cJSON *summary = kept_json(results_summary_create(mode[i], "l", 1, 2, "rounds"));
        results_add_sentence(summary, "heading", "a heading");
        results_add_sentence(summary, "answers", "an answer");
        ck_assert_int_eq(results_write_summary(&results, summary, &none), 0);
        results_print_summary(printing(), summary);
        ck_assert_str_eq(printed(), i ? "# a heading\n# Interrupted, or still running: 1 of 2 rounds.\n\n# an answer\n"
                                      : "a heading\nInterrupted, or still running: 1 of 2 rounds.\n\nan answer\n");
    }
}

/* The printed summary equals summary.txt, in the order heading, answers, tables, notes. */
TEST(a_summary_as_text)
{
    struct row {
        double seconds;
    } row = {0.5};
    const struct column column = {
        .key = "time", .heading = "ms", .kind = COLUMN_REAL, .unit = "s", .scale = 1e3, .decimals = 1, .width = 6};
    const struct table table = {"times", "Times", &column, 1, &row, 1, sizeof row, 0, .note = {"A note of the table."}};
    struct results results = {.telemetry.file = -1};
    struct figure_list none = {0};
    write_run(below("run"));
    snprintf(results.directory, sizeof results.directory, "%s", below("run"));
    cJSON *summary = kept_json(results_summary_create("benchmark", "", 1, 1, "rounds"));
    results_add_sentence(summary, "heading", "first %d", 1);
    results_add_sentence(summary, "heading", "second");
    results_add_sentence(summary, "notes", "last \xff");
    results_add_sentence(summary, "answers", "42");
    cJSON_AddItemToArray(cJSON_GetObjectItem(summary, "tables"), table_json(&table));
    ck_assert_int_eq(results_write_summary(&results, summary, &none), 0);
    ck_assert_int_eq(saved_run_read(&saved, results.directory, 0), 0);
    results_print_summary(printing(), saved.summary);
    const char *text = printed();
    ck_assert_str_eq(text, "first 1\nsecond\n\n42\n\nTimes\n    ms\n 500.0\nA note of the table.\n\nlast ?\n");
    ck_assert_str_eq(text_of_file(below("run/summary.txt")), text);
}

/* If a summary cannot be written, the earlier summary stays. */
TEST(a_summary_is_replaced_whole)
{
    struct results results = {.telemetry.file = -1};
    struct figure_list list = some_figures();
    write_run(below("run"));
    snprintf(results.directory, sizeof results.directory, "%s", below("run"));
    cJSON *summary = kept_json(results_summary_create("benchmark", "other", 1, 1, "rounds"));
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){200, RLIM_INFINITY});
    ck_assert_int_eq(results_write_summary(&results, summary, &list), -1);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    figures_destroy(&list);
    check_has(error_text(), "summary.json");
    ck_assert_int_ne(access(below("run/summary.json.tmp"), F_OK), 0);
    ck_assert_int_eq(saved_run_read(&saved, below("run"), 0), 0);
    ck_assert_str_eq(cJSON_GetObjectItem(saved.summary, "label")->valuestring, "l");
}

SUITE("saved_run_read", setup, teardown)
