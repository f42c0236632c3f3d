/* SPDX-License-Identifier: MIT */
/* 13.5  A step with slots

   A server decodes many texts at once, one step each at a time. The states of all texts lie in one array, a slot for
   each text, and every step works on a few of them, in any order. slots[row] says where the state of a row's text lies;
   -1 says that the row has no text: a batch is filled up to a size that does not change.

       row        0       1       2       3                       x, c, y: (rows, channels)
       slots      5      -1       0       3

       slot       0       1       2       3       4       5       states: (num_slots, channels), float32
                 row 2                   row 3           row 0    no two rows have the same slot

   For each row that has a slot, and each channel:

       state  <-  c state + x,     y  =  the new state

   The state is changed in its place. All other slots stay as they are. Of a row without a slot nothing is loaded or
   stored, not even y: what it holds belongs to somebody else.

   Goal: 13 bytes loaded and 6 stored for an element of y where every fourth row has no slot; sectors used whole, 16
   bytes moved.

   Write where it says "here". */
#include <cuda_runtime.h>

/* A thread for each channel of a row. */
static __global__ void step(int rows, int channels, const int *__restrict__ slots, const float *__restrict__ x,
                            const float *__restrict__ c, float *__restrict__ states, float *__restrict__ y)
{
    /* here: which row, which channel, which slot; then the step */
    (void)slots, (void)x, (void)c, (void)states, (void)y;
}

extern "C" cudaError_t launch_slots(int rows, int channels, const int *slots, const float *x, const float *c,
                                    float *states, float *y)
{
    if (rows == 0 || channels == 0)
        return cudaSuccess;
    const dim3 blocks(rows, (channels + 127) / 128);
    step<<<blocks, 128>>>(rows, channels, slots, x, c, states, y);
    return cudaGetLastError();
}
