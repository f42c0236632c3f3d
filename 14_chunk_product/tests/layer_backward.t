# SPDX-License-Identifier: MIT
# Chapter 14: the gradients of the layer. Finite differences of the definition, written down once more here in Perl; the same bits in every order;
# a text in two calls is a text in one; a NaN stays where it belongs. That all options in all combinations and types are right,
# layer.t asks of both passes.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('14_chunk_product');
my @backward = complete_variants('14_chunk_product', '--backward');
ok((grep { $_ eq 'loop' } @backward) && (grep { $_ eq 'default' } @backward), "backward: @backward");

sub shape {
    my ($batch, $lengths, $heads, $dk, $dv, $groups) = @_;
    return ('--backward', '--batch', $batch, '--seq-len', $lengths, '--heads', $heads, '--dk', $dk, '--dv', $dv, '--groups', $groups);
}

# ---- around the borders of stretches and of blocks; every order gives the same bits ----

is(complaint({}, $p, shape(@$_), '--with', 'all'), '', "loop, around a stretch of $_->[6] steps: @$_[0 .. 5]")
    for [1, '31,32,33,65', 1, 5, 2, 1, 32], [1, '7,8,9', 1, 100, 2, 1, 8], [1, '3,4,5', 2, 130, 17, 1, 4];
is(complaint({}, $p, shape(1, 65, 1, 128, 8, 1), qw(--with all --type bf16 --variant chunk)), '', 'chunk, past a chunk; more are long/layer_backward.t');
SKIP: {
    skip 'orders are the simulator\'s', 2 if backend() ne 'sim';
    is(complaint({ CUSIM_SCHEDULE => $_ }, $p, shape(1, 9, 4, 40, 18, 2), '--with', 'all'), '', "right in the order $_") for 'reverse', 'random:1';
}

# ---- finite differences of the loss, sum of d_out out and of d_final_state final_state ----

my %size = (batch => 2, seq_len => 5, heads => 4, dk => 3, dv => 2, groups => 2);
my %dims = (
    (map { $_ => [qw(batch seq_len heads dv)] } qw(x z d_out d_x d_z)),
    (map { $_ => [qw(batch seq_len heads)] } qw(dt d_dt)),
    (map { $_ => [qw(batch seq_len groups dk)] } qw(B C d_B d_C)),
    (map { $_ => ['heads'] } qw(A D dt_bias d_A d_D d_dt_bias)),
    (map { $_ => [qw(batch heads dv dk)] } qw(initial_state d_final_state d_initial_state)),
);
describe_arrays($p, \%size, \%dims);

sub loss {
    my ($in) = @_;
    my ($batch, $seq_len, $heads, $dk, $dv, $groups) = @size{qw(batch seq_len heads dk dv groups)};
    my $loss = 0;
    for my $row (0 .. $batch * $heads * $dv - 1) {
        my ($b, $head, $i) = (int($row / $dv / $heads), int($row / $dv) % $heads, $row % $dv);
        my @h = map { $in->{initial_state} ? $in->{initial_state}[$row * $dk + $_] : 0 } 0 .. $dk - 1;
        for my $step ($b * $seq_len .. ($b + 1) * $seq_len - 1) {
            my $at = ($step * $heads + $head) * $dv + $i;
            my $s = $in->{dt}[$step * $heads + $head] + ($in->{dt_bias} ? $in->{dt_bias}[$head] : 0);
            $s = log(1 + exp $s) if $in->{dt_softplus};
            my $y = $in->{D} ? $in->{D}[$head] * $in->{x}[$at] : 0;
            for my $n (0 .. $dk - 1) {
                my $column = ($step * $groups + int($head * $groups / $heads)) * $dk + $n;
                $h[$n] = exp($s * $in->{A}[$head]) * $h[$n] + $s * $in->{x}[$at] * $in->{B}[$column];
                $y += $h[$n] * $in->{C}[$column];
            }
            $loss += $in->{d_out}[$at] * $y * ($in->{z} ? $in->{z}[$at] / (1 + exp -$in->{z}[$at]) : 1);
        }
        $loss += $in->{d_final_state} ? $in->{d_final_state}[$row * $dk + $_] * $h[$_] : 0 for 0 .. $dk - 1;
    }
    return $loss;
}


# Numbers that all types hold, from -1 to 1 in 64ths; a step without softplus is positive, A is negative.
my $state = 1;
sub random { $state = ($state * 1103515245 + 12345) % 2**31; return int($state / 2**24) / 64 - 1 }
my %all = map { my $name = $_; ($name => [map { random() } 1 .. count_of($name)]) } qw(x z dt A B C D dt_bias initial_state d_out d_final_state);
$all{A} = [map { -abs($_) - 0.25 } @{ $all{A} }];
sub inputs {
    my ($softplus, @with) = @_;
    my %in = map { $_ => $all{$_} } qw(x dt A B C d_out), @with;
    $in{dt} = [map { abs($_) + 1 } @{ $all{dt} }] if !$softplus;
    return { %in, dt_softplus => $softplus };
}
sub inputs_of { my ($in) = @_; return grep { ref $in->{$_} && !/^d_/ } sort keys %$in }

my @taking = grep { (run_program($p, '--check-only', shape(0, @size{qw(seq_len heads dk dv groups)}), '--variant', $_))[0] eq '0' } @backward;
for my $with ([0], [0, qw(z)], [1, qw(D dt_bias)], [1, qw(D z dt_bias initial_state d_final_state)]) {
    my ($softplus, @with) = @$with;
    my $in = inputs($softplus, @with);
    my @of = inputs_of($in);
    my %gradient = map { $_ => finite_differences(\&loss, $in, $_) } @of;
    for my $variant (@taking) {
        my $is = compute($in, $variant, map { "d_$_" } @of);
        my @wrong = grep { !(difference($is->{"d_$_"}, $gradient{$_}) < 1e-5) } @of;
        is("@wrong", '', "$variant: what finite differences give, with " . ($softplus ? 'softplus ' : '') . "@with");
    }
}

# ---- a NaN or an infinity changes only what its head, or its group, has a part in, and goes one way in time ----

# Where an array's values differ in bits, each as a hash of places by names.
sub changed {
    my ($name, $before, $after) = @_;
    my @places;
    for my $i (grep { pack('f', $before->[$_]) ne pack('f', $after->[$_]) } 0 .. $#$before) {
        my ($rest, %place) = $i;
        for my $of (reverse @{ $dims{$name} }) {
            $place{$of} = $rest % $size{$of};
            $rest = int($rest / $size{$of});
        }
        push @places, \%place;
    }
    return @places;
}

my @full = (1, qw(D z dt_bias initial_state d_final_state));
my @outputs = map { "d_$_" } inputs_of(inputs(@full));
my ($batch, $step, $head, $row) = (1, 2, 2, 1);
for my $variant (@taking) {
    my $good = compute(inputs(@full), $variant, @outputs);
    for my $where (qw(x z d_out)) {
        my $in = inputs(@full);
        my $spoilt = { %$in, $where => [@{ $in->{$where} }] };
        $spoilt->{$where}[(($batch * $size{seq_len} + $step) * $size{heads} + $head) * $size{dv} + $row] = 0 + 'NaN';
        my $is = compute($spoilt, $variant, @outputs);
        my ($seen, @strays) = 0;
        for my $name (@outputs) {
            for my $place (changed($name, $good->{$name}, $is->{$name})) {
                $seen++;
                my $own = ($place->{batch} // $batch) == $batch && ($place->{heads} // $head) == $head && ($place->{groups} // 1) == 1 && ($place->{dv} // $row) == $row;
                my $t = $place->{seq_len} // $step;
                my $in_time = $where eq 'x' ? $t >= $step || $name eq 'd_x' : $t <= $step;
                push @strays, join ' ', $name, map { $place->{$_} } @{ $dims{$name} } if !$own || !$in_time;
            }
        }
        is($seen ? "@strays" : 'nothing', '', "$variant: a NaN in $where changes only what it has a part in");
    }
}

# ---- a text in two calls is a text in one ----

for my $variant (@taking) {
    my $in = inputs(@full);
    my $whole = compute($in, $variant, @outputs);
    $dims{final_state} = $dims{initial_state};
    my ($first, $second) = (steps_of($in, 0, 2), steps_of($in, 2, 3));
    my (%early, %late);
    {
        local $size{seq_len} = 2;
        my ($forward, %on) = ('loop', map { $_ => $first->{$_} } grep { !/^d_/ || /^d_t/ } keys %$first);
        $dims{out} = $dims{x};
        $second->{initial_state} = compute(\%on, $forward, 'out', 'final_state')->{final_state};
    }
    {
        local $size{seq_len} = 3;
        %late = %{ compute($second, $variant, @outputs) };
    }
    {
        local $size{seq_len} = 2;
        %early = %{ compute({ %$first, d_final_state => $late{d_initial_state} }, $variant, @outputs) };
    }
    my @wrong = grep { !(difference($early{$_}, steps_of($whole, 0, 2)->{$_}) < 1e-6) || !(difference($late{$_}, steps_of($whole, 2, 3)->{$_}) < 1e-6) } qw(d_x d_z d_dt d_B d_C);
    push @wrong, grep { my $name = $_; !(difference([map { $early{$name}[$_] + $late{$name}[$_] } 0 .. $size{heads} - 1], $whole->{$name}) < 1e-6) } qw(d_A d_D d_dt_bias);
    push @wrong, grep { !(difference($early{$_}, $whole->{$_}) < 1e-6) } 'd_initial_state';
    is("@wrong", '', "$variant: two calls with the state, and its gradient, between them are one");
}

done_testing;
