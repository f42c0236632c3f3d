/* SPDX-License-Identifier: MIT */
/* order.cpp - the order in which blocks, warps and lanes come: forward, reversed, or random with a seed. */
#include "order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sizes.h"
#include "settings.h"

enum sim_schedule sim_schedule;
unsigned sim_resident_wanted;
bool sim_busy;
static uint64_t random_state = 1;

__attribute__((constructor)) static void read_schedule(void)
{
    const char *text = sim_setting("CUSIM_SCHEDULE");
    char *end = NULL;

    if (text == NULL || strcmp(text, "warp") == 0)
        return;
    if (strcmp(text, "reverse") == 0) {
        sim_schedule = SIM_REVERSE;
        return;
    }
    if (strncmp(text, "random", 6) == 0) {
        sim_schedule = SIM_RANDOM;
        if (text[6] == '\0')
            return;
        errno = 0;
        random_state = strtoull(text + 7, &end, 10);
        if (text[6] == ':' && text[7] >= '0' && text[7] <= '9' && *end == '\0' && errno == 0)
            return;
    }
    sim_bad_setting("CUSIM_SCHEDULE", text, "warp, reverse, random or random:SEED");
}

__attribute__((constructor)) static void read_resident(void)
{
    sim_resident_wanted =
        (unsigned)sim_number_setting("CUSIM_RESIDENT", 1, SIM_MAX_RESIDENT, 0, "a number of blocks from 1 to 64");
}

__attribute__((constructor)) static void read_busy(void)
{
    sim_busy = sim_number_setting("CUSIM_BUSY", 0, 1, 0, "0 or 1") != 0;
}

uint64_t sim_random(void) /* splitmix64 */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

struct sim_order sim_make_order(uint64_t count)
{
    struct sim_order order = {0, 1, count};

    if (sim_schedule == SIM_REVERSE)
        order.at = order.step = count - 1;
    if (sim_schedule == SIM_RANDOM) {
        uint64_t a, b;
        order.at = sim_random() % count;
        do {
            order.step = a = 1 + sim_random() % count;
            for (b = count; b != 0;) { /* a becomes the greatest common divisor */
                const uint64_t rest = a % b;
                a = b;
                b = rest;
            }
        } while (a != 1);
    }
    return order;
}
