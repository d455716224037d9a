/* live.c - --live: the option, the page, and the thread that serves it or writes it to a file. */
#include "live/live.h"

#include "base/exposition.h"
#include "base/files.h"
#include "base/text.h"
#include "base/version.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "live/http.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the option ---- */

enum { ADDRESS = 64 };

struct target {
    enum { TARGET_NONE, TARGET_PORT, TARGET_FILE } kind;
    char address[ADDRESS];
    const char *port;
};

/* 0, or -1 for what is none. */
static int target_parse(struct target *target, const char *text)
{
    size_t n = strlen(text);
    const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
    int bracketed = *text == '[' && colon > text + 2 && colon[-1] == ']'; /* an address with colons of its own */
    const char *address = bracketed ? text + 1 : text;
    size_t length = colon ? (size_t)(colon - address) - (size_t)bracketed : 0, digits = strlen(port);
    *target = (struct target){.address = "127.0.0.1", .port = port};
    if (!n)
        return 0;
    target->kind = n > 5 && !strcmp(text + n - 5, ".prom") ? TARGET_FILE : TARGET_PORT;
    if (target->kind == TARGET_FILE)
        return 0;
    if (!digits || digits > 5 || port[strspn(port, "0123456789")] || strtol(port, NULL, 10) > 65535)
        return -1;
    if (!colon)
        return 0;
    if (!length || length >= ADDRESS || (!bracketed && text + strcspn(text, ":[]") != colon))
        return -1;
    memcpy(target->address, address, length);
    target->address[length] = 0;
    return 0;
}

static int option_parse(const struct option *option, const char *text, void *field)
{
    struct target target;
    if (target_parse(&target, text) || (!*text && text != option->initial))
        return error_report("--%s %.200s: expected a port from 0 to 65535 (0: any that is free), ADDRESS:PORT, "
                            "[ADDRESS]:PORT, or a file whose name ends in .prom",
                            option->name, *text ? text : "''");
    *(const char **)field = text;
    return 0;
}

static const struct option_kind option_live = {VALUE_TEXT, option_parse, NULL};

/* clang-format off */
static const struct option rows[] = {
    {.name = "live", .kind = &option_live, .initial = "", .value_name = "PORT|FILE",
     .help = "show progress and last step as Prometheus text while the run goes: on a PORT of 127.0.0.1 (or ADDRESS:PORT; "
     "0: any that is free), path /metrics, or in a FILE.prom that is replaced every second"},
};
/* clang-format on */

struct option_section live_options_section(const char **target)
{
    return (struct option_section){.title = "Live", OPTION_ROWS(rows), .base = target};
}

/* ---- the page ---- */

enum { PARTS = 4 };

struct live {
    const char *mode, *label; /* NULL before the start */
    int ranks;
    struct target target;
    char path[FILES_PATH]; /* of the file */
    char name[HTTP_NAME];  /* of the port */
    int listener;          /* -1: none */
    int64_t start_ns;
    int parts;
    struct {
        void (*print)(void *context, FILE *out);
        void *context;
    } part[PARTS];

    pthread_mutex_t lock; /* of the progress */
    struct progress_now {
        const char *of; /* NULL: nothing is known */
        double done, planned, left_seconds;
    } progress;

    int open, serving; /* port or file are open; the thread is there */
    pthread_t thread;
    int until[2];       /* a pipe; the thread works until its other end is closed */
    double cpu_seconds; /* of the thread, when it has ended */
};

static void print_progress(const struct progress_now *now, FILE *out)
{
    const struct exposition_label of = {"of", now->of};
    if (!now->of)
        return;
    exposition_metric(out, "ddpbench_progress_done", "gauge", "So much of what is planned is done.");
    exposition_sample(out, "ddpbench_progress_done", &of, 1, now->done);
    exposition_metric(out, "ddpbench_progress_planned", "gauge", "So much is planned, as far as is known.");
    exposition_sample(out, "ddpbench_progress_planned", &of, 1, now->planned);
    exposition_single(out, "ddpbench_progress_left_seconds", "gauge", "Time until all is done, estimated.",
                      now->left_seconds);
}

/* `cpu_seconds`: what the thread has used. */
static char *make_page(struct live *live, int running, double cpu_seconds, size_t *length)
{
    const struct exposition_label info[] = {{"mode", live->mode}, {"label", live->label}, {"version", version_text()}};
    char *text = NULL;
    FILE *out = text_begin(&text, length);
    pthread_mutex_lock(&live->lock);
    const struct progress_now now = live->progress;
    pthread_mutex_unlock(&live->lock);
    if (live->mode) {
        exposition_metric(out, "ddpbench_run_info", "gauge", "What runs.");
        exposition_sample(out, "ddpbench_run_info", info, sizeof info / sizeof *info, 1);
    }
    exposition_single(out, "ddpbench_running", "gauge", "1 while the run measures, 0 when it is over.", running);
    exposition_single(out, "ddpbench_ranks", "gauge", "Ranks of the run.", live->ranks);
    exposition_single(out, "ddpbench_run_seconds", "gauge", "Time since the run was set up.",
                      1e-9 * (double)(clock_now_ns() - live->start_ns));
    exposition_single(out, "ddpbench_live_cpu_seconds_total", "counter", "CPU time that making this page took.",
                      cpu_seconds);
    print_progress(&now, out);
    for (int i = 0; i < live->parts; i++)
        live->part[i].print(live->part[i].context, out);
    text_end(out);
    return text;
}

static double thread_cpu_seconds(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *page_of_thread(void *live, size_t *length)
{
    return make_page(live, 1, thread_cpu_seconds(), length);
}

/* ---- the file ---- */

/* Returns 0 or an errno: error_report would keep the words of a failure that the next second may mend. */
static int write_file(struct live *live, int running, double cpu_seconds)
{
    size_t length;
    char *text = make_page(live, running, cpu_seconds, &length);
    int why = files_put(live->path, text, length) ? errno : 0;
    free(text);
    return why;
}

static int report_file(const struct live *live, int why)
{
    return why ? error_report("--live: cannot write %s: %s", live->path, strerror(why)) : 0;
}

/* ---- the thread ---- */

static void *serve(void *argument)
{
    struct live *live = argument;
    const struct http_page page = {EXPOSITION_CONTENT_TYPE, page_of_thread, live};
    struct pollfd until = {.fd = live->until[0], .events = POLLIN};
    if (live->target.kind == TARGET_PORT)
        http_serve(live->listener, live->until[0], &page);
    else
        while (poll(&until, 1, 1000) <= 0)
            (void)write_file(live, 1, thread_cpu_seconds()); /* live_stop reports, if it still fails then */
    live->cpu_seconds = thread_cpu_seconds();
    return NULL;
}

void live_start(struct live *live, const char *mode, const char *label)
{
    if (!live)
        return;
    live->mode = mode;
    live->label = label;
    sigset_t all, before; /* signals are for the training thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pipe2(live->until, O_CLOEXEC) ? errno : pthread_create(&live->thread, NULL, serve, live);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status)
        FATAL("cannot start the thread of --live: error %d", status);
    live->serving = 1;
    if (live->target.kind == TARGET_PORT)
        fprintf(stderr, "Live: http://%s/metrics\n", live->name);
}

int live_stop(struct live *live)
{
    if (!live || !live->open)
        return 0;
    if (live->serving) {
        close(live->until[1]);
        pthread_join(live->thread, NULL);
        close(live->until[0]);
        live->listener = -1; /* the thread has closed it */
    }
    live->open = live->serving = 0;
    return live->target.kind == TARGET_FILE ? report_file(live, write_file(live, 0, live->cpu_seconds)) : 0;
}

/* ---- the rest ---- */

static int open_file(struct live *live, const char *path)
{
    snprintf(live->path, sizeof live->path, "%s", path);
    return files_check_path("live", path, "# HELP ddpbench_run") ? -1 : report_file(live, write_file(live, 1, 0));
}

static int open_port(struct live *live)
{
    const char *why, *port = live->target.port, *address = live->target.address;
    live->listener = http_listen(address, port, live->name, &why);
    if (live->listener < 0)
        return error_report("--live: cannot listen on port %s of %s: %s", port, address, why);
    return 0;
}

int live_open(struct live **result, const struct job *job, const char *text)
{
    struct target target;
    *result = NULL;
    if (target_parse(&target, text) || target.kind == TARGET_NONE || job->rank)
        return 0;
    struct live *live = *result = allocate(1, sizeof *live);
    *live = (struct live){.ranks = job->size,
                          .target = target,
                          .listener = -1,
                          .start_ns = clock_now_ns(),
                          .lock = PTHREAD_MUTEX_INITIALIZER};
    if (target.kind == TARGET_FILE ? open_file(live, text) : open_port(live))
        return -1;
    live->open = 1;
    return 0;
}

void live_add(struct live *live, void (*print)(void *context, FILE *out), void *context)
{
    if (!live)
        return;
    if (live->parts == PARTS)
        FATAL("a page of more than %d parts", PARTS);
    live->part[live->parts].print = print;
    live->part[live->parts++].context = context;
}

void live_progress(struct live *live, const char *of, double done, double planned, double left_seconds)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->lock);
    live->progress = (struct progress_now){of, done, planned, left_seconds};
    pthread_mutex_unlock(&live->lock);
}

void live_destroy(struct live *live)
{
    if (!live)
        return;
    (void)live_stop(live);
    if (live->listener >= 0)
        close(live->listener);
    pthread_mutex_destroy(&live->lock);
    free(live);
}
