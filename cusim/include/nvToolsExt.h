/* SPDX-License-Identifier: MIT */
/* nvToolsExt.h - NVTX: marks for a profiler, of which there is none here. */
#ifndef NV_TOOLS_EXT_H
#define NV_TOOLS_EXT_H

#include <stdint.h>
#include <stddef.h>

typedef uint64_t nvtxRangeId_t;
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_TYPE_ASCII 1

typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
    } payload;
    int32_t messageType;
    union {
        const char *ascii;
        const wchar_t *unicode;
    } message;
} nvtxEventAttributes_t;

static inline int nvtxRangePushA(const char *message)
{
    (void)message;
    return 0;
}
static inline int nvtxRangePushEx(const nvtxEventAttributes_t *attributes)
{
    (void)attributes;
    return 0;
}
static inline int nvtxRangePop(void)
{
    return 0;
}
static inline nvtxRangeId_t nvtxRangeStartA(const char *message)
{
    (void)message;
    return 0;
}
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *attributes)
{
    (void)attributes;
    return 0;
}
static inline void nvtxRangeEnd(nvtxRangeId_t id)
{
    (void)id;
}
static inline void nvtxMarkEx(const nvtxEventAttributes_t *attributes)
{
    (void)attributes;
}
static inline void nvtxMarkA(const char *message)
{
    (void)message;
}
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA

#endif
