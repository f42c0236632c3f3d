#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# sim.t - the simulator: right kernels give the same bits in every order of execution, wrong ones are told so.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CUSIM_SCHEDULE CUSIM_RESIDENT CUSIM_WATCHDOG)};
$ENV{CUSIM_WATCHDOG} = 1;    # second, so that endless loops end

my $source    = "tests/wrong.cu";
my $allocated = "the 400-byte allocation made at $source:" . line_of("THE ALLOCATION");
my $barrier   = "$source:" . line_of("THE BARRIER");
my $x86       = `uname -m` =~ /x86_64/;

# What `wrong NAME` must say: the kernel, its place, and words of the message. The line is the one marked HERE NAME,
# {there} the one marked THERE NAME.
my @faults = (
    ["missing_barrier",      "missing_barrier",         "(0,0,0)", "(32,0,0)", "race: writes tile[32], which thread (31,0,0) has read at {there}"],
    ["missing_syncwarp",     "missing_syncwarp",        "(0,0,0)", "(1,0,0)",  "race: writes tile[1], which thread (0,0,0) has read at {there}"],
    ["shuffle_orders_nothing", "shuffle_orders_nothing", "(0,0,0)", "(0,0,0)", "race: reads tile[1], which thread (1,0,0) has written at {there}"],
    ["syncwarp_across_warps", "syncwarp_across_warps",  "(0,0,0)", "(32,0,0)", "race: writes tile[32], which thread (0,0,0) has read at {there}"],
    ["missing_second_barrier", "missing_second_barrier", "(0,0,0)", "(32,0,0)", "race: reads total[0], which thread (0,0,0) has written at {there}"],
    ["half_syncwarp",        "half_syncwarp",           "(0,0,0)", "(0,0,0)",  "race: reads tile[16], which thread (16,0,0) has written at {there}"],
    ["race_in_line",         "race_in_line",            "(0,0,0)", "(2,0,0)",  "race: reads tile[1], which thread (1,0,0) has written at $source:" . line_of("HERE race_in_line") . ", and nothing orders the two. This line reads and writes, and a thread may write before another one has read: let each thread read into a variable of its own"],
    ["two_blocks",           "two_blocks",              "(1,0,0)", "(0,0,0)",  "race: writes byte 0 of $allocated, which thread (0,0,0) of block (0,0,0) has written at $source:" . line_of("HERE two_blocks")],
    ["neighbour_block",      "neighbour_block",         "(1,0,0)", "(0,0,0)",  "race: reads byte 0 of $allocated, which thread (0,0,0) of block (0,0,0) has written at {there}"],
    ["plain_beside_atomic",  "plain_beside_atomic",     "(0,0,0)", "(1,0,0)",  "race: writes byte 0 of $allocated, which thread (0,0,0) has read at {there}, and nothing orders the two. One of them is atomic or volatile: make the other so, too."],
    ["row_past_end",         "row_past_end",            "(0,0,0)", "(1,0,0)",  "race: writes byte 40 of $allocated, which thread (0,0,0) has written at $source:" . line_of("HERE row_past_end") . ", and nothing orders the two. Which elements are each thread's own?"],
    ["race_in_rows",         "race_in_rows",            "(0,0,0)", "(1,0,0)",  "race: writes outputs[1][0], which thread (0,0,0) has written at $source:" . line_of("HERE race_in_rows")],
    ["past_rows",            "past_rows",               "(0,0,0)", "(0,0,0)",  "writes outputs[3][0], past the end (the last is outputs[2][4]). Compare the index"],
    ["four_past_rows",       "four_past_rows",          "(0,0,0)", "(0,0,0)",  "reads outputs[2][3] to outputs[3][1], past the end (the last is outputs[2][4]). Take the last elements one by one"],
    ["before_rows",          "before_rows",             "(0,0,0)", "(0,0,0)",  "writes outputs[0][-1], before the start (the first is outputs[0][0])"],
    ["read_past_named",      "read_past_named",         "(0,0,0)", "(0,0,0)",  "reads right past the end of the 40-byte array inputs. Compare the index"],
    ["write_before_named",   "write_before_named",      "(0,0,0)", "(0,0,0)",  "writes 4 bytes before the start of the 40-byte array inputs. Compare the index"],
    ["flag_without_fence",   "flag_without_fence<1, 0>", "(0,0,0)", "(1,0,0)", "race: reads byte 0 of $allocated, which thread (32,0,0) has written at {there}, and nothing orders the two. The flag read at $source:" . line_of("THERE flag_read") . " has no acquire: call __threadfence() between reading the flag"],
    ["wait_is_no_barrier",   "wait_is_no_barrier",      "(0,0,0)", "(1,0,0)",  "race: writes tile[1], which thread (0,0,0) has read at {there}"],
    ["early_copy",           "early_copy",              "(0,0,0)", "(1,0,0)",  "race: reads tile[0], which thread (0,0,0) has written by an asynchronous copy at {there}"],
    ["missing_wait",         "missing_wait",            "(0,0,0)", "(32,0,0)", "reads tile[31], to which the copy of {there} is on its way"],
    ["missing_bulk_wait",    "missing_bulk_wait",       "(0,0,0)", "(0,0,0)",  "reads tile[0], to which the copy of {there} is on its way"],
    ["early_refill",         "early_refill",            "(0,0,0)", "(1,0,0)",  "reads tile[1], to which the copy of {there} is on its way"],
    ["divergent_barrier",    "divergent_barrier",       "(0,0,0)", "(0,0,0)",  "thread (32,0,0) waits at __syncthreads at {there}"],
    ["barrier_in_branch",    "barrier_in_branch",       "(0,0,0)", "(0,0,0)",  "thread (40,0,0) waits at __syncthreads at {there}"],
    ["partial_shuffle",      "partial_shuffle",         "(0,0,0)", "(0,0,0)",  "__shfl_up_sync with mask 0xffffffff waits for lane 20, which waits at __syncthreads at {there}"],
    ["exited_shuffle",       "exited_shuffle",          "(0,0,0)", "(32,0,0)", "__shfl_down_sync with mask 0xffffffff reads from lane 1, whose thread has ended: that is undefined, and what is written to byte 128 of $allocated"],
    ["missing_lane",         "missing_lane",            "(0,0,0)", "(32,0,0)", "reads from lane 16, which does not exist in a block of 48 threads: that is undefined"],
    ["undefined_sum",        "undefined_sum",           "(0,0,0)", "(0,0,0)",  "__shfl_down_sync with mask 0x0000000f reads from lane 16, which the mask does not name: that is undefined, and what all lanes of the mask have now is computed from it. Let every lane that is read make the call"],
    ["undefined_scan",       "undefined_scan",          "(0,0,0)", "(1,0,0)",  "__shfl_up_sync with mask 0xfffffffe reads from lane 0, which the mask does not name: that is undefined, and what is written to byte 4 of $allocated at {there} is computed from it"],
    ["undefined_index",      "undefined_index",         "(0,0,0)", "(4,0,0)",  ". Compare the index with the size, and see where the pointer comes from; at wrong.cu:" . line_of("THERE undefined_index") . " __shfl_sync with mask 0xfffffff0 reads from lane 0, which the mask does not name: that is undefined"],
    ["undefined_total",      "undefined_total",         "(0,0,0)", "(0,0,0)",  "reads from lane 31, whose thread has ended: that is undefined, and what is written to byte 0 of $allocated"],
    ["volatile_sum",         "volatile_sum",            "(0,0,0)", "(8,0,0)",  "race: writes byte 32 of $allocated, which thread (0,0,0) has read at {there}, and nothing orders the two. volatile does not keep the lanes of a warp in step: call __syncwarp()"],
    ["adds_plainly",         "adds_plainly",            "(0,0,0)", "(1,0,0)",  "race: reads byte 0 of $allocated, which thread (0,0,0) has written at $source:" . line_of("HERE adds_plainly") . ", and nothing orders the two. This line reads and writes: let atomicAdd"],
    ["overlapping",          "overlapping",             "(0,0,0)", "(32,0,0)", "race: writes both[32], which thread (0,0,0) has written at {there}, and nothing orders the two. Put __syncthreads() between them, or __syncwarp() within a warp; or, if these are two arrays cut from this memory, let one begin where the other ends"],
    ["last_block",           "last_block",              "(1,0,0)", "(0,0,0)",  "race: reads byte 0 of $allocated, which thread (0,0,0) of block (0,0,0) has written at {there}. Blocks run in any order, or at once. The atomic at $source:" . line_of("THERE last_counter") . " orders nothing by itself: call __threadfence() between writing the data and the atomic"],
    ["plain_unlock",         "plain_unlock",            "(0,0,0)", "(1,0,0)",  "race: writes byte 0 of $allocated, which thread (0,0,0) has written at {there}, and nothing orders the two. One of them is atomic or volatile: make the other so, too. A lock is given back by atomicExch"],
    ["rows_without_pitch",   "rows_without_pitch",      "(1,0,0)", "(0,0,0)",  "reads byte 120 of the 1024-byte allocation made at {there}, which nothing has written: it lies behind the 120 bytes of row 0. Rows of cudaMallocPitch lie `pitch' bytes apart, 512 here"],
    ["handover",             "handover",                "(1,0,0)", "(0,0,0)",  "race: reads byte 0 of $allocated, which thread (0,0,0) of block (0,0,0) has written at {there}. It has written the flag that is read at $source:" . line_of("THERE handover_flag") . " after that, but with no fence between the two"],
    ["not_in_mask",          "not_in_mask",             "(0,0,0)", "(16,0,0)", "mask 0x0000ffff by lane 16, which the mask does not name"],
    ["other_mask",           "other_mask",              "(0,0,0)", "(0,0,0)",  "mask 0x7fffffff waits for lane 1, which waits at __shfl_sync with mask 0xffffffff"],
    ["other_call",           "other_call",              "(0,0,0)", "(0,0,0)",  "__syncwarp with mask 0xffffffff waits for lane 1, which waits at __shfl_xor_sync with mask 0xffffffff at {there}"],
    ["bad_width",            "bad_width",               "(0,0,0)", "(0,0,0)",  "__shfl_up_sync with width 12"],
    ["deadlock",             "deadlock",                "(0,0,0)", "(0,0,0)",  "__syncwarp with mask 0x00000003 waits for lane 1"],
    ["read_past_end",        "read_past_end<28>",       "(0,0,0)", "(63,0,0)", "reads right past the end of $allocated"],
    ["write_past_end",       "write_past_end",          "(0,0,0)", "(50,0,0)", "writes right past the end of $allocated"],
    ["write_in_slack",       "write_in_slack",          "(0,0,0)", "(1,0,0)",  "writes right past the end of the 396-byte allocation made at {there}"],
    ["wide_past_end",        "wide_past_end",           "(0,0,0)", "(24,0,0)", "reads 16 bytes, up to 4 bytes past the end of the 396-byte allocation made at {there}"],
    ["memcpy_past_end",      "memcpy_past_end",         "(0,0,0)", "(0,0,0)",  "reads right past the end of $allocated"],
    ["write_before",         "write_before",            "(0,0,0)", "(0,0,0)",  "writes 8 bytes before the start of $allocated"],
    ["unwritten_shared",     "unwritten_shared",        "(0,0,0)", "(10,0,0)", "reads tile[3][10], which no thread of this block has written before. Let one write it, then call __syncthreads()"],
    ["unwritten_four",       "unwritten_four",          "(0,0,0)", "(12,0,0)", "reads tile4[12], which no thread of this block has written before"],
    ["unwritten_index",      "unwritten_index",         "(0,0,0)", "(0,0,0)",  "reads index, which no thread of this block has written before"],
    ["unwritten_extern",     "unwritten_extern",        "(0,0,0)", "(63,0,0)", "reads pairs[63].y, which no thread of this block has written before"],
    ["unwritten",            "unwritten",               "(0,0,0)", "(14,0,0)", "reads byte 200 of the 400-byte allocation made at {there}, which nothing has written"],
    ["copies_unwritten",     "copies_unwritten",        "(0,0,0)", "(12,0,0)", "reads byte 200 of $allocated, which nothing has written"],
    ["host_memory",          "host_memory",             "(0,0,0)", "(0,0,0)",  "which is memory of the host (a local variable). Allocate memory with cudaMalloc, copy with cudaMemcpy, and give the kernel that pointer"],
    ["foreign_local",        "foreign_local",           "(0,0,0)", "(0,0,0)",  "which is a local variable of another thread"],
    ["foreign_shared",       "foreign_shared",          "(1,0,0)", "(0,0,0)",  "reads tile[0], which was another block's", 1],
    ["misaligned_four",      "misaligned_four",         "(0,0,0)", "(0,0,0)",  "reads 16 bytes at byte 8 of $allocated, an address that is misaligned for its type. Align float4 to 16 bytes"],
    ["misaligned2",          "misaligned2",             "(0,0,0)", "(0,0,0)",  "reads 8 bytes at byte 4 of $allocated, an address that is misaligned for its type"],
    ["use_after_free",       "use_after_free",          "(0,0,0)", "(0,0,0)",  "byte 0 of $allocated, which was freed"],
    ["null_pointer",         "null_pointer",            "(0,0,0)", "(0,0,0)",  "through a null pointer"],
    ["misaligned",           "misaligned",              "(0,0,0)", "(0,0,0)",  "writes 16 bytes at byte 4 of $allocated, an address that is misaligned for its type"],
    ["tile_row_past_end",    "tile_row_past_end",       "(0,0,0)", "(56,0,0)", "uses tile[threadIdx.x % 4][16], past the end (the last is tile[threadIdx.x % 4][15])"],
    ["local_past_end",       "local_past_end",          "(0,0,0)", "(0,0,0)",  "reads four[i], past the end of a variable of the thread OR uses four[4], past the end (the last is four[3]) OR reads 'float' past the end of a variable of the thread"],
    ["local_pointer_past_end", "local_pointer_past_end", "(0,0,0)", "(0,0,0)", "writes 'float' past the end of a variable of the thread"],
    ["shared_past_end",      "shared_past_end",         "(0,0,0)", "(62,0,0)", "writes tile[64], past the end (the last is tile[63], declared at {there})"],
    ["dynamic_in_slack",     "dynamic_in_slack",        "(0,0,0)", "(62,0,0)", "writes tile[63], past the end (the last is tile[62], declared at {there})"],
    ["copy_past_end",        "copy_past_end",           "(0,0,0)", "(25,0,0)", "__pipeline_memcpy_async reads right past the end of $allocated"],
    ["barrier_on_device",    "barrier_on_device",       "(0,0,0)", "(0,0,0)",  "mbarrier_init accesses byte 0 of $allocated. Give it a barrier in shared memory"],
    ["barrier_past_end",     "barrier_past_end",        "(0,0,0)", "(0,0,0)",  "mbarrier_wait accesses barrier[2], past the end (the last is barrier[1], declared at {there})"],
    ["barrier_misaligned",   "barrier_misaligned",      "(0,0,0)", "(0,0,0)",  "mbarrier_init of a barrier at an address that is not aligned to 8"],
    ["barrier_fresh",        "barrier_fresh",           "(0,0,0)", "(0,0,0)",  "mbarrier_wait with a barrier that is not initialised"],
    ["barrier_overwritten",  "barrier_overwritten",     "(0,0,0)", "(0,0,0)",  "mbarrier_expect with a barrier that something else was written to"],
    ["no_arrivals",          "no_arrivals",             "(0,0,0)", "(0,0,0)",  "mbarrier_init with 0 arrivals"],
    ["init_twice",           "init_twice",              "(0,0,0)", "(0,0,0)",  "a barrier that was initialised at {there} and has 1 copies pending"],
    ["init_by_all",          "init_by_all",             "(0,0,0)", "(1,0,0)",  "a barrier that was initialised at $source:" . line_of("HERE init_by_all") . " and has 0 copies pending"],
    ["init_not_shown",       "init_not_shown",          "(0,0,0)", "(0,0,0)",  "the barrier initialised at {there}, which the TMA does not see yet"],
    ["many_arrivals",        "many_arrivals",           "(0,0,0)", "(63,0,0)", "the 63 arrivals that mbarrier_init at $barrier allows in a phase have come"],
    ["many_bytes",           "many_bytes",              "(0,0,0)", "(1,0,0)",  "mbarrier_expect of 524288 bytes, which makes more than 1048575 in one phase"],
    ["few_arrivals",         "few_arrivals",            "(0,0,0)", "(0,0,0)",  "for parity 0 never ends: phase 0 of the barrier initialised at $barrier lacks 2 of 64 arrivals and 992 of 992 announced bytes."],
    ["large_byte_count",     "large_byte_count",        "(0,0,0)", "(0,0,0)",  "for parity 0 never ends: phase 0 of the barrier initialised at $barrier lacks 16 of 272 announced bytes."],
    ["small_byte_count",     "small_byte_count",        "(0,0,0)", "(0,0,0)",  "has 16 bytes more than the 240 announced, the last by tma_load at {there}"],
    ["late_excess",          "late_excess",             "(0,0,0)", "(0,0,0)",  "ended before anybody waited for phase 1 of the barrier, which lacks 1 of 1 arrivals"],
    ["producer_elsewhere",   "producer_elsewhere",      "(0,0,0)", "(0,0,0)",  "lacks 1 of 1 arrivals, while thread (40,0,0) waits at __syncthreads at {there}"],
    ["half_warp_waits",      "half_warp_waits",         "(0,0,0)", "(1,0,0)",  "lacks 1 of 1 arrivals, while thread (0,0,0) waits at __syncwarp at {there}"],
    ["phase_too_late",       "phase_too_late",          "(0,0,0)", "(0,0,0)",  "for parity 0 never ends: phase 2 of the barrier initialised at $barrier lacks 1 of 1 arrivals."],
    ["no_parity",            "no_parity",               "(0,0,0)", "(0,0,0)",  "mbarrier_wait for parity 2"],
    ["wrong_parity",         "wrong_parity",            "(0,0,0)", "(0,0,0)",  "tma_load of 256 bytes, and the block ended before anybody waited for phase 0 of the barrier, which is complete"],
    ["reads_too_soon",       "reads_too_soon",          "(0,0,0)", "(0,0,0)",  "to which the copy of {there} is on its way"],
    ["waits_for_another",    "waits_for_another",       "(0,0,0)", "(32,0,0)", "race: reads tile[32], which the bulk copy of {there} has written"],
    ["barrier_not_published", "barrier_not_published",  "(0,0,0)", "(1,0,0)",  "race: reads barrier, which thread (0,0,0) has written at {there}"],
    ["other_barrier",        "other_barrier",           "(0,0,0)", "(0,0,0)",  "tma_load of 128 bytes, and the block ended before anybody waited for phase 0 of the barrier, which is complete"],
    ["unwaited_copy",        "unwaited_copy",           "(0,0,0)", "(33,0,0)", "tma_load of 128 bytes, and the block ended before anybody waited for phase 0 of the barrier, which lacks 64 of 192 announced bytes"],
    ["half_before_barrier",  "half_before_barrier",     "(0,0,0)", "(32,0,0)", "race: writes tile[32], which thread (31,0,0) has read at {there}"],
    ["half_before_wait",     "half_before_wait",        "(0,0,0)", "(0,0,0)",  "reads tile[0].y, to which the copy of {there} is on its way"],
    ["named_alone",          "named_alone",             "(0,0,0)", "(0,0,0)",  "named_barrier_sync of barrier 1 never ends: 32 of 64 threads have come, and thread (32,0,0) has ended"],
    ["named_elsewhere",      "named_elsewhere",         "(0,0,0)", "(0,0,0)",  "never ends: 32 of 64 threads have come, while thread (32,0,0) waits at __syncthreads at {there}"],
    ["named_other_count",    "named_other_count",       "(0,0,0)", "(32,0,0)", "named_barrier_sync of barrier 1 for 32 threads, which was called for 64 at {there}"],
    ["named_zero",           "named_zero",              "(0,0,0)", "(0,0,0)",  "named_barrier_sync of barrier 0. Take 1 to 15"],
    ["named_sixteen",        "named_sixteen",           "(0,0,0)", "(0,0,0)",  "named_barrier_arrive of barrier 16. Take 1 to 15"],
    ["named_odd_count",      "named_odd_count",         "(0,0,0)", "(0,0,0)",  "named_barrier_sync of barrier 1 for 48 threads. Name a multiple of 32"],
    ["named_many",           "named_many",              "(0,0,0)", "(0,0,0)",  "named_barrier_sync of barrier 1 for 96 threads. Name a multiple of 32, as many as come to it, at most the 64"],
    ["named_in_part",        "named_in_part",           "(0,0,0)", "(0,0,0)",  "named_barrier_sync in a block of 48 threads. Launch a multiple of 32"],
    ["named_twice",          "named_twice",             "(0,0,0)", "(0,0,0)",  "named_barrier_arrive of barrier 1 by a thread that has come to it before, while 63 of its 64 threads are still expected"],
    ["named_half_warps",     "named_half_warps",        "(0,0,0)", "(47,0,0)", "named_barrier_sync of barrier 1, to which only some lanes of warp 0 have come"],
    ["named_arrive_waits_not", "named_arrive_waits_not", "(0,0,0)", "(32,0,0)", "race: reads tile[0], which thread (0,0,0) has written at {there}"],
    ["named_no_way_back",    "named_no_way_back",       "(0,0,0)", "(32,0,0)", "race: reads tile[0], which thread (0,0,0) has written at {there}"],
    ["named_and_shuffle",    "named_and_shuffle",       "(0,0,0)", "(1,0,0)",  "__shfl_sync with mask 0xffffffff waits for lane 0, which waits at named_barrier_sync at {there}"],
    ["bulk_of_8",            "bulk_of_8",               "(0,0,0)", "(63,0,0)", "tma_load of 8 bytes. Copy a multiple of 16"],
    ["bulk_of_0",            "bulk_of_0",               "(0,0,0)", "(63,0,0)", "tma_load of 0 bytes. Copy a multiple of 16"],
    ["bulk_from_unaligned",  "bulk_from_unaligned",     "(0,0,0)", "(63,0,0)", "tma_load from an address that is not aligned to 16"],
    ["bulk_to_unaligned",    "bulk_to_unaligned",       "(0,0,0)", "(63,0,0)", "tma_load to an address that is not aligned to 16"],
    ["bulk_reads_past_end",  "bulk_reads_past_end",     "(0,0,0)", "(63,0,0)", "tma_load reads 64 bytes, up to 32 bytes past the end of $allocated"],
    ["bulk_reads_outside",   "bulk_reads_outside",      "(0,0,0)", "(63,0,0)", "tma_load reads 16 bytes past the end of $allocated"],
    ["bulk_reads_shared",    "bulk_reads_shared",       "(0,0,0)", "(63,0,0)", "tma_load reads tile[32]"],
    ["bulk_writes_past_end", "bulk_writes_past_end",    "(0,0,0)", "(63,0,0)", "tma_load writes tile[60] to tile[67], past the end (the last is tile[63], declared at FILE)"],
    ["bulk_writes_device",   "bulk_writes_device",      "(0,0,0)", "(0,0,0)",  "tma_load writes byte 0 of $allocated"],
    ["stack_overflow",       "stack_overflow",          "(0,0,0)", "(0,0,0)",  "stack overflow, more than 256 KiB"],
    ["too_many_threads",     "plain",                   "",        "",         "too many threads, block (1025,1,1)"],
    ["no_threads",           "plain",                   "",        "",         "grid (1,1,1) and block (0,1,1)"],
    ["no_blocks",            "plain",                   "",        "",         "grid (0,1,1) and block (64,1,1)"],
    ["large_grid",           "plain",                   "",        "",         "too large a grid, (1,65536,1)"],
    ["much_dynamic",         "plain",                   "",        "",         "49153 bytes of dynamic shared memory, more than 49152"],
    ["much_static",          "much_static",             "(0,0,0)", "(0,0,0)",  "49156 bytes of static shared memory, more than 49152"],
    ["much_together",        "much_together",           "(0,0,0)", "(0,0,0)",  "40000 bytes of static and 10000 of dynamic shared memory"],
    ["endless",              "endless",                 "(0,0,0)", undef,      "loops for 1 s without an end"],
    ["endless_register",     "endless_register",        "(0,0,0)", "(0,0,0)",  "loops for 1 s without an end"],
    ["endless_barrier",      "endless_barrier",         "(0,0,0)", undef,      "loops for 1 s: its threads still meet, but none ends"],
    ["endless_poll",         "endless_poll",            "(0,0,0)", "(0,0,0)",  "polls byte 0 of $allocated, which never changes: no thread that runs will change it"],
    ["zero_divisor",         "zero_divisor",            "(0,0,0)", "(0,0,0)",  "divides an integer by zero", $x86],
    ["local_by_pointer",     "local_by_pointer",        "(0,0,0)", "(0,0,0)",  "x[i], past the end of a variable of the thread OR 'float' past the end of a variable of the thread"],
    ["local_loop",           "local_loop",              "(0,0,0)", "(0,0,0)",  "uses four[4], past the end (the last is four[3])"],
    ["race_in_struct",       "race_in_struct",          "(0,0,0)", "(32,0,0)", "race: writes totals[1].counts[0], which thread (0,0,0) has written"],
    ["trap",                 "trap",                    "(0,0,0)", "(5,0,0)",  "__trap() was reached"],
    ["failed_assert",        "failed_assert",           "(0,0,0)", "(7,0,0)",  "assertion `threadIdx.x < 7 + (unsigned)n' failed"],
);
my $gcc_12 = `\${CXX:-g++} -dumpversion` =~ /^12\b/;
my @orders = qw(warp reverse random:1 random:2 random:3);

is(build_programs(), 1, "programs build without a warning") or BAIL_OUT("no programs");

# ---- right kernels ----

my $first;
for my $order (@orders) {
    my ($status, $out, $err) = run($order, "right");
    is("$status$err", "0", "right: results, order $order");
    $first //= $out;
    ok($out ne "" && $out eq $first, "right: the same bits, order $order");
}
is((run("warp", "count"))[1],
    "launches 1 blocks 3 threads 192 barriers 9 warp_barriers 12 shuffles 6 votes 6 atomics 12 orders 24 strong_orders 15 async_copies 384 bulk_copies 6 idle_waits 192\n"
    . "events first\ncudaEventRecord first event\ncudaStreamWaitEvent second event\ncudaMemcpyAsync second\ncudaMemsetAsync second\ncudaMemset default\n"
    . "events default\ncudaStreamWaitEvent first event\n",
    "counts, and calls with their streams and events");

# ---- whose words a kernel prints; a NaN has no sign there ----

my @words = ("3 and 0.5\n", "plain text\n", "+", "\n", "nan|     nan|minus one\n");
is((run("warp", "print"))[1],
    join("", @words, "to the function\n", map({ my $block = $_; map { "$block/3: $_" } @words } 0, 1), "of the host -1.000000\n", @words),
    "printf: to standard output, and to a function that is told block and thread");

# ---- what memory is asked for: counted by hand, see traffic.cu ----

my $traffic = <<'END';
coalesced: load 4 requests 512 bytes 16 sectors 16 least 4 lines 16 once, store 4 requests 512 bytes 16 sectors 16 least 4 lines 16 once, chain 1
shifted: load 4 requests 512 bytes 20 sectors 16 least 8 lines 17 once, store 4 requests 512 bytes 16 sectors 16 least 4 lines 16 once, chain 1
strided: load 2 requests 256 bytes 64 sectors 8 least 16 lines 64 once, store 2 requests 256 bytes 8 sectors 8 least 2 lines 8 once, chain 1
wide: load 2 requests 1024 bytes 32 sectors 32 least 8 lines 32 once, store 2 requests 1024 bytes 32 sectors 32 least 8 lines 32 once, chain 4
broadcast: load 2 requests 256 bytes 2 sectors 2 least 2 lines 1 once, store 2 requests 256 bytes 8 sectors 8 least 2 lines 8 once, chain 1
halves: load 2 requests 128 bytes 4 sectors 4 least 2 lines 4 once, store 1 requests 128 bytes 4 sectors 4 least 1 lines 4 once, chain 1
guarded: load 4 requests 468 bytes 15 sectors 15 least 4 lines 15 once, store 4 requests 468 bytes 15 sectors 15 least 4 lines 15 once, chain 4
again: load 3 requests 384 bytes 12 sectors 12 least 3 lines 4 once, store 1 requests 128 bytes 4 sectors 4 least 1 lines 4 once, chain 1
rows: load 2000 requests 256000 bytes 64000 sectors 8000 least 64000 lines 8000 once, store 2000 requests 256000 bytes 64000 sectors 8000 least 64000 lines 8000 once, chain 2000
added: store 1 requests 128 bytes 1 sectors 1 least 1 lines 1 once, contention 31, chain 0
groups: store 1 requests 128 bytes 1 sectors 1 least 1 lines 1 once, shared 2 requests 144 bytes 36 lanes 0 conflicts, contention 14, chain 1
bulk: load 2 requests 2048 bytes 64 sectors 64 least 16 lines 64 once, store 1 requests 128 bytes 4 sectors 4 least 1 lines 4 once, shared 1 requests 128 bytes 32 lanes 0 conflicts, chain 3
async: load 1 requests 512 bytes 16 sectors 16 least 4 lines 16 once, store 1 requests 128 bytes 4 sectors 4 least 1 lines 4 once, shared 2 requests 640 bytes 64 lanes 3 conflicts, chain 2
float, 1 apart: store 1 requests 128 bytes 4 sectors 4 least 1 lines 4 once, shared 2 requests 256 bytes 64 lanes 0 conflicts, chain 1
float, 2 apart: store 1 requests 128 bytes 4 sectors 4 least 1 lines 4 once, shared 2 requests 256 bytes 64 lanes 2 conflicts, chain 1
float, 8 apart: store 1 requests 128 bytes 4 sectors 4 least 1 lines 4 once, shared 2 requests 256 bytes 64 lanes 14 conflicts, chain 1
float, 32 apart: store 1 requests 128 bytes 4 sectors 4 least 1 lines 4 once, shared 2 requests 256 bytes 64 lanes 62 conflicts, chain 1
float, 33 apart: store 1 requests 128 bytes 4 sectors 4 least 1 lines 4 once, shared 2 requests 256 bytes 64 lanes 0 conflicts, chain 1
quarters: load 1 requests 512 bytes 16 sectors 16 least 4 lines 16 once, store 1 requests 512 bytes 16 sectors 16 least 4 lines 16 once, shared 2 requests 1024 bytes 64 lanes 8 conflicts, chain 5
chain: store 5 requests 268 bytes 35 sectors 11 least 11 lines 32 once, chain 12
END
for my $order (@orders) {
    is((run($order, "traffic"))[1], $traffic, "requests, sectors, lines and conflicts, order $order");
}
note("nanoseconds an access costs:\n", (run("warp", "cost"))[1]);

like((run("warp", "wrong", "flag_without_first_fence"))[2], qr/flag_without_fence<0, 1>, .*: race: reads byte 0/, "a flag without a fence before it");
is((run("warp", "wrong", "flag_with_fences"))[0], 0, "a flag between two fences");

# ---- orders ----

my @tickets = map { (run($_, "wrong", "tickets"))[1] } @orders;
is($tickets[0], join("", map { "$_ " } 0 .. 95), "order warp: one after the other");
is($tickets[1], join("", map { "$_ " } reverse 0 .. 95), "order reverse: the last one first");
is(scalar(keys %{{map { $_ => 1 } @tickets}}), @orders, "order random: another one for each seed");
is((run("random:2", "wrong", "tickets"))[1], $tickets[3], "order random: the same one for the same seed");
is((run("random", "wrong", "tickets"))[1], $tickets[2], "order random is random:1");

# ---- faults ----

for (@faults) {
    my ($name, $kernel, $block, $thread, $words, $here) = @$_;
    next if @$_ > 5 && !$here;    # what only an x86 CPU tells
    my $there = $words =~ /\{there\}/ ? "$source:" . line_of("THERE $name") : "";
    my $place = "kernel $kernel" . ($block && ", block $block");
    my $at    = "$source:" . line_of("HERE $name") . ": error: kernel $kernel";
    $place .= ", thread $thread" if $thread;
    $words =~ s/\{there\}/$there/;
    my @said = split / OR /, $words; # by Debian 12's compiler the first; others keep more or less of what a variable is called
    my $like = join '|', map { join '[^ ]+:\d+', map { quotemeta } split /FILE/ } $gcc_12 ? $said[0] : @said;

    my ($status, $out, $err) = run("warp", "wrong", $name);
    my $all = $status eq 1 && $err =~ /\A[^\n]*\.\n\z/ && index($err, $at) == 0 && $err =~ /$like/;
    $all &&= defined $thread ? index($err, "$place: ") > 0 : index($err, $place) > 0;
    $all &&= $err !~ /__sync/ if $err =~ /: race: [^,]* allocation / && $err !~ /volatile/; # a barrier is no help for a wrong index
    ok($all, "$name: says what and where") or diag("expected $at / $place / $words\ngot $status: $err");
    next if $name =~ /endless/;
    for my $order ("reverse", "random:1") {
        ($status, $out, $err) = run($order, "wrong", $name);
        ok($status eq 1 && $err =~ /\A\Q$source\E:\d+: error: kernel \Q$kernel\E[^\n]*\.\n\z/, "$name: order $order")
            or diag("got $status: $err");
    }
}

# ---- remarks: told at the end, and errors with CUSIM_CHECKS=strict; what only strict tells ----

for (["barrier_after_return", "barrier_after_return<4>", "__syncthreads waits for thread (60,0,0), which has ended without coming to it. Since Volta", "__syncthreads waits for thread (60,0,0)"],
    ["same_value",  "same_value", "race: writes byte 0 of $allocated, which another thread has written at $source:" . line_of("HERE same_value") . ", and nothing orders the two. All write the same value", "race: writes byte 0"],
    ["asks_first",  "asks_first", "race: reads byte 0 of $allocated plainly, which other threads change at the same time by the atomic at $source:" . line_of("THERE asks_first"), "race: "],
    ["takes_count", "takes_count", "race: reads byte 0 of $allocated plainly, which other threads change at the same time by the atomic at $source:" . line_of("THERE takes_count") . ". The atomic that comes next only adds", "race: "],
    ["exited_vote", "exited_vote", undef, "__ballot_sync with mask 0xffffffff waits for lane 0, whose thread has ended"]) {
    my ($name, $kernel, $remark, $error) = @$_;
    my $here = "$source:" . line_of("HERE $name");
    for my $order ("warp", "reverse", "random:1") {
        my ($status, $out, $err) = run($order, "wrong", $name);
        ok($status =~ /\A\d+\z/ && $status != 1 && (defined $remark ? $err =~ /\A\Q$here: remark: kernel $kernel\E, [^\n]*: \Q$remark\E[^\n]*\.\n\z/ : $err eq ""), "$name: a remark, order $order")
            or diag("got $status: $err");
    }
    my ($status, $out, $err) = run_program({ CUSIM_CHECKS => "strict" }, "build/tests/wrong", $name);
    ok($status eq 1 && $err =~ /\A\Q$source\E:\d+: error: kernel \Q$kernel\E, [^\n]*: \Q$error\E/, "$name: an error in strict") or diag("got $status: $err");
}

like((run("warp", "wrong", "lacks_block"))[2], qr/^\Q$source\E:@{[line_of("HERE lacks_block")]}: error: .*thread \(1,0,0\): race: writes byte 4 of /m,
    "lacks_block: each block writes the others' values, which is no flag");

my ($status, $out, $err) = run("warp", "wrong", "barrier_elsewhere");
my $header = "tests/elsewhere.cuh";
ok($err =~ /\A\Q$header\E:\d+: error: kernel barrier_elsewhere, .* waits at __syncthreads at \Q$header\E:\d+\./,
    "a header that is included by ../: named as seen from here") or diag($err);

# where a function of a header is the kernel's, the line that calls it is named, and the header's behind it
my $set = "$header:" . marked_line($header, "SET");
($status, $out, $err) = run("warp", "wrong", "past_elsewhere");
ok($err =~ /\A\Q$source\E:@{[line_of("HERE past_elsewhere")]}: error: kernel past_elsewhere, block \(1,0,0\), thread \(36,0,0\), in \Q$set\E: writes right past the end/,
    "past_elsewhere: the line of the kernel, and that of the header") or diag($err);
($status, $out, $err) = run("warp", "wrong", "race_elsewhere");
ok($err =~ /\A\Q$source\E:@{[line_of("HERE race_elsewhere")]}: error: .*, in \Q$set\E: race: writes .* has written at \Q$source\E:@{[line_of("THERE race_elsewhere")]} \(in \Q$set\E\), and/,
    "race_elsewhere: both lines of the kernel, and those of the header") or diag($err);

# ---- not in a kernel, and settings ----

($status, $out, $err) = run("warp", "wrong", "host_crash");
ok($status =~ /^signal/ && $err !~ /kernel/, "host_crash: blames no kernel") or diag("got $status: $err");
($status, $out, $err) = run("warp", "wrong", "host_touch");
ok($status eq 1 && $err =~ /^\Q$source\E:@{[line_of("HERE host_touch")]}: error: host code: writes 16 bytes past .* Use cudaMemcpy\.$/,
    "host_touch: says so") or diag("got $status: $err");
($status, $out, $err) = run("warp", "wrong", "endless_host");
ok($status eq 1 && $err =~ /^\Q$source\E:@{[line_of("HERE endless_host")]}: error: host code: loops for 1 s without an end\./, "endless_host: says so")
    or diag("got $status: $err");
for my $order ("", "forward", "random:", "random:x", "random:-1", "random1", "random:99999999999999999999") {
    ($status, $out, $err) = run($order, "right");
    ok($status eq 2 && $out eq "" && $err =~ /\Asimulator: CUSIM_SCHEDULE=\Q$order\E [^\n]*random:SEED\.\n\z/,
        "CUSIM_SCHEDULE=$order is refused") or diag("got $status: $err");
}
# what ran before main, a library's constructor for example, may have left an error number
my $library = scratch("left.so");
write_file(scratch("left.c"), "#include <errno.h>\n__attribute__((constructor)) static void begin(void) { errno = EIO; }\n");
SKIP: {
    skip "no shared library can be built here", 1 if (run_program("gcc", "-shared", "-fPIC", "-o", $library, scratch("left.c")))[0] ne "0";
    ($status, $out, $err) = run_program({ CUSIM_SCHEDULE => "random:1", LD_PRELOAD => $library }, "build/tests/right");
    is("$status$err", "0", "an error number from before does not make a right seed a wrong one");
}

done_testing();

# Runs a program in an order; returns its status, standard output and standard error.
sub run {
    my ($order, $program, @arguments) = @_;
    return run_program({ CUSIM_SCHEDULE => $order }, "build/tests/$program", @arguments);
}

sub line_of { return marked_line($source, $_[0]) }
