/* gpu.h - which GPU each rank computes on. */
#ifndef DDP_GPU_H
#define DDP_GPU_H

#include "ddp/job.h"
#include "kernels/accelerator.h"

/* Chooses a GPU for each rank by its place among the ranks of its host: *index is the one of that place when the
 * process sees at least as many GPUs as its host has ranks; the only one where a launcher shows each rank its own;
 * otherwise ranks take turns through those there are. All ranks call. Returns 0; or -1, reported, on a rank that sees
 * no GPU and, unless `share`, on the ranks that would compute on the GPU of another. */
int gpu_choose(const struct accelerator *accelerator, const struct job *job, int share, int *index);

/* A GPU that a rank would compute on, as ranks exchange it. */
struct gpu_choice {
    int chosen; /* 0: the rank found none */
    char host_name[64], gpu_name[256], id[48];
};

/* The rule itself: which of the n GPUs that a rank sees is its own. */
int gpu_index(int local_rank, int local_size, int n);

/* Whether two of these choices [ranks], in the order of ranks, are one GPU: returns 0 if this rank has its own; or -1,
 * reported, with all the ranks on its GPU. */
int gpu_check_choices(const struct gpu_choice *choice, int ranks, int rank);

#endif
