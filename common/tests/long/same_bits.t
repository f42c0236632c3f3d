# SPDX-License-Identifier: MIT
# The same bits: variants that differ in who computes what, or in how the data move, but not in what is added up in which order. They give the
# same bits, byte for byte, also where NaN and infinities pass through. So lines that stand in several kernels cannot drift apart.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# one element, odd, even, a multiple of 4 and not, a tile of the later chapters and more
my @shapes = ([1, 1], [5, 7], [130, 33], [4, 100], [3, 1024], [2, 4099]);

# Around one tile and two of 512 and 1024 elements; lengths at which sequences begin at any multiple of 4 bytes; some that end before
# their first whole group.
my @tiles = ([1, 1], [5, 3], [7, 129], [3, 511], [4, 513], [4, 1022], [3, 1024], [4, 1025], [5, 2047], [4, 2050], [4, 4099]);

# One tile of 1024 elements at most, wherever in its first group it begins.
my @one_tile = ([1, 1], [5, 3], [7, 129], [3, 511], [4, 513], [4, 1021], [3, 1024]);

# Arrays that lie alike from both ends: their elements in all are a multiple of 4.
my @even = ([4, 1], [8, 7], [4, 127], [4, 513], [4, 1024], [4, 1026], [4, 2049], [4, 4099]);
my @short = ([1, 1], [9, 2], [200, 3], [130, 5], [33, 6], [7, 31], [5, 64], [6, 127], [4, 128], [3, 129], [3, 257], [5, 505]);
my @short_even = ([1, 4], [10, 2], [200, 3], [132, 5], [34, 6], [8, 31], [4, 127], [4, 129], [4, 257], [8, 505]);

# A kernel of the table with 256 threads where two_pass, which takes no shape, has 256, too
my @large = ([4, 1801], [4, 2048], [4, 3999], [3, 4000], [5, 5555]);

# what they have in common; the first, to which the others are compared; options and environment of all. A kernel: chapter, variant, shape.
# Those in `reverse` run reversed on the reversed arrays, and give the reversed bits.
my @families = (
    { of => [map { "01_reference $_" } qw(plain_threads threads)], env => { CPU_THREADS => 7 } },
    { of => [map { "02_cuda_ref $_" } qw(one_per_block full_blocks all_ways)] },
    { of => [map { "05_pipe $_ threads=64" } qw(blocked staged)], shapes => \@tiles },
    { of => [map { "05_pipe $_ threads=160" } qw(blocked staged)] },
    {
        of => [(map { "$_ rows=2,threads=128" } '05_pipe float4', '05_pipe prefetch', '06_backward float4', '06_backward prefetch'),
            (map { my $copies = $_; map { "$copies rows=2,threads=128,stages=$_" } 1 .. 4 } '05_pipe async', '05_pipe tma', '05_pipe tma_evict_last'),
            (map { "$_ rows=2,threads=128,stages=3" } '06_backward async', '06_backward tma_evict_last')],
        shapes => \@tiles,
    },
    {
        of => ['05_pipe float4 rows=2,threads=128'],
        reverse => [(map { "06_backward $_ rows=2,threads=128" } qw(float4 prefetch)), map { "06_backward $_ rows=2,threads=128,stages=2" } qw(async tma_evict_last)],
        shapes => \@even,
    },
    {
        direction => '--reverse',
        of => [(map { "06_backward $_ rows=2,threads=128" } qw(float4 prefetch)),
            map { my $copies = $_; map { "06_backward $copies rows=2,threads=128,stages=$_" } 1 .. 4 } qw(async tma_evict_last)],
        shapes => \@tiles,
    },
    {
        of => [(map { "$_ rows=1,threads=64" } '05_pipe float4', '05_pipe prefetch', '06_backward float4', '06_backward prefetch'),
            map { "$_ rows=1,threads=64,stages=2" } '05_pipe async', '05_pipe tma', '05_pipe tma_evict_last', '06_backward async'],
        reverse => [(map { "06_backward $_ rows=1,threads=64" } qw(float4 prefetch)), '06_backward async rows=1,threads=64,stages=3'],
        shapes => \@even,
    },
    {
        of => [(map { "05_pipe $_ rows=4,threads=32" } qw(float4 prefetch)), map { "$_ rows=4,threads=32,stages=2" } '05_pipe async',
            '05_pipe tma', '05_pipe tma_evict_last', '06_backward tma_evict_last'],
        reverse => ['06_backward tma_evict_last rows=4,threads=32,stages=3'],
        shapes => \@even,
    },
    # a warp alone does what a block of one warp does
    { of => ['05_pipe float4 rows=4,threads=32', '05_pipe per_warp rows=4', '06_backward per_warp rows=4,threads=64'], shapes => \@short },
    { of => ['05_pipe flat', '05_pipe flat threads=32', '06_backward flat threads=96'], shapes => [@short, [3, 1022]] },
    { of => ['05_pipe flat'], reverse => ['06_backward flat'], shapes => [@short_even, [4, 1022]] },
    { of => ['05_pipe per_warp'], reverse => ['06_backward per_warp'], shapes => \@short_even },
    # what default takes, as long as the two chapters choose alike
    { of => ['05_pipe default', '06_backward default'], shapes => [@short, @tiles, [2, 8192]] },
    { of => ['05_pipe default'], reverse => ['06_backward default'], shapes => [@short_even, @even, [2, 8192]] },
    (map {
        {
            backward => 1,
            direction => $_,
            of => ['06_backward prefetch rows=2,threads=128',
                map { my $copies = $_; map { "06_backward $copies rows=2,threads=128,stages=$_" } 1 .. 4 } qw(async tma_evict_last)],
            shapes => \@tiles,
        }
    } undef, '--reverse'),
    {
        backward => 1,
        of => ['06_backward prefetch rows=2,threads=128'],
        reverse => ['06_backward prefetch rows=2,threads=128', map { "06_backward $_ rows=2,threads=128,stages=3" } qw(async tma_evict_last)],
        shapes => \@even,
    },
    {
        backward => 1,
        of => ['06_backward prefetch rows=1,threads=64', '06_backward async rows=1,threads=64,stages=2'],
        reverse => ['06_backward prefetch rows=1,threads=64', '06_backward async rows=1,threads=64,stages=3'],
        shapes => \@even,
    },
    {
        backward => 1,
        of => ['06_backward tma_evict_last rows=4,threads=32,stages=2'],
        reverse => ['06_backward tma_evict_last rows=4,threads=32,stages=3'],
        shapes => \@even,
    },
    # a sequence that is a single tile
    (map {
        my $direction = $_;
        map { { direction => $direction, of => [map { "06_backward $_" } @$_], shapes => \@one_tile } }
            ['float4 rows=1,threads=256', 'per_block rows=1,threads=256'], ['float4 rows=2,threads=128', 'per_block rows=2,threads=128'],
            ['tma_evict_last rows=4,threads=64,stages=1', 'per_block rows=4,threads=64'];
    } undef, '--reverse'),
    (map {
        my $direction = $_;
        map { { backward => 1, direction => $direction, of => [map { "06_backward $_" } @$_], shapes => \@one_tile } }
            ['prefetch rows=1,threads=256', 'per_block rows=1,threads=256'], ['prefetch rows=2,threads=128', 'per_block rows=2,threads=128'],
            ['tma_evict_last rows=4,threads=64,stages=1', 'per_block rows=4,threads=64'];
    } undef, '--reverse'),
    { of => ['06_backward per_block'], reverse => ['06_backward per_block'], shapes => [@even[0 .. 5], [4, 2049], [4, 4099]] },
    { backward => 1, of => ['06_backward per_block'], reverse => ['06_backward per_block'], shapes => [@even[0 .. 5], [4, 2049], [4, 4099]] },
    { backward => 1, of => ['06_backward flat', '06_backward flat threads=32'], shapes => [@short, [3, 1022]] },
    { backward => 1, of => ['06_backward flat'], reverse => ['06_backward flat'], shapes => [@short_even, [4, 1022]] },
    # two kernels, the same gradients
    (map { { backward => 1, direction => $_, of => ['06_backward prefetch rows=2,threads=256', '06_backward two_pass'], shapes => \@large } } undef, '--reverse'),
    { backward => 1, of => ['06_backward two_pass'], reverse => ['06_backward two_pass'], shapes => [@even, [4, 1801], [3, 4000]] },
    { backward => 1, of => ['06_backward default'], reverse => ['06_backward default'], shapes => [@short_even, @even] },
);

# The NaN that this machine itself makes. With any other, the order of two operands would decide which of two NaNs comes out.
my $infinity = 9**9**9;
my $nan = $infinity - $infinity;

# Values around 0 as different as sin makes them; coefficients of every other row near 1, so that all of what came before counts. In every
# third row, another one for each array, is a NaN or an infinity somewhere.
sub values_of {
    my ($array, $num_seqs, $seq_len) = @_;
    my ($name, $phase, $special) = @$array;
    my @values = map { sin($_ * 1.7 + $phase) * 1.1 } 1 .. $num_seqs * $seq_len;
    if ($name eq 'coeffs') {
        for (my $row = 0; $row < $num_seqs; $row += 2) {
            $_ = 1 - (1.1 + $_) / 512 for @values[$row * $seq_len .. ($row + 1) * $seq_len - 1];
        }
    }
    for (my $row = $phase % 3; $row < $num_seqs; $row += 3) {
        $values[$row * $seq_len + ($row * 5 + 7) % $seq_len] = $special;
    }
    return @values;
}

my %read = (0 => [['inputs', 1, $nan], ['coeffs', 2, $infinity]], 1 => [['d-outputs', 1, $nan], ['coeffs', 2, $infinity], ['outputs', 3, -$infinity]]);
my %written = (0 => ['outputs'], 1 => ['d-inputs', 'd-coeffs']);

# The bits that a kernel writes, or undef and why there are none.
sub bits_of {
    my ($family, $kernel, $reverse, $num_seqs, $seq_len) = @_;
    my ($chapter, $variant, $config) = split ' ', $kernel;
    my $backward = $family->{backward} // 0;
    my @written = @{ $written{$backward} };
    my @files = map { scratch("$_.written.npy") } @written;
    unlink @files;
    my ($status, undef, $err) = run_program($family->{env} // {}, program($chapter), '--variant', $variant, $config ? ('--config', $config) : (),
        $reverse ? '--reverse' : $family->{direction} // (), (map { ("--$_->[0]", scratch("$_->[0]$reverse.npy")) } @{ $read{$backward} }),
        map { ("--$written[$_]", $files[$_]) } 0 .. $#written);
    my $bits = '';
    for (@files) {
        my $bytes = read_file($_) // return (undef, "status $status\n$err");
        my $size = length($bytes) - 4 * $num_seqs * $seq_len;
        $size >= 0 or return (undef, "$_ is too short");
        my @elements = unpack '(a4)*', substr $bytes, $size;
        $bits .= join '', $reverse ? reverse @elements : @elements;
    }
    return ($bits, '');
}

for my $family (@families) {
    my $pass = join ' ', $family->{backward} ? 'backward' : 'forward', $family->{direction} // ();
    for my $shape (@{ $family->{shapes} // \@shapes }) {
        my ($num_seqs, $seq_len) = @$shape;
        for (@{ $read{ $family->{backward} // 0 } }) {
            my $name = $_->[0];
            my @values = values_of($_, $num_seqs, $seq_len);
            write_npy(scratch("${name}0.npy"), "($num_seqs, $seq_len)", @values);
            write_npy(scratch("${name}1.npy"), "($num_seqs, $seq_len)", reverse @values);
        }
        my ($first, @others) = @{ $family->{of} };
        my ($expected, $why) = bits_of($family, $first, 0, @$shape);
        SKIP: {
            skip "$first: $why", 1 if !defined $expected && backend() eq 'cuda' && $why =~ / needs sm_/;
            ok(defined $expected, "$first $pass runs, $num_seqs x $seq_len") or diag($why);
            for ((map { [$_, 0] } @others), map { [$_, 1] } @{ $family->{reverse} // [] }) {
                my ($kernel, $reverse) = @$_;
                (my $bits, $why) = bits_of($family, $kernel, $reverse, @$shape);
                SKIP: {
                    skip "$kernel: $why", 1 if !defined $bits && backend() eq 'cuda' && $why =~ / needs sm_/;
                    ok(defined $bits && $bits eq $expected, "$kernel $pass" . ($reverse ? ', reversed' : '') . ": the bits of $first, $num_seqs x $seq_len")
                        or diag($why);
                }
            }
        }
    }
}

done_testing;
