# SPDX-License-Identifier: MIT
# What is seen on a terminal: no line is wider than it, a verdict is green or red, and a mistyped target is told. Files and pipes get none of this.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(NO_COLOR MAKEFLAGS MFLAGS MAKELEVEL)};
$ENV{BACKEND} = backend();
my $p = program('03_tile');

# What a command shows on a terminal of so many columns.
sub shown {
    my ($columns, $command) = @_;
    my ($status, $out) = run_program({ TERM => 'xterm' }, 'script', '-qec', "stty cols $columns; $command", '/dev/null');
    return $out =~ s/\r//gr;
}

sub longest { return (sort { $b <=> $a } map { length } split /\n/, $_[0] =~ s/\e\[\d*[mK]//gr)[0] }

SKIP: {
    skip 'script, which makes a terminal, is not here', 15 if system('script -qec true /dev/null > /dev/null 2>&1') != 0;

    my $command = "$p --num-seqs 2 --seq-len 16,33 --repeats 1 2> /dev/null";
    my $piped = (run_program('sh', '-c', $command))[1];
    my $table = qr/^variant.*\n(?:\w+ .*\n)+/m;
    my ($wide, $narrow, $narrower) = map { shown($_, $command) } 200, 80, 60;
    is(($wide =~ /($table)/)[0], ($piped =~ /($table)/)[0], 'on a wide terminal a table is as in a file') if backend() eq 'sim';
    is(($narrow =~ /($table)/)[0] =~ s/ +/ /gr, ($piped =~ /($table)/)[0] =~ s/ +/ /gr, 'on one of 80 columns it has the same lines, closer together') if backend() eq 'sim';
    cmp_ok(longest(($narrow =~ /($table)/)[0]), '<=', 80, '... which fit');
    cmp_ok(longest(($narrower =~ /^(variant.*?)^\n/ms)[0]), '<=', 60, 'on one of 60 columns its lines are folded');
    like($narrower, qr/^variant .*\n    +.*\berror\n/m, '... and indented');

    like($narrow, qr/^\e\[32mall \d+ checks passed\e\[0m$/m, 'what is right is green');
    unlike($piped, qr/\e/, 'in a pipe there is no colour');
    unlike(shown(80, "NO_COLOR=1 $command"), qr/\e\[3/, 'nor with NO_COLOR');

    my $file = write_file(scratch('table.txt'), $piped =~ s/^all \d+ checks passed$/1 FAILED/mr);
    my $summary = shown(70, "perl common/harness/summary.pl $file forward");
    cmp_ok(longest($summary), '<=', 70, 'the summary fits, too');
    like($summary, qr/^\e\[31m1 FAILED\e\[0m$/m, '... and what is wrong is red');
    like((run_program('perl', 'common/harness/summary.pl', $file, 'forward'))[1], qr/\n1 FAILED\n\z/, '... in a pipe it is not');

    for my $what (backend() eq 'sim' ? ('trace', 'estimate NUM_SEQS=4 SEQ_LEN=64') : ()) {
        cmp_ok(longest(shown(80, "make -s -C 03_tile $what 2> /dev/null")), '<=', 80, "make $what fits, too");
    }

    my ($task) = glob '[0-9][0-9]_*/exercises/add.cu';
    my $report = shown(50, "make -s exercise EX=02.1 FILE=$task");
    my ($text) = $report =~ /\A.*?(02\.1 .*?)\nmake:/s;
    cmp_ok(longest($text), '<=', 50, 'what the judge says fits, too') or diag($report);
    like($text, qr/^\e\[31mA result is wrong\.\e\[0m$/m, '... and a wrong answer is red');
    my $plain = (run_program('make', '-s', 'exercise', 'EX=02.1', "FILE=$task"))[1];
    is($text =~ s/\e\[\d+m//gr =~ s/\s+/ /gr, $plain =~ s/\s+/ /gr =~ s/ \z//r, '... in whole words, the same ones as in a pipe');
}

# ---- make help, and a target that there is not ----

my $help = (run_program(qw(make --no-print-directory help)))[1];
cmp_ok(longest($help), '<=', 80, 'make help fits into 80 columns');
my ($first) = $help =~ /\A.*?\n\n(.*?)\n\n/s;
is(scalar(() = $first =~ /^make\b/mg), 10, 'a learner\'s commands come first, ten of them');
like($first, qr/^make \Q$_\E /m, "... $_ among them") for qw(run exercises exercise hint watch);

for (['runn', qr/`make run' was meant/], ['exercsie', qr/`make exercise' was meant/], ['02.1', qr/EX=02\.1/], ['xyzzy', qr/`make help'/]) {
    my ($typed, $says) = @$_;
    my ($status, $out, $err) = run_program('make', $typed);
    ok($status eq 2 && $err =~ /\A\S+: \*\*\* there is no target `\Q$typed\E'; .*$says.*  Stop\.\n\z/, "make $typed: what was meant") or diag("$status $err");
}
my ($status, $out, $err) = run_program('make', '-C', '03_tile', 'chekc');
like($err, qr/`make check' was meant/, 'in a chapter, too');

done_testing;
