/* arrays.h - what tests of a device need: arrays in its memory with guards around them, and their comparison.
 *
 * A case makes its arrays, runs the operation (upload, call, download; twice), says what outputs must be, and ends
 * with arrays_finish. Everything fails by Check's assertions, so nothing returns an error. */
#ifndef TESTS_SUPPORT_ARRAYS_H
#define TESTS_SUPPORT_ARRAYS_H

#include "kernels/device.h"

#include <stddef.h>

struct array {
    size_t bytes;               /* of the array without its guards */
    size_t guard;               /* bytes of each of its guards */
    unsigned char *start, *got; /* with guards, before and after the operation */
    unsigned char *block;       /* with guards, in the device's memory */
    size_t width;               /* bytes of a number: 4 for fp32 and tokens, 2 for bfloat16 */
    int checked;                /* an output: compared by the test, not required to stay as it was */
};

/* Says where the next arrays live and what failures are called, and seeds the random numbers. The name must outlive
 * the case. */
void arrays_begin(const struct device *on, const char *name);

/* New arrays: of zero bytes, of n random floats in [low, high), of n numbers of the device's compute type in
 * [low, high], of n random tokens in [0, below). */
struct array *array_bytes(size_t bytes);
struct array *array_floats(size_t n, float low, float high);
struct array *array_numbers(size_t n, float low, float high);
struct array *array_tokens(size_t n, size_t below);

/* The array in the device's memory, on the host before the operation (may be changed until it is uploaded), and on
 * the host after it. */
void *array_device(const struct array *a);
void *array_before(const struct array *a);
void *array_after(const struct array *a);

/* Host memory until arrays_finish: n zeros, and the array's numbers before the operation. */
double *array_doubles(size_t n);
double *array_wide(const struct array *a);

/* Sets number i before the operation, rounded to the array's type; the same without an array. */
void array_set(struct array *a, size_t i, double value);
double array_rounded(const struct array *a, double value);

/* Sends all arrays to the device as they were before; fetches all arrays, which in pass 1 must be bit by bit what
 * pass 0 fetched. */
void arrays_upload(void);
void arrays_download(int pass);

/* The array must be within relative * |want| + absolute of want everywhere, and where it holds bfloat16 half a unit of
 * that type more; must be the bytes of want. */
void array_near(struct array *a, const double *want, double relative, double absolute);
void array_equal(struct array *a, const void *want);

/* As array_near for some columns, [first, first + width), of rows of `stride` numbers; want is [rows, width]. */
void array_near_columns(struct array *a, size_t stride, size_t first, size_t width, const double *want, double relative,
                        double absolute);

/* Ends a case: guards must be whole and arrays that were not compared unchanged; all memory is given back. */
void arrays_finish(void);

#endif
