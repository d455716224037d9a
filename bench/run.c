/* run.c - benchmark mode: blocks of every implementation, interleaved over rounds, so that drift of the machine hits
 * all alike. */
#include "run.h"

#include "bound.h"
#include "clock.h"
#include "error.h"
#include "progress.h"
#include "report.h"
#include "results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DISCARDED = 2 }; /* steps at the start of a block that are not timed */

/* Buffers of a block, allocated once. */
struct scratch {
    struct step_times *times; /* [DISCARDED + block_steps] */
    float *record;            /* [DISCARDED + block_steps, RECORDS] */
    double *loss;             /* [block_steps] mean over ranks */
    double *loss_of_ranks;    /* [ranks, block_steps] */
    double *expected;         /* [block_steps] what every synchronising fp32 strategy must find */
    int have_expected;
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
    size_t spans[TIMELINE_LANES], steps = DISCARDED + run->options->block_steps;
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
    trainer_create(&run->trainer, &adamw, DISCARDED + o->block_steps);
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
    if (run->comm)
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
    return options->regime == REGIME_WARMUP ? -DISCARDED : (long)options->warmup_steps;
}

/* What one rank tells the others about a block. */
struct block_report {
    double seconds;                                     /* timed steps together */
    double phase[PHASES];                               /* seconds a timed step */
    double process_cpu, machine_cpu, communication_cpu; /* seconds of processors used */
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
    for (int slot = 0; slot < DISCARDED; slot++)
        step_run(trainer, slot);
    trainer->device->synchronize();
    job_barrier(run->job);

    double process = host_process_cpu_seconds(), machine = host_machine_cpu_seconds();
    double communication = run->comm->cpu_seconds(run->comm);
    int64_t start = clock_now_ns();
    for (int i = 0; i < steps; i++)
        step_run(trainer, DISCARDED + i);
    trainer->device->synchronize();
    *mine = (struct block_report){.seconds = 1e-9 * (double)(clock_now_ns() - start)};
    mine->process_cpu = host_process_cpu_seconds() - process;
    mine->machine_cpu = host_machine_cpu_seconds() - machine;
    mine->communication_cpu = run->comm->cpu_seconds(run->comm) - communication;
    job_barrier(run->job);
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

/* Cores of the busiest host that something else than its ranks used during a block, at least 0; NAN for a block too
 * short to tell, since the kernel counts in hundredths of a second. */
static double foreign_cores(struct run *run, const struct block_report *mine)
{
    double ranks = job_sum_host(run->job, mine->process_cpu);
    double cores = (mine->machine_cpu - ranks) / mine->seconds;
    double worst = job_max(run->job, cores > 0 ? cores : 0);
    run->blocks++;
    if (job_max(run->job, mine->seconds) < 0.2)
        return NAN;
    run->foreign_blocks += worst >= 0.25;
    run->other_cores = worst > run->other_cores ? worst : run->other_cores;
    return worst;
}

/* The strategies that reduce all of the gradient in fp32 must find the same losses in every block, since every block
 * starts from the same weights and data. */
static void compare_losses(struct run *run, struct scratch *s, int implementation)
{
    int steps = (int)run->options->block_steps, ranks = run->job->size;
    for (int i = 0; i < steps; i++)
        s->loss[i] = (double)s->record[(DISCARDED + i) * RECORDS + RECORD_LOSS];
    job_gather(run->job, s->loss, (size_t)steps * sizeof *s->loss, s->loss_of_ranks);
    for (int i = 0; i < steps; i++) {
        s->loss[i] = 0;
        for (int r = 0; r < ranks; r++)
            s->loss[i] += s->loss_of_ranks[r * steps + i] / ranks;
    }
    const struct sync *sync = &run->sync[implementation];
    if (!sync->strategy->reduces || (sync->staged && sync->staged_dtype != COMM_FLOAT32))
        return;
    if (!s->have_expected) {
        memcpy(s->expected, s->loss, (size_t)steps * sizeof *s->loss);
        s->have_expected = 1;
        run->loss_difference = 0;
    }
    for (int i = 0; i < steps; i++) {
        double difference = fabs(s->loss[i] - s->expected[i]) / fabs(s->expected[i]);
        if (isnan(s->loss[i]) || isnan(s->expected[i])) /* training may diverge, but then everywhere */
            difference = isnan(s->loss[i]) && isnan(s->expected[i]) ? 0 : INFINITY;
        run->loss_difference = fmax(run->loss_difference, difference);
    }
}

static int run_block(struct run *run, struct scratch *s, struct results *results, int implementation, size_t round,
                     struct block_report *all, int64_t origin_ns)
{
    int steps = DISCARDED + (int)run->options->block_steps;
    struct block_report mine;
    run_steps(run, implementation, &mine);

    run->trainer.device->download(s->record, run->trainer.record, (size_t)steps * RECORDS * sizeof *s->record);
    steps_from_timeline(&run->timeline, s->times, steps);
    for (int i = DISCARDED; i < steps; i++)
        for (int p = 0; p < PHASES; p++)
            mine.phase[p] += 1e-9 * (double)s->times[i].phase_ns[p] / (double)run->options->block_steps;
    for (int i = 0; i < TIMELINE_LANES; i++)
        mine.dropped += (int)run->timeline.lane[i].dropped;
    job_gather(run->job, &mine, sizeof mine, all);
    keep_sample(run, implementation, round, all);
    run->comm_cpu_share += all[0].communication_cpu;
    compare_losses(run, s, implementation);
    struct block_facts facts = {
        .implementation = run->options->implementation[implementation].label,
        .round = round,
        .block = run->blocks,
        .steps = steps,
        .discarded = DISCARDED,
        .schedule_step = block_start(run->options),
        .other_cores = foreign_cores(run, &mine),
        .origin_ns = origin_ns,
    };
    return job_agree(run->job, results_write_block(results, &facts, run, s->times, s->record));
}

/* ---- the rounds ---- */

/* The first step: how long will the rest take? */
static void estimate(struct run *run, size_t units)
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
    size_t steps = units * (DISCARDED + run->options->block_steps);
    if (run->job->rank == 0)
        fprintf(stderr,
                "The first step took %.2f s; the other %zu will take about %s. Results go to their directory as "
                "they come.\n",
                seconds, steps, progress_words(seconds * (double)steps, words));
}

/* Which implementation runs as number j of a round: each round begins with another one, and every second one runs
 * backwards, so that none always follows the same. */
static int rotated(size_t round, int j, int n)
{
    int shift = (int)(round % (size_t)n);
    return round % 2 ? (n + shift - j) % n : (shift + j) % n;
}

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
    fprintf(out, "\n");
    report_comparison(out, run, &comparison);
    fclose(out);
    if (print) {
        fputs(text, stdout);
        fflush(stdout);
    }
    int status = results_write_summary(results, run, &comparison, text);
    free(text);
    comparison_destroy(&comparison);
    return status;
}

static int run_rounds(struct run *run, struct results *results, struct scratch *s, struct bound *bound)
{
    const struct options *o = run->options;
    struct block_report *all = allocate((size_t)run->job->size, sizeof *all);
    struct progress progress;
    size_t units = o->rounds * (size_t)o->n, done = 0;
    int status = 0;
    int64_t origin = clock_now_ns(), written = origin;
    estimate(run, units);
    progress_begin(&progress, run->job->rank ? 0 : units);
    for (size_t round = 0; round < o->rounds && !status; round++) {
        for (int j = 0; j < o->n && !status; j++) {
            char words[160];
            int i = rotated(round, j, o->n);
            status = run_block(run, s, results, i, round, all, origin);
            if (bound)
                bound_measure(bound, run, s->times, DISCARDED, i, round);
            snprintf(words, sizeof words, "round %zu/%zu, %s, %s epochs, lr %g, loss %.4f", round + 1, o->rounds,
                     o->implementation[i].label, o->regime == REGIME_WARMUP ? "warmup" : "active",
                     (double)schedule_learning_rate(&run->trainer.schedule, run->trainer.step - 1),
                     s->loss[o->block_steps - 1]);
            progress_show(&progress, ++done, words);
        }
        if (status)
            break;
        run->measurements.rounds = round + 1;
        if (clock_now_ns() - written > 2000000000 && round + 1 < o->rounds) {
            status = job_agree(run->job, write_summary(run, results, NULL, 0));
            written = clock_now_ns();
        } else /* the clocks of the ranks differ: only rank 0 may decide, and agreeing costs nothing */
            status = job_agree(run->job, 0);
    }
    progress_end(&progress);
    free(all);
    return status;
}

static double timed_seconds(const struct run *run)
{
    double sum = 0;
    for (int i = 0; i < run->options->n; i++)
        for (size_t r = 0; r < run->measurements.rounds; r++)
            sum += measurements_of(&run->measurements, i, METRIC_STEP)[r] * (double)run->options->block_steps;
    return sum;
}

static int measure(struct run *run, struct results *results)
{
    const struct options *o = run->options;
    size_t steps = DISCARDED + o->block_steps;
    struct scratch s = {
        allocate(steps, sizeof *s.times),    allocate(steps * RECORDS, sizeof *s.record),
        allocate(steps, sizeof *s.loss),     allocate(steps * (size_t)run->job->size, sizeof *s.loss_of_ranks),
        allocate(steps, sizeof *s.expected), 0};
    struct bound *bound = o->attainable ? bound_create(run) : NULL;
    double attainable_s[MAX_IMPLEMENTATIONS];
    int status = run_rounds(run, results, &s, bound);
    double timed = timed_seconds(run);
    run->comm_cpu_share = timed > 0 ? run->comm_cpu_share / timed : 0;
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
    if (run->loss_difference > 1e-3) {
        if (run->job->rank == 0)
            fprintf(stderr,
                    "ddpbench: the losses of strategies that must agree differ by %.1e, relatively: gradients were not "
                    "reduced correctly\n",
                    run->loss_difference);
        status = -1;
    }
    bound_destroy(bound, run);
    free(s.times);
    free(s.record);
    free(s.loss);
    free(s.loss_of_ranks);
    free(s.expected);
    return status;
}

int run_benchmark(const struct job *job, const struct options *options, int argc, char *const argv[])
{
    struct run run = {.job = job, .options = options, .argc = argc, .argv = argv, .loss_difference = NAN};
    struct results results = {.metrics = -1};
    int status = set_up(&run, &results);
    if (!status)
        status = measure(&run, &results);
    if (!status && job->rank == 0)
        fprintf(stderr, "Results: %s\n", results.directory);
    results_close(&results);
    tear_down(&run);
    return status;
}
