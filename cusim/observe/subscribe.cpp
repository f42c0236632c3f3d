/* SPDX-License-Identifier: MIT */
/* subscribe.cpp - observers, and their subjects (machine/announce.h), in this order. What has one listener alone and
   belongs to one file is subscribed there (leaks.cpp). */
#include "../machine/access.h"
#include "../machine/announce.h"
#include "../machine/region.h"
#include "../machine/warp.h"
#include "clock.h"
#include "flag.h"
#include "observe.h"
#include "path.h"
#include "race.h"
#include "shadow.h"
#include "trace.h"
#include "watch.h"
#include "sites.h"

static unsigned own_warp(void)
{
    return sim_thread_number(sim_current) / SIM_WARP;
}

/* A warp has exchanged something, or met. */
static void warp_met(struct thread *lanes, int kind, unsigned mask)
{
    if (kind == SIM_SYNCWARP) {
        sim_race_syncwarp(sim_thread_number(lanes), mask);
        return;
    }
    sim_path_step(sim_thread_number(lanes) / SIM_WARP, SIM_EXCHANGE);
    sim_path_turns(kind <= SIM_SHFL_XOR);
}

static void copy_arrived(const void *to, size_t size, const void *pc, int barrier)
{
    if (barrier < 0)
        sim_race_copy_ends(sim_region_near(to), to, size, sim_site(pc));
    else
        sim_race_bulk_ends(sim_region_near(to), to, size, sim_site(pc), (unsigned)barrier);
}

__attribute__((constructor(101))) static void subscribe(void)
{
    struct sim_announcements *const t = &sim_tell;

    t->launch_asked.add(sim_watch_launch);
    t->launch_begins.add([](const void *arguments, size_t size) {
        sim_observe_launch(arguments, size);
        sim_path_launch();
        sim_race_launch(sim_num_threads);
        sim_flags_launch();
    });
    t->launch_ends.add(sim_observe_launch_end);
    t->counts_reset.add(sim_trace_reset);
    t->counts_reset.add(sim_watch_counted);

    t->block_begins.add([](struct block *b) {
        sim_observe_block(b);
        sim_path_begin(b);
        sim_race_block(b->slot, b->rank == 0);
        sim_flags_block();
    });
    t->block_goes_on.add([](struct block *b) {
        sim_observe_switch();
        sim_race_switch(b->slot);
    });
    t->block_done.add(sim_race_block_end);
    t->block_ends.add([](struct block *b) { sim_path_end(b); });
    t->turn.add(sim_observe_turn);
    t->pass.add(sim_observe_pass);
    t->pass.add([](unsigned) { sim_race_look_at_done(); });

    t->barrier_passed.add([] {
        if (sim_watches) {
            sim_race_check_unwritten();
            sim_flags_barrier();
        }
        sim_race_barrier();
        sim_path_meet();
    });
    t->fence.add([](unsigned how) { sim_race_fence(how & SIM_BLOCK_SCOPE); });
    t->warp_met.add(warp_met);
    t->blocks_told.add(sim_race_cluster_arrive);
    t->blocks_met.add(
        [](void **known, struct block *const *blocks, unsigned count) { *known = sim_race_cluster(blocks, count); });
    t->blocks_learnt.add([](void *known, bool told) { sim_race_cluster_wait((struct release *)known, told); });
    t->gate_begins.add(sim_gate_begins);
    t->gate_arrived.add(sim_gate_arrived);
    t->gate_sent.add(sim_gate_sent);
    t->gate_ends.add(sim_gate_ends);
    t->gate_passed.add(sim_gate_passed);
    t->waited.add(
        [](bool for_block) { for_block ? sim_path_cluster(own_warp()) : sim_path_step(own_warp(), SIM_COPY); });

    t->accessed.add([](const void *at, size_t size, unsigned how, const void *pc) {
        sim_race_access(sim_region_near(at), (const char *)at, size, how, sim_site(pc));
    });
    t->copy_begins.add([](const void *to, size_t size, const void *pc) {
        sim_race_copy_begins(sim_region_near(to), to, size, sim_site(pc));
    });
    t->copy_reads.add([](const void *pc, const void *to, size_t to_size, const void *from, size_t size) {
        sim_observe_copy(sim_site(pc), to, to_size, from, size);
    });
    t->copy_arrived.add(copy_arrived);
    t->tma_loads.add([](const void *pc, const struct sim_piece *pieces, size_t count) {
        sim_observe_tma(sim_site(pc), pieces, count, false);
    });
    t->tma_stores.add([](const void *pc, const struct sim_piece *pieces, size_t count) {
        sim_race_store_begins(pieces, count, sim_site(pc));
        sim_observe_tma(sim_site(pc), pieces, count, true);
    });
    t->store_reads.add([](const void *pc, const struct sim_piece *pieces, size_t count) {
        sim_race_store_reads(pieces, count, sim_site(pc));
    });
    t->proxy_fence.add(sim_race_proxy_fence);

    t->region_made.add(sim_shadow_made);
    t->region_gone.add(sim_shadow_gone);
    t->region_unwritten.add(sim_shadow_unwritten);
    t->shared_leaves.add(sim_race_leaves);
    t->written.add(sim_shadow_mark);
    t->copied.add(sim_shadow_copy);
    t->touched.add(sim_race_touch);
    t->given.add(sim_shadow_given);
    t->call_begins.add([](const struct sim_call *) { sim_race_host_goes_on(); });
    t->wrong_way.add(sim_race_blame_unwritten);
    t->fault.add([](const char *, int, const void *, const char *) { sim_tell_thrown(); });

    sim_forgets_too(sim_flags_forget);
    sim_forgets_too(sim_gates_forget);
    sim_forgets_too(sim_observe_switch);
}
