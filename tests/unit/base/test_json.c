/* test_json.c - error messages if a file is not a JSON object, or if memory runs out while a file is read. */
#include "base/json.h"

#include "kernels/error.h"
#include "tests/support/saved.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *directory;
static int left; /* allocations that succeed before memory runs out */

static void setup(void)
{
    directory = scratch_make();
}

static cJSON *read_text(const char *text)
{
    saved_file(directory, "file", text);
    error_clear();
    return json_read(directory, "file");
}

static void *scarce(size_t size)
{
    if (left-- > 0)
        return malloc(size);
    errno = ENOMEM;
    return NULL;
}

TEST(missing_memory_is_not_a_mistake_in_a_file)
{
    static const char text[] = "{\"a\": [1, \"two\"], \"b\": {\"c\": null}}";
    cJSON *json = NULL;
    int most = 0;
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = scarce, .free_fn = free});
    for (; most < 100 && !json; most++) {
        left = most;
        json = read_text(text);
        ck_assert_msg(json || strstr(error_text(), "/file: Cannot allocate memory"), "%s", error_text());
    }
    ck_assert_int_gt(most, 5);
    ck_assert_ptr_nonnull(json);
    ck_assert_str_eq(error_text(), "");
    cJSON_Delete(json);
    cJSON_InitHooks(NULL);
}

TEST(mistakes_are_named)
{
    static const char *const rows[][2] = {{"", "is not valid JSON (line 1)"},
                                          {"{\n\"a\": 1,\n}", "is not valid JSON (line 3)"},
                                          {"{} {}", "is not valid JSON (line 1)"},
                                          {"{\"a\": 1e999999}x", "is not valid JSON (line 1)"},
                                          {"[]", "is valid JSON, but not an object"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_ptr_null(read_text(rows[i][0]));
        check_has(error_text(), rows[i][1]);
    }
}

/* A byte that is not UTF-8 becomes ? wherever it is: in a text, in a name, and in texts added by cJSON directly. */
TEST(printed_json_is_utf8)
{
    cJSON *json = kept_json(cJSON_CreateObject());
    json_add_text(json, "text", "\xc3\xa9\xff");
    cJSON_AddStringToObject(json, "raw", "\xc3\xa9\xff");
    json_add_text(json, "name\xfe", "\"\x01");
    const char *line = kept(json_print(json, 0)), *lines = kept(json_print(json, 1));
    ck_assert_str_eq(line, "{\"text\":\"\xc3\xa9?\",\"raw\":\"\xc3\xa9?\",\"name?\":\"\\\"\\u0001\"}");
    check_has(lines, "\n\t\"name?\":\t\"");
}

SUITE("json", setup, scratch_remove_all)
