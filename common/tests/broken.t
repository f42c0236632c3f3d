# SPDX-License-Identifier: MIT
# The checks can fail: every mistake of programs/broken.cu is caught, and the kernel without one passes.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# On a GPU the last ones have no certain outcome: a race may go well, a divergent barrier may hang.
my @mistakes = (
    [off_by_one => qr/elements are wrong, the first is outputs\[0, 0\]/],
    [a_nan => qr/expected .* got -?nan/],
    [unwritten => qr/expected .* got what was there before/],
    [changes_inputs => qr/changed an array that it should only read/],
    [skips_nan => qr/expected -?nan, got what was there before/],
    [zero_forgets => qr/nonfinite coefficients: .* elements are wrong/],
    [takes_null => qr/takes_null forward: with a null pointer the launcher must return "invalid argument", not "no error"/],
    [refuses_nothing => qr/refuses_nothing forward: with a sequence that is too long the launcher must return "invalid argument"/],
    [takes_any_workspace => qr/takes_any_workspace forward: with no workspace the launcher must return "invalid argument", not "no error"/],
    [keeps_an_input => qr/keeps_an_input forward: it is wrong in a workspace that another launch of it has used, the first time at outputs\[0, 0\]: 1 and not 2; leave it as/],
    [does_more => qr/does_more forward: 3 x 3, near one coefficients: it computes something else than its part, outputs\[0, 1\]/],
    [past_by_memcpy => qr/4 bytes before or past an output array were written/],
);
# Without the barrier after writing, a thread reads too early; without the one after reading, one that runs ahead overwrites what
# others still need. Both lines are named, in every order.
my $race = qr/kernel scan<\d+>, block .*, thread .*: race: .* at common\/tests\/programs\/broken\.cu:\d+, and nothing orders the two/;
my $past = qr/broken\.cu:@{[line_of('outputs[row + seq_len] = 0')]}: error: kernel scan<\d+>, block \(2,0,0\), thread \(0,0,0\): /;
push @mistakes, backend() eq 'sim'
    ? [past_the_end => qr/${past}writes outputs\[\d+\]\[0\], past the end \(the last is outputs\[\d+\]\[\d+\]\)\. Compare the index/]
    : [past_the_end => qr/4 bytes before or past an output array were written/];
push @mistakes, [default_stream => qr/default_stream forward: it launches on the default stream; pass on/],
    [hides_errors => qr/hides_errors forward: it returns success although a launch failed; return its error/] if backend() eq 'sim';
push @mistakes, (map { ["reads_early" => $race, $_], ["writes_early" => $race, $_] } qw(warp reverse random:1)),
    [barrier_in_branch => qr/broken\.cu:\d+: error: kernel scan.*, block .*, thread .*barrier/i],
    [absent_lane => qr/broken\.cu:\d+: error: kernel scan.*, block .*, thread .*lane/i]
    if backend() eq 'sim';

my @shape = ('--check-only', '--num-seqs', 3, '--seq-len', '33,200');
my ($status, $out, $err) = run_program(extra('tests_broken'), @shape, '--variant', 'right');
is($status, 0, 'the right kernel passes') or diag($err);
for my $mistake (@mistakes) {
    my ($name, $like, $schedule) = @$mistake;
    ($status, $out, $err) = run_program({ CUSIM_SCHEDULE => $schedule || 'warp', CUSIM_CHECKS => 'strict' }, extra('tests_broken'), @shape, '--variant', $name);
    ok($status eq 1 && $err =~ $like, "caught: $name") or diag("status $status\n$err");
}

($status, $out, $err) = run_program(extra('tests_broken'), '--check-only', '--num-seqs', 1001, '--seq-len', 3, '--variant', 'skips_a_block');
ok($status eq 1 && $err =~ /the first is outputs\[999, 0\]/, 'caught: skips_a_block') or diag($err);

# products that overflow: a kernel that says that it promises nothing there is not checked on them
my @overflows = ('--check-only', '--num-seqs', 3, '--seq-len', 388, '--forward');
($status, $out, $err) = run_program(extra('tests_broken'), @overflows, '--variant', 'promises_too_much');
ok($status eq 1 && $err =~ /\AFAILED promises_too_much forward, 3 x 388, overflow coefficients: .*\n\z/, 'caught: promises_too_much') or diag($err);
($status, $out, $err) = run_program(extra('tests_broken'), @overflows, '--variant', 'right');
is($status, 0, 'the same kernel that does not promise it passes') or diag($err);

# hundreds of failures: three of them, and how many more
($status, $out, $err) = run_program(extra('tests_broken'), '--check-only', '--num-seqs', 3, '--seq-len', '16,32,64', '--variant', 'off_by_one');
my ($total) = $out =~ /^(\d+) FAILED\n\z/m;
my @failed = $err =~ /^FAILED /mg;
my ($more) = $err =~ /^and (\d+) more; --variant NAME --seq-len L narrows it down\n\z/m;
is("$status " . @failed . " $more", '1 3 ' . ($total - 3), 'the first three failures are printed, and how many more there are') or diag("$out$err");
($status, $out, $err) = run_program(extra('tests_broken'), '--check-only', '--num-seqs', 3, '--seq-len', 16, '--variant', 'zero_forgets', '--forward');
($total) = $out =~ /^(\d+) FAILED\n\z/m;
ok($total <= 3 && $total == (() = $err =~ /^FAILED /mg) && $err !~ /more/, 'few failures are all printed') or diag("$out$err");

# the reader's own mistakes, of 02_cuda_ref/BREAK_IT.md
($status, $out) = run_program(extra('02_cuda_ref_broken'), 'none');
ok($status eq 0 && $out =~ /^none: 0 of 5000/, '02_cuda_ref_broken none: nothing is wrong');
SKIP: {
    skip 'the simulator sees these; on a GPU compute-sanitizer does', 2 if backend() ne 'sim';
    for ([past_the_end => 'race: writes byte 200 of the 20000-byte allocation'], [no_check => 'reads right past the end']) {
        my ($name, $words) = @$_;
        ($status, $out, $err) = run_program(extra('02_cuda_ref_broken'), $name);
        ok($status eq 1 && $err =~ /broken\.cu:\d+: error: kernel $name, block \(0,0,0\), thread \(\d+,0,0\): $words/,
            "caught: $name of BREAK_IT.md") or diag("status $status\n$err");
    }
}

# a shape past the kernel's limit, a direction that no kernel has
refuses('a length past the kernel\'s limit', qr/takes sequences of up to 400 elements, not 500/, extra('tests_broken'), '--variant', 'right',
    '--seq-len', 500);
refuses('a pass that no kernel has', qr/does not run backward/, extra('tests_broken'), '--backward');
done_testing;

# The number of the line of programs/broken.cu with these words.
sub line_of {
    my ($words) = @_;
    my @lines = split /\n/, read_file('common/tests/programs/broken.cu');
    return (grep { index($lines[$_ - 1], $words) >= 0 } 1 .. @lines)[0];
}
