/* cuda_parts.c - opens the shared object with the CUDA device, CUDA's tracer and NCCL. */
#include "kernels/cuda_parts.h"

#include "kernels/error.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OBJECT "libddpbench_cuda.so"
#define BUILD  DDPBENCH_VERSION " " DDPBENCH_DESCRIPTION

/* Writes the path of the shared object. Returns 0; or -1, reported, if there is none beside the program or where it is
 * installed. */
static int find_object(char *path, size_t size)
{
    static const char *const folders[] = {"", "../lib/ddpbench/"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    char *name = strrchr(program, '/');
    for (int i = 0; name && i < 2; i++) {
        snprintf(path, size, "%.*s%s" OBJECT, (int)(name + 1 - program), program, folders[i]);
        if (!access(path, F_OK))
            return 0;
    }
    return error_report("this program was built without its CUDA parts: there is no " OBJECT
                        " beside it; install the CUDA "
                        "toolkit (nvcc) and build with make CUDA=1");
}

/* Returns the version that the shared object was built from. */
static const char *start(void *object)
{
    static const struct program_calls calls = {error_report, fatal, fatal_no_memory, allocate};
    void *found = dlsym(object, "ddpbench_start");
    const char *(*function)(const struct program_calls *);
    memcpy(&function, &found, sizeof found); /* POSIX allows this conversion */
    return found ? function(&calls) : "unknown";
}

/* Returns a handle of the shared object; NULL, reported, if it cannot be used. */
static void *open_object(void)
{
    char path[PATH_MAX + sizeof OBJECT + 32];
    if (find_object(path, sizeof path))
        return NULL;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *build = object ? start(object) : NULL;
    if (object && !strcmp(build, BUILD))
        return object;
    if (object)
        error_report("%s is of version %s, and this program of version " BUILD ": build both with make CUDA=1", path,
                     build);
    else
        error_report("the program's CUDA parts, " OBJECT ", cannot be opened: %s; install what is missing, or add its "
                     "directory to LD_LIBRARY_PATH",
                     dlerror());
    return NULL;
}

const void *cuda_part(const char *name)
{
    static void *object;
    if (!object)
        object = open_object();
    return object ? dlsym(object, name) : NULL;
}

int cuda_gpu_is_here(void)
{
    return !access("/dev/nvidiactl", F_OK);
}
