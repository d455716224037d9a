/* test_memory.c - a model that exceeds the memory is refused, with an error that lists the parts of the memory. */
#include "ddp/comm_self.h"
#include "kernels/error.h"
#include "tests/support/command_line.h"
#include "tests/support/suite.h"
#include "training/training.h"

static const struct job job = {.machine_size = 2};

TEST(a_model_that_fits_is_accepted)
{
    const size_t bytes[MEMORY_PARTS] = {[MEMORY_WEIGHTS] = 1024};
    ck_assert_int_eq(memory_check(&job, &(struct open_device){0}, bytes), 0);
}

/* Each rank needs 2^60 bytes for weights and 2^61 for data. */
static const size_t large[MEMORY_PARTS] = {[MEMORY_WEIGHTS] = (size_t)1 << 60, [MEMORY_DATA] = (size_t)1 << 61};

TEST(the_host_holds_all_of_a_rank_on_the_cpu)
{
    ck_assert_int_eq(memory_check(&job, &(struct open_device){0}, large), -1);
    check_has(error_text(), "this machine has ");
    check_has(error_text(), "2 ranks on it need ");
    check_has(error_text(), ": a rank needs weights ");
    check_has(error_text(), ", data ");
}

TEST(a_gpu_holds_the_parts_of_its_ranks)
{
    const struct open_device gpu = {.on_gpu = 1, .sharing = 1, .gpu = {.name = "GPU"}};
    ck_assert_int_eq(memory_check(&job, &gpu, large), -1);
    check_has(error_text(), "GPU has 0 ");
    check_has(error_text(), "1 rank on it needs ");
    check_lacks(error_text(), ", data ");
}

/* Returns the estimated bytes for communication of a rank of two, and plans the model. */
static size_t communication(const char *line, struct model *model)
{
    struct training_options *o = &parsed(line)->run.training;
    const struct recording recording = {0};
    const struct memory_conditions conditions = {0, 2, 2, 0, 0, &recording};
    size_t bytes[MEMORY_PARTS];
    ck_assert_int_eq(training_options_fit(o, 2), 0);
    ck_assert_int_eq(memory_plan(model, &conditions, o, sizeof(float), bytes), 0);
    return bytes[MEMORY_COMMUNICATION];
}

/* The estimated memory of what a strategy keeps equals the memory that its reducer allocates. */
TEST(what_strategies_keep_is_estimated)
{
    static const struct {
        const char *line;
        const struct strategy *strategy;
        size_t number;
    } rows[] = {{"--preset|laptop|--implementations|ddp_powersgd:3", &strategy_ddp_powersgd, 3},
                {"--preset|laptop|--implementations|ddp_local:7", &strategy_ddp_local, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct model model;
        struct reducer reducer;
        size_t without = communication("--preset|laptop|--implementations|ddp", &model);
        model_destroy(&model);
        size_t with = communication(rows[i].line, &model);
        model_allocate(&model, device_cpu(1), NULL, NULL);
        struct comm *comm = comm_self_create(model.device, NULL);
        reducer_create(&reducer, rows[i].strategy, VARIANT_PLAIN, &model, comm, &(struct bucket_caps){.cap = {1 << 20}},
                       rows[i].number);
        ck_assert_uint_gt(reducer.bytes, model.arena * sizeof(float));
        ck_assert_uint_eq(with - without, reducer.bytes);
        reducer_destroy(&reducer);
        comm->destroy(comm);
        model_destroy(&model);
    }
}

SUITE("memory", NULL, NULL)
