# SPDX-License-Identifier: MIT
# The harness knows no operation: a second one (decay/), with sizes, arrays, kernels and an oracle of its own, has all that the recurrence has.
use strict;
use warnings;
use lib 'common/pages', 'common/tests';
use Linrec;
use Tables;
use Test::More;

my $p = program('decay');
my ($status, $out, $err);

# ---- nothing of the recurrence is left in the harness's files ----

for my $path (glob 'common/{base,harness}/*.{c,h,cu}') {
    my $code = read_file($path) =~ s{/\*.*?\*/|//[^\n]*}{ }gsr;
    my @names = $code =~ /\b(\w*(?:[sS]eq|[cC]oeff|recurrence)\w*|linrec_\w+|"[^"]*linrec[^"]*\.h")/g;
    is_deeply(\@names, [], "$path names nothing of the recurrence");
}

# ---- checks, the table, the CSV ----

my $csv = scratch('decay.csv');
my @command = ($p, '--rows', '3,70', '--columns', 33, '--csv', $csv, '--resume', '--repeats', 2);
($status, $out, $err) = run_program(@command);
ok($status eq 0 && $out =~ /^all \d+ checks passed$/m, 'the kernels without a mistake pass') or diag("$out$err");
like($out, qr/^variant +direction +rows +columns /m, 'the table has the columns of the sizes');
my ($head, @rows) = grep { !/^#/ } split /\n/, read_file($csv);
is($head, 'chapter,variant,direction,rows,columns,type,with,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,max_error',
    'so has the CSV, between the direction and the rest');
my %directions = map { my @f = split /,/, $_, -1; ("$f[0] $f[1] $f[2]" => 1) } grep { !/^07_bench/ } @rows;
is_deeply([sort keys %directions], ['decay blocks backward', 'decay blocks forward', 'decay empty forward', 'decay serial backward', 'decay serial forward'],
    'each kernel in the directions that it has');
is_deeply([grep { (split /,/, $_, -1) != 16 || !/^\w+,\w+,\w+,(?:3|70),33,float32,start,/ } @rows], [], 'every row with its sizes, its type, and with what of flags and optional arrays it is measured');
is_deeply([grep { /,empty,/ && !/,$/ } @rows], [], 'what is partial is not checked');
my ($checks) = $out =~ /^all (\d+) checks passed$/m;
# forward has a flag and two optional arrays, backward the flag and one of them: with everything on four kinds of data, then on one of them,
# on a tiny shape in all other combinations, on a larger one with each left out, with none, and as it is timed
is($checks, 2 * ((4 + 7) + (4 + 3) + (4 + 5) + (4 + 3)), 'two kernels, on all kinds of data, with and without flag and optional arrays');

# what each row of the table is of
sub measured_rows { return map { join ' ', @$_{qw(chapter variant direction rows columns)} } @{ read_table($csv)->{rows} } }
my @all = measured_rows();
my $complete = read_file($csv);
($status, $out) = run_program(@command);
ok($status eq 0 && $out =~ /^nothing was checked$/m, 'a complete table is not measured again');
my @lines = split /\n/, $complete;
write_file($csv, join("\n", @lines[0 .. $#lines - 1]) . "\n");
($status, $out) = run_program(@command);
my @again = $out =~ /^(?:serial|blocks) +(\w+) +(\d+) +33 /mg;
is("@again", 'backward 70 backward 70', 'an interrupted one goes on with the shape that was cut');
is_deeply([measured_rows()], \@all, 'and has all rows in the end');

SKIP: {
    skip 'only the simulator traces', 1 if backend() ne 'sim';
    my $trace = scratch('trace.csv');
    run_program({ CUSIM_TRACE => $trace }, $p, '--rows', 3, '--columns', 33, '--variant', 'serial', '--forward');
    like(read_file($trace), qr/\Achapter,variant,direction,rows,columns,type,with,kernel,line,launches,.*\ndecay,serial,forward,3,33,float32,start,walk_forward<0>,,1,/, 'the trace has its sizes, too');
}

# columns are found by their names
my $table = read_table($csv);
write_table($csv, $table->{comments}, [reverse @{ $table->{columns} }], @{ $table->{rows} });
($status, $out) = run_program(@command);
ok($status eq 0 && $out =~ /^nothing was checked$/m, 'a table with its columns in another order is the same table') or diag($out);
write_file($csv, $complete =~ s/^(chapter.*),rows,/$1,many,/mr);
refuses('a table without one of the sizes', qr/is not a table that this program wrote/, @command);
unlink $csv;

($status, $out, $err) = run_program($p);
ok($status eq 0 && $out =~ /^serial +forward +1 +1100 /m && $err eq '' && (() = $out =~ /^skipped: blocks takes up to 1000 columns, not 1100$/mg) == 1,
    'default shapes, of which some are past a limit, which is said once, in the table') or diag("$out$err");
($status, $out, $err) = run_program($p, '--rows', 3, '--columns', 0);
ok($status eq 0 && $out =~ /checks passed$/m, 'no columns') or diag("$out$err");
($status, $out, $err) = run_program($p, '--rows', 0, '--columns', 3, '--forward');
ok($status eq 0 && $out =~ /checks passed$/m, 'no rows') or diag("$out$err");

# ---- options ----

(undef, $out) = run_program($p, '--help');
like($out, qr/^  --rows L\[,L\.\.\.\] +sums side by side\n  --columns N +elements of a sum$/m, '--help tells the sizes');
like($out, qr/^  --x X\.npy --decay D\.npy \[--start S\.npy\] --y Y\.npy \[--last L\.npy\] \[--negated\]$/m, 'and the arrays, and what may be left out in brackets');
like($out, qr/^  --negated +take each decay with the other sign$/m, 'and the flags');
like($out, qr/^--with takes all, none, or some of negated,start,last: .* timed with start\.$/ms, 'and what is timed');
like($out, qr/^The shape of D, DD is \(columns\)\.$/m, 'and their shapes');
(undef, $out) = run_program($p, '--list');
like($out, qr/^blocks .*\(up to 1000 columns\) \(threads up to 1024\)$/m, '--list shows limits and what can be tuned');
refuses('a list of what takes one number', qr/--columns: "3,4" is not a number of columns; give a whole number/, $p, '--columns', '3,4');
refuses('no number in a list', qr/--rows: "x" is not a number of rows; give whole numbers, as in --rows 16,1000/, $p, '--rows', '3,x');
refuses('a size of another operation', qr/--seq-len is not an option/, $p, '--seq-len', 5);
refuses('a direction that no kernel has', qr/decay does not run reverse;/, $p, '--reverse');
refuses('past the limit of the one that is named', qr/: blocks takes up to 1000 columns, not 1001; choose another shape or variant/, $p, '--variant', 'blocks',
    '--columns', 1001);
refuses('more than the memory', qr/the arrays of 1000000 x 100000000 need .* GB, the device has/, $p, '--rows', 1000000, '--columns', 100000000);
refuses('sizes that overflow', qr/choose a smaller shape/, $p, '--rows', '4611686018427387904', '--columns', '4611686018427387904');
($status, $out) = run_program($p, '--config', 'threads=32', '--rows', 70, '--columns', 3, '--forward');
ok($status eq 0 && $out =~ /^blocks:threads=32 +forward +70 +3 /m && $out !~ /^serial/m, '--config reaches the kernels that take it') or diag($out);
($status, $out, $err) = run_program($p, '--config', 'threads=1024', '--rows', 3, '--columns', 3, '--forward', '--variant', 'blocks');
ok($status eq 2 && $err =~ /blocks does not run with threads=1024 here/, 'and their launchers may refuse it');

# what is measured, with which of the flags and optional arrays
for (['none', 'none', 'none'], ['all', 'negated+start+last', 'negated+start'], ['last', 'last', 'none'], ['start,negated', 'negated+start', 'negated+start']) {
    my ($with, @expected) = @$_;
    ($status, $out, $err) = run_program($p, '--with', $with, '--rows', 3, '--columns', 5, '--variant', 'serial', '--csv', $csv);
    is_deeply([map { $_->{with} } rows_with(read_table($csv), variant => 'serial')], \@expected, "--with $with") or diag("$out$err");
    ok($out =~ /^all 8 checks passed$/m, "--with $with: nothing else is checked");
}
run_program($p, '--negated', '--rows', 3, '--columns', 5, '--variant', 'serial', '--csv', $csv);
is_deeply([map { $_->{with} } rows_with(read_table($csv), variant => 'serial')], ['negated+start', 'negated+start'], 'a flag is measured, too');
refuses('a name that is none', qr/--with: "begin" is nothing to choose; give all, none, or some of negated,start,last/, $p, '--with', 'start,begin');
refuses('no name', qr/--with: "" is nothing to choose/, $p, '--with', 'start,');
refuses('an array that must be there', qr/--with: "x" is nothing to choose/, $p, '--with', 'x');
refuses('what a flag does not take', qr/--negated=1 is not an option/, $p, '--negated=1');

# the type in which arrays are kept
for my $type ('bf16', 'fp16') {
    ($status, $out, $err) = run_program($p, '--type', $type, '--rows', '3,70', '--columns', 33, '--csv', $csv);
    ok($status eq 0 && $out =~ /^arrays kept in $type$/m && $out =~ /^all $checks checks passed$/m, "$type: as many checks as in float32") or diag("$out$err");
    is_deeply([grep { $_->{type} ne $type } @{ read_table($csv)->{rows} }], [], "$type: all rows say so");
    my ($largest) = sort { $b <=> $a } map { $_->{max_error} } rows_with(read_table($csv), variant => 'serial');
    cmp_ok($largest, '>', 0.9, "$type: the bound is as narrow as the rounding");
}
like((run_program($p, '--help'))[1], qr/^  --type TYPE +float32, bf16 or fp16.*^--type says how DY, X, Y, DX are kept/ms, '--help tells the types, and which arrays have them');
refuses('another type', qr/--type: "float16" is not a type; give float32, bf16 or fp16/, $p, '--type', 'float16');
refuses('a kernel of float32 alone', qr/: wide takes float32, not bf16; choose another shape or variant/, $p, 'mistakes', '--variant', 'wide', '--type', 'bf16');
is((run_program($p, 'mistakes', '--variant', 'wide', '--rows', 3, '--columns', 5))[0], 0, 'which runs in float32');
like((run_program($p, 'mistakes', '--list'))[1], qr/^wide .*\(float32\)$/m, 'and --list says so');
refuses('a kernel of 16 bits alone', qr/: narrow takes bf16 and fp16, not float32; choose another shape or variant/, $p, 'mistakes', '--variant', 'narrow');
is((run_program($p, 'mistakes', '--variant', 'narrow', '--rows', 3, '--columns', 5, '--type', $_))[0], 0, "which runs in $_") for 'bf16', 'fp16';
like((run_program($p, 'mistakes', '--list'))[1], qr/^narrow .*\(bf16, fp16\)$/m, 'and --list says so');
my @gigabytes = map { (run_program($p, '--rows', 1000000, '--columns', 100000000, '--variant', 'serial', '--type', $_))[2] =~ /need ([\d.e+]+) GB/ } qw(float32 bf16 fp16);
ok(@gigabytes == 3 && abs($gigabytes[1] / $gigabytes[0] - 0.5) < 0.01 && $gigabytes[1] == $gigabytes[2], 'half the bytes') or diag("@gigabytes");

# ---- the reader's own arrays ----

sub forward {
    my ($x, $decay, $start) = @_;
    return map {
        my ($row, $y) = ($x->[$_], $start ? $start->[$_] : 0);
        [map { $y = $y * $decay->[$_] + $row->[$_] } 0 .. $#$row]
    } 0 .. $#$x;
}
sub backward {
    my ($d_y, $decay, $y, $start) = @_;
    my (@d_x, @d_decay, @d_start);
    for my $r (0 .. $#$d_y) {
        my $next = 0;
        for my $c (reverse 0 .. $#$decay) {
            $next = $d_x[$r][$c] = ($c < $#$decay ? $next * $decay->[$c + 1] : 0) + $d_y->[$r][$c];
            $d_decay[$c] += $next * ($c > 0 ? $y->[$r][$c - 1] : $start ? $start->[$r] : 0);
        }
        $d_start[$r] = $next * $decay->[0];
    }
    return (\@d_x, \@d_decay, \@d_start);
}
sub flat { return map { ref ? @$_ : $_ } @_ }

# small eighths: every result is exact
my @x = ([3, 1, -2, 5], [0, 1, 2, 4], [-1, 7, 0, 2]);
my @decay = (0.5, 0.25, -1, 2);
my @start = (2, -4, 8);
my %file = map { $_ => scratch("$_.npy") } qw(x decay start y d_x d_decay d_start one);
write_npy($file{x}, '(3, 4)', flat(@x));
write_npy($file{decay}, '(4,)', @decay);
write_npy($file{start}, '(3,)', @start);
my @given = ('--decay', $file{decay}, '--y', $file{y});
for my $with (0, 1) {
    my @optional = $with ? ('--start', $file{start}) : ();
    my $name = $with ? 'with the optional array' : 'without the optional array';
    my @y = forward(\@x, \@decay, $with ? \@start : undef);
    for my $variant ('serial', 'blocks') {
        unlink @file{qw(y d_x d_decay d_start)};
        ($status, $out, $err) = run_program($p, '--x', $file{x}, @given, @optional, '--variant', $variant);
        is_deeply([read_npy($file{y})], ['(3, 4)', flat(@y)], "$variant forward $name") or diag($err);
        my ($d_x, $d_decay, $d_start) = backward(\@x, \@decay, \@y, $with ? \@start : undef);
        ($status, $out, $err) = run_program($p, '--d-y', $file{x}, @given, @optional, '--d-x', $file{d_x}, '--d-decay', $file{d_decay},
            $with ? ('--d-start', $file{d_start}) : (), '--variant', $variant);
        is_deeply([read_npy($file{d_x})], ['(3, 4)', flat(@$d_x)], "$variant backward $name: d_x") or diag($err);
        is_deeply([read_npy($file{d_decay})], ['(4,)', @$d_decay], "$variant backward $name: d_decay, which all rows share");
        is_deeply([$with ? read_npy($file{d_start}) : -e $file{d_start}], [$with ? ('(3,)', @$d_start) : undef], "$variant backward $name: d_start");
    }
}
# flags, and arrays that come in pairs
my @negated = map { -$_ } @decay;
my @y = forward(\@x, \@negated, \@start);
run_program($p, '--x', $file{x}, @given, '--start', $file{start}, '--negated', '--last', $file{d_x});
is_deeply([read_npy($file{y})], ['(3, 4)', flat(@y)], 'with a flag');
is_deeply([read_npy($file{d_x})], ['(3,)', map { $_->[-1] } @y], 'and an optional array that is written');
run_program($p, '--d-y', $file{x}, @given, '--d-x', $file{d_x}, '--d-decay', $file{d_decay}, '--negated');
my ($with_sign) = backward(\@x, \@negated, \@y);
is_deeply([read_npy($file{d_x})], ['(3, 4)', flat(@$with_sign)], 'and backward');
my @backward = ($p, '--d-y', $file{x}, @given, '--d-x', $file{d_x}, '--d-decay', $file{d_decay});
refuses('one of a pair', qr/--d-start goes with --start; name both or neither/, @backward, '--start', $file{start});
refuses('the other', qr/--d-start goes with --start; name both or neither/, @backward, '--d-start', $file{d_start});
# in the types of 16 bits: what is read is rounded, a float16 file is written for fp16, a float32 one for bf16
for (['bf16', '<f4', 1.0078125, 257, 256, 258], ['fp16', '<f2', 1.0009765625, 2049, 2048, 2050]) {
    my ($type, $written, $next, $between, $low, $high) = @$_;
    write_npy($file{x}, '(3, 2)', 1, $next, $between, 1, -$between, $high + 1);
    write_npy($file{decay}, '(2,)', 0, 0);
    ($status, $out, $err) = run_program($p, '--x', $file{x}, @given, '--type', $type);
    is_deeply([read_npy($file{y})], ['(3, 2)', 1, $next, $low, 1, -$low, $high + 2], "$type: what is read is rounded to the nearest, to even in between") or diag($err);
    like(read_file($file{y}), qr/'descr': '$written'/, "$type: written as $written");
    write_npy($file{x}, '(1, 2)', $between, 0);
    write_npy($file{decay}, '(2,)', 0, 1);
    run_program($p, '--x', $file{x}, @given, '--type', $type, '--last', $file{d_x});
    is_deeply([map { [read_npy($file{$_})] } qw(y d_x)], [['(1, 2)', $low, $low], ['(1,)', $low]], "$type: the other arrays are float32");
    like(read_file($file{d_x}), qr/'descr': '<f4'/, "$type: in their files, too");
}
run_program($p, '--x', $file{x}, @given, '--type', 'fp16');
is((run_program($p, '--print', $file{y}))[1], "2048 2048\n", '--print shows a float16 file');
($status, $out, $err) = run_program($p, '--x', $file{y}, '--decay', $file{decay}, '--y', $file{d_x});
is_deeply([read_npy($file{d_x})], ['(1, 2)', 2048, 4096], 'and a program reads it') or diag($err);
write_npy($file{x}, '(1, 2)', 3, 65520);
refuses('a value beyond fp16', qr/x\.npy: element 1 \(65520\) is too large for fp16; scale the array/, $p, '--x', $file{x}, @given, '--type', 'fp16');
write_npy($file{x}, '(1, 2)', 65504, 65504);
run_program($p, '--x', $file{x}, @given, '--type', 'fp16');
is_deeply([read_npy($file{y})], ['(1, 2)', 65504, 9**9**9], 'a sum beyond it is infinite');
write_npy($file{x}, '(3, 4)', flat(@x));
write_npy($file{decay}, '(4,)', @decay);

refuses('--with and arrays', qr/--with does not go with arrays/, $p, '--x', $file{x}, @given, '--with', 'all');

write_npy($file{one}, '(4,)', @{ $x[0] });
unlink $file{y};
run_program($p, '--x', $file{one}, @given);
is_deeply([read_npy($file{y})], ['(4,)', flat(forward([$x[0]], \@decay))], 'one row, without its dimension');

my $before = read_file($file{y});
write_npy(scratch('five.npy'), '(5,)', 1 .. 5);
write_npy(scratch('cube.npy'), '(1, 3, 4)', 1 .. 12);
refuses('a shape that does not fit the others', qr/x\.npy holds \(3, 4\), \S*five\.npy \(5,\); give arrays of one shape/, $p, '--x', $file{x}, '--decay',
    scratch('five.npy'), '--y', $file{y});
refuses('a dimension too many', qr/cube\.npy: it has more than 2 dimensions; reshape it to \(rows, columns\)/, $p, '--x', scratch('cube.npy'), @given);
refuses('a dimension too few', qr/x\.npy: it has more than 1 dimension; reshape it to \(columns\)/, $p, '--x', $file{x}, '--decay', $file{x}, '--y', $file{y});
refuses('an array that is missing', qr/not complete; forward takes --x, --decay and --y; backward takes --d-y, --decay, --y, --d-x and --d-decay/, $p, '--x', $file{x},
    '--y', $file{y});
refuses('an array of the other pass', qr/--x does not go with --d-y;/, $p, '--x', $file{x}, '--d-y', $file{x}, @given, '--d-x', $file{d_x}, '--d-decay', $file{d_decay});
refuses('sizes with arrays', qr/--rows and --columns do not go with arrays/, $p, '--x', $file{x}, @given, '--rows', 3);
refuses('two outputs in one file', qr/--d-x and --d-decay name the same file/, $p, '--d-y', $file{x}, @given, '--d-x', $file{d_x}, '--d-decay', $file{d_x});
is(read_file($file{y}), $before, 'after all refusals the file is what it was');

($status, $out, $err) = run_program($p, '--fill', 'ramp', '--rows', 2, '--columns', 3, '--x', $file{x}, '--decay', $file{decay}, '--start', $file{start});
is("$status$err", 0, '--fill');
is_deeply([map { [read_npy($file{$_})] } qw(x decay start)], [['(2, 3)', 0, 1, 2, 0, 1, 2], ['(3,)', 0, 1, 2], ['(2,)', 0, 1]], 'each array in its own shape');
is((run_program($p, '--print', $file{x}))[1], "0 1 2\n0 1 2\n", '--print');
refuses('--fill without a size', qr/--fill needs one number of columns; give it with --columns/, $p, '--fill', 'ramp', '--rows', 2, '--x', $file{x});

# ---- mistakes are found, and told by the names of the operation ----

my $sim = backend() eq 'sim';
my %told = (
    no_start => qr/^FAILED no_start forward, 3 x 5, uniform decays, --with negated,start,last: 18 of 18 elements are wrong, the first is y\[0, 0\] of thread 0 of the rows: expected /m,
    no_sign => qr/FAILED no_sign forward, 3 x 5, uniform decays, --with negated,start,last: /,
    no_pair => qr/\AFAILED no_pair forward, 3 x 5, near one decays, --with negated,last: 3 of 18 elements are wrong, the first is last\[0\] of thread 0 of the rows: expected [^\n]*\n\z/,
    no_last => qr/3 of 18 elements are wrong, the first is y\[0, 4\] of thread 0 of the rows: expected .*, got what was there before: it is not written, or computed from that$/m,
    changes => qr/the launch changed an array that it should only read$/m,
    late => qr/ of 23 elements are wrong, the first is d_x\[0, \d\] of thread 0 of the rows: /,
    dirty => qr/ of 23 elements are wrong, the first is d_x\[0, 0\] of thread 0 of the rows: expected .*, got what was there before: it is not written, or computed from that$/m,
    lost_row => qr/5 of 23 elements are wrong, the first is d_decay\[0\] of thread 0 of the columns: /,
    past => $sim ? qr/launch\.cu:\d+: error: kernel walk_forward<\d>, block \(0,0,0\), thread \(2,0,0\): writes y\[3\]\[0\], past the end \(the last is y\[2\]\[4\]\)\./
        : qr/4 bytes before or past an output array were written/,
);
for my $mistake (sort keys %told) {
    ($status, $out, $err) = run_program($p, 'mistakes', '--variant', $mistake, '--check-only', '--rows', 3, '--columns', 5);
    ok($status eq 1 && $err =~ $told{$mistake}, "caught: $mistake") or diag("status $status\n$err");
}
for (['no_start', 'negated,last', 'start,last'], ['no_sign', 'start', 'negated'], ['no_pair', 'negated,start', 'negated,last']) {
    my ($variant, $right, $wrong) = @$_;
    my @status = map { (run_program($p, 'mistakes', '--variant', $variant, '--check-only', '--rows', 3, '--columns', 5, '--with', $_))[0] } $right, $wrong;
    is("@status", '0 1', "$variant: right --with $right, wrong --with $wrong");
}
($status, $out, $err) = run_program($p, 'mistakes', '--variant', 'no_last', '--check-only', '--rows', '3,4,5', '--columns', 5);
like($err, qr/^and \d+ more; --variant NAME --rows L narrows it down$/m, 'the size with a list narrows it down');

($status, $out, $err) = run_program($p, 'mistakes', '--variant', 'cut', '--check-only', '--rows', 3, '--columns', 5, '--type', 'bf16');
ok($status eq 1 && $err =~ / elements are wrong, the first is y\[/, 'caught: cut off instead of rounded') or diag("$out$err");
($status, $out, $err) = run_program($p, 'mistakes', '--variant', 'no_last', '--check-only', '--rows', 3, '--columns', 5, '--type', 'bf16');
ok($status eq 1 && $err =~ /3 of 18 elements are wrong, the first is y\[0, 4\]/, 'caught: bf16 that was not written');
($status, $out, $err) = run_program($p, 'mistakes', '--variant', 'past', '--check-only', '--rows', 3, '--columns', 5, '--type', 'fp16');
ok($status eq 1 && $err =~ ($sim ? qr/writes y\[3\]\[0\], past the end \(the last is y\[2\]\[4\]\)\./ : qr/2 bytes before or past an output array were written/), 'caught: fp16 past the end')
    or diag($err);

# ---- a comparison: a chapter names earlier ones, or some of their kernels ----

(undef, $out) = run_program($p, 'comparison', '--list');
is_deeply([map { (split)[0] } split /\n/, $out], ['mistakes/past', 'decay/serial', 'decay/blocks'], 'the kernels that it names, by their chapters');
like($out, qr{^decay/serial .*\(default\)$}m, 'the last chapter gives the default');
($status, $out, $err) = run_program($p, 'comparison', '--rows', 4, '--columns', 6, '--variant', 'decay/serial', '--csv', $csv);
ok($status eq 0 && $out =~ /^chapter +variant .*^decay +serial +forward +4 +6 /ms && $out =~ /^all 12 checks passed$/m, 'a kernel of another chapter, on the kind that tells most')
    or diag("$out$err");
like(read_file($csv), qr/^decay,serial,forward,4,6,/m, 'its row stands under its own chapter');
run_program($p, 'comparison', '--x', $file{x}, '--decay', $file{decay}, '--y', $file{y});
is_deeply([read_npy($file{y})], ['(2, 3)', flat(forward([[0 .. 2], [0 .. 2]], [0 .. 2]))], 'the default runs on own arrays');

# in a terminal: what is being done, and the time that is left
my $where = scratch('terminal');
my $told = system("script -qec '$p comparison --rows 3,4 --columns 5 --check-only --variant decay/serial' /dev/null > $where 2> /dev/null < /dev/null") == 0
    ? read_file($where) : '';
SKIP: {
    skip 'no script here to run a program in a terminal', 1 if $told eq '';
    like($told, qr/\r\e\[K\[ *\d+ %, about \d+ min \d\d s left\] checking decay\/serial backward, 4 x 5, near one/, 'progress, and the time left');
}

done_testing;
