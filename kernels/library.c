/* library.c - loads a library's functions at run time. */
#include "kernels/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char *library_open(void *table, const struct library_function *functions, size_t n, const char *file)
{
    static char why[256];
    void *library = dlopen(NULL, RTLD_NOW); /* the process itself */
    if (!library || !dlsym(library, functions[0].name))
        library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(why, sizeof why, "%s", dlerror());
    for (size_t i = 0; library && i < n; i++) {
        void *found = dlsym(library, functions[i].name);
        memcpy((char *)table + functions[i].offset, &found, sizeof found); /* POSIX allows this conversion */
        if (found || !functions[i].needed)
            continue;
        snprintf(why, sizeof why, "%s has no %s: it is too old", file, functions[i].name);
        library = NULL;
    }
    return library ? NULL : why;
}
