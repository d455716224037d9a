/* setup.c - everything that a run needs, planned and checked first, and then allocated before the first step. */
#include "training/parts.h"

#include "base/text.h"
#include "ddp/comm_create.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/device_traced.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Lays the model out and asks whether it fits, before anything is allocated. */
static int plan_model(struct run *run, int stages, const struct memory_share *least)
{
    const struct training_options *o = run->options;
    const struct model_sizes sizes =
        workload_sizes(&o->workload, o->batch_size / (size_t)run->job->size / o->grad_accumulation);
    double tokens = (double)sizes.batch * (double)sizes.context, width = (double)(sizes.width + sizes.ff);
    if (tokens * (double)sizes.vocabulary > 1e17 || tokens * width * (double)sizes.layers > 1e16 ||
        width * width * (double)sizes.layers > 1e17)
        return error_report("this model needs more than 10^17 numbers; no machine has that much memory");
    memory_plan(run, stages);
    if (run->recording.gpu_option && !run->opened.on_gpu)
        return error_report("--%s is for runs on GPUs, and this one is on the CPU", run->recording.gpu_option);
    if (run->recording.operations && !run_capture_room(run))
        return error_report("--profile-buffer-mb %g holds no step of this model; use a larger one",
                            run->recording.buffer_mb);
    if (run->device->most_head_width && sizes.width / sizes.heads > run->device->most_head_width)
        return error_report("heads of width %zu: on a GPU they are at most %zu wide; use more --num-heads",
                            sizes.width / sizes.heads, run->device->most_head_width);
    return memory_check(run, stages, least);
}

static void create_trainer(struct run *run, const struct results *results)
{
    const struct training_options *o = run->options;
    run->reducer = allocate((size_t)o->n, sizeof *run->reducer);
    for (int i = 0; i < o->n; i++) {
        const struct implementation *row = &o->implementation[i];
        reducer_create(&run->reducer[i], row->strategy, &run->model, run->comm, row->bucket_bytes,
                       o->workload.grad_dtype);
        run->reducer[i].after_backward = row->after_backward;
    }
    run->trainer = (struct trainer){
        .device = run->model.device,
        .model = &run->model,
        .data = run->trainer.data,
        .reducer = &run->reducer[0],
        .schedule = {(float)o->lr, (long)o->warmup_steps},
        .timeline = &run->timeline,
        .ranks = run->job->size,
        .micro_batches = o->grad_accumulation,
        .max_norm = (float)o->max_norm,
        .forward_only = o->forward_only,
        .log_grad_norm = o->log_grad_norm,
        .checkpoint = {.every = o->checkpoint_every, .job = run->job, .seed = o->seed},
    };
    struct checkpoint *checkpoint = &run->trainer.checkpoint;
    snprintf(checkpoint->path, sizeof checkpoint->path, "%s/checkpoint.bin", results->directory);
    for (const struct delay *d = o->delays.item; d < o->delays.item + o->delays.n; d++)
        run->trainer.delay_ns[d->phase] += d->rank == run->job->rank ? (int64_t)(1e6 * d->ms) : 0;
    struct adamw adamw = {0.9f, 0.999f, 1e-8f, (float)o->weight_decay};
    size_t slots = DISCARDED_STEPS + o->block_steps, captured = run_capture_room(run) + 1;
    trainer_create(&run->trainer, &adamw, slots > captured ? slots : captured);
}

/* Checks that --prometheus does not name the text that --data reads. Returns 0; or -1, reported. */
static int check_apart(const char *prometheus, const char *data)
{
    struct stat one, other;
    return !stat(prometheus, &one) && !stat(data, &other) && one.st_dev == other.st_dev && one.st_ino == other.st_ino
               ? error_report("--prometheus %s: is what --data reads; name another file", prometheus)
               : 0;
}

int run_plan(struct run *run, const struct run_options *options, const struct results_target *target,
             struct results *results)
{
    watchdog_limit(run->job->watchdog, options->comm.timeout_s);
    watchdog_doing(run->job->watchdog, "the set-up");
    run->options = &options->training;
    run->origin_ns = clock_now_ns();
    run->cores_per_rank = run->job->cores;
    run->threads = host_threads(options->device.threads, run->cores_per_rank);
    host_facts(&run->host);
    if (job_agree(run->job, run->threads < 0 ? -1 : 0) ||
        open_device(&run->opened, run->job, &options->device, run->threads))
        return -1;
    run->device = run->opened.device;
    if (!run->opened.on_gpu)
        run->slowest_products = products_measure(run->job, &run->blas);
    run->watches_cpu = options->monitor.cpu;
    const struct training_options *o = run->options;
    const struct data_options data = {o->data,          o->workload.vocab_size, o->workload.context_length,
                                      o->batch_size,    o->grad_accumulation,   o->seed,
                                      run->job->rank,   run->job->size,         (int)o->data_workers,
                                      (int)o->prefetch, run->job->watchdog};
    struct comm_options how = options->comm;
    how.core_to_spare = run->cores_per_rank >= run->threads + 1;
    how.progress.crowded = run->cores_per_rank < run->threads;
    how.shares_gpu = options->device.share_gpu;
    const struct memory_share least = memory_least(run->job, &run->opened);
    if (job_agree(run->job, plan_model(run, comm_stages(run->job, run->device, &how), &least)) ||
        job_agree(run->job, data_create(&run->trainer.data, &data)) ||
        job_agree(run->job, monitor_create(&run->monitor, run->job, options->monitor.cpu, options->monitor.gpu)) ||
        job_agree(run->job, check_apart(options->results.prometheus, o->data)))
        return -1;
    run->losses.difference = NAN; /* until there are two to compare */
    size_t spans[TIMELINE_LANES];
    memory_spans(run, spans);
    timeline_create(&run->timeline, spans);
    if (run->recording.gpu && run->opened.on_gpu)
        gpu_tracer_create(&run->gpu_tracer, run->device, spans);
    run->traced = run->recording.operations ? device_traced(run->device, &run->timeline, 1) : NULL;
    const struct device *device = run->recording.allocations ? run->traced : run->device;
    run->comm = comm_create(run->job, device, &run->timeline, run_most_collectives(run), &how);
    if (!run->comm || results_open(results, run->job, target)) /* last, so that nothing is left of what is refused */
        return -1;
    run->directory = results->directory;
    open_device_explain(&run->opened);
    return 0;
}

void run_estimate(const struct run *run, size_t steps, double limit)
{
    const struct training_options *o = run->options;
    size_t tokens = o->batch_size / (size_t)run->job->size * o->workload.context_length;
    double flops = model_flops(&run->model, tokens) / (o->forward_only ? 3 : 1);
    double gflops = run->blas.product_gflops * fmin(run->threads, run->cores_per_rank);
    double seconds = job_max(run->job, flops / (1e9 * gflops / 2));
    char step[CELL], all[CELL], memory[CELL];
    if (run->opened.on_gpu || run->job->rank)
        return;
    snprintf(step, sizeof step, "%.0f ms", 1e3 * seconds);
    fprintf(stderr,
            "A step is estimated to take about %s (%.2g FLOP of each rank at half the %.3g GFLOP/s of its matrix "
            "products)",
            seconds < 1 ? step : text_duration(step, seconds), flops, gflops);
    if (limit > 0)
        fprintf(stderr, "; rounds go on for %s at most", text_duration(all, limit));
    else
        fprintf(stderr, ", all %zu about %s", steps, text_duration(all, seconds * (double)steps));
    fprintf(stderr, ". Setting up %s of memory on each rank.\n",
            text_memory(memory, memory_total(run->memory, 0, MEMORY_PARTS)));
}

int run_set_up(struct run *run, const char *mode, const struct command *command, const struct results *results)
{
    const struct training_options *o = run->options;
    const struct device *device = run->recording.allocations ? run->traced : run->device;
    /* in memory that the comm is fast in */
    model_allocate(&run->model, device, run->comm->allocate(run->comm, run->model.arena * sizeof(float)));
    model_initialize(&run->model, o->seed);
    create_trainer(run, results);
    measurements_create(&run->measurements, o->n, o->rounds);
    run->planned = o->rounds;
    if (job_agree(run->job, run_json_write(run, mode, command, results)))
        return -1;
    return job_agree(run->job, monitor_start(run->monitor, results->directory, run->origin_ns));
}

int run_stop_watching(struct run *run)
{
    return job_agree(run->job, monitor_stop(run->monitor, &run->monitored));
}

void run_tear_down(struct run *run)
{
    monitor_destroy(run->monitor);
    measurements_destroy(&run->measurements);
    losses_destroy(&run->losses);
    trainer_destroy(&run->trainer);
    for (int i = 0; run->reducer && i < run->options->n; i++)
        reducer_destroy(&run->reducer[i]);
    free(run->reducer);
    if (run->comm) {
        run->comm->release(run->comm, run->model.gradient);
        run->comm->destroy(run->comm);
    }
    gpu_tracer_destroy(&run->gpu_tracer);
    timeline_destroy(&run->timeline);
    data_destroy(run->trainer.data);
    model_destroy(&run->model);
}
