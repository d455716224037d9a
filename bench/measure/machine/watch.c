/* watch.c - the thread that watches a host, and the findings of all hosts. */
#include "machine/machine.h"

#include "base/json.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "kernels/threads.h"
#include "machine/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct monitor {
    const struct job *job;
    int with_cpu, with_gpu; /* 1: this rank watches the CPUs, the GPUs */
    struct monitor_cpu cpu;
    struct monitor_gpu gpu;
    struct monitor_findings found; /* findings of this rank */
    cJSON *joined;                 /* findings of all ranks, after monitor_stop; NULL before it, or without samples */
    int64_t origin_ns, start_ns;
    int watching; /* 1: the thread is running */
    pthread_t thread;
    int until[2]; /* a pipe: read end, write end; closing the write end stops the thread */
};

/* A last sample of fewer seconds is dropped, since the kernel counts CPU time in hundredths of a second. */
#define SHORTEST_S 0.2

const cJSON *monitor_findings(const struct monitor *m)
{
    return m ? m->joined : NULL;
}

/* ---- findings ---- */

void monitor_findings_add(struct monitor_findings *findings, const char *name, const char *format, ...)
{
    struct monitor_finding *finding = &findings->finding[findings->n++];
    va_list arguments;
    snprintf(finding->name, sizeof finding->name, "%s", name);
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

cJSON *monitor_findings_join(const struct monitor_findings *all, int n)
{
    double samples = 0, cpu_seconds = 0;
    cJSON *json = cJSON_CreateObject(), *list = cJSON_CreateArray();
    for (const struct monitor_findings *host = all; host < all + n; host++) {
        samples += host->samples;
        cpu_seconds += host->cpu_seconds;
        for (int i = 0; i < host->n; i++) {
            char text[MONITOR_HOST + MONITOR_TEXT + 2];
            cJSON *finding = json_add_row(list);
            snprintf(text, sizeof text, "%s%s%s", host->host, *host->host ? ": " : "", host->finding[i].text);
            json_add_text(finding, "name", host->finding[i].name);
            json_add_text(finding, "text", text);
        }
    }
    json_add_number(json, "samples", samples);
    json_add_number(json, "cpu_seconds_per_sample", cpu_seconds / samples);
    cJSON_AddItemToObject(json, "findings", list);
    if (samples > 0)
        return json;
    cJSON_Delete(json);
    return NULL;
}

/* ---- the thread ---- */

/* Writes a line a second until the write end of the pipe is closed. */
static void *watch_host(void *argument)
{
    struct monitor *m = argument;
    const int64_t second = 1000000000;
    int64_t last = m->start_ns, next = last + second;
    for (int stop = 0; !stop;) {
        int64_t left = next - clock_now_ns();
        struct timespec timeout = {left > 0 ? left / second : 0, left > 0 ? left % second : 0};
        stop = ppoll(&(struct pollfd){.fd = m->until[0]}, 1, &timeout, NULL) > 0;
        int64_t now = clock_now_ns();
        if (stop && now - last < (int64_t)(SHORTEST_S * 1e9))
            break;
        double seconds = 1e-9 * (double)(now - m->origin_ns);
        if (m->with_cpu)
            monitor_cpu_sample(&m->cpu, seconds);
        if (m->with_gpu)
            monitor_gpu_sample(&m->gpu, seconds);
        m->found.samples++;
        last = now;
        while (next <= now) /* skip missed deadlines */
            next += second;
    }
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    m->found.cpu_seconds = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    return NULL;
}

static void stop_watching(struct monitor *m)
{
    if (!m->watching)
        return;
    close(m->until[1]);
    pthread_join(m->thread, NULL);
    close(m->until[0]);
    m->watching = 0;
}

/* ---- set-up ---- */

/* clang-format off */
static const struct option rows[] = {
    {.name = "monitor-cpu", .kind = &option_flag, .offset = offsetof(struct monitor_options, cpu),
     .help = "write what the CPUs do, for whom and how fast, every second"},
    {.name = "monitor-gpu", .kind = &option_flag, .offset = offsetof(struct monitor_options, gpu),
     .help = "write what NVIDIA GPUs do and what holds them back, every second"},
};
/* clang-format on */

const struct option_section monitor_section = {.title = "Monitors", OPTION_ROWS(rows)};

/* Where the process of a rank runs. */
struct rank_process {
    int machine, pid;
    ino_t namespace; /* the PID namespace: `pid` is valid only inside it */
    cpu_set_t cpus;
};

/* Gathers the process ids of this machine's ranks, and the CPUs that any of them may use. Returns the number of
 * processes; 0 if one of them is in another PID namespace. */
static int find_processes(struct monitor *m, cpu_set_t *cpus)
{
    const struct job *job = m->job;
    struct rank_process mine = {.machine = job->machine, .pid = (int)getpid()};
    struct rank_process *all = allocate((size_t)job->size, sizeof *all);
    struct stat facts;
    int n = 0, known = 1;
    mine.namespace = stat("/proc/self/ns/pid", &facts) ? 0 : facts.st_ino;
    if (sched_getaffinity(0, sizeof mine.cpus, &mine.cpus))
        CPU_ZERO(&mine.cpus);
    job_gather(job, &mine, sizeof mine, all);
    CPU_ZERO(cpus);
    for (int r = 0; r < job->size; r++) {
        if (all[r].machine != job->machine)
            continue;
        m->cpu.pid[n++] = all[r].pid;
        known &= all[r].namespace == mine.namespace;
        CPU_OR(cpus, cpus, &all[r].cpus);
    }
    free(all);
    return known ? n : 0;
}

int monitor_create(struct monitor **monitor, const struct job *job, int cpu, int gpu)
{
    *monitor = NULL;
    if (!cpu && !gpu)
        return 0;
    struct monitor *m = *monitor = allocate(1, sizeof *m);
    m->job = job;
    m->cpu.csv.file = m->gpu.csv.file = -1;
    m->cpu.pid = allocate((size_t)job->size, sizeof *m->cpu.pid);
    if (job->hosts > 1)
        gethostname(m->found.host, sizeof m->found.host - 1);
    m->cpu.root = "";
    m->cpu.pids = find_processes(m, &m->cpu.cpus);
    m->with_cpu = cpu && job->local_rank == 0;
    m->with_gpu = gpu && job->local_rank == 0;
    return m->with_gpu ? monitor_gpu_create(&m->gpu) : 0;
}

/* Creates directory/<kind>_monitor.csv, or if host is not "" <kind>_monitor_<host>.csv, and writes the header. Returns
 * 0; or -1, reported. */
static int open_csv(struct lines *csv, const char *directory, const char *kind, const char *host, const char *columns)
{
    char path[FILES_PATH];
    snprintf(path, sizeof path, "%s/%s_monitor%s%s.csv", directory, kind, *host ? "_" : "", host);
    if (lines_open(csv, path))
        return -1;
    return lines_append(csv, columns, strlen(columns)) ? lines_close(csv) : 0;
}

static int start_watching(struct monitor *m, const char *directory, int64_t origin_ns)
{
    if (!m->with_cpu && !m->with_gpu)
        return 0;
    if ((m->with_cpu && open_csv(&m->cpu.csv, directory, "cpu", m->found.host, cpu_column_names)) ||
        (m->with_gpu && open_csv(&m->gpu.csv, directory, "gpu", m->found.host, gpu_column_names)))
        return -1;
    m->origin_ns = origin_ns;
    m->start_ns = clock_now_ns();
    m->cpu.last_ns = m->start_ns;
    if (m->with_cpu)
        m->cpu.last = cpu_counters_read(&m->cpu);
    if (pipe2(m->until, O_CLOEXEC))
        FATAL("cannot open a pipe for the monitor's thread: %s", strerror(errno));
    threads_start(&m->thread, watch_host, m, "the monitor's thread");
    m->watching = 1;
    return 0;
}

int monitor_start(struct monitor *m, const char *directory, int64_t origin_ns)
{
    return m ? job_agree(m->job, start_watching(m, directory, origin_ns)) : 0;
}

int monitor_stop(struct monitor *m)
{
    if (!m)
        return 0;
    stop_watching(m);
    int cpu_failed = lines_close(&m->cpu.csv), gpu_failed = lines_close(&m->gpu.csv);
    if (m->with_cpu)
        cpu_tally_report(&m->cpu.tally, &m->found);
    if (m->with_gpu)
        gpu_tally_report(m->gpu.gpu, m->gpu.n, &m->found);
    struct monitor_findings *all = allocate((size_t)m->job->size, sizeof *all);
    job_gather(m->job, &m->found, sizeof m->found, all);
    m->joined = monitor_findings_join(all, m->job->size);
    free(all);
    return job_agree(m->job, cpu_failed || gpu_failed ? -1 : 0);
}

void monitor_destroy(struct monitor *m)
{
    if (!m)
        return;
    stop_watching(m);
    (void)lines_close(&m->cpu.csv);
    (void)lines_close(&m->gpu.csv);
    cJSON_Delete(m->joined);
    monitor_gpu_destroy(&m->gpu);
    free(m->cpu.pid);
    free(m);
}
