/* SPDX-License-Identifier: MIT */
/* default.h - the kernel of chapter 05 for a length on a chip (default.c), and its launch. */
#ifndef PIPE_DEFAULT_H
#define PIPE_DEFAULT_H

#include "pipe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A launcher and its launch configuration. */
struct pipe_choice {
    linrec_launcher *launch;
    const char *variant;
    struct launch_config config;
};

linrec_launcher pipe_default_forward; /* what pipe_tuned says, and else what pipe_choose says */

/* What is fastest for this length on this chip. */
struct pipe_choice pipe_choose(size_t seq_len, const struct gpu_info *gpu);

/* What a header of `make TUNED=...` says for this length; launch is NULL if it says nothing. The chip may lack what
   that needs: its launcher then returns cudaErrorNotSupported and has launched nothing. */
struct pipe_choice pipe_tuned(size_t seq_len);

/* Launches `launch` with the choice's configuration in place of args->config. */
cudaError_t pipe_launch(linrec_launcher *launch, const struct pipe_choice *choice, const struct linrec_args *args,
                        cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
