# SPDX-License-Identifier: MIT
# Chapters 05 and 06: the lengths around the default's switches that pipe.t leaves out, on every kind of chip; and long rows with long memory.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $switches = '255,511,1024,2047,4092,8188,8193,10007,16383,16384,16385,32768,32769,32772,40000';
for my $case ([program('05_pipe'), '--variant', 'default'], [program('06_backward'), '--variant', 'default'],
    [extra('tests_chips'), '--forward'], [extra('tests_chips'), '--backward']) {
    is(complaint({}, @$case, '--num-seqs', 3, '--seq-len', $switches), '', "@$case: both sides of every switch");
}

my ($status, $out, $err) = run_program(program('05_pipe'), '--check-only', '--num-seqs', 1, '--seq-len', '131072,4194304', '--variant', 'default');
ok($status eq 0, 'the error bound holds at 2^17 elements in a chain, and at 2^22 with a zero now and then, with coefficients near one') or diag($err);

done_testing;
