# SPDX-License-Identifier: MIT
# Chapter 11's program: right in all variants, directions and sizes of a piece; what it counts; and what it refuses in one sentence.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use List::Util 'max';
use Test::More;

my $program = program('11_stream');

# ---- right ----

# One element, fewer than a piece, pieces that do not divide, pieces of one element, more room than elements, nothing at all.
for my $case ('--num-seqs 1 --seq-len 0,1,2,17 --piece 1,3,1000', '--num-seqs 3 --seq-len 1,64,101 --piece 1,7,90,303,100000',
    '--num-seqs 0 --seq-len 5', '--num-seqs 7 --seq-len 33 --piece 66') {
    is(complaint({}, $program, split ' ', $case), '', "all variants and directions: $case");
}
is(complaint({ CUSIM_SCHEDULE => 'reverse' }, $program, split ' ', '--num-seqs 3 --seq-len 101 --piece 90'), '', 'blocks in another order');
is(complaint({ CUSIM_CHIP => 't4' }, $program, split ' ', '--num-seqs 2 --seq-len 9001 --piece 9000'), '', 'sequences of many tiles, an older chip');

# ---- counted ----

my $csv = scratch('stream.csv');
sub counted {
    my (@options) = @_;
    my ($status, $out, $err) = run_program($program, '--num-seqs', 4, '--seq-len', 1000, '--csv', $csv, @options);
    is($status, 0, "counted: @options") or diag($err);
    return ({ map { $_->{variant} => $_ } @{ read_table($csv)->{rows} } }, $out);
}
sub moved { my ($row) = @_; return join ' ', map { sprintf '%g', $row->{$_} } qw(in_bytes_per_element out_bytes_per_element) }

my ($rows) = counted('--forward', '--piece', 1000);
is(moved($rows->{$_}), '8 4', "$_: 8 bytes of an element come in, 4 go out") for qw(both_ways pageable pinned two_streams three_streams handed_on);
is("$rows->{launches}{launches} $rows->{graph}{launches}", '252.0000 1.0000', '252 launches of 16 elements, and one of a graph');
($rows) = counted('--backward', '--piece', 1000);
is(moved($rows->{three_streams}), '12 8', 'backward: 12 and 8');
is(moved($rows->{handed_on}), '12.012 8', '... and a column for each piece but one');
is(moved($rows->{recomputed}), '18 8', '... and what is computed again comes in twice, but the last of four pieces');

# ---- longer than the device's memory ----

my $out;
($rows, $out) = counted('--forward', '--piece', 400, '--memory', '12K');
is(join(' ', grep { !$rows->{$_} } qw(pageable pinned two_streams three_streams handed_on)), 'pageable pinned two_streams three_streams',
    'where a quarter of the arrays has room, only pieces of time have it');
like($out, qr/^left out: pinned forward, 4 x 1000: it takes 0\.048 MB on the device, where 0\.012 MB are free; take a variant in pieces$/m, 'and it is said why');
cmp_ok($rows->{handed_on}{device_mb}, '<=', 0.0123, 'what it takes, it says');

# ---- refused ----

for (['--seq-len 1,x', qr/--seq-len: "x" is not a length; give whole numbers/], ['--piece 0', qr/--piece: "0" is not a number of elements; give whole numbers from 1 on/],
    ['--memory 4X', qr/--memory takes a number of bytes/], ['--variant pinned,none', qr/there is no variant "none"; --list names them/],
    ['--inputs x.npy', qr/--inputs is not an option; see --help/], ['--forward --backward', qr/--forward and --backward exclude each other/]) {
    my ($options, $says) = @$_;
    my ($status, undef, $err) = run_program($program, split ' ', $options);
    ok($status == 2 && $err =~ /\A11_stream: $says.*\n\z/, "$options: one sentence, status 2") or diag("$status $err");
}

# Each call that may fail on a GPU ends the program with one sentence and status 1. The simulator makes them fail.
SKIP: {
    skip 'on a GPU nobody can have a call fail', 2 if backend() ne 'sim';
    my ($fails, $said, @silent) = (0, '');
    for my $case ('recomputed --backward', 'graph --forward', 'managed --forward') {
        for my $number ($case =~ /^graph/ ? 18 .. 26 : (1, 3, 9, 14, 19, 25)) {
            my ($status, undef, $err) = run_program({ CUSIM_FAIL => $number }, $program, '--check-only', '--num-seqs', 2, '--seq-len', 20, '--piece', 20,
                '--variant', split ' ', $case);
            my @own = $err =~ /^11_stream: (.+)$/mg;
            push @silent, "$case $number: $status $err" if $status != 1 || @own != 1;
            $said .= "@own\n";
            $fails++;
        }
    }
    is(join('', @silent), '', "$fails times a call has failed, and the program said so in one sentence");
    like($said, qr/^no graph: out of memory\n(?:.*\n)*the graph was not launched: /m, 'also when a graph is made and launched');
}

done_testing;
