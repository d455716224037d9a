/* test_memory.c - what does not fit into memory is refused with the nearest sizes that fit, and these do fit. */
#include "kernels/error.h"
#include "tests/support/command_line.h"
#include "tests/support/suite.h"
#include "training/training.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 2 };

static const struct recording nothing;
static const struct memory_conditions on_cpu = {.ranks = RANKS, .compute_bytes = sizeof(float), .recording = &nothing};

/* Plans the run of a line on the CPU of two ranks, and returns its options. */
static const struct training_options *plan(const char *line, size_t bytes[MEMORY_PARTS])
{
    struct training_options *o = &parsed_on(line, 0)->run.training;
    struct model model;
    ck_assert_int_eq(training_options_fit(o, RANKS), 0);
    const struct model_sizes sizes = workload_sizes(&o->workload, o->batch_size / RANKS / o->grad_accumulation);
    model_plan(&model, &sizes, sizeof(float));
    memory_estimate(&on_cpu, o, &model, bytes);
    model_destroy(&model);
    return o;
}

static int fits(const char *line, double bytes)
{
    size_t parts[MEMORY_PARTS];
    plan(line, parts);
    return (double)memory_total(parts) <= bytes;
}

static const struct {
    const char *asked;
    double mib;        /* that a rank may use */
    const char *named; /* the first options of what is named */
    size_t step;       /* what the first number is a multiple of */
} cases[] = {
    {"--preset|gpt2-small|--batch-size-per-rank|8", 7000, "--batch-size-per-rank --num-layers --preset=laptop", 1},
    {"--preset|laptop|--batch-size|2000000", 200, "--batch-size --preset=laptop", RANKS},
    {"--preset|laptop|--batch-size-per-rank|300000|--grad-accumulation|3", 200, "--batch-size-per-rank --preset=laptop",
     3},
    {"--preset|gpt2-xl|--num-layers|9000", 12000, "--num-layers --preset=gpt2-small", 1},
    {"--d-model|500000|--d-ff|5000000", 100, "", 0},
};
enum { CASES = sizeof cases / sizeof *cases };

TEST_EACH(the_suggested_sizes_fit, CASES)
{
    size_t parts[MEMORY_PARTS];
    char said[1024], named[256] = "", line[512], more[512];
    const double bytes = cases[_i].mib * 1048576;
    const struct training_options *o = plan(cases[_i].asked, parts);
    const struct memory_place place[2] = {{.ranks = 1}, {"this machine", (size_t)(RANKS * bytes), RANKS, bytes}};
    ck_assert_int_eq(memory_check(&on_cpu, o, parts, place), -1);
    strcpy(said, error_text());
    char *text = strstr(said, "these fit: "), *next = strstr(said, "; or use");
    if (next)
        *next = 0;
    for (text += text ? strlen("these fit: ") : 0; text; text = next) {
        char option[32], value[32], word[32], second[32], its[32];
        next = strstr(text, ", or ");
        if (next) {
            *next = 0;
            next += strlen(", or ");
        }
        int words = sscanf(text, "%31s %31s %31s %31s %31s", option, value, word, second, its);
        int preset = !strcmp(option, "--preset"), n = 0;
        ck_assert_int_ge(words, 2);
        strcat(strcat(named, *named ? " " : ""), option);
        if (preset)
            strcat(strcat(named, "="), value);
        /* what is named comes behind what was asked for and replaces it; a preset stands alone */
        if (!preset)
            n = snprintf(line, sizeof line, "%s|", cases[_i].asked);
        if (words == 5 && !strcmp(word, "with"))
            n += snprintf(line + n, sizeof line - (size_t)n, "%s|%s|", second, its);
        snprintf(more, sizeof more, "%.*s%s|%zu", n, line, option, (size_t)strtoull(value, NULL, 10) + cases[_i].step);
        snprintf(line + n, sizeof line - (size_t)n, "%s|%s", option, value);
        ck_assert_msg(fits(line, 0.95 * bytes), "'%s' does not fit", line);
        ck_assert_msg(preset || !fits(more, 0.95 * bytes), "'%s' is not the most", line);
    }
    ck_assert_str_eq(named, cases[_i].named);
}

SUITE("memory", NULL, NULL)
