# SPDX-License-Identifier: MIT
# Chapter 08: blocks that wait for each other. Right in every order, with few and with many blocks at once; the same bits in all of them where the
# joins have one order; and whatever the kernels need for that, taken away, is told (mistakes.txt).
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Mistakes;
use Test::More;

plan skip_all => 'orders are the simulator\'s; this is BACKEND=' . backend() if backend() ne 'sim';
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CUSIM_SCHEDULE CUSIM_RESIDENT CUSIM_BUSY CUSIM_WATCHDOG CUSIM_CHIP)};
my $p = program('08_lookback');
my @orders = (qw(warp reverse random:1), $ENV{ORDERS_ALL} ? qw(random:2 random:3) : ()); # ORDERS_ALL=1: two more, in three minutes
my %file = map { $_ => scratch("$_.npy") } qw(x c y dx dc);

# What a kernel makes of the arrays in %file, as the bytes of outputs or of both gradients, for which x serves twice; a message if it does not end well.
sub bytes {
    my ($settings, $program, $backward, @options) = @_;
    my @written = @file{$backward ? qw(dx dc) : 'y'};
    unlink @written;
    my ($status, undef, $err) = run_program($settings, patiently(20, $program, @options, '--coeffs', $file{c}, $backward
        ? ('--d-outputs', $file{x}, '--outputs', $file{x}, '--d-inputs', $file{dx}, '--d-coeffs', $file{dc}) : ('--inputs', $file{x}, '--outputs', $file{y})));
    return $status eq 0 ? join '', map { read_file($_) } @written : "status $status: $err";
}

# what is missing is told; the program with the mistakes has short tiles
my ($mutated, @mistakes) = find_mistakes('08_lookback');
defined $mutated or BAIL_OUT('no program');
my @short_tiles = ('--config', 'threads=32');
my $deadlock = qr/polls byte \d+ of the \S+ (?:allocation|array) .*which never changes: /;

# ---- right in every order; with one block at once where each waits only for those that began before ----

my ($rows, $length) = (2, 9001);
my @values = map { sin $_ } 1 .. $rows * $length;
write_npy($file{x}, "($rows, $length)", @values);
write_npy($file{c}, "($rows, $length)", map { 1 - $_ * $_ / 500 } reverse @values);
my %residents = (grid_sync => [0, 2, 5], chained => [0, 1, 2, 3, 5], lookback => [0, 1, 2, 3, 5], resident => [0, 1, 5, 6], one_hop => [0, 10, 16], persistent_cluster => [0, 16], cluster => [0, 1, 7]);
for my $kernel (sort keys %residents) {
    my (%bits, @complaints);
    for my $resident (@{ $residents{$kernel} }) {
        my $joins_differ = $kernel eq 'lookback'; # they depend on who comes first
        for my $order ($joins_differ ? qw(reverse random:1 random:2) : @orders) {
            my $settings = { CUSIM_SCHEDULE => $order, $resident ? (CUSIM_RESIDENT => $resident) : () };
            push @complaints, complaint($settings, $p, '--variant', $kernel, $kernel =~ /^(resident|one_hop|persistent_cluster|cluster)$/ ? () : '--forward', '--num-seqs', $rows, '--seq-len', $length)
                if $joins_differ || !%bits;
            next if $joins_differ;
            $bits{ join '|', map { bytes($settings, $p, $_, '--variant', $kernel) } $kernel =~ /^(resident|one_hop|persistent_cluster|cluster)$/ ? (0, 1) : 0 } = "$order, $resident at once";
        }
    }
    is(join('', @complaints), '', "$kernel: right in every order, with few and with many blocks at once");
    is(scalar keys %bits, 1, "$kernel: the same bits in all of them") or diag(join "; ", sort values %bits) if $kernel ne 'lookback';
    is(scalar(grep { /(^|\|)status/ } keys %bits), 0, "$kernel: and they are results");
}
for my $clusters (1, 3) { # several turns of each, and more turns than the ring is long
    my %settings = (CUSIM_RESIDENT => 8 * $clusters);
    for my $shape ([1, 45003], [3, 16384], [14, 8193]) { # the second: products of first coefficients are infinite there
        my $order = $orders[$clusters == 1 ? 1 : 2];
        is(complaint({ %settings, CUSIM_SCHEDULE => $order }, $p, '--variant', 'persistent_cluster', @short_tiles, '--num-seqs', $shape->[0], '--seq-len', $shape->[1]), '',
            "persistent_cluster, $clusters clusters, $shape->[0] sequences: right in order $order");
    }
    for my $backward (0, 1) {
        my %bits = map { bytes({ %settings, CUSIM_SCHEDULE => $_ }, $p, $backward, '--variant', 'persistent_cluster', @short_tiles) => 1 } @orders;
        ok(keys %bits == 1 && (keys %bits)[0] !~ /^status/, "persistent_cluster, $clusters clusters" . ($backward ? ', backward' : '') . ': the same bits in every order');
    }
}
my %joined = map { bytes({ MUTANT => 0, CUSIM_SCHEDULE => $_, CUSIM_RESIDENT => 5 }, $mutated, 0, '--variant', 'lookback') => 1 } @orders;
cmp_ok(scalar keys %joined, '>', 1, 'lookback joins otherwise in other orders, and its bits differ: the comparisons of bits above see that');

# ---- the default, and resident in several windows: the same bits in every order, however many blocks there is room for ----

for my $case (['default', 'one block for each sequence', {}, 40, 900], ['default', 'per_block', {}, 1, 3000], ['default', 'cluster', {}, 1, 20001],
    ['default', 'resident', {}, 1, 140001], ['default', 'resident with tickets', { CUSIM_RESIDENT => 1 }, 1, 140001], ['default', 'prefetch', {}, 3, 9001]) {
    my ($kernel, $taken, $settings, $rows, $length) = @$case;
    write_npy($file{x}, "($rows, $length)", map { sin $_ } 1 .. $rows * $length);
    write_npy($file{c}, "($rows, $length)", map { 1 - (sin $_ / 7) ** 2 / 500 } 1 .. $rows * $length);
    for my $backward (0, 1) {
        my %bits = map { bytes({ %$settings, CUSIM_SCHEDULE => $_ }, $p, $backward, '--variant', $kernel) => 1 } $length < 100000 ? @orders : @orders[0 .. 2];
        ok(keys %bits == 1 && (keys %bits)[0] !~ /^status/, "$kernel, $rows x $length, where it takes $taken" . ($backward ? ', backward' : '') . ': the same bits in every order')
            or diag(grep { /^status/ } keys %bits);
    }
}
write_npy($file{x}, '(1, 150001)', map { sin $_ } 1 .. 150001);
write_npy($file{c}, '(1, 150001)', map { 1 - (sin $_ / 7) ** 2 / 500 } 1 .. 150001);
for my $backward (0, 1) {
    my %bits;
    for my $resident (1, 44) {
        $bits{ bytes({ MUTANT => 0, CUSIM_SCHEDULE => $_, CUSIM_RESIDENT => $resident }, $mutated, $backward, '--variant', 'resident') } = "$_, $resident at once" for @orders[0 .. 2];
    }
    ok(keys %bits == 1 && (keys %bits)[0] !~ /^status/, 'resident, three windows' . ($backward ? ', backward' : '') . ': the same bits in every order') or diag(join '; ', sort values %bits);
}

# ---- with arrays of one's own: ones, whose sum any look-back must have ----

my $long = 45003; # more than 32 tiles of 1024
write_npy($file{$_}, "($long,)", (1) x $long) for 'x', 'c';
my ($second_window, $behind, $nan) = map { number_of($_, @mistakes) }
    'lookback without the second window of 32', 'lookback without the tiles behind a prefix', 'chained without one NaN for all';
for my $case ([0, 0], [$second_window, 1], [$behind, 1]) {
    my ($number, $is_wrong) = @$case;
    my $first;
    for my $order ('reverse', map { "random:$_" } 1 .. 5) {
        bytes({ MUTANT => $number, CUSIM_SCHEDULE => $order, CUSIM_RESIDENT => 44 }, $mutated, 0, '--variant', 'lookback');
        my (undef, @y) = read_npy($file{y});
        ($first) = @y ? grep { $y[$_] ne $_ + 1 } 0 .. $#y : 'no result';
        last if defined $first;
    }
    my $what = $number ? $mistakes[$number]{name} : 'lookback in several windows';
    $is_wrong ? cmp_ok($first // -1, '>', 0, "$what: wrong from element " . ($first // 'none') . ' on') : is($first, undef, "$what: right");
}

# ---- and not one NaN for all, but each as it is: a kernel waits for ever, or takes a total for a carry ----

for my $case (['chained', 'x', $deadlock], ['lookback', 'x', $deadlock], ['lookback', 'c', qr/^(?!11808 of)\d+ of 40000/]) {
    my ($kernel, $where, $told) = @$case;
    write_nans($where);
    my $result = bytes({ MUTANT => $nan, CUSIM_SCHEDULE => 'reverse' }, $mutated, 0, '--variant', $kernel);
    $result = nans() if $result !~ /^status/;
    like($result, $told, "$kernel without one NaN for all, a NaN in $where: is found");
}

# ---- a NaN with all its bits set looks like a descriptor that is not published, or like a carry; it must not be taken for either ----

# Two rows, in the first of which an array, or both, have that NaN. A tile begins there, but for persistent_cluster: a coefficient is in its product alone.
sub write_nans {
    my ($where) = @_;
    for my $name ('x', 'c') {
        my @bits = unpack 'L<*', pack 'f<*', ($name eq 'x' ? 1 : 0.5) x 40000;
        $bits[8192] = 0xFFFFFFFF if $where =~ /$name/;
        write_file($file{$name}, npy_bytes('<f4', '(2, 20000)', pack 'L<*', @bits));
    }
}
# How many NaNs the outputs have, or the gradients of the inputs, and where.
sub nans {
    my (undef, @values) = read_npy($file{ $_[0] ? 'dx' : 'y' });
    my @nans = grep { $values[$_] != $values[$_] } 0 .. $#values;
    return @nans . ' of ' . @values . (@nans ? ", $nans[0] to $nans[-1]" : '');
}

done_testing;
