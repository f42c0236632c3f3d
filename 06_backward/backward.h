/* backward.h - chapter 06: both directions, and the gradients in one kernel. */
#ifndef BACKWARD_H
#define BACKWARD_H

#include "../05_pipe/pipe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is compiled: movement, rows (of float4), and the most threads of a block. A tuned header may add to it, as for
   chapter 05. */
#ifndef BACKWARD_TUNED_CONFIGS
#define BACKWARD_TUNED_CONFIGS(X)
#define BACKWARD_TUNED_LENGTHS(X)
#endif
#ifndef BACKWARD_CONFIGS
#define BACKWARD_CONFIGS(X)                                                                                            \
    BACKWARD_TUNED_CONFIGS(X)                                                                                          \
    X(PIPE_VECTOR, 2, 512)                                                                                             \
    X(PIPE_ASYNC, 2, 512)                                                                                              \
    X(PIPE_BULK, 4, 512)                                                                                               \
    X(PIPE_BULK_LAST, 2, 512)                                                                                          \
    X(PIPE_BULK_LAST, 4, 512)
#endif

/* The configuration that backward_default takes, and one that suits a movement; see pipe_default_config. */
struct pipe_config backward_default_config(size_t seq_len, int arch, size_t shared_limit);
struct pipe_config backward_movement_config(enum pipe_movement movement, size_t seq_len);

/* Backward with the given configuration, in the direction that args says; lengths, numbers and errors as for
   pipe_launch. d_inputs and d_coeffs as linrec.h defines them. */
cudaError_t backward_launch(const struct pipe_config *config, const struct linrec_args *args, cudaStream_t stream);

/* The table's launchers: `scan` forward or reversed, by the kernels of chapter 05, `backward` the gradients. */
linrec_launcher scan_vector, scan_async, scan_bulk, scan_bulk_last, scan_flat, scan_default;
linrec_launcher backward_two_pass, backward_vector, backward_async, backward_bulk, backward_bulk_last, backward_flat,
    backward_default;

extern const struct linrec_kernel chapter06_kernels[];

#ifdef __cplusplus
}
#endif
#endif
