/* SPDX-License-Identifier: MIT */
/* sites.cpp - places in the code that access memory, as numbers. */
#include "sites.h"

#include <stdlib.h>

#include "../machine/fault.h"
#include "../machine/sizes.h"

uint16_t *sim_site_numbers;
size_t sim_num_site_numbers;
unsigned sim_num_sites = 1;
static const void *pcs[SIM_MAX_SITES];

__attribute__((noinline)) unsigned sim_new_site(const void *pc)
{
    const size_t at = (size_t)((const char *)pc - &__ehdr_start), all = (size_t)(&etext - &__ehdr_start);

    if (sim_site_numbers == NULL)
        sim_site_numbers = (uint16_t *)calloc(all + 1, sizeof(*sim_site_numbers));
    if (sim_site_numbers == NULL)
        sim_fault(NULL, 0, "no memory to number the places in the code. Free some memory");
    sim_num_site_numbers = all + 1;
    if (at > all)
        return 0;
    if (sim_num_sites < SIM_MAX_SITES)
        sim_site_numbers[at] = (uint16_t)sim_extra_site(pc);
    return sim_site_numbers[at];
}

unsigned sim_extra_site(const void *pc)
{
    pcs[sim_num_sites] = pc;
    return sim_num_sites++;
}

const void *sim_site_pc(unsigned site)
{
    return pcs[site];
}
