/* facts.h - what was profiled, and on what. */
#ifndef BENCH_MEASURE_PROFILE_FACTS_H
#define BENCH_MEASURE_PROFILE_FACTS_H

#include "training/training.h"

struct profile_facts {
    const char *label, *bucket_words; /* of the implementation */
    const struct strategy *strategy;
    int buckets;                     /* of its plan */
    int ranks, hosts, machine_ranks; /* machine_ranks: those on rank 0's machine */
    int on_gpu, comm_on_device;      /* ranks compute on GPUs; communication is the device's own work (struct comm) */
    int has_synthetic_data;
    int threads; /* of a rank */
    double cores_per_rank;
    double tokens, flops; /* of a step: tokens of all ranks; of the model */
    size_t block_steps;   /* timed steps of a block */
    size_t memory_bytes;  /* of rank 0's GPU or machine; 0 if unknown */
    size_t peak_bytes;    /* the largest open_device_memory of a rank so far */
};

#endif
