# SPDX-License-Identifier: MIT
# `make run` shows a line a variant of a program's output, and stops where a program fails.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $table = scratch('table.txt');
sub summary { # of a program's output
    my ($direction, @command) = @_;
    my ($status, $out) = run_program(@command);
    write_file($table, $out);
    my ($failed, $said, $err) = run_program('perl', 'common/harness/summary.pl', $table, $direction);
    is("$failed$err", '0', "a summary of @command");
    return ([split /\n/, $said], [split /\n/, $out]);
}

for my $chapter (grep { !compares($_) } chapters()) {
    my $p = program($chapter);
    my (undef, $list) = run_program($p, '--list');
    my @variants = map { (split)[0] } split /\n/, $list;
    my ($summary, $all) = summary('forward', $p, '--num-seqs', 2, '--seq-len', '16,64,40,33', '--repeats', 1);
    is($summary->[0], $all->[0], "$chapter: where it ran");
    is($summary->[1], $all->[2], "$chapter: the table's head");
    is($summary->[-1], $all->[-1], "$chapter: what was checked");
    like($summary->[-1], qr/^all \d+ checks passed$/, "$chapter: and all was right");
    my @rows = grep { !/^(?:copy|add) / } @$summary[2 .. $#$summary - 1];
    my @of_variants = grep { my $row = $_; grep { $row =~ /^\Q$_\E / } @variants } @rows;
    is("@{[map { (split)[3] } @rows]}", "@{[(64) x @of_variants]}", "$chapter: the longest length alone");
    is_deeply(\@rows, [grep { / forward +2 +64 / && !/^(?:copy|add) / } @$all], "$chapter: every variant once, as in the table");
}

my ($summary) = summary('backward', program('06_backward'), '--num-seqs', 2, '--seq-len', 16);
ok(!(grep { / forward / } @$summary) && (grep { /^default +backward +2 +16 / } @$summary), 'another direction');
($summary) = summary('nothing', program('02_cuda_ref'), '--num-seqs', 2, '--seq-len', 16);
is(scalar @$summary, 2, 'a direction that did not run: no head, no rows');
($summary) = summary('forward', program('05_pipe'), '--num-seqs', 2, '--seq-len', '64,1024');
my ($warp) = grep { /^per_warp / } @$summary;
my ($default) = grep { /^default / } @$summary;
ok($warp =~ / 64 / && $default =~ / 1024 /, 'a variant with a limit: its own longest') or diag("@$summary");
($summary) = summary('forward', program('07_bench'), '--num-seqs', 2, '--seq-len', 16);
ok((grep { m{^05_pipe +default } } @$summary) && (grep { m{^06_backward +default } } @$summary), 'a comparison: variants of one name in several chapters');
($summary) = summary('forward', extra('tests_broken'), '--num-seqs', 2, '--seq-len', 16, '--variant', 'a_nan');
like($summary->[-1], qr/^\d+ FAILED$/, 'failures are said');

# neither a sequence longer than 16384 nor one of fewer sequences is what stands for a variant
write_file($table, join '', "x on a GPU\n\nvariant direction num_seqs seq_len ms GB/s % copy % add error\n",
    map { "k forward $_ 1 1 1 1 0.1\n" } '1 64', '1 65536', '100 64', '100 16384', '100 65536');
like((run_program('perl', 'common/harness/summary.pl', $table, 'forward'))[1], qr/error\nk forward 100 16384 1 1 1 1 0\.1\n\z/, 'times, and the shape that stands for a variant');

my @run = ('make', '--no-print-directory', 'BACKEND=' . backend(), '-C', '02_cuda_ref', 'run', 'TABLE=of_the_tests', 'RUN_DEMOS=', 'PLOT=:');
my ($status, $out, $err) = run_program(@run, 'RUN_OPTIONS=--num-seqs 2 --seq-len 16');
ok($status eq 0 && $out =~ /^all_ways +forward +2 +16 .*^all \d+ checks passed$/ms, 'make run shows it') or diag("$out$err");
my @kept = map { join ' ', (split)[0, 1] } grep { / 2 +16 / } split /\n/, read_file('results/of_the_tests.txt');
my @csv = map { "$_->{variant} $_->{direction}" } rows_with(read_table('results/of_the_tests.csv'), num_seqs => 2, seq_len => 16);
ok("@kept" eq "@csv" && @kept >= 4, 'and keeps the whole table') or diag("@kept");
($status, $out, $err) = run_program(@run, 'RUN_OPTIONS=--variant none');
ok($status ne 0 && $err =~ /there is no variant "none"/, 'make run fails where the program does') or diag("$out$err");
unlink glob 'results/of_the_tests.*';
done_testing;
