# SPDX-License-Identifier: MIT
# Half a minute of random shapes for the kernels of all chapters: none is wrong. Each day has a seed of its own, which the
# first line says.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my ($day, $month, $year) = (gmtime)[3 .. 5];
my $seed = 10000 * ($year + 1900) + 100 * ($month + 1) + $day;
my ($status, $out, $err) = run_program('perl', 'common/tests/fuzz.pl', 'SECONDS=30', "SEED=$seed");
note($out);
is($status, 0, "half a minute of random cases, seed $seed: none wrong") or diag("$out$err");
is($err, '', 'and without a terminal no progress is told');
my @idle = $out =~ /^(\S+) +0 cases of/mg;
is("@idle", '', 'every chapter was tried');

done_testing;
