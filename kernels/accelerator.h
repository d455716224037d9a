/* accelerator.h - the kinds of processor besides the CPU that ranks can compute on.
 *
 * To add a kind, write its struct accelerator and its struct device, and add it to both lists in accelerator.c. */
#ifndef KERNELS_ACCELERATOR_H
#define KERNELS_ACCELERATOR_H

#include "kernels/blas.h"
#include "kernels/device.h"

#include <stdint.h>

/* Facts about one GPU. The members from compute_major on are from CUDA's cudaDeviceProp. */
struct gpu_facts {
    char name[256];
    char id[48];                      /* "GPU-..."; the same in every process, unlike the index */
    int index;                        /* the number by which this process selects the GPU */
    int driver, runtime;              /* versions of CUDA: 1000 * major + 10 * minor */
    size_t total_memory, free_memory; /* in bytes */
    int compute_major, compute_minor;
    int max_threads_per_block, max_threads_per_multiprocessor, registers_per_block, warp_size, multiprocessors;
    size_t shared_memory_per_block, cache_bytes; /* of the L2 cache */
};

/* How a GPU computes matrix products. */
struct gpu_products {
    enum blas_library library; /* BLAS_CUBLASLT, or else cuBLAS */
    size_t sms;                /* the multiprocessors that cublasLt plans for; 0: all */
};

/* A row-major product [rows, columns] of a matrix a, [rows, inner], and b, [inner, columns], or of their transposes. */
struct gpu_product {
    int rows, columns, inner, transpose_a, transpose_b;
    int in_bytes, out_bytes; /* of a number: 4 for fp32, 2 for bfloat16 */
    int tf32;                /* 1: fp32 numbers are rounded to TF32 */
    int alignment;           /* of the arrays, in bytes: a power of 2, at most 16 */
};

/* cublasLt's algorithm of a product, as plain bytes: another process with an equal GPU and an equal version of the
 * library may use it. */
struct gpu_algorithm {
    struct gpu_product product;
    int proposals, used;   /* number of algorithms that cublasLt proposed; index of the one in use */
    double time_ratio;     /* its time / the time of the first proposal; 1: not measured, or the first one */
    uint64_t version;      /* of cublasLt; a process with another one ends with an error */
    uint64_t algorithm[8]; /* a cublasLtMatmulAlgo_t */
};

enum { GPU_ALGORITHMS = 1024 };
struct gpu_algorithms {
    size_t n;
    struct gpu_algorithm item[GPU_ALGORITHMS];
};

struct accelerator {
    const char *name;  /* the value of --device that selects this kind */
    const char *built; /* the toolkit of the build, for example "CUDA 13.0 for sm_80, sm_90" */
    /* Returns the number of GPUs visible to this process, at least 1; or -1, reported, if the driver is missing, too
     * old, or shows no GPU. */
    int (*count)(void);
    /* Describes GPU `index` in [0, count()). Returns 0; or -1, reported. May allocate some of the GPU's memory, which
     * lowers free_memory from then on. */
    int (*describe)(int index, struct gpu_facts *gpu);
    /* Like describe, but does not use the GPU and sets free_memory to 0. Returns 0; or -1, not reported. */
    int (*identify)(int index, struct gpu_facts *gpu);
    /* Sets *device to the static table of the device that computes on GPU `index`. A process opens only one GPU.
     * Returns 0; or -1, reported, if the program has no code for this GPU, or the GPU is broken, in use by another
     * process, or lacks multiprocessors or a feature that the operations need. */
    int (*open)(int index, enum precision precision, const struct gpu_products *products, const struct device **device);
    /* Starts (1) or stops (0) the vendor's profiler, if one runs and waits for this call. */
    void (*profiler)(int on);
    /* Returns the algorithms of cublasLt on the open device, which the caller may replace; NULL for cuBLAS, which
     * chooses for itself. If `products` is not NULL, first times cublasLt's proposals for these products, and uses the
     * fastest: the first one, unless another takes less than 0.98 of its time. */
    struct gpu_algorithms *(*algorithms)(const struct blas_products *products);
};

/* The accelerators in the order in which --device auto tries them, then NULL; and the values of --device: auto, cpu and
 * the accelerators' names, then NULL. Each function returns an accelerator; NULL, reported: the program lacks it. */
extern const struct accelerator *(*const accelerators[])(void);
extern const char *const device_names[];

#endif
