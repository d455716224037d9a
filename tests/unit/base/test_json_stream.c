/* test_json_stream.c - elements and members of files, wherever a piece of the file ends; and files that are damaged. */
#include "base/json_stream.h"

#include "tests/support/saved.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char *scratch;
static char path[300], why[JSON_STREAM_WHY], seen[4000];

static void setup(void)
{
    scratch = scratch_make();
    snprintf(path, sizeof path, "%s/file", scratch);
    *seen = 0;
}

static int take_element(void *context, char *text, size_t length)
{
    (void)context;
    ck_assert_uint_eq(strlen(text), length);
    snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "<%.40s>", text);
    return !strcmp(text, "\"stop\"") ? 7 : 0;
}

static int take_member(void *context, const char *name, char *text, size_t length)
{
    (void)context;
    ck_assert_uint_eq(strlen(text), length);
    snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "(%s=%.40s)", name, text);
    return 0;
}

static int read_path(void)
{
    const struct json_stream stream = {.array = "list", .element = take_element, .member = take_member};
    return json_stream_read(path, &stream, why);
}

static int read_text(const char *text)
{
    saved_file(scratch, "file", text);
    return read_path();
}

TEST(elements_and_members_are_given_in_order)
{
    ck_assert_int_eq(read_text(" {\"a\" : {\"list\": [1]} ,\"list\":[ {\"x\": \"]}\\\"\"}, [ ] ,3.5e-2, \"\\\\\" ],"
                               "\"b\": null}\n "),
                     0);
    ck_assert_str_eq(seen, "(a={\"list\": [1]})<{\"x\": \"]}\\\"\"}><[ ]><3.5e-2><\"\\\\\">(b=null)");
}

TEST(a_file_may_be_the_array)
{
    ck_assert_int_eq(read_text("[1,[2],{}]"), 0);
    ck_assert_str_eq(seen, "<1><[2]><{}>");
    *seen = 0;
    ck_assert_int_eq(read_text("[]"), 0);
    ck_assert_str_eq(seen, "");
}

/* The JSON of a safetensors file lies between other bytes. */
TEST(bytes_before_the_json_are_skipped)
{
    const struct json_stream stream = {.array = "list", .element = take_element, .member = take_member, .skip = 3};
    saved_file(scratch, "file", "[[[{\"a\": 1} xyz");
    ck_assert_msg(!json_stream_read(path, &stream, why), "%s", why);
    ck_assert_str_eq(seen, "(a=1)");
}

TEST(a_function_can_end_the_reading)
{
    ck_assert_int_eq(read_text("[1, \"stop\", 2]"), 7);
    ck_assert_str_eq(seen, "<1><\"stop\">");
}

/* Pieces of the file end at any place of an element: after a backslash, in a number, before a bracket. */
TEST_EACH(elements_may_lie_across_pieces, 40)
{
    enum { PIECE = 1 << 18 };
    const int before = PIECE - 20 + _i;
    char *text = kept(malloc(PIECE + 100));
    memset(text, ' ', (size_t)before);
    strcpy(text + before, "[\"a\\\"b\", {\"c\": -12.5}]");
    ck_assert_int_eq(read_text(text), 0);
    ck_assert_str_eq(seen, "<\"a\\\"b\"><{\"c\": -12.5}>");
}

/* Writes a file, through zlib if gzip is 1, with an element of `bytes` bytes between two others. */
static void write_long(const char *form, size_t bytes, int gzip)
{
    char *text = malloc(bytes + 1);
    memset(text, 'x', bytes);
    text[bytes] = 0;
    gzFile file = gzopen(path, gzip ? "wb" : "wbT");
    gzputs(file, form);
    gzputs(file, text);
    gzputs(file, "\", 2]");
    gzclose(file);
    free(text);
}

TEST_EACH(long_elements_are_whole, 2)
{
    write_long("[1, \"", 3 << 20, _i);
    ck_assert_int_eq(read_path(), 0);
    ck_assert_str_eq(seen, "<1><\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx><2>");
}

TEST(an_element_that_is_too_long_is_an_error)
{
    write_long("[1, \"", JSON_STREAM_MOST + (1 << 20), 1);
    ck_assert_int_eq(read_path(), -1);
    check_has(why, "an element of more than 4 MiB");
}

static void write_bytes(const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

/* A gzip file that is cut or damaged anywhere is never taken as complete. */
TEST(a_damaged_gzip_file_is_an_error)
{
    char bytes[400];
    gzFile file = gzopen(path, "wb");
    gzputs(file, "[\"abcdefghijklmnopqrstuvwxyz\", 1, 2, 3]");
    gzclose(file);
    FILE *in = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (size_t cut = 3; cut < n; cut++) {
        write_bytes(bytes, cut);
        ck_assert_msg(read_path() == -1, "cut after %zu of %zu bytes", cut, n);
        check_has(why, path);
    }
    bytes[n - 6] ^= 1; /* of the checksum */
    write_bytes(bytes, n);
    ck_assert_int_eq(read_path(), -1);
}

TEST(only_regular_files_are_read)
{
    const struct json_stream stream = {.array = "list", .element = take_element};
    ck_assert_int_eq(json_stream_read("/dev/null", &stream, why), -1);
    check_has(why, "/dev/null: is not a regular file");
}

SUITE("json_stream", setup, scratch_remove_all)
