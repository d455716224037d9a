/* arrays.h - for tests of a device: arrays in the device's memory, with guards around them, and their comparison.
 *
 * A case makes its arrays, runs the operation (upload, call, download; twice), compares the outputs, and ends with
 * arrays_finish. Failures are Check's assertions, so no function returns an error. */
#ifndef TESTS_SUPPORT_ARRAYS_H
#define TESTS_SUPPORT_ARRAYS_H

#include "kernels/device.h"

#include <stddef.h>

struct array {
    size_t bytes;               /* size of the array without guards */
    size_t guard;               /* bytes of each guard */
    unsigned char *start, *got; /* host copies, with guards: before and after the operation */
    unsigned char *block;       /* device copy with guards */
    size_t width;               /* bytes of a number: 4 for fp32 and tokens, 2 for bfloat16 */
    int checked;                /* 1 once the test has compared the array; arrays not compared must not change */
};

/* Begins a case: sets the arrays' device, the name in failure messages (must outlive the case), and the random seed. */
void arrays_begin(const struct device *on, const char *name);

/* Aligns all further arrays, until arrays_finish, like the device's memory; by default some are aligned less. */
void arrays_align(void);

/* Make an array: of bytes that are 0; of n random floats in [low, high); of n random numbers of the device's compute
 * type in [low, high]; of n random tokens in [0, below). The array is valid until arrays_finish. */
struct array *array_bytes(size_t bytes);
struct array *array_floats(size_t n, float low, float high);
struct array *array_numbers(size_t n, float low, float high);
struct array *array_tokens(size_t n, size_t below);

/* Return the address of an array on the device; of its host copy before the operation, which may be changed until the
 * upload; and of its host copy after the operation. */
void *array_device(const struct array *a);
void *array_before(const struct array *a);
void *array_after(const struct array *a);

/* Return n zeros; and the array's numbers before the operation, as doubles. Host memory, valid until arrays_finish. */
double *array_doubles(size_t n);
double *array_wide(const struct array *a);

/* Stores the value, rounded to the array's type, as number i. */
void array_set(struct array *a, size_t i, double value);

/* arrays_upload uploads all arrays as they are before the operation; arrays_download downloads them after pass 0 or 1
 * of the operation, and fails the test unless both passes give the same bits. */
void arrays_upload(void);
void arrays_download(int pass);

/* array_near fails the test unless every number is within relative * |want| + absolute of want (for bfloat16 plus half
 * a unit in the last place); array_equal fails the test unless the arrays are equal bit for bit. */
void array_near(struct array *a, const double *want, double relative, double absolute);
void array_equal(struct array *a, const void *want);

/* Like array_near, for columns [first, first + width) of rows of `stride` numbers; want is [rows, width]. */
void array_near_columns(struct array *a, size_t stride, size_t first, size_t width, const double *want, double relative,
                        double absolute);

/* Ends a case: fails the test unless guards and arrays that were not compared are unchanged; releases all memory. */
void arrays_finish(void);

#endif
