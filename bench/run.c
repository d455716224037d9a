/* run.c - benchmark mode: blocks of every implementation, interleaved over rounds, so that drift of the machine hits
 * all alike. */
#include "run.h"

#include "bound.h"
#include "clock.h"
#include "error.h"
#include "progress.h"
#include "report.h"
#include "results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffers of a block, allocated once; steps = DISCARDED_STEPS + block_steps. */
struct scratch {
    struct step_times *times; /* [steps] */
    float *record;            /* [steps, RECORDS] */
    double *loss;             /* [steps] of this rank */
    struct block_report *all; /* [ranks] */
};

/* ---- set-up ---- */

static int rank_threads(const struct options *options, double cores)
{
    const char *omp = getenv("OMP_NUM_THREADS");
    long threads = options->threads ? (long)options->threads : omp ? strtol(omp, NULL, 10) : (long)cores;
    return threads < 1 ? 1 : threads > 4096 ? 4096 : (int)threads;
}

/* Lays the model out and asks whether it fits, before anything is allocated. */
static int plan_model(struct run *run)
{
    const struct options *o = run->options;
    struct model_sizes sizes = {
        .batch = o->batch_size / (size_t)run->job->size / o->grad_accumulation,
        .context = o->context_length,
        .vocabulary = o->vocab_size,
        .width = o->d_model,
        .layers = o->num_layers,
        .heads = o->num_heads,
        .ff = o->d_ff,
        .rope_theta = (float)o->rope_theta,
    };
    double tokens = (double)sizes.batch * (double)sizes.context, width = (double)(sizes.width + sizes.ff);
    if (tokens * (double)sizes.vocabulary > 1e17 || tokens * width * (double)sizes.layers > 1e16 ||
        width * width * (double)sizes.layers > 1e17)
        return report("this model needs more than 10^17 numbers; no machine has that much memory");
    model_plan(&run->model, &sizes);
    memory_estimate(run->memory, &run->model, o, run->job->size);
    return memory_check(run->memory, run->job);
}

static int open_data(struct run *run)
{
    const struct options *o = run->options;
    struct data_options data = {o->data, o->vocab_size,  o->context_length, o->batch_size, o->grad_accumulation,
                                o->seed, run->job->rank, run->job->size};
    return data_create(&run->data, &data);
}

static void create_comm(struct run *run)
{
    size_t spans[TIMELINE_LANES], steps = DISCARDED_STEPS + run->options->block_steps;
    step_spans(&run->model, run->options->grad_accumulation, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        spans[i] *= steps;
    timeline_create(&run->timeline, spans);
    int no_spare = job_max(run->job, run->cores_per_rank < run->threads + 1) > 0;
    run->comm = run->job->size == 1 ? comm_self_create(&run->timeline)
                                    : comm_mpi_create(&run->timeline, (size_t)run->model.tensors,
                                                      run->options->mpi_progress, !no_spare);
}

static void create_trainer(struct run *run)
{
    const struct options *o = run->options;
    run->sync = allocate((size_t)o->n, sizeof *run->sync);
    for (int i = 0; i < o->n; i++)
        sync_create(&run->sync[i], o->implementation[i].strategy, &run->model, run->comm,
                    (size_t)(o->implementation[i].bucket_mb * 1048576), o->grad_dtype);
    run->trainer = (struct trainer){
        .device = run->model.device,
        .model = &run->model,
        .data = run->data,
        .sync = &run->sync[0],
        .schedule = {(float)o->lr, (long)o->warmup_steps},
        .timeline = &run->timeline,
        .ranks = run->job->size,
        .micro_batches = o->grad_accumulation,
        .max_norm = (float)o->max_norm,
        .log_grad_norm = o->log_grad_norm,
    };
    struct adamw adamw = {0.9f, 0.999f, 1e-8f, (float)o->weight_decay};
    trainer_create(&run->trainer, &adamw, DISCARDED_STEPS + o->block_steps);
}

static int set_up(struct run *run, struct results *results)
{
    run->cores_per_rank = host_cores_per_rank(run->job);
    run->threads = rank_threads(run->options, run->cores_per_rank);
    host_facts(&run->host);
    if (job_agree(run->job, plan_model(run)) || job_agree(run->job, open_data(run)) ||
        job_agree(run->job, results_open(results, run->job, run->options)))
        return -1;
    model_allocate(&run->model, device_cpu(run->threads));
    model_initialize(&run->model, run->options->seed);
    create_comm(run);
    create_trainer(run);
    measurements_create(&run->measurements, run->options->n, run->options->rounds);
    return job_agree(run->job, results_write_run(results, run));
}

static void tear_down(struct run *run)
{
    measurements_destroy(&run->measurements);
    losses_destroy(&run->losses);
    trainer_destroy(&run->trainer);
    for (int i = 0; run->sync && i < run->options->n; i++)
        sync_destroy(&run->sync[i]);
    free(run->sync);
    if (run->comm)
        run->comm->destroy(run->comm);
    timeline_destroy(&run->timeline);
    data_destroy(run->data);
    model_destroy(&run->model);
}

/* ---- one block ---- */

/* Where the schedule stands when a block begins: in the active regime behind the warm-up, in the warm-up regime so that
 * the first timed step is the first of the ramp. */
static long block_start(const struct options *options)
{
    return options->regime == REGIME_WARMUP ? -DISCARDED_STEPS : (long)options->warmup_steps;
}

/* What one rank tells the others about a block. */
struct block_report {
    double seconds;           /* timed steps together */
    double phase[PHASES];     /* seconds a timed step */
    double communication_cpu; /* seconds that the communication thread ran in the timed steps */
    /* from before the first barrier to behind the last, so that waiting for a slower rank is nobody else's work: */
    double around, process_cpu, machine_cpu;
    int dropped;
};

static void run_steps(struct run *run, int implementation, struct block_report *mine)
{
    struct trainer *trainer = &run->trainer;
    int steps = (int)run->options->block_steps;
    trainer->sync = &run->sync[implementation];
    trainer_reset(trainer, block_start(run->options));
    timeline_clear(&run->timeline);
    job_barrier(run->job);
    for (int slot = 0; slot < DISCARDED_STEPS; slot++)
        step_run(trainer, slot);
    trainer->device->synchronize();

    int64_t before = clock_now_ns();
    double process = host_process_cpu_seconds(), machine = host_machine_cpu_seconds();
    double communication = run->comm->cpu_seconds(run->comm);
    job_barrier(run->job);
    int64_t start = clock_now_ns();
    for (int i = 0; i < steps; i++)
        step_run(trainer, DISCARDED_STEPS + i);
    trainer->device->synchronize();
    int64_t end = clock_now_ns();
    job_barrier(run->job);

    *mine = (struct block_report){.seconds = 1e-9 * (double)(end - start)};
    mine->communication_cpu = run->comm->cpu_seconds(run->comm) - communication;
    mine->process_cpu = host_process_cpu_seconds() - process;
    mine->machine_cpu = host_machine_cpu_seconds() - machine;
    mine->around = 1e-9 * (double)(clock_now_ns() - before);
}

/* Keeps a block's sample: phases as the mean over ranks, the step of the slowest. */
static void keep_sample(struct run *run, int implementation, size_t round, const struct block_report *all)
{
    int ranks = run->job->size;
    double steps = (double)run->options->block_steps, slowest = 0;
    for (int p = 0; p < PHASES; p++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += all[r].phase[p];
        measurements_of(&run->measurements, implementation, p)[round] = sum / ranks;
    }
    for (int r = 0; r < ranks; r++) {
        slowest = all[r].seconds > slowest ? all[r].seconds : slowest;
        run->dropped_spans += all[r].dropped;
    }
    measurements_of(&run->measurements, implementation, METRIC_STEP)[round] = slowest / steps;
}

/* Cores of the busiest machine that something else than its ranks used around a block, at least 0; NAN for a block too
 * short to tell, since the kernel counts in hundredths of a second. */
static double foreign_cores(const struct run *run, const struct block_report *mine)
{
    double ranks = job_sum_machine(run->job, mine->process_cpu);
    double cores = (mine->machine_cpu - ranks) / mine->around;
    double worst = job_max(run->job, cores > 0 ? cores : 0);
    return job_max(run->job, mine->around) < 0.2 ? NAN : worst;
}

/* Counts a block, and what ran beside it. */
static void count_block(struct run *run, int implementation, const struct block_report *rank_0, double others)
{
    run->blocks++;
    run->foreign_blocks += others >= 0.25;
    run->other_cores = fmax(run->other_cores, others);
    if (run->sync[implementation].strategy->reduces) {
        run->comm_cpu_seconds += rank_0->communication_cpu;
        run->comm_seconds += rank_0->seconds;
    }
}

/* A strategy that reduces all of the gradient in fp32 must find the losses that the others find. */
static int must_agree(const struct sync *sync)
{
    return sync->strategy->reduces && (!sync->staged || sync->staged_dtype == COMM_FLOAT32);
}

static int run_block(struct run *run, struct scratch *s, struct results *results, int implementation, size_t round,
                     int64_t origin_ns)
{
    int steps = DISCARDED_STEPS + (int)run->options->block_steps;
    struct block_report mine;
    run_steps(run, implementation, &mine);

    run->trainer.device->download(s->record, run->trainer.record, (size_t)steps * RECORDS * sizeof *s->record);
    steps_from_timeline(&run->timeline, s->times, steps);
    for (int i = DISCARDED_STEPS; i < steps; i++)
        for (int p = 0; p < PHASES; p++)
            mine.phase[p] += 1e-9 * (double)s->times[i].phase_ns[p] / (double)run->options->block_steps;
    for (int i = 0; i < TIMELINE_LANES; i++)
        mine.dropped += (int)run->timeline.lane[i].dropped;
    for (int i = 0; i < steps; i++)
        s->loss[i] = (double)s->record[i * RECORDS + RECORD_LOSS];
    job_gather(run->job, &mine, sizeof mine, s->all);
    keep_sample(run, implementation, round, s->all);
    losses_add(&run->losses, run->job, s->loss, must_agree(&run->sync[implementation]));
    double others = foreign_cores(run, &mine);
    struct block_facts facts = {
        .implementation = run->options->implementation[implementation].label,
        .round = round,
        .block = run->blocks,
        .steps = steps,
        .discarded = DISCARDED_STEPS,
        .schedule_step = block_start(run->options),
        .other_cores = others,
        .origin_ns = origin_ns,
    };
    count_block(run, implementation, &s->all[0], others);
    return results_write_block(results, &facts, run, s->times, s->record);
}

/* ---- the rounds ---- */

/* The first step: how long will the rest take? */
static void estimate(struct run *run, const struct results *results, size_t units)
{
    int first = 0;
    char words[32];
    for (int i = run->options->n - 1; i >= 0; i--)
        if (run->options->implementation[i].strategy->reduces)
            first = i;
    run->trainer.sync = &run->sync[first];
    job_barrier(run->job);
    int64_t start = clock_now_ns();
    step_run(&run->trainer, 0);
    run->trainer.device->synchronize();
    double seconds = job_max(run->job, 1e-9 * (double)(clock_now_ns() - start));
    size_t steps = units * (DISCARDED_STEPS + run->options->block_steps);
    if (run->job->rank == 0)
        fprintf(stderr,
                "The first step took %.2f s; the other %zu will take about %s. Results go to %s as they come.\n",
                seconds, steps, progress_words(seconds * (double)steps, words), results->directory);
}

/* Which implementation runs as number j of a round: each round begins with another one, and every second one runs
 * backwards, so that none always follows the same. */
static int rotated(size_t round, int j, int n)
{
    int shift = (int)(round % (size_t)n);
    return round % 2 ? (n + shift - j) % n : (shift + j) % n;
}

/* Compares what there is so far and writes it, on rank 0; attainable_s[n] or NULL. With `print`, the table goes to
 * stdout too, where the configuration is already. Returns 0, or -1, reported. */
static int write_summary(const struct run *run, const struct results *results, const double *attainable_s, int print)
{
    struct comparison comparison;
    char *text = NULL;
    size_t length = 0;
    if (run->job->rank)
        return 0;
    comparison_create(&comparison, &run->measurements, run->options->implementation, run->job->size,
                      (double)(run->options->batch_size * run->options->context_length), attainable_s);
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for the summary");
    report_configuration(out, run);
    fflush(out);
    size_t table = length;
    report_comparison(out, run, &comparison);
    fclose(out);
    int status = results_write_summary(results, run, &comparison, text);
    if (print && (fputs(text + table, stdout) < 0 || fflush(stdout)))
        status = report("cannot write the table to the standard output: %s", strerror(errno));
    free(text);
    comparison_destroy(&comparison);
    return status;
}

static void show_progress(struct progress *progress, const struct run *run, size_t done, int i, size_t round)
{
    const struct options *o = run->options;
    char words[160];
    snprintf(words, sizeof words, "round %zu/%zu, %s, %s epochs, lr %g, loss %.4f", round + 1, o->rounds,
             o->implementation[i].label, o->regime == REGIME_WARMUP ? "warmup" : "active",
             (double)schedule_learning_rate(&run->trainer.schedule, run->trainer.step - 1),
             run->losses.mean[run->losses.steps - 1]);
    progress_show(progress, done, words);
}

static int run_rounds(struct run *run, struct results *results, struct scratch *s, struct bound *bound)
{
    const struct options *o = run->options;
    struct progress progress;
    size_t units = o->rounds * (size_t)o->n, done = 0;
    int64_t origin = clock_now_ns(), written = origin;
    int status = 0;
    estimate(run, results, units);
    progress_begin(&progress, run->job->rank ? 0 : units);
    while (run->measurements.rounds < o->rounds && !status) {
        size_t round = run->measurements.rounds;
        for (int j = 0; j < o->n && !status; j++) {
            int i = rotated(round, j, o->n), wrote = run_block(run, s, results, i, round, origin);
            if (bound)
                bound_measure(bound, run, s->times, i, round);
            status = job_agree(run->job, wrote);
            if (!status)
                show_progress(&progress, run, ++done, i, round);
        }
        if (status)
            break;
        run->measurements.rounds++;
        int due = clock_now_ns() - written > 2000000000 && round + 1 < o->rounds, wrote = 0;
        if (due) {
            wrote = write_summary(run, results, NULL, 0);
            written = clock_now_ns();
        }
        status = job_agree(run->job, wrote);
    }
    progress_end(&progress);
    return status;
}

static void tell_losses(const struct run *run)
{
    const struct losses *l = &run->losses;
    if (run->job->rank == 0 && l->not_a_number)
        fprintf(stderr, "ddpbench: warning: a loss was not a finite number: training diverged; use a smaller --lr\n");
    if (run->job->rank == 0 && losses_are_wrong(l))
        fprintf(stderr,
                "ddpbench: the losses of strategies that must agree differ by %.1e, relatively, in step %d of a block: "
                "gradients were not reduced correctly\n",
                l->wrong, l->judged);
}

/* The first step of a block whose loss comes after an update that moved the weights: in the active regime the second;
 * in the warm-up regime the rate is 0 until the second step of the ramp. */
static int judged_step(const struct options *options)
{
    int step = options->regime == REGIME_WARMUP ? DISCARDED_STEPS + 2 : 1;
    return step < DISCARDED_STEPS + (int)options->block_steps ? step : -1;
}

static int measure(struct run *run, struct results *results)
{
    size_t steps = DISCARDED_STEPS + run->options->block_steps;
    struct scratch s = {allocate(steps, sizeof *s.times), allocate(steps * RECORDS, sizeof *s.record),
                        allocate(steps, sizeof *s.loss), allocate((size_t)run->job->size, sizeof *s.all)};
    struct bound *bound = run->options->attainable ? bound_create(run) : NULL;
    double attainable_s[MAX_IMPLEMENTATIONS];
    if (run->job->rank == 0) {
        report_configuration(stdout, run);
        fflush(stdout);
    }
    losses_create(&run->losses, (int)steps, judged_step(run->options), run->job->size);
    int status = run_rounds(run, results, &s, bound);
    if (bound && run->measurements.rounds)
        bound_compute(bound, run, attainable_s);
    /* also when a block could not be written: what was measured is shown, and kept if it still can be */
    if (run->measurements.rounds) {
        int wrote = write_summary(run, results, bound ? attainable_s : NULL, 1);
        if (status)
            report_clear(); /* the first failure has been told, and this one follows from it */
        else
            status = job_agree(run->job, wrote);
    }
    tell_losses(run);
    bound_destroy(bound, run);
    free(s.times);
    free(s.record);
    free(s.loss);
    free(s.all);
    return status || losses_are_wrong(&run->losses) ? -1 : 0;
}

int run_benchmark(const struct job *job, const struct options *options, int argc, char *const argv[])
{
    struct run run = {.job = job, .options = options, .argc = argc, .argv = argv};
    struct results results = {.metrics = -1};
    int status = set_up(&run, &results);
    if (!status)
        status = measure(&run, &results);
    if (!status)
        status = job_agree(job, results_close(&results));
    else
        results_close(&results);
    if (!status && job->rank == 0)
        fprintf(stderr, "Results: %s\n", results.directory);
    tear_down(&run);
    return status;
}
