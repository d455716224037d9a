/* torch_steps.c - finds the last steps of a trace: in one reading, the events that count; then the parts of each step.
 *
 * Files are not in order of time, so the newest events are kept. A step begins before its parts: if its first events
 * are dropped, then so is the step. */
#include "import/torch_steps.h"

#include "base/json.h"
#include "import/parts.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MARKS = 1 << 18 };

/* The events that count, by the beginning of their name, or the whole of it. */
static const struct known {
    const char *name;
    int whole;
    enum mark_kind kind;
} known_names[] = {{"ProfilerStep#", 0, STEP},
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

/* ---- events ---- */

const char *event_name(const char *text)
{
    const char *at = strstr(text, "\"name\"");
    if (!at)
        return NULL;
    at += strlen("\"name\"");
    at += strspn(at, " \t\r\n:");
    return *at == '"' ? at + 1 : NULL;
}

int event_span(const cJSON *event, double *start, double *end)
{
    const double most = 1e18; /* 30,000 years */
    double duration = json_number(event, "dur");
    *start = json_number(event, "ts");
    *end = *start + (isnan(duration) ? 0 : duration);
    return fabs(*start) < most && *end >= *start && *end < most ? 0 : -1;
}

double event_thread(const cJSON *event)
{
    double thread = json_number(event, "tid");
    return isnan(thread) ? 0 : thread;
}

/* cudaLaunchKernel, cudaLaunchKernelExC, cudaLaunchCooperativeKernel, cuLaunchKernel, hipExtModuleLaunchKernel, ... */
int event_is_launch(const char *name)
{
    const char *launch = strstr(name, "Launch"), *kernel = launch ? strstr(launch, "Kernel") : NULL;
    return kernel && kernel < name + strcspn(name, "\"") && (!strncmp(name, "cu", 2) || !strncmp(name, "hip", 3));
}

/* ---- the reading ---- */

static int compare_starts(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : (int)x->kind - (int)y->kind;
}

int compare_ends(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

/* Adds a mark; the older half of them makes room. */
static void add_mark(struct trace *t, const struct mark *mark)
{
    if (t->marks == MOST_MARKS) {
        qsort(t->mark, t->marks, sizeof *t->mark, compare_starts);
        t->marks /= 2;
        memcpy(t->mark, t->mark + t->marks, t->marks * sizeof *t->mark);
    }
    t->mark[t->marks++] = *mark;
}

/* Keeps the first type of a gradient, and one that differs from it. */
static void note_type(struct trace *t, const cJSON *arguments)
{
    const cJSON *type = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(arguments, "Input type"), 0);
    if (cJSON_IsString(type) && strcmp(t->type[0], type->valuestring) != 0)
        snprintf(t->type[*t->type[0] != 0], sizeof t->type[0], "%s", type->valuestring);
}

static int take_event(void *context, char *text, size_t length)
{
    struct trace *t = context;
    const char *name = event_name(text);
    const struct known *known = NULL;
    for (size_t i = 0; name && !known && i < sizeof known_names / sizeof *known_names; i++) {
        size_t n = strlen(known_names[i].name);
        if (!strncmp(name, known_names[i].name, n) && (!known_names[i].whole || name[n] == '"'))
            known = &known_names[i];
    }
    if (name && (!known || known->kind == BACKWARD)) {
        const char *function = known ? name + strlen(known->name) : name;
        t->has_kernels |= event_is_launch(name);
        t->has_graphs |= !strncmp(name, "cudaGraphLaunch", 15) || !strncmp(name, "hipGraphLaunch", 14);
        t->has_shards |= !strncmp(name, "FSDP::", 6);
        t->is_compiled |= !strncmp(function, "CompiledFunctionBackward", 24);
    }
    if (!known || length > TRACE_MOST_EVENT)
        return 0;
    cJSON *event = cJSON_Parse(text);
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(event, "args");
    const char *collective = json_string(arguments, "Collective name");
    struct mark mark = {.kind = known->kind, .thread = event_thread(event)};
    if (!event_span(event, &mark.start, &mark.end) && strncmp(json_string(event, "cat"), "gpu_", 4) != 0 &&
        (!*collective || !strcmp(collective, "allreduce"))) {
        size_t elements = json_count(arguments, "In msg nelems");
        shape_read(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(arguments, "Input Dims"), 0), &mark.rows,
                   &mark.columns);
        if (elements) {
            mark.rows = 1;
            mark.columns = elements;
        }
        if (mark.kind == GRADIENT)
            note_type(t, arguments);
        t->is_own |= !strcmp(known->name, "gradient ready");
        add_mark(t, &mark);
    }
    cJSON_Delete(event);
    return 0;
}

static int take_member(void *context, const char *name, char *text, size_t length)
{
    enum { MOST_RANKS = 1 << 20 };
    struct trace *t = context;
    if (strcmp(name, "distributedInfo") != 0 || length > TRACE_MOST_EVENT)
        return 0;
    cJSON *about = cJSON_Parse(text);
    t->rank = (int)fmin((double)json_count(about, "rank"), MOST_RANKS);
    t->ranks = (int)fmax(1, fmin((double)json_count(about, "world_size"), MOST_RANKS));
    cJSON_Delete(about);
    return 0;
}

/* ---- steps ---- */

/* Sets when the function around a gradient ends. It is the last on that thread that began before. */
static void find_hook(struct mark *gradient, const struct mark *first, const struct mark *at)
{
    enum { NEAR = 256 }; /* marks between them, of other threads; a limit for files that lack the function */
    gradient->hook_end = gradient->end;
    for (int i = 0; i < NEAR && at-- > first; i++)
        if (at->kind == HOOK && at->thread == gradient->thread) {
            gradient->hook_end = fmax(gradient->end, at->end);
            return;
        }
}

/* Sets *s to the step whose mark is *step; marks are in order of their starts until `end`. The next step ends it, so
 * that no mark is in two steps, and the memory is limited. Returns how many gradients
 * it has; if there are any, the caller frees them. */
static size_t collect(struct traced_step *s, const struct mark *step, const struct mark *end)
{
    const struct mark *first = step + 1, *last = first;
    double last_gradient = -INFINITY, forward = -INFINITY; /* when they end; the forward before that gradient */
    size_t n = 0;
    *s = (struct traced_step){.start = step->start,
                              .duration = step->end - step->start,
                              .begin = step->start,
                              .forward_end = NAN,
                              .optimizer = NAN,
                              .updated = NAN};
    for (; last < end && last->start < step->end && last->kind != STEP; last++) {
        n += last->kind == GRADIENT || last->kind == REDUCTION;
        if (last->kind == GRADIENT)
            last_gradient = fmax(last_gradient, last->end);
    }
    if (isinf(last_gradient))
        return 0;
    for (const struct mark *m = first; m < last; m++)
        if (m->kind == FORWARD && m->end <= last_gradient)
            forward = fmax(forward, m->end);
    s->gradient = allocate(n, sizeof *s->gradient);
    for (const struct mark *m = first; m < last; m++)
        if (m->kind == GRADIENT && m->end >= forward) {
            s->gradient[s->n] = *m;
            find_hook(&s->gradient[s->n++], first, m);
        } else if ((m->kind == BACKWARD || m->kind == HOOK) && m->start >= forward && isnan(s->forward_end))
            s->forward_end = m->start;
        else if (m->kind == OPTIMIZER) {
            s->update += m->end - m->start;
            s->optimizer = isnan(s->optimizer) ? m->start : s->optimizer;
            s->updated = m->end;
        }
    qsort(s->gradient, s->n, sizeof *s->gradient, compare_ends);
    if (isnan(s->forward_end))
        s->forward_end = isfinite(forward) ? forward : s->gradient[0].start;
    s->reduction = s->gradient + s->n;
    for (const struct mark *m = first; m < last; m++)
        if (m->kind == REDUCTION && m->start >= s->gradient[0].start)
            s->reduction[s->reductions++] = *m;
    return s->n;
}

/* Finds the last steps, and those of them that are not cut: a step that is cut has fewer gradients. */
static void find_steps(struct trace *t)
{
    struct traced_step found[IMPORT_STEPS];
    size_t n = 0, most = 0;
    qsort(t->mark, t->marks, sizeof *t->mark, compare_starts);
    for (size_t i = t->marks, seen = 0; i-- > 0 && seen < IMPORT_STEPS;)
        if (t->mark[i].kind == STEP) {
            seen++;
            if (collect(&found[n], &t->mark[i], t->mark + t->marks))
                most = found[n].n > most ? found[n].n : most, n++;
        }
    while (n-- > 0)
        if (found[n].n == most)
            t->step[t->steps++] = found[n];
        else
            free(found[n].gradient);
}

int torch_steps_read(struct trace *t)
{
    size_t steps = 0, gradients = 0;
    t->ranks = 1;
    t->mark = allocate(MOST_MARKS, sizeof *t->mark);
    if (import_scan(t->path, &(struct json_stream){"traceEvents", take_event, take_member, t, 0}))
        return -1;
    for (size_t i = 0; i < t->marks; i++) {
        steps += t->mark[i].kind == STEP;
        gradients += t->mark[i].kind == GRADIENT;
    }
    if (*t->type[1])
        return error_report("%s: gradients are of several types, %s and %s; DDP puts each type into buckets of its "
                            "own, which are not replayed",
                            t->path, t->type[0], t->type[1]);
    if (t->has_graphs)
        return error_report("%s: steps are CUDA graphs (cudaGraphLaunch), which hide when gradients are final: profile "
                            "without graphs",
                            t->path);
    if (!steps)
        return error_report("%s: has no steps (ProfilerStep): call prof.step() after each training step", t->path);
    if (!gradients && t->has_shards)
        return error_report("%s: a trace of FSDP, whose gradients are sharded: give a trace of DDP, or a list of the "
                            "parameters",
                            t->path);
    find_steps(t);
    free(t->mark);
    t->mark = NULL;
    return t->steps ? 0
                    : error_report("%s: no step has a gradient (torch::autograd::AccumulateGrad): a trace of "
                                   "inference, or of steps whose backward was not recorded",
                                   t->path);
}

void torch_steps_destroy(struct trace *t)
{
    for (size_t i = 0; i < t->steps; i++)
        free(t->step[i].gradient);
    free(t->mark);
}
