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

/* ---- the rig ---- */

void one_rank_create(struct one_rank *rig, const struct device *device, const struct model_sizes *sizes, int threaded,
                     int steps)
{
    struct data_options data = {"synthetic", sizes->vocabulary, sizes->context, sizes->batch, 1, 0, 0, 1};
    struct adamw adamw = {0.9f, 0.999f, 1e-8f, 0.01f};
    size_t spans[TIMELINE_LANES];
    *rig = (struct one_rank){0};
    model_plan(&rig->model, sizes, device->compute_bytes);
    model_allocate(&rig->model, device, NULL);
    if (data_create(&rig->data, &data))
        FATAL("%s", error_text());
    step_spans(&rig->model, 1, 1, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        spans[i] *= (size_t)steps;
    timeline_create(&rig->timeline, spans);
    struct transport transport = {.post = null_post, .test = null_test, .call = null_call, .destroy = null_destroy};
    struct comm_progress progress = {PROGRESS_SLEEP, 500};
    rig->comm =
        threaded ? comm_thread_create("null", transport, device, &rig->timeline, (size_t)rig->model.tensors, progress)
                 : comm_self_create(device, &rig->timeline);
    reducer_create(&rig->reducer, &strategy_ddp_individual, &rig->model, rig->comm, 0, COMM_FLOAT32);
    rig->trainer = (struct trainer){.device = device,
                                    .model = &rig->model,
                                    .data = rig->data,
                                    .reducer = &rig->reducer,
                                    .schedule = {0.001f, 0},
                                    .timeline = &rig->timeline,
                                    .ranks = 1,
                                    .micro_batches = 1,
                                    .max_norm = 1};
    trainer_create(&rig->trainer, &adamw, (size_t)steps);
}

void one_rank_destroy(struct one_rank *rig)
{
    reducer_destroy(&rig->reducer);
    trainer_destroy(&rig->trainer);
    rig->comm->destroy(rig->comm);
    timeline_destroy(&rig->timeline);
    data_destroy(rig->data);
    model_destroy(&rig->model);
}

size_t one_rank_spans(const struct one_rank *rig)
{
    size_t n = 0;
    for (int i = 0; i < TIMELINE_LANES; i++)
        n += rig->timeline.lane[i].n;
    return n;
}

double one_rank_step(struct one_rank *rig, int slot)
{
    int64_t start = clock_now_ns();
    while (clock_now_ns() - start < 100000)
        ;
    start = clock_now_ns();
    step_run(&rig->trainer, slot);
    return 1e-9 * (double)(clock_now_ns() - start);
}
