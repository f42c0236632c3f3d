#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# blocks.t - the simulator: blocks that wait for each other. Right ones are right in every order, with few and with many
# blocks at once; what is wrong with the others is told: a missing fence by its name, a deadlock as one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CUSIM_SCHEDULE CUSIM_RESIDENT CUSIM_BUSY CUSIM_WATCHDOG CUSIM_CHIP)};

my $source    = "tests/blocks.cu";
my $allocated = qr/the \d+-byte allocation made at \Q$source\E:\d+/;
my @orders    = qw(warp reverse random:1 random:2 random:3);

is(build_programs(), 1, "programs build without a warning") or BAIL_OUT("no programs");

# ---- right ones ----

for my $name (qw(chained all_data lookback release_acquire descriptors lock grid_barrier guide)) {
    for my $order (@orders) {
        is_deeply([run($name, CUSIM_SCHEDULE => $order)], [0, "right\n", ""], "$name, order $order");
    }
}
for my $name (qw(chained lookback descriptors lock)) {
    for my $resident (1, 2, 7) {
        for my $order (qw(warp reverse random:4)) {
            is_deeply([run($name, CUSIM_SCHEDULE => $order, CUSIM_RESIDENT => $resident)], [0, "right\n", ""],
                "$name, order $order, $resident at once");
        }
    }
}

# A look-back that leaves out every other tile is right as long as each tile finds the one before complete.
is((run("skips", CUSIM_SCHEDULE => "warp"))[1], "right\n", "skips: not found where blocks run one after the other");
is((run("skips", CUSIM_SCHEDULE => $_))[1], "wrong\n", "skips: a wrong result, order $_") for qw(reverse random:1 random:2);
is((run("skips", CUSIM_SCHEDULE => "reverse", CUSIM_RESIDENT => 1))[1], "right\n", "skips: nor with one block at once");

# ---- races: what the flag lacks ----

my %lacks = (
    no_release        => "The flag written at {there} has no release: write the data first, then call __threadfence(), then write the flag.",
    flag_first        => "The flag written at {there} was released before: write the data first, then call __threadfence(), then write the flag.",
    no_acquire        => "The flag read at {there} has no acquire: call __threadfence() between reading the flag and what it tells of.",
    relaxed_store     => "The flag written at {there} has no release: ",
    relaxed_load      => "The flag read at {there} has no acquire: ",
    block_release     => "The release of the flag written at {there} is for its own block only: take thread_scope_device, or call __threadfence().",
    block_acquire     => "The acquire of the flag read at {there} is for its own block only: take thread_scope_device, or call __threadfence().",
    no_first_barrier  => "The flag written at {there} is another thread's: call __syncthreads() after the data are written, then __threadfence()",
    no_second_barrier => "Another thread has read the flag, at {there}: call __syncthreads() between that and this",
    plain_flag        => "One of them is atomic or volatile: make the other so, too.",
);
my %marks = (block_release => "no_release", block_acquire => "no_acquire");    # the same lines
for my $name (sort keys %lacks) {
    my $mark = $marks{$name} || $name;
    my $there = "$source:" . line_of("THERE $mark");
    my $words = $lacks{$name} =~ s/\{there\}/$there/r;
    my ($status, $out, $err) = run($name);
    like($err, qr/\A\Q$source\E:@{[line_of("HERE " . ($mark eq "block_release" ? "no_release" : $mark))]}: error: kernel [^,]+(?:<.*>)?, block \(1,0,0\), thread \(\d+,0,0\): race: reads byte \d+ of $allocated, which thread \(\d+,0,0\) of block \(0,0,0\) has written at \Q$source\E:\d+\. Blocks run in any order, or at once\. \Q$words\E/,
        "$name: says what the flag lacks");
    is("$status$out", "1", "$name: ends with status 1");
    for my $order (qw(reverse random:1 random:2)) {
        ($status, $out, $err) = run($name, CUSIM_SCHEDULE => $order);
        ok($status eq 1 && $err =~ /\A\Q$source\E:\d+: error: kernel [^\n]*: race: [^\n]*\.\n\z/, "$name: order $order")
            or diag("got $status: $err");
    }
}
like((run("no_barrier"))[2], qr/race: reads before, which .* Put __syncthreads\(\) between them/, "no_barrier: shared memory wants a barrier");
like((run("late_compare_and_swap"))[2],
    qr/^\Q$source\E:@{[line_of("HERE late_compare_and_swap")]}: error: kernel guide<1>, block \(0,0,0\), thread \(1,0,0\): race: reads .* has written at \Q$source\E:@{[line_of("THERE late_compare_and_swap")]}, and nothing orders the two\. One of them is atomic or volatile: make the other so, too\.$/,
    "a value that was read plainly long before: not the Programming Guide's loop");

# ---- deadlocks ----

my $ticket = "Let each block take its number from an atomicAdd when it begins";
for (["no_ticket", "reverse", "(99,0,0)", 64], ["backwards", "warp", "(0,0,0)", 64], ["grid_too_large", "warp", "(0,0,0)", 64],
    ["no_ticket", "reverse", "(99,0,0)", 3], ["backwards", "random:1", undef, 5]) {
    my ($name, $order, $block, $resident) = @$_;
    my ($status, $out, $err) = run($name, CUSIM_SCHEDULE => $order, $resident == 64 ? () : (CUSIM_RESIDENT => $resident));
    my $waiting = 100 - $resident;
    $block = defined $block ? quotemeta $block : qr/\(\d+,0,0\)/;
    ok($status eq 1 && $err =~ /\A\Q$source\E:@{[line_of("HERE $name")]}: error: kernel .*, block $block, thread \(0,0,0\): polls byte \d+ of $allocated, which never changes: all $resident blocks that run wait like this, and the other $waiting begin only when one of them ends\. \Q$ticket\E[^\n]*, or launch no more blocks than fit\.\n\z/,
        "$name: told as a deadlock, order $order, $resident at once") or diag("got $status: $err");
}
is((run("no_ticket"))[1], "right\n", "no_ticket: right where the blocks come in order");

# ---- a cooperative launch: all blocks are resident at the same time, or none runs ----

my $refused = "cudaErrorCooperativeLaunchTooLarge, 0 ran, right\n";
for my $order (@orders) {
    is_deeply([run("cooperative", CUSIM_SCHEDULE => $order)], [0, "1, 32 for each, cudaSuccess, 16 ran, right\n", ""], "cooperative, order $order");
    is_deeply([run("cooperative", CUSIM_SCHEDULE => $order, CUSIM_RESIDENT => 16)], [0, "1, 8 for each, cudaSuccess, 16 ran, right\n", ""],
        "cooperative, order $order, all at once");
}
is_deeply([run("cooperative", CUSIM_RESIDENT => $$_[0])], [0, "1, $$_[1] for each, $refused", ""], "cooperative: refused where $$_[0] fit")
    for [15, 7], [1, 0];
is_deeply([run("cooperative_too_large")], [0, "1, 32 for each, $refused", ""], "cooperative: refused where the device is too small");
like((run("grid_barrier", CUSIM_SCHEDULE => "reverse", CUSIM_BUSY => 1))[2], qr/which never changes: all 1 blocks that run wait like this, and the other 15 begin only/,
    "a plain launch beside a kernel that fills the device: a deadlock");
is_deeply([run("cooperative", CUSIM_SCHEDULE => "reverse", CUSIM_BUSY => 1)], [0, "1, 32 for each, cudaSuccess, 16 ran, right\n", ""],
    "a cooperative launch beside it waits");
is_deeply([run("chained", CUSIM_SCHEDULE => $_, CUSIM_BUSY => 1)], [0, "right\n", ""], "and one that needs no room for all ends: order $_") for qw(warp reverse);

# ---- settings ----

for my $number ("", "2", "x") {
    is_deeply([run("chained", CUSIM_BUSY => $number)], [2, "", "simulator: CUSIM_BUSY=$number is not understood. Set it to 0 or 1.\n"], "CUSIM_BUSY=$number is refused");
}

for my $number ("", "0", "65", "x", "2x", "-1") {
    my ($status, $out, $err) = run("chained", CUSIM_RESIDENT => $number);
    ok($status eq 2 && $out eq "" && $err eq "simulator: CUSIM_RESIDENT=$number is not understood. Set it to a number of blocks from 1 to 64.\n",
        "CUSIM_RESIDENT=$number is refused") or diag("got $status: $err");
}
for my $chip ("", "sm_90", "h201", "/nowhere/x.chip") {
    my ($status, $out, $err) = run("chained", CUSIM_CHIP => $chip);
    ok($status eq 2 && $out eq "" && $err eq "simulator: CUSIM_CHIP=$chip is not understood. Set it to h200, h100, l4, a100 or t4, or to a file like estimate/chips/h200.chip.\n",
        "CUSIM_CHIP=$chip is refused") or diag("got $status: $err");
}

done_testing();

# Runs a kernel with settings of the environment; returns its status, standard output and standard error.
sub run {
    my ($name, %settings) = @_;
    return run_program(\%settings, "build/tests/blocks", $name);
}

sub line_of { return marked_line($source, $_[0]) }
