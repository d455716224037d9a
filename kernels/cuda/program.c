/* program.c - calls of the program by the shared object of the CUDA parts; documented in error.h and cuda_parts.h. */
#include "kernels/cuda_parts.h"
#include "kernels/error.h"

#include <stdarg.h>
#include <stdio.h>

static const struct program_calls *program;

const char *ddpbench_start(const struct program_calls *calls)
{
    program = calls;
    return DDPBENCH_VERSION " " DDPBENCH_DESCRIPTION;
}

int error_report(const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return program->error_report("%s", text);
}

void fatal(const char *file, int line, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (;;) /* it does not return */
        program->fatal(file, line, "%s", text);
}

void fatal_no_memory(size_t n, size_t size)
{
    for (;;)
        program->fatal_no_memory(n, size);
}

void *allocate(size_t n, size_t size)
{
    return program->allocate(n, size);
}
