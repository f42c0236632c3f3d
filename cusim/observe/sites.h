/* SPDX-License-Identifier: MIT */
/* sites.h - places in the code that access memory, as numbers. */
#ifndef SIM_SITES_H
#define SIM_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "../machine/image.h"

/* By the distance of their pc from the program's start; 0: it has none yet. Of so many pcs. */
extern __attribute__((visibility("hidden"))) uint16_t *sim_site_numbers;
extern __attribute__((visibility("hidden"))) size_t sim_num_site_numbers;
extern unsigned sim_num_sites; /* number 0 is for those that find no room */

unsigned sim_new_site(const void *pc);   /* numbers a place */
unsigned sim_extra_site(const void *pc); /* another number for it, which sim_site never gives */

/* The number of a place in the code, by its return address, if it has one; else 0. */
static inline unsigned sim_known_site(const void *pc)
{
    const size_t at = (size_t)((const char *)pc - &__ehdr_start);

    return at < sim_num_site_numbers ? sim_site_numbers[at] : 0;
}

/* The number of a place in the code, and back. */
static inline unsigned sim_site(const void *pc)
{
    const unsigned known = sim_known_site(pc);

    return known != 0 ? known : sim_new_site(pc);
}
const void *sim_site_pc(unsigned site);

#endif
