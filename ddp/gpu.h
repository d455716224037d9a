/* gpu.h - assigns a GPU to each rank. */
#ifndef DDP_GPU_H
#define DDP_GPU_H

#include "ddp/job.h"
#include "kernels/accelerator.h"

/* Sets *index to the index of this rank's GPU: the local rank if the process sees at least as many GPUs as its host has
 * ranks; 0 if the launcher shows each rank only its own GPU; otherwise local ranks are distributed round-robin. All
 * ranks call it. Returns 0; or -1, reported, on a rank that sees no GPU and, unless `share`, on ranks that would share
 * a GPU. Sets *hides as gpu_hides does. */
int gpu_choose(const struct accelerator *accelerator, const struct job *job, int share, int *index, int *hides);

/* The GPU that a rank would use, as exchanged between ranks. */
struct gpu_choice {
    int chosen; /* 1: the rank found a GPU; 0: it found none */
    int seen;   /* number of GPUs that its process sees */
    int host;   /* as in struct job */
    char host_name[64], gpu_name[256], id[48];
    char visible[256]; /* CUDA_VISIBLE_DEVICES */
};

/* Returns the index of a rank's GPU among the n GPUs that it sees. */
int gpu_index(int local_rank, int local_size, int n);

/* Checks choice[ranks], in order of ranks. Returns 0 if no other rank uses this rank's GPU; or -1, reported, with the
 * list of ranks that share it. */
int gpu_check_choices(const struct gpu_choice *choice, int ranks, int rank);

/* Tests in choice[ranks] whether the system, such as a control group, hides from a rank the GPU of another rank on its
 * host. NCCL then copies between them through host memory. CUDA_VISIBLE_DEVICES does not have this effect, because
 * CUDA can copy to devices that it hides. Source: NCCL, p2pCanConnect in transport/p2p.cc. */
int gpu_hides(const struct gpu_choice *choice, int ranks);

#endif
