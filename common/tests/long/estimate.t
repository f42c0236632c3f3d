# SPDX-License-Identifier: MIT
# The error of the estimates: every time that was recorded in the bench is estimated anew (cusim/estimate/README.md says what is held).
use strict;
use warnings;
use lib 'common/tests', 'cusim/estimate', 'common/pages';
use Estimate 'chip';
use Linrec;
use Tables;
use Test::More;

my ($bench) = map { m{^([^/]+)/} ? $1 : () } split /\n/, `grep -l '^ *\\.compares_with' [0-9][0-9]_*/kernels.c`;
my $recording = newest($bench, 'h200');
my $chip = chip('h200');

# ---- the parameters are the controls' ----

my $table = read_table($recording);
sub ms {
    my ($variant, $num_seqs, $seq_len, $direction) = @_;
    my ($row) = rows_with($table, variant => $variant, num_seqs => $num_seqs, seq_len => $seq_len, direction => $direction // 'forward');
    return $row->{median_ms};
}
sub is_near {
    my ($parameter, $value, $from) = @_;
    my $off = abs($chip->{$parameter} / $value - 1);
    ok($off < 0.1, "$parameter is what $from says") or diag("$parameter = $chip->{$parameter}, $from says $value");
}
my ($many, $cycles) = (100 * $chip->{sms}, 1e6 * $chip->{clock_ghz}); # in a millisecond
is_near(launch_us => 1e3 * ms('empty', 132, 1024), 'empty');
is_near(dram_gb_per_s => 12 * $many * (65536 - 256) / 1e6 / (ms('add', $many, 65536) - ms('add', $many, 256)), 'add');
is_near(block_cycles => (ms('io_only', $many, 16) - ms('empty', 132, 1024)) * $cycles / 100, 'io_only of 100 blocks an SM, with the latency of one');
is_near(sm_bytes_per_cycle => 12 * 32768 / (ms('copy_only', 1, 65536) - ms('copy_only', 1, 32768)) / $cycles, 'copy_only in one block');
is_near(l2_gb_per_s => 4 * $many * 16384 * (2 + 2 * 8) / 1e6 / ms('io_only', $many, 16384), 'io_only, whose stores are not joined');
my $place = 100 * (ms('copy_only', $many, 16384) / ms('add', $many, 16384) - 1) / 4;
cmp_ok(abs($chip->{place_percent} - $place), '<', 0.2, 'place_percent is what copy_only says, of 4 blocks an SM') or diag($place);

# ---- the errors ----

my $csv = scratch('errors.csv');
my ($status, $out, $err) = run_program('perl', 'common/record/estimates.pl', '--csv', $csv, program($bench), $recording);
is("$status$err", '0', 'every recorded time is estimated') or BAIL_OUT($err);
diag($out);
my ($times) = $out =~ /^(\d+) recorded times/;
my ($median, $most) = $out =~ /^estimate: +median error +([\d.]+) %, nine of ten within +([\d.]+) %/m;
my ($roofline) = $out =~ /^roofline: +median error +([\d.]+) %/m;
cmp_ok($times, '>', 2000, 'times of all kernels, directions and shapes');
cmp_ok($median, '<=', 8, 'their median error');
cmp_ok($most, '<=', $chip->{range_percent}, 'nine of ten lie within the range that the estimates claim');
cmp_ok($median, '<', $roofline / 3, 'the roofline alone is three times as far off');

my %wrong = $out =~ /^pairs whose ranges ([\w ]+): +\d+, of which +([\d.]+) %/mg;
cmp_ok($wrong{'do not overlap'}, '<', 0.5, 'kernels whose ranges do not overlap were recorded in the order of their estimates');
cmp_ok($wrong{overlap}, '>', 10, 'those whose ranges overlap were often not: a tie');

my $columns = 0;
while ($out =~ /^ *(\d+ x +\d+), forward: +\d+ kernels, rank correlation ([\d.]+) .*, (\d+) of (\d+) pairs/mg) {
    my ($shape, $rank, $right, $pairs) = ($1, $2, $3, $4);
    $columns++;
    cmp_ok($right, '>=', 0.97 * $pairs, "$shape: kernels that differ by 15 % are in order");
  TODO: {
        local $TODO = 'kernels within a few per cent of each other are not told apart' if $rank < 0.95;
        cmp_ok($rank, '>=', 0.95, "$shape: rank correlation");
    }
}
is($columns, 4, 'four columns of the ladder');

# ---- blocks that wait for each other ----

my ($waits) = map { m{^([^/]+)/} ? $1 : () } split /\n/, `grep -l "chained_forward" [0-9][0-9]_*/chained.cu`;
my $chains = read_table(newest($waits, 'h200'));
for my $variant (qw(chained three_pass)) {
    my $path = scratch('chains.csv');
    ($status, $out, $err) = run_program('perl', 'cusim/estimate/cusim-estimate', '--num-seqs', 1, '--seq-len', '65536,1048576,16777216,268435456', '--csv', $path, program($waits), '--variant', $variant, '--forward');
    is("$status$err", '0', "$variant: estimated");
    for my $row (@{ read_table($path)->{rows} }) {
        my ($recorded) = rows_with($chains, variant => $variant, num_seqs => 1, seq_len => $row->{seq_len}, direction => 'forward');
        my $off = 100 * ($row->{estimated_ms} / $recorded->{median_ms} - 1);
        cmp_ok(abs $off, '<', 1.25 * $chip->{range_percent}, "$variant, one sequence of $row->{seq_len}") or diag($off);
    }
}
done_testing;
