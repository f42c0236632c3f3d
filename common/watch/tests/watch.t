# SPDX-License-Identifier: MIT
# What the simulator records of a launch: the events of a run are what it has counted, the last writes are the results, variables have the
# values that a reader of the source expects, and a missing barrier is told with both lines.
use strict;
use warnings;
use lib 'common/base';
use JSON::PP;
use POSIX ();
use Run;
use Test::More;

delete @ENV{qw(SIM_SCHEDULE SIM_RESIDENT SIM_BUSY CUSIM_CHECKS)};
my $lines = (POSIX::uname())[4] eq 'x86_64'; # elsewhere a program does not say which line it comes to

sub trace { return decode_json(read_file($_[0]) // 'null') }

# Runs a program that leaves a trace. Returns the trace, and what the program said.
sub record {
    my ($env, @command) = @_;
    my $path = scratch('trace.json');
    unlink $path;
    my ($status, $out, $err) = run_program({ CUSIM_WATCH => $path, %$env }, @command);
    return (trace($path), "$out$err", $status);
}

# ---- a second, simple reader: counts the events of a run, and keeps the arrays ----

sub count {
    my ($trace, $run) = @_;
    my (%n, %met, %memory);
    $memory{$_} = [@{ $trace->{initial}{$_} }] for keys %{ $trace->{initial} };
    my %copies;
    for my $step (@{ $run->{steps} }) {
        for my $e (@{ $step->{e} // [] }) {
            my ($kind, $counted) = ($e->{k}, !$e->{part});
            my $lanes = @{ $e->{m} // $step->{m} // [1 .. threads($trace, $step)] };
            my $array = defined $e->{a} && !ref $e->{a} ? $trace->{arrays}[$e->{a}] : undef;
            my $each = $e->{n} // 1;
            if ($kind =~ /^(?:load|store|atomic)$/) {
                my $to = $kind eq 'load' ? 'loads' : 'stores';
                $n{"$to bytes"} += $lanes * $each * $array->{element};
                $n{"$to lanes"} += $lanes;
                $n{"$to requests"}++ if $counted;
                $n{"$to $_"} += $e->{$_} // 0 for qw(sectors lines);
            } elsif ($kind =~ /^shared_/) {
                $n{shared_requests}++ if $counted;
                $n{shared_bytes} += $lanes * $each * $array->{element};
                $n{conflicts} += $e->{conflicts} // 0;
            } elsif ($kind eq 'copy' && $e->{how} ne 'cluster_send') {
                $n{ $e->{how} eq 'tma' ? 'bulk_copies' : 'async_copies' }++;
                $n{'loads requests'}++ if defined $e->{sectors};
                $n{"loads $_"} += $e->{$_} // 0 for qw(sectors lines);
                $n{'loads bytes'} += $e->{bytes};
                $n{'loads lanes'}++ if $e->{how} ne 'tma';
            } elsif ($kind eq 'copy_store') {
                $n{shared_requests}++ if $counted;
                $n{conflicts} += $e->{conflicts} // 0;
            } elsif ($kind eq 'barrier') {
                $n{barriers}++ if !$met{ $e->{at} }++;
            } elsif ($kind =~ /^(?:shuffle|vote|warp_barrier)$/) {
                $n{"${kind}s"}++ if $counted;
            }
            $n{atomics} += $lanes if $kind =~ /atomic$/;
            if ($kind =~ /^(?:store|atomic)$/) {
                my @x = @{ $e->{x} };
                for my $i (@{ $e->{i} }) { $memory{ $e->{a} }[$i + $_] = shift @x for 0 .. $each - 1 }
            }
        }
    }
    return (\%n, \%memory);
}

sub threads { # of the warp
    my ($trace, $step) = @_;
    my $rest = $trace->{block}[0] * $trace->{block}[1] * $trace->{block}[2] - 32 * $step->{w};
    return $rest < 32 ? $rest : 32;
}

# The simulator's own counts of a run, flat.
sub counts {
    my ($counts) = @_;
    return { map { my $name = $_; ref $counts->{$name} ? map({ ("$name $_" => $counts->{$name}{$_}) } keys %{ $counts->{$name} }) : ($name => $counts->{$name}) } keys %$counts };
}

sub agrees {
    my ($name, $trace) = @_;
    my $run = $trace->{runs}[0];
    my ($n, $memory) = count($trace, $run);
    my $own = counts($run->{counts});
    delete @$own{qw(blocks threads)};
    delete @$own{'shared_bytes', 'loads bytes', 'loads lanes'} if $own->{bulk_copies} || $own->{async_copies}; # of a copy the events say other bytes
    $n = { map { $_ => $n->{$_} // 0 } keys %$own };
    is_deeply($n, $own, "$name: the events are what the simulator has counted");
    is_deeply({ map { $_ => $memory->{$_} } keys %{ $run->{results} } }, $run->{results}, "$name: what was stored are the results");
    ok(keys %{ $run->{results} } > 0 && $run->{verdict}{ok} && !defined $run->{cut}, "$name: to the end");
}

# ---- kernels of chapters, as make builds them ----

my @kernels = (
    ['02_cuda_ref', 'full_blocks', 'forward', 40, 5],
    ['03_tile', 'shared', 'forward', 1, 200],
    ['04_warp_scan', 'to_block', 'forward', 2, 200],
    ['05_pipe', 'float4', 'forward', 2, 300],
    ['05_pipe', 'async', 'forward', 1, 1030],
    ['05_pipe', 'tma', 'forward', 1, 1030],
    ['06_backward', 'async', 'backward', 1, 300],
    ['08_lookback', 'lookback', 'forward', 1, 9000],
    ['08_lookback', 'cluster', 'forward', 1, 9000],
);
for (@kernels) {
    my ($chapter, $variant, $direction, $seqs, $length) = @$_;
    my @shape = ('--num-seqs', $seqs, '--seq-len', $length);
    my ($status) = run_program("build/sim/$chapter", '--fill', 'ones', @shape, map { ("--$_", scratch("$_.npy")) } qw(inputs coeffs outputs d-outputs));
    my @arrays = map { ("--$_", scratch("$_.npy")) } $direction eq 'forward' ? qw(inputs coeffs outputs) : qw(d-outputs coeffs outputs d-inputs d-coeffs);
    my ($trace, $said) = record({ CUSIM_WATCH_KERNEL => '', CUSIM_WATCH_RUNS => 'first' }, "build/sim/$chapter", '--variant', $variant, @arrays);
    ok(defined $trace, "$chapter/$variant leaves a trace") or diag($said), next;
    agrees("$chapter/$variant", $trace);
}

done_testing;
