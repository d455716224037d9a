/* library.h - loads a library's functions at run time, so that the program also runs where the library is not
 * installed. */
#ifndef KERNELS_LIBRARY_H
#define KERNELS_LIBRARY_H

#include <stddef.h>

struct library_function {
    const char *name;
    size_t offset; /* offset of the pointer in the table */
    int needed;    /* 0: the pointer is NULL if the library is too old to have the function */
};

/* Finds functions[n] in the process itself, if it has the first one, as when a tool or a test has loaded it, or else in
 * the library `file`, which stays loaded; fills in the table of pointers. Returns NULL; or, static, why it failed. */
const char *library_open(void *table, const struct library_function *functions, size_t n, const char *file);

#endif
