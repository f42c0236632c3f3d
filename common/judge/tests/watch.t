# SPDX-License-Identifier: MIT
# The simulator's record of a launch: the events of a run are what it has counted, the last writes are the results, variables have the
# values that a reader of the source expects, and a missing barrier is told with both lines.
use strict;
use warnings;
use lib 'common/tests';
use JSON::PP;
use POSIX ();
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT CUSIM_BUSY CUSIM_CHECKS)};
my $lines = (POSIX::uname())[4] eq 'x86_64'; # elsewhere a program does not say which line it comes to

# A trace, each run with all its steps.
sub whole {
    my $trace = decode_json($_[0] // return undef);
    unshift @{ $_->{steps} }, @{ $trace->{runs}[0]{steps} }[0 .. $_->{same} - 1] for grep { $_->{same} } @{ $trace->{runs} // [] };
    return $trace;
}

# Runs a program that leaves a trace. Returns the trace, and what the program said.
sub record {
    my ($env, @command) = @_;
    my $path = scratch('trace.json');
    unlink $path;
    my ($status, $out, $err) = run_program({ CUSIM_WATCH => $path, %$env }, @command);
    return (whole(read_file($path)), "$out$err", $status);
}

# ---- a second, simple reader: counts the events of a run, and keeps the arrays ----

sub count {
    my ($trace, $run) = @_;
    my (%n, %met, %memory);
    $memory{$_} = [@{ $trace->{initial}{$_} }] for keys %{ $trace->{initial} };
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
                my $to = $trace->{arrays}[$e->{to}[0]]{space} eq 'shared' ? 'loads' : 'stores';
                $n{bulk_copies}++ if $e->{how} eq 'tma' && $counted; # else a piece of one
                $n{async_copies}++ if $e->{how} ne 'tma';
                $n{"$to requests"}++ if defined $e->{sectors} && $counted;
                $n{"$to $_"} += $e->{$_} // 0 for qw(sectors lines);
                $n{"$to bytes"} += $e->{bytes} if defined $e->{from};
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
    ['05_pipe', 'async', 'forward', 1, 600],
    ['05_pipe', 'tma', 'forward', 1, 600],
    ['06_backward', 'async', 'backward', 1, 300],
    ['08_lookback', 'lookback', 'forward', 1, 9000],
    ['08_lookback', 'cluster', 'forward', 1, 9000],
);
my $built = backend() eq 'sim'; # else there are no programs for the simulator
SKIP: for (@kernels) {
    skip 'the programs of the chapters are built for ' . backend(), 1 if !$built;
    my ($chapter, $variant, $direction, $seqs, $length) = @$_;
    my @shape = ('--num-seqs', $seqs, '--seq-len', $length);
    my ($status) = run_program("build/sim/$chapter", '--fill', 'ones', @shape, map { ("--$_", scratch("$_.npy")) } qw(inputs coeffs outputs d-outputs));
    my @arrays = map { ("--$_", scratch("$_.npy")) } $direction eq 'forward' ? qw(inputs coeffs outputs) : qw(d-outputs coeffs outputs d-inputs d-coeffs);
    my ($trace, $said) = record({ CUSIM_WATCH_KERNEL => '', CUSIM_WATCH_RUNS => 'first' }, "build/sim/$chapter", '--variant', $variant, @arrays);
    ok(defined $trace, "$chapter/$variant leaves a trace") or diag($said), next;
    agrees("$chapter/$variant", $trace);
    my ($totals) = grep { $_->{name} eq 'totals' } @{ $trace->{arrays} };
    is_deeply($totals->{fields}, [['product', 0, 32], ['sum', 32, 32]], 'the members of a struct in shared memory have names') if $variant eq 'to_block';
}

# ---- every barrier of a kernel left out ----

# The variables of a lane when a run has come to a line for the last time.
sub value {
    my ($trace, $run, $name, $lane) = @_;
    my ($number) = grep { $trace->{variables}[$_]{name} eq $name } 0 .. $#{ $trace->{variables} };
    my $value;
    for my $step (@{ $run->{steps} }) {
        my $values = $step->{v}{ $number // '' } // next;
        my @lanes = @{ $step->{m} // [0 .. threads($trace, $step) - 1] };
        my ($at) = grep { $lanes[$_] == $lane } 0 .. $#lanes;
        $at = 0 if defined $at && @$values == 1; # all lanes have the same
        $value = $values->[$at] if defined $at && $step->{w} == 0 && (ref $values->[$at] || ($values->[$at] // '') ne '=');
    }
    return $value;
}

sub in_page {
    my ($json) = (read_file($_[0]) // '') =~ m{<script type="application/json" id="trace">(.*?)</script>}s;
    return whole($json);
}

SKIP: {
    skip 'lines and variables are to be had on an x86-64 only', 30 if !$lines;
    my @make = ('make', '--no-print-directory', 'watch');
    my $source = '03_tile/shared.cu';
    my @text = split /\n/, read_file($source);
    my @barriers = grep { $text[$_ - 1] =~ /^\s*__syncthreads\(\);/ } 1 .. @text;
    my ($status, $out, $err) = run_program(@make, 'VARIANT=03_tile/shared');
    is("$status$out", "0results/watch/03_tile_shared.html\n", 'make watch names the page') or diag($err);
    my $trace = in_page('results/watch/03_tile_shared.html');
    agrees('03_tile/shared, line by line', $trace);
    cmp_ok(-s 'results/watch/03_tile_shared.html', '<', 3e6, 'a page of less than 3 MB');
    is(value($trace, $trace->{runs}[0], 'thread', 17), 17, 'a variable of lane 17');
    is_deeply(value($trace, $trace->{runs}[0], 'x', 17), [69 .. 72], 'and an array of it: the sums of 72 ones, at last');
    is(join(' ', map { defined $_->{without} ? $_->{without}[1] : () } @{ $trace->{runs} }), "@barriers", 'the barriers are left out, one after the other');
    for my $run (grep { defined $_->{without} } @{ $trace->{runs} }) {
        my ($verdict, $line) = ($run->{verdict}, $run->{without}[1]);
        my ($step, $other) = map { $run->{steps}[$_ // 1e9] } $verdict->{step}, $verdict->{other}{step};
        like($verdict->{text}, qr/^03_tile\/shared\.cu:$verdict->{place}[1]: .* race: .*shared\.cu:$verdict->{other}{place}[1]/, "without line $line a race is told");
        is_deeply([$step->{p}, $other->{p}], [$verdict->{place}, $verdict->{other}{place}], 'and shown at both lines');
        ok((grep { ($_->{a} // -1) == $verdict->{array} } @{ $step->{e} }) && (grep { ($_->{a} // -1) == $verdict->{array} } @{ $other->{e} }), 'with both accesses');
    }
    like($trace->{runs}[1]{verdict}{text}, qr/^No mistake was found/, 'another order says that it finds none');

    # names and values that a page may take for something else
    my $hostile = scratch('hostile');
    ($status, $out, $err) = run_program('perl', 'cusim/compile/cusim', '--watch', 'common/judge/tests/hostile.cu', '-o', $hostile);
    is($status, 0, 'cusim --watch') or diag($err);
    my $page = scratch('hostile.html');
    ($status, $out) = run_program({ CUSIM_WATCH => $page }, $hostile);
    is($out, "</script><b>\"'&\\\t60\n2e+38\n", 'the program runs as ever');
    is(() = read_file($page) =~ m{</script}g, 2, 'the scripts of the page end where they should');
    $trace = in_page($page);
    my $run = $trace->{runs}[0];
    is(join("\n", @{ $trace->{sources}[0]{text} }) . "\n", read_file('common/judge/tests/hostile.cu'), 'the source as it is');
    is(join(' ', map { value($trace, $run, 'pair.x', $_) } 0 .. 3), 'nan 1e+38 -inf 0.1', 'a member of a struct');
    is_deeply(value($trace, $run, 'rows', 1), [1, 2, 3, 5], 'an array of two dimensions');
    is(join(' ', map { value($trace, $run, $_, 0) } qw(large negative letter where)), '9007199254740993 -9223372036854775808 60 &in[3]', 'integers, a pointer');
    is_deeply($run->{results}{1}, ['nan', 2e38, '-inf', 0.1], 'the results');
    my ($print) = grep { $_->{k} eq 'print' } map { @{ $_->{e} // [] } } @{ $run->{steps} };
    is($print->{x}[0], "</script><b>\"'&\\\t60\n", 'what is printed');
    my @text_of = @{ $trace->{sources}[0]{text} };
    my %lanes = map { my $step = $_; map { $text_of[$step->{p}[1] - 1] =~ m{/\* $_ \*/} ? ($_ => "@{ $step->{m} // ['all'] }, $step->{d}") : () } qw(twice all call other store) }
        map { { d => 0, %$_ } } grep { defined $_->{p} && !defined $_->{s} } @{ $run->{steps} };
    is_deeply(\%lanes, { twice => '1, 1', all => 'all, 0', call => '1, 0', other => '0 2 3, 0', store => 'all, 0' }, 'which lanes are on a line, and how deep in calls');

    # wrong names
    for (['VARIANT=03_tile/shred', qr/^make watch: 03_tile has no variant "shred"\. It has serial, shared\.$/m], ['VARIANT=99_x/y', qr/^make watch: VARIANT=99_x\/y names no chapter .*03_tile/m],
        ['CHANNELS=3', qr/^make watch: 03_tile has no size CHANNELS\. It has NUM_SEQS, SEQ_LEN\.$/m], ['SEQ_LEN=100000', qr/^make watch: .*16384 elements, not 100000/m],
        ['KERNEL=nothing', qr/^make watch: no kernel nothing is launched there\.$/m], ['EX=99.9', qr/^make watch: there is no exercise 99\.9/m]) {
        my ($wrong, $like) = @$_;
        ($status, $out, $err) = run_program(@make, 'VARIANT=03_tile/shared', $wrong);
        ok($status eq 2 && $err =~ $like, "refused: $wrong") or diag("$status $out $err");
    }
}

# ---- a program that was not compiled for it ----

SKIP: {
    skip 'the programs of the chapters are built for ' . backend(), 2 if !$built;
    my $page = scratch('plain.html');
    my ($status, $out, $err) = run_program({ CUSIM_WATCH => $page, CUSIM_WATCH_RUNS => 'first', CUSIM_WATCH_KERNEL => 'shared_forward' },
        qw(build/sim/03_tile --variant shared --check-only --num-seqs 1 --seq-len 8));
    is($err, "simulator: $page has no variables, and only lines that access memory or wait: compile with cusim --watch to have all.\n", 'one sentence says how to get variables');
    ($status, $out, $err) = run_program({ CUSIM_WATCH => '/nowhere/page.html', CUSIM_WATCH_KERNEL => 'shared_forward' }, qw(build/sim/03_tile --variant shared --check-only --num-seqs 1 --seq-len 8));
    ok($status eq 2 && $err =~ /^simulator: cannot write \/nowhere\/page\.html: /, 'a page that cannot be written') or diag("$status $err");
}

done_testing;
