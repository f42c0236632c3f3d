# SPDX-License-Identifier: MIT
# Estimates without a GPU: a table and a CSV, whose times move as recorded times do. (How far off they are: long/estimate.t.)
use strict;
use warnings;
use lib 'common/tests', 'common/estimate';
use Estimate qw(chip chips launches_time elementwise);
use Linrec;
use Test::More;

my @estimate = ('perl', 'common/estimate/estimate.pl');
my ($pipe) = grep { /pipe/ } gpu_chapters();

# Microseconds of each kernel: { "NN_x/name at N x L" => [estimate, what limits it] }
sub estimates {
    my $csv = scratch('estimates.csv');
    my ($status, $out, $err) = run_program(@estimate, '--csv', $csv, @_);
    is("$status$err", '0', "@_[0 .. 3]: estimated");
    my $table = read_table($csv);
    is("@{ $table->{columns} }", 'chapter variant direction num_seqs seq_len chip estimated_ms low_ms high_ms percent_of_add limited_by', 'its columns');
    return { map { ("$_->{variant} at $_->{num_seqs} x $_->{seq_len}" => [1e3 * $_->{estimated_ms}, $_->{limited_by}]) } @{ $table->{rows} } };
}

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
my ($status, $out, $err) = run_program(@estimate, '--chip', 'abacus', program($pipe));
like($err, qr/^no chip "abacus" is described; there are a100, .*h200/, 'an unknown chip: which there are');
($status, $out, $err) = run_program(@estimate, '--seq-len', '1e3', program($pipe));
like($err, qr/^"1e3" are no sizes/, 'a size that is none');
done_testing;
