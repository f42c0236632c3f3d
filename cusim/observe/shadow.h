/* SPDX-License-Identifier: MIT */
/* shadow.h - the record that is kept of each piece of memory. */
#ifndef SIM_SHADOW_H
#define SIM_SHADOW_H

#include <stddef.h>
#include <stdint.h>

struct sim_elements;
struct sim_region;

struct sim_cell {
    uint64_t write, read; /* records of accesses (clock.h) */
};
struct sim_shadow {
    struct sim_cell *cells; /* of each 4 bytes: the last write and a read, */
    uint64_t *others;       /* and another read, not ordered with that one */
    struct sim_cell *parts; /* NULL until some word is accessed in parts; then the same of each part_size bytes, */
    uint64_t *part_others;  /* which are 1 or 2 */
    unsigned part_size;
    uint64_t *loaded;       /* of each sector: the number of the fill that last brought it into L1, */
    uint32_t *stored;       /* and the launch that last stored to it */
    unsigned char *written; /* a bit for each byte */
    size_t size;
    bool is_read_only; /* it has been read by __ldg */
};
void sim_shadow_made(struct sim_region *region); /* a region is made: gives it one, if there is memory */
void sim_shadow_gone(struct sim_region *region);
void sim_shadow_mark(struct sim_region *region, const void *at, size_t size); /* written by the host */
void sim_shadow_copy(struct sim_region *to, const void *dst, struct sim_region *from, const void *src, size_t size);
/* The host is given these rows (unwritten.cpp): faults where nothing has written them. */
void sim_shadow_given(const void *rows, size_t pitch, size_t width, size_t height, const struct sim_elements *elements);
void sim_shadow_forget(void);                                          /* all accesses */
bool sim_shadow_divide(struct sim_shadow *shadow, unsigned part_size); /* gives it parts, if there is memory */
void sim_shadow_unwritten(struct sim_region *region);                  /* nothing of it has been written */

#endif
