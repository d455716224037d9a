/* torch_trace.c - reads a trace of torch.profiler (Kineto) or of ddpbench: when each gradient of a step is final.
 *
 * On a CPU a gradient is final when torch::autograd::AccumulateGrad ends. On a GPU it is final when the kernel ends
 * that the thread launched last before that: kernels run long after their launch, so they are found by their
 * correlation, anywhere in the file. Launches between the end of AccumulateGrad and that of the function around it are
 * those of DDP's hook, and do not count. */
#include "base/json.h"
#include "base/json_stream.h"
#include "import/parts.h"
#include "kernels/error.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks: the events that count ---- */

enum mark_kind { STEP, GRADIENT, HOOK, BACKWARD, FORWARD, OPTIMIZER, REDUCTION, KINDS };
struct mark {
    double start, end; /* in us */
    long thread;
    size_t rows, columns; /* of a gradient; 0: not recorded. elements of a reduction: columns */
    char kind, type;      /* type: of a gradient, an index of trace.type */
};

struct marks {
    struct mark *item; /* [n] */
    size_t n, room;
};

/* A moment on the host, and the kernel that was launched last before it, or first after it. */
struct moment {
    double at, hook_end; /* launches after `at` and before hook_end do not count for later moments */
    long thread;         /* -1: launches of all threads */
    int is_after;        /* 1: the first launch after `at` */
    double launched;     /* NAN: none */
    long correlation;
    double start, end; /* of the kernel; NAN: not in the trace */
};

enum { MOST_MARKS = 1 << 18, TYPES = 4, TYPE_NAME = 32 };
struct trace {
    const char *path;
    struct marks mark;
    int has_kernels, has_graphs, has_shards, is_compiled, is_own;
    int rank, ranks;
    char type[TYPES][TYPE_NAME];
    struct moment *moment; /* [moments], in order of compare_moments; in by_correlation, of compare_correlations */
    size_t moments;
    struct moment **by_correlation;
    struct marks kernel; /* NCCL's all-reduces on the GPU */
};

/* The events that count, by the beginning of their name, or the whole of it. */
static const struct event_name {
    const char *name;
    int whole;
    enum mark_kind kind;
} event_names[] = {{"ProfilerStep#", 0, STEP},
                   {"torch::autograd::AccumulateGrad", 1, GRADIENT},
                   {"gradient ready", 1, GRADIENT}, /* of ddpbench */
                   {"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 1, HOOK},
                   {"autograd::engine::evaluate_function: ", 0, BACKWARD},
                   {"DistributedDataParallel.forward", 1, FORWARD},
                   {"forward_pass", 1, FORWARD}, /* of ddpbench */
                   {"Optimizer.step#", 0, OPTIMIZER},
                   {"optimizer_step", 1, OPTIMIZER}, /* of ddpbench */
                   {"gloo:all_reduce", 1, REDUCTION},
                   {"mpi:all_reduce", 1, REDUCTION},
                   {"record_param_comms", 1, REDUCTION}};

/* Returns the value of the first member "name" of an event, which is not closed by a zero byte; NULL: there is none. */
static const char *name_in(const char *text)
{
    const char *at = strstr(text, "\"name\"");
    if (!at)
        return NULL;
    at += strlen("\"name\"");
    at += strspn(at, " \t\r\n:");
    return *at == '"' ? at + 1 : NULL;
}

static const struct event_name *find_name(const char *name)
{
    for (const struct event_name *e = event_names; e < event_names + sizeof event_names / sizeof *event_names; e++) {
        size_t length = strlen(e->name);
        if (!strncmp(name, e->name, length) && (!e->whole || name[length] == '"'))
            return e;
    }
    return NULL;
}

static int compare_starts(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Drops marks that are older than the last IMPORT_STEPS steps known so far. */
static void drop_old(struct marks *marks)
{
    struct marks step = {0};
    size_t kept = 0;
    step.item = allocate(marks->n + 1, sizeof *step.item);
    for (size_t i = 0; i < marks->n; i++)
        if (marks->item[i].kind == STEP)
            step.item[step.n++] = marks->item[i];
    qsort(step.item, step.n, sizeof *step.item, compare_starts);
    double oldest = step.n > IMPORT_STEPS ? step.item[step.n - IMPORT_STEPS].start : -INFINITY;
    for (size_t i = 0; i < marks->n; i++)
        if (marks->item[i].start >= oldest)
            marks->item[kept++] = marks->item[i];
    marks->n = kept;
    free(step.item);
}

/* Returns 0; or -1 if there are too many. */
static int add_mark(struct marks *marks, const struct mark *mark)
{
    if (marks->n == marks->room) {
        if (marks->room >= MOST_MARKS) {
            drop_old(marks);
            if (marks->n > MOST_MARKS / 2)
                return -1;
        } else {
            marks->room = marks->room ? 2 * marks->room : 1024;
            struct mark *more = allocate(marks->room, sizeof *more);
            if (marks->n)
                memcpy(more, marks->item, marks->n * sizeof *more);
            free(marks->item);
            marks->item = more;
        }
    }
    marks->item[marks->n++] = *mark;
    return 0;
}

/* Reads when an event begins and ends. Returns 0; or -1 if it lacks that. */
static int read_span(const cJSON *event, double *start, double *end)
{
    double duration = json_number(event, "dur");
    *start = json_number(event, "ts");
    *end = *start + (isnan(duration) ? 0 : duration);
    return isfinite(*start) && *end >= *start ? 0 : -1;
}

static long thread_of(const cJSON *event)
{
    const cJSON *tid = cJSON_GetObjectItemCaseSensitive(event, "tid");
    long hash = 0;
    if (cJSON_IsNumber(tid))
        return (long)tid->valuedouble;
    for (const char *c = json_string(event, "tid"); *c; c++)
        hash = 31 * hash + *c;
    return labs(hash);
}

/* Reads a shape and a type of a gradient, if they were recorded. */
static void read_gradient(struct trace *t, struct mark *mark, const cJSON *arguments)
{
    const cJSON *shape = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(arguments, "Input Dims"), 0);
    const cJSON *type = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(arguments, "Input type"), 0);
    struct parameters one = {0};
    if (cJSON_IsArray(shape) && !parameters_add(&one, "", shape)) {
        mark->rows = one.item->rows;
        mark->columns = one.item->columns;
    }
    free(one.item);
    const char *name = cJSON_IsString(type) ? type->valuestring : "";
    while (mark->type < TYPES - 1 && *t->type[(int)mark->type] && strcmp(t->type[(int)mark->type], name) != 0)
        mark->type++;
    snprintf(t->type[(int)mark->type], TYPE_NAME, "%s", name);
}

/* Sets the elements of an all-reduce. Returns 0; or -1 if the event is another collective. */
static int read_reduction(struct mark *mark, const cJSON *arguments)
{
    const char *name = json_string(arguments, "Collective name");
    const cJSON *shape = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(arguments, "Input Dims"), 0);
    if (*name && strcmp(name, "allreduce") != 0)
        return -1;
    mark->columns = json_count(arguments, "In msg nelems");
    if (!mark->columns && cJSON_IsArray(shape)) {
        struct parameters one = {0};
        if (!parameters_add(&one, "", shape))
            mark->columns = one.item->rows * one.item->columns;
        free(one.item);
    }
    return 0;
}

/* The first reading: all marks. */
static int take_mark(void *context, char *text, size_t length)
{
    struct trace *t = context;
    const char *name = name_in(text);
    (void)length;
    if (!name)
        return 0;
    const struct event_name *known = find_name(name);
    if (!known) {
        t->has_kernels |= !strncmp(name, "cudaLaunchKernel", 16) || !strncmp(name, "cuLaunchKernel", 14);
        t->has_graphs |= !strncmp(name, "cudaGraphLaunch", 15);
        t->has_shards |= !strncmp(name, "FSDP::", 6);
        t->is_compiled |= !strncmp(name, "CompiledFunctionBackward", 24);
        return 0;
    }
    cJSON *event = cJSON_Parse(text);
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(event, "args");
    const char *category = json_string(event, "cat");
    struct mark mark = {.kind = (char)known->kind, .thread = thread_of(event)};
    int status = read_span(event, &mark.start, &mark.end) || !strncmp(category, "gpu_", 4);
    t->is_compiled |= known->kind == BACKWARD && strstr(name, "CompiledFunctionBackward") != NULL;
    t->is_own |= !strcmp(known->name, "gradient ready");
    if (!status && known->kind == GRADIENT)
        read_gradient(t, &mark, arguments);
    if (!status && known->kind == REDUCTION)
        status = read_reduction(&mark, arguments);
    cJSON_Delete(event);
    return !status && add_mark(&t->mark, &mark);
}

static int take_member(void *context, const char *name, char *text, size_t length)
{
    struct trace *t = context;
    (void)length;
    if (strcmp(name, "distributedInfo") != 0)
        return 0;
    cJSON *about = cJSON_Parse(text);
    t->rank = (int)json_count(about, "rank");
    t->ranks = (int)json_count(about, "world_size");
    cJSON_Delete(about);
    return 0;
}

/* ---- GPUs: from moments on the host to kernels ---- */

static int compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->is_after != y->is_after)
        return x->is_after - y->is_after;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Returns the index of the first moment of a thread whose time is above `at`, or of the moment behind all of them. */
static size_t first_after(const struct trace *t, long thread, int is_after, double at)
{
    const struct moment key = {.at = at, .thread = thread, .is_after = is_after};
    size_t low = 0, high = t->moments;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_moments(&t->moment[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int is_of(const struct trace *t, size_t i, long thread, int is_after)
{
    return i < t->moments && t->moment[i].thread == thread && t->moment[i].is_after == is_after;
}

static void note_launch(struct moment *m, double at, long correlation)
{
    if (isnan(m->launched) || (m->is_after ? at < m->launched : at > m->launched)) {
        m->launched = at;
        m->correlation = correlation;
    }
}

/* The second reading: launches. */
static int take_launch(void *context, char *text, size_t length)
{
    struct trace *t = context;
    const char *name = name_in(text);
    double start, end;
    (void)length;
    if (!name || (strncmp(name, "cudaLaunchKernel", 16) != 0 && strncmp(name, "cuLaunchKernel", 14) != 0))
        return 0;
    cJSON *event = cJSON_Parse(text);
    double correlation = json_number(cJSON_GetObjectItemCaseSensitive(event, "args"), "correlation");
    if (!read_span(event, &start, &end) && correlation >= 0) {
        const long threads[] = {thread_of(event), -1};
        for (int i = 0; i < 2; i++) {
            size_t at = first_after(t, threads[i], 0, start);
            int in_hook = at && is_of(t, at - 1, threads[i], 0) && start < t->moment[at - 1].hook_end;
            if (is_of(t, at, threads[i], 0) && !in_hook)
                note_launch(&t->moment[at], start, (long)correlation);
            at = first_after(t, threads[i], 1, start);
            if (at && is_of(t, at - 1, threads[i], 1))
                note_launch(&t->moment[at - 1], start, (long)correlation);
        }
    }
    cJSON_Delete(event);
    return 0;
}

static int compare_correlations(const void *a, const void *b)
{
    const struct moment *x = *(struct moment *const *)a, *y = *(struct moment *const *)b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* The third reading: kernels. */
static int take_kernel(void *context, char *text, size_t length)
{
    struct trace *t = context;
    double start, end;
    (void)length;
    if (!strstr(text, "\"kernel\""))
        return 0;
    cJSON *event = cJSON_Parse(text);
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(event, "args");
    const char *name = json_string(event, "name");
    double correlation = json_number(arguments, "correlation");
    int is_nccl = strstr(name, "ncclDevKernel") || strstr(name, "ncclKernel"), status = 0;
    if (!strcmp(json_string(event, "cat"), "kernel") && !read_span(event, &start, &end) && correlation >= 0) {
        struct moment key = {.correlation = (long)correlation}, *wanted = &key;
        struct moment **found =
            bsearch(&wanted, t->by_correlation, t->moments, sizeof(struct moment *), compare_correlations);
        while (found && found > t->by_correlation && found[-1]->correlation == key.correlation)
            found--;
        for (; found && found < t->by_correlation + t->moments && (*found)->correlation == key.correlation; found++) {
            (*found)->start = start;
            (*found)->end = end;
        }
        if (is_nccl && strstr(name, "AllReduce")) {
            struct mark mark = {.start = start, .end = end, .kind = REDUCTION};
            status = add_mark(&t->kernel, &mark);
        }
    }
    cJSON_Delete(event);
    return status;
}

static int read_file(struct trace *t, int (*take)(void *, char *, size_t),
                     int (*member)(void *, const char *, char *, size_t))
{
    char why[JSON_STREAM_WHY];
    const struct json_stream stream = {"traceEvents", take, member, t};
    int status = json_stream_read(t->path, &stream, why);
    if (status < 0)
        return error_report("%s", why);
    return status ? error_report("%s: the last %d steps have more than %d gradients and collectives", t->path,
                                 IMPORT_STEPS, MOST_MARKS / 2)
                  : 0;
}

/* ---- steps ---- */

/* A step: marks [first, last) are its gradients, in order; the moments of its parts. */
struct traced_step {
    struct mark span;
    struct mark *gradient;  /* [n], the last of each tensor, in order of their ends */
    struct mark *reduction; /* [reductions] all-reduces of the gradient, in order */
    size_t n, reductions;
    double forward_end, update; /* us: when the last backward begins; of the optimizer */
    double optimizer, updated;  /* us: when the optimizer begins and ends; NAN: there is none */
    double begin, backward_end; /* us: when the step begins to compute; its last gradient */
    const struct mark *last_optimizer;
};

static int compare_ends(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

static int is_within(const struct mark *mark, const struct mark *span)
{
    return mark->start >= span->start && mark->start < span->end;
}

/* Collects the parts of a step from marks in order of their starts. */
static void collect(struct traced_step *s, const struct marks *marks)
{
    double forward = -INFINITY; /* end of the last forward */
    s->forward_end = s->optimizer = s->updated = NAN;
    for (const struct mark *m = marks->item; m < marks->item + marks->n; m++)
        if (m->kind == FORWARD && is_within(m, &s->span))
            forward = m->end;
    for (const struct mark *m = marks->item; m < marks->item + marks->n; m++) {
        if (!is_within(m, &s->span))
            continue;
        if (m->kind == GRADIENT && m->end >= forward)
            s->gradient[s->n++] = *m;
        else if ((m->kind == BACKWARD || m->kind == HOOK) && m->start >= forward && isnan(s->forward_end))
            s->forward_end = m->start;
        else if (m->kind == OPTIMIZER) {
            s->update += m->end - m->start;
            s->optimizer = isnan(s->optimizer) ? m->start : s->optimizer;
            s->updated = m->end;
            s->last_optimizer = m;
        }
    }
    if (isnan(s->forward_end))
        s->forward_end = isfinite(forward) ? forward : s->n ? s->gradient[0].start : s->span.start;
    qsort(s->gradient, s->n, sizeof *s->gradient, compare_ends);
    for (const struct mark *m = marks->item; s->n && m < marks->item + marks->n; m++)
        if (m->kind == REDUCTION && is_within(m, &s->span) && m->start >= s->gradient[0].start)
            s->reduction[s->reductions++] = *m;
    s->begin = s->span.start;
    s->backward_end = s->n ? s->gradient[s->n - 1].end : s->forward_end;
}

/* Asks for the kernel that was launched last before `at`, or first after it. */
static void ask(struct trace *t, double at, double hook_end, long thread, int is_after)
{
    t->moment[t->moments++] = (struct moment){.at = at,
                                              .hook_end = hook_end,
                                              .thread = thread,
                                              .is_after = is_after,
                                              .launched = NAN,
                                              .correlation = -1,
                                              .start = NAN,
                                              .end = NAN};
}

/* Returns the moment that was asked for, with its kernel: that of the moment before it if it has no launch of its own.
 */
static const struct moment *answer(const struct trace *t, double at, long thread, int is_after)
{
    size_t i = first_after(t, thread, is_after, at) - 1;
    while (!is_after && isnan(t->moment[i].launched) && i && is_of(t, i - 1, thread, 0))
        i--;
    return &t->moment[i];
}

/* Returns when the function around a gradient ends: that of DDP's hook. */
static double hook_end(const struct marks *marks, const struct mark *gradient)
{
    for (const struct mark *m = marks->item; m < marks->item + marks->n && m->start <= gradient->start; m++)
        if (m->kind == HOOK && m->thread == gradient->thread && m->end >= gradient->end)
            return m->end;
    return gradient->end;
}

/* Replaces the host's times of the steps by those of the GPU. Returns 0; or -1, reported. */
static int use_kernels(struct trace *t, struct traced_step *step, size_t steps)
{
    size_t most = 0;
    for (size_t i = 0; i < steps; i++)
        most += step[i].n + 4;
    t->moment = allocate(most, sizeof *t->moment);
    t->by_correlation = allocate(most, sizeof(struct moment *));
    for (struct traced_step *s = step; s < step + steps; s++) {
        for (size_t i = 0; i < s->n; i++)
            ask(t, s->gradient[i].end, hook_end(&t->mark, &s->gradient[i]), s->gradient[i].thread, 0);
        ask(t, s->span.start, s->span.start, -1, 1);
        ask(t, s->forward_end, s->forward_end, -1, 0);
        if (isfinite(s->optimizer)) {
            ask(t, s->optimizer, s->optimizer, -1, 1);
            ask(t, s->updated, s->updated, -1, 0);
        }
    }
    qsort(t->moment, t->moments, sizeof *t->moment, compare_moments);
    if (read_file(t, take_launch, NULL))
        return -1;
    for (size_t i = 0; i < t->moments; i++)
        t->by_correlation[i] = &t->moment[i];
    qsort(t->by_correlation, t->moments, sizeof(struct moment *), compare_correlations);
    if (read_file(t, take_kernel, NULL))
        return -1;
    for (struct traced_step *s = step; s < step + steps; s++) {
        double last = -INFINITY;
        for (size_t i = 0; i < s->n; i++)
            s->gradient[i].start = answer(t, s->gradient[i].end, s->gradient[i].thread, 0)->end;
        for (size_t i = 0; i < s->n; i++) {
            s->gradient[i].end = s->gradient[i].start;
            last = fmax(last, s->gradient[i].end);
            if (isnan(s->gradient[i].end))
                return error_report("%s: lacks the kernel of a gradient: the trace is cut, or was taken without CUDA's "
                                    "activities",
                                    t->path);
        }
        s->begin = answer(t, s->span.start, -1, 1)->start;
        s->forward_end = answer(t, s->forward_end, -1, 0)->end;
        s->backward_end = last;
        if (isfinite(s->optimizer)) {
            double started = answer(t, s->optimizer, -1, 1)->start, ended = answer(t, s->updated, -1, 0)->end;
            s->update = fmax(0, ended - started);
            s->optimizer = started;
            s->updated = ended;
        }
        s->forward_end = isfinite(s->forward_end) ? s->forward_end : s->begin;
    }
    return 0;
}

/* Gives NCCL's all-reduces of the steps the times of their kernels: both are in one order. If the numbers differ, their
 * times stay unknown: that of the call on the host is not the collective's. */
static void time_reductions(struct trace *t, struct traced_step *step, size_t steps)
{
    size_t n = 0, at;
    for (size_t i = 0; i < steps; i++)
        n += step[i].reductions;
    at = t->kernel.n >= n ? t->kernel.n - n : t->kernel.n;
    qsort(t->kernel.item, t->kernel.n, sizeof *t->kernel.item, compare_starts);
    for (size_t i = 0; i < steps; i++)
        for (size_t k = 0; k < step[i].reductions; k++, at++) {
            step[i].reduction[k].start = at < t->kernel.n ? t->kernel.item[at].start : NAN;
            step[i].reduction[k].end = at < t->kernel.n ? t->kernel.item[at].end : NAN;
        }
}

/* ---- tensors ---- */

static int same_shape(const struct mark *gradient, const struct parameter *p)
{
    return !gradient->columns || gradient->rows * gradient->columns == p->rows * p->columns;
}

/* Makes the parameters of the gradients of a step, the last to be final first; names and sizes come from the list, if
 * there is one. Returns 0; or -1, reported. */
static int make_parameters(struct trace *t, const struct traced_step *s, const struct parameters *list,
                           struct parameters *made)
{
    char *taken = allocate(list ? (size_t)list->n + 1 : 1, 1);
    int status = 0;
    if (list && (size_t)list->n != s->n)
        status = error_report("%s: a step has %zu gradients, but the list has %d parameters that are trained", t->path,
                              s->n, list->n);
    made->item = allocate(s->n, sizeof *made->item);
    made->n = (int)s->n;
    for (size_t i = 0; i < s->n && !status; i++) {
        const struct mark *g = &s->gradient[i];
        struct parameter *p = &made->item[s->n - 1 - i];
        int at = list ? list->n - 1 : -1;
        while (at >= 0 && (taken[at] || !same_shape(g, &list->item[at])))
            at--;
        if (at >= 0) {
            *p = list->item[at];
            taken[at] = 1;
        } else if (list)
            status = error_report("%s: gradient %zu has %zu elements, but no such parameter is left in the list",
                                  t->path, i + 1, g->rows * g->columns);
        else if (g->columns)
            *p = (struct parameter){.rows = g->rows, .columns = g->columns};
        else
            status = error_report("%s: has no sizes of gradients: profile with record_shapes=True, or give a list of "
                                  "the parameters as a second file, FILE,LIST",
                                  t->path);
    }
    free(taken);
    return status;
}

/* Sets the times of a step, in order of the tensors; `order` are the gradients of the step that made them. */
static void set_step(struct step_compute *c, const struct traced_step *s, const struct traced_step *order)
{
    char *taken = allocate(s->n, 1);
    for (size_t i = 0; i < s->n; i++) {
        size_t at = 0, n = s->n;
        while (at < n && (taken[at] || order->gradient[i].rows * order->gradient[i].columns !=
                                           s->gradient[at].rows * s->gradient[at].columns))
            at++;
        at = at < n ? at : i;
        taken[at] = 1;
        c->ready[n - 1 - i] = 1e-6 * (s->gradient[at].end - s->begin);
    }
    free(taken);
    c->forward_end = 1e-6 * fmax(0, s->forward_end - s->begin);
    c->backward_end = 1e-6 * (s->backward_end - s->begin);
    c->update = 1e-6 * s->update;
}

/* Sets the buckets: the elements of the all-reduces of a step, if they divide the tensors in order. */
static void set_buckets(struct imported *imported, const struct traced_step *s)
{
    const struct step_profile *p = &imported->profile;
    size_t b = 0, elements = 0;
    for (int i = p->tensors - 1; i >= 0 && b < s->reductions; i--) {
        elements += p->tensor[i].count;
        if (elements >= s->reduction[b].columns) {
            if (elements > s->reduction[b].columns)
                return;
            b++;
            elements = 0;
        }
    }
    if (!b || elements || b != s->reductions)
        return;
    imported->bucket = allocate(b, sizeof *imported->bucket);
    imported->buckets = (int)b;
    for (size_t i = 0; i < b; i++)
        imported->bucket[i] = s->reduction[i].columns;
}

/* Sets how long each all-reduce of a step was the only one: until it ended, from when it or, if later, the one that
 * ended before it began. Returns when the last one ended; 0: unknown. */
static double set_alone(const struct traced_step *s, double *alone)
{
    double before = -INFINITY;
    for (size_t i = 0; i < s->reductions; i++) {
        double from = fmax(before, s->reduction[i].start);
        if (alone)
            alone[i] = 1e-6 * fmax(0, s->reduction[i].end - from);
        before = fmax(before, s->reduction[i].end);
    }
    return isfinite(before) ? before : 0;
}

/* ---- the whole ---- */

/* Finds the last steps that have gradients. Returns 0; or -1, reported. The caller frees them. */
static int find_steps(struct trace *t, struct traced_step **steps, size_t *n)
{
    size_t all = 0, gradients = 0, dropped = 0;
    *n = 0;
    drop_old(&t->mark);
    qsort(t->mark.item, t->mark.n, sizeof *t->mark.item, compare_starts);
    for (const struct mark *m = t->mark.item; m < t->mark.item + t->mark.n; m++) {
        all += m->kind == STEP;
        gradients += m->kind == GRADIENT;
    }
    *steps = allocate(all + 1, sizeof **steps);
    if (!all)
        return error_report("%s: has no steps (ProfilerStep): call prof.step() after each training step", t->path);
    if (!gradients && t->has_shards)
        return error_report("%s: a trace of FSDP, whose gradients are sharded: give a trace of DDP, or a list of the "
                            "parameters",
                            t->path);
    if (!gradients)
        return error_report("%s: no step has a gradient (torch::autograd::AccumulateGrad): a trace of inference, or of "
                            "steps whose backward was not recorded",
                            t->path);
    for (const struct mark *m = t->mark.item; m < t->mark.item + t->mark.n; m++) {
        struct traced_step *s = &(*steps)[*n];
        if (m->kind != STEP)
            continue;
        *s = (struct traced_step){.span = *m,
                                  .gradient = allocate(gradients, sizeof *s->gradient),
                                  .reduction = allocate(t->mark.n, sizeof *s->reduction)};
        collect(s, &t->mark);
        if (s->n)
            ++*n;
        else {
            free(s->gradient);
            free(s->reduction);
        }
    }
    for (size_t i = 0; i < *n;) /* a step that is cut has fewer */
        if ((*steps)[i].n != (*steps)[*n - 1].n) {
            free((*steps)[i].gradient);
            free((*steps)[i].reduction);
            memmove(&(*steps)[i], &(*steps)[i + 1], (*n - i - 1) * sizeof **steps);
            --*n;
            dropped++;
        } else
            i++;
    return 0;
}

/* Returns 0 if a trace's gradients can be replayed; or -1, reported. */
static int check(const struct trace *t, struct imported *imported)
{
    if (*t->type[1])
        return error_report(
            "%s: gradients are of several types, %s and %s; DDP puts each type into buckets of its own, "
            "which are not replayed",
            t->path, t->type[0], t->type[1]);
    if (t->has_graphs && !t->has_kernels)
        return error_report("%s: steps are CUDA graphs (cudaGraphLaunch), which hide when gradients are final: profile "
                            "without graphs",
                            t->path);
    if (*t->type[0] && strcmp(t->type[0], "float") != 0)
        import_assume(imported, "Gradients were of type %s, and are fp32 here: twice as many bytes as 16-bit ones.",
                      t->type[0]);
    if (t->is_compiled)
        import_assume(imported, "Parts of the model were compiled: their gradients become final together.");
    return 0;
}

/* Fills the steps of the profile. */
static void set_steps(struct imported *imported, struct traced_step *step, size_t steps)
{
    struct step_profile *p = &imported->profile;
    const struct traced_step *last = &step[steps - 1];
    step_profile_create_steps(p, steps);
    imported->seconds = allocate(steps, sizeof(double));
    imported->start = allocate(steps, sizeof(double));
    set_buckets(imported, last);
    if (imported->buckets)
        imported->alone = allocate(steps * (size_t)imported->buckets, sizeof(double));
    for (size_t i = 0; i < steps; i++) {
        struct traced_step *s = &step[i];
        struct step_compute *c = &p->step[i];
        int has_buckets = imported->alone && s->reductions == (size_t)imported->buckets;
        double reduced = set_alone(s, has_buckets ? imported->alone + i * (size_t)imported->buckets : NULL);
        double end = imported->on_gpu && i + 1 < steps ? step[i + 1].begin : fmax(s->span.end, s->updated);
        if (imported->on_gpu && s->span.end + 1e3 < step[i + 1 < steps ? i + 1 : i].span.start)
            end = fmax(s->begin + (s->span.end - s->span.start), s->updated); /* steps between them are not traced */
        set_step(c, s, last);
        imported->start[i] = 1e-6 * (s->begin - s->span.start);
        imported->seconds[i] = 1e-6 * (end - s->begin);
        c->rest = fmax(0, imported->seconds[i] - c->backward_end - c->update -
                              fmax(0, 1e-6 * (reduced - s->begin) - c->backward_end));
        if (imported->alone && (!has_buckets || !(reduced > 0))) {
            free(imported->alone);
            imported->alone = NULL;
        }
    }
}

int trace_read(struct imported *imported, const char *path, const struct parameters *list)
{
    struct trace t = {.path = path, .ranks = 1};
    struct traced_step *step = NULL;
    struct parameters made = {0};
    size_t steps = 0, at;
    imported->kind = IMPORT_TRACE;
    int status = read_file(&t, take_mark, take_member) || check(&t, imported) || find_steps(&t, &step, &steps);
    t.has_kernels &= !t.is_own; /* ddpbench writes the GPU's times itself */
    imported->on_gpu = t.has_kernels;
    if (!status && t.has_kernels) {
        status = use_kernels(&t, step, steps);
        if (!status)
            time_reductions(&t, step, steps);
        for (size_t i = 0; i < steps; i++)
            qsort(step[i].gradient, step[i].n, sizeof *step[i].gradient, compare_ends);
    }
    if (!status)
        status = make_parameters(&t, &step[steps - 1], list, &made);
    if (!status) {
        imported->rank = t.rank;
        imported->ranks = t.ranks > 0 ? t.ranks : 1;
        import_tensors(imported, &made);
        set_steps(imported, step, steps);
        at = strlen(imported->words);
        snprintf(imported->words + at, sizeof imported->words - at, ", ready times from %zu step%s of rank %d%s", steps,
                 steps == 1 ? "" : "s", t.rank, t.has_kernels ? " (on its GPU)" : "");
        if (list && !step[steps - 1].gradient[0].columns)
            import_assume(imported, "The trace has no sizes: gradients are taken to become final in the reverse order "
                                    "of the list.");
    }
    for (size_t i = 0; i < steps; i++) {
        free(step[i].gradient);
        free(step[i].reduction);
    }
    free(step);
    free(made.item);
    free(t.mark.item);
    free(t.kernel.item);
    free(t.moment);
    free(t.by_correlation);
    return status;
}
