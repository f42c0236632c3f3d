/* SPDX-License-Identifier: MIT */
/* states.cuh - sequences that go on from a state, and hand one on, for all kernels of chapter 06 but two_pass.cu, and
   for chapter 08's: linrec.h says what that means. It all happens at a sequence's two ends:

       forward, at the first element      x = state * c + x, and the rest as before
                at the last one           final_state is what is stored there
       backward, at the first element     x = x + d_final_state: the scan goes from the end to the beginning
                 behind the last one      y = initial_state, which makes d_coeffs; what the scan hands on to there is
                                          d_initial_state                                                            */
#ifndef STATES_CUH
#define STATES_CUH

#include "../common/cuda/tma.h"
#include "../common/linrec/linrec.h"

/* The states of all sequences, (num_seqs), each NULL where it is not wanted. */
struct states {
    const float *initial_state;
    float *final_state;
    const float *d_final_state;
    float *d_initial_state;
};

static inline struct states states_of(const struct linrec_args *args)
{
    const struct states states = {args->initial_state, args->final_state, args->d_final_state, args->d_initial_state};
    return states;
}

/* A sequence's state; 0 where there is none. */
static __device__ __forceinline__ float state_load(const float *states, size_t seq)
{
    return states != NULL ? states[seq] : 0.0f;
}

/* One thread asks the L2 cache for a state that is needed at the end; to keep it for so long would take a register. */
static __device__ __forceinline__ void state_prefetch(const float *states, size_t seq)
{
    if (states != NULL && threadIdx.x == 0)
        l2_prefetch(&states[seq]);
}

/* Forward, the sequence's first element: it goes on from the state, or else its coefficient is not used. From here on
   nothing comes in, and the coefficient is 1. */
static __device__ __forceinline__ void enter_state(const struct states *states, float state, float *x, float *c)
{
    if (states->initial_state != NULL)
        *x = state * *c + *x;
    *c = 1.0f;
}

/* Forward, when all is stored: the thread that has the sequence's last element, number `last` of the last tile, hands
   it out. Of that tile it has a group of four from number `own` on in each row of 128. */
template <int rows>
static __device__ __forceinline__ void leave_state(const struct states *states, int last, int own, const float (*x)[4],
                                                   size_t seq)
{
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (states->final_state != NULL && own + r * 128 + i == last)
                states->final_state[seq] = x[r][i];
}

/* Backward, the first element of the scan: the final state's gradient is added to that of the output. */
static __device__ __forceinline__ void enter_gradient(const struct states *states, size_t seq, float *x)
{
    if (states->d_final_state != NULL)
        *x += states->d_final_state[seq];
}

/* Backward, at the last element of the scan, whose d_inputs is x: the gradient of the sequence's first coefficient,
   which the initial state was multiplied by. Without a state it is not used. */
static __device__ __forceinline__ float first_d_coeff(const struct states *states, float initial_state, float x)
{
    return states->initial_state != NULL ? initial_state * x : 0.0f;
}

/* Backward, one thread for each sequence: what the scan hands on to the element behind its last one. */
static __device__ __forceinline__ void leave_gradient(const struct states *states, float gradient, size_t seq)
{
    if (states->d_initial_state != NULL)
        states->d_initial_state[seq] = gradient;
}

#endif
