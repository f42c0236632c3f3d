# SPDX-License-Identifier: MIT
# Chapter 08: blocks that wait for each other. Right around the edges of tiles; and a NaN is never taken for a tile descriptor that is not there yet.
# long/orders.t has all orders, and mistakes.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CUSIM_SCHEDULE CUSIM_RESIDENT CUSIM_WATCHDOG)};
my $p = program('08_lookback');
my @orders = backend() eq 'sim' ? qw(warp reverse random:1 random:2 random:3) : ('warp');
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

# ---- edges of tiles, in rows that begin anywhere in a group of four (chapters.t has shorter ones, longer ones, and many) ----

my @kernels = grep { $_ ne 'default' } complete_variants('08_lookback', '--forward');
for my $kernel (@kernels) {
    is(complaint({}, $p, '--variant', $kernel, '--num-seqs', 3, '--seq-len', '4095,8193'), '', "around tiles: $kernel");
}
# Only where a sequence has several cluster tiles does the last one of them have its end, and what leaves it.
is(complaint({}, $p, '--variant', 'persistent_cluster', '--num-seqs', 2, '--seq-len', '60001', '--with', 'all'), '', 'persistent_cluster: states of several cluster tiles');

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
for my $kernel (@kernels) {
    for my $where ('x', 'c', 'x c') {
        write_nans($where);
        for my $order (@orders[0 .. ($#orders > 0)]) {
            my $result = bytes({ CUSIM_SCHEDULE => $order }, $p, 0, '--variant', $kernel);
            is($result =~ /^status/ ? $result : nans(), '11808 of 40000, 8192 to 19999', "$kernel, $order, a NaN of all bits in $where: in what follows");
            next if $kernel !~ /^(resident|one_hop|persistent_cluster|cluster)$/;
            $result = bytes({ CUSIM_SCHEDULE => $order }, $p, 1, '--variant', $kernel);
            my $last = $where =~ /x/ ? 8192 : 8191;
            is($result =~ /^status/ ? $result : nans(1), $last + 1 . " of 40000, 0 to $last", "the same backward");
        }
    }
}

done_testing;
