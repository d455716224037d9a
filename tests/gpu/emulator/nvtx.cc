/* nvtx.cc - with EMULATED_NVTX=1 or 2, a profiler that records NVTX ranges, and at which places between ranges the
 * program starts and stops the profiler. With 2, prints the record at the end. */
#include "cuda_runtime_api.h"
#include "emulated.h"
#include "nvtx3/nvToolsExt.h"

#include <cstdio>
#include <cstdlib>
#include <string>

struct nvtxDomainRegistration_st {
    int depth;
};

static auto &heard = *new std::string;

nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
    if (!emulated::setting("EMULATED_NVTX", 0))
        return nullptr;
    if (emulated::setting("EMULATED_NVTX", 0) == 2)
        atexit([] { fprintf(stderr, "NVTX: %s\n", emulated_nvtx_heard()); });
    heard += std::string(name) + "( ";
    return new nvtxDomainRegistration_st{0};
}

int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    if (!domain || attributes->version != NVTX_VERSION || attributes->size != sizeof *attributes ||
        attributes->messageType != NVTX_MESSAGE_TYPE_ASCII)
        emulated_wrong(__FILE__, __LINE__, "an NVTX range without a domain, or whose attributes are not set");
    heard += std::string(attributes->message.ascii) + "( ";
    return domain->depth++;
}

int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
    if (!domain || domain->depth == 0)
        emulated_wrong(__FILE__, __LINE__, "the end of an NVTX range that was not begun");
    heard += ") ";
    return --domain->depth;
}

cudaError_t cudaProfilerStart(void)
{
    heard += "start ";
    return emulated::result(emulated::no_machine());
}

cudaError_t cudaProfilerStop(void)
{
    heard += "stop ";
    return emulated::result(emulated::no_machine());
}

const char *emulated_nvtx_heard(void)
{
    return heard.c_str();
}
