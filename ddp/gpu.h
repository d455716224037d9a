/* gpu.h - assigns a GPU to each rank. */
#ifndef DDP_GPU_H
#define DDP_GPU_H

#include "ddp/job.h"
#include "kernels/accelerator.h"

/* Sets *index to the index of this rank's GPU: the local rank if the process sees at least as many GPUs as its host has
 * ranks; 0 if the launcher shows each rank only its own GPU; otherwise local ranks are distributed round-robin. All
 * ranks call it. Returns 0; or -1, reported, on a rank that sees no GPU and, unless `share`, on ranks that would share
 * a GPU. */
int gpu_choose(const struct accelerator *accelerator, const struct job *job, int share, int *index);

/* The GPU that a rank would use, as exchanged between ranks. */
struct gpu_choice {
    int chosen; /* 1: the rank found a GPU; 0: it found none */
    char host_name[64], gpu_name[256], id[48];
};

/* Returns the index of a rank's GPU among the n GPUs that it sees. */
int gpu_index(int local_rank, int local_size, int n);

/* Checks choice[ranks], in order of ranks. Returns 0 if no other rank uses this rank's GPU; or -1, reported, with the
 * list of ranks that share it. */
int gpu_check_choices(const struct gpu_choice *choice, int ranks, int rank);

#endif
