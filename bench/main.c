/* main.c - the program: reads the command line and runs what it asks for. */
#include "allreduce/allreduce.h"
#include "base/files.h"
#include "base/version.h"
#include "benchmark/benchmark.h"
#include "compare/compare.h"
#include "ddp/job.h"
#include "kernels/blas.h"
#include "kernels/error.h"
#include "kernels/exit_handlers.h"
#include "kernels/launcher.h"
#include "kernels/reexec.h"
#include "profile/profile.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

/* Exit statuses. */
enum { OK = 0, FAILED = 1, USAGE = 2 };

static int run_training(const struct job *job, int argc, char *const argv[]);

/* Without MPI every process takes itself for rank 0, so only the launcher's first one prints. */
static int report_once(int argc, char *argv[])
{
    return launcher_rank() ? OK : run_report(argc, argv);
}

/* What is done instead of the benchmark or a profile. Of each row the help, its manual page and its completion are
 * made, too (launch/man). */
static const struct command_row {
    const char *name, *synopsis, *summary;
    int (*measure)(const struct job *job, int argc, char *const argv[]);
    int (*read)(int argc, char *argv[]); /* files only, so it needs neither ranks nor a launcher */
} commands[] = {
    {"tune", TUNE_SYNOPSIS, "the best strategy and bucket size", run_tune, NULL},
    {"allreduce", ALLREDUCE_SYNOPSIS, "the interconnect alone", run_allreduce, NULL},
    {"compare", COMPARE_SYNOPSIS, "whether runs got slower", NULL, run_compare},
    {"report", REPORT_SYNOPSIS, "a run or a sweep in words", NULL, report_once},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* NULL, reported, for one that there is not. */
static const struct command_row *find_command(const char *name)
{
    char known[256] = "";
    for (size_t i = 0, at = 0; i < COMMANDS && at < sizeof known; i++) {
        if (!strcmp(name, commands[i].name))
            return &commands[i];
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", commands[i].name);
    }
    error_report("unknown command '%s'; expected %s, or options, which begin with --; see --help", name, known);
    return NULL;
}

/* Whether the words of a command line ask for words only, which one rank can say, too. */
static int asks_for_words(int argc, char *const argv[])
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") || !strcmp(argv[i], "--version") ||
            !strncmp(argv[i], "--dry-run", 9) || !strncmp(argv[i], "--dry_run", 9))
            return 1;
    return 0;
}

/* Returns a command's status; FAILED, after a line that explains it, if its standard output could not be written and
 * the status is of no other error. */
static int flush_output(int status)
{
    error_clear();
    if (status == FAILED || status == USAGE || !files_flush_stdout())
        return status;
    error_print();
    return FAILED;
}

int main(int argc, char *argv[])
{
    struct job job;
    const char *name = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    const struct command_row *command = name ? find_command(name) : NULL;
    exit_handlers_install((int)launcher_rank());
    if (command && command->read)
        return flush_output(command->read(argc - 1, argv + 1));
    blas_choose_kernels();
    reexec_set_passive_threads(argc, argv);
    reexec_if_needed(argv);
    /* ranks that cannot talk to each other: each has to say it */
    if (job_begin(&job, argc, argv) || (!asks_for_words(argc, argv) && job_check_alone(&job))) {
        error_print();
        job_end(&job);
        return FAILED;
    }
    int status = USAGE;
    if (!name)
        status = run_training(&job, argc, argv);
    else if (command)
        status = command->measure(&job, argc - 1, argv + 1);
    else
        job_agree(&job, -1);
    status = flush_output(status);
    job_end(&job);
    return status;
}

/* ---- without a command: the benchmark, or with --profile the profile ---- */

/* Their joint command line. The table points into the other fields. */
struct command_line {
    struct run_options run;
    struct profile_options profile;
    struct option_table table;
};

static int parse(struct command_line *line, int argc, char *const argv[])
{
    run_options_add(&line->table, &line->run);
    profile_options_add(&line->table, &line->profile);
    return option_table_parse(&line->table, argc, argv);
}

/* Checks the rest; the sizes that were not given depend on what the ranks compute on. */
static int check(struct command_line *line, int ranks, int on_gpus)
{
    struct training_options *training = &line->run.training;
    training_options_use_preset(training, &line->table, on_gpus);
    if (line->profile.profile ? profile_options_check(&line->profile, &line->table, training)
                              : benchmark_options_check(training, &line->table))
        return -1;
    return training_options_fit(training, ranks) || rank_list_check(&line->profile.ranks, ranks) ? -1 : 0;
}

static void print_help(const struct option_table *table)
{
    printf("Usage: mpirun -n RANKS ddpbench [OPTION VALUE]...\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("       %-47s   %s (see its --help)\n", commands[i].synopsis, commands[i].summary);
    fputs("\nTrains a transformer on every rank, synchronises its gradients with each strategy in turn, and compares\n"
          "what the strategies cost; or, with --profile, shows where the time of one of them goes.\n",
          stdout);
    option_table_help(stdout, table, table->help);
    workload_help_presets(stdout);
    training_options_help_implementations(stdout);
    printf("\nExit status: 0 fine, 1 the run failed, 2 the command line is wrong.\n");
}

static int run_training(const struct job *job, int argc, char *const argv[])
{
    struct command_line line = {0};
    if (job_agree(job, parse(&line, argc, argv)))
        return USAGE;
    if (line.table.help || line.table.version) {
        if (job->rank == 0 && line.table.help)
            print_help(&line.table);
        else if (job->rank == 0)
            printf("ddpbench %s\n", version_text());
        return OK;
    }
    int dry_run_ranks = (int)line.run.results.dry_run_ranks;
    if (job_agree(job, check(&line, dry_run_ranks ? dry_run_ranks : job->size,
                             open_device_wants_gpus(job, &line.run.device))))
        return USAGE;
    if (dry_run_ranks)
        return OK;
    struct command command = {argc, argv, &line.table};
    int failed = line.profile.profile ? run_profile(job, &line.run, &line.profile, &command)
                                      : run_benchmark(job, &line.run, &command);
    return failed ? FAILED : OK;
}
