# SPDX-License-Identifier: MIT
# Estimates without a GPU: a table and a CSV, whose times move as recorded times do. (How far off they are: long/estimate.t.)
use strict;
use warnings;
use lib 'common/tests', 'cusim/estimate';
use Estimate qw(chip chips launches_time elementwise);
use Linrec;
use Test::More;

plan skip_all => 'what an estimate is made of is counted by the simulator; this is BACKEND=' . backend() if backend() ne 'sim';
my @estimate = ('perl', 'cusim/estimate/cusim-estimate');
my ($pipe) = grep { /pipe/ } gpu_chapters();
my ($first) = gpu_chapters();

# Microseconds of each kernel: { "NN_x/name at N x L" => [estimate, what limits it] }
sub estimates {
    my $csv = scratch('estimates.csv');
    my ($status, $out, $err) = run_program(@estimate, '--csv', $csv, @_);
    is("$status$err", '0', "@_[0 .. 3]: estimated");
    my $table = read_table($csv);
    is("@{ $table->{columns} }", 'chapter variant direction num_seqs seq_len chip estimated_ms low_ms high_ms percent_of_add limited_by', 'its columns');
    return { map { ("$_->{variant} at $_->{num_seqs} x $_->{seq_len}" => [1e3 * $_->{estimated_ms}, $_->{limited_by}]) } @{ $table->{rows} } };
}

# ---- what the simulator counts for it ----

# Counts of one launch: sums over its kernels.
sub counted {
    my ($variant, $num_seqs, $seq_len) = @_;
    my ($rows) = trace($variant eq 'full_blocks' ? $first : $pipe, '--variant', $variant, '--num-seqs', $num_seqs, '--seq-len', $seq_len, '--forward');
    return $rows->[0];
}
my $walk = counted('full_blocks', 32, 64);
is($walk->{fills}, 2 * 32 * 64 / 8, 'threads that walk alone: L1 fetches each sector once, and serves it again for the other seven elements');
is("$walk->{far_steps} $walk->{l2_steps} $walk->{near_steps}", '5 4 55', 'one step in eight waits for memory: DRAM, then L2, which fetches 64 bytes; c is first loaded a step after x');
my ($float4, $prefetch, $async) = map { counted($_, 1, 8192) } qw(float4 prefetch async);
is($float4->{ahead_bytes}, 2 * 4 * 2048, 'float4 asks for one tile of two arrays before it waits');
is($prefetch->{ahead_bytes}, 2 * $float4->{ahead_bytes}, 'prefetch for two');
is($async->{ahead_bytes}, 3 * $float4->{ahead_bytes}, 'async for three');
is("$float4->{far_steps} $async->{copy_steps}", '4 4', 'four tiles: four waits');
my ($blocked, $whole) = map { counted($_, 1, 8192) } qw(blocked float4);
is($whole->{merges}, 0, 'float4 stores to no sector twice');
cmp_ok($blocked->{merges}, '>', 0.8 * $blocked->{store_sectors}, 'blocked does, with each of its stores but the first');

# ---- estimates ----

my $few = estimates('--num-seqs', 132, '--seq-len', 16384, program($pipe), '--variant', 'float4');
my $ahead = estimates('--num-seqs', 132, '--seq-len', 16384, program($pipe), '--variant', 'prefetch');
cmp_ok($ahead->{'prefetch at 132 x 16384'}[0], '<', 0.9 * $few->{'float4 at 132 x 16384'}[0], 'with few sequences, loads in advance hide latency');
is($few->{'float4 at 132 x 16384'}[1], 'latency', 'which limits the kernel without them');
my $narrow = estimates('--num-seqs', 132, '--seq-len', 16384, program($pipe), '--variant', 'float4', '--config', 'rows=2,threads=96');
cmp_ok((values %$narrow)[0][0], '>', 1.3 * $few->{'float4 at 132 x 16384'}[0], 'a third of the threads: longer');
my $odd = estimates('--num-seqs', 13200, '--seq-len', '4096,4097', program($pipe), '--variant', 'float4');
my ($even, $uneven) = map { $odd->{"float4 at 13200 x $_"}[0] } 4096, 4097;
ok($uneven > $even && $uneven < 1.1 * $even, 'rows that do not begin at 16 bytes: a little longer, as recorded') or diag("$even $uneven");

# Large shapes come from small ones: as many times longer.
my $chip = chip('h200');
my ($small, $large) = map { launches_time($chip, sub { 24 }, elementwise($_, 2, 1))->{us} } 2**26, 2**28;
ok(abs($large / $small - 4) < 0.1, 'add takes four times as long for four times as much');

is_deeply([map { my $c = chip($_); grep { !defined $c->{$_} } keys %$chip } chips()], [], 'every chip has all parameters');
cmp_ok(scalar(() = chips()), '>=', 5, 'of five chips');
# ---- the documented command ----

# As `make help' says it, in each chapter. A launcher that chooses by the number of sequences is estimated by what it chooses there.
for my $chapter (map { m{^([^/]+)/} } glob '[0-9][0-9]_*/Makefile') {
    my $csv = scratch('chapter.csv');
    my ($status, $out, $err) = run_program('make', '--no-print-directory', '-C', $chapter, 'BACKEND=sim', 'estimate', 'NUM_SEQS=40', 'SEQ_LEN=64', "CSV=$csv", 'CHIP=t4');
    my $estimates = () = $out =~ /^\w+ \w+(?: \*)? +[\d.]+ [um]s /mg;
    ok($status eq 0 && $err eq '' && ($estimates > 0 || $out =~ /nothing is estimated, since|is left out/), "make -C $chapter estimate") or diag($out . $err);
}
my ($chooses) = map { m{^([^/]+)/} } split /\n/, `grep -l "is_for_many_blocks" [0-9][0-9]_*/default.c`;
my $chosen = estimates('--num-seqs', 13200, '--seq-len', '64,16384', program($chooses), '--variant', 'default', '--forward');
cmp_ok($chosen->{'default at 13200 x 64'}[0], '<', 10, 'many short sequences: the kernel that takes them, and not that of two');
cmp_ok($chosen->{'default at 13200 x 16384'}[0], '<', 900, 'many long ones');
is(launches_time($chip, sub { 40 }, { launches => 1, blocks => 0 })->{us}, 0, 'a launch without blocks takes no time');

# ---- what is too near to tell ----

# The lines of the table of one shape: what ties.
sub ties {
    my (undef, $out) = run_program(@estimate, @_, '--num-seqs', 132, '--seq-len', 65536, program($pipe), '--forward', '--variant', 'flat,float4,prefetch' . ("@_" eq '' ? ',async' : ''));
    return [$out =~ /^tie: (?!their)((?:.*\n)(?: +.*\n)*)/mg], $out;
}
my ($ties, $table) = ties();
like($ties->[0], qr/\bprefetch, async\b/, 'kernels whose ranges overlap are a tie');
unlike("@$ties", qr/\bfloat4\b|\bflat\b/, 'and those that nothing overlaps are not');
like($table, qr/^tie: their ranges overlap, so/m, 'which is explained below');
like($table, qr/^(?:latency: the wait for memory|launch: the start of the launch and of its blocks)\.$/m, 'so are the words for what limits a kernel');
is((ties('--chip', 't4'))[0][0], "all\n", 'where all ranges overlap: all');

my ($status, $out, $err) = run_program(@estimate, '--chip', 'abacus', program($pipe));
like($err, qr/^no chip "abacus" is described; there are a100, .*h200/, 'an unknown chip: which there are');
($status, $out, $err) = run_program(@estimate, '--seq-len', '1e3', program($pipe));
like($err, qr/^"1e3" are no sizes/, 'a size that is none');
done_testing;
