# SPDX-License-Identifier: MIT
# More than 2^31 elements: offsets that do not fit 32 bits. Needs a GPU with about 45 GB, or 90 for the last cases.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

plan skip_all => 'more than 2^31 elements need a GPU; this is BACKEND=' . backend() if backend() ne 'cuda';
for my $case (map { my $chapter = $_; map { [$chapter, @$_] } alone($chapter) } gpu_chapters()) {
    my ($chapter, @only) = @$case;
    my ($status, $out, $err) = run_program(program($chapter), @only, '--check-only', '--num-seqs', 2200000, '--seq-len', 1000);
    SKIP: {
        skip "$chapter: $err", 1 if $status eq 2 && $err =~ /GB free|one_hop takes up to \d+ sequences/; # one_hop holds all on the chip
        ok($status eq 0 && $out =~ /all \d+ checks passed/, "$chapter @only: 2 200 000 sequences of 1000 elements") or diag($err);
    }
}
my ($status, $out, $err) = run_program(program('05_pipe'), '--check-only', '--variant', 'default', '--num-seqs', 2, '--seq-len', '1073741828,1073741829');
SKIP: {
    skip $err, 1 if $status eq 2 && $err =~ /GB free/;
    ok($status eq 0, '05_pipe: two sequences of 2^30 + 4 and 2^30 + 5 elements') or diag($err);
}
# One sequence of more than 2^32, in all tiles of which the whole GPU works. Backward it needs 86 GB.
for my $pass (['--forward'], ['--forward', '--reverse'], ['--backward'], ['--backward', '--reverse']) {
    ($status, $out, $err) = run_program(program('08_lookback'), '--check-only', '--variant', 'default', @$pass, '--num-seqs', 1, '--seq-len', 4294967301);
    SKIP: {
        skip $err, 1 if $status eq 2 && $err =~ /GB free/;
        ok($status eq 0, "08_lookback @$pass: one sequence of 2^32 + 5 elements") or diag($err);
    }
}
done_testing;
