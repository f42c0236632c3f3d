/* SPDX-License-Identifier: MIT */
/* gates.cpp - knowledge at named barriers and mbarriers: those who arrive tell what they know, and those who go
   through learn it when the phase has ended. */
#include <stdlib.h>
#include <vector>

#include "../machine/fault.h"
#include "clock.h"
#include "race.h"

struct gate {
    struct vector_clock arrived; /* of those who have arrived in the phase that has not ended yet */
    struct vector_clock ended;   /* of the last phase: what those who go through learn */
    struct release *sent;        /* what other blocks knew that have sent in that phase */
};
static std::vector<struct gate *> &gates = *new std::vector<struct gate *>();

void sim_gate_begins(void **known)
{
    if (*known == NULL) {
        *known = calloc(1, sizeof(struct gate));
        if (*known == NULL)
            sim_fault(NULL, 0, "no memory for barriers. Free some memory");
        gates.push_back((struct gate *)*known);
    }
    struct gate *const g = (struct gate *)*known;
    g->arrived.interval = g->ended.interval = 0;
    g->sent = NULL;
}

void sim_gate_arrived(void *known)
{
    sim_race_release(&((struct gate *)known)->arrived);
}

void sim_gate_sent(void *known)
{
    sim_race_send(&((struct gate *)known)->sent);
}

void sim_gate_ends(void *known, int barrier)
{
    struct gate *const g = (struct gate *)known;

    sim_race_phase_ends(barrier, &g->arrived, &g->ended);
    if (barrier >= 0)
        sim_race_received((unsigned)barrier, g->sent);
    g->sent = NULL;
}

void sim_gate_passed(void *known, unsigned thread)
{
    sim_race_inform(thread, &((struct gate *)known)->ended);
}

void sim_gates_forget(void)
{
    for (struct gate *g : gates)
        g->sent = NULL;
}
