# SPDX-License-Identifier: MIT
# Chapter 06: gradients are what finite differences say, and the faults that such kernels tend to have are not here.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $p = program('06_backward');

# The loss sum(d_outputs * outputs), in doubles; its derivative by each input and each coefficient, by differences.
sub loss {
    my ($x, $c, $dy) = @_;
    my ($y, $loss) = (0, 0);
    for my $l (0 .. $#$x) {
        $y = $l == 0 ? $x->[0] : $y * $c->[$l] + $x->[$l];
        $loss += $dy->[$l] * $y;
    }
    return $loss;
}
sub differences {
    my ($x, $c, $dy, $by) = @_;
    return map {
        my ($keep, $h) = ($by->[$_], 1e-4);
        $by->[$_] = $keep + $h;
        my $above = loss($x, $c, $dy);
        $by->[$_] = $keep - $h;
        my $below = loss($x, $c, $dy);
        $by->[$_] = $keep;
        ($above - $below) / (2 * $h);
    } 0 .. $#$by;
}

my @variants = complete_variants('06_backward', '--backward');
cmp_ok(@variants, '>=', 6, 'the variants with gradients');
for my $length (1 .. 6, 9) {
    my @x = map { ($_ * 7 % 11 - 5) / 4 } 1 .. $length;
    my @c = map { ($_ * 5 % 8 - 3) / 4 } 1 .. $length;
    my @dy = map { ($_ * 3 % 7 - 3) / 2 } 1 .. $length;
    my @expected = (differences(\@x, \@c, \@dy, \@x), differences(\@x, \@c, \@dy, \@c));
    for my $reverse (0, 1) {
        my $turn = $reverse ? sub { reverse @_ } : sub { @_ };
        my %file = map { $_ => scratch("$_.npy") } qw(x c dy y dx dc);
        write_npy($file{x}, "($length,)", $turn->(@x));
        write_npy($file{c}, "($length,)", $turn->(@c));
        write_npy($file{dy}, "($length,)", $turn->(@dy));
        unlink $file{y};
        run_program($p, '--inputs', $file{x}, '--coeffs', $file{c}, '--outputs', $file{y}, $reverse ? '--reverse' : ());
        my @wrong = grep {
            unlink @file{qw(dx dc)};
            run_program($p, '--d-outputs', $file{dy}, '--coeffs', $file{c}, '--outputs', $file{y}, '--d-inputs', $file{dx}, '--d-coeffs', $file{dc},
                '--variant', $_, $reverse ? '--reverse' : ());
            my @got = map { my (undef, @values) = read_npy($file{$_}); $turn->(@values) } qw(dx dc);
            @got != @expected || grep { !(abs($got[$_] - $expected[$_]) <= 1e-5 * (1 + abs $expected[$_])) } 0 .. $#expected;
        } @variants;
        is("@wrong", '', ($reverse ? 'reversed' : 'forward') . ", $length elements: all variants agree with finite differences");
    }
}

# Nothing comes into a scan, and that is not a zero that an infinite product could turn into NaN. In the order of the scan: d_outputs 1
# and coefficients that make infinity from some element on; or zeros, which no product changes.
for my $case (['infinity stays infinity', 7, [(1) x 7], [1, 9**9**9, (1) x 5]], ['zeros stay zeros', 300, [(0) x 300], [(1.5) x 300]],
    ['zeros stay zeros', 4, [(0) x 4], [(1e20) x 4]]) {
    my ($name, $length, $dy, $c) = @$case;
    my @expected = $dy->[0] ? (1, 2, ('Inf') x ($length - 2)) : (0) x $length;
    for my $reverse (0, 1) { # the scan runs against the pass
        my $turn = $reverse ? sub { @_ } : sub { reverse @_ };
        my %file = map { $_ => scratch("$_.npy") } qw(c dy y dx dc);
        write_npy($file{dy}, "($length,)", $turn->(@$dy));
        write_npy($file{c}, "($length,)", $turn->(@$c));
        write_npy($file{y}, "($length,)", (1) x $length);
        my @wrong = grep {
            unlink @file{qw(dx dc)};
            run_program($p, '--d-outputs', $file{dy}, '--coeffs', $file{c}, '--outputs', $file{y}, '--d-inputs', $file{dx}, '--d-coeffs', $file{dc},
                '--variant', $_, $reverse ? '--reverse' : ());
            my (undef, @got) = read_npy($file{dx});
            join(' ', $turn->(@got)) ne join(' ', @expected);
        } @variants;
        is("@wrong", '', "$name, $length elements, " . ($reverse ? 'reversed' : 'forward') . ': all variants');
    }
}

# the same for the scan alone, reversed
{
    my %file = map { $_ => scratch("$_.npy") } qw(x c y);
    write_npy($file{x}, '(7,)', (1) x 7);
    write_npy($file{c}, '(7,)', (1) x 5, 9**9**9, 1);
    my @wrong = grep {
        unlink $file{y};
        run_program($p, '--inputs', $file{x}, '--coeffs', $file{c}, '--outputs', $file{y}, '--variant', $_, '--reverse');
        my (undef, @got) = read_npy($file{y});
        "@got" ne join ' ', ('Inf') x 6, 1;
    } complete_variants('06_backward', '--reverse');
    is("@wrong", '', 'infinity stays infinity, the scan reversed: all variants');
}

# of a few shapes; long/shapes.t has the rest
my %named = (
    'reversed gradients of 2 to 32 elements, up to twice what a thread holds' => [3, join(',', 2 .. 32), '--reverse'],
    'every remainder of the length modulo 4, so rows at every alignment' => [5, '1021,1022,1023,1025'],
    'around a tile and a stage of two' => [1, join(',', map { $_ - 1, $_ + 4 } 1024, 2048, 4096)],
    'the same reversed' => [1, join(',', map { $_ - 1, $_ + 4 } 1024, 2048, 4096), '--reverse'],
    'one row, whose both edges are the arrays\'' => [1, '1,2,3,4,5,511,512,1027,8191'],
);
for my $name (sort keys %named) {
    my ($num_seqs, $lengths, @reverse) = @{ $named{$name} };
    my ($status, $out, $err) = run_program($p, '--check-only', '--backward', '--num-seqs', $num_seqs, '--seq-len', $lengths, @reverse);
    ok($status eq 0 && $out =~ /^all \d+ checks passed$/m, $name) or diag($err);
}

# A sequence in two files, of which the second goes on from the first one's state, is the sequence in one.
{
    my ($length, $cut) = (300, 131);
    my @x = map { ($_ * 7 % 11 - 5) / 4 } 1 .. $length;
    my @c = map { ($_ * 5 % 8 - 3) / 4 } 1 .. $length;
    my %file = map { $_ => scratch("$_.npy") } qw(x c y f);
    my @got;
    for my $piece ([0, $cut - 1], [$cut, $length - 1]) {
        my @at = $piece->[0] .. $piece->[1];
        write_npy($file{x}, '(' . @at . ',)', @x[@at]);
        write_npy($file{c}, '(' . @at . ',)', @c[@at]);
        run_program($p, '--inputs', $file{x}, '--coeffs', $file{c}, '--outputs', $file{y}, $piece->[0] == 0 ? '--final-state' : '--initial-state', $file{f});
        my (undef, @values) = read_npy($file{y});
        push @got, @values;
    }
    my $y = 0;
    my @wrong = grep { $y = $_ == 0 ? $x[0] : $y * $c[$_] + $x[$_]; !defined $got[$_] || !(abs($got[$_] - $y) <= 1e-5 * (1 + abs $y)) } 0 .. $#x;
    is("@wrong[0 .. ($#wrong < 3 ? $#wrong : 3)]", '', 'two files, the second of which goes on from the state of the first, are the whole');

    my ($status, $out, $err) = run_program(program('05_pipe'), '--inputs', $file{x}, '--coeffs', $file{c}, '--outputs', $file{y}, '--initial-state', $file{f});
    is($status, 2, 'a chapter whose kernels take no states');
    like($err, qr/does not take initial_state/, '... says so');
}

done_testing;
