# SPDX-License-Identifier: MIT
# Chapters 05 and 06: both sides of every switch that the default makes up to a length of 8196, on every kind of chip. (long/pipe.t has the others.)
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $switches = '256,257,512,513,1023,1025,2048,2049,4095,4096,4097,8192,8196';
for my $case ([program('05_pipe'), '--variant', 'default'], [program('06_backward'), '--variant', 'default'],
    [extra('tests_chips'), '--forward'], [extra('tests_chips'), '--backward']) {
    is(complaint({}, @$case, '--num-seqs', 3, '--seq-len', $switches), '', "@$case: both sides of every switch");
}

done_testing;
