/* harness.h - what measuring commands share: options, running a command, and a run's device, monitors and results. */
#ifndef BENCH_MEASURE_HARNESS_HARNESS_H
#define BENCH_MEASURE_HARNESS_HARNESS_H

#include "machine/machine.h"
#include "results/busy.h"
#include "results/provenance.h"
#include "results/results.h"

/* ---- from the command line to the exit status ---- */

struct harness_options {
    struct device_options device;
    struct comm_options comm;
    struct monitor_options monitor;
    struct results_options results;
};

/* Adds the option sections Device, Communication, Results, Monitors and Configuration. */
void harness_options_add(struct option_table *table, struct harness_options *options);

struct harness_command {
    void *line;                 /* the struct of the command's options, passed to the functions below */
    struct option_table *table; /* the options, which fill the struct `line` */
    const struct harness_options *options;
    /* Checks the options for a number of ranks, on GPUs or not. Returns 0; or -1, reported. NULL: nothing to check. */
    int (*check)(void *line, const struct option_table *table, int ranks, int on_gpus);
    void (*print_help)(const struct option_table *table);
    const char *failures; /* what exit status 1 means, in words for --help, such as "the run failed" */
    /* For --dry-run, without a device: adds to a summary's heading what the run would need and do. Returns 0; or -1,
     * reported. NULL: the table lacks --dry-run. */
    int (*dry_run)(const void *line, int ranks, int on_gpus, cJSON *summary);
    /* Runs the command. Returns 0, or an exit status above STATUS_USAGE; or -1 on every rank, reported by rank 0. */
    int (*measure)(void *line, const struct job *job, const struct command *command);
    const char *verdicts; /* what exit statuses above STATUS_USAGE mean, for --help, such as ", 3 slow"; or "" */
};

/* Parses argv (argv[0] is the command's name). Prints help or version if asked; otherwise checks the options, and runs
 * the command or, with --dry-run, prints what it would need and do. All ranks call and return the same. */
enum exit_status harness_main(const struct harness_command *command, const struct job *job, int argc,
                              char *const argv[]);

/* ---- the run ---- */

struct harness {
    const struct job *job;
    const struct harness_options *options;
    int64_t origin_ns; /* clock_now_ns at the start of the run: time 0 in the run's files */
    int threads;       /* number of threads of this rank on the CPU */
    struct host_facts host;
    struct open_device opened;
    struct comm_options comm; /* options->comm, completed with facts of the machine */
    cJSON *ranks;             /* on rank 0, what harness_find_ranks returns */
    struct monitor *monitor;
    struct other_processes other_processes;
    struct results results;
};

/* Starts the watchdog, gathers facts about the machine, and opens device and monitors. All ranks call every function
 * down to harness_close. Returns 0; or -1 on every rank, reported by rank 0. Always end with harness_close. */
int harness_open(struct harness *harness, const struct job *job, const struct harness_options *options);

/* Returns on rank 0 the members of run.json on ranks and hosts, which the caller deletes: "ranks", each with its host,
 * machine, binding and the facts that differ between ranks (threads, CPUs, CPU quota, BLAS, GPU, $VARIABLE of the
 * environment); "hosts"; "rank_differences", these facts in words. On other ranks they are empty. All ranks call it. */
cJSON *harness_find_ranks(const struct harness *harness);

/* Checks that what ranks need for their largest messages fits into free memory: of_host bytes of each rank, summed over
 * a machine, into the machine's; on_gpu bytes of each rank, summed over a GPU, into the GPU's. option: sizes the
 * messages. All ranks call it. Returns 0; or -1 on every rank, reported. */
int harness_check_memory(const struct harness *harness, double of_host, double on_gpu, const char *option);

/* Opens the result directory; option, given, below and other are as in struct results_target. Call it after all other
 * checks, since it creates files (at most empty ones if it fails). Returns 0; or -1 on every rank, reported. */
int harness_open_results(struct harness *harness, const char *option, const char *given, const char *below,
                         struct named_path other);

/* Creates the JSON of run.json: the command, and the facts of the machine as "derived". The caller owns it. */
cJSON *harness_run_json(const struct harness *harness, const char *mode, const struct comm *comm,
                        const struct command *command);

/* Adds facts of all ranks to json, writes it as run.json, and deletes it. Returns 0; or -1 on every rank, reported. */
int harness_write_run_json(const struct harness *harness, const struct results *results, cJSON *json);

/* Closes the monitors and the results. If print_directory is 1 and status is 0, rank 0 prints the result directory.
 * Returns `status`, or -1 on every rank if the results could not be closed. A zeroed harness is fine. */
int harness_close(struct harness *harness, int status, int print_directory);

/* ---- the parts of a summary that all modes have ---- */

/* Adds the heading's first line: version, `mode` ("" or a space and a word), ranks, threads, hosts, `machine` (NULL:
 * the GPU's or CPU's name), the comm, and `calls`: how collectives are issued (NULL: how MPI makes progress). */
void harness_add_heading(const struct harness *harness, const char *mode, const char *machine, const struct comm *comm,
                         const char *calls, cJSON *summary);

/* Returns what other processes used so far. */
struct busy harness_busy(const struct harness *harness);

/* Adds to a summary warnings if facts differ between ranks, if a CPU quota limits rank 0 or stopped a rank, or if a
 * rank has more threads than logical CPUs. Adds the members "cpu_quota": {throttled_periods, throttled_ms}, of the rank
 * with most, and "other_processes": {cores (mean over the run), machine_cores, share (cores / machine_cores, the
 * largest of any machine), seconds}, null where unknown. If the machine was busy, busy_sentence's sentence begins the
 * list `first`, "answers" or "notes". Adds the monitors' findings, as notes and as the member "monitor". */
void harness_add_findings(const struct harness *harness, const char *first, cJSON *summary);

/* Rank 0 only: writes a summary with its figures, frees both; print 1: prints its body. Returns 0; or -1, reported. */
int harness_write_summary(struct results *results, cJSON *summary, struct figure_list *figures, int print);

/* Prints the heading of a summary on rank 0, and deletes the summary. */
void harness_show_heading(const struct harness *harness, cJSON *summary);

#endif
