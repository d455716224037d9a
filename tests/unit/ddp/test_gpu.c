/* test_gpu.c - which GPU each rank takes, and the error when two ranks take the same one, with made-up GPUs. */
#include "ddp/gpu.h"

#include "kernels/error.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

TEST(a_rank_takes_the_gpu_of_its_place)
{
    static const struct {
        int local_rank, local_size, gpus, index;
    } known[] = {
        {0, 1, 1, 0}, {0, 4, 4, 0}, {3, 4, 4, 3}, {1, 2, 8, 1}, /* a GPU for each rank */
        {0, 4, 1, 0}, {3, 4, 1, 0},                             /* each rank sees one GPU only */
        {2, 4, 3, 2}, {3, 4, 3, 0}, {5, 6, 2, 1},               /* fewer GPUs than ranks */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_int_eq(gpu_index(known[i].local_rank, known[i].local_size, known[i].gpus), known[i].index);
}

static struct gpu_choice place(const char *host, const char *id)
{
    struct gpu_choice p = {.chosen = *id != 0};
    snprintf(p.host_name, sizeof p.host_name, "%s", host);
    snprintf(p.id, sizeof p.id, "%s", id);
    snprintf(p.gpu_name, sizeof p.gpu_name, "Made-up 9000");
    return p;
}

TEST(a_gpu_each_is_fine)
{
    /* GPUs of two hosts differ; ranks without a GPU share none */
    const struct gpu_choice p[] = {place("x", "GPU-1"), place("x", "GPU-2"), place("y", "GPU-3"), place("y", ""),
                                   place("y", "")};
    for (int r = 0; r < 5; r++)
        ck_assert_int_eq(gpu_check_choices(p, 5, r), 0);
    ck_assert_str_eq(error_text(), "");
}

TEST(ranks_on_one_gpu_are_named)
{
    const struct gpu_choice p[] = {place("x", "GPU-1"), place("x", "GPU-2"), place("x", "GPU-1"), place("x", "GPU-3"),
                                   place("x", "GPU-3"), place("x", "GPU-3"), place("x", "GPU-4")};
    static const char *const ranks[] = {"ranks 0 and 2 on host x would share GPU GPU-1 (Made-up 9000)",
                                        NULL,
                                        "ranks 0 and 2 on",
                                        "ranks 3, 4 and 5 on",
                                        "ranks 3, 4 and 5 on",
                                        "ranks 3, 4 and 5 on",
                                        NULL};
    for (int r = 0; r < 7; r++) {
        ck_assert_int_eq(gpu_check_choices(p, 7, r), ranks[r] ? -1 : 0);
        ck_assert(ranks[r] ? strstr(error_text(), ranks[r]) != NULL : !*error_text());
        ck_assert(!ranks[r] || strstr(error_text(), "--share-gpu"));
        error_clear();
    }
}

/* A rank sees one GPU of its host's two: CUDA_VISIBLE_DEVICES chose it if the ranks' differ; else the system did. */
TEST(hidden_gpus_are_found)
{
    struct gpu_choice p[] = {place("x", "GPU-1"), place("x", "GPU-2"), place("y", "GPU-3")};
    for (int r = 0; r < 3; r++) {
        p[r].seen = 1;
        p[r].host = r / 2;
    }
    ck_assert_int_eq(gpu_hides(p, 3), 1);
    ck_assert_int_eq(gpu_hides(p + 1, 2), 0); /* one rank on each host */
    strcpy(p[1].visible, "1");
    ck_assert_int_eq(gpu_hides(p, 3), 0);
    strcpy(p[0].visible, "1");
    ck_assert_int_eq(gpu_hides(p, 3), 1);
    p[0].seen = p[1].seen = 2;
    ck_assert_int_eq(gpu_hides(p, 3), 0);
}

/* Four ranks share two GPUs that all of them see. */
TEST(shared_gpus_are_not_hidden)
{
    struct gpu_choice p[] = {place("x", "GPU-1"), place("x", "GPU-2"), place("x", "GPU-1"), place("x", "GPU-2")};
    for (int r = 0; r < 4; r++)
        p[r].seen = 2;
    ck_assert_int_eq(gpu_hides(p, 4), 0);
}

SUITE("gpu", NULL, NULL)
