/* training.c - plans, checks and allocates everything that a run needs before its first step. */
#include "training/training.h"

#include "base/text.h"
#include "ddp/comm_create.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Checks that every host has the same number of ranks if a strategy has stages within and across hosts, and sets
 * whether the comm needs groups of ranks for these stages. Returns 0; or -1, reported. */
static int plan_groups(struct harness *h, const struct training_options *o)
{
    const struct job *job = h->job;
    for (int i = 0; i < o->n; i++) {
        const struct strategy *strategy = o->implementation[i].strategy;
        const struct traits *traits = implementation_traits(&o->implementation[i]);
        if (traits->staged && job->local_size * job->hosts != job->size)
            return error_report("%s needs the same number of ranks on each host, but %d of %d ranks on %d hosts are on "
                                "%s: start the same number on each host, or use %s",
                                strategy->name, job->local_size, job->size, job->hosts, h->host.name,
                                strategy->on_one_level->name);
        h->comm.groups |= traits->staged && strategy_parts(traits, job->size, job->local_size);
    }
    return 0;
}

/* Plans the model and checks that it fits into memory, before anything is allocated. */
static int plan_model(struct training *t, int stages)
{
    struct run *run = &t->run;
    const struct harness *h = &t->harness;
    const struct device *device = h->opened.device;
    const struct memory_conditions conditions = {h->job->rank,     h->job->size, h->job->local_size,
                                                 h->opened.on_gpu, stages,       &run->recording};
    if (memory_plan(&t->engine.model, &conditions, run->options, device->compute_bytes, run->memory))
        return -1;
    const struct workload *w = &run->options->workload;
    size_t width = workload_is_replayed(w) ? 0 : w->d_model / w->num_heads;
    if (device->most_head_width && width > device->most_head_width)
        return error_report("heads of width %zu: on a GPU they are at most %zu wide; use more --num-heads", width,
                            device->most_head_width);
    return memory_check(h->job, &h->opened, run->memory);
}

/* Chooses the library, or on GPUs its algorithms, for the products of a model that is trained. On the CPU, also
 * measures the library. All ranks call. */
static void choose_products(const struct harness *h, const struct model *model, struct run *run)
{
    const int is_replayed = workload_is_replayed(&run->options->workload);
    struct blas_products list = model_products(model, run->options->forward_only);
    run->products.ratio = NAN;
    if (!is_replayed && h->opened.on_gpu)
        products_choose_algorithms(h->job, h->opened.device, &list, &run->products);
    else if (!is_replayed && h->options->device.blas == BLAS_AUTO)
        products_choose(h->job, &list, &run->products);
    free(list.weight);
    if (!h->opened.on_gpu)
        run->slowest_products = products_measure(h->job, &run->blas);
}

int training_plan(struct training *t, const struct job *job, const struct run_options *options, const char *option,
                  const char *given, const char *below)
{
    struct harness *h = &t->harness;
    struct run *run = &t->run;
    const struct training_options *o = run->options = &options->training;
    size_t spans[TIMELINE_LANES];
    run->losses.difference = NAN; /* unknown until two blocks can be compared */
    run->planned = o->rounds;
    run->block_steps = o->block_steps;
    if (harness_open(h, job, &options->harness))
        return -1;
    const struct data_options data = {o->data,
                                      o->workload.vocab_size,
                                      o->workload.context_length,
                                      o->batch_size,
                                      o->grad_accumulation,
                                      o->seed,
                                      job->rank,
                                      job->size,
                                      (int)o->data_workers,
                                      job->watchdog};
    if (job_agree(job, plan_groups(h, o)) ||
        job_agree(job, plan_model(t, comm_stages(job, h->opened.device, &h->comm))))
        return -1;
    choose_products(h, &t->engine.model, run);
    if (job_agree(job, data_create(&t->engine.trainer.data, &data)))
        return -1;
    memory_spans(o, &t->engine.model, &run->recording, spans);
    recorder_create(&t->engine.recorder, h->opened.device, &run->recording, h->opened.on_gpu, spans);
    t->engine.comm = comm_create(job, run->recording.operations ? t->engine.recorder.traced : t->engine.recorder.device,
                                 &t->engine.recorder.timeline, memory_collectives(o, &t->engine.model), &h->comm);
    const struct named_path file = {"data", data_tokens(t->engine.trainer.data) ? o->data : "", NULL};
    return t->engine.comm ? harness_open_results(h, option, given, below, file) : -1;
}

/* Allocates weights, reducers and trainer. */
static void create_trainer(struct training *t)
{
    const struct training_options *o = t->run.options;
    const struct job *job = t->harness.job;
    struct engine *e = &t->engine;
    struct trainer *trainer = &e->trainer;
    struct comm *comm = e->comm;
    struct model *model = &e->model;
    size_t moments = 0;
    int gathers = implementations_sharding(o->implementation, o->n); /* collectives also write weights */
    model->has_no_gradient = !training_needs_gradient(o);
    /* the comm allocates what collectives read or write, in memory with which they are fast */
    model_allocate(model, t->run.recording.operations ? e->recorder.traced : e->recorder.device,
                   model->has_no_gradient ? NULL : comm->allocate(comm, model->arena * sizeof(float)),
                   gathers ? comm->allocate(comm, model->arena * model->compute_bytes) : NULL);
    model->source->initialize(model, o->seed);
    e->reducer = allocate((size_t)o->n, sizeof *e->reducer);
    for (int i = 0; i < o->n; i++) {
        const struct implementation *row = &o->implementation[i];
        struct reducer *reducer = &e->reducer[i];
        reducer_create(reducer, row->strategy, row->variant, model, comm, &row->size.caps, row->number);
        reducer->after_backward = row->after_backward;
        size_t owned = o->infers ? 0 : reducer_owned(reducer);
        moments = owned > moments ? owned : moments;
    }
    *trainer = (struct trainer){
        .device = model->device,
        .model = model,
        .data = trainer->data,
        .reducer = &e->reducer[0],
        .schedule = {(float)o->lr, (long)o->warmup_steps},
        .timeline = &e->recorder.timeline,
        .ranks = job->size,
        .micro_batches = o->grad_accumulation,
        .max_norm = (float)o->max_norm,
        .forward_only = o->forward_only,
        .checkpoint = {.every = o->checkpoint_every, .job = job, .seed = o->seed},
        .inference = {o->infers ? t->harness.results.directory : NULL, job->rank, 0, NULL, NULL},
    };
    snprintf(trainer->checkpoint.path, sizeof trainer->checkpoint.path, "%s/checkpoint.bin",
             t->harness.results.directory);
    for (const struct delay *d = o->delays.item; d < o->delays.item + o->delays.n; d++)
        trainer->delay_ns[d->phase] += d->rank == job->rank ? (int64_t)(1e6 * d->ms) : 0;
    const struct adamw adamw = {
        .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .weight_decay = 0.01f}; /* PyTorch's defaults */
    size_t slots = DISCARDED_STEPS + o->block_steps;
    size_t captured = memory_captured_steps(o, model, &t->run.recording) + 1;
    trainer_create(trainer, &adamw, slots > captured ? slots : captured, moments);
}

int training_set_up(struct training *t)
{
    struct harness *h = &t->harness;
    create_trainer(t);
    measurements_create(&t->run.measurements, t->run.options->n, t->run.options->rounds);
    return training_write_run_json(t, &h->results) ? -1 : monitor_start(h->monitor, h->results.directory, h->origin_ns);
}

int training_close(struct training *t, int status, int print_directory)
{
    struct engine *e = &t->engine;
    status = harness_close(&t->harness, status, print_directory);
    measurements_destroy(&t->run.measurements);
    losses_destroy(&t->run.losses);
    trainer_destroy(&e->trainer);
    for (int i = 0; e->reducer && i < t->run.options->n; i++)
        reducer_destroy(&e->reducer[i]);
    free(e->reducer);
    if (e->comm) {
        e->comm->release(e->comm, e->model.gradient);
        if (!e->model.owns_read_weight)
            e->comm->release(e->comm, model_read_weight(&e->model));
        e->comm->destroy(e->comm);
    }
    recorder_destroy(&e->recorder);
    data_destroy(e->trainer.data);
    model_destroy(&e->model);
    return status;
}

int training_run(struct training *t, const struct job *job, const struct run_options *options,
                 const struct run_hooks *hooks)
{
    int status = training_plan(t, job, options, "output", options->harness.results.output, "");
    if (!status) {
        harness_show_heading(&t->harness, training_create_summary(t, NULL));
        status = training_set_up(t);
    }
    if (!status)
        status = training_measure(t, hooks, 0);
    return training_close(t, status, 1);
}
