/* command_line.c - parses options from a string. */
#include "tests/support/command_line.h"

#include "benchmark/benchmark.h"
#include "kernels/error.h"

#include <check.h>
#include <string.h>

static int parse_words(struct command_line *line, int argc, char *const argv[], int on_gpus)
{
    run_options_add(&line->table, &line->run);
    profile_options_add(&line->table, &line->profile);
    if (option_table_parse(&line->table, argc, argv))
        return -1;
    if (line->table.help || line->table.version)
        return 0;
    if (training_options_use_preset(&line->run.training, &line->table, on_gpus))
        return -1;
    if (line->profile.profile)
        return profile_options_check(&line->profile, &line->table, &line->run.training);
    return benchmark_options_check(&line->run.training, &line->table);
}

static struct command_line *parse_on(const char *line, int on_gpus)
{
    static struct command_line parsed;
    enum { MAX_WORDS = 16 };
    static char copy[MAX_LINE];
    char *argv[MAX_WORDS + 1] = {"ddpbench"}, *at = copy;
    int argc = 1;
    ck_assert_uint_lt(strlen(line), sizeof copy);
    strcpy(copy, line);
    while (*line && at) {
        ck_assert_int_lt(argc, MAX_WORDS);
        argv[argc++] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = 0;
    }
    error_clear();
    parsed = (struct command_line){0};
    return parse_words(&parsed, argc, argv, on_gpus) ? NULL : &parsed;
}

struct command_line *parse(const char *line)
{
    return parse_on(line, 1);
}

struct command_line *parsed(const char *line)
{
    return parsed_on(line, 1);
}

struct command_line *parsed_on(const char *line, int on_gpus)
{
    struct command_line *taken = parse_on(line, on_gpus);
    ck_assert_msg(taken != NULL, "'%s': %s", line, error_text());
    return taken;
}

void check_refused(const char *line, const char *const *words, int n)
{
    ck_assert_msg(!parse(line), "'%s' was accepted", line);
    for (int i = 0; i < n && words[i]; i++)
        ck_assert_msg(strstr(error_text(), words[i]) != NULL, "'%s': no '%s' in '%s'", line, words[i], error_text());
    ck_assert_ptr_null(strchr(error_text(), '\n'));
}

struct value value_of(const struct command_line *line, const char *name)
{
    struct value value = {.name = name};
    cJSON *json = option_table_json(&line->table);
    const cJSON *item;
    cJSON_ArrayForEach(item, json)
    {
        if (strcmp(name, item->string) != 0)
            continue;
        value.seen++;
        value.is_text = cJSON_IsString(item);
        if (value.is_text)
            snprintf(value.text, sizeof value.text, "%s", item->valuestring);
        else if (cJSON_IsNumber(item))
            snprintf(value.text, sizeof value.text, "%.15g", item->valuedouble);
        else
            snprintf(value.text, sizeof value.text, "%s", cJSON_IsTrue(item) ? "true" : "false");
    }
    cJSON_Delete(json);
    ck_assert_msg(value.seen == 1, "--%s is listed %d times", name, value.seen);
    return value;
}

const char *rows_of(const struct command_line *line)
{
    static char words[1000];
    size_t at = 0;
    *words = 0;
    for (int i = 0; i < line->run.training.n; i++) {
        const struct implementation *row = &line->run.training.implementation[i];
        at +=
            (size_t)snprintf(words + at, sizeof words - at, "%s%s %s", i ? "; " : "", row->label, row->strategy->name);
        for (const size_t *cap = row->size.caps.cap; cap < row->size.caps.cap + BUCKET_CAPS && *cap; cap++)
            at += (size_t)snprintf(words + at, sizeof words - at, " %.9g", (double)*cap / 1048576);
        if (row->size.caps.last)
            at += (size_t)snprintf(words + at, sizeof words - at, " last %.9g", (double)row->size.caps.last / 1048576);
        at += (size_t)snprintf(words + at, sizeof words - at, "%s%s%s%s%s%s",
                               implementation_traits(row)->wire == COMM_BF16 ? " bf16" : "",
                               implementation_traits(row)->updates_early ? " early" : "",
                               implementation_traits(row)->releases ? " releases" : "", row->traced ? " traced" : "",
                               row->captured ? " captured" : "", row->after_backward ? " late" : "");
        ck_assert_uint_lt(at, sizeof words);
    }
    return words;
}
