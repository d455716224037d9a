/* main.c - the program: reads the command line and runs the command. */
#include "allreduce/allreduce.h"
#include "base/files.h"
#include "base/text.h"
#include "base/version.h"
#include "benchmark/benchmark.h"
#include "check/check.h"
#include "compare/compare.h"
#include "ddp/data.h"
#include "ddp/facts.h"
#include "ddp/job.h"
#include "import/import.h"
#include "isolate/isolate.h"
#include "kernels/blas.h"
#include "kernels/early_option.h"
#include "kernels/error.h"
#include "kernels/exit_handlers.h"
#include "kernels/launcher.h"
#include "kernels/option_file.h"
#include "kernels/reexec.h"
#include "predict/predict.h"
#include "profile/profile.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

static enum exit_status training_main(const struct job *job, int argc, char *const argv[]);

/* The commands. launch/install.sh makes manual pages and shell completion from these rows. */
static const struct command_row {
    const char *name, *synopsis, *summary;
    enum exit_status (*measure)(const struct job *job, int argc, char *const argv[]);
    int (*read)(int argc, char *argv[]); /* set for a command that only reads files, without MPI; else NULL */
    int alone; /* 1: only the first process of a launcher runs it, since all would print the same page; 0: every process
                  does, since its exit status is an answer */
} commands[] = {
    {"tune", TUNE_SYNOPSIS, "the best strategy and bucket size", tune_main, NULL, 0},
    {"allreduce", ALLREDUCE_SYNOPSIS, "the interconnect alone", allreduce_main, NULL, 0},
    {"isolate", ISOLATE_SYNOPSIS, "which host or link is slow", isolate_main, NULL, 0},
    {"check", CHECK_SYNOPSIS, "whether this build works here", check_main, NULL, 0},
    {"compare", COMPARE_SYNOPSIS, "whether runs got slower", NULL, run_compare, 0},
    {"trend", TREND_SYNOPSIS, "since which night they did", NULL, run_trend, 0},
    {"report", REPORT_SYNOPSIS, "a run or a sweep in words", NULL, run_report, 1},
    {"predict", PREDICT_SYNOPSIS, "other buckets, ranks and links", NULL, run_predict, 1},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* Returns the command of that name; or NULL, reported, if the name is unknown. */
static const struct command_row *find_command(const char *name)
{
    char known[256] = "";
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!strcmp(name, commands[i].name))
            return &commands[i];
        text_append(known, sizeof known, "%s%s", i ? ", " : "", commands[i].name);
    }
    error_report("unknown command '%s'; expected %s, or options, which begin with --%s; see --help", name, known,
                 strcmp(name, "profile") ? "" : ", such as --profile");
    return NULL;
}

/* Whether the command line only asks for help, the version or a dry run, for which ranks need not communicate. */
static int asks_for_text(int argc, char *const argv[])
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") || !strcmp(argv[i], "--version") ||
            !strncmp(argv[i], "--dry-run", 9) || !strncmp(argv[i], "--dry_run", 9))
            return 1;
    return 0;
}

/* Lists what must be equal on all ranks. */
static void list_facts(struct facts *facts, int argc, char *const argv[])
{
    const char *model = early_option(argc, argv, "model-from", 0);
    char path[2][FILES_PATH];
    int files = model ? import_paths(model, path) : 0;
    const char *data = early_option(argc, argv, "data", 0), *digest = early_option(argc, argv, "data-digest", 0);
    char name[200];
    facts_add(facts, "the version of ddpbench", version_text());
    facts_add_words(facts, argc, argv);
    if (data && data_kind_of(data) != DATA_SYNTHETIC) {
        snprintf(name, sizeof name, "the file %s", data);
        facts_add_file(facts, name, data, digest && !strcmp(digest, "all"));
    }
    for (int i = 0; i < files; i++)
        facts_add_file(facts, "a file of --model-from", path[i], 0);
    provenance_add_variables(facts, VARIABLES_EQUAL);
}

/* Writes buffered standard output. Returns `status`, a command's exit status; or STATUS_FAILED, after an error message,
 * if the output could not be written and the command has not reported a failure itself. */
static int flush_output(int status)
{
    error_clear();
    if (status == STATUS_FAILED || status == STATUS_USAGE || !files_flush_stdout())
        return status;
    error_print();
    return STATUS_FAILED;
}

int main(int argc, char *argv[])
{
    struct job job;
    struct facts facts = {0};
    char **launched = argv; /* without the options of the --config file */
    const char *name = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    const char *config = early_option(argc, argv, "config", 0);
    const struct command_row *command = name ? find_command(name) : NULL;
    int status = config ? option_file_append(config, &argc, &argv) : 0;
    option_place = option_file_place;
    exit_handlers_install((int)launcher_rank());
    if (command && command->alone && launcher_rank())
        return STATUS_OK;
    if (command && command->read) {
        status = status ? STATUS_FAILED : command->read(argc - 1, argv + 1);
        if (status == STATUS_FAILED || status == STATUS_USAGE)
            error_print();
        return flush_output(status);
    }
    blas_choose_kernels();
    reexec_unbind();
    reexec_set_waiting(argc, argv);
    reexec_if_needed(launched);
    /* every rank prints an error that job_begin leaves: if ranks cannot communicate, rank 0 cannot report for all */
    list_facts(&facts, argc, argv);
    if (job_begin(&job, argc, argv, &facts) || job_agree(&job, status) ||
        (!asks_for_text(argc, argv) && job_check_alone(&job))) {
        error_print();
        return job_end(&job, STATUS_FAILED);
    }
    status = STATUS_USAGE;
    if (!name)
        status = training_main(&job, argc, argv);
    else if (command)
        status = command->measure(&job, argc - 1, argv + 1);
    else
        job_agree(&job, -1);
    return job_end(&job, flush_output(status));
}

/* ---- without a command: the benchmark; with --profile, the profile ---- */

/* The options of a benchmark or a profile, which share one command line. */
struct command_line {
    struct run_options run;
    struct profile_options profile;
};

static int check(void *context, const struct option_table *table, int ranks, int on_gpus)
{
    struct command_line *line = context;
    struct training_options *training = &line->run.training;
    if (training_options_use_preset(training, table, on_gpus))
        return -1;
    if (line->profile.profile ? profile_options_check(&line->profile, table, training)
                              : benchmark_options_check(training, table))
        return -1;
    if (training->resolve > 0 && ranks == 1) {
        fprintf(stderr, "ddpbench: --resolve is ignored, since one rank has nothing to compare: --rounds are run\n");
        training->resolve = 0;
    }
    return training_options_fit(training, ranks) || rank_list_check(&line->profile.ranks, ranks) ? -1 : 0;
}

static void print_help(const struct option_table *table)
{
    printf("Usage: mpirun -n RANKS ddpbench [OPTION VALUE]...\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("       %s\n", commands[i].synopsis);
    option_help_text(stdout,
                     "\nTrains a transformer on every rank, synchronises its gradients with each strategy in turn, "
                     "and compares what the strategies cost; or, with --profile, shows where the time of one of "
                     "them goes.\n\nCommands, each with its own --help:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        option_help_row(stdout, commands[i].name, commands[i].summary);
    option_table_help(stdout, table, table->help);
    workload_help_presets(stdout);
    implementations_help(stdout);
}

static int dry_run(const void *context, int ranks, int on_gpus, cJSON *summary)
{
    const struct command_line *line = context;
    const struct training_options *t = &line->run.training;
    int status = line->profile.profile ? profile_dry_run(&line->profile, &line->run, ranks, on_gpus, summary)
                                       : training_dry_run(&line->run, &(struct recording){0}, ranks, on_gpus, 0,
                                                          t->resolve > 0 ? t->max_minutes : 0, summary);
    training_add_order(t, summary);
    return status;
}

static int run(void *context, const struct job *job, const struct command *command)
{
    struct command_line *line = context;
    implementations_mark_twins(line->run.training.implementation, line->run.training.n, job->size, job->local_size);
    return line->profile.profile ? profile_run(job, &line->run, &line->profile, command)
                                 : benchmark_run(job, &line->run, command);
}

static enum exit_status training_main(const struct job *job, int argc, char *const argv[])
{
    struct command_line line = {0};
    struct option_table table = {0};
    const struct harness_command command = {
        &line, &table, &line.run.harness, check, print_help, "the run failed", dry_run, run, ""};
    run_options_add(&table, &line.run);
    profile_options_add(&table, &line.profile);
    enum exit_status status = harness_main(&command, job, argc, argv);
    workload_release(&line.run.training.workload);
    return status;
}
