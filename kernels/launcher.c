/* launcher.c - the environment variables of launchers. */
#include "kernels/launcher.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum question { RANK, RANKS, RANK_HERE, RANKS_HERE, QUESTIONS };
enum { HYDRA, OPEN_MPI, PMIX, SLURM, LAUNCHERS };

static const char *const variables[LAUNCHERS][QUESTIONS] = {
    [HYDRA] = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    [OPEN_MPI] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                  "OMPI_COMM_WORLD_LOCAL_SIZE"},
    [PMIX] = {[RANK] = "PMIX_RANK"},
    [SLURM] = {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
};

/* Returns an element of a list in Slurm's notation: 4(x2),3 is 4, 4, 3. Returns the last element if the list is too
 * short. */
static long read_element(const char *list, long index)
{
    for (;;) {
        char *after;
        long value = strtol(list, &after, 10), times = 1;
        if (!strncmp(after, "(x", 2)) {
            times = strtol(after + 2, &after, 10);
            after += *after == ')';
        }
        if (index < times || *after != ',')
            return value;
        index -= times;
        list = after + 1;
    }
}

/* Reads the launcher's variable that answers the question into *value. Returns the variable's name; or NULL if it is
 * not set, and *value is unchanged. */
static const char *read_variable(int launcher, enum question question, long *value)
{
    const char *name = variables[launcher][question], *text = name ? getenv(name) : NULL;
    if (!text || !isdigit((unsigned char)*text))
        return NULL;
    const char *node = getenv("SLURM_NODEID"); /* index of this node in the step's list of nodes */
    *value = read_element(text, node ? strtol(node, NULL, 10) : 0);
    return name;
}

/* Calls read_variable for each launcher until one has the variable; returns the result of the last call. */
static const char *first_answer(enum question question, long *value)
{
    const char *name = NULL;
    for (int launcher = 0; launcher < LAUNCHERS && !name; launcher++)
        name = read_variable(launcher, question, value);
    return name;
}

int launcher_started_this(void)
{
    const unsigned long shells = 0xfffffff0; /* least step id of a shell (slurm.h: SLURM_INTERACTIVE_STEP) */
    const char *step = getenv("SLURM_STEP_ID");
    long ignored;
    for (int launcher = 0; launcher < SLURM; launcher++)
        if (read_variable(launcher, RANK, &ignored) || read_variable(launcher, RANK_HERE, &ignored))
            return 1;
    return step && strtoul(step, NULL, 10) < shells;
}

long launcher_rank(void)
{
    long answer = 0;
    first_answer(RANK, &answer);
    return answer;
}

const char *launcher_rank_variable(void)
{
    long ignored;
    return first_answer(RANK, &ignored);
}

long launcher_rank_here(void)
{
    long answer = 0;
    first_answer(RANK_HERE, &answer);
    return answer;
}

long launcher_ranks_here(void)
{
    long answer = 1;
    first_answer(RANKS_HERE, &answer);
    return answer;
}

const char *launcher_of_several(long *ranks)
{
    static const enum question questions[] = {RANKS, RANKS_HERE};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        for (int launcher = 0; launcher < LAUNCHERS; launcher++) {
            const char *name = read_variable(launcher, questions[i], ranks);
            if (name && *ranks > 1)
                return name;
        }
    *ranks = 1;
    return NULL;
}
