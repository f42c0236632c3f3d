/* SPDX-License-Identifier: MIT */
/* order.cpp - the order in which blocks, warps and lanes come: forward, reversed, or random with a seed. */
#include "order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "sizes.h"

enum sim_schedule sim_schedule;
unsigned sim_resident_wanted;
bool sim_busy;
static uint64_t random_state = 1;

__attribute__((constructor)) static void read_schedule(void)
{
    const char *text = getenv("SIM_SCHEDULE");
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
    sim_bad_setting("SIM_SCHEDULE", text, "warp, reverse, random or random:SEED");
}

__attribute__((constructor)) static void read_resident(void)
{
    const char *text = getenv("SIM_RESIDENT");
    char *end = NULL;

    if (text == NULL)
        return;
    const long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 1 || number > (long)SIM_MAX_RESIDENT)
        sim_bad_setting("SIM_RESIDENT", text, "a number of blocks from 1 to 64");
    sim_resident_wanted = (unsigned)number;
}

__attribute__((constructor)) static void read_busy(void)
{
    const char *text = getenv("SIM_BUSY");

    if (text != NULL && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        sim_bad_setting("SIM_BUSY", text, "0 or 1");
    sim_busy = text != NULL && text[0] == '1';
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
