/* SPDX-License-Identifier: MIT */
/* machine.c - see machine.h. */
#include "machine.h"

#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../cuda/gpu_info.h"

#ifdef LINREC_TUNED /* the table tells, and an untuned one is not gone on with */
#define TUNED ", TUNED=" LINREC_TUNED
#else
#define TUNED ""
#endif

static void read_cpu_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "cpu");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%s", strchr(line, ':') + 2);
            break;
        }
    if (file != NULL)
        fclose(file);
}

#ifndef CUSIM
/* The driver's own version where Linux shows it, else the CUDA version that it supports. */
static void read_driver(char *text, size_t size)
{
    int version = 0;
    FILE *file = fopen("/sys/module/nvidia/version", "r");
    if (file != NULL && fgets(text, (int)size, file) != NULL)
        text[strcspn(text, "\n")] = '\0';
    else if (cudaDriverGetVersion(&version) == cudaSuccess)
        snprintf(text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    if (file != NULL)
        fclose(file);
}
#endif

const char *backend_name(enum backend backend)
{
    return backend == ON_CUDA ? "cuda" : backend == ON_SIM ? "sim" : "cpu";
}

int machine_find(bool on_cpu, struct machine *machine)
{
    struct cudaDeviceProp *device = &machine->device;
    struct gpu_info gpu;
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    memset(machine, 0, sizeof *machine);
    if (error == cudaSuccess && count > 0)
        error = cudaGetDeviceProperties(device, 0);
    if (error == cudaSuccess && count > 0)
        error = gpu_info_read(&gpu);
    if (error != cudaSuccess || count == 0)
        return usage_error("no GPU answers (%s); build with BACKEND=sim to run without one",
                           error != cudaSuccess ? cudaGetErrorString(error) : "none found");

    machine->arch = gpu.arch;
    if (on_cpu) {
        machine->backend = ON_CPU;
        read_cpu_name(device->name, sizeof device->name);
        snprintf(machine->toolkit, sizeof machine->toolkit, "compiler %s", __VERSION__);
        snprintf(machine->driver, sizeof machine->driver, "none");
    } else {
#ifdef CUSIM
        machine->backend = ON_SIM;
        snprintf(machine->toolkit, sizeof machine->toolkit, "simulator" TUNED);
        snprintf(machine->driver, sizeof machine->driver, "none");
#else
        int version = 0;
        machine->backend = ON_CUDA;
        cudaRuntimeGetVersion(&version);
        snprintf(machine->toolkit, sizeof machine->toolkit, "CUDA %d.%d" TUNED, version / 1000, version % 1000 / 10);
        read_driver(machine->driver, sizeof machine->driver);
#endif
    }
    return 0;
}
