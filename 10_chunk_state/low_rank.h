/* low_rank.h - the shapes of low_rank.cu and low_rank_backward.cu. */
#ifndef LOW_RANK_H
#define LOW_RANK_H

enum {
    COLUMNS = 32, /* of the state, that a block has */
    LOW_RANK_MAX_THREADS = 512,
    RANKS = 16,   /* of p, that are added up over the warps at once */
    LOW_RANK_MAX_STAGES = 8,
};

#endif
