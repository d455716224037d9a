/* one_rank.c - everything that one rank needs to train. */
#include "selfbench/one_rank.h"

#include "ddp/comm_self.h"
#include "ddp/comm_thread.h"
#include "kernels/error.h"

/* ---- a transport that is done at once ---- */

static void null_post(void *state, size_t slot, const struct collective *collective)
{
    (void)state, (void)slot, (void)collective;
}
static int null_test(void *state, size_t slot)
{
    (void)state, (void)slot;
    return 1;
}
static void null_call(void *state, const struct collective *collective)
{
    (void)state, (void)collective;
}
static void null_destroy(void *state)
{
    (void)state;
}

/* ---- one rank ---- */

void one_rank_create(struct one_rank *rank, const struct device *device, const struct model_sizes *sizes, int threaded,
                     int steps)
{
    struct data_options data = {"synthetic", sizes->vocabulary, sizes->context, sizes->batch, 1, 0, 0, 1, 1, 1, NULL};
    struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    size_t spans[TIMELINE_LANES];
    *rank = (struct one_rank){0};
    model_plan(&rank->model, sizes, device->compute_bytes);
    model_allocate(&rank->model, device, NULL);
    if (data_create(&rank->data, &data))
        FATAL("%s", error_text());
    step_spans(&rank->model, 1, (size_t)rank->model.tensors, 1, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        spans[i] *= (size_t)steps;
    timeline_create(&rank->timeline, spans);
    struct transport transport = {.post = null_post, .test = null_test, .call = null_call, .destroy = null_destroy};
    struct comm_progress progress = {.kind = PROGRESS_SLEEP, .sleep_us = 500};
    rank->comm =
        threaded ? comm_thread_create("null", transport, device, &rank->timeline, (size_t)rank->model.tensors, progress)
                 : comm_self_create(device, &rank->timeline);
    reducer_create(&rank->reducer, &strategy_ddp_individual, &rank->model, rank->comm, 0, COMM_FLOAT32);
    rank->trainer = (struct trainer){.device = device,
                                     .model = &rank->model,
                                     .data = rank->data,
                                     .reducer = &rank->reducer,
                                     .schedule = {0.001f, 0},
                                     .timeline = &rank->timeline,
                                     .ranks = 1,
                                     .micro_batches = 1,
                                     .max_norm = 1};
    trainer_create(&rank->trainer, &adamw, (size_t)steps);
}

void one_rank_destroy(struct one_rank *rank)
{
    reducer_destroy(&rank->reducer);
    trainer_destroy(&rank->trainer);
    rank->comm->destroy(rank->comm);
    timeline_destroy(&rank->timeline);
    data_destroy(rank->data);
    model_destroy(&rank->model);
}

size_t one_rank_spans(const struct one_rank *rank)
{
    size_t n = 0;
    for (int i = 0; i < TIMELINE_LANES; i++)
        n += rank->timeline.lane[i].n;
    return n;
}

double one_rank_block_us(struct one_rank *rank, int steps)
{
    double sum = 0;
    timeline_clear(&rank->timeline);
    for (int i = 0; i < steps; i++) {
        int64_t start = clock_now_ns();
        while (clock_now_ns() - start < 100000)
            ;
        start = clock_now_ns();
        step_run(&rank->trainer, i);
        sum += 1e-3 * (double)(clock_now_ns() - start);
    }
    return sum / steps;
}
