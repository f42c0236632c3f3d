# SPDX-License-Identifier: MIT
# --fill makes .npy files and --print shows them, without NumPy; and neither does anything else.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $p = program('02_cuda_ref');
my ($x, $c, $y, $table) = map { scratch($_) } qw(x.npy c.npy y.npy table.csv);

# pattern, rows, and each line as --print shows it
my @right = (
    ['zeros', 2, '0 0 0 0 0', '0 0 0 0 0'],
    ['ones', 2, '1 1 1 1 1', '1 1 1 1 1'],
    ['ramp', 2, '0 1 2 3 4', '0 1 2 3 4'],
    ['alternate', 2, '1 -1 1 -1 1', '1 -1 1 -1 1'],
    ['0.5', 2, '0.5 0.5 0.5 0.5 0.5', '0.5 0.5 0.5 0.5 0.5'],
    ['1,1,1,1,nan,1', 2, '1 1 1 1 nan', '1 1 1 1 1'],
    ['3,-1,4e10,inf,5', 1, '3 -1 4e+10 inf 5'],
);
for (@right) {
    my ($pattern, $rows, @lines) = @$_;
    my ($status, $out, $err) = run_program($p, '--fill', $pattern, '--num-seqs', $rows, '--seq-len', 5, '--inputs', $x, '--d-coeffs', $c);
    ok($status eq 0 && "$out$err" eq '', "--fill $pattern") or diag("$out$err");
    ok((read_npy($x))[0] eq "($rows, 5)" && read_file($x) eq read_file($c), "$pattern: every file that is named, in that shape");
    ($status, $out, $err) = run_program($p, '--print', $x);
    is("$status $out$err", join("\n", "0 $lines[0]", @lines[1 .. $#lines]) . "\n", "--print shows $pattern");
}
run_program($p, '--fill', '0.5', '--seq-len', 3, '--coeffs', $c);
is_deeply([read_npy($c)], ['(3,)', 0.5, 0.5, 0.5], 'without --num-seqs: one dimension');
run_program($p, '--fill', 'ramp', '--seq-len', 3, '--inputs', $x);
run_program($p, '--inputs', $x, '--coeffs', $c, '--outputs', $y);
is((run_program($p, '--print', $y))[1], "0 1 2.5\n", 'kernels run on what was made, and their result can be shown');
write_npy($x, '(2,)', unpack 'f<*', pack 'L<*', 0xFFC00000, 0x7FC00000);
is((run_program($p, '--print', $x))[1], "nan nan\n", 'a NaN has no sign');
run_program($p, '--fill', 'ramp', '--num-seqs', 3, '--seq-len', 0, '--inputs', $x);
is((read_npy($x))[0], '(3, 0)', 'an empty array');

# as long as a name may be; one more is refused
my ($longest, $longer) = map { scratch('n' x (251 + $_) . '.npy') } 0, 1;
my ($status, $out, $err) = run_program($p, '--fill', 'ramp', '--seq-len', 3, '--inputs', $longest);
is("$status$out$err", 0, 'a file whose name is as long as a name may be');
is_deeply([read_npy($longest)], ['(3,)', 0, 1, 2], 'is there');
refuses('a longer name', qr/File name too long; name another file$/, $p, '--fill', 'ramp', '--seq-len', 3, '--inputs', $longer);

# refusals, which leave the file as it was
my $before = read_file($x);
my @fill = ('--fill', 'ramp', '--inputs', $x);
refuses("no pattern: '$_'", qr/--fill: "\Q$_\E" is no pattern; give zeros, ones, ramp/, $p, '--fill', $_, '--seq-len', 9, '--inputs', $x)
    for '', 'one', '1,', ',1', '1;2', '1,two';
refuses('more numbers than elements', qr/more numbers than the 2 elements/, $p, '--fill', '1,2,3', '--seq-len', 2, '--inputs', $x);
refuses('a number beyond float32', qr/too large for float32/, $p, '--fill', '1e39', '--seq-len', 2, '--inputs', $x);
refuses('no length', qr/--fill needs one length/, $p, @fill);
refuses('two lengths', qr/--fill needs one length/, $p, @fill, '--seq-len', '3,4');
refuses('no file', qr/name one$/, $p, '--fill', 'ramp', '--seq-len', 3);
refuses('a shape past reason', qr/choose a smaller shape/, $p, @fill, '--num-seqs', '4611686018427387904', '--seq-len', 8);
refuses('a file in no folder', qr/cannot write/, $p, @fill, '--seq-len', 3, '--outputs', scratch('no/y.npy'));
refuses("--fill with $_->[0]", qr/$_->[0] does not go with --fill/, $p, @fill, '--seq-len', 3, @$_)
    for ['--variant', 'full_blocks'], ['--csv', $table], ['--reverse'], ['--check-only'], ['--list'], ['--print', $x], ['--config', 'rows=1'];
refuses("--print with $_->[0]", qr/$_->[0] does not go with --print/, $p, '--print', $x, @$_) for ['--seq-len', 3], ['--inputs', $x], ['--backward'];
refuses('--print of a file without a name', qr/--print: the file name is empty; name a \.npy file$/, $p, '--print', '');
refuses('--print of no file', qr/cannot read/, $p, '--print', scratch('none.npy'));
refuses('--print of another file', qr/not a \.npy file/, $p, '--print', 'README.md');
is(read_file($x), $before, 'after all refusals the file is what it was');
ok(!-e $table && !glob(scratch('*partial*')), 'and no other file is there');
done_testing;
