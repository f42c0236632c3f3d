# SPDX-License-Identifier: MIT
# Every kernel of every chapter is right on all lengths around every boundary, on many sequences and on long ones; and any order in which the simulator runs blocks, warps and lanes gives
# the same bits.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# one sequence of all of these lengths; several, and where each kernel runs alone, of those around a group of four, a warp, a block or a tile.
# Where each kernel runs alone, several sequences are short: ../chapters.t has long ones
my @boundaries = (255 .. 257, 511 .. 513, 1000, 1023 .. 1025, 2049, 4097);
my @few = (1 .. 9, 15 .. 17, 31 .. 33, 63 .. 65, 127 .. 129);
my %lengths = (1 => join(',', 1 .. 70, 94 .. 98, 126 .. 130, @boundaries), 3 => join(',', @few, @boundaries));
my %lengths_alone = (1 => $lengths{3}, 3 => join(',', @few));

for my $chapter (chapters()) {
    for my $only (alone($chapter)) {
        for my $num_seqs (1, 3) {
            is(complaint({}, program($chapter), @$only, '--num-seqs', $num_seqs, '--seq-len', (@$only ? \%lengths_alone : \%lengths)->{$num_seqs}, '--seed', 10 + $num_seqs), '',
                "$chapter @$only: $num_seqs sequences of many lengths");
        }
    }
    my (undef, $list) = run_program(program($chapter), '--list');
    # more sequences than any block or warp takes (chapters that compare have blocks for each), than 16 bits count; rows longer than any tile, than 16 bits count
    for my $shape ([compares($chapter) ? (35, 37) : (131, '17,100')], [65601, 16], [2, 20001], [1, 65601]) {
        # on the simulator 65 601 blocks of many variants would take minutes
        my ($default) = $list =~ /^(\S+).*\(default\)/m;
        my @own = own_variants($chapter);
        my @only = $shape->[0] > 60000 && backend() eq 'sim' && @own > 2 ? ['--variant', $default] : alone($chapter);
        for my $only (@only) {
            my ($status, $out, $err) =
                run_program(program($chapter), @$only, '--check-only', '--num-seqs', $shape->[0], '--seq-len', $shape->[1]);
            ok(($status eq 0 && $out =~ /^all \d+ checks passed$/m) || ($status eq 2 && $err =~ /takes (?:sequences of up to|what the chip has room for)/),
                "$chapter @$only: $shape->[0] sequences of $shape->[1] elements") or diag($err);
        }
    }
}

SKIP: {
    skip 'schedules are the simulator\'s', 1 if backend() ne 'sim';
    for my $chapter (gpu_chapters()) {
        for my $variant (complete_variants($chapter, '--forward')) {
            my ($num_seqs, $length) = $variant eq 'one_hop' ? (3, 9001) : (131, 257); # what the chip has room for at once
            my @values = map { sin $_ } 1 .. $num_seqs * $length;
            my $inputs = write_npy(scratch('x.npy'), "($num_seqs, $length)", @values);
            my $coeffs = write_npy(scratch('c.npy'), "($num_seqs, $length)", reverse @values);
            my %bits;
            for my $schedule ('warp', 'reverse', 'random:1') {
                my $outputs = scratch('y.npy');
                unlink $outputs;
                run_program({ CUSIM_SCHEDULE => $schedule }, program($chapter), '--inputs', $inputs, '--coeffs', $coeffs, '--outputs', $outputs,
                    '--variant', $variant);
                $bits{ read_file($outputs) // 'nothing' } = 1;
            }
            ok(keys %bits == 1 && !$bits{nothing}, "$chapter $variant: the same bits in every schedule");
        }
    }
}

done_testing;
