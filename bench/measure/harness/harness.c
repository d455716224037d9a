/* harness.c - what all measuring commands share: opens device, results and monitors, runs the command. */
#include "harness/harness.h"

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "ddp/comm_create.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "kernels/exit_handlers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- from the command line to the exit status ---- */

void harness_options_add(struct option_table *table, struct harness_options *options)
{
    option_table_add(table, option_section_at(device_section, &options->device));
    option_table_add(table, option_section_at(comm_section, &options->comm));
    option_table_add(table, results_options_section(&options->results));
    option_table_add(table, option_section_at(monitor_section, &options->monitor));
    option_table_add(table, option_config_section());
}

static int print_dry_run(const struct harness_command *c, const struct job *job, int ranks, int on_gpus)
{
    const enum precision precision = c->options->device.precision;
    const int by_nccl = c->options->comm.library == COMM_NCCL;
    if (!on_gpus && (precision != PRECISION_FP32 || by_nccl))
        return job_agree(job,
                         error_report("%s %s needs GPUs, and this run is for the CPU: --device cuda plans for GPUs",
                                      by_nccl ? "--comm" : "--dtype", by_nccl ? "nccl" : precision_name[precision]));
    cJSON *summary = results_summary_create("dry-run", "", 0, 0, "");
    results_add_sentence(summary, "heading", "Dry run for %d rank%s%s", ranks, text_plural((size_t)ranks),
                         c->options->results.dry_run_ranks || job->size > 1
                             ? ""
                             : "; for another number, start it under mpirun, or give the number: --dry-run 8");
    int status = c->dry_run(c->line, ranks, on_gpus, summary);
    if (!status && job->rank == 0)
        results_print_heading(stdout, summary);
    cJSON_Delete(summary);
    return job_agree(job, status);
}

enum exit_status harness_main(const struct harness_command *c, const struct job *job, int argc, char *const argv[])
{
    const struct command command = {argc, argv, c->table};
    if (job_agree(job, option_table_parse(c->table, argc, argv)))
        return STATUS_USAGE;
    if (c->table->help && job->rank == 0) {
        c->print_help(c->table);
        char text[300];
        snprintf(text, sizeof text, "\nExit status: 0 fine, 1 %s, 2 the command line is wrong%s.\n", c->failures,
                 c->verdicts);
        option_help_text(stdout, text);
    } else if (c->table->version && job->rank == 0)
        printf("ddpbench %s\n", version_text());
    if (c->table->help || c->table->version)
        return STATUS_OK;
    int given = (int)c->options->results.dry_run_ranks, ranks = given ? given : job->size;
    int on_gpus = open_device_wants_gpus(job, &c->options->device);
    if (c->check && job_agree(job, c->check(c->line, c->table, ranks, on_gpus)))
        return STATUS_USAGE;
    int dry = c->dry_run && option_was_given(c->table, "dry-run");
    int status = dry ? print_dry_run(c, job, ranks, on_gpus) : c->measure(c->line, job, &command);
    return status < 0 ? STATUS_FAILED : (enum exit_status)status;
}

/* ---- the run ---- */

int harness_open(struct harness *h, const struct job *job, const struct harness_options *options)
{
    *h = (struct harness){.job = job,
                          .options = options,
                          .origin_ns = clock_now_ns(),
                          .comm = options->comm,
                          .results.telemetry.file = -1};
    watchdog_limit(job->watchdog, options->comm.timeout_s);
    watchdog_doing(job->watchdog, "the set-up");
    h->threads = host_threads(options->device.threads, job->cores);
    host_facts(&h->host);
    h->comm.core_to_spare = job->cores >= h->threads + 1;
    h->comm.progress.crowded = job->cores < h->threads;
    h->comm.shares_gpu = options->device.share_gpu;
    if (job_agree(job, h->threads < 0 ? -1 : 0) || open_device(&h->opened, job, &options->device, h->threads))
        return -1;
    h->ranks = harness_find_ranks(h);
    return job_agree(job, monitor_create(&h->monitor, job, options->monitor.cpu, options->monitor.gpu));
}

static int check_memory(const char *where, double needed, size_t available, const char *option)
{
    char need[CELL], have[CELL];
    if (needed <= (double)available)
        return 0;
    return error_report(
        "the ranks need %s of memory for the largest message and %s has %s free for it; use a smaller --%s",
        text_memory(need, (size_t)fmin(needed, 1e19)), where, text_memory(have, available), option);
}

int harness_check_memory(const struct harness *h, double of_host, double on_gpu, const char *option)
{
    const struct open_device *opened = &h->opened;
    double needed = job_sum_machine(h->job, of_host);
    int failed = check_memory("this machine", needed, host_memory_available(), option) ||
                 check_memory(opened->gpu.name, on_gpu * opened->sharing, open_device_available(opened), option);
    return job_agree(h->job, failed ? -1 : 0);
}

int harness_open_results(struct harness *h, const char *option, const char *given, const char *below,
                         struct named_path other)
{
    const struct results_options *o = &h->options->results;
    const struct results_target target = {option, given, o->label, below, o->prometheus, other};
    if (results_open(&h->results, h->job, &target))
        return -1;
    open_device_explain(&h->opened);
    return 0;
}

cJSON *harness_run_json(const struct harness *h, const char *mode, const struct comm *comm,
                        const struct command *command)
{
    cJSON *json = provenance_create(mode, h->options->results.label, command);
    cJSON *derived = cJSON_AddObjectToObject(json, "derived");
    json_add_number(derived, "world_size", h->job->size);
    json_add_number(derived, "host_count", h->job->hosts);
    json_add_number(derived, "threads", h->threads);
    json_add_number(derived, "cores_per_rank", h->job->cores);
    json_add_number(derived, "cpus_per_rank", h->job->cpus);
    json_add_number(derived, "cpu_quota_per_rank", h->job->quota);
    json_add_text(derived, "device", h->opened.device->name);
    open_device_describe(&h->opened, derived);
    provenance_add_comm(derived, comm);
    return json;
}

int harness_write_run_json(const struct harness *h, const struct results *results, cJSON *json)
{
    for (const cJSON *member = h->ranks ? h->ranks->child : NULL; member; member = member->next)
        cJSON_AddItemToObject(json, member->string, cJSON_Duplicate(member, 1));
    return job_agree(h->job, provenance_write(results, json));
}

int harness_close(struct harness *h, int status, int print_directory)
{
    if (!h->job)
        return status;
    status = job_agree_after(h->job, status, results_close(&h->results));
    if (!status && print_directory && h->job->rank == 0)
        fprintf(stderr, "Results: %s\n", h->results.directory);
    monitor_destroy(h->monitor);
    cJSON_Delete(h->ranks);
    return status;
}

/* ---- the parts of a summary that all modes have ---- */

void harness_add_heading(const struct harness *h, const char *mode, const char *machine, const struct comm *comm,
                         const char *calls, cJSON *summary)
{
    const struct job *job = h->job;
    char how[200];
    if (!machine)
        machine = h->opened.on_gpu ? h->opened.gpu.name : h->host.cpu[0] ? h->host.cpu : h->host.name;
    snprintf(how, sizeof how, comm->on_device ? " (%s)" : calls ? "" : ", progress %s", comm->progress);
    results_add_sentence(
        summary, "heading", "ddpbench %s%s on %d rank%s x %d thread%s on %d host%s (%s), comm %s%s%s%s", version_text(),
        mode, job->size, text_plural((size_t)job->size), h->threads, text_plural((size_t)h->threads), job->hosts,
        text_plural((size_t)job->hosts), machine, comm->name, how, calls ? ", " : "", calls ? calls : "");
}

struct busy harness_busy(const struct harness *h)
{
    const struct other_processes *o = &h->other_processes;
    return o->seconds > 0 && o->share >= 0 ? (struct busy){o->share, o->machine_cores} : (struct busy){NAN, NAN};
}

static void add_quota(const struct job *job, const struct control_group_stops *stops, cJSON *summary)
{
    if (job->quota < job->cpus)
        results_add_sentence(
            summary, "notes",
            "Warning: a CPU quota (of a container or another control group) limits rank 0 to %.4g of "
            "its %.4g logical CPU%s; by default it has a thread for each whole CPU of the quota, at least one.",
            job->quota, job->cpus, job->cpus == 1 ? "" : "s");
    if (stops->periods > 0)
        results_add_sentence(
            summary, "notes",
            "Warning: the CPU quota stopped a rank's control group in %.0f periods, for %.0f ms summed "
            "over CPUs; timings include these stops: use fewer threads or ranks, or a higher quota.",
            stops->periods, stops->ms);
    cJSON *quota = cJSON_AddObjectToObject(summary, "cpu_quota");
    json_add_number(quota, "throttled_periods", stops->periods);
    json_add_number(quota, "throttled_ms", stops->ms);
}

void harness_add_findings(const struct harness *h, const char *first, cJSON *summary)
{
    enum { MOST = 24 };
    const struct busy used = harness_busy(h);
    if (h->job->cores < h->threads)
        results_add_sentence(summary, "notes",
                             "Warning: CPUs are oversubscribed: a rank has %d thread%s and %.4g logical CPUs; timings "
                             "include scheduling delays, which differ between ranks.",
                             h->threads, text_plural((size_t)h->threads), h->job->cores);
    for (const cJSON *of = json_first(h->ranks, "rank_differences"); of; of = of->next)
        results_add_sentence(summary, "notes", "Warning: ranks differ in %s.", of->valuestring);
    if (h->opened.hides_gpus && comm_by_nccl(h->job, h->opened.device, &h->comm))
        results_add_sentence(
            summary, "notes",
            "Warning: a control group or container hides GPUs from ranks of their host, so NCCL copies between "
            "them through host memory instead of directly (NVLink or PCIe): let each rank see all GPUs of its "
            "host (Slurm: --gpus-per-task=1 --gpu-bind=none).");
    add_quota(h->job, &h->other_processes.stops, summary);
    cJSON *others = cJSON_AddObjectToObject(summary, "other_processes");
    json_add_number(others, "cores", used.share * used.cores);
    json_add_number(others, "machine_cores", used.cores);
    json_add_number(others, "share", used.share);
    json_add_number(others, "seconds", h->other_processes.seconds);
    char busy[BUSY_WORDS];
    if (*busy_sentence(busy, used, "")) /* before every verdict */
        cJSON_InsertItemInArray(cJSON_GetObjectItemCaseSensitive(summary, first), 0, json_text(busy));
    const cJSON *found = monitor_findings(h->monitor);
    int n = 0;
    for (const cJSON *finding = json_first(found, "findings"); finding; finding = finding->next)
        if (n++ < MOST)
            results_add_sentence(summary, "notes", "Note: %s.", json_string(finding, "text"));
    if (n > MOST)
        results_add_sentence(summary, "notes", "Note: %d more findings of monitors are in summary.json.", n - MOST);
    if (found)
        cJSON_AddItemToObject(summary, "monitor", cJSON_Duplicate(found, 1));
}

void harness_show_heading(const struct harness *h, cJSON *summary)
{
    if (h->job->rank == 0)
        results_print_heading(stdout, summary);
    cJSON_Delete(summary);
}

int harness_write_summary(struct results *results, cJSON *summary, struct figure_list *figures, int print)
{
    int status = results_write_summary(results, summary, figures);
    if (print) {
        exit_handlers_set_results(NULL);
        results_print_body(stdout, summary);
    }
    cJSON_Delete(summary);
    figures_destroy(figures);
    return status;
}
