/* ranges.c - epochs, steps, phases, parts of the model and calls of collectives as NVTX ranges of the domain
 * "ddpbench", each under the name that it has in our own traces; a collective's call also says which bucket it is for.
 */
#include "kernels/cuda/ranges.h"

#include <nvtx3/nvToolsExt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int in_phase;

/* NULL where no profiler listens. */
static nvtxDomainHandle_t domain(void)
{
    static nvtxDomainHandle_t made;
    static int asked;
    if (!asked)
        made = nvtxDomainCreateA("ddpbench");
    asked = 1;
    return made;
}

static void push(const char *name)
{
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &attributes);
}

void cuda_phase(const char *name)
{
    if (!domain())
        return;
    if (in_phase)
        nvtxDomainRangePop(domain());
    in_phase = name != NULL;
    if (name)
        push(name);
}

void cuda_annotation_begin(const char *format, ...)
{
    char text[96];
    va_list arguments;
    if (!domain())
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    push(text);
}

void cuda_range_begin(const char *name, int number)
{
    int layer = !strcmp(name, "layer");
    if (number < 0)
        cuda_annotation_begin("%s", name);
    else
        cuda_annotation_begin("layers.%d%s%s", number, layer ? "" : ".", layer ? "" : name);
}

void cuda_range_end(void)
{
    if (domain())
        nvtxDomainRangePop(domain());
}
