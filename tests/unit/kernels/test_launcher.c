/* test_launcher.c - rank and size read from the environment of launchers, even of one launcher inside another. */
#include "kernels/launcher.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *environment;
    int started;
    long rank, rank_here, ranks_here, ranks;
    const char *several; /* the variable that shows that there are several ranks */
} rows[] = {
    {"", 0, 0, 0, 1, 1, NULL},
    {"PMI_RANK=5 PMI_SIZE=8 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4", 1, 5, 1, 4, 8, "PMI_SIZE"},
    {"PMI_RANK=0 PMI_SIZE=1 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1", 1, 0, 0, 1, 1, NULL},
    {"MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2", 1, 0, 1, 2, 2, "MPI_LOCALNRANKS"},
    {"OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=2 OMPI_COMM_WORLD_LOCAL_SIZE=3 "
     "PMIX_RANK=5",
     1, 5, 2, 3, 8, "OMPI_COMM_WORLD_SIZE"},
    {"PMIX_RANK=2", 1, 2, 0, 1, 1, NULL},
    {"SLURM_STEP_ID=0 SLURM_PROCID=6 SLURM_STEP_NUM_TASKS=8 SLURM_LOCALID=2 SLURM_STEP_TASKS_PER_NODE=4(x2)", 1, 6, 2,
     4, 8, "SLURM_STEP_NUM_TASKS"},
    /* nodes of a Slurm step may have different numbers of ranks */
    {"SLURM_STEP_TASKS_PER_NODE=4(x2),3,2(x3) SLURM_NODEID=0", 0, 0, 0, 4, 4, "SLURM_STEP_TASKS_PER_NODE"},
    {"SLURM_STEP_TASKS_PER_NODE=4(x2),3,2(x3) SLURM_NODEID=1", 0, 0, 0, 4, 4, "SLURM_STEP_TASKS_PER_NODE"},
    {"SLURM_STEP_TASKS_PER_NODE=4(x2),3,2(x3) SLURM_NODEID=2", 0, 0, 0, 3, 3, "SLURM_STEP_TASKS_PER_NODE"},
    {"SLURM_STEP_TASKS_PER_NODE=4(x2),3,2(x3) SLURM_NODEID=5", 0, 0, 0, 2, 2, "SLURM_STEP_TASKS_PER_NODE"},
    {"SLURM_STEP_TASKS_PER_NODE=4(x2),3,2(x3) SLURM_NODEID=9", 0, 0, 0, 2, 2, "SLURM_STEP_TASKS_PER_NODE"},
    {"SLURM_STEP_TASKS_PER_NODE=4(x SLURM_NODEID=1", 0, 0, 0, 4, 4, "SLURM_STEP_TASKS_PER_NODE"},
    /* the shells of a Slurm job are tasks of a step, but not ranks */
    {"SLURM_STEP_ID=4294967290 SLURM_PROCID=0 SLURM_NTASKS=8", 0, 0, 0, 1, 1, NULL},
    {"SLURM_STEP_ID=4294967291 SLURM_PROCID=0 SLURM_NTASKS=8", 0, 0, 0, 1, 1, NULL},
    /* Hydra starts one proxy per node as a Slurm task; Slurm's own PMI sets no local ranks */
    {"PMI_RANK=5 PMI_SIZE=8 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4 SLURM_PROCID=1", 1, 5, 1, 4, 8, "PMI_SIZE"},
    {"PMI_RANK=1 PMI_SIZE=1 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=1", 1, 1, 1, 1, 2, "SLURM_STEP_NUM_TASKS"},
    /* values that are not whole numbers from 0 on are ignored */
    {"PMI_RANK= PMI_SIZE=two MPI_LOCALNRANKS=-3 SLURM_PROCID=1", 0, 1, 0, 1, 1, NULL},
};

static char words[sizeof rows / sizeof *rows][256]; /* copies of the environments, which the tests split into words */
/* Unsets the variables of launchers, since the tests themselves may run in a job. */
static void forget_launchers(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (char *word = strtok(strcpy(words[i], rows[i].environment), " "); word; word = strtok(NULL, " ")) {
            *strchr(word, '=') = 0;
            unsetenv(word);
        }
}

TEST_EACH(environments_of_launchers, sizeof rows / sizeof *rows)
{
    for (char *word = strtok(strcpy(words[_i], rows[_i].environment), " "); word; word = strtok(NULL, " "))
        putenv(word);
    long ranks = -1;
    const char *several = launcher_of_several(&ranks);
    ck_assert_pstr_eq(several, rows[_i].several);
    ck_assert_int_eq(ranks, rows[_i].ranks);
    ck_assert_int_eq(launcher_started_this(), rows[_i].started);
    ck_assert_int_eq(launcher_rank(), rows[_i].rank);
    ck_assert_int_eq(launcher_rank_here(), rows[_i].rank_here);
    ck_assert_int_eq(launcher_ranks_here(), rows[_i].ranks_here);
}

SUITE("launcher", forget_launchers, NULL)
