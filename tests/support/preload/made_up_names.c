/* made_up_names.c - a library to preload: a program that uses MPI finds made-up names of the CPU and of this host.
 *
 * In the environment: MADE_UP_CPU, the model name of the CPU; MADE_UP_HOST, the name of the host whose name is
 * MADE_UP_HOST_OF; other hosts, such as those of namespaces, keep their names. Launchers and MPI itself, which look up
 * the host's address, see the real name. MADE_UP_DEVICE: a path that exists. */
#include <dlfcn.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define NEXT(name) (__extension__(__typeof__(&(name))) dlsym(RTLD_NEXT, #name))

int gethostname(char *name, size_t size)
{
    const char *made_up = getenv("MADE_UP_HOST"), *of = getenv("MADE_UP_HOST_OF");
    Dl_info caller, program;
    int status = NEXT(gethostname)(name, size);
    if (status || !made_up || !of || strcmp(name, of) != 0 || !dlsym(RTLD_DEFAULT, "MPI_Init") ||
        !dladdr(__builtin_return_address(0), &caller) || !dladdr((void *)getauxval(AT_ENTRY), &program) ||
        caller.dli_fbase != program.dli_fbase)
        return status;
    strncpy(name, made_up, size);
    return 0;
}

int hwloc_topology_load(hwloc_topology_t topology)
{
    const char *made_up = getenv("MADE_UP_CPU");
    int status = NEXT(hwloc_topology_load)(topology);
    hwloc_obj_t package = status || !made_up ? NULL : hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    int found = 0;
    for (unsigned i = 0; package && i < package->infos_count; i++)
        if (!strcmp(package->infos[i].name, "CPUModel")) {
            free(package->infos[i].value);
            package->infos[i].value = strdup(made_up);
            found = 1;
        }
    if (package && !found)
        hwloc_obj_add_info(package, "CPUModel", made_up);
    return status;
}

int access(const char *path, int mode)
{
    const char *made_up = getenv("MADE_UP_DEVICE");
    return made_up && !strcmp(path, made_up) ? 0 : NEXT(access)(path, mode);
}
