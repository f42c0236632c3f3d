# SPDX-License-Identifier: MIT
# Chapter 12 with 1, 2, 3, 4 and 7 ranks: right in every direction, also with fewer elements than ranks, and as many
# bytes, messages and steps as the text says.
use strict;
use warnings;
use lib 'common/tests', '12_ranks/tests';
use Linrec;
use List::Util 'max';
use Ranks;
use Test::More;

plan skip_all => '12_ranks is not built: there is no mpicc here' if !-x program('12_ranks') || !mpirun();

# ---- right ----

for my $number (1, 2, 3, 4, 7) {
    my $lengths = $number == 2 ? '1,131,10007' : '0,3,131,2050';
    my ($status, $out, $err) = ranks($number, '12_ranks', '--check-only', '--num-seqs', 2, '--seq-len', $lengths);
    is($status, 0, "$number ranks, all directions and variants, odd lengths") or diag($err);
    like($out, qr/^all \d+ checks passed$/m, 'and all was checked');
}
{
    local $ENV{CUSIM_SCHEDULE} = 'reverse';
    my ($status, $out, $err) = ranks(3, '12_ranks', '--check-only', '--num-seqs', 9, '--seq-len', '130');
    is($status, 0, 'groups of sequences, blocks in another order') or diag($err);
}

# ---- bytes and messages ----

# The rows of a run, as variant => row.
sub counted {
    my ($number, $direction, @options) = @_;
    my $csv = scratch("ranks$number.csv");
    my ($status, $out, $err) = ranks($number, '12_ranks', "--$direction", '--repeats', 1, '--csv', $csv, @options);
    is($status, 0, "$number ranks, $direction, counted") or diag($err);
    return { map { $_->{variant} => $_ } grep { $_->{direction} eq $direction } @{ read_table($csv)->{rows} } };
}

my $length = 2 * 65536;
my $rows = counted(2, 'forward', '--num-seqs', 1, '--seq-len', $length);
cmp_ok($rows->{alone}{bytes_per_element}, '<=', 12.01, 'alone: 12 bytes an element');
for my $variant (qw(chain exscan allgather overlap nccl)) {
    for my $c (qw(bytes_per_element bytes_per_element_c1)) {
        ok($rows->{$variant}{$c} >= 19.99 && $rows->{$variant}{$c} <= 20.02, "$variant: 20 bytes an element, $c $rows->{$variant}{$c}");
    }
}
my $forget = $rows->{forget};
cmp_ok($forget->{bytes_per_element}, '<=', 12.5, 'forget: at most 12.5 bytes an element with c = 0.99');
cmp_ok($forget->{bytes_per_element}, '>=', 12.1, '... and not fewer than it needs');
cmp_ok($forget->{bytes_per_element_c1}, '<=', 20.02, '... and 20 with c = 1, where nothing is forgotten');
for my $direction (qw(forward backward)) {
    $rows = counted(7, $direction, '--num-seqs', 8, '--seq-len', 1001);
    my $most = max(map { $_->{message_bytes} } values %$rows);
    cmp_ok($most, '<=', 16, "$direction: at most 16 bytes a sequence and rank are handed to MPI");
    cmp_ok($rows->{exscan}{message_bytes}, '>=', 8, '... and an aggregate is 8');
}

# ---- steps ----

for my $number (2, 7, 16) {
    my ($status, $out) = ranks($number, "extra/12_ranks_steps");
    my ($steps) = $out =~ /joins (\d+) times/;
    my $most = 0;
    $most++ while 2**$most < $number;
    ok(defined $steps && $steps <= $most,
        "$number ranks: the exclusive scan joins at most $most times in a row, and here $steps");
}

done_testing;
