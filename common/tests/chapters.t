# SPDX-License-Identifier: MIT
# Every kernel of every chapter is right: lengths around every kind of boundary, all directions, all kinds of coefficients, NaN and infinity
# kept in their own sequence, the first coefficient unused, guards untouched. The chapters' own programs check all that.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# one sequence of lengths around a group of four, a warp and a tile; several of a few, as where each kernel runs alone
# (long/chapters.t has all)
my %lengths = (1 => join(',', 1 .. 9, 31 .. 33, 63 .. 65, 95 .. 97, 127 .. 129, 257, 511, 1025), 3 => '5,33,129,256,257,1000,2049');

is_deeply([chapters()], [sort grep { !claims($_, 'nothing') } map { s{/main\.c$}{}r } glob '[0-9][0-9]_*/main.c'], 'every chapter has its program');
for my $chapter (chapters()) {
    my ($list_status, $list) = run_program(program($chapter), '--list');
    is($list_status, 0, "$chapter --list");
    for my $only (alone($chapter)) {
        for my $num_seqs (@$only ? 3 : (1, 3)) {
            is(complaint({}, program($chapter), @$only, '--num-seqs', $num_seqs, '--seq-len', $lengths{ @$only ? 3 : $num_seqs }, '--seed', 10 + $num_seqs), '',
                "$chapter @$only: $num_seqs sequences of 1 to 2049 elements");
        }
    }
    for my $shape ([0, 5], [3, 0], [0, 0]) {
        my ($status, $out) = run_program(program($chapter), '--check-only', '--num-seqs', $shape->[0], '--seq-len', $shape->[1]);
        ok($status eq 0, "$chapter: $shape->[0] sequences of $shape->[1] elements are a no-op with success");
    }
    my ($status) = run_program(program($chapter), '--check-only', '--num-seqs', 1, '--seq-len', 5, '--csv', scratch('directions.csv'));
    my %seen = map { $_->{direction} => 1 } rows_with(read_table(scratch('directions.csv')), chapter => $chapter);
    my $all = claims($chapter, 'directions');
    my $runs = $all ? 'backward backward_reverse forward reverse' : 'forward';
    is(join(' ', sort keys %seen), $runs, "$chapter runs: $runs");
    if (!$all) {
        refuses("$chapter --reverse", qr/does not run reverse/, program($chapter), '--reverse');
        refuses("$chapter --backward", qr/does not run backward/, program($chapter), '--backward');
    }

    my @forward = complete_variants($chapter, '--forward');

    # Products of coefficients overflow, and nothing comes in that they could multiply: zeros stay zeros, as long as they overflow within
    # a thread's part, or where nobody joins them. The last ones overflow within the part of the very first thread.
    my @overflows = (['2.83', (2.83) x 96]);
    push @overflows, map { ['1, three times 1e20, then 0', 1, (1e20) x 3, (0) x ($_ - 4)] } 128, 512, 1024 if !on_cpu($chapter);
    push @overflows, ['1, three times 1e20', 1, (1e20) x 3], ['1e20', (1e20) x 4], ['1e7', (1e7) x 7], ['1.5', (1.5) x 300]
        if claims($chapter, 'fours');
    for my $case (@overflows) {
        my ($name, @coeffs) = @$case;
        my $length = @coeffs;
        my $zeros = write_npy(scratch('x.npy'), "($length,)", (0) x $length);
        my $large = write_npy(scratch('c.npy'), "($length,)", @coeffs);
        for my $variant (@forward) {
            next if $list =~ /^\Q$variant\E .*\(length up to (\d+)\)/m && $1 < $length;
            my $outputs = scratch('y.npy');
            unlink $outputs;
            run_program(program($chapter), '--inputs', $zeros, '--coeffs', $large, '--outputs', $outputs, '--variant', $variant);
            my (undef, @y) = read_npy($outputs);
            my @wrong = grep { $y[$_] ne '0' } 0 .. $#y;
            ok(@y == $length && !@wrong, "$chapter $variant: zeros stay zeros, length $length, coefficients $name") or diag("not at @wrong");
        }
    }

    # an infinite coefficient makes infinities, and no NaN by way of a carry of zero that comes in from nowhere
    my $inputs = write_npy(scratch('x.npy'), '(7,)', (1) x 7);
    my $coeffs = write_npy(scratch('c.npy'), '(7,)', 1, 9**9**9, (1) x 5);
    for my $variant (@forward) {
        my $outputs = scratch('y.npy');
        unlink $outputs;
        run_program(program($chapter), '--inputs', $inputs, '--coeffs', $coeffs, '--outputs', $outputs, '--variant', $variant);
        my (undef, @y) = read_npy($outputs);
        is("@y", join(' ', 1, ('Inf') x 6), "$chapter $variant: infinity stays infinity");
    }
    is(scalar(() = $list =~ /\(default\)/g), 1, "$chapter has one default variant");
}

# seven threads, also where the machine has two cores: parts of one element, uneven parts, the carry walk
for my $threads (1, 3, 7) {
    my ($status, $out, $err) = run_program({ CPU_THREADS => $threads }, program('01_reference'), '--check-only', '--num-seqs', 3,
        '--seq-len', '1,2,3,6,7,8,13,14,15,100,1000');
    ok($status eq 0, "01_reference on $threads threads") or diag($err);
}

done_testing;
