# SPDX-License-Identifier: MIT
# Chapter 08: what another program may rely on when it launches these kernels (lookback.h). Beside other launches they end, without room they are
# refused or another kernel is taken; nobody's error is lost; a workspace is needed where it is said, and one in a wrong state stops the launch.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CUSIM_SCHEDULE CUSIM_RESIDENT CUSIM_BUSY CUSIM_WATCHDOG CUSIM_CHIP)};
is(system('make', '-s', '-j2', '-C', '08_lookback/tests', 'BACKEND=' . backend()), 0, 'the program builds without a warning') or BAIL_OUT('no program');

# What the program says, with its complaints; `settings' are of the environment.
sub said {
    my ($settings, @arguments) = @_;
    my ($status, $out, $err) = run_program($settings, patiently(60, 'build/' . backend() . '/extra/tests_beside', @arguments));
    return "$out$err" . ($status eq 0 ? '' : "status $status");
}

# five tiles, which all fit the simulated device; more tiles than that; several rounds of persistent_cluster, where the default takes it
my @shapes = ([2, 5001], [1, 100001], [1, 1060000]);
my @kernels = qw(default resident one_hop persistent_cluster);

# ---- beside other launches, and beside a kernel that fills the chip ----

my @beside = ({}, backend() eq 'sim' ? map { { CUSIM_SCHEDULE => $_, CUSIM_BUSY => 1 } } qw(warp reverse random:1) : ());
for my $kernel (@kernels) {
    for my $pass ('forward', 'backward') {
        for my $shape ($shapes[0], $kernel eq 'one_hop' ? [1, 60001] : $shapes[1]) { # one_hop takes what fits
            my @wrong = grep { $_ ne "right\n" } map { said($_, 'streams', $kernel, $pass, @$shape) } @beside;
            is_deeply(\@wrong, [], "$kernel $pass, @$shape: right in two streams, and beside a kernel that fills the chip");
        }
    }
}
for my $shape (@shapes[0, 1]) {
    my @wrong = grep { $_ ne "right\n" } map { said($_, 'streams', 'grid_sync', 'forward', @$shape) } @beside;
    is_deeply(\@wrong, [], "grid_sync, @$shape: likewise");
}

# ---- errors: of its own launches and calls, and of somebody else's ----

my $kept = "cudaSuccess, the error is kept; cudaSuccess, cudaSuccess is left, right\n";
for my $kernel (@kernels, 'grid_sync') {
    is(said({}, 'error', $kernel, 'forward', @{ $shapes[0] }), $kept, "$kernel: an error of somebody else's is neither returned nor cleared");
}

# ---- a workspace ----

like(said({}, 'without', 'default', $$_[0], @{ $$_[1] }), qr/^0 bytes, cudaSuccess, right, /, "default $$_[0], @{$$_[1]}: no workspace needed")
    for ['forward', [1, 4096]], ['backward', [3, 100]], ['forward', [1000, 4097]], ['backward', [1000, 4100]];
for my $kernel ('resident', 'one_hop', 'persistent_cluster', 'grid_sync') {
    like(said({}, 'without', $kernel, 'forward', 1, 20001), qr/^[1-9]\d* bytes, cudaSuccess, right, with a byte less cudaErrorInvalidValue$/, "$kernel: the workspace that it says, and no less");
}

# ---- the simulator alone: it has devices of all sizes, and tells at once what on a GPU goes on ----

if (backend() eq 'sim') {
    # places for one block: nothing can be resident together. The default takes what needs no room, and no call fails on the way.
    for my $order ('warp', 'reverse') {
        my %small = (CUSIM_RESIDENT => 1, CUSIM_SCHEDULE => $order);
        for my $pass ('forward', 'backward') {
            is(said(\%small, 'error', $_, $pass, @{ $shapes[1] }), $kept, "$_ $pass, order $order, with room for one block: it needs none") for 'default', 'resident';
            is(said(\%small, 'error', $_, $pass, @{ $shapes[1] }), "cudaErrorNotSupported, the error is kept; cudaErrorNotSupported, cudaSuccess is left, wrong\n",
                "$_ $pass, order $order, with room for one block: refused, before any call has failed") for 'persistent_cluster', 'one_hop';
        }
    }
    is(said({ CUSIM_RESIDENT => 1 }, 'error', 'grid_sync', 'forward', @{ $shapes[1] }), "cudaErrorNotSupported, the error is kept; cudaErrorNotSupported, cudaSuccess is left, wrong\n",
        'grid_sync, with room for one block on one of two multiprocessors: refused, before any call has failed');
    is(said({ CUSIM_CHIP => 't4' }, 'error', 'default', $_, 1, 20001), $kept, "default $_ on a chip without clusters: resident") for 'forward', 'backward';
    is(said({ CUSIM_RESIDENT => 1 }, 'error', 'default', 'forward', @{ $shapes[2] }), $kept, 'default: resident stands in for persistent_cluster');
    like(said({ CUSIM_RESIDENT => 1 }, 'without', 'default', 'forward', 1, 100001), qr/^12424 bytes, cudaSuccess, right, with a byte less cudaSuccess$/,
        'default: what resident needs is less than what it may need here, and is enough');

    # a cluster that the chip refuses, with whatever error; blocks that do not fit together, as in a green context, which has fewer multiprocessors than the
    # device says. Another kernel is taken, or another way, and no error is left.
    my %refused = (invalid_value => 1, out_of_resources => 701, too_large => 720, cluster_size => 912);
    for my $error (sort keys %refused) {
        for my $pass ('forward', 'backward') {
            is(said($$_[2], "refused=$refused{$error},$$_[4]", $$_[1], $pass, @{ $$_[3] }), "cudaSuccess, cudaSuccess is left, right\n", "$$_[0] $pass, refused with $error: right all the same")
                for ['cluster', 'default', {}, [1, 5001], 1], ['persistent_cluster', 'default', {}, $shapes[2], 1], ['resident, of the default', 'default', { CUSIM_CHIP => 't4' }, [1, 5001], 1],
                ['resident', 'resident', {}, $shapes[0], 1], ['cluster, and then resident', 'default', {}, [1, 5001], 2];
        }
    }

    # a workspace in a wrong state: the launch ends, says so, and has read and written nothing else
    my $stopped = qr/^\S+:\d+: error: kernel [^\n]*: __trap\(\) was reached\. See what the kernel guards with it\.\nstatus 1$/;
    for my $fill (0, 63, 1, 128, 254) {
        for my $order ('warp', 'reverse') {
            for my $pass ('forward', 'backward') {
                for my $case (map { my $kernel = $_; map { [$kernel, $_] } 20001, 200001 } 'resident', 'persistent_cluster') {
                    like(said({ CUSIM_SCHEDULE => $order }, "fill=$fill", $$case[0], $pass, 1, $$case[1]), $stopped, "$$case[0] $pass, $$case[1] elements, workspace filled with $fill, order $order: stopped");
                }
            }
        }
    }
    for my $pass ('forward', 'backward') {
        for my $order ('warp', 'reverse') {
            like(said({ CUSIM_SCHEDULE => $order }, "fill=$_", 'one_hop', $pass, 1, 9001), $stopped, "one_hop $pass, workspace filled with $_, order $order: stopped") for 0, 63, 1, 128, 254;
            # the mark, and words of the first launch in place of tiles 0 and 4, which it has not published
            like(said({ CUSIM_SCHEDULE => $order }, "stale=$_", 'one_hop', $pass, 1, 9001), $stopped, "one_hop $pass, order $order, word $_ of the workspace is another launch's: stopped") for 1, 16, 24;
        }
    }
    # One word, that an earlier launch has left, behind one_hop's 1040: the first two are the counters; behind them, with two clusters or more, round 0 has
    # four words.
    for my $pass ('forward', 'backward') {
        for my $order ('warp', 'reverse') {
            like(said({ CUSIM_SCHEDULE => $order }, "stale=$_", 'persistent_cluster', $pass, 1, 1060000), $stopped, "persistent_cluster $pass, order $order, word $_ of the workspace is stale: stopped") for 1041, 1055, 1056;
        }
    }
    for my $kernel ('chained', 'lookback') {
        like(said({}, "fill=$_", $kernel, 'forward', 1, 20001), $stopped, "$kernel, workspace filled with $_: stopped") for 63, 1, 128, 254;
    }
    is(said({}, 'fill=255', $_, 'forward', 1, 20001), "cudaSuccess\n", "$_: filled with 255 it runs") for 'resident', 'one_hop', 'persistent_cluster', 'chained', 'lookback';
}

done_testing;
