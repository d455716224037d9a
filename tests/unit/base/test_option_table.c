/* test_option_table.c - the reader of command lines: letters, suffixes, words that are no options, several sections. */
#include "base/option_table.h"

#include "kernels/error.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

struct values {
    size_t bytes, count;
    double real;
    const char *text;
    int flag;
};

static const struct option numbers[] = {
    {"min-bytes", &option_bytes, offsetof(struct values, bytes), "8", 1, 1e12, "a size", 'b'},
    {"iters", &option_count, offsetof(struct values, count), "20", 0, 100, "a count", 'n'},
    {"factor", &option_real, offsetof(struct values, real), "2", 1, 10, "a number", 'f'},
};
static const struct option words[] = {
    {"dtype", &option_text, offsetof(struct values, text), "float", 0, 0, "a word", 'd'},
    {"check", &option_flag, offsetof(struct values, flag), NULL, 0, 0, "a flag", 'c'},
};

enum { MAX_WORDS = 8 };
static char taken[MAX_WORDS][32];
static int n_taken;

static int take(void *context, const char *word)
{
    (void)context;
    snprintf(taken[n_taken++], sizeof *taken, "%s", word);
    return 0;
}

static int read_line(struct values *values, const char *line, int (*word)(void *, const char *))
{
    static char copy[256];
    char *argv[MAX_WORDS + 1] = {"program"}, *save = NULL;
    int argc = 1;
    *values = (struct values){0};
    const struct option_section section[] = {{"Numbers", numbers, 3, values}, {"Words", words, 2, values}};
    const struct option_table table = {.section = section, .sections = 2, .word = word};
    strcpy(copy, line);
    for (char *at = strtok_r(copy, " ", &save); at; at = strtok_r(NULL, " ", &save))
        argv[argc++] = at;
    error_clear();
    n_taken = 0;
    return option_table_parse(&table, argc, argv);
}

START_TEST(defaults_are_set)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, "", NULL), 0);
    ck_assert(v.bytes == 8 && v.count == 20 && v.real == 2 && !strcmp(v.text, "float") && !v.flag);
}
END_TEST

START_TEST(every_spelling_is_taken)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, "-b 64K -n7 --factor=1.5 --dtype bf16 -c", NULL), 0);
    ck_assert(v.bytes == 65536 && v.count == 7 && v.real == 1.5 && !strcmp(v.text, "bf16") && v.flag == 1);
    ck_assert_int_eq(read_line(&v, "--min_bytes 1.5G --min-bytes 12", NULL), 0);
    ck_assert_uint_eq(v.bytes, 12);
}
END_TEST

static const struct {
    const char *text;
    size_t bytes;
} sizes[] = {{"8", 8},
             {"1K", 1024},
             {"1k", 1024},
             {"3M", 3 << 20},
             {"0.5K", 512},
             {"1m", 1 << 20},
             {"2G", (size_t)2 << 30},
             {"2g", (size_t)2 << 30}};

START_TEST(suffixes_are_binary)
{
    struct values v;
    char line[64];
    snprintf(line, sizeof line, "-b %s", sizes[_i].text);
    ck_assert_int_eq(read_line(&v, line, NULL), 0);
    ck_assert_uint_eq(v.bytes, sizes[_i].bytes);
}
END_TEST

static const char *const refused[][2] = {
    {"-b 0", "from 1 to"},
    {"-b 8KB", "expected a size"},
    {"-b K", "expected a size"},
    {"-b 0.3", "expected a size"},
    {"-b -8", "expected a size"},
    {"-b 8X", "expected a size"},
    {"-n 101", "from 0 to 100"},
    {"-x 3", "unknown option '-x'"},
    {"-b", "--min-bytes needs a value: a size"},
    {"word", "options begin with --"},
    {"-c1", "--check takes no value"},
    {"--check=1", "--check takes no value"},
    {"--min", "unknown option"},
    {"--", "unknown option"},
    {"--min-bytesx 3", "known: --min-bytes --iters"},
};

START_TEST(bad_words_are_refused)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, refused[_i][0], NULL), -1);
    ck_assert_msg(strstr(error_text(), refused[_i][1]) != NULL, "'%s' not in '%s'", refused[_i][1], error_text());
}
END_TEST

START_TEST(words_go_to_their_taker)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, "one -n 3 two -", take), 0);
    ck_assert_int_eq(n_taken, 3);
    ck_assert_str_eq(taken[0], "one");
    ck_assert_str_eq(taken[1], "two");
    ck_assert_str_eq(taken[2], "-");
    ck_assert_uint_eq(v.count, 3);
}
END_TEST

START_TEST(help_names_letters_and_defaults)
{
    char text[1024] = "";
    const struct option_section section[] = {{"Numbers", numbers, 3, NULL}, {"Words", words, 2, NULL}};
    const struct option_table table = {.section = section, .sections = 2};
    FILE *out = fmemopen(text, sizeof text, "w");
    option_table_help(out, &table);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "Numbers:\n  --min-bytes, -b"));
    ck_assert_ptr_nonnull(strstr(text, "a size [8]\n"));
    ck_assert_ptr_nonnull(strstr(text, "a flag\n"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("option table");
    TCase *tests = tcase_create("option table");
    tcase_add_test(tests, defaults_are_set);
    tcase_add_test(tests, every_spelling_is_taken);
    tcase_add_loop_test(tests, suffixes_are_binary, 0, sizeof sizes / sizeof *sizes);
    tcase_add_loop_test(tests, bad_words_are_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, words_go_to_their_taker);
    tcase_add_test(tests, help_names_letters_and_defaults);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
