/* mistaken_openblas.c - preloaded before a program, makes OpenBLAS take the CPU for a Prescott, as an old OpenBLAS does
 * with a young CPU: it alone reads this choice in the environment, unless there is one already. */
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
