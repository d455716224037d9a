/* options.c - fuzzes command lines: each is accepted, or refused with a message. An input has one word of the command
 * line on each of its lines; the first word is the command. */
#include "allreduce/allreduce.h"
#include "base/text.h"
#include "benchmark/benchmark.h"
#include "compare/compare.h"
#include "kernels/error.h"
#include "profile/profile.h"
#include "report/report.h"
#include "tests/fuzz/support/support.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 60, RANKS = 2 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return fuzz_begin();
}

/* Formats the values of a parsed option table as JSON and as help text, since that code is fuzzed, too. */
static void show(const struct option_table *table)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = text_begin(&text, &length);
    cJSON_Delete(option_table_json(table));
    option_table_help(out, table, table->help);
    text_end(out);
    free(text);
}

static int train(int argc, char *argv[])
{
    struct run_options run = {0};
    struct profile_options profile = {0};
    struct option_table table = {0};
    run_options_add(&table, &run);
    profile_options_add(&table, &profile);
    if (option_table_parse(&table, argc, argv))
        return -1;
    show(&table);
    if (table.help || table.version)
        return 0;
    if (training_options_use_preset(&run.training, &table, 0))
        return -1;
    if (profile.profile ? profile_options_check(&profile, &table, &run.training)
                        : benchmark_options_check(&run.training, &table))
        return -1;
    return training_options_fit(&run.training, RANKS) || rank_list_check(&profile.ranks, RANKS) ? -1 : 0;
}

static int tune(int argc, char *argv[])
{
    struct tune_options options = {0};
    struct option_table table = {0};
    tune_options_add(&table, &options);
    if (option_table_parse(&table, argc, argv))
        return -1;
    show(&table);
    return table.help || table.version ? 0 : tune_options_check(&options, &table, RANKS, 0);
}

static int allreduce(int argc, char *argv[])
{
    struct allreduce_options options = {0};
    struct option_table table = {0};
    allreduce_options_add(&table, &options);
    int status = option_table_parse(&table, argc, argv);
    if (!status && !table.help && !table.version)
        status = allreduce_options_check(&options, &table, RANKS, 0);
    free(options.messages.bytes);
    return status;
}

/* Runs a command that reads directories with / and . in their names replaced by _, so that it finds no run and writes
 * nothing. */
static int read_none(int (*run)(int argc, char *argv[]), int argc, char *argv[])
{
    for (int i = 1; i < argc; i++)
        for (char *c = argv[i]; *argv[i] != '-' && *c; c++)
            *c = (char)(*c == '/' || *c == '.' ? '_' : *c);
    return run(argc, argv) ? -1 : 0;
}

static int compare(int argc, char *argv[])
{
    return read_none(run_compare, argc, argv);
}

static int report(int argc, char *argv[])
{
    return read_none(run_report, argc, argv);
}

static const struct {
    const char *name;
    int (*parse)(int argc, char *argv[]);
} commands[] = {{"tune", tune}, {"allreduce", allreduce}, {"compare", compare}, {"report", report}, {"", train}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1), *argv[WORDS + 1] = {text}, *at = text;
    int argc = 1, status;
    size_t command = 0;
    memcpy(text, data, size);
    while (argc < WORDS && (at = strchr(at, '\n'))) {
        *at++ = 0;
        argv[argc++] = at;
    }
    while (*commands[command].name && strcmp(commands[command].name, text) != 0)
        command++;
    error_clear();
    (void)fuzz_was_explained();
    status = commands[command].parse(argc, argv);
    if (status && !fuzz_was_explained())
        FATAL("refused without an error message");
    free(text);
    return 0;
}
