/* accelerator.c - ranks find, open and use a fake accelerator, which replaces those of kernels/accelerator.c. */
#include "kernels/accelerator.h"

#include "ddp/comm_create.h"
#include "kernels/error.h"
#include "machine/machine.h"
#include "tests/support/delayed_device.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

enum { PROCESSORS = 4 };

static struct job job;
static int missing, profiled; /* missing: 1 if there is no driver; profiled: argument of made_up_profiler's last call */
static struct device table;

static int made_up_count(void)
{
    return missing ? error_report("there is no made-up driver") : PROCESSORS;
}

static int made_up_identify(int index, struct gpu_facts *gpu)
{
    *gpu = (struct gpu_facts){.name = "Made-up 9000", .index = index, .total_memory = 1000};
    snprintf(gpu->id, sizeof gpu->id, "MADE-UP-%d", index);
    return 0;
}

static int made_up_describe(int index, struct gpu_facts *gpu)
{
    made_up_identify(index, gpu);
    gpu->free_memory = 900;
    return 0;
}

static int made_up_open(int index, enum precision precision, const struct gpu_products *products,
                        const struct device **device);

static void made_up_profiler(int on)
{
    profiled = on;
}

static struct gpu_algorithms algorithms;

static struct gpu_algorithms *made_up_algorithms(const struct blas_products *products)
{
    for (size_t i = 0; products && i < products->n; i++)
        algorithms.item[algorithms.n++] = (struct gpu_algorithm){.proposals = 8, .used = (int)i};
    return &algorithms;
}

static const struct accelerator made_up = {"made-up",        "made up",    made_up_count,    made_up_describe,
                                           made_up_identify, made_up_open, made_up_profiler, made_up_algorithms};
static const struct accelerator *made_up_accelerator(void)
{
    return &made_up;
}
const struct accelerator *(*const accelerators[])(void) = {made_up_accelerator, NULL};
const char *const device_names[] = {"auto", "cpu", "made-up", NULL};

static int made_up_open(int index, enum precision precision, const struct gpu_products *products,
                        const struct device **device)
{
    (void)index, (void)products;
    table = *delayed_device();
    table.name = made_up.name;
    table.accelerator = &made_up;
    table.precision = precision;
    *device = &table;
    return 0;
}

TEST(ranks_use_the_algorithms_of_rank_0)
{
    const struct device device = {.accelerator = &made_up};
    const struct blas_products products = {.n = 3};
    struct products_choice choice;
    algorithms = (struct gpu_algorithms){.n = 1, .item = {{.used = 7}}};
    algorithms.n = (size_t)(job.rank > 0); /* other ranks have a row already */
    products_choose_algorithms(&job, &device, &products, &choice);
    ck_assert_uint_eq(algorithms.n, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(algorithms.item[i].used, i);
    ck_assert_ptr_nonnull(strstr(choice.words, "for 2 of 3 products"));
    algorithms.n = 0;
}

TEST_EACH(ranks_compute_on_the_accelerator, 2)
{
    const struct device_options options = {.kind = _i ? DEVICE_FIRST_ACCELERATOR : DEVICE_AUTO};
    struct open_device opened;
    int seen;
    missing = 0;
    ck_assert_str_eq(device_names[options.kind], _i ? "made-up" : "auto");
    ck_assert_int_eq(open_device_wants_gpus(&job, &options), 1);
    ck_assert_int_eq(open_device(&opened, &job, &options, 1), 0);
    ck_assert(opened.on_gpu && opened.device == &table && opened.sharing == 1);
    ck_assert_int_eq(opened.gpu.index, job.local_rank);
    ck_assert_uint_eq(open_device_memory(&opened), 100);
    struct gpu_facts *all = kept(open_device_seen(&opened, &seen));
    ck_assert_int_eq(seen, PROCESSORS);
    ck_assert_str_eq(all[3].id, "MADE-UP-3");
    opened.device->accelerator->profiler(_i);
    ck_assert_int_eq(profiled, _i);
}

/* The fake device's memory is not host memory, and NCCL cannot use it, so MPI stages it through host memory. */
TEST(collectives_are_staged)
{
    const struct device *device;
    struct comm_options options = {.library = COMM_AUTO};
    made_up_open(0, PRECISION_FP32, NULL, &device);
    ck_assert_int_eq(comm_stages(&job, device, &options), 1);
    struct comm *comm = comm_create(&job, device, NULL, 1, &options);
    ck_assert_str_eq(comm->name, "mpi");
    float x = (float)(job.rank + 1), *memory = comm->allocate(comm, sizeof x);
    device->upload(memory, &x, sizeof x);
    comm->run_blocking(comm, &(struct collective){.buffer = memory, .count = 1});
    device->download(&x, memory, sizeof x);
    ck_assert_float_eq(2 * x, (float)(job.size * (job.size + 1)));
    comm->release(comm, memory);
    comm->destroy(comm);
    options.library = COMM_NCCL;
    ck_assert_ptr_null(comm_create(&job, device, NULL, 1, &options));
}

TEST(auto_without_an_accelerator_takes_the_cpu)
{
    struct device_options options = {.kind = DEVICE_AUTO};
    struct open_device opened;
    missing = 1;
    ck_assert_int_eq(open_device_wants_gpus(&job, &options), 0);
    ck_assert_int_eq(open_device(&opened, &job, &options, 1), 0);
    ck_assert(!opened.on_gpu && opened.device == device_cpu(1));
    ck_assert_str_eq(opened.why_cpu, job.rank ? "" : "there is no made-up driver");
    options.kind = DEVICE_FIRST_ACCELERATOR;
    ck_assert_int_eq(open_device(&opened, &job, &options, 1), -1);
}

SUITE_OF_RANKS("accelerator", job, NULL, NULL)
