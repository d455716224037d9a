/* harness.h - shared by all measuring commands: options, the course from the command line to the exit status, and the
 * device, monitors and results that a command opens. */
#ifndef BENCH_MEASURE_HARNESS_HARNESS_H
#define BENCH_MEASURE_HARNESS_HARNESS_H

#include "machine/machine.h"
#include "results/results.h"

/* ---- from the command line to the exit status ---- */

enum exit_status { STATUS_OK, STATUS_FAILED, STATUS_USAGE };

struct harness_options {
    struct device_options device;
    struct comm_options comm;
    struct monitor_options monitor;
    struct results_options results;
};

/* Adds the sections Device, Communication, Results and Monitors. */
void harness_options_add(struct option_table *table, struct harness_options *options);

struct harness_command {
    void *line;                 /* the options of the command, an argument of the functions below */
    struct option_table *table; /* fills the options */
    const struct harness_options *options;
    /* Checks the options for a number of ranks, on GPUs or not. Returns 0; or -1, reported. */
    int (*check)(void *line, const struct option_table *table, int ranks, int on_gpus);
    void (*print_help)(const struct option_table *table);
    const char *failures; /* the meaning of exit status 1, such as "the run failed" */
    /* Runs the command. Returns 0; or -1 on every rank, reported by rank 0. */
    int (*measure)(void *line, const struct job *job, const struct command *command);
};

/* Parses argv (argv[0] is the command's name) and prints help or version on demand; otherwise checks the options, and
 * without --dry-run runs the command. All ranks call and return the same. */
enum exit_status harness_main(const struct harness_command *command, const struct job *job, int argc,
                              char *const argv[]);

/* ---- the run ---- */

struct harness {
    const struct job *job;
    const struct harness_options *options;
    int64_t origin_ns; /* clock_now_ns when the run began, from which times in its files count */
    int threads;       /* of a rank on the CPU, which has job->cores logical CPUs for them */
    struct host_facts host;
    struct open_device opened;
    struct comm_options comm; /* options->comm, with the fields that follow from the machine */
    struct monitor *monitor;
    struct results results;
};

/* Starts the watchdog, finds the facts of the machine, and opens the device and the monitors. All ranks call this and
 * the functions below. Returns 0; or -1 on every rank, reported by rank 0. End with harness_close in either case. */
int harness_open(struct harness *harness, const struct job *job, const struct harness_options *options);

/* Opens the result directory (struct results_target). Call it after all checks, so that a refused run leaves no files.
 * Returns as harness_open does. */
int harness_open_results(struct harness *harness, const char *option, const char *given, const char *below);

/* Begins run.json: the command, and as "derived" the facts of the machine. The caller owns it. */
cJSON *harness_run_json(const struct harness *harness, const char *mode, const struct comm *comm,
                        const struct command *command);

/* Adds the facts of all ranks to run.json, writes it to the results, and deletes it. Returns as harness_open does. */
int harness_write_run_json(const struct harness *harness, const struct results *results, cJSON *json);

/* Starts the monitors; stops them and gathers their findings. Return as harness_open does. */
int harness_start_monitors(struct harness *harness);
int harness_stop_monitors(struct harness *harness);

/* Closes the monitors and the results; rank 0 prints the directory of the results, if status is 0 and
 * print_directory 1. A zeroed harness is fine. Returns the status, or -1 on every rank if the results could not be
 * closed. */
int harness_close(struct harness *harness, int status, int print_directory);

/* ---- the parts of a summary that all modes have ---- */

/* Adds the first line of the heading: version, `mode` ("" or a word after a space), ranks, threads, hosts, `machine`,
 * the communication backend, and `calls`, how collectives are issued (NULL: how MPI progresses). */
void harness_add_heading(const struct harness *harness, const char *mode, const char *machine, const struct comm *comm,
                         const char *calls, cJSON *summary);

/* Adds the findings of the monitors, as notes and as the member "monitor". */
void harness_add_findings(const struct harness *harness, cJSON *summary);

/* Writes a summary with its figures, prints its body if `print`, and destroys both. Returns 0; or -1, reported. */
int harness_write_summary(struct results *results, cJSON *summary, struct figure_list *figures, int print);

/* Prints the heading of a summary on rank 0, and deletes the summary. */
void harness_show_heading(const struct harness *harness, cJSON *summary);

#endif
