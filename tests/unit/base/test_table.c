/* test_table.c - a table of known rows as text and as JSON, and tables in files that other programs wrote. */
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

struct fruit {
    const char *name;
    size_t bytes;
    double seconds, interval[2];
    int rank;
};

static const struct fruit fruits[] = {
    {"apple", 1024, 0.00123456, {0.001, 0.002}, 0},
    {"a long name", 1, NAN, {NAN, NAN}, 12},
    {NULL, 70, 12.5, {12, 13}, -1},
};

#define FIELD(field) offsetof(struct fruit, field)
static const struct column columns[] = {
    {.key = "name", .heading = "fruit", .kind = COLUMN_NAME, .offset = FIELD(name), .width = -6},
    {.key = "bytes", .heading = "size\nB", .kind = COLUMN_COUNT, .offset = FIELD(bytes), .unit = "B", .width = 5},
    {.key = "time",
     .heading = "time\nms",
     .kind = COLUMN_REAL,
     .offset = FIELD(seconds),
     .unit = "s",
     .scale = 1e3,
     .width = 8,
     .decimals = -3},
    {.key = "ci",
     .heading = "[95 %]",
     .kind = COLUMN_INTERVAL,
     .offset = FIELD(interval),
     .unit = "s",
     .scale = 1e3,
     .width = -8,
     .decimals = 1},
    {.key = "rank", .kind = COLUMN_INT, .offset = FIELD(rank)},
};

static const struct table table = {.key = "fruits",
                                   .title = "Fruits",
                                   .column = columns,
                                   .columns = sizeof columns / sizeof *columns,
                                   .row = fruits,
                                   .rows = 3,
                                   .row_bytes = sizeof *fruits,
                                   .note = {"n = 3."}};

static const char *text_of(const cJSON *json)
{
    table_print(printing(), "", json);
    return printed();
}

TEST(words_are_aligned_and_scaled)
{
    cJSON *json = kept_json(table_json(&table));
    const char *text = text_of(json);
    ck_assert_str_eq(text, "\n"
                           "Fruits\n"
                           "fruit        size     time [95 %]\n"
                           "                B       ms\n"
                           "apple        1024     1.23 [1.0, 2.0]\n"
                           "a long name     1      N/A\n"
                           "               70    12500 [12000.0, 13000.0]\n"
                           "n = 3.\n");
}

/* The written file holds the cJSON tree's numbers bit for bit: a wrong last bit may change how they are rounded. */
TEST(a_file_holds_the_numbers_of_the_tree)
{
    cJSON *json = kept_json(cJSON_CreateObject());
    int inexact = 0;
    for (int i = 1; i <= 5000; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        json_add_number(json, name, 1e-9 * i / 3 + 1e-9 * i / 3 * 2);
    }
    char *file = kept(cJSON_Print(json));
    cJSON *again = kept_json(cJSON_Parse(file));
    const cJSON *a = json->child, *b = again->child;
    for (int i = 1; i <= 5000; i++, a = a->next, b = b->next) {
        ck_assert(a->valuedouble == b->valuedouble);
        inexact += a->valuedouble != 1e-9 * i / 3 + 1e-9 * i / 3 * 2;
    }
    ck_assert_int_gt(inexact, 100); /* many of the numbers were rounded when they were added */
}

TEST(values_are_kept_in_their_unit)
{
    cJSON *json = kept_json(table_json(&table));
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "rows"), 0);
    const char *text = kept(cJSON_PrintUnformatted(row));
    ck_assert_str_eq(text, "{\"name\":\"apple\",\"bytes\":1024,\"time\":0.00123456,\"ci_low\":0.001,"
                           "\"ci_high\":0.002,\"rank\":0}");
}

/* JSON has all columns, even columns that the text lacks, in the unit of the structures. Without rows it has keys. */
TEST(csv_has_all_columns)
{
    struct table two = table;
    FILE *out = printing();
    two.rows = 2;
    table_print_csv(out, &two);
    two.rows = 0;
    table_print_csv(out, &two);
    ck_assert_str_eq(printed(), "name,bytes,time,ci_low,ci_high,rank\n"
                                "apple,1024,0.00123456,0.001,0.002,0\n"
                                "a long name,1,,,,12\n"
                                "name,bytes,time,ci_low,ci_high,rank\n");
}

static int by_size(const void *a, const void *b)
{
    const struct fruit *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

TEST(rows_beyond_the_most_are_counted)
{
    struct table two = table;
    two.shown = 2;
    const char *text = text_of(kept_json(table_json(&two)));
    check_has(text, "... (1 more in summary.json)\n");
    check_lacks(text, "12500");
}

/* Rows are sorted only if some of them are hidden; the caller's array of rows is not reordered. */
TEST(rows_are_ordered_where_not_all_are_shown)
{
    for (size_t shown = 0; shown <= 3; shown++) {
        struct table ordered = table;
        ordered.shown = shown;
        ordered.order = by_size;
        cJSON *json = kept_json(table_json(&ordered)), *rows = cJSON_GetObjectItem(json, "rows");
        int sorted = shown == 1 || shown == 2;
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq(json_number(cJSON_GetArrayItem(rows, i), "bytes"),
                                (double)fruits[sorted ? (i + 1) % 3 : i].bytes);
        ck_assert_uint_eq(fruits[0].bytes, 1024);
    }
}

TEST(a_table_grows_row_by_row)
{
    static const struct fruit open_ended = {"plum", 1, 1, {0.001, INFINITY}, 0};
    struct table empty = table;
    empty.rows = 0;
    cJSON *json = kept_json(table_json(&empty));
    FILE *out = printing();
    table_print_head(out, "# ", json);
    table_print_row(out, json, table_add_row(json, columns, table.columns, &fruits[0]));
    table_print_row(out, json, table_add_row(json, columns, table.columns, &open_ended));
    table_print_notes(out, "# ", json);
    ck_assert_str_eq(printed(), "\n"
                                "# Fruits\n"
                                "# fruit   size     time [95 %]\n"
                                "#            B       ms\n"
                                "apple   1024     1.23 [1.0, 2.0]\n"
                                "plum       1     1000 [1.0, N/A]\n"
                                "# n = 3.\n");
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(json, "rows")), 2);
}

/* An error is printed with an exponent, since it may be tiny. An exact result has the error 0. */
TEST(errors_have_an_exponent)
{
    static const double error[] = {2.7123e-8, 0, NAN, 0.25};
    static const struct column column = {"error", "gradient\nerror", COLUMN_ERROR, 0, "1", 1, 8, 1};
    cJSON *json = kept_json(table_json(&(struct table){"errors", NULL, &column, 1, TABLE_ROWS(error, 4)}));
    const char *text = text_of(json);
    ck_assert_str_eq(text, "\ngradient\n   error\n 2.7e-08\n     0.0\n     N/A\n 2.5e-01\n");
}

/* Widths, decimals and scales in a file of another program are kept in bounds if they are too large or missing. */
TEST(a_description_from_elsewhere_is_bounded)
{
    static const char *const column[][2] = {{"1e300, \"decimals\": 1e300, \"scale\": 1", "1.500000000000000\n"},
                                            {"-1e300, \"decimals\": -1e300, \"scale\": 1", "1.50000\n"},
                                            {"[], \"decimals\": null, \"scale\": 1", "2\n"},
                                            {"1, \"decimals\": -3", "N/A\n"}};
    for (size_t i = 0; i < sizeof column / sizeof *column; i++) {
        char json[256];
        const char *form =
            "{\"columns\": [{\"key\": \"a\", \"heading\": \"\", \"width\": %s}], \"rows\": [{\"a\": 1.5}]}";
        snprintf(json, sizeof json, form, column[i][0]);
        const char *text = text_of(kept_json(cJSON_Parse(json)));
        ck_assert_uint_lt(strlen(text), TABLE_CELL + 100);
        check_has(text, column[i][1]);
    }
}

/* A cell is padded by characters, not bytes; it holds whole characters, but no control characters. */
TEST(cells_are_characters)
{
    char many[2 * TABLE_CELL + 1] = "", cell[TABLE_CELL];
    for (int i = 0; i < TABLE_CELL; i++)
        strcat(many, "\xc3\xa9");
    cJSON *json =
        kept_json(cJSON_Parse("{\"columns\": [{\"key\": \"a\", \"kind\": \"text\", \"heading\": \"h\", \"width\": 3},"
                              "{\"key\": \"a\", \"kind\": \"text\", \"heading\": \"h\", \"width\": -1}],"
                              "\"rows\": [{\"a\": \"\xc3\xa9\"}, {\"a\": \"\x1b[2J \xc2\x9b\"}]}"));
    const char *text = text_of(json);
    ck_assert_str_eq(text, "\n      h h\n      \xc3\xa9 \xc3\xa9\n?[2J ?? ?[2J ??\n");
    cJSON *row = cJSON_GetObjectItem(json, "rows")->child;
    cJSON_ReplaceItemInObject(row, "a", cJSON_CreateString(many));
    table_cell(cell, cJSON_GetObjectItem(json, "columns")->child, row);
    ck_assert_uint_eq(text_make_utf8(cell), 0);
    ck_assert_uint_ge(strlen(cell), TABLE_CELL - 2);
}

TEST(other_json_prints_nothing)
{
    static const char *const other[] = {"{}", "[]", "{\"columns\": 3, \"rows\": {}}", "null"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        ck_assert_str_eq(text_of(kept_json(cJSON_Parse(other[i]))), "");
    }
}

SUITE("table", NULL, NULL)
