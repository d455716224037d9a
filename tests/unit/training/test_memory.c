/* test_memory.c - a model that exceeds the memory is refused, with an error that lists the parts of the memory. */
#include "kernels/error.h"
#include "tests/support/suite.h"
#include "training/training.h"

#include <string.h>

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
    ck_assert_ptr_nonnull(strstr(error_text(), "this machine has "));
    ck_assert_ptr_nonnull(strstr(error_text(), "2 ranks on it need "));
    ck_assert_ptr_nonnull(strstr(error_text(), ": a rank needs weights "));
    ck_assert_ptr_nonnull(strstr(error_text(), ", data "));
}

TEST(a_gpu_holds_the_parts_of_its_ranks)
{
    const struct open_device gpu = {.on_gpu = 1, .sharing = 1, .gpu = {.name = "GPU"}};
    ck_assert_int_eq(memory_check(&job, &gpu, large), -1);
    ck_assert_ptr_nonnull(strstr(error_text(), "GPU has 0 "));
    ck_assert_ptr_nonnull(strstr(error_text(), "1 rank on it needs "));
    ck_assert_ptr_null(strstr(error_text(), ", data "));
}

SUITE("memory", NULL, NULL)
