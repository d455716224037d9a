/* mistaken_openblas.c - a library to preload: makes OpenBLAS mistake the CPU for a Prescott, as an old OpenBLAS does on
 * a newer CPU, by setting OpenBLAS's environment variable for the CPU unless it is set already. */
#include <dlfcn.h>
#include <string.h>

extern char **environ;

char *getenv(const char *name)
{
    static char mistaken[] = "Prescott";
    size_t length = strlen(name);
    Dl_info caller;
    for (char **variable = environ; variable && *variable; variable++)
        if (!strncmp(*variable, name, length) && (*variable)[length] == '=')
            return *variable + length + 1;
    int asks_openblas = dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libopenblas");
    return asks_openblas && !strcmp(name, "OPENBLAS_CORETYPE") ? mistaken : NULL;
}
