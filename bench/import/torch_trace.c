/* torch_trace.c - makes a model and its times from a trace of torch.profiler (Kineto) or of ddpbench. */
#include "base/stats.h"
#include "base/text.h"
#include "import/parts.h"
#include "import/torch_steps.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t elements(const struct mark *mark)
{
    return mark->rows * mark->columns;
}

/* Makes the parameters of the gradients of a step, the last to be final first; names and sizes come from the list, if
 * there is one. Returns 0; or -1, reported. */
static int make_parameters(const struct trace *t, const struct traced_step *s, const struct parameters *list,
                           struct parameters *made)
{
    char *taken = allocate(s->n, 1);
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
        while (at >= 0 && (taken[at] || (elements(g) && elements(g) != list->item[at].rows * list->item[at].columns)))
            at--;
        if (at >= 0) {
            *p = list->item[at];
            taken[at] = 1;
        } else if (list)
            status = error_report("%s: gradient %zu has %zu elements, but no such parameter is left in the list",
                                  t->path, i + 1, elements(g));
        else if (elements(g))
            *p = (struct parameter){.rows = g->rows, .columns = g->columns};
        else
            status = error_report("%s: has no sizes of gradients: profile with record_shapes=True, or give a list of "
                                  "the parameters as a second file, FILE,LIST",
                                  t->path);
    }
    free(taken);
    return status;
}

/* Sets the times of a step, in order of the tensors; `order` is the step whose gradients made them. */
static void set_step(struct step_compute *c, const struct traced_step *s, const struct traced_step *order)
{
    char *taken = allocate(s->n, 1);
    size_t first = 0; /* that is not taken */
    for (size_t i = 0; i < s->n; i++) {
        size_t at = first;
        while (at < s->n && (taken[at] || elements(&order->gradient[i]) != elements(&s->gradient[at])))
            at++;
        at = at < s->n ? at : i;
        taken[at] = 1;
        while (first < s->n && taken[first])
            first++;
        c->ready[s->n - 1 - i] = 1e-6 * (s->gradient[at].end - s->begin);
    }
    free(taken);
    c->forward_end = 1e-6 * fmax(0, s->forward_end - s->begin);
    c->backward_end = 1e-6 * (s->gradient[s->n - 1].end - s->begin);
    c->update = 1e-6 * s->update;
}

/* Keeps the all-reduces of a step that divide the tensors in order: others, such as that of a loss, do not begin where
 * one of them ends. Returns whether they have all tensors; if not, none is kept. */
static int keep_buckets(const struct step_profile *p, struct traced_step *s)
{
    size_t kept = 0;
    int next = p->tensors; /* the first tensor of the next bucket is the one before it */
    for (size_t r = 0; r < s->reductions; r++) {
        size_t sum = 0;
        int at = next;
        while (at > 0 && sum < elements(&s->reduction[r]))
            sum += p->tensor[--at].count;
        if (at == next || sum != elements(&s->reduction[r]))
            continue;
        s->reduction[kept++] = s->reduction[r];
        next = at;
    }
    s->reductions = next ? 0 : kept;
    return s->reductions > 0;
}

/* Sets the buckets: the elements of the gradient's all-reduces in a step. */
static void set_buckets(struct imported *imported, const struct traced_step *s)
{
    imported->buckets = (int)s->reductions;
    imported->bucket = allocate(s->reductions + 1, sizeof *imported->bucket);
    for (size_t i = 0; i < s->reductions; i++)
        imported->bucket[i] = elements(&s->reduction[i]);
}

/* Sets how long each all-reduce of a step was the only one: until it ended, from when it or, if later, the one that
 * ended before it began. alone: NULL if that is not wanted. Returns when the last one ended; NAN: unknown. */
static double set_alone(const struct traced_step *s, double *alone)
{
    double before = s->reductions ? -INFINITY : NAN;
    for (const struct mark *r = s->reduction; r < s->reduction + s->reductions; r++) {
        if (isnan(r->end))
            return NAN;
        if (alone)
            alone[r - s->reduction] = 1e-6 * fmax(0, r->end - fmax(before, r->start));
        before = fmax(before, r->end);
    }
    return before;
}

/* Returns when a step ends: on a GPU, when the next one begins to compute, unless steps between them are lacking. */
static double end_of(const struct traced_step *s, const struct traced_step *next, int on_gpu)
{
    const double gap = 1e3; /* us */
    double end = fmax(s->begin + s->duration, s->updated);
    return on_gpu && next && next->start <= s->start + s->duration + gap ? next->begin : end;
}

/* Fills the steps of the profile. */
static void set_steps(struct imported *imported, struct trace *t)
{
    struct step_profile *p = &imported->profile;
    const struct traced_step *last = &t->step[t->steps - 1];
    int waits = 0, others = 0;
    for (size_t i = 0; i < t->steps; i++)
        others |= t->step[i].reductions && !keep_buckets(p, &t->step[i]);
    step_profile_create_steps(p, t->steps);
    imported->seconds = allocate(t->steps, sizeof(double));
    imported->start = allocate(t->steps, sizeof(double));
    set_buckets(imported, last);
    imported->alone = allocate(t->steps * (size_t)imported->buckets + 1, sizeof(double));
    for (size_t i = 0; i < t->steps; i++) {
        const struct traced_step *s = &t->step[i];
        struct step_compute *c = &p->step[i];
        int has_buckets = imported->alone && imported->buckets && s->reductions == (size_t)imported->buckets;
        double reduced = set_alone(s, has_buckets ? imported->alone + i * (size_t)imported->buckets : NULL);
        set_step(c, s, last);
        imported->start[i] = 1e-6 * (s->begin - s->start);
        imported->seconds[i] = 1e-6 * (end_of(s, s < last ? s + 1 : NULL, imported->on_gpu) - s->begin);
        c->rest = fmax(0, imported->seconds[i] - c->update - fmax(c->backward_end, 1e-6 * (reduced - s->begin)));
        waits |= imported->ranks > 1 && s->reductions && isnan(reduced);
        if (!has_buckets || isnan(reduced)) {
            free(imported->alone);
            imported->alone = NULL;
        }
    }
    if (waits)
        import_assume(imported, "The trace does not have when each all-reduce ended: steps include waits for "
                                "all-reduces.");
    if (others)
        import_assume(imported, "The recorded all-reduces do not divide these gradients, and do not count: DDP reduced "
                                "other ones, too (unused parameters), or a hook changed them. Steps include the waits "
                                "for them.");
}

int trace_read(struct imported *imported, const char *path, const struct parameters *list)
{
    struct trace t = {.path = path};
    struct parameters made = {0};
    int status = torch_steps_read(&t);
    imported->on_gpu = t.has_kernels && !t.is_own; /* ddpbench writes the GPU's times itself */
    status = status || (imported->on_gpu && torch_kernels_read(&t)) ||
             make_parameters(&t, &t.step[t.steps - 1], list, &made) || import_tensors(imported, &made);
    if (!status) {
        imported->rank = t.rank;
        imported->ranks = t.ranks;
        if (*t.type[0] && strcmp(t.type[0], "float") != 0)
            import_assume(imported,
                          "Gradients were of type %s, and are fp32 here, twice the bytes of 16-bit ones: "
                          "--wire-dtype bf16 sends half (predict cannot), and a bucket_cap_mb is half of the "
                          "one that is printed.",
                          t.type[0]);
        if (t.is_compiled)
            import_assume(imported, "Parts of the model were compiled: their gradients become final together.");
        set_steps(imported, &t);
        text_append(imported->words, sizeof imported->words,
                    ", ready times from %zu step%s of rank %d%s, of %.2f ms (median)", t.steps, t.steps == 1 ? "" : "s",
                    t.rank, imported->on_gpu ? " (on its GPU)" : "", 1e3 * stats_median(imported->seconds, t.steps));
        if (list && !elements(t.step[t.steps - 1].gradient))
            import_assume(imported, "The trace has no sizes: gradients are taken to become final in the reverse order "
                                    "of the list.");
    }
    free(made.item);
    torch_steps_destroy(&t);
    return status;
}
