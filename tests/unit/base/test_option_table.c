/* test_option_table.c - parsing command lines: short options, suffixes, operands, several sections. */
#include "base/option_table.h"

#include "kernels/error.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

struct values {
    size_t bytes, count;
    double real;
    const char *text;
    int flag, colour, tint;
};

static const char *const colours[] = {"red", "green", "blue", NULL};

static const struct option numbers[] = {
    {.name = "min-bytes",
     .letter = 'b',
     .kind = &option_bytes,
     .offset = offsetof(struct values, bytes),
     .initial = "8",
     .low = 1,
     .high = 1e12,
     .help = "a size"},
    {.name = "iters",
     .also = "num-iterations repeats",
     .letter = 'n',
     .kind = &option_count,
     .offset = offsetof(struct values, count),
     .initial = "20",
     .high = 100,
     .help = "a count"},
    {.name = "factor",
     .letter = 'f',
     .kind = &option_real,
     .offset = offsetof(struct values, real),
     .initial = "2",
     .low = 1,
     .high = 10,
     .help = "a number"},
};
static const struct option words[] = {
    {.name = "dtype",
     .letter = 'd',
     .kind = &option_text,
     .offset = offsetof(struct values, text),
     .initial = "float",
     .help = "a word"},
    {.name = "check", .letter = 'c', .kind = &option_flag, .offset = offsetof(struct values, flag), .help = "a flag"},
    {.name = "colour",
     .common = 1,
     .kind = &option_choice,
     .offset = offsetof(struct values, colour),
     .initial = "green",
     .choices = colours,
     .help = "one of three"},
};
static const struct option tints[] = {
    {.name = "tint",
     .kind = &option_flag,
     .offset = offsetof(struct values, tint),
     .without = "colour=blue,shade,dtype=bf16", /* 'shade' is not in the table, which is allowed */
     .help = "of the colour"},
};

static void make_table(struct option_table *table, struct values *values)
{
    option_table_add(table, (struct option_section){.title = "Numbers", OPTION_ROWS(numbers), .base = values});
    option_table_add(table, (struct option_section){.title = "Words", OPTION_ROWS(words), .base = values});
    option_table_add(table,
                     (struct option_section){
                         .title = "Tints", OPTION_ROWS(tints), .base = values, .needs = "colour", .without = "check"});
}

enum { MAX_WORDS = 8 };
static char taken[MAX_WORDS][32];
static int n_taken;
static struct option_table table; /* the table that parsed the last command line */

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
    static const struct option_hint hints[] = {{"g n-gpus", "start more ranks"}, {NULL, NULL}};
    table = (struct option_table){.word = word, .hints = hints};
    make_table(&table, values);
    strcpy(copy, line);
    for (char *at = strtok_r(copy, " ", &save); at; at = strtok_r(NULL, " ", &save))
        argv[argc++] = at;
    error_clear();
    n_taken = 0;
    return option_table_parse(&table, argc, argv);
}

TEST(defaults_are_set)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, "", NULL), 0);
    ck_assert(v.bytes == 8 && v.count == 20 && v.real == 2 && !strcmp(v.text, "float") && !v.flag);
}

TEST(every_spelling_is_accepted)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, "-b 64K -n7 --factor=1.5 --dtype bf16 -c", NULL), 0);
    ck_assert(v.bytes == 65536 && v.count == 7 && v.real == 1.5 && !strcmp(v.text, "bf16") && v.flag == 1);
    ck_assert_int_eq(read_line(&v, "--min_bytes 1.5G", NULL), 0);
    ck_assert_uint_eq(v.bytes, 1610612736);
    ck_assert_int_eq(read_line(&v, "--iters 0007 --factor .5e1", NULL), 0);
    ck_assert(v.count == 7 && v.real == 5);
}

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

TEST_EACH(suffixes_are_binary, sizeof sizes / sizeof *sizes)
{
    struct values v;
    char line[64];
    snprintf(line, sizeof line, "-b %s", sizes[_i].text);
    ck_assert_int_eq(read_line(&v, line, NULL), 0);
    ck_assert_uint_eq(v.bytes, sizes[_i].bytes);
}

static const char *const refused[][2] = {
    {"-b 0", "from 1 to"},
    {"-b 8KB", "expected a size"},
    {"-b K", "expected a size"},
    {"-b 0.3", "expected a size"},
    {"-b -8", "expected a size"},
    {"-b 8X", "expected a size"},
    {"-n 101", "--iters 101: expected a whole number from 0 to 100"},
    {"-n 18446744073709551617", "whole number"},
    {"--iters=", "whole number"},
    {"-n -1", "whole number"},
    {"-n +1", "whole number"},
    {"-n 3x", "whole number"},
    {"-n \t3", "whole number"},
    {"-n 3\t", "whole number"},
    {"-n 3.0", "whole number"},
    {"-n 1e1", "whole number"},
    {"-n 0x10", "whole number"},
    {"-n nan", "whole number"},
    {"-f 0.5", "--factor 0.5: expected a number from 1 to 10"},
    {"--factor=", "expected a number"},
    {"-f 2x", "expected a number"},
    {"-f \t2", "expected a number"},
    {"-f 2,5", "expected a number"},
    {"-f nan", "expected a number"},
    {"-f inf", "expected a number"},
    {"-f 1e999", "expected a number"},
    {"-f 1e-999", "expected a number"},
    {"-x 3", "unknown option '-x'"},
    {"-b", "--min-bytes needs a value: a size"},
    {"word", "options begin with --"},
    {"-c1", "--check takes no value"},
    {"--check=1", "--check takes no value"},
    {"--min", "unknown option"},
    {"--", "unknown option"},
    {"--=3", "unknown option"},
    {"--min-bytesx 3", "unknown option '--min-bytesx'; did you mean --min-bytes?"},
    {"--iter=3", "did you mean --iters"},
    {"--itres", "did you mean --iters"},
    {"--num_iterations 3", "unknown option '--num_iterations'; did you mean --iters? see --help all"},
    {"--repeats=3", "unknown option '--repeats'; did you mean --iters? see --help all"},
    {"-g 2", "unknown option '-g': start more ranks"},
    {"--n_gpus", "unknown option '--n_gpus': start more ranks"},
    {"--unlike", "unknown option '--unlike'; see --help all"},
    {"--colour pink", "--colour pink: expected red, green or blue"},
    {"--colour gr", "--colour gr: expected red, green or blue; did you mean green?"},
    {"--tint", "--tint needs --colour"},
    {"--dtype --check", "--dtype needs a value"},
    {"--colour blue --tint", "--tint does not go with --colour blue; leave one of them out"},
    {"--dtype bf16 --colour red --tint", "--tint does not go with --dtype bf16; leave one of them out"},
    {"-n 3 -n 3", "--iters is given twice; give it once"},
    {"--min_bytes 12 -b12", "--min-bytes is given twice; give it once"},
    {"-c --iters 2 --check", "--check is given twice; give it once"},
    {"--tint -c --colour red", "--tint does not go with --check; leave one of them out"},
};

TEST_EACH(bad_words_are_refused, sizeof refused / sizeof *refused)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, refused[_i][0], NULL), -1);
    check_has(error_text(), refused[_i][1]);
}

TEST(operands_go_to_their_function)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, "one -n 3 two -", take), 0);
    ck_assert_int_eq(n_taken, 3);
    ck_assert_str_eq(taken[0], "one");
    ck_assert_str_eq(taken[1], "two");
    ck_assert_str_eq(taken[2], "-");
    ck_assert_uint_eq(v.count, 3);
}

TEST(help_names_letters_and_defaults)
{
    char text[1024] = "";
    struct values v;
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert_int_eq(read_line(&v, "--help all -b", NULL), 0);
    ck_assert_int_eq(table.help, HELP_ALL);
    option_table_help(out, &table, HELP_ALL);
    fclose(out);
    check_has(text, "Numbers:\n  --min-bytes, -b");
    check_has(text, "a size [8]\n");
    check_has(text, "a flag\n");
    check_has(text, "Tints:\n  --tint");
}

TEST(rows_are_for_programs)
{
    char text[1024] = "";
    struct values v;
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert_int_eq(read_line(&v, "--help rows", NULL), 0);
    option_table_help(out, &table, table.help);
    fclose(out);
    check_has(text, "Numbers:\n\tmin-bytes\tb\tSIZE\t8\t\ta size\n\titers\tn\tN\t20\t\ta count\n");
    ck_assert_ptr_nonnull(
        strstr(text, "\tcheck\tc\t\t\t\ta flag\n\tcolour\t-\tWORD\tgreen\tred|green|blue\tone of three\n"));
}

TEST(help_shows_what_is_common_first)
{
    char text[1024] = "";
    struct values v;
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert_int_eq(read_line(&v, "-h", NULL), 0);
    option_table_help(out, &table, table.help);
    fclose(out);
    check_has(text, "--help all");
    check_has(text, "--colour");
    check_lacks(text, "--tint");
}

TEST(the_table_knows_what_was_given)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, "-n 20 --colour red --tint", NULL), 0);
    ck_assert_int_eq(v.colour, 0);
    ck_assert(option_was_given(&table, "iters") && option_was_given(&table, "tint"));
    ck_assert(!option_was_given(&table, "min-bytes") && !option_was_given(&table, "check"));
}

/* Removed options are unknown; where a whole section is removed, the next section keeps its title. */
TEST(removed_options_are_unknown)
{
    char text[1024] = "";
    struct values v = {.count = 3};
    char *const argv[] = {"program", "-n", "7"};
    FILE *out = fmemopen(text, sizeof text, "w");
    table = (struct option_table){0};
    make_table(&table, &v);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        option_table_remove(&table, words[i].name);
    option_table_remove(&table, "iters");
    ck_assert_int_eq(option_table_parse(&table, 3, argv), -1);
    check_has(error_text(), "unknown option '-n'");
    error_clear();
    ck_assert_int_eq(option_table_parse(&table, 3, (char *const[]){"program", "--iters", "7"}), -1);
    check_has(error_text(), "unknown option '--iters'");
    ck_assert_uint_eq(v.count, 3);
    ck_assert_double_eq(v.real, 2); /* the default of an option that was not removed */
    option_table_help(out, &table, HELP_ALL);
    fclose(out);
    check_lacks(text, "--iters");
    check_lacks(text, "Words:");
    check_has(text, "Tints:\n  --tint");
}

TEST(every_value_is_recorded)
{
    struct values v;
    ck_assert_int_eq(read_line(&v, "-b 1K --colour red", NULL), 0);
    const char *text = kept(cJSON_PrintUnformatted(kept_json(option_table_json(&table))));
    ck_assert_str_eq(text, "{\"min-bytes\":1024,\"iters\":20,\"factor\":2,\"dtype\":\"float\",\"check\":false,"
                           "\"colour\":\"red\",\"tint\":false}");
}

TEST(lists_are_read_word_by_word)
{
    char word[8], name[32], value[32];
    const char *bad[] = {"a,,b", ",a", "a,", "12345678", "a,b,a", "a,a=1", "a=1,b=1,a=2", "bc,b,bc"};
    struct option_list list = {"l", "a,bc,b", 0}, pairs = {"p", "x=1,y=2=3", 0};
    ck_assert_int_eq(option_next_word(&list, word, sizeof word), 1);
    ck_assert_str_eq(word, "a");
    ck_assert_int_eq(option_next_word(&list, word, sizeof word), 1);
    ck_assert_str_eq(word, "bc");
    ck_assert_int_eq(option_next_word(&list, word, sizeof word), 1);
    ck_assert_int_eq(option_next_word(&list, word, sizeof word), 0);
    ck_assert_int_eq(option_next_pair(&pairs, name, value), 1);
    ck_assert(!strcmp(name, "x") && !strcmp(value, "1"));
    ck_assert_int_eq(option_next_pair(&pairs, name, value), 1);
    ck_assert(!strcmp(name, "y") && !strcmp(value, "2=3"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int status = 1;
        error_clear();
        for (list = (struct option_list){"l", bad[i], 0}; status > 0;)
            status = option_next_word(&list, word, sizeof word);
        ck_assert_msg(status == -1, "'%s' was accepted", bad[i]);
        ck_assert_msg((i < 4) == !*error_text(), "'%s': %s", bad[i], error_text());
    }
    ck_assert_str_eq(error_text(), "--l: 'bc' is listed twice; name it once");
}

SUITE("option table", NULL, NULL)
