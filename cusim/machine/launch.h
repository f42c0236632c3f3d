/* SPDX-License-Identifier: MIT */
/* launch.h - a launch, and what it needs to begin later. */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include <stddef.h>
#include <stdint.h>
#include <vector>

#include "../include/cuda_runtime.h"

/* A part of the arguments of a kernel, aligned as the most that a type asks for (CUtensorMap). */
struct alignas(128) sim_arguments {
    char bytes[128];
};

struct sim_launch {
    const void *kernel;
    const char *name;
    sim_config config;
    void (*body)(void *);
    std::vector<struct sim_arguments> arguments;
    size_t arguments_size;
    int device;
};

/* Whether the device can run it: success, or an error and in a sentence why. It is the launch that messages name until
   sim_place is made empty. */
cudaError_t sim_check_launch(const struct sim_launch *launch, char *why, size_t size);

void sim_run_launch(struct sim_launch *launch);

#endif
