# SPDX-License-Identifier: MIT
# Chapter 13: the layout of models. Its kernels against the definition, written down once more here in Perl, on numbers of which every result is
# exact; its gradients against finite differences of that, which are exact, too; logarithms, packed sequences and states; a NaN stays in its sequence
# and channel; one step; rows that lie apart; what the reader does wrong is told.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('13_layout');
my @forward = complete_variants('13_layout', '--forward');
my @backward = complete_variants('13_layout', '--backward');
is("@forward", 'transposed loop split tensor_map default', 'forward');
is("@backward", 'loop split tensor_map default', 'backward');
my @with_all = qw(loop split tensor_map default); # transposed takes neither states nor packed sequences
sub taking { my ($channels, @variants) = @_; return grep { $_ ne 'tensor_map' || $channels % 8 == 0 } @variants }

is(complaint({}, $p, qw(--batch 2 --seq-len 3 --channels 3)), '', 'all options in all combinations, odd channels');
is(complaint({}, $p, qw(--batch 1 --seq-len 2 --channels 4), '--type', $_), '', "and with $_") for 'bf16', 'fp16';
is(complaint({}, $p, qw(--seqs 3 --seq-len 7 --channels 2)), '', 'packed: all options in all combinations');

# ---- the definition, on halves and quarters: every result is exact in float32 ----

my $state = 1;
sub random { $state = ($state * 1103515245 + 12345) % 2**31; return int($state / 2**16) % 5 / 2 - 1 } # -1 ... 1 in halves
sub same { my ($is, $must_be) = @_; return @$is == @$must_be && !grep { $is->[$_] != $must_be->[$_] } 0 .. $#$is }

# Where the sequences lie, as [first row, rows].
sub sequences {
    my ($in, $batch, $seq_len) = @_;
    my $starts = $in->{starts} or return map { [$_ * $seq_len, $seq_len] } 0 .. $batch - 1;
    return map { [$starts->[$_], $starts->[$_ + 1] - $starts->[$_]] } 0 .. $#$starts - 1;
}

# Returns outputs and final states.
sub definition {
    my ($in, $batch, $seq_len, $channels) = @_;
    my (@out, @final);
    my $seq = 0;
    for (sequences($in, $batch, $seq_len)) {
        my ($first, $rows) = @$_;
        for my $channel (0 .. $channels - 1) {
            my $y = $in->{initial_state} ? $in->{initial_state}[$seq * $channels + $channel] : 0;
            for my $step ($in->{reverse} ? reverse 0 .. $rows - 1 : 0 .. $rows - 1) {
                my $at = ($first + $step) * $channels + $channel;
                $y = $y * $in->{coeffs}[$at] + $in->{inputs}[$at];
                $out[$at] = $y;
            }
            $final[$seq * $channels + $channel] = $y;
        }
        $seq++;
    }
    return (\@out, \@final);
}

sub loss {
    my ($in, @sizes) = @_;
    my ($out, $final) = definition($in, @sizes);
    my $loss = 0;
    $loss += $in->{d_outputs}[$_] * $out->[$_] for 0 .. $#$out;
    $loss += $in->{d_final_state} ? $in->{d_final_state}[$_] * $final->[$_] : 0 for 0 .. $#$final;
    return $loss;
}

# The loss is linear in each number by itself.
sub differences {
    my ($in, $name, @sizes) = @_;
    my @all = @{ $in->{$name} };
    my $here = loss($in, @sizes);
    return [map { my @values = @all; $values[$_]++; loss({ %$in, $name => \@values }, @sizes) - $here } 0 .. $#all];
}

for my $case ([0, 2, 5, 3], [0, 1, 19, 2], [[0, 3, 3, 4, 9, 9], 1, 9, 2], [0, 1, 34, 8], [[0, 3, 3, 33, 34], 1, 34, 8]) {
    my ($starts, $batch, $seq_len, $channels) = @$case;
    my $num_seqs = $starts ? $#$starts : $batch;
    my %size = (batch => $batch, seq_len => $seq_len, channels => $channels, seqs => $num_seqs, edges => $num_seqs + 1);
    my @rows = $starts ? qw(seq_len channels) : qw(batch seq_len channels);
    my @states = ($starts ? 'seqs' : 'batch', 'channels');
    describe_arrays($p, \%size, { (map { $_ => \@rows } qw(inputs coeffs outputs d_outputs d_inputs d_coeffs)),
        (map { $_ => \@states } qw(initial_state final_state d_final_state d_initial_state)), starts => ['edges'] });
    my %all = map { my $name = $_; $name => [map { random() } 1 .. count_of($name)] } qw(inputs coeffs d_outputs initial_state d_final_state);
    my @sizes = ($batch, $seq_len, $channels);
    my $said = "$batch x $seq_len x $channels" . ($starts ? ", packed at @$starts" : '');
    for my $reverse (0, 1) {
        for my $with ([], ['initial_state']) {
            my $in = { (map { $_ => $all{$_} } qw(inputs coeffs), @$with), reverse => $reverse, $starts ? (starts => $starts) : () };
            my ($out, $final) = definition($in, @sizes);
            my @how = ($reverse ? 'reversed' : (), @$with);
            for my $variant (taking($channels, $starts || @$with ? @with_all : @forward)) {
                my @written = $variant eq 'transposed' ? 'outputs' : qw(outputs final_state);
                my $is = compute($in, $variant, @written);
                ok(same($is->{outputs}, $out) && ($variant eq 'transposed' || same($is->{final_state}, $final)), "$variant forward is the definition: $said @how");
            }
            for my $last ([], ['d_final_state']) {
                my $back = { %$in, d_outputs => $all{d_outputs}, map { $_ => $all{$_} } @$last };
                my @of = ('inputs', 'coeffs', @$with);
                my %gradient = map { $_ => differences($back, $_, @sizes) } @of;
                delete $back->{inputs};
                for my $variant (taking($channels, @backward)) {
                    my $is = compute({ %$back, outputs => $out }, $variant, map { "d_$_" } @of);
                    is(join(' ', grep { !same($is->{"d_$_"}, $gradient{$_}) } @of), '', "$variant backward is what finite differences give: $said @how @$last");
                }
            }
        }
    }
    for my $bad ('NaN', 'Inf') { # in row 3, channel 1
        for my $where (qw(inputs coeffs)) {
            my $in = { map { $_ => $all{$_} } qw(inputs coeffs) };
            $in->{starts} = $starts if $starts;
            my $spoilt = { %$in, $where => [@{ $all{$where} }] };
            $spoilt->{$where}[3 * $channels + 1] = 0 + $bad;
            my ($of) = grep { $_->[0] <= 3 && 3 < $_->[0] + $_->[1] } sequences($in, $batch, $seq_len);
            for my $variant (taking($channels, $starts ? @with_all : @forward)) {
                my ($good, $is) = map { compute($_, $variant, 'outputs')->{outputs} } $in, $spoilt;
                my @changed = grep { pack('f', $good->[$_]) ne pack('f', $is->[$_]) } 0 .. $#$good;
                my @strays = grep { my $row = int($_ / $channels); $_ % $channels != 1 || $row < 3 || $row >= $of->[0] + $of->[1] } @changed;
                is("@strays", '', "$variant: $bad in $where changes only its own sequence and channel, from there on: $said");
                # where a sequence begins its coefficient is not used
                ok(@changed || ($where eq 'coeffs' && $of->[0] == 3), "$variant: and that it does");
            }
        }
    }
}

# ---- one step ----

is(complaint({}, $p, qw(--step --layers 2 --batch 3 --channels 3)), '', 'a step: all options');
is(complaint({}, $p, qw(--step --layers 1 --batch 2 --channels 260 --num-slots 5), '--type', $_), '', "a step of $_") for 'bf16', 'fp16';
{
    my %size = (layers => 2, batch => 3, channels => 4, num_slots => 4);
    my @rows = qw(layers batch channels);
    my @states = qw(layers num_slots channels);
    describe_arrays($p, \%size, { inputs => \@rows, coeffs => \@rows, outputs => \@rows, states => \@states, new_states => \@states, slots => ['batch'] });
    my %all = map { my $name = $_; $name => [map { random() } 1 .. count_of($name)] } qw(inputs coeffs states);
    my $slots = [3, -1, 0];
    my $is = do {
        my @options = map { write_array($_, $all{$_}); option_of($_) } qw(inputs coeffs states);
        write_array('slots', $slots);
        my ($status, undef, $err) = run_program($p, '--step', @options, option_of('slots'), map { option_of($_) } qw(outputs new_states));
        is("$status$err", '0', 'a step on own arrays') or diag($err);
        +{ map { my (undef, @values) = read_npy(scratch("$_.npy")); $_ => \@values } qw(outputs new_states) };
    };
    my @wrong;
    for my $at (0 .. count_of('outputs') - 1) {
        my ($layer, $row, $channel) = (int($at / 12), int($at / 4) % 3, $at % 4);
        my $state = ($layer * 4 + $slots->[$row]) * 4 + $channel;
        my $y = $slots->[$row] < 0 ? undef : $all{states}[$state] * $all{coeffs}[$at] + $all{inputs}[$at];
        push @wrong, $at if defined $y ? $is->{outputs}[$at] != $y || $is->{new_states}[$state] != $y : $is->{outputs}[$at] == $is->{outputs}[$at];
    }
    is("@wrong", '', 'its rows are computed, and an empty one is left as it was');
    my @touched = grep { my $slot = int($_ / 4) % 4; ($slot == 1 || $slot == 2) && $is->{new_states}[$_] == $is->{new_states}[$_] } 0 .. 31;
    is("@touched", '', 'and so are the slots of no row');
}

# ---- rows that lie apart, and a step in place ----

my ($status, $out, $err) = run_program(extra('tests_apart'));
is("$status$err", '0', 'slices of wider arrays, of any alignment, and a step in place') or diag("$out$err");
note($out);

# ---- what the reader does wrong is told in one sentence ----

refuses('more rows than slots', qr/takes a slot for each row, so at least 3, not 2;/, $p, qw(--step --batch 3 --num-slots 2));
refuses('packed sequences for a kernel that has none', qr/transposed takes no packed sequences;/, $p, qw(--seqs 2 --variant transposed));
refuses('channels whose rows the TMA does not take', qr/tensor_map takes multiples of 8 channels, not 12;/, $p, qw(--channels 12 --variant tensor_map));
refuses('steps of no sequence', qr/takes at least one sequence where there are steps;/, $p, qw(--seqs 0 --seq-len 4 --channels 2 --variant loop));
refuses('a type that transposed does not have', qr/transposed.*float32/, $p, qw(--variant transposed --type bf16));

done_testing;
