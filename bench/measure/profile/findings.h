/* findings.h - where the captured steps lose time, by figures that are beyond a threshold; and whether communication
 * was hidden behind computation. */
#ifndef BENCH_MEASURE_PROFILE_FINDINGS_H
#define BENCH_MEASURE_PROFILE_FINDINGS_H

#include "ddp/links.h"
#include "profile/controls.h"
#include "profile/figures.h"
#include "results/results.h"

/* What was profiled, and on what. */
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

struct findings {
    int n;
    struct finding finding[9]; /* each name at most once; sorted by finding_compare */
};

/* Compares the figures with the thresholds. controls may have no round yet; links[facts->hosts] or NULL. */
void findings_create(struct findings *findings, const struct profile_facts *facts, const struct thresholds *thresholds,
                     const struct profile_figures *figures, const struct collectives *collectives,
                     const struct link_rates *links, const struct controls *controls);

/* Writes whether overlap happened, by its efficiency and interval, and the reason if it did not, in a sentence or two.
 * exposed_tail: of a captured step of rank 0, in seconds. The controls may have no round yet. */
enum { OVERLAP_VERDICT = 640 };
void overlap_verdict_write(char text[OVERLAP_VERDICT], const struct profile_facts *facts, double exposed_tail,
                           const struct controls *controls);

#endif
