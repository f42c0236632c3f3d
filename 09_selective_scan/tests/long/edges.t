# SPDX-License-Identifier: MIT
# Chapter 09 at its edges: every count of states from 1 to 33, most of which are not what lanes hold, with an infinity,
# NaN or 0 in each input, at each end of a row and within, in each batch (operation/data.h). Whatever is finite in the
# oracle must be finite in every kernel.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
$ENV{CUSIM_CHECKS} = 'bounds'; # which address a kernel uses is not up to the data: races are looked for in shapes.t
my $p = program('09_selective_scan');
my @types = ('float32', 'bf16', 'fp16');
# less than a chunk, a chunk, tiles and more; EDGES_ALL=1: segments, too, of which a few seeds below have several anyway
my @lengths = (1, 7, 16, 19, 33, $ENV{EDGES_ALL} ? (67, 133) : (35, 67));
sub shape {
    my ($batch, $channels, $states, $length) = @_;
    return ('--batch', $batch, '--channels', $channels, '--states', $states, '--groups', 1, '--seq-len', $length);
}

# 132 seeds are all cases of operation/data.h, each once at batch index 0, 1 and 2. EDGES_ALL=1: all of them, four for
# each count of states, in ten minutes; else a quarter.
my ($read) = read_file('09_selective_scan/operation/data.h') =~ /SELECTIVE_SPECIAL_CASES = ([\d* ]+)/;
is(eval $read, 4 * 33, 'as many seeds are all cases');
for my $states (1 .. 33) {
    my @wrong;
    for my $round ($ENV{EDGES_ALL} ? 0 .. 3 : $states % 4) {
        my $seed = 33 * $round + $states;
        my @options = (shape(3, 1 + $seed % 2, $states, $lengths[$seed % 7]), '--type', $types[$seed % 3],
            '--with', $seed % 4 == 1 ? 'none' : 'all', '--seed', $seed);
        my $complaint = complaint({}, $p, @options);
        push @wrong, "@options: $complaint" if $complaint ne '';
    }
    is("@wrong", '', "$states states, with infinities, NaN and 0");
}

# One batch and one channel, where nothing else is in the warp: of odd counts of states (EDGES_ALL=1: of all).
for my $states (grep { $_ % 2 || $ENV{EDGES_ALL} } 1 .. 33) {
    my @options = (shape(1, 1, $states, $lengths[$states % 7]), '--type', $types[$states % 3], '--with', 'none',
        '--seed', 50 + $states);
    is(complaint({}, $p, @options), '', "$states states of one channel");
}

# Every case on whole chunks, with more than one segment, forward and backward.
for my $seed (grep { $_ % ($ENV{EDGES_ALL} ? 4 : 16) == 2 } 0 .. 131) {
    is(complaint({}, $p, shape(1, 1, 7 + $seed % 10, 128 + $seed % 3), '--with', 'all', '--seed', $seed), '',
        "seed $seed on several segments");
}

done_testing;
