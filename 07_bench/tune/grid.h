/* grid.h - what is compiled for tuning, in place of the lists of pipe.h and backward.h: 4, 8 and 16 elements a thread,
   up to 1024 threads where their registers suffice. */
#ifndef GRID_H
#define GRID_H

#define GRID_GROUPS(X, movement) X(movement, 1, 4, 1024) X(movement, 1, 8, 1024) X(movement, 1, 16, 512)
#define GRID_ROWS(X, movement) X(movement, 1, 4, 1024) X(movement, 2, 4, 1024) X(movement, 4, 4, 512)
#define PIPE_CONFIGS(X)                                                                                                \
    GRID_GROUPS(X, PIPE_BLOCKED)                                                                                       \
    GRID_GROUPS(X, PIPE_STAGED)                                                                                        \
    GRID_ROWS(X, PIPE_VECTOR)                                                                                          \
    GRID_ROWS(X, PIPE_ASYNC)                                                                                           \
    GRID_ROWS(X, PIPE_BULK)                                                                                            \
    GRID_ROWS(X, PIPE_BULK_LAST)

#define GRID_BACKWARD(X, movement, most) X(movement, 1, 1024) X(movement, 2, 512) X(movement, 4, most)
#define BACKWARD_CONFIGS(X)                                                                                            \
    GRID_BACKWARD(X, PIPE_VECTOR, 384)                                                                                 \
    GRID_BACKWARD(X, PIPE_ASYNC, 512)                                                                                  \
    GRID_BACKWARD(X, PIPE_BULK, 512)                                                                                   \
    GRID_BACKWARD(X, PIPE_BULK_LAST, 512)

#endif
