/* about.h - where a program runs. */
#ifndef ABOUT_H
#define ABOUT_H

#include <stdbool.h>

#include <cuda_runtime_api.h>

#include "arch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum backend { ON_CUDA, ON_SIM, ON_CPU };

struct place {
    enum backend backend;
    struct cudaDeviceProp device; /* its name is the CPU's on the CPU */
    int arch;                     /* what the code may use of the chip: its own, or LINREC_ARCH if that is less */
    char toolkit[256], driver[64];
};

/* Fills in *place. Returns 0, or 2 after one line on stderr if no device answers. */
int about_place(bool on_cpu, struct place *place);

/* "cuda", "sim" or "cpu". */
const char *backend_name(enum backend backend);

#ifdef __cplusplus
}
#endif
#endif
