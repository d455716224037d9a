/* nvToolsExt.h - the part of NVTX that this project uses. EMULATED_NVTX=1: an emulated profiler records ranges. */
#ifndef EMULATED_NVTX_H
#define EMULATED_NVTX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVTX_VERSION                  3
#define NVTX_MESSAGE_TYPE_ASCII       1
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    int32_t messageType;
    union {
        const char *ascii;
    } message;
} nvtxEventAttributes_t;

nvtxDomainHandle_t nvtxDomainCreateA(const char *name); /* NULL without a profiler */
int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes);
int nvtxDomainRangePop(nvtxDomainHandle_t domain);

/* Part of the emulation only: returns the ranges recorded so far, such as "domain( outer( inner( ) ) ". */
const char *emulated_nvtx_heard(void);

#ifdef __cplusplus
}
#endif
#endif
