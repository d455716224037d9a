/* ranges.c - epochs, steps, phases, parts of the model and calls of collectives as NVTX ranges of the domain
 * "ddpbench", each under the name that it has in our own traces; a collective's call also says which bucket it is for.
 */
#include "kernels/cuda/ranges.h"

#include <nvtx3/nvToolsExt.h>
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

void cuda_range_begin(const char *name, int number)
{
    char text[96];
    if (!domain())
        return;
    if (number < 0)
        snprintf(text, sizeof text, "%s", name);
    else if (!strcmp(name, "layer"))
        snprintf(text, sizeof text, "layers.%d", number);
    else if (!strcmp(name, "ProfilerStep"))
        snprintf(text, sizeof text, "%s#%d", name, number);
    else if (!strcmp(name, "warmup_epoch") || !strcmp(name, "active_epoch"))
        snprintf(text, sizeof text, "%s_%d", name, number);
    else if (!strcmp(name, "all_reduce"))
        snprintf(text, sizeof text, "%s bucket %d", name, number);
    else
        snprintf(text, sizeof text, "layers.%d.%s", number, name);
    push(text);
}

void cuda_range_end(void)
{
    if (domain())
        nvtxDomainRangePop(domain());
}
