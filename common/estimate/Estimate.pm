# SPDX-License-Identifier: MIT
# Estimate.pm - how long a launch would take on a chip, from what the simulator has counted of it.
package Estimate;
use strict;
use warnings;
use Exporter 'import';
use List::Util qw(min max sum0);
our @EXPORT_OK = qw(read_chip resident estimate between limits);

# key = value, one a line
sub read_chip {
    my ($path) = @_;
    open my $in, '<', $path or die "cannot read $path: $!\n";
    my %chip;
    while (<$in>) {
        s/#.*//;
        $chip{$1} = $2 if /^\s*(\w+)\s*=\s*(.*?)\s*$/;
    }
    return \%chip;
}

sub ceil { my $n = int $_[0]; return $n < $_[0] - 1e-9 ? $n + 1 : $n }

# Blocks of a launch that an SM can hold at once.
sub resident {
    my ($chip, $c, $registers) = @_;
    my $warps = ceil($c->{threads} / $c->{blocks} / 32);
    my $shared = $c->{shared_memory} / $c->{blocks} + 1024;
    my $warps_by_registers = int($chip->{registers_per_sm} / (32 * 8 * ceil($registers / 8)) / 4) * 4;
    return max(1, min($chip->{blocks_per_sm}, int($chip->{threads_per_sm} / 32 / $warps), int($chip->{shared_per_sm} / $shared),
        int($warps_by_registers / $warps)));
}

# The parts of a launch's time, in microseconds.
sub parts {
    my ($chip, $c, $registers) = @_;
    my $per_us = 1000 * $chip->{clock_ghz};              # cycles
    my $blocks = max(1, $c->{blocks});
    my $sms = min($chip->{sms}, ceil($blocks));
    my $resident = resident($chip, $c, $registers);
    my $warps = max(1, $c->{threads} / $blocks / 32);
    my $at_once = min($resident, ceil($blocks / $chip->{sms})); # blocks of an SM
    my %t;

    $t{dram} = 32 * ($c->{load_once} + $c->{store_once}) / $chip->{dram_gb_per_s} / 1e3;
    # stores that follow each other at once meet in L1 while there is room
    my $wide = $c->{store_requests} ? $c->{store_sectors} / $c->{store_requests} * $warps : 1;
    my $apart = log($wide / $chip->{merge_all}) / log($chip->{merge_none} / $chip->{merge_all});
    my $merged = $c->{merges} * (1 - max(0, min(1, $apart)));
    my $sectors = $c->{fills} + 2 * ($c->{store_sectors} - $merged);
    $t{l2} = 32 * $sectors / $chip->{l2_gb_per_s} / 1e3;
    my $shared = max($c->{shared_requests}, $c->{shared_bytes} / 128) + $c->{conflicts};
    $t{lsu} = max(($c->{load_lines} + $c->{store_lines} + $shared + $c->{shuffles}) / $chip->{sms}, $c->{block_turns}) / $per_us;
    $t{blocks} = $blocks / $chip->{sms} * $chip->{block_cycles} / $per_us;
    # latency: steps that wait for memory, and those between
    my $steps = $c->{far_steps} + $c->{copy_steps};
    my $work = $c->{l2_steps} * $chip->{l2_cycles} + $c->{near_steps} * $chip->{near_cycles} + $c->{shared_steps} * $chip->{shared_cycles}
        + $c->{exchange_steps} * $chip->{exchange_cycles} + $c->{meeting_steps} * $chip->{meeting_cycles};
    my $depth = $steps && $c->{fills} ? max(1, $c->{ahead_bytes} * $steps / 32 / $c->{fills}) : 1;
    my $step = $steps ? max($work / $steps, ($chip->{far_cycles} + $work / $steps) / $depth) : 0;
    my $first = $steps ? $chip->{far_cycles} : 0;
    my $path = $steps ? $first + max(0, $steps * $step - $first) + ($depth > 1 ? $work / $steps : 0) : $work;
    my $waves = max(1, $blocks / $resident / $chip->{sms});
    $t{first} = $steps ? $chip->{first_us} : 0;
    $t{latency} = $waves * ($path / $per_us + $t{first}) - $t{first};
    my $instructions = $chip->{request_instructions} * ($c->{load_requests} + $c->{store_requests} + $c->{shared_requests})
        + $chip->{exchange_instructions} * ($c->{shuffles} + $c->{votes});
    $t{issue} = $instructions / 4 / $sms / $per_us;
    $t{depth} = $depth;
    $t{sm} = 32 * max($sectors / $chip->{sms}, $sectors / $blocks) / $chip->{sm_bytes_per_cycle} / $per_us;
    $t{streams} = $at_once * $depth;
    $t{waves} = $waves;
    $t{resident} = $resident;
    return \%t;
}

our $p = 6;
our $most_p = 6;
our @limits = qw(dram l2 lsu sm blocks issue);

sub together { my ($p, @t) = @_; return sum0(map { max(0, $_) ** $p } @t) ** (1 / $p) }

# Microseconds of all launches together, and the parts of each.
sub estimate {
    my ($chip, $registers, @counts) = @_;
    my ($us, @parts) = (0);
    for my $c (@counts) {
        my $t = parts($chip, $c, $registers->($c));
        $us += ($us ? $chip->{next_us} : $chip->{launch_us}) + $t->{first} + together(min($most_p, $t->{streams}), $t->{latency}, together($p, map { $t->{$_} } @limits));
        push @parts, $t;
    }
    return ($us, @parts);
}

# Counts at x, on the line through those at x0 and x1.
sub between {
    my ($c0, $x0, $c1, $x1, $x) = @_;
    my %c = %$c1;
    for (keys %c) {
        $c{$_} = max(0, $c0->{$_} + ($c1->{$_} - $c0->{$_}) * ($x - $x0) / ($x1 - $x0)) if $c{$_} =~ /^\d+(?:\.\d+)?$/ && $c0->{$_} ne '';
    }
    return \%c;
}

1;
