/* blas.h - the libraries that compute matrix products, and for the CPU which one is in use, its name, kernels and
 * speed. */
#ifndef KERNELS_BLAS_H
#define KERNELS_BLAS_H

#include <stddef.h>

enum blas_library {
    BLAS_AUTO,   /* for options: the program decides */
    BLAS_CBLAS,  /* the library that the program was built with, such as OpenBLAS */
    BLAS_ONEDNN, /* oneDNN's dnnl_sgemm */
    BLAS_CPU_LIBRARIES,
    BLAS_CUBLAS = BLAS_CPU_LIBRARIES, /* on GPUs: cublasGemmEx */
    BLAS_CUBLASLT                     /* on GPUs: cublasLtMatmul */
};
extern const char *const blas_library_name[]; /* "auto", "cblas", "onednn", "cublas", "cublaslt", NULL */

/* Returns NULL if this library of the CPU is here; or, static, why not, with advice. oneDNN has to share the program's
 * OpenMP threads. */
const char *blas_find(enum blas_library library);

/* Computes all later products of the CPU by a library that blas_find has found; without a call, and for BLAS_AUTO, it
 * is BLAS_CBLAS. */
void blas_use(enum blas_library library);

/* Facts of the library in use. */
struct blas_facts {
    char library[64];  /* for example "OpenBLAS 0.3.21"; the file's name if the library has no version */
    char kernels[32];  /* CPU family or instructions of the library's kernels, as it names them; "" if unknown */
    char replaced[32]; /* the family that blas_choose_kernels replaced by another; "": it replaced none */
    double product_gflops, vector_gflops; /* rates of one thread, measured by blas_measure */
};

/* Corrects OpenBLAS's choice of kernels on CPUs that are newer than the library: an old OpenBLAS mistakes an Emerald
 * Rapids for a Prescott of 2004. If OpenBLAS's kernels use narrower vectors than this CPU has, requests that the
 * program be executed again (reexec.h) with OPENBLAS_CORETYPE set to the best family that the CPU can run. Changes
 * nothing if OPENBLAS_CORETYPE is set, for other libraries, for unknown families, or if OpenBLAS was built for one
 * family. Source: OpenBLAS's issue 4267 and its user manual, "Runtime variables". */
void blas_choose_kernels(void);

/* Returns the name, a static string, of the family that suits a CPU better than `kernels`; NULL if there is none.
 * features: the CPU's features, separated by spaces, as in /proc/cpuinfo; sve_bytes: the length of its SVE vectors; 0:
 * it has none. */
const char *blas_better_kernels(const char *kernels, const char *features, long sve_bytes);

/* Returns the family that suits this machine's CPU better than `kernels`, like blas_better_kernels. */
const char *blas_better_kernels_here(const char *kernels);

/* Fills library, kernels and replaced. `replaced` is filled only if the kernels have changed: an OpenBLAS that does not
 * know the requested family keeps its own choice. */
void blas_describe(struct blas_facts *facts);

/* Measures two rates in GFLOP/s on the calling thread. One is the rate of an fp32 product of two 256 x 256 matrices,
 * with 2 * 256^3 operations. The other is the peak of the CPU's vector units: the rate of fused multiply-adds between
 * registers, with two operations per element. Each rate is the best of 21 repetitions, or of fewer if not all begin
 * within 2 s. Measuring usually takes about 20 ms. */
void blas_measure(struct blas_facts *facts);

/* The matrix products of the linear layers of a model, with N rows of activations. */
struct blas_weight {
    size_t I, O;
};
struct blas_products {
    size_t N, n;
    int forward_only;           /* 0: also the gradients of inputs and of weights */
    struct blas_weight *weight; /* [n] the sizes of the weight matrices [O, I] */
};

/* Adds to seconds[library] the estimated time of the products by the CBLAS and by oneDNN, which blas_find has found,
 * with the threads of the device; both numbers stay as they are if the CPU is too slow. No product starts
 * after 0.2 s: no side of a weight is longer than 1600, and there are 256 rows a thread at most, or less where the CPU
 * is slower; the time of a product that was cut is multiplied by the operations that were cut. The libraries run all
 * products in turn, several times; the least time counts. A product that was not timed with both counts for neither.
 * Afterwards either library may be in use. */
void blas_compare(const struct blas_products *products, double seconds[BLAS_CPU_LIBRARIES]);

#endif
