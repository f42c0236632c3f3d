# SPDX-License-Identifier: MIT
# The reader's own arrays: right results in every direction from every type of element; and every broken file or incomplete set is
# refused without leaving a file behind.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# x, c: lists; the recurrence and its gradients, in perl's doubles
sub forward {
    my ($x, $c) = @_;
    my @y = ($x->[0]);
    push @y, $y[-1] * $c->[$_] + $x->[$_] for 1 .. $#$x;
    return @y;
}
sub backward {
    my ($dy, $c, $y) = @_;
    my (@dx, @dc);
    $dx[$#$dy] = $dy->[-1];
    $dx[$_] = $dx[$_ + 1] * $c->[$_ + 1] + $dy->[$_] for reverse 0 .. $#$dy - 1;
    $dc[$_] = $_ == 0 ? 0 : $y->[$_ - 1] * $dx[$_] for 0 .. $#$dy;
    return (\@dx, \@dc);
}
sub close_to {
    my ($got, $expected) = @_;
    return @$got == @$expected && !grep { !(abs($got->[$_] - $expected->[$_]) <= 1e-5 * (1 + abs $expected->[$_])) } 0 .. $#$got;
}

my ($rows, $length) = (3, 5);
my @x = map { ($_ * 7 % 11) - 5 } 1 .. $rows * $length;
my @c = map { ($_ * 5 % 8) / 8 } 1 .. $rows * $length;
my $x = write_npy(scratch('x.npy'), "($rows, $length)", @x);
my $c = write_npy(scratch('c.npy'), "($rows, $length)", @c);
my $y = scratch('y.npy');
my ($dx, $dc) = (scratch('dx.npy'), scratch('dc.npy'));
sub row { my ($values, $row) = @_; return @$values[$row * $length .. ($row + 1) * $length - 1] }

for my $chapter (chapters()) {
    my $p = program($chapter);
    my ($refused) = run_program($p, '--reverse', '--num-seqs', 1, '--seq-len', 1, '--check-only');
    for my $reverse ($refused ? (0) : (0, 1)) {
        my @turn = $reverse ? sub { reverse @_ } : sub { @_ };
        my $turn = $turn[0];
        my @flag = $reverse ? '--reverse' : ();
        my $name = $reverse ? "$chapter reverse" : $chapter;
        my (@y, @dx, @dc);
        for my $row (0 .. $rows - 1) {
            my @xr = $turn->(row(\@x, $row));
            my @cr = $turn->(row(\@c, $row));
            my @yr = forward(\@xr, \@cr);
            my ($dxr, $dcr) = backward(\@xr, \@cr, \@yr); # x serves as d_outputs
            push @y, $turn->(@yr);
            push @dx, $turn->(@$dxr);
            push @dc, $turn->(@$dcr);
        }
        unlink $y;
        my ($status, $out, $err) = run_program($p, '--inputs', $x, '--coeffs', $c, '--outputs', $y, @flag);
        my ($shape, @got) = read_npy($y);
        ok($status eq 0 && $shape eq "($rows, $length)" && close_to(\@got, \@y), "$name on own arrays") or diag("$out$err@got\n@y");

        my ($no_backward) = run_program($p, '--backward', '--num-seqs', 1, '--seq-len', 1, '--check-only');
        next if $no_backward;
        unlink $dx, $dc;
        ($status, $out, $err) =
            run_program($p, '--d-outputs', $x, '--coeffs', $c, '--outputs', $y, '--d-inputs', $dx, '--d-coeffs', $dc, @flag);
        my ($shape_x, @got_dx) = read_npy($dx);
        my ($shape_c, @got_dc) = read_npy($dc);
        ok($status eq 0 && $shape_x eq $shape && $shape_c eq $shape && close_to(\@got_dx, \@dx) && close_to(\@got_dc, \@dc),
            "$name backward on own arrays") or diag("$out$err");
    }
}

# types, dimensions, zero sizes: one chapter is enough, the harness is shared
my $p = program('02_cuda_ref');
my @one = forward([1 .. 4], [1, 1, 1, 1]);
my $ones = write_npy(scratch('ones.npy'), '(4,)', (1) x 4);
my %types = ('<f4' => 'f<*', '<f8' => 'd<*', '|i1' => 'c*', '<i2' => 's<*', '<i4' => 'l<*', '<i8' => 'q<*',
    '|u1' => 'C*', '<u2' => 'S<*', '<u4' => 'L<*', '<u8' => 'Q<*');
for my $type (sort keys %types) {
    my $typed = write_file(scratch('typed.npy'), npy_bytes($type, '(4,)', pack $types{$type}, 1 .. 4));
    unlink $y;
    my ($status, $out, $err) = run_program($p, '--inputs', $typed, '--coeffs', $ones, '--outputs', $y);
    my ($shape, @got) = read_npy($y);
    ok($status eq 0 && $shape eq '(4,)' && close_to(\@got, \@one), "inputs of type $type, one dimension") or diag($err);
}
my $negative = write_file(scratch('negative.npy'), npy_bytes('<i2', '(2,)', pack 's<*', -3, 5));
run_program($p, '--inputs', $negative, '--coeffs', $negative, '--outputs', $y);
is_deeply([(read_npy($y))[1, 2]], [-3, -10], 'negative integers keep their sign');
for my $shape ('(0,)', '(3, 0)', '(0, 3)') {
    my $empty = write_file(scratch('empty.npy'), npy_bytes('<f4', $shape, ''));
    unlink $y;
    my ($status) = run_program($p, '--inputs', $empty, '--coeffs', $empty, '--outputs', $y);
    ok($status eq 0 && (read_npy($y))[0] eq $shape, "an empty array of shape $shape gives another");
}

# refusals; y.npy must stay what it was
my $before = read_file($y);
my @set = ('--coeffs', $ones, '--outputs', $y);
my $good = npy_bytes('<f4', '(4,)', pack 'f<*', 1 .. 4);
my %bad_files = (
    'missing' => [undef, qr/cannot read: No such file/],
    'empty' => ['', qr/not a \.npy file/],
    'of text' => ["1 2 3 4\n", qr/not a \.npy file/],
    'cut in its header' => [substr($good, 0, 50), qr/truncated inside its header/],
    'cut in its data' => [substr($good, 0, -1), qr/truncated: its header promises 4 elements, it holds 3/],
    'too long' => ["$good!", qr/more bytes than the 4 elements/],
    'of big-endian float32' => [npy_bytes('>f4', '(4,)', 'x' x 16), qr/elements are of type '>f4'/],
    'of complex numbers' => [npy_bytes('<c8', '(4,)', 'x' x 32), qr/elements are of type '<c8'; convert it/],
    'of text' => [npy_bytes('<U20', '(4,)', 'x' x 320), qr/elements are of type '<U20'; convert it/],
    'of records' => [npy_bytes('<f4', '(4,)', 'x' x 32) =~ s/'<f4'/[('a', '<f4'), ('b', '<f4')]/r, qr/elements are records; save one of their fields/],
    'in Fortran order' => [npy_bytes('<f4', '(2, 2)', 'x' x 16, 1), qr/Fortran order/],
    'of 0 dimensions' => [npy_bytes('<f4', '()', 'x' x 4), qr/single number/],
    'of 3 dimensions' => [npy_bytes('<f4', '(1, 2, 2)', 'x' x 16), qr/more than 2 dimensions/],
    'of another shape' => [npy_bytes('<f4', '(5,)', 'x' x 20), qr/arrays of one shape/],
    'of another dimension' => [npy_bytes('<f4', '(1, 4)', 'x' x 16), qr/arrays of one shape/],
    'of an impossible shape' => [npy_bytes('<f4', '(9999999999, 9999999999)', 'x' x 16), qr/too large/],
    'of a negative shape' => [npy_bytes('<f4', '(-4,)', 'x' x 16), qr/no readable shape/],
    'beyond float32' => [npy_bytes('<f8', '(4,)', pack 'd<*', 1, 1e300, 1, 1), qr/element 1 \(1e\+300\) is too large for float32/],
    'of version 9' => ["\x93NUMPY\x09" . substr($good, 7), qr/version 9/],
);
for my $what (sort keys %bad_files) {
    my ($bytes, $like) = @{ $bad_files{$what} };
    my $path = defined $bytes ? write_file(scratch('bad.npy'), $bytes) : scratch('missing.npy');
    refuses("a file $what", $like, $p, '--inputs', $path, @set);
}
refuses('a folder as input', qr/not a \.npy file/, $p, '--inputs', scratch(), @set);
refuses('no outputs named', qr/not complete/, $p, '--inputs', $ones, '--coeffs', $ones);
refuses('no coefficients', qr/not complete/, $p, '--inputs', $ones, '--outputs', $y);
refuses('an empty name', qr/--inputs: the file name is empty/, $p, '--inputs', '', @set);
refuses('inputs and d_outputs', qr/--inputs does not go with --d-outputs/, $p, '--inputs', $ones, '--d-outputs', $ones, @set,
    '--d-inputs', $dx, '--d-coeffs', $dc);
refuses('backward without d_coeffs', qr/not complete/, $p, '--d-outputs', $ones, @set, '--d-inputs', $dx);
refuses('backward without outputs', qr/not complete/, $p, '--d-outputs', $ones, '--coeffs', $ones, '--d-inputs', $dx, '--d-coeffs', $dc);
refuses('both gradients in one file', qr/name the same file/, $p, '--d-outputs', $ones, '--coeffs', $ones, '--outputs', $ones,
    '--d-inputs', $dx, '--d-coeffs', $dx);
refuses('sizes with arrays', qr/do not go with arrays/, $p, '--inputs', $ones, @set, '--num-seqs', 3);
refuses('csv with arrays', qr/do not go with arrays/, $p, '--inputs', $ones, @set, '--csv', scratch('a.csv'));
refuses('unwritable outputs', qr/cannot write/, $p, '--inputs', $ones, '--coeffs', $ones, '--outputs', scratch('no/y.npy'));
is(read_file($y), $before, 'after all refusals the old outputs are still there');
is_deeply([glob scratch('*partial*')], [], 'and no partial file');

# a variant that computes only part of the result, if one asks for it
for my $chapter (chapters()) {
    my $p = program($chapter);
    my ($partial) = (run_program($p, '--list'))[1] =~ /^(\w+) .*\(partial/m or next;
    my ($status, $out) = run_program($p, '--variant', $partial, '--inputs', $x, '--coeffs', $c, '--outputs', $y);
    like("$status $out", qr/^0 .* variant $partial, which computes only part of the result, on /, "$chapter says that $partial is no whole result");
}

done_testing;
