/* test_prometheus.c - figures as Prometheus metrics, read back by a parser; names that try to break the format. */
#include "base/text.h"
#include "results/prometheus.h"
#include "tests/support/suite.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct figure_list list;
static char *text;

static void destroy(void)
{
    figures_destroy(&list);
}

static void add(struct figure_list *to, const char *subject, const char *name, const char *unit, double bytes,
                double value)
{
    struct figure figure = {.bytes = bytes, .value = value, .low = NAN, .high = NAN, .n = 3, .better = BETTER_NONE};
    snprintf(figure.subject, sizeof figure.subject, "%s", subject);
    snprintf(figure.name, sizeof figure.name, "%s", name);
    snprintf(figure.unit, sizeof figure.unit, "%s", unit);
    figures_add(to, &figure);
}

/* Prints the list as the figures of a run of that name in the directory /1. */
static void print(const char *name)
{
    const struct prometheus_run run = {&list, name, "tune", "/1", 3, 4};
    prometheus_print(printing(), &run);
    text = printed();
}

/* ---- a parser of the format at https://prometheus.io/docs/instrumenting/exposition_formats/ ---- */

/* Returns the end of the name at `at`: letters, digits (not first) and the characters in `also`. */
static const char *name_end(const char *at, const char *also)
{
    ck_assert_msg(*at && !isdigit((unsigned char)*at), "not a name: %.200s", at);
    while (*at && *at > 0 && (isalnum((unsigned char)*at) || strchr(also, *at)))
        at++;
    return at;
}

/* Returns the end of the labels {name="value",...} at `at`. */
static const char *labels_end(const char *at)
{
    if (*at != '{')
        return at;
    do {
        at = name_end(at + 1, "_");
        ck_assert_msg(!strncmp(at, "=\"", 2), "no value: %.200s", at);
        for (at += 2; *at != '"'; at++) {
            ck_assert_msg(*at && *at != '\n', "value without an end");
            at += *at == '\\';
            ck_assert_msg(at[-1] != '\\' || strchr("\\\"n", *at), "invalid escape: %.200s", at);
        }
    } while (*++at == ',');
    ck_assert_msg(*at == '}', "no }: %.200s", at);
    return at + 1;
}

/* Checks that samples follow their metric's HELP, a sentence, and TYPE; and that none is repeated. Returns the number
 * of samples. */
static int check_format(void)
{
    static char known[400][600];
    char metric[200] = "";
    int samples = 0, metrics = 0;
    ck_assert_uint_eq(text_make_utf8(text), 0);
    for (const char *line = text, *end; *line; line = end + 1) {
        char word[600];
        end = strchr(line, '\n');
        ck_assert_msg(end != NULL, "line without an end: %.200s", line);
        if (*line == '#') {
            const char *name = line + strlen("# HELP "), *help = name_end(name, "_:");
            snprintf(metric, sizeof metric, "%.*s", (int)(help - name), name);
            ck_assert_msg(!strncmp(line, "# HELP ", 7) && *help == ' ' && help[1] >= 'A' && help[1] <= 'Z' &&
                              end[-1] == '.' && end - help > 20 && !memchr(help, '\\', (size_t)(end - help)),
                          "no HELP: %.200s", line);
            snprintf(word, sizeof word, "# TYPE %s gauge\n", metric);
            ck_assert_msg(!strncmp(end + 1, word, strlen(word)), "no TYPE: %.200s", end + 1);
            end += strlen(word);
            snprintf(word, sizeof word, "# %s", metric);
            metrics++;
        } else {
            const char *name = name_end(line, "_:"), *labels = labels_end(name);
            char *rest;
            ck_assert_msg(strlen(metric) == (size_t)(name - line) && !strncmp(metric, line, (size_t)(name - line)),
                          "sample of another metric than %s: %.200s", metric, line);
            ck_assert_msg(*labels == ' ' && !isspace((unsigned char)labels[1]), "no value: %.200s", line);
            strtod(labels, &rest);
            ck_assert_msg(rest == end, "not a number: %.200s", line);
            snprintf(word, sizeof word, "%.*s", (int)(labels - line), line);
            samples++;
        }
        for (int i = 0; i < samples + metrics - 1; i++)
            ck_assert_msg(strcmp(known[i], word) != 0, "occurs twice: %.200s", word);
        ck_assert_int_lt(samples + metrics, 400);
        snprintf(known[samples + metrics - 1], sizeof *known, "%s", word);
    }
    return samples;
}

/* ---- tests ---- */

TEST(known_figures)
{
    struct estimate step = {.median = 0.0025, .ci_low = 0.002, .ci_high = 0.003, .n = 6};
    figures_add_estimate(&list, "ddp", "step", "s", &step, BETTER_LOWER, 1);
    add(&list, "all_reduce float", "busbw", "B/s", 1073741824, 1.25e9);
    add(&list, "all_reduce float", "busbw", "B/s", 64, 1e6);
    figures_add_estimate(&list, "ddp_flat", "step", "s", &step, BETTER_LOWER, 1);
    figures_add_value(&list, "ddp", "tokens_per_second", "1/s", 800, 2, BETTER_HIGHER);
    figures_add_value(&list, "ddp", "communication_ratio", "1", 1.0 / 3, 2, BETTER_LOWER);
    print("a");
    ck_assert_str_eq(
        text,
        "# HELP ddpbench_result_busbw_bytes_per_second Value of the figure, in the unit that ends the name; without "
        "one, a ratio.\n"
        "# TYPE ddpbench_result_busbw_bytes_per_second gauge\n"
        "ddpbench_result_busbw_bytes_per_second{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"all_reduce "
        "float\",bytes=\"1073741824\"} 1250000000\n"
        "ddpbench_result_busbw_bytes_per_second{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"all_reduce "
        "float\",bytes=\"64\"} 1000000\n"
        "# HELP ddpbench_result_busbw_bytes_per_second_samples Number of samples of the figure.\n"
        "# TYPE ddpbench_result_busbw_bytes_per_second_samples gauge\n"
        "ddpbench_result_busbw_bytes_per_second_samples{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"all_reduce "
        "float\",bytes=\"1073741824\"} 3\n"
        "ddpbench_result_busbw_bytes_per_second_samples{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"all_reduce "
        "float\",bytes=\"64\"} 3\n"
        "# HELP ddpbench_result_communication_ratio Value of the figure, in the unit that ends the name; without one, "
        "a ratio.\n"
        "# TYPE ddpbench_result_communication_ratio gauge\n"
        "ddpbench_result_communication_ratio{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp\"} "
        "0.333333333333333\n"
        "# HELP ddpbench_result_communication_ratio_samples Number of samples of the figure.\n"
        "# TYPE ddpbench_result_communication_ratio_samples gauge\n"
        "ddpbench_result_communication_ratio_samples{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp\"} 2\n"
        "# HELP ddpbench_result_step_seconds Value of the figure, in the unit that ends the name; without one, a "
        "ratio.\n"
        "# TYPE ddpbench_result_step_seconds gauge\n"
        "ddpbench_result_step_seconds{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp\"} 0.0025\n"
        "ddpbench_result_step_seconds{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp_flat\"} 0.0025\n"
        "# HELP ddpbench_result_step_seconds_high High end of the 95 % interval of the figure.\n"
        "# TYPE ddpbench_result_step_seconds_high gauge\n"
        "ddpbench_result_step_seconds_high{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp\"} 0.003\n"
        "ddpbench_result_step_seconds_high{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp_flat\"} 0.003\n"
        "# HELP ddpbench_result_step_seconds_low Low end of the 95 % interval of the figure.\n"
        "# TYPE ddpbench_result_step_seconds_low gauge\n"
        "ddpbench_result_step_seconds_low{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp\"} 0.002\n"
        "ddpbench_result_step_seconds_low{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp_flat\"} 0.002\n"
        "# HELP ddpbench_result_step_seconds_samples Number of samples of the figure.\n"
        "# TYPE ddpbench_result_step_seconds_samples gauge\n"
        "ddpbench_result_step_seconds_samples{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp\"} 6\n"
        "ddpbench_result_step_seconds_samples{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp_flat\"} 6\n"
        "# HELP ddpbench_result_tokens_per_second Value of the figure, in the unit that ends the name; without one, a "
        "ratio.\n"
        "# TYPE ddpbench_result_tokens_per_second gauge\n"
        "ddpbench_result_tokens_per_second{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp\"} 800\n"
        "# HELP ddpbench_result_tokens_per_second_samples Number of samples of the figure.\n"
        "# TYPE ddpbench_result_tokens_per_second_samples gauge\n"
        "ddpbench_result_tokens_per_second_samples{run=\"a\",mode=\"tune\",directory=\"/1\",subject=\"ddp\"} 2\n"
        "# HELP ddpbench_run_done Complete rounds or rows of the run.\n"
        "# TYPE ddpbench_run_done gauge\n"
        "ddpbench_run_done{run=\"a\",mode=\"tune\",directory=\"/1\"} 3\n"
        "# HELP ddpbench_run_planned Planned rounds or rows of the run.\n"
        "# TYPE ddpbench_run_planned gauge\n"
        "ddpbench_run_planned{run=\"a\",mode=\"tune\",directory=\"/1\"} 4\n");
    ck_assert_int_eq(check_format(), 18);
}

TEST(names_cannot_break_the_format)
{
    static const char *const nasty[] = {"a\"} 1\nb{x=\"",       "\\",        "\\n\\\"", "two\nlines\\", "\x01\x1b[0m",
                                        "\xe2\x82\xac <b> | `", "\xff \xc3", "",        "# HELP x",     "{}"};
    int n = 0;
    for (size_t i = 0; i < sizeof nasty / sizeof *nasty; i++, n += 3) {
        add(&list, nasty[i], "step", "s", 0, 1);
        add(&list, "x", nasty[i], "s", (double)i, 1);
        add(&list, "y", "step", nasty[i], (double)i, 1);
    }
    print(nasty[3]);
    ck_assert_int_eq(check_format(), 2 + 2 * n); /* 2 samples of the run, and 2 of each figure */
}

TEST(label_values_are_escaped)
{
    static const struct {
        const char *value, *expected;
    } cases[] = {{"", "{run=\"\","},
                 {"say \"hi\"", "{run=\"say \\\"hi\\\"\","},
                 {"C:\\n", "{run=\"C:\\\\n\","},
                 {"two\nlines", "{run=\"two\\nlines\","},
                 {"\"} 2\nb{x=\"", "{run=\"\\\"} 2\\nb{x=\\\"\","},
                 {"caf\xc3\xa9", "{run=\"caf\xc3\xa9\","},
                 {"\x1b[2J\x7f\xc2\x9b", "{run=\"?[2J???\","},
                 {"bad\xff\xc3", "{run=\"bad??\","}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print(cases[i].value);
        check_has(text, cases[i].expected);
    }
}

TEST(without_figures_there_is_the_progress)
{
    print("a");
    ck_assert_int_eq(check_format(), 2);
}

SUITE("prometheus", NULL, destroy)
