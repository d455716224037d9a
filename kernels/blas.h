/* blas.h - which BLAS computes the CPU's matrix products, with which kernels, and how fast. */
#ifndef KERNELS_BLAS_H
#define KERNELS_BLAS_H

struct blas_facts {
    char library[64];  /* such as "OpenBLAS 0.3.21"; where it does not say, the name of its file */
    char kernels[32];  /* the CPU family they were written for, in the library's word; "" where it does not say */
    char replaced[32]; /* the family that OpenBLAS had chosen by itself, before blas_choose_kernels; "": none */
    double product_gflops, vector_gflops; /* of one thread, by blas_measure */
};

/* OpenBLAS computes with old kernels on CPUs that are younger than itself: it takes an Emerald Rapids for a Prescott of
 * 2004. Where its kernels use narrower vectors than this CPU has, asks for the program to be started again with
 * OPENBLAS_CORETYPE set to the best family that the CPU can run (reexec.h). Obeys OPENBLAS_CORETYPE where it is
 * set, and leaves alone other libraries, families that it does not know, and an OpenBLAS that was built for one family.
 * Source: OpenBLAS's issue 4267 and its user manual, "Runtime variables". */
void blas_choose_kernels(void);

/* The family that suits a CPU better than `kernels`, a static string, or NULL where there is none. features: the CPU's,
 * separated by spaces, as /proc/cpuinfo has them; sve_bytes: the length of its SVE vectors, 0 without SVE. */
const char *blas_better_kernels(const char *kernels, const char *features, long sve_bytes);

/* The same for this CPU. */
const char *blas_better_kernels_here(const char *kernels);

/* Fills library, kernels and replaced; the last only where the kernels are not those of that family, since an OpenBLAS
 * that does not know the family it is asked for keeps to its own choice. */
void blas_describe(struct blas_facts *facts);

/* Measures on the calling thread alone, in some 20 ms, the best of 21 turns each, or of as many as begin within 2 s:
 * the rate of an fp32 product of two matrices of 256 x 256, 2 * 256^3 operations; and the rate of fused multiply-adds
 * between registers, which is the most that the CPU's vector units can do, two operations an element. Both in GFLOP/s.
 */
void blas_measure(struct blas_facts *facts);

#endif
