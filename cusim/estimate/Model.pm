# SPDX-License-Identifier: MIT
# Model.pm - the time that a launch would take on a chip, from what the simulator has counted of it. README.md beside this file has the same
# formulas with their reasons and sources; the names are the same there. Times are in microseconds, counts are columns of the trace.
package Model;
use strict;
use warnings;
use Exporter 'import';
use File::Basename 'dirname';
use List::Util qw(min max sum0);
our @EXPORT_OK = qw(chip chips resident launch_time launches_time elementwise %meaning);

my $chips = dirname(__FILE__) . '/chips';

# The chips that are described.
sub chips { return sort map { m{([^/]+)\.chip$} } glob "$chips/*.chip" }

# A chip's description: { parameter => value }, from a file of "parameter = value   # where it comes from". Dies with one sentence.
sub chip {
    my ($name) = @_;
    my $path = $name =~ m{/} ? $name : "$chips/$name.chip";
    open my $file, '<', $path or die "no chip \"$name\" is described; there are ", join(', ', chips()), ", or name a file like $chips/h200.chip\n";
    my %chip;
    local $_; # of whoever asks
    while (<$file>) {
        s/\s*#.*//;
        next if !/\S/;
        /^\s*(\w+)\s*=\s*(.*\S)/ or die "$path, line $.: write \"parameter = value\"\n";
        $chip{$1} = $2;
    }
    return \%chip;
}

sub ceil { my ($x) = @_; return int $x < $x - 1e-9 ? int($x) + 1 : max(1, int($x + 1e-9)) }

# Times of which the larger wins (p = 4, say), or of which none hides the other (p = 1).
sub together { my ($p, @t) = @_; return sum0(map { max(0, $_) ** $p } @t) ** (1 / $p) }

# Occupancy: how many blocks of a launch an SM holds at once, with so many registers a thread.
sub resident {
    my ($chip, $c, $registers) = @_;
    my $warps = ceil($c->{threads} / $c->{blocks} / 32);
    my $warps_by_registers = 4 * int($chip->{registers_per_sm} / (4 * 32 * 8 * ceil($registers / 8)));
    return max(1, min($chip->{blocks_per_sm}, int($chip->{threads_per_sm} / 32 / $warps), int($warps_by_registers / $warps),
        int($chip->{shared_per_sm} / (1024 + $c->{shared_memory} / $c->{blocks}))));
}

# One launch with the counts $c: { us => its time without what it costs to launch anything, launch, dram, l2, ... => the parts }.
sub launch_time {
    my ($chip, $c, $registers) = @_;
    my $us = 1e-3 / $chip->{clock_ghz}; # a cycle
    my ($sms, $blocks) = ($chip->{sms}, $c->{blocks});
    my $busy = min($sms, $blocks);      # SMs that have a block
    my $resident = resident($chip, $c, $registers);
    my $trips = $c->{far_steps} + $c->{copy_steps};
    my %t;

    # 1. What passes through memory, once it flows. DRAM likes one sweep: blocks that read on at a place of their own cost it a little. Stores that follow each other at once to the same sectors are joined in L1, as long as
    #    the warps of a block do not store to too many; a store costs L2 twice what a load does.
    my $stored_at_once = $c->{store_requests} ? $c->{store_sectors} / $c->{store_requests} * $c->{threads} / $blocks / 32 : 1;
    my $apart = log($stored_at_once / $chip->{merge_all}) / log($chip->{merge_none} / $chip->{merge_all});
    my $stored = $c->{store_sectors} - $c->{merges} * (1 - max(0, min(1, $apart)));
    my $sectors = $c->{fills} + 2 * $stored;
    my $places = $trips > 1 ? min($resident, $blocks / $sms) : 0;
    $t{dram} = 32e-3 * ($c->{load_once} + $c->{store_once}) / $chip->{dram_gb_per_s} * (1 + $chip->{place_percent} / 100 * $places);
    $t{l2} = max(32e-3 * $sectors / $chip->{l2_gb_per_s}, 32 * $sectors / $busy / $chip->{sm_bytes_per_cycle} * $us);

    # 2. What an SM does: a line, or a turn of shared memory, a cycle; an instruction a cycle and scheduler; blocks, one after the other.
    my $shared = max($c->{shared_requests}, $c->{shared_bytes} / 128) + $c->{conflicts} + $c->{shuffles};
    my $lines = $c->{load_lines} + $c->{store_lines};
    my $turns = max(($lines + $shared) / $sms, $c->{block_turns}) * $us;
    $t{$lines > $shared ? 'lines' : 'shared'} = $turns;
    my $requests = $c->{load_requests} + $c->{store_requests} + $c->{shared_requests};
    $t{issue} = ($chip->{request_instructions} * $requests + $chip->{exchange_instructions} * ($c->{shuffles} + $c->{votes})) / 4 / $busy * $us;
    $t{blocks} = $blocks / $sms * $chip->{block_cycles} * $us;
    my $flow = max(values %t);

    # 3. Latency: the longest path through a block. What the block asks for before it first waits tells how many of its steps to memory are
    #    on their way at once (Little's law).
    my $work = $us * ($c->{l2_steps} * $chip->{l2_cycles} + $c->{near_steps} * $chip->{near_cycles} + $c->{shared_steps} * $chip->{shared_cycles}
        + $c->{exchange_steps} * $chip->{exchange_cycles} + $c->{meeting_steps} * $chip->{meeting_cycles});
    my ($far, $depth, $path) = ($us * $chip->{far_cycles}, 1, $work);
    if ($trips > 0) {
        $depth = max(1, $c->{ahead_bytes} * $trips / 32 / $c->{fills}) if $c->{fills} > 0;
        my $step = max($work / $trips, ($far + $work / $trips) / $depth);
        $path = max($far, $trips * $step) + ($depth > 1 ? $work / $trips : 0);
    }
    my $first = $trips > 0 ? $chip->{first_us} : 0;
    my $waves = max(1, $blocks / $resident / $sms);
    $t{latency} = $waves * ($path + $first) - $first;

    # Blocks that wait for each other: what the last of a chain has waited for, one hand-over after the other. Chains of which the chip
    # cannot hold all blocks at once follow each other.
    my $handover = $us * (2 * $chip->{l2_cycles} * $c->{handovers} + $chip->{exchange_cycles} * $c->{handover_work});
    $t{handover} = $c->{handovers} > 0 ? max(1, min($waves, $blocks / ($c->{handovers} + 1))) * $handover + $far : 0;

    # 4. An SM with one block that does one thing after the other waits for the sum of both; with several, they hide each other.
    my $streams = min($resident, ceil($blocks / $sms)) * $depth;
    $t{us} = $first + together(min(4, $streams), max($t{latency}, $t{handover}), $flow);
    $t{launch} = $chip->{launch_us} + $first + delete $t{blocks};
    return { %t, resident => $resident, depth => $depth, waves => $waves };
}

my %says = (dram => 'DRAM', l2 => 'sectors', lines => 'lines', shared => 'shared memory', issue => 'issue', latency => 'latency', handover => 'hand-overs', launch => 'launch');

# What these words mean, but for those that say it themselves.
our %meaning = (sectors => 'the sectors that pass through L2', lines => 'the lines that L1 looks up', issue => 'the instructions that are issued',
    latency => 'the wait for memory', 'hand-overs' => 'what blocks wait for each other', launch => 'the start of the launch and of its blocks');

# All launches of a variant, one after the other: { us, low, high, limited_by, next }. $registers->($counts): registers of a thread.
sub launches_time {
    my ($chip, $registers, @counts) = @_;
    my ($us, $launches, %parts) = (0, 0);
    for my $all (grep { $_->{launches} > 0 && $_->{blocks} > 0 } @counts) {
        my $times = $all->{launches};
        my %c = map { $_ => $all->{$_} =~ /^[\d.e+-]+$/ ? $all->{$_} / $times : $all->{$_} } keys %$all;
        my $t = launch_time($chip, \%c, $registers->($all));
        $us += $times * $t->{us};
        $launches += $times;
        $parts{$_} += $times * $t->{$_} for grep { defined $t->{$_} } keys %says;
    }
    # where nothing is launched, no more is known than that
    return { us => 0, low => 0, high => 0, limited_by => 'no launch', next => '', parts => {} } if $launches == 0;
    $us += $chip->{launch_us} + ($launches - 1) * $chip->{next_us};
    $parts{launch} -= ($launches - 1) * ($chip->{launch_us} - $chip->{next_us});
    my ($most, $next) = sort { $parts{$b} <=> $parts{$a} || $a cmp $b } keys %parts;
    my $range = 1 + $chip->{range_percent} / 100;
    return { us => $us, low => $us / $range, high => $us * $range, limited_by => $says{$most}, next => $says{$next}, parts => \%parts };
}

# The counts of a kernel that takes four elements a thread from some arrays to others, as add does: what percentages are of.
sub elementwise {
    my ($elements, $reads, $writes) = @_;
    my $sectors = $elements / 8;
    my $blocks = ceil($elements / 1024);
    my %c = map { $_ => 0 } qw(merges shared_requests shared_bytes conflicts shuffles votes shared_memory l2_steps near_steps copy_steps
        shared_steps exchange_steps meeting_steps handovers handover_work);
    return { %c, launches => 1, blocks => $blocks, threads => 256 * $blocks, far_steps => 1, fills => $reads * $sectors, ahead_bytes => 32 * $reads * $sectors,
        load_once => $reads * $sectors, store_once => $writes * $sectors, store_sectors => $writes * $sectors, load_lines => $reads * $sectors / 4,
        store_lines => $writes * $sectors / 4, load_requests => $reads * $sectors / 16, store_requests => $writes * $sectors / 16,
        block_turns => 32 * ($reads + $writes) };
}

1;
