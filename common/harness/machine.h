/* SPDX-License-Identifier: MIT */
/* machine.h - the machine on which a program runs. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum backend { ON_CUDA, ON_SIM, ON_CPU };

struct machine {
    enum backend backend;
    struct cudaDeviceProp device; /* its name is the CPU's on the CPU */
    int arch;                     /* the compute capability that chip and compiled code have together, 90 for 9.0 */
    char toolkit[256], driver[64];
};

/* Fills in *machine. Returns 0, or 2 after one line on stderr if no device answers. */
int machine_find(bool on_cpu, struct machine *machine);

/* "cuda", "sim" or "cpu". */
const char *backend_name(enum backend backend);

#ifdef __cplusplus
}
#endif
#endif
