/* torch_kernels.c - the times of a GPU: from moments on the host to the kernels that were launched there.
 *
 * A gradient is final when the kernel ends that the thread launched last before AccumulateGrad's end. Kernels run long
 * after their launch, so they are found by their correlation, anywhere in the file: one reading for the launches, one
 * for the kernels. Launches in DDP's hook, and those of all-reduces, do not count. */
#include "base/json.h"
#include "import/parts.h"
#include "import/torch_steps.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL_THREADS (-1.0)

/* A moment on the host, and the kernel that was launched last before it, or first after it. */
struct moment {
    double thread, at;
    double ignored_until;         /* launches after `at` and before that do not count for later moments */
    int is_after;                 /* 1: the first launch after `at` */
    double launched, correlation; /* NAN: none */
    double start, end;            /* of the kernel; NAN: not in the trace */
    int is_nccl;
};

struct moments {
    struct moment *item; /* [n], in order of compare_moments, or of compare_correlations for the kernels */
    size_t n;
};

static int compare_numbers(double x, double y)
{
    return (x > y) - (x < y);
}

static int compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    int order = x->is_after - y->is_after;
    order = order ? order : compare_numbers(x->thread, y->thread);
    return order ? order : compare_numbers(x->at, y->at);
}

/* Moments without a launch have a correlation that no kernel has. */
static int compare_correlations(const void *a, const void *b)
{
    return compare_numbers(((const struct moment *)a)->correlation, ((const struct moment *)b)->correlation);
}

static void ask(struct moments *m, double at, double ignored_until, double thread, int is_after)
{
    m->item = allocate_more(m->item, m->n, sizeof *m->item);
    m->item[m->n++] = (struct moment){.at = at,
                                      .ignored_until = ignored_until,
                                      .thread = thread,
                                      .is_after = is_after,
                                      .launched = NAN,
                                      .correlation = -1,
                                      .start = NAN,
                                      .end = NAN};
}

/* Returns the index of the first moment of a thread whose time is above `at`, or of the moment behind all of them. */
static size_t first_after(const struct moments *m, double thread, int is_after, double at)
{
    const struct moment key = {.at = at, .thread = thread, .is_after = is_after};
    size_t low = 0, high = m->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_moments(&m->item[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns moment i, or NULL if it is not one of that thread and side. */
static struct moment *moment_of(const struct moments *m, size_t i, double thread, int is_after)
{
    struct moment *moment = i < m->n ? &m->item[i] : NULL; /* also for i = 0 - 1 */
    return moment && moment->thread == thread && moment->is_after == is_after ? moment : NULL;
}

static void note_launch(struct moment *m, double at, double correlation)
{
    if (m && (isnan(m->launched) || (m->is_after ? at < m->launched : at > m->launched))) {
        m->launched = at;
        m->correlation = correlation;
    }
}

static int take_launch(void *context, char *text, size_t length)
{
    const struct moments *m = context;
    const char *name = event_name(text);
    double start, end;
    if (!name || !event_is_launch(name) || length > TRACE_MOST_EVENT)
        return 0;
    cJSON *event = cJSON_Parse(text);
    double correlation = json_number(cJSON_GetObjectItemCaseSensitive(event, "args"), "correlation");
    if (!event_span(event, &start, &end) && correlation >= 0) {
        const double threads[] = {event_thread(event), ALL_THREADS};
        for (int i = 0; i < 2; i++) {
            size_t at = first_after(m, threads[i], 0, start);
            const struct moment *before = moment_of(m, at - 1, threads[i], 0);
            if (!before || start >= before->ignored_until)
                note_launch(moment_of(m, at, threads[i], 0), start, correlation);
            note_launch(moment_of(m, first_after(m, threads[i], 1, start) - 1, threads[i], 1), start, correlation);
        }
    }
    cJSON_Delete(event);
    return 0;
}

static int take_kernel(void *context, char *text, size_t length)
{
    const struct moments *m = context;
    struct moment key = {0};
    if (length > TRACE_MOST_EVENT || !strstr(text, "\"kernel\""))
        return 0;
    cJSON *event = cJSON_Parse(text);
    const char *name = json_string(event, "name");
    key.correlation = json_number(cJSON_GetObjectItemCaseSensitive(event, "args"), "correlation");
    key.is_nccl = strstr(name, "ncclDevKernel") || strstr(name, "ncclKernel");
    if (!strcmp(json_string(event, "cat"), "kernel") && !event_span(event, &key.start, &key.end) &&
        key.correlation >= 0) {
        struct moment *end = m->item + m->n,
                      *found = bsearch(&key, m->item, m->n, sizeof *m->item, compare_correlations);
        while (found && found > m->item && found[-1].correlation == key.correlation)
            found--;
        for (; found && found < end && found->correlation == key.correlation; found++) {
            found->start = key.start;
            found->end = key.end;
            found->is_nccl = key.is_nccl;
        }
    }
    cJSON_Delete(event);
    return 0;
}

/* Returns the moment that was asked for, with its kernel: that of the moment before it if it has no launch of its own.
 */
static const struct moment *answer(const struct moments *m, double at, double thread, int is_after)
{
    size_t i = first_after(m, thread, is_after, at) - 1;
    while (!is_after && isnan(m->item[i].launched) && moment_of(m, i - 1, thread, 0))
        i--;
    return &m->item[i];
}

static void ask_all(struct moments *m, const struct traced_step *s)
{
    for (const struct mark *g = s->gradient; g < s->gradient + s->n; g++)
        ask(m, g->end, g->hook_end, g->thread, 0);
    for (const struct mark *r = s->reduction; r < s->reduction + s->reductions; r++) {
        ask(m, r->start, r->end, r->thread, 0); /* its launches do not count */
        ask(m, r->start, r->start, r->thread, 1);
    }
    ask(m, s->start, s->start, ALL_THREADS, 1);
    ask(m, s->forward_end, s->forward_end, ALL_THREADS, 0);
    if (isfinite(s->optimizer)) {
        ask(m, s->optimizer, s->optimizer, ALL_THREADS, 1);
        ask(m, s->updated, s->updated, ALL_THREADS, 0);
    }
}

/* Returns 0; or -1 if the kernel of a gradient, or the first one of the step, is not known. */
static int use_answers(const struct moments *m, struct traced_step *s)
{
    int lacks = 0;
    for (struct mark *g = s->gradient; g < s->gradient + s->n; g++) {
        g->end = answer(m, g->end, g->thread, 0)->end;
        lacks |= isnan(g->end);
    }
    for (struct mark *r = s->reduction; r < s->reduction + s->reductions; r++) {
        const struct moment *of = answer(m, r->start, r->thread, 1); /* the times of the call are not those of it */
        r->start = of->is_nccl ? of->start : NAN;
        r->end = of->is_nccl ? of->end : NAN;
    }
    s->begin = answer(m, s->start, ALL_THREADS, 1)->start;
    s->forward_end = answer(m, s->forward_end, ALL_THREADS, 0)->end;
    s->forward_end = isfinite(s->forward_end) ? s->forward_end : s->begin;
    if (isfinite(s->optimizer)) {
        s->optimizer = answer(m, s->optimizer, ALL_THREADS, 1)->start;
        s->updated = answer(m, s->updated, ALL_THREADS, 0)->end;
        s->update = fmax(0, s->updated - s->optimizer);
    }
    qsort(s->gradient, s->n, sizeof *s->gradient, compare_ends);
    return lacks || isnan(s->begin) ? -1 : 0;
}

int torch_kernels_read(struct trace *t)
{
    struct moments m = {.item = allocate(1, sizeof *m.item)};
    for (size_t i = 0; i < t->steps; i++)
        ask_all(&m, &t->step[i]);
    qsort(m.item, m.n, sizeof *m.item, compare_moments);
    for (size_t i = 1; i < m.n; i++) /* an all-reduce in a hook ends before the hook does */
        if (moment_of(&m, i - 1, m.item[i].thread, m.item[i].is_after))
            m.item[i].ignored_until = fmax(m.item[i].ignored_until, m.item[i - 1].ignored_until);
    int status = import_scan(t->path, &(struct json_stream){"traceEvents", take_launch, NULL, &m, 0});
    qsort(m.item, m.n, sizeof *m.item, compare_correlations);
    status = status || import_scan(t->path, &(struct json_stream){"traceEvents", take_kernel, NULL, &m, 0});
    qsort(m.item, m.n, sizeof *m.item, compare_moments);
    for (size_t i = 0; i < t->steps && !status; i++)
        if (use_answers(&m, &t->step[i]))
            status = error_report("%s: lacks the kernel of a gradient: the trace is cut, or was taken without CUDA's "
                                  "activities",
                                  t->path);
    free(m.item);
    return status ? -1 : 0;
}
