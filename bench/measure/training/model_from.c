/* model_from.c - a user's model (--model-from): trained if ddpbench's transformer has its sizes, else replayed. */
#include "training/options.h"

#include "base/json.h"
#include "ddp/replayed.h"
#include "ddp/transformer.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const compute_name[] = {"busy", "sleep", NULL};

#define FIELD(field) offsetof(struct workload, from.field)
/* clang-format off */
static const struct option from_rows[] = {
    {.name = "model-from", .common = 1, .kind = &option_path, .offset = FIELD(files), .initial = "", .value_name = "FILE",
     .help = "a trace of torch.profiler (.json, .json.gz), a list of named_parameters, config.json or safetensors; FILE,LIST adds names, sizes or the order"},
    {.name = "compute", .kind = &option_choice, .offset = FIELD(compute), .initial = "busy", .choices = compute_name, .needs = "model-from",
     .help = "how a replayed model passes its time: busy (with matrix products) or sleep"},
    {.name = "time-scale", .kind = &option_real, .offset = FIELD(time_scale), .initial = "1", .low = 0.001, .high = 1000, .needs = "model-from",
     .help = "factor of the recorded times; 0.5: a device of twice the speed"},
    {.name = "backward-ms", .kind = &option_real, .offset = FIELD(backward_ms), .initial = "0", .high = 1e7, .needs = "model-from",
     .help = "time of backward, for a file without times; forward takes half of it; 0: by operations, at the speed of products here"},
};
/* clang-format on */

const struct option_section model_from_section = {.title = "Your own model", OPTION_ROWS(from_rows)};

void workload_release(struct workload *w)
{
    import_destroy(&w->from.read);
    free(w->from.typical.ready);
    w->from.typical.ready = NULL;
}

int workload_is_replayed(const struct workload *w)
{
    return w->from.read.profile.tensors > 0 && !w->from.read.own.layers;
}

int workload_has_times(const struct workload *w)
{
    return workload_is_replayed(w) && w->from.read.profile.steps > 0;
}

int workload_import(struct workload *w, const struct option_table *table, int on_gpus)
{
    struct model_from *from = &w->from;
    const struct imported_sizes *own = &from->read.own;
    enum { SIZES = 6 };
    from->on_gpus = on_gpus;
    if (import_read(&from->read, "model-from", from->files))
        return -1;
    if (option_was_given(table, "preset"))
        return error_report("--preset and --model-from: give one of the two");
    const struct {
        const char *option;
        size_t *to, own;
    } size[SIZES] = {{"vocab-size", &w->vocab_size, own->vocabulary},
                     {"d-model", &w->d_model, own->width},
                     {"num-layers", &w->num_layers, own->layers},
                     {"num-heads", &w->num_heads, own->heads},
                     {"d-ff", &w->d_ff, own->ff},
                     {"context-length", &w->context_length, own->context < 512 ? own->context : 512}};
    for (int i = 0; i < SIZES && own->layers; i++)
        *size[i].to = option_was_given(table, size[i].option) ? *size[i].to : size[i].own;
    if (!workload_is_replayed(w))
        return 0;
    for (int i = 0; i < SIZES - !workload_has_times(w); i++)
        if (option_was_given(table, size[i].option))
            return error_report("--%s: the model is that of --model-from, which %s", size[i].option,
                                workload_has_times(w) ? "has sizes and times" : "has sizes");
    if (from->backward_ms > 0 && workload_has_times(w))
        return error_report("--backward-ms: --model-from has times of its own; --time-scale changes them");
    if (from->compute == REPLAYED_SLEEP && on_gpus)
        return error_report("--compute sleep is for --device cpu: work on a GPU is not over when the host sleeps");
    w->d_model = w->num_layers = w->num_heads = w->d_ff = 0;
    w->vocab_size = 2;
    if (workload_has_times(w)) {
        w->context_length = 1;
        from->typical = step_compute_create(from->read.profile.tensors);
        import_typical(&from->read, &from->typical);
    }
    return 0;
}

/* Returns the floating-point operations of a tensor's product in forward, for so many tokens: none for vectors, and for
 * embeddings, which are looked up. */
static double forward_flops(const struct tensor *t, double tokens)
{
    int is_looked_up = strstr(t->name, "emb") || strstr(t->name, "wte") || strstr(t->name, "wpe");
    return t->rows > 1 && t->columns > 1 && !is_looked_up ? 2 * (double)t->count * tokens : 0;
}

/* Sets the times that the file has. */
static void set_recorded(struct replayed *r, const struct model_from *from, double *backward)
{
    const struct step_compute *step = &from->typical;
    double before = step->forward_end;
    for (int i = r->tensors - 1; i >= 0; i--) {
        backward[i] = from->time_scale * fmax(0, step->ready[i] - before);
        before = fmax(before, step->ready[i]);
    }
    r->forward = from->time_scale * (step->forward_end + step->rest + fmax(0, step->backward_end - before));
    r->update = from->time_scale * step->update;
}

/* Sets times for a file without any: a tensor's backward in proportion to its operations, if there are any, and forward
 * half of backward. Without --backward-ms, times are operations, for the replayed source to divide by its speed. */
static void set_estimated(struct replayed *r, const struct model_from *from, double *backward)
{
    double all = 0, given = 1e-3 * from->backward_ms;
    for (int i = 0; i < r->tensors; i++)
        all += backward[i] = 2 * forward_flops(&r->tensor[i], (double)(r->batch * r->context));
    r->in_flops = !(given > 0);
    for (int i = 0; i < r->tensors; i++) {
        if (given > 0)
            backward[i] = given * (all > 0 ? backward[i] / all : 1. / r->tensors);
        backward[i] *= from->time_scale;
        r->forward += backward[i] / 2;
    }
}

static void plan_replay(struct model *model, const struct workload *w, size_t batch, size_t shards,
                        size_t compute_bytes, int rank)
{
    const struct step_profile *p = &w->from.read.profile;
    double *backward = allocate((size_t)p->tensors, sizeof *backward);
    struct replayed r = {.tensor = p->tensor,
                         .tensors = p->tensors,
                         .backward = backward,
                         .compute = (enum replayed_compute)w->from.compute,
                         .on_gpu = w->from.on_gpus,
                         .batch = batch,
                         .context = w->context_length,
                         .shards = shards,
                         .rank = rank};
    (workload_has_times(w) ? set_recorded : set_estimated)(&r, &w->from, backward);
    replayed_plan(model, &r, compute_bytes);
    free(backward);
}

void workload_plan(struct model *model, const struct workload *w, size_t batch, size_t shards, size_t compute_bytes,
                   int rank)
{
    struct model_sizes sizes = workload_sizes(w, batch);
    sizes.shards = shards;
    if (workload_is_replayed(w))
        plan_replay(model, w, batch, shards, compute_bytes, rank);
    else
        transformer_plan(model, &sizes, compute_bytes);
}
