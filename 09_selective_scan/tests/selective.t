# SPDX-License-Identifier: MIT
# Chapter 09: the selective scan. Its kernels against the definition, written down once more here in Perl; its gradients against finite differences
# of that; all options in all combinations; a NaN stays where it belongs; the oracle finds mistakes; what the user does wrong is told.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('09_selective_scan');
my $sim = backend() eq 'sim';
my @backward = complete_variants('09_selective_scan', '--backward');
my @forward = complete_variants('09_selective_scan', '--forward');
my @outputs = qw(d_u d_delta d_A d_B d_C d_D d_z d_delta_bias d_initial_state);
ok(@forward >= 3 && @backward >= 1, "forward: @forward; backward: @backward");

sub shape {
    my ($batch, $channels, $states, $groups, $lengths) = @_;
    return ('--batch', $batch, '--channels', $channels, '--states', $states, '--groups', $groups, '--seq-len', $lengths);
}

# ---- one tiny shape has all options in all combinations; long/shapes.t has the boundaries ----

is(complaint({}, $p, shape(1, 4, 3, 2, 2)), '', 'all options in all combinations');

# ---- states and steps that are padding, beside what is not finite; long/edges.t has all counts of states, and all places ----

# Seeds: an infinity at the end of a row of delta, one in delta_bias, and -infinity in A (operation/data.h).
is(complaint({}, $p, shape(3, 2, 5, 1, 11), '--with', 'all', '--seed', $_), '', "5 states in lanes for 8, seed $_") for 44, 49, 56;
is(complaint({}, $p, shape(1, 1, 4, 1, 9), '--with', $_, '--seed', 44), '', "one channel of 4 states, $_ of the options") for 'all', 'none';
is(complaint({}, $p, shape(1, 1, 5, 1, '131'), '--backward', '--with', 'all', '--seed', 12), '', '-infinity in A, and several segments');

# ---- the definition, in double ----

my %size = (batch => 2, channels => 4, states => 3, groups => 2, seq_len => 5);
my %dims = (
    (map { $_ => [qw(batch channels seq_len)] } qw(u delta z out d_out d_u d_delta d_z)),
    (map { $_ => [qw(batch groups states seq_len)] } qw(B C d_B d_C)),
    (map { $_ => [qw(channels states)] } qw(A d_A)),
    (map { $_ => ['channels'] } qw(D delta_bias d_D d_delta_bias)),
    (map { $_ => [qw(batch channels states)] } qw(initial_state final_state d_initial_state d_final_state)),
);
describe_arrays($p, \%size, \%dims);

# Takes a hash of arrays and `delta_softplus`; returns out and final_state.
sub definition {
    my ($in) = @_;
    my ($batch, $channels, $states, $groups, $seq_len) = @size{qw(batch channels states groups seq_len)};
    my (@out, @final);
    for my $b (0 .. $batch - 1) {
        for my $d (0 .. $channels - 1) {
            my $g = int($d / ($channels / $groups));
            my @h = map { $in->{initial_state} ? $in->{initial_state}[($b * $channels + $d) * $states + $_] : 0 } 0 .. $states - 1;
            for my $l (0 .. $seq_len - 1) {
                my $at = ($b * $channels + $d) * $seq_len + $l;
                my $step = $in->{delta}[$at] + ($in->{delta_bias} ? $in->{delta_bias}[$d] : 0);
                $step = log(1 + exp $step) if $in->{delta_softplus};
                my $y = $in->{D} ? $in->{D}[$d] * $in->{u}[$at] : 0;
                for my $n (0 .. $states - 1) {
                    my $bc = (($b * $groups + $g) * $states + $n) * $seq_len + $l;
                    $h[$n] = exp($step * $in->{A}[$d * $states + $n]) * $h[$n] + $step * $in->{B}[$bc] * $in->{u}[$at];
                    $y += $in->{C}[$bc] * $h[$n];
                }
                $out[$at] = $in->{z} ? $y * $in->{z}[$at] / (1 + exp -$in->{z}[$at]) : $y;
            }
            $final[($b * $channels + $d) * $states + $_] = $h[$_] for 0 .. $states - 1;
        }
    }
    return (\@out, \@final);
}

# Numbers that float32 holds, from -1 to 1; a step without softplus is positive, A is negative.
my $state = 1;
sub random { $state = ($state * 1103515245 + 12345) % 2**31; return int($state / 2**15) / 2**15 - 1 }
my %all = map { my $name = $_; ($name => [map { random() } 1 .. count_of($name)]) } qw(u delta A B C D z delta_bias initial_state d_out d_final_state);
@{ $all{A} } = map { -abs } @{ $all{A} };
sub inputs {
    my ($softplus, @with) = @_;
    my %in = map { $_ => $all{$_} } qw(u delta A B C), @with;
    $in{delta} = [map { abs($_) + 1 } @{ $all{delta} }] if !$softplus;
    return { %in, delta_softplus => $softplus };
}

my @choices = ([], [qw(D)], [qw(z)], [qw(delta_bias)], [qw(initial_state)], [qw(D z delta_bias initial_state)]);
for my $variant (@forward) {
    for my $softplus (0, 1) {
        my @wrong;
        for my $with (@choices) {
            my $in = inputs($softplus, @$with);
            my ($out, $final) = definition($in);
            my $is = compute($in, $variant, 'out', 'final_state');
            push @wrong, "@$with" if !(difference($is->{out}, $out) < 1e-6 && difference($is->{final_state}, $final) < 1e-6);
        }
        is("@wrong", '', "$variant forward is the definition" . ($softplus ? ', with softplus' : ''));
    }
}

# ---- gradients: finite differences of the loss, sum of d_out out and of d_final_state final_state ----

sub loss {
    my ($in) = @_;
    my ($out, $final) = definition($in);
    my $loss = 0;
    $loss += $in->{d_out}[$_] * $out->[$_] for 0 .. $#$out;
    $loss += $in->{d_final_state} ? $in->{d_final_state}[$_] * $final->[$_] : 0 for 0 .. $#$final;
    return $loss;
}
for my $with ([0], [0, qw(z)], [1, qw(D delta_bias)], [1, qw(D z delta_bias initial_state d_final_state)]) {
    my ($softplus, @with) = @$with;
    my $in = { %{ inputs($softplus, @with) }, d_out => $all{d_out} };
    my @of = grep { ref $in->{$_} && !/^d_/ } sort keys %$in;
    my %gradient = map { $_ => finite_differences(\&loss, $in, $_) } @of;
    for my $variant (@backward) {
        my $is = compute($in, $variant, map { "d_$_" } @of);
        my @wrong = grep { !(difference($is->{"d_$_"}, $gradient{$_}) < 1e-5) } @of;
        is("@wrong", '', "$variant backward is what finite differences give, with " . ($softplus ? 'softplus ' : '') . "@with");
    }
}

# ---- a NaN or an infinity stays in its batch and channel, and never comes before its cause ----

# Where an array's values differ in bits, as "batch channel step" or whatever its sizes are.
sub changed {
    my ($name, $before, $after) = @_;
    my @sizes = map { $size{$_} } @{ $dims{$name} };
    my @places;
    for my $i (grep { pack('f', $before->[$_]) ne pack('f', $after->[$_]) } 0 .. $#$before) {
        my ($rest, @place) = $i;
        for my $size (reverse @sizes) {
            unshift @place, $rest % $size;
            $rest = int($rest / $size);
        }
        push @places, \@place;
    }
    return @places;
}
my @full = (1, qw(D z delta_bias initial_state));
my %unspoilt = ((map { ("$_ forward" => compute(inputs(@full), $_, 'out')) } @forward),
    map { ("$_ backward" => compute({ %{ inputs(@full) }, d_out => $all{d_out} }, $_, @outputs)) } @backward);
for my $bad ('NaN', 'Inf') {
    for my $where (qw(u delta z)) { # batch 1, channel 2, step 3
        my $in = inputs(@full);
        my $spoilt = { %$in, $where => [@{ $in->{$where} }] };
        $spoilt->{$where}[(1 * 4 + 2) * 5 + 3] = 0 + $bad;
        for my $variant (@forward) {
            my ($good, $is) = ($unspoilt{"$variant forward"}, compute($spoilt, $variant, 'out'));
            my @changed = changed('out', $good->{out}, $is->{out});
            my @strays = grep { $_->[0] != 1 || $_->[1] != 2 || $_->[2] < 3 } @changed;
            ok(@changed && !@strays, "$variant: $bad in $where changes only its own channel, from there on");
        }
        for my $variant (@backward) {
            my ($good, $is) = ($unspoilt{"$variant backward"}, compute({ %$spoilt, d_out => $all{d_out} }, $variant, @outputs));
            my ($seen, @strays) = 0;
            for my $name (@outputs) {
                for my $place (changed($name, $good->{$name}, $is->{$name})) {
                    $seen++;
                    my $own = $name =~ /^d_[BC]$/ ? $place->[0] == 1 && $place->[1] == 1 # the group's, in that batch
                        : @{ $dims{$name} } < 3 || $dims{$name}[0] eq 'channels' ? $place->[0] == 2 # the channel's, of all batches
                        : $place->[0] == 1 && $place->[1] == 2;
                    push @strays, "$name @$place" if !$own;
                }
            }
            is($seen ? "@strays" : 'nothing', '', "$variant backward: $bad in $where changes only what its channel has a part in");
        }
    }
}

# Three segments; each forgets in a dozen steps what comes into it, and yet what is not finite must go through.
{
    my %long = (batch => 1, channels => 2, states => 5, groups => 1, seq_len => 192);
    describe_arrays($p, \%long, \%dims);
    my @changed = qw(d_u d_delta d_A d_B d_C d_z d_initial_state);
    my %in = ((map { my $name = $_; ($name => [map { random() } 1 .. count_of($name)]) } qw(u B C z initial_state d_out)),
        delta => [(8) x count_of('delta')], A => [map { -$_ } (1 .. 5) x 2], delta_softplus => 0);
    for my $case (['d_out', 'NaN'], ['d_out', 'Inf'], ['delta', 'NaN'], ['C', 'NaN'], ['u', 'Inf']) {
        my ($where, $bad) = @$case;
        my $spoilt = { %in, $where => [@{ $in{$where} }] };
        $spoilt->{$where}[$where eq 'u' ? 10 : 180] = 0 + $bad;
        my ($must, $is) = (compute($spoilt, 'steps', @changed), compute($spoilt, 'fused_backward', @changed));
        my $places = sub { join ' ', map { my ($name, $all) = ($_, $_[0]{$_}); map { "$name $_" } grep { !(abs($all->[$_]) < 9**99) } 0 .. $#$all } @changed };
        ok($places->($must) ne '' && $places->($must) eq $places->($is), "fused_backward: $bad in $where goes through segments that have forgotten");
    }
    # Six windows, one after the other, in each order of the simulator.
    my @bits = map {
        local $ENV{CUSIM_SCHEDULE} = $_;
        my $is = compute(\%in, 'checkpoints', @changed);
        join '', map { pack 'f*', @{ $is->{$_} } } @changed;
    } $sim ? ('warp', 'reverse', 'random:1') : ('warp', 'warp');
    is(scalar(grep { $_ ne $bits[0] } @bits), 0, 'checkpoints: the same bits in each order');
    describe_arrays($p, \%size, \%dims);
}

# ---- the gradients of `default` at the borders between sizes of workspace, and between them; several windows and segments ----

# long/workspace.t has larger ones
is(complaint({}, extra('tests_workspace'), shape(1, 1, 4, 1, 130), '--type', 'bf16', '--backward', '--with', 'all'), '', 'workspaces of several sizes');
SKIP: {
    skip 'the simulator says which kernels have run', 4 if !$sim;
    my %runs = (least => 'checkpoints_backward', below => 'checkpoints_backward', all => 'fused_backward');
    for my $variant (sort keys %runs) {
        my $trace = scratch('workspace.csv');
        run_program({ CUSIM_TRACE => $trace }, extra('tests_workspace'), '--backward', '--variant', $variant, shape(1, 1, 16, 1, 130), '--with', 'none');
        my ($kernel) = read_file($trace) =~ /,(\w+_backward)</;
        is($kernel, $runs{$variant}, "$variant: $runs{$variant} has run");
    }
    my $trace = scratch('many.csv');
    run_program({ CUSIM_TRACE => $trace }, $p, '--check-only', '--backward', '--variant', 'default', shape(1, 1, 33, 1, 8), '--with', 'none');
    like(read_file($trace), qr/,checkpoints_backward</, 'more states than the fastest kernels take: checkpoints');
}

# ---- packed sequences (library/tests/calls.c compares them with a loop, and gradients with finite differences; long/shapes.t has more) ----

is(complaint({}, $p, '--seqs', @$_), '', "packed sequences: @$_") for [qw(3 --channels 2 --states 3 --groups 1 --seq-len 7)],
    [qw(4 --channels 6 --states 3 --groups 3 --seq-len 21 --type bf16 --with all)];
refuses('steps of no sequence', qr/takes at least one sequence where there are steps;/, $p, qw(--seqs 0 --seq-len 4 --variant steps));
refuses('a kernel that takes none', qr/variant state_passing does not run forward;/, $p, qw(--seqs 2 --variant state_passing));

# ---- one step (library/tests/steps.c compares it with a loop, with rows that lie apart, in place) ----

is(complaint({}, $p, '--step', @$_), '', "a step: @$_") for [], [qw(--type bf16)], [qw(--type fp16 --batch 6 --channels 20 --states 20 --groups 5 --num-slots 9)];
refuses('a step with more rows than slots', qr/takes a slot for each row, so at least 3, not 2;/, $p, qw(--step --batch 3 --num-slots 2));

# ---- what the user does wrong is told in one sentence ----

refuses('groups that do not divide the channels', qr/takes groups that divide the channels evenly, and 4 channels are not 3 equal groups;/, $p, '--channels', 4, '--groups', 3);
refuses('too many states', qr/takes 1 to 256 states, not 257;/, $p, '--states', 257);
refuses('no state', qr/takes 1 to 256 states, not 0;/, $p, '--states', 0, '--variant', 'steps');
write_array($_, $all{$_}) for qw(u delta A B C D z);
my @given = map { option_of($_) } qw(u delta A B out);
write_npy(scratch('other.npy'), '(2, 2, 3, 6)', (1) x 72);
refuses('arrays whose shapes differ', qr/u\.npy holds \(2, 4, 5\), \S*other\.npy \(2, 2, 3, 6\); give arrays of one shape/, $p, @given, '--C', scratch('other.npy'));
write_npy(scratch('other.npy'), '(2, 3, 3, 5)', (1) x 90);
refuses('groups in files that do not divide the channels', qr/4 channels are not 3 equal groups;/, $p, (map { option_of($_) } qw(u delta A out)), '--B',
    scratch('other.npy'), '--C', scratch('other.npy'));
refuses('an array that is missing', qr/the set of arrays is not complete; forward takes --u, --delta, --A, --B, --C and --out;/, $p, @given);

done_testing;
