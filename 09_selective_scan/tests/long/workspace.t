# SPDX-License-Identifier: MIT
# Chapter 09: the gradients of `default` with workspaces of several sizes, where they make several windows of several
# segments; and large problems, which are checked by samples: what is wrong is found wherever it is.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my @names = qw(--batch --channels --states --groups --seq-len);
for my $case (['bf16', 2, 3, 4, 1, '40,300'], ['float32', 1, 2, 16, 1, 410], ['float32', 1, 2, 17, 1, 130]) {
    my ($type, @sizes) = @$case;
    my @options = ('--type', $type, map { $names[$_], $sizes[$_] } 0 .. $#names);
    is(complaint({}, extra('tests_workspace'), @options, '--backward', '--with', 'all'), '',
        "workspaces of several sizes: @options");
}

my ($status, $out, $err) = run_program(extra('tests_selective'));
is($status, 0, 'tests_selective runs') or diag($err);
my @samples = $out =~ /^(.*ok) \d+ - (.*)$/mg;
cmp_ok(scalar @samples, '>', 0, 'it tries samples');
while (my ($is, $what) = splice @samples, 0, 2) {
    is($is, 'ok', "samples: $what");
}

done_testing;
