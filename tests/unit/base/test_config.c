/* test_config.c - the options of a --config file: which words its lines become, and how the table takes them. */
#include "base/option_table.h"

#include "kernels/error.h"
#include "kernels/option_file.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

struct values {
    size_t iters, ranks;
    const char *name;
    int check;
};
static const struct option rows[] = {
    {.name = "iters",
     .letter = 'n',
     .kind = &option_count,
     .offset = offsetof(struct values, iters),
     .initial = "20",
     .high = 100,
     .help = "a count"},
    {.name = "dry-run",
     .kind = &option_count,
     .offset = offsetof(struct values, ranks),
     .initial = "1",
     .bare = "2",
     .high = 100,
     .help = "a count that may be left out"},
    {.name = "name-of", .kind = &option_text, .offset = offsetof(struct values, name), .initial = "", .help = "a text"},
    {.name = "check", .kind = &option_flag, .offset = offsetof(struct values, check), .help = "a flag"},
};
static struct option_table table;
static struct values values;

/* Parses `program --config lab.conf WORDS` with this text in lab.conf, in an empty directory. */
static int parse(const char *text, int n, char *const word[])
{
    char *argv[16] = {"program", "--config", "lab.conf"}, **all = argv;
    int argc = 3;
    ck_assert_int_eq(chdir(scratch_make()), 0);
    FILE *file = fopen("lab.conf", "w");
    fputs(text, file);
    fclose(file);
    for (int i = 0; i < n; i++)
        argv[argc++] = word[i];
    ck_assert_int_eq(option_file_append("lab.conf", &argc, &all), 0);
    option_place = option_file_place;
    option_table_add(&table, (struct option_section){.title = "Options", OPTION_ROWS(rows), .base = &values});
    option_table_add(&table, option_config_section());
    return option_table_parse(&table, argc, all);
}

TEST(lines_are_options)
{
    ck_assert_int_eq(parse("# lab\n\n \t\niters 7\t # seven\r\n--name_of = a=b c#d  \n  check", 0, NULL), 0);
    ck_assert(values.iters == 7 && values.check && values.ranks == 1);
    ck_assert_str_eq(values.name, "a=b c#d");
    ck_assert(option_was_given(&table, "iters") && !option_was_given(&table, "dry-run"));
}

TEST(a_letter_and_an_option_without_value)
{
    ck_assert_int_eq(parse("-n 9\ndry-run\nname-of x", 1, (char *[]){"--dry-run"}), 0);
    ck_assert(values.iters == 9 && values.ranks == 2);
    ck_assert_str_eq(values.name, "x");
}

TEST(the_command_line_wins)
{
    ck_assert_int_eq(parse("iters 9\nname-of of-file", 2, (char *[]){"-n", "3"}), 0);
    ck_assert_uint_eq(values.iters, 3);
    ck_assert_str_eq(values.name, "of-file");
}

static const char *const refused[][2] = {
    {"\n#\nitres 3", "lab.conf:3: unknown option '--itres'; did you mean --iters?"},
    {"iters 300", "lab.conf:1: --iters 300: expected a whole number from 0 to 100"},
    {"iters 3\n-n 3", "lab.conf:2: --iters is given twice; give it once"},
    {"config other.conf", "lab.conf:1: --config cannot be in the file of --config"},
    {"check yes", "lab.conf:1: --check takes no value"},
    {"name-of\n-n 3", "lab.conf:1: --name-of needs a value: a text"},
    {"iters=\n", "lab.conf:1: --iters needs a value"},
};

TEST_EACH(errors_name_file_and_line, sizeof refused / sizeof *refused)
{
    ck_assert_int_eq(parse(refused[_i][0], 0, NULL), -1);
    check_has(error_text(), refused[_i][1]);
}

TEST(a_file_that_cannot_be_read_is_refused)
{
    char *argv[] = {"program"}, **all = argv;
    int argc = 1;
    ck_assert_int_eq(option_file_append("/nothing/lab.conf", &argc, &all), -1);
    ck_assert_str_eq(error_text(), "--config /nothing/lab.conf: No such file or directory");
    error_clear();
    ck_assert_int_eq(option_file_append("/dev/null", &argc, &all), -1);
    ck_assert_str_eq(error_text(), "--config /dev/null: it is not a regular file");
}

SUITE("config", NULL, scratch_remove_all)
