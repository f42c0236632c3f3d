/* SPDX-License-Identifier: MIT */
/* host.cpp - the host API that is neither memory, stream nor launch: devices, attributes, occupancy.

   The device claims compute capability 9.0 and has what the chapters ask about. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../machine/fault.h"
#include "host.h"
#include "../include/cuda_runtime.h"
#include "memory.h"
#include "../machine/chip.h"
#include "../machine/kernels.h"
#include "../machine/order.h"
#include "../machine/sizes.h"
#include "../machine/settings.h"
#include "../machine/announce.h"

enum { L2_BYTES = 1 << 20, NUM_REGISTERS = 65536, BUS_BITS = 64, CONST_BYTES = 65536 };

/* ---- memory of the machine ---- */

/* Reads the number in the first line of a file that fits the format of scanf. Returns false when there is none. */
static bool read_number(const char *path, const char *format, size_t *number)
{
    FILE *file = fopen(path, "r");
    char line[256];
    bool found = false;

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL)
        found = sscanf(line, format, number) == 1;
    if (file != NULL)
        fclose(file);
    return found;
}

bool sim_memory(size_t *available, size_t *total)
{
    size_t limit, used;

    if (!read_number("/proc/meminfo", "MemAvailable: %zu", available) ||
        !read_number("/proc/meminfo", "MemTotal: %zu", total))
        return false;
    *available *= 1024;
    *total *= 1024;
    /* A container may have less than the machine. */
    if (read_number("/sys/fs/cgroup/memory.max", "%zu", &limit) &&
        read_number("/sys/fs/cgroup/memory.current", "%zu", &used) && limit < *total) {
        const size_t rest = limit > used ? limit - used : 0;
        *total = limit;
        *available = rest < *available ? rest : *available;
    }
    if (sim_has_kernels)
        *available /= SIM_OBSERVED_FACTOR;
    return true;
}

/* ---- devices: one, or as many as CUSIM_DEVICES says, all alike ---- */

enum { MOST_DEVICES = 16 };
int sim_num_devices = 1;
thread_local int sim_device;
static bool peers[MOST_DEVICES][MOST_DEVICES]; /* whether the first may reach the memory of the second */
static unsigned device_flags = cudaDeviceMapHost;

__attribute__((constructor)) static void read_devices(void)
{
    sim_num_devices = (int)sim_number_setting("CUSIM_DEVICES", 1, MOST_DEVICES, 1, "1 to 16");
}

bool sim_reaches(int device, int owner)
{
    return device == owner || peers[device][owner];
}

static bool is_device(int device)
{
    return device >= 0 && device < sim_num_devices;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    if (count == NULL)
        return sim_error(cudaErrorInvalidValue);
    *count = sim_num_devices;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    if (device == NULL)
        return sim_error(cudaErrorInvalidValue);
    *device = sim_device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (!is_device(device))
        return sim_error(cudaErrorInvalidDevice);
    sim_device = device;
    return cudaSuccess;
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    device_flags = flags;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    *flags = device_flags;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (can == NULL || !is_device(device) || !is_device(peer))
        return sim_error(cudaErrorInvalidDevice);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    if (!is_device(peer) || peer == sim_device || flags != 0)
        return sim_error(cudaErrorInvalidDevice);
    if (peers[sim_device][peer])
        return sim_error(cudaErrorPeerAccessAlreadyEnabled);
    peers[sim_device][peer] = true;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    if (!is_device(peer))
        return sim_error(cudaErrorInvalidDevice);
    if (!peers[sim_device][peer])
        return sim_error(cudaErrorPeerAccessNotEnabled);
    peers[sim_device][peer] = false;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int src, int dst)
{
    if (value == NULL || !is_device(src) || !is_device(dst) || src == dst)
        return sim_error(cudaErrorInvalidDevice);
    *value = attribute == cudaDevP2PAttrAccessSupported || attribute == cudaDevP2PAttrNativeAtomicSupported;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    if (text == NULL || !is_device(device))
        return sim_error(cudaErrorInvalidDevice);
    snprintf(text, (size_t)size, "0000:%02x:00.0", device + 1);
    return cudaSuccess;
}

/* What has no meaning here is accepted. */
static size_t limits[7] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (value == NULL || (int)limit < 0 || limit > cudaLimitPersistingL2CacheSize)
        return sim_error(cudaErrorInvalidValue);
    *value = limits[limit];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((int)limit < 0 || limit > cudaLimitPersistingL2CacheSize)
        return sim_error(cudaErrorInvalidValue);
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    if (config == NULL)
        return sim_error(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void *, enum cudaFuncCache)
{
    return cudaSuccess;
}

cudaError_t cudaFuncSetSharedMemConfig(const void *, enum cudaSharedMemConfig)
{
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    size_t available;

    if (prop == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (!is_device(device))
        return sim_error(cudaErrorInvalidDevice);
    *prop = {};
    strcpy(prop->name, "simulator");
    sim_memory(&available, &prop->totalGlobalMem);
    prop->sharedMemPerBlock = SIM_SHARED;
    prop->regsPerBlock = NUM_REGISTERS;
    prop->warpSize = SIM_WARP;
    prop->maxThreadsPerBlock = prop->maxThreadsDim[0] = prop->maxThreadsDim[1] = SIM_MAX_THREADS;
    prop->maxThreadsDim[2] = 64;
    prop->maxGridSize[0] = 0x7fffffff;
    prop->maxGridSize[1] = prop->maxGridSize[2] = 65535;
    prop->totalConstMem = CONST_BYTES;
    prop->major = sim_chip.major;
    prop->minor = sim_chip.minor;
    prop->multiProcessorCount = SIM_MULTIPROCESSORS;
    prop->memoryBusWidth = BUS_BITS;
    prop->l2CacheSize = L2_BYTES;
    prop->maxThreadsPerMultiProcessor = SIM_MAX_THREADS_PER_SM;
    prop->sharedMemPerMultiprocessor = sim_chip.shared_per_sm;
    prop->regsPerMultiprocessor = NUM_REGISTERS;
    prop->sharedMemPerBlockOptin = sim_chip.shared_optin;
    prop->maxBlocksPerMultiProcessor = SIM_MAX_BLOCKS_PER_SM;
    prop->reservedSharedMemPerBlock = SIM_SHARED_RESERVED;
    prop->memPitch = 0x7fffffff;
    prop->textureAlignment = prop->surfaceAlignment = 512;
    prop->texturePitchAlignment = 32;
    prop->asyncEngineCount = 3;
    prop->concurrentKernels = prop->canMapHostMemory = prop->unifiedAddressing = 1;
    prop->streamPrioritiesSupported = prop->globalL1CacheSupported = prop->localL1CacheSupported = 1;
    prop->managedMemory = prop->concurrentManagedAccess = 1;
    prop->computePreemptionSupported = prop->cooperativeLaunch = prop->memoryPoolsSupported = 1;
    prop->hostRegisterSupported = prop->clusterLaunch = 1;
    prop->pciBusID = device + 1;
    prop->clockRate = prop->memoryClockRate = 1000000; /* kHz, of nothing that is there */
    prop->deviceOverlap = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    struct cudaDeviceProp prop;

    if (value == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (cudaGetDeviceProperties(&prop, device) != cudaSuccess)
        return cudaErrorInvalidDevice;
    const struct {
        enum cudaDeviceAttr attribute;
        size_t value;
    } table[] = {
        {cudaDevAttrMaxThreadsPerBlock, (size_t)prop.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, (size_t)prop.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, (size_t)prop.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, (size_t)prop.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, (size_t)prop.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, (size_t)prop.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, (size_t)prop.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, prop.sharedMemPerBlock},
        {cudaDevAttrTotalConstantMemory, prop.totalConstMem},
        {cudaDevAttrWarpSize, (size_t)prop.warpSize},
        {cudaDevAttrMaxRegistersPerBlock, (size_t)prop.regsPerBlock},
        {cudaDevAttrMultiProcessorCount, (size_t)prop.multiProcessorCount},
        {cudaDevAttrGlobalMemoryBusWidth, (size_t)prop.memoryBusWidth},
        {cudaDevAttrL2CacheSize, (size_t)prop.l2CacheSize},
        {cudaDevAttrMaxThreadsPerMultiProcessor, (size_t)prop.maxThreadsPerMultiProcessor},
        {cudaDevAttrComputeCapabilityMajor, (size_t)prop.major},
        {cudaDevAttrComputeCapabilityMinor, (size_t)prop.minor},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, prop.sharedMemPerMultiprocessor},
        {cudaDevAttrMaxRegistersPerMultiprocessor, (size_t)prop.regsPerMultiprocessor},
        {cudaDevAttrCooperativeLaunch, 1},
        {cudaDevAttrMemoryPoolsSupported, 1},
        {cudaDevAttrClockRate, (size_t)prop.clockRate},
        {cudaDevAttrMemoryClockRate, (size_t)prop.memoryClockRate},
        {cudaDevAttrTextureAlignment, prop.textureAlignment},
        {cudaDevAttrGpuOverlap, 1},
        {cudaDevAttrKernelExecTimeout, 0},
        {cudaDevAttrIntegrated, 0},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrComputeMode, cudaComputeModeDefault},
        {cudaDevAttrConcurrentKernels, 1},
        {cudaDevAttrEccEnabled, 0},
        {cudaDevAttrPciBusId, (size_t)prop.pciBusID},
        {cudaDevAttrPciDeviceId, 0},
        {cudaDevAttrPciDomainId, 0},
        {cudaDevAttrAsyncEngineCount, (size_t)prop.asyncEngineCount},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrStreamPrioritiesSupported, 1},
        {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrIsMultiGpuBoard, 0},
        {cudaDevAttrHostNativeAtomicSupported, 0},
        {cudaDevAttrPageableMemoryAccess, 0},
        {cudaDevAttrConcurrentManagedAccess, 1},
        {cudaDevAttrComputePreemptionSupported, 1},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, prop.sharedMemPerBlockOptin},
        {cudaDevAttrMaxBlocksPerMultiprocessor, (size_t)prop.maxBlocksPerMultiProcessor},
        {cudaDevAttrReservedSharedMemoryPerBlock, prop.reservedSharedMemPerBlock},
    };
    for (const auto &row : table)
        if (row.attribute == attribute) {
            *value = (int)row.value;
            return cudaSuccess;
        }
    return sim_error(cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (version == NULL)
        return sim_error(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

/* ---- kernels ---- */

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value)
{
    const sim_guard guard;
    if (kernel == NULL)
        return sim_error(cudaErrorInvalidDeviceFunction);
    struct sim_kernel_info *info = sim_find_kernel(kernel);

    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value >= 0 &&
        (size_t)value + info->static_bytes <= sim_chip.shared_optin)
        info->max_dynamic = (size_t)value;
    else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout && value >= -1 && value <= 100)
        info->carveout = value;
    else if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed && (value == 0 || value == 1))
        info->large_clusters = value == 1;
    else
        return sim_error(cudaErrorInvalidValue);
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    const sim_guard guard;
    if (attributes == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (kernel == NULL)
        return sim_error(cudaErrorInvalidDeviceFunction);
    const struct sim_kernel_info *info = sim_find_kernel(kernel);

    *attributes = {};
    attributes->sharedSizeBytes = info->static_bytes;
    attributes->maxThreadsPerBlock = SIM_MAX_THREADS;
    attributes->maxDynamicSharedSizeBytes = (int)info->max_dynamic;
    attributes->preferredShmemCarveout = info->carveout;
    attributes->clusterDimMustBeSet = info->cluster.x != 0;
    attributes->requiredClusterWidth = (int)info->cluster.x;
    attributes->requiredClusterHeight = (int)info->cluster.y;
    attributes->requiredClusterDepth = (int)info->cluster.z;
    attributes->nonPortableClusterSizeAllowed = info->large_clusters;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *num_blocks, const void *kernel, int block_size,
                                                          size_t dynamic_shared)
{
    const sim_guard guard;
    if (num_blocks == NULL || block_size <= 0)
        return sim_error(cudaErrorInvalidValue);
    if (kernel == NULL)
        return sim_error(cudaErrorInvalidDeviceFunction);
    *num_blocks = (int)sim_blocks_per_sm(sim_find_kernel(kernel), (unsigned)block_size, dynamic_shared);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *num_blocks, const void *kernel, int block_size,
                                                                   size_t dynamic_shared, unsigned)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(num_blocks, kernel, block_size, dynamic_shared);
}

/* Clusters that run at the same time: as many as launch.cpp lets begin. One always may, though the simulated device is
   smaller than a cluster can be. */
cudaError_t cudaOccupancyMaxActiveClusters(int *num_clusters, const void *kernel, const cudaLaunchConfig_t *config)
{
    const sim_guard guard;
    int blocks = 0;

    if (num_clusters == NULL || config == NULL)
        return sim_error(cudaErrorInvalidValue);
    const sim_launch_config launch(config);
    const dim3 cluster = sim_cluster_of(kernel, launch.config.cluster), threads = config->blockDim;
    const unsigned size = cluster.x * cluster.y * cluster.z;
    if (size == 0)
        return sim_error(cudaErrorInvalidValue);
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, (int)(threads.x * threads.y * threads.z), config->dynamicSmemBytes);
    if (error != cudaSuccess)
        return error;
    if (size > SIM_MAX_CLUSTER || (size > SIM_PORTABLE_CLUSTER && !sim_find_kernel(kernel)->large_clusters))
        return sim_error(cudaErrorInvalidClusterSize);
    const unsigned most =
        (sim_resident_wanted > 0 ? sim_resident_wanted : (unsigned)blocks * SIM_MULTIPROCESSORS) / size;
    *num_clusters = blocks == 0 ? 0 : most > 0 ? (int)most : 1;
    return cudaSuccess;
}

/* The largest cluster that the kernel may have: one always fits, see above. */
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *cluster_size, const void *kernel,
                                                 const cudaLaunchConfig_t *config)
{
    if (cluster_size == NULL || config == NULL)
        return sim_error(cudaErrorInvalidValue);
    if (kernel == NULL)
        return sim_error(cudaErrorInvalidDeviceFunction);
    *cluster_size = sim_find_kernel(kernel)->large_clusters ? SIM_MAX_CLUSTER : SIM_PORTABLE_CLUSTER;
    return cudaSuccess;
}
