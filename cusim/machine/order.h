/* SPDX-License-Identifier: MIT */
/* order.h - the order of execution, and how many blocks at once: CUSIM_SCHEDULE, CUSIM_RESIDENT, CUSIM_BUSY. */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include <stdint.h>

enum sim_schedule { SIM_FORWARD, SIM_REVERSE, SIM_RANDOM };
extern enum sim_schedule sim_schedule;

extern unsigned sim_resident_wanted; /* CUSIM_RESIDENT: how many blocks may run at once; 0: as many as fit the device */
extern bool sim_busy; /* CUSIM_BUSY: another kernel has all places but one, and goes when all are wanted */

uint64_t sim_random(void);

/* A way through 0 ... count-1: at, at + step, at + 2 step, ... modulo count. A step without a common divisor with count
   meets every number once, so no list is needed. */
struct sim_order {
    uint64_t at, step, count;
};
struct sim_order sim_make_order(uint64_t count);

static inline uint64_t sim_next(struct sim_order *order)
{
    const uint64_t at = order->at;

    order->at += order->step;
    if (order->at >= order->count)
        order->at -= order->count;
    return at;
}

#endif
