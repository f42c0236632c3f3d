/* schedule.cpp - the threads of a block take turns on one CPU thread.

   A warp runs as far as it can before the next one starts. When a round over all warps runs no thread and some are not
   DONE, they wait for what never comes: a fault. */
#include "schedule.h"

#include <string.h>

#include "barrier.h"
#include "fiber.h"
#include "mbarrier.h"
#include "observe.h"
#include "order.h"
#include "shared.h"
#include "warp.h"

/* Nothing can run any more: says who waits for whom. */
[[noreturn]] static void explain_stall(void)
{
    struct thread *held = NULL;

    for (struct thread *t = sim_block->threads; t < sim_threads_end() && held == NULL; t++)
        if (t->state == AT_MBARRIER)
            held = t;
    sim_explain_warp(held != NULL);
    if (held != NULL)
        sim_explain_mbarrier(held);
    sim_explain_barrier();
}

/* Gives each lane of a warp that can run one turn. Returns whether any ran. */
static bool run_lanes(unsigned warp)
{
    struct thread *lanes = &sim_block->threads[warp * SIM_WARP];
    const unsigned rest = sim_num_threads - warp * SIM_WARP, count = rest < SIM_WARP ? rest : SIM_WARP;
    struct sim_order order = sim_make_order(count);
    bool ran = false;

    for (unsigned i = 0; i < count; i++) {
        struct thread *t = &lanes[sim_next(&order)];

        if (t->state == READY) {
            sim_resume(t);
            ran = true;
        }
    }
    sim_observe_pass();
    return ran;
}

void sim_run_block(void)
{
    const unsigned num_warps = (sim_num_threads + SIM_WARP - 1) / SIM_WARP;

    sim_block->number++;
    sim_block->num_done = sim_block->num_at_barrier = 0;
    sim_block->num_shared = sim_block->static_bytes = 0;
    sim_block->num_mbarriers = 0;
    sim_block->num_bulk_copies = 0;
    sim_block->dynamic = NULL;
    memset(sim_block->warp_waiting, 0, sizeof(sim_block->warp_waiting));
    for (unsigned i = 0; i < sim_num_threads; i++) {
        sim_block->threads[i].index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        sim_block->threads[i].state = READY;
        sim_block->threads[i].num_copies = 0;
        sim_block->threads[i].group = 0;
    }

    sim_observe_block(sim_num_threads);
    sim_place.in_block = sim_place.in_thread = true;
    while (sim_block->num_done < sim_num_threads) {
        struct sim_order order = sim_make_order(num_warps);
        bool ran = false;

        for (unsigned i = 0; i < num_warps; i++) {
            const unsigned warp = (unsigned)sim_next(&order);

            for (unsigned t = warp * SIM_WARP; t < sim_num_threads && t < (warp + 1) * SIM_WARP; t++)
                if (sim_block->threads[t].state == YIELDED)
                    sim_block->threads[t].state = READY;
            while (run_lanes(warp)) {
                ran = true;
                if (sim_schedule == SIM_RANDOM && sim_random() % 2 == 0)
                    break; /* sometimes the next warp comes earlier */
            }
        }
        if (sim_block->num_at_barrier == sim_num_threads)
            sim_release_barrier();
        else if (!ran)
            explain_stall();
    }
    sim_check_bulk_copies();
    sim_place.in_thread = false;
    sim_observe_block_end();
    sim_end_shared();
    sim_place.in_block = false;
    sim_counts.blocks++;
    sim_counts.threads += sim_num_threads;
}
