# Every kernel of every chapter is right: all lengths around every boundary, all directions, all kinds of coefficients, NaN and infinity
# kept in their own sequence, the first coefficient unused, guards untouched. The chapters' own programs check all that.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $lengths = join ',', 1 .. 130, 255 .. 257, 511 .. 513, 1000, 1023 .. 1025, 2049, 4097;

ok(scalar(chapters()), 'there are programs to test');
for my $chapter (chapters()) {
    for my $num_seqs (1, 5) {
        my ($status, $out, $err) =
            run_program(program($chapter), '--check-only', '--num-seqs', $num_seqs, '--seq-len', $lengths, '--seed', 10 + $num_seqs);
        ok($status eq 0 && $out =~ /^all \d+ checks passed$/m, "$chapter: $num_seqs sequences of 1 to 4097 elements")
            or diag("status $status\n$err");
    }
    # more sequences than 16 bits count, more than any block or warp takes; rows longer than any tile
    for my $shape ([131, '17,100'], [65601, 16], [2, '20001,70001']) {
        my ($status, $out, $err) = run_program(program($chapter), '--check-only', '--num-seqs', $shape->[0], '--seq-len', $shape->[1]);
        ok($status eq 0 || ($status eq 2 && $err =~ /takes sequences of up to/), "$chapter: $shape->[0] sequences of $shape->[1] elements")
            or diag($err);
    }
    for my $shape ([0, 5], [3, 0], [0, 0]) {
        my ($status, $out) = run_program(program($chapter), '--check-only', '--num-seqs', $shape->[0], '--seq-len', $shape->[1]);
        ok($status eq 0, "$chapter: $shape->[0] sequences of $shape->[1] elements are a no-op with success");
    }
    my ($status, $list) = run_program(program($chapter), '--list');
    is($status, 0, "$chapter --list");
    is(scalar(() = $list =~ /\(default\)/g), 1, "$chapter has one default variant");
    my @sources = glob "$chapter/*.c $chapter/*.cu";
    cmp_ok(lines_of("$chapter/main.c"), '<', 30, "$chapter/main.c stays under 30 lines");
}

# seven threads, also where the machine has two cores: parts of one element, uneven parts, the carry walk
for my $threads (1, 3, 7) {
    my ($status, $out, $err) = run_program({ CPU_THREADS => $threads }, program('01_reference'), '--check-only', '--variant', 'threads',
        '--num-seqs', 3, '--seq-len', '1,2,3,6,7,8,13,14,15,100,1000');
    ok($status eq 0, "01_reference on $threads threads") or diag($err);
}

# any order in which the simulator runs blocks, warps and lanes gives the same bits
SKIP: {
    skip 'schedules are the simulator\'s', 1 if backend() ne 'sim';
    my ($num_seqs, $length) = (131, 257);
    my @values = map { sin $_ } 1 .. $num_seqs * $length;
    my $inputs = write_npy(scratch('x.npy'), "($num_seqs, $length)", @values);
    my $coeffs = write_npy(scratch('c.npy'), "($num_seqs, $length)", reverse @values);
    for my $chapter (grep { $_ ne '01_reference' } chapters()) {
        my ($status, $list) = run_program(program($chapter), '--list');
        for my $variant (map { /^(\S+)/ } grep { !/\(partial/ } split /\n/, $list) {
            my %bits;
            for my $schedule ('warp', 'reverse', 'random:1', 'random:2') {
                my $outputs = scratch('y.npy');
                unlink $outputs;
                run_program({ SIM_SCHEDULE => $schedule }, program($chapter), '--inputs', $inputs, '--coeffs', $coeffs, '--outputs', $outputs,
                    '--variant', $variant);
                $bits{ read_file($outputs) // 'nothing' } = 1;
            }
            ok(keys %bits == 1 && !$bits{nothing}, "$chapter $variant: the same bits in every schedule");
        }
    }
}

sub lines_of { return scalar(() = read_file($_[0]) =~ /\n/g) }

done_testing;
