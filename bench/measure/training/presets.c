/* presets.c - named sets of sizes, for sizes that the command line does not give. */
#include "training/options.h"

#include "base/text.h"
#include "kernels/error.h"

#include <stdio.h>
#include <string.h>

const char *const preset_name[] = {"auto",        "laptop",     "default", "gpt2-small",
                                   "gpt2-medium", "gpt2-large", "gpt2-xl", NULL};

/* The options that make up a model's shape; --d-ff is four times --d-model, unless it is given. */
static const struct {
    const char *option;
    size_t offset;
} shape[] = {{"num-layers", offsetof(struct workload, num_layers)},
             {"d-model", offsetof(struct workload, d_model)},
             {"num-heads", offsetof(struct workload, num_heads)},
             {"context-length", offsetof(struct workload, context_length)}};
enum { SHAPE = sizeof shape / sizeof *shape };

/* The shapes of GPT-2 are from Radford et al., Language Models are Unsupervised Multitask Learners, 2019, table 2.
 * `default` has the batch and vocabulary that the options have by default. */
static const struct preset {
    size_t shape[SHAPE];
    size_t synthetic_vocabulary, file_vocabulary; /* 0: depends on the kind of data */
    size_t batch;                                 /* sequences of a rank's micro-batch; 0: --batch-size decides */
} presets[PRESETS] = {
    [PRESET_DEFAULT] = {{12, 768, 12, 512}, 0, 0, 0},
    [PRESET_LAPTOP] = {{4, 256, 4, 128}, 256, 0, 1},
    [PRESET_GPT2_SMALL] = {{12, 768, 12, 1024}, 50257, 50257, 4},
    [PRESET_GPT2_MEDIUM] = {{24, 1024, 16, 1024}, 50257, 50257, 4},
    [PRESET_GPT2_LARGE] = {{36, 1280, 20, 1024}, 50257, 50257, 4},
    [PRESET_GPT2_XL] = {{48, 1600, 25, 1024}, 50257, 50257, 4},
};

/* Sets a size that the command line does not give, and appends it to w->from_preset unless `option` is NULL. */
static void set_size(struct workload *w, size_t *size, const char *option, size_t value)
{
    *size = value;
    if (option && value) /* 0: decided later, from the data */
        text_append(w->from_preset, sizeof w->from_preset, "%s%s %zu", *w->from_preset ? ", " : "", option, value);
}

int workload_use_preset(struct workload *w, const struct option_table *table, const char *data, int on_gpus)
{
    if (*w->from.files)
        return workload_import(w, table, on_gpus);
    if (w->preset == PRESET_AUTO)
        w->preset = on_gpus ? PRESET_DEFAULT : PRESET_LAPTOP;
    const struct preset *p = &presets[w->preset];
    for (int i = 0; i < SHAPE; i++)
        if (!option_was_given(table, shape[i].option))
            set_size(w, (size_t *)((char *)w + shape[i].offset), shape[i].option, p->shape[i]);
    if (!option_was_given(table, "d-ff")) /* if --d-model is given, d-ff does not come from the preset */
        set_size(w, &w->d_ff, option_was_given(table, "d-model") ? NULL : "d-ff", 4 * w->d_model);
    if (p->batch && !option_was_given(table, "vocab-size"))
        set_size(w, &w->vocab_size, "vocab-size",
                 data_kind_of(data) == DATA_SYNTHETIC ? p->synthetic_vocabulary : p->file_vocabulary);
    return 0;
}

/* Sets the batch of a model of --model-from: a sequence of each rank in each micro-batch, unless it is given. Recorded
 * steps have their own batch, and no data. Returns 0; or -1, reported. */
static int use_batch(struct training_options *o, const struct option_table *table)
{
    static const char *const names[] = {"data", "batch-size", "batch-size-per-rank"};
    int given = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int is_given = option_was_given(table, names[i]);
        given |= is_given && i;
        if (is_given && workload_is_replayed(&o->workload) && (!i || workload_has_times(&o->workload)))
            return error_report("--%s: the model of --model-from is replayed, without data%s", names[i],
                                i ? "; its recorded steps have a batch of their own" : "");
    }
    if (o->forward_only && workload_is_replayed(&o->workload))
        return error_report("--forward-only: the model of --model-from is replayed, not trained");
    if (o->grad_accumulation > 1 && workload_has_times(&o->workload))
        return error_report("--grad-accumulation: the recorded steps of --model-from have their micro-batches in them");
    if (!given)
        o->batch_size_per_rank = o->grad_accumulation;
    return 0;
}

int training_options_use_preset(struct training_options *o, const struct option_table *table, int on_gpus)
{
    if (workload_use_preset(&o->workload, table, o->data, on_gpus))
        return -1;
    if (*o->workload.from.files)
        return use_batch(o, table);
    size_t batch = presets[o->workload.preset].batch * o->grad_accumulation;
    if (batch && !option_was_given(table, "batch-size") && !option_was_given(table, "batch-size-per-rank"))
        set_size(&o->workload, &o->batch_size_per_rank, "batch-size-per-rank", batch);
    return 0;
}

void workload_help_presets(FILE *out)
{
    fputs("\nPresets:\n", out);
    for (int i = PRESET_LAPTOP; i < PRESETS; i++) {
        const struct preset *p = &presets[i];
        char text[200], batch[100] = "; batch: 32 on all ranks together";
        if (p->batch)
            snprintf(batch, sizeof batch, ", vocabulary %zu; batch: %zu a rank", p->synthetic_vocabulary, p->batch);
        snprintf(text, sizeof text, "%zu layers, width %zu, %zu heads, d_ff %zu, context %zu%s", p->shape[0],
                 p->shape[1], p->shape[2], 4 * p->shape[1], p->shape[3], batch);
        option_help_row(out, preset_name[i], text);
    }
}
