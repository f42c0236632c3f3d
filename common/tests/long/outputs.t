# SPDX-License-Identifier: MIT
# The outputs in the texts are what the programs print: on the simulator, whose outputs the texts show.
use strict;
use warnings;
use lib 'common/tests', 'common/pages';
use Linrec;
use Texts;
use Test::More;

plan skip_all => "the texts show the simulator's outputs; this is BACKEND=" . backend() if backend() ne 'sim';
for my $path (@ARGV ? @ARGV : texts()) { # prove common/tests/long/outputs.t :: README.md
    my ($status, $out, $err) = run_program('perl', 'common/pages/report.pl', '--check', $path);
    is("$out$err" =~ s/^\(.*\n//mgr, '', "$path shows what is printed");
    diag($_) for grep { /^\(/ } split /\n/, $out;
}

done_testing;
