# Twins: variants that differ in who computes what, or in how the data move, but not in what is added up in which order. They give the
# same bits, byte for byte, also where NaN and infinities pass through.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# chapter, variants, options (forward without any; --reverse, --backward or both), environment
my @twins = (
    ['01_reference', [qw(plain_threads threads)], [], { CPU_THREADS => 7 }],
    ['02_cuda_ref', [qw(one_per_block full_blocks all_ways)], []],
);

# num_seqs, seq_len: one element, odd, even, a multiple of 4 and not, a tile of the later chapters and more
my @shapes = ([1, 1], [5, 7], [130, 33], [4, 100], [3, 1024], [2, 4099]);

# The NaN that this machine itself makes. With any other, the order of two operands would decide which of two NaNs comes out.
my $infinity = 9**9**9;
my $nan = $infinity - $infinity;

# Values around 0 as different as sin makes them; in every third row a NaN or an infinity somewhere.
sub values_of {
    my ($num_seqs, $seq_len, $phase, $special) = @_;
    my @values = map { sin($_ * 1.7 + $phase) * 1.1 } 1 .. $num_seqs * $seq_len;
    for (my $row = 1; $row < $num_seqs; $row += 3) {
        $values[$row * $seq_len + ($row * 5 + $phase) % $seq_len] = $special;
    }
    return @values;
}

for my $twins (@twins) {
    my ($chapter, $variants, $options, $env) = @$twins;
    my $backward = grep { $_ eq '--backward' } @$options;
    for my $shape (@shapes) {
        my ($num_seqs, $seq_len) = @$shape;
        my $file = sub { write_npy(scratch("$_[0].npy"), "($num_seqs, $seq_len)", values_of($num_seqs, $seq_len, @_[1, 2])) };
        my @arrays = $backward
            ? ('--d-outputs', $file->('dy', 1, $nan), '--coeffs', $file->('c', 2, $infinity), '--outputs', $file->('y', 3, -$infinity))
            : ('--inputs', $file->('x', 1, $nan), '--coeffs', $file->('c', 2, $infinity));
        my @written = $backward ? qw(d-inputs d-coeffs) : qw(outputs);
        my ($first, $expected);
        for my $variant (@$variants) {
            my @files = map { scratch("$_.npy") } @written;
            unlink @files;
            my ($status, undef, $err) = run_program({ %{ $env // {} } }, program($chapter), @arrays,
                (map { ("--$written[$_]", $files[$_]) } 0 .. $#written), @$options, '--variant', $variant);
            my $bytes = join '', map { read_file($_) // '' } @files;
            if (!defined $first) {
                ($first, $expected) = ($variant, $bytes);
                cmp_ok(length $bytes, '>=', 4 * $num_seqs * $seq_len * @written, "$chapter $first @$options runs, $num_seqs x $seq_len") or diag($err);
            } else {
                ok($bytes eq $expected, "$chapter $variant @$options: the bits of $first, $num_seqs x $seq_len") or diag("status $status\n$err");
            }
        }
    }
}

done_testing;
