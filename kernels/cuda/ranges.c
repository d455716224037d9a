/* ranges.c - marks epochs, steps, phases, parts of the model and calls of collectives as NVTX ranges in the domain
 * "ddpbench", with the same names as in ddpbench's own traces; a call of a collective also names its bucket. */
#include "kernels/cuda/ranges.h"

#include <nvtx3/nvToolsExt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int in_phase;

/* Returns the domain; NULL if no profiler runs. */
static nvtxDomainHandle_t get_domain(void)
{
    static nvtxDomainHandle_t made;
    static int asked;
    if (!asked)
        made = nvtxDomainCreateA("ddpbench");
    asked = 1;
    return made;
}

static void push_range(const char *name)
{
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    nvtxDomainRangePushEx(get_domain(), &attributes);
}

void cuda_phase(const char *name)
{
    if (!get_domain())
        return;
    if (in_phase)
        nvtxDomainRangePop(get_domain());
    in_phase = name != NULL;
    if (name)
        push_range(name);
}

void cuda_annotation_begin(const char *format, ...)
{
    char text[96];
    va_list arguments;
    if (!get_domain())
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    push_range(text);
}

void cuda_range_begin(const char *name, int number)
{
    if (number < 0)
        cuda_annotation_begin("%s", name);
    else
        cuda_annotation_begin("layers.%d.%s", number, name);
}

void cuda_range_end(void)
{
    if (get_domain())
        nvtxDomainRangePop(get_domain());
}
