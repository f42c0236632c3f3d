/* SPDX-License-Identifier: MIT */
/* check.h - the check of one launch. */
#ifndef CHECK_H
#define CHECK_H

#include "arrays.h"

/* What a check found. `text` is empty when all is right, else one line for the user. */
struct check {
    double max_error; /* largest error over its bound */
    char text[512];
};

/* Launches the kernel once on poisoned outputs and checks all that it wrote, and that it wrote nothing else. On a GPU
   whose operation has a device_check the result is compared there; on the host are then compared small results whole
   and a few parts of large ones, and both must agree. */
void check_launch(struct arrays *arrays, const struct kernel *kernel, const struct data *data, struct check *check);

/* Where an element (finding_place) stands along each of its array's dimensions. */
void check_position(const struct problem *problem, unsigned long long place, size_t position[MAX_DIMS]);

#endif
