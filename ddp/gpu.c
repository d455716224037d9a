/* gpu.c - assigns a GPU to each rank. */
#include "ddp/gpu.h"

#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int gpu_index(int local_rank, int local_size, int n)
{
    /* If the launcher shows each rank only its own GPU, n is 1 and the index is 0. */
    return n >= local_size ? local_rank : local_rank % n;
}

/* Appends a rank to a list such as "0, 2 and 5". */
static void append_rank(char *text, size_t size, int rank, int nth, int of)
{
    size_t at = strlen(text);
    snprintf(text + at, size - at, "%s%d", nth == 0 ? "" : nth + 1 == of ? " and " : ", ", rank);
}

int gpu_check_choices(const struct gpu_choice *choice, int ranks, int rank)
{
    const struct gpu_choice *mine = &choice[rank];
    char list[256] = "";
    int sharing = 0, nth = 0;
    /* Compare ids across all hosts: containers on one machine count as hosts and may see the same GPU. */
    for (int r = 0; r < ranks; r++)
        sharing += choice[r].chosen && mine->chosen && !strcmp(choice[r].id, mine->id);
    if (sharing < 2)
        return 0;
    for (int r = 0; r < ranks; r++)
        if (choice[r].chosen && !strcmp(choice[r].id, mine->id))
            append_rank(list, sizeof list, r, nth++, sharing);
    return error_report(
        "ranks %s on host %s would share GPU %s (%s): give each rank its own (fewer ranks per host, or Slurm's "
        "--gpus-per-task=1 --gpu-bind=none), or allow it with --share-gpu",
        list, mine->host_name, mine->id, mine->gpu_name);
}

/* Returns the number of different GPUs that the ranks of a host use. */
static int gpus_of_host(const struct gpu_choice *choice, int ranks, int host)
{
    int n = 0;
    for (const struct gpu_choice *a = choice; a < choice + ranks; a++) {
        const struct gpu_choice *before = choice;
        while (before < a && !(before->chosen && before->host == host && !strcmp(before->id, a->id)))
            before++;
        n += before == a && a->chosen && a->host == host;
    }
    return n;
}

int gpu_hides(const struct gpu_choice *choice, int ranks)
{
    int hides = 0;
    for (const struct gpu_choice *a = choice; a < choice + ranks; a++)
        for (const struct gpu_choice *b = choice; b < choice + ranks; b++)
            hides |= a->seen < gpus_of_host(choice, ranks, a->host) && a->chosen && b->chosen && a->host == b->host &&
                     strcmp(a->id, b->id) && !strcmp(a->visible, b->visible);
    return hides;
}

int gpu_choose(const struct accelerator *accelerator, const struct job *job, int share, int *index, int *hides)
{
    struct gpu_choice mine = {.host = job->host}, *all = allocate((size_t)job->size, sizeof *all);
    struct gpu_facts gpu = {.name = ""};
    int n = accelerator->count(), chosen = n > 0 ? gpu_index(job->local_rank, job->local_size, n) : -1;
    int status = n > 0 ? accelerator->describe(chosen, &gpu) : -1;
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    mine.seen = n;
    snprintf(mine.visible, sizeof mine.visible, "%s", visible ? visible : "");
    gethostname(mine.host_name, sizeof mine.host_name - 1);
    if (!status) {
        mine.chosen = 1;
        snprintf(mine.gpu_name, sizeof mine.gpu_name, "%s", gpu.name);
        snprintf(mine.id, sizeof mine.id, "%s", gpu.id);
    }
    job_gather(job, &mine, sizeof mine, all); /* ranks that failed take part, too, so that the others do not hang */
    if (!status && !share)
        status = gpu_check_choices(all, job->size, job->rank);
    *hides = gpu_hides(all, job->size);
    free(all);
    if (!status)
        *index = chosen;
    return status;
}
