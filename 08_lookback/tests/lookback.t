# Chapter 08: blocks that wait for each other. Right in every order, with few and with many blocks at once; the same bits in all of them where the
# joins have one order; a NaN is never taken for a descriptor that is not published; and whatever the kernels need for that, taken away, is told.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS SIM_SCHEDULE SIM_RESIDENT SIM_WATCHDOG)};
my $p = program('08_lookback');
my @orders = backend() eq 'sim' ? qw(warp reverse random:1 random:2 random:3) : ('warp');
my %file = map { $_ => scratch("$_.npy") } qw(x c y dx dc);

# What a kernel makes of the arrays in %file, as the bytes of outputs or of both gradients, for which x serves twice; a message if it does not end well.
sub bytes {
    my ($settings, $program, $backward, @options) = @_;
    my @written = @file{$backward ? qw(dx dc) : 'y'};
    unlink @written;
    my ($status, undef, $err) = run_program($settings, 'timeout', 20, $program, @options, '--coeffs', $file{c}, $backward
        ? ('--d-outputs', $file{x}, '--outputs', $file{x}, '--d-inputs', $file{dx}, '--d-coeffs', $file{dc}) : ('--inputs', $file{x}, '--outputs', $file{y}));
    return $status eq 0 ? join '', map { read_file($_) } @written : "status $status: $err";
}

# ---- edges of tiles, in rows that begin anywhere in a group of four (chapters.t has shorter ones, longer ones, and many) ----

my @kernels = grep { $_ ne 'default' } complete_variants('08_lookback', '--forward');
for my $kernel (@kernels) {
    is(complaint({}, $p, '--variant', $kernel, '--num-seqs', 3, '--seq-len', '4095,8193'), '', "around tiles: $kernel");
}

# ---- a copy, in which a MUTANT of the environment lacks one thing, number 0 none; its tiles are shorter ----

my $copy;
my @few = (SIM_SCHEDULE => 'reverse', SIM_RESIDENT => 3);
my $race = qr/race: |which nothing has written in this block|is on its way\. Wait for it first/;
my $no_release = qr/race: .* The flag written at \S+:\d+ has no release: write the data first, then call __threadfence\(\), then write the flag/;
my $released_before = qr/race: .* The flag written at \S+:\d+ was released before: write the data first, then/;
my $no_acquire = qr/race: .* The flag read at \S+:\d+ has no acquire: call __threadfence\(\) between/;
my $deadlock = qr/polls byte \d+ of the \S+ (?:allocation|array) .*which never changes: /;
my $no_ticket = qr/$deadlock.*all 3 blocks that run wait like this.* Let each block take its number from an atomicAdd when it begins/;
my $stuck = qr/mbarrier_wait for parity \d never ends: phase \d+ of the barrier initialised at \S+ lacks \d+ of \d+ arrivals/;
my $early = qr/arrivals that mbarrier_init at \S+ allows in a phase have come, and nobody has waited/;
my $unready = qr/with a barrier that is not initialised|with the barrier initialised at \S+, which the copy engine does not see yet|$race/;
my $wrong = qr/\d+ of \d+ elements are wrong, the first is outputs\[0, \d+\]/;
my $left = qr/right past the end of the \S+ (?:array workspace|allocation made at \S*linrec_contract\.c)/; # a second launch's tickets go on
my $stale = qr/it is wrong in a workspace that another launch of it has used, the first time at (?:outputs|d_inputs)\[0, \d+\]/;

my @mutants; # what is missing, where, what is replaced, by what, what is told, settings, options
my $another = sub { my ($number, $code, $other) = @_; return "(mutant == $number ? $other : $code)" };
my $nothing = sub { my ($number, $code) = @_; return "if (mutant != $number) $code" };
my @short_tiles = ('--config', 'threads=32');
my %options = (chained => ['chained', '--forward'], lookback => ['lookback', '--forward'], resident => ['resident', '--forward'], resident_backward => ['resident', '--backward'],
    persistent_cluster => ['persistent_cluster', '--forward', @short_tiles], persistent_cluster_backward => ['persistent_cluster', '--backward', @short_tiles],
    persistent_cluster_two_warps => ['persistent_cluster', '--forward', '--config', 'threads=64'], persistent_cluster_backward_two_warps => ['persistent_cluster', '--backward', '--config', 'threads=64'],
    persistent_cluster_any_shape => ['persistent_cluster', '--forward'], persistent_cluster_long => ['persistent_cluster', '--forward', @short_tiles, '--num-seqs', 3, '--seq-len', 12000],
    cluster => ['cluster', '--forward'], cluster_backward => ['cluster', '--backward']);
sub mutant {
    my ($kernel, $what, $file, $from, $to, $told, @settings) = @_;
    push @mutants, ["$kernel without $what", $file, $from, ref $to ? $to : sub { $another->(@_, $to) }, $told, { $kernel =~ /^persistent_cluster/ ? (SIM_RESIDENT => 8) : (), @settings },
        '--num-seqs', 1, '--seq-len', 20001, '--variant', @{ $options{$kernel} }];
}
for my $kernel (qw(chained lookback)) {
    my $file = "$kernel.cu";
    mutant($kernel, 'a ticket', $file, qr/(take_ticket\(space\))/, 'blockIdx.x', $no_ticket, @few);
    mutant($kernel, 'the barrier after the ticket', $file, qr/(__syncthreads\(\);)\n    const unsigned number/, $nothing, $race);
    mutant($kernel, 'the barrier after the totals', $file, qr/(__syncthreads\(\);)\n    const struct pair up_to_warp/, $nothing, $race);
    mutant($kernel, 'the barrier after the carry', $file, qr/(__syncthreads\(\);)\n\n    \/\* \[add\] 4/, $nothing, $race);
    mutant($kernel, 'leave_workspace', $file, qr/(leave_workspace\([^;]*;)/, $nothing, $left);
}
for my $kernel (qw(resident resident_backward)) {
    my $file = "$kernel.cu";
    mutant($kernel, 'a ticket where not all blocks fit', $file, qr/(take_ticket\(space\))/, 'blockIdx.x', $no_ticket, @few);
    mutant($kernel, 'the barrier after the ticket', $file, qr/take_ticket[^\n]*\n +(__syncthreads\(\);)/, $nothing, $race);
    mutant($kernel, 'the barrier after the totals', $file, qr/(__syncthreads\(\);)\n    const struct pair up_to_warp/, $nothing, $race);
    mutant($kernel, 'the barrier after the carry', $file, qr/(__syncthreads\(\);)\n    if \(warp == NUM_WARPS\) \{\n +leave/, $nothing, $race);
    mutant($kernel, 'leave_workspace', $file, qr/(leave_workspace\([^;]*;)/, $nothing, qr/past the end of the|$stale/);
}
# Data and flag apart: what leaves a tile is written plainly, to where the workspace has room. Each has all but one of what it takes.
my $flag = 'publish_prefix(&space->descriptors[number], 0.0f)';
my $data = '((float *)(space->descriptors + tiling.num_tiles))';
for my $case (["{ ${data}[number] = inclusive; $flag; }", 'a release', $no_release, '__threadfence()'],
    ["{ __threadfence(); $flag; __threadfence(); ${data}[number] = inclusive; }", 'its data before the flag', $released_before, '__threadfence()'],
    ["{ ${data}[number] = inclusive; __threadfence(); $flag; }", 'an acquire', $no_acquire, '(void)0']) {
    my ($write, $what, $told, $acquire) = @$case;
    my $number;
    mutant('chained', $what, 'chained.cu', qr/(publish_prefix\(&space->descriptors\[number\], inclusive\);)/,
        sub { $number = $_[0]; "if (mutant == $number) $write else $_[1]" }, $told);
    mutant('chained', "$what (its reader)", 'chained.cu', qr/: (wait_for\(&space->descriptors\[number - 1\]\))\)*;/,
        sub { "(mutant == $number ? (wait_for(&space->descriptors[number - 1]), $acquire, ${data}[number - 1]) : $_[1])" }, undef);
}
mutant('lookback', 'one tile of those it looks at', 'look_back.cuh', qr/(lane >= nearest)/, 'lane >= nearest && lane != 30', $wrong,
    SIM_SCHEDULE => 'reverse', SIM_RESIDENT => 40);
mutant('chained', 'acquire and release where it leaves', 'workspace.cuh', qr/(cuda::memory_order_acq_rel)/, 'cuda::memory_order_relaxed', $race);

# The barriers of a cluster, one by one and in pairs.
my $ends_early = qr/$race|and nothing keeps this block from ending before|, which has ended/;
for my $kernel (qw(cluster cluster_backward)) {
    my $file = "$kernel.cu";
    my $first;
    mutant($kernel, 'the barrier that tells that all blocks have begun', $file, qr/(cluster_arrive_relaxed\(\);)/, sub { $first = $_[0]; $nothing->(@_) }, qr/, which may not have begun/);
    mutant($kernel, 'the same (its other half)', $file, qr/(cluster_wait\(\);) \/\* all blocks/, sub { $nothing->($first, $_[1]) }, undef);
    mutant($kernel, 'coming to the second barrier', $file, qr/(cluster_arrive\(\);)/, $nothing, qr/cluster_wait by a thread that has not come to the barrier of the cluster/);
    mutant($kernel, 'waiting at the second barrier', $file, qr/cluster_arrive\(\);[^\n]*\n +(cluster_wait\(\);)/, $nothing, $ends_early);
    mutant($kernel, 'release at the second barrier', $file, qr/(cluster_arrive\(\))\)*;/, 'cluster_arrive_relaxed()', $race);
    mutant($kernel, 'the barrier after the totals', $file, qr/(__syncthreads\(\);)/, $nothing, $race);
    mutant($kernel, 'one block of those it tells', $file, qr/\(unsigned\)lane < (tiling\.seq_tiles)/, 'tiling.seq_tiles - 1', $kernel eq 'cluster' ? $wrong : qr/elements are wrong/);
    mutant($kernel, 'its place among the totals', $file, qr/there->sum\[(tile\.number_in_seq)\]/, '0', $race);
}

# Each arrival, each wait and each descriptor of persistent_cluster, on one cluster and on three. Not here, as the simulator cannot tell: fence_proxy_async,
# which only a GPU needs; and that publish_warp waits for aggregates_arrived in each round, which the carry of an earlier round tells it in all but the first.
my $never = qr/(?:mbarrier_wait|cluster_receive) for parity \d never ends: phase \d+ of the barrier initialised at \S+ lacks |$deadlock/;
for my $kernel (qw(persistent_cluster persistent_cluster_backward)) {
    my $file = "$kernel.cu";
    mutant($kernel, 'waiting for arrived', $file, qr/(mbarrier_wait\(&arrived[^;]*;)/, $nothing, $race);
    mutant("${kernel}_two_warps", 'the barrier of the crew', $file, qr/(named_barrier_sync\([^;]*;)/, $nothing, $race);
    mutant($kernel, 'sending for the next tile', $file, qr/round \+ PC_STAGES < rounds\)\n +(request_tile<reverse>\([^;]*;)/, $nothing, $never);
    mutant($kernel, 'telling', $file, qr/(send_aggregate\([^;]*;)/, $nothing, $never);
    mutant($kernel, 'waiting for known', $file, qr/(cluster_receive\(&cluster_tiles\[d\]\.carry_arrived[^;]*;)/, $nothing, qr/$race|$early|which has ended/);
    mutant($kernel, 'coming to the barrier of the cluster', $file, qr/(cluster_arrive\(\);)/, $nothing, qr/cluster_wait by a thread that has not come to the barrier of the cluster/);
    mutant($kernel, 'waiting at the barrier of the cluster', $file, qr/(cluster_wait\(\);)/, $nothing, qr/$unready|which may not have begun/);
    mutant($kernel, 'release at the barrier of the cluster', $file, qr/(cluster_arrive\(\))/, 'cluster_arrive_relaxed()', $race);
}
my @three_clusters = (SIM_RESIDENT => 24);
mutant('persistent_cluster', 'expecting what comes in', 'persistent_cluster.cuh', qr/(mbarrier_expect\(&tile->carry_arrived[^;]*;)/, $nothing, $never);
mutant('persistent_cluster', 'one block that tells', 'persistent_cluster.cuh', qr/(cluster_send\(&tile->aggregates\[[^;]*;)/, sub { "if (mutant != $_[0] || cluster_rank() != 5) $_[1]" }, $never);
mutant('persistent_cluster', 'tell expecting what it is told', 'persistent_cluster.cuh', qr/(mbarrier_expect\(&tile->aggregates_arrived[^;]*;)/, $nothing, $never);
mutant('persistent_cluster', 'tell waiting', 'persistent_cluster.cuh', qr/(cluster_receive\(&tile->aggregates_arrived[^;]*;)/, $nothing, $race);
mutant('persistent_cluster', 'look waiting for all lanes that tell', 'persistent_cluster.cuh', qr/&tiles\[i\]\.before_ready, (PC_BLOCKS)\)/, '1', qr/$never|$early/);
mutant('persistent_cluster', 'tell arriving', 'persistent_cluster.cuh', qr/(mbarrier_arrive\(&tile->before_ready\);)/, $nothing, $never);
mutant('persistent_cluster', 'look waiting for ready', 'persistent_cluster.cuh', qr/(mbarrier_wait\(&tile->before_ready[^;]*;)/, $nothing, $race);
mutant('persistent_cluster', 'one carry', 'persistent_cluster.cuh', qr/(cluster_send\(&tile->carry,[^;]*;)/, sub { "if (mutant != $_[0] || lane != 5) $_[1]" }, $never);
mutant('persistent_cluster_any_shape', 'leave_workspace', 'persistent_cluster.cuh', qr/(leave_workspace\(space, 2 \* PC_RING[^;]*;)/, $nothing, $stale, @three_clusters, SIM_SCHEDULE => 'random:1');
mutant('persistent_cluster', 'the rounds of descriptors', 'cluster_descriptor.cuh', qr/(product >> 32 != of_round \|\| sum >> 32 != of_round)/, 'false', qr/$wrong|$stale/, @three_clusters, SIM_SCHEDULE => 'reverse');
mutant('persistent_cluster_long', 'going on to the next sequence', 'persistent_cluster.cuh', qr/(next->in_seq >= tiling->seq_tiles)\)/, 'false', qr/the first is outputs\[1, 0\]/);
mutant('persistent_cluster', 'passing its carry through', 'persistent_cluster.cuh', qr/(in_seq > num_clusters \? carry \* since\.product \+ since\.sum : since\.sum)/, 'since.sum', $wrong);
mutant('persistent_cluster', 'cluster tiles of its own sequence alone', 'cluster_descriptor.cuh', qr/(count < num_clusters \? count : num_clusters)/, 'num_clusters', qr/$never|$wrong/, @three_clusters);
mutant('persistent_cluster', 'waiting for cluster tiles of other sequences', 'cluster_descriptor.cuh', qr/(is_now \|\| round > 0)\)/, '((is_now || round > 0) && is_joined)', $never, SIM_RESIDENT => 16, SIM_SCHEDULE => 'warp');
$_->[0] =~ /other sequences|own sequence/ and splice @$_, 6, 4, '--num-seqs', 24, '--seq-len', 8192 for @mutants;
mutant('lookback', 'a barrier before it leaves', 'workspace.cuh', qr/(__syncwarp\(\);)\n    if \(lane == 0\) \{\n        cuda/, $nothing, $race);
mutant('lookback', 'a barrier before it cleans up', 'workspace.cuh', qr/(__syncwarp\(\);)\n    if \(others/, $nothing, $race);
mutant('persistent_cluster_any_shape', 'clean descriptors', 'workspace.cuh', qr/(space->descriptors\[i\] = NOT_PUBLISHED;)/, $nothing, $stale, @three_clusters, SIM_SCHEDULE => 'random:1');
mutant('chained', 'a clean counter', 'workspace.cuh', qr/(space->ticket = space->finished = 0xFFFFFFFFu;)/, $nothing, $left);
# and those that are seen in the results for arrays of one's own (below)
my $first_special = @mutants + 1;
mutant('lookback', 'the second window of 32', 'look_back.cuh', qr/since = (back == 0 \? pair : pair_join\(pair, since\))/,
    'back == 32 ? since : back == 0 ? pair : pair_join(pair, since)', undef);
mutant('lookback', 'the tiles behind a prefix', 'look_back.cuh', qr/(missing > prefixes)/, 'false', undef);
mutant('chained', 'one NaN for all', 'tile_descriptor.cuh', qr/(value != value)/, 'false', undef);

# Makes the copy. Returns the numbers of the mutants that there are.
sub build_mutants {
    $copy = copy_of_chapters();
    my %text = map { $_ => read_file("08_lookback/$_") } qw(chained.cu lookback.cu resident.cu resident_backward.cu cluster.cu cluster_backward.cu persistent_cluster.cu persistent_cluster_backward.cu ../04_warp_scan/warp_scan.cuh persistent_cluster.cuh cluster_descriptor.cuh tile_descriptor.cuh look_back.cuh workspace.cuh lookback.h);
    my @ready;
    for my $number (1 .. @mutants) {
        my ($what, $file, $from, $to) = @{ $mutants[$number - 1] };
        my $found = $text{$file} =~ $from;
        ok($found, "$file still has what is replaced: $what") or next;
        substr($text{$file}, $-[1], $+[1] - $-[1]) = $to->($number, $1);
        push @ready, $number;
    }
    my $changes = $text{'../04_warp_scan/warp_scan.cuh'} =~ s/(#define WARP_SCAN_CUH\n)/$1\n#include <stdlib.h>\nstatic __device__ const int mutant = atoi(getenv("MUTANT"));\n/;
    $changes += $text{'lookback.h'} =~ s/(?<=LOOKBACK_ROWS = )4\b/1/;
    is($changes, 2, 'rows and the includes are where they were');
    write_file("$copy/08_lookback/$_", $text{$_}) for keys %text;
    my $log = `make -j2 -C $copy/08_lookback BACKEND=sim ../build/sim/08_lookback 2>&1`;
    is($?, 0, 'the copy builds') or diag($log);
    return @ready;
}

SKIP: {
    skip 'orders and mutants are the simulator\'s', 1 if backend() ne 'sim';
    my @ready = build_mutants();
    my $mutated = "$copy/build/sim/08_lookback";

    # ---- right in every order; with one block at once where each waits only for those that began before ----

    my ($rows, $length) = (2, 9001);
    my @values = map { sin $_ } 1 .. $rows * $length;
    write_npy($file{x}, "($rows, $length)", @values);
    write_npy($file{c}, "($rows, $length)", map { 1 - $_ * $_ / 500 } reverse @values);
    my %residents = (chained => [0, 1, 2, 3, 5], lookback => [0, 1, 2, 3, 5], resident => [0, 6, 7], persistent_cluster => [0, 16], cluster => [0, 1, 7]);
    for my $kernel (sort keys %residents) {
        my (%bits, @complaints);
        for my $resident (@{ $residents{$kernel} }) {
            my $joins_differ = $kernel eq 'lookback' || $kernel eq 'resident'; # they depend on who comes first
            for my $order ($joins_differ ? @orders[1 .. 3] : @orders) {
                my $settings = { SIM_SCHEDULE => $order, $resident ? (SIM_RESIDENT => $resident) : () };
                push @complaints, complaint($settings, $p, '--variant', $kernel, $kernel =~ /^(resident|persistent_cluster|cluster)$/ ? () : '--forward', '--num-seqs', $rows, '--seq-len', $length)
                    if $joins_differ || !%bits;
                next if $joins_differ;
                $bits{ join '|', map { bytes($settings, $p, $_, '--variant', $kernel) } $kernel =~ /^(persistent_cluster|cluster)$/ ? (0, 1) : 0 } = "$order, $resident at once";
            }
        }
        is(join('', @complaints), '', "$kernel: right in every order, with few and with many blocks at once");
        is(scalar keys %bits, 1, "$kernel: the same bits in all of them") or diag(join "; ", sort values %bits) if $kernel !~ /^(lookback|resident)$/;
        is(scalar(grep { /(^|\|)status/ } keys %bits), 0, "$kernel: and they are results");
    }
    for my $clusters (1, 3) { # several turns of each, and more turns than the ring is long
        my %settings = (SIM_RESIDENT => 8 * $clusters);
        for my $shape ([1, 45003], [3, 16384], [24, 8193]) { # the second: products of first coefficients are infinite there
            is(complaint({ %settings, SIM_SCHEDULE => $_ }, $p, '--variant', 'persistent_cluster', @short_tiles, '--num-seqs', $shape->[0], '--seq-len', $shape->[1]), '',
                "persistent_cluster, $clusters clusters, $shape->[0] sequences: right in order $_") for @orders[1, 2];
        }
        for my $backward (0, 1) {
            my %bits = map { bytes({ %settings, SIM_SCHEDULE => $_ }, $p, $backward, '--variant', 'persistent_cluster', @short_tiles) => 1 } @orders;
            ok(keys %bits == 1 && (keys %bits)[0] !~ /^status/, "persistent_cluster, $clusters clusters" . ($backward ? ', backward' : '') . ': the same bits in every order');
        }
    }
    my %joined = map { bytes({ MUTANT => 0, SIM_SCHEDULE => $_, SIM_RESIDENT => 5 }, $mutated, 0, '--variant', 'lookback') => 1 } @orders;
    cmp_ok(scalar keys %joined, '>', 1, 'lookback joins otherwise in other orders, and its bits differ: the comparisons of bits above see that');
    for my $pass ('--forward', '--backward') {
        my $told = complaint({ SIM_RESIDENT => 1, SIM_SCHEDULE => 'reverse' }, $p, '--variant', 'resident', $pass, '--num-seqs', 1, '--seq-len', $length);
        like($told, qr/^status 1: .*$deadlock.*all 1 blocks that run wait like this/, "resident $pass, whose few tiles all fit, with one block at once: a deadlock, as it needs all its blocks");
    }

    # ---- what is missing is told ----

    for my $number (grep { $_ < $first_special } @ready) {
        my ($what, undef, undef, undef, $told, $settings, @options) = @{ $mutants[$number - 1] };
        next if !defined $told; # the other half of a mutant
        my @missed;
        for my $order ($settings->{SIM_SCHEDULE} // ('warp', 'reverse')) {
            my ($status, $out, $err) =
                run_program({ %$settings, MUTANT => $number, SIM_SCHEDULE => $order }, 'timeout', 20, $mutated, '--check-only', @options);
            push @missed, "$order: status $status: $err" if $status ne 1 || $err !~ $told;
        }
        ok(!@missed, "$what: told in every order") or diag(substr join('', @missed), 0, 1500);
    }

    # ---- with arrays of one's own: ones, whose sum any look-back must have ----

    my $long = 45003; # more than 32 tiles of 1024
    write_npy($file{$_}, "($long,)", (1) x $long) for 'x', 'c';
    my ($second_window, $behind, $nan) = ($first_special .. $first_special + 2);
    for my $case ([0, 0], [$second_window, 1], [$behind, 1]) {
        my ($number, $is_wrong) = @$case;
        my $first;
        for my $order ('reverse', map { "random:$_" } 1 .. 5) {
            bytes({ MUTANT => $number, SIM_SCHEDULE => $order, SIM_RESIDENT => 44 }, $mutated, 0, '--variant', 'lookback');
            my (undef, @y) = read_npy($file{y});
            ($first) = @y ? grep { $y[$_] ne $_ + 1 } 0 .. $#y : 'no result';
            last if defined $first;
        }
        my $what = $number ? $mutants[$number - 1][0] : 'lookback in several windows';
        $is_wrong ? cmp_ok($first // -1, '>', 0, "$what: wrong from element " . ($first // 'none') . ' on') : is($first, undef, "$what: right");
    }

    # ---- and not one NaN for all, but each as it is: a kernel waits for ever, or takes a total for a carry ----

    for my $case (['chained', 'x', $deadlock], ['lookback', 'x', $deadlock], ['lookback', 'c', qr/^(?!11808 of)\d+ of 40000/]) {
        my ($kernel, $where, $told) = @$case;
        write_nans($where);
        my $result = bytes({ MUTANT => $nan, SIM_SCHEDULE => 'reverse' }, $mutated, 0, '--variant', $kernel);
        $result = nans() if $result !~ /^status/;
        like($result, $told, "$kernel without one NaN for all, a NaN in $where: is found");
    }
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
for my $kernel (@kernels) {
    for my $where ('x', 'c', 'x c') {
        write_nans($where);
        for my $order (@orders[0 .. ($#orders > 0)]) {
            my $result = bytes({ SIM_SCHEDULE => $order }, $p, 0, '--variant', $kernel);
            is($result =~ /^status/ ? $result : nans(), '11808 of 40000, 8192 to 19999', "$kernel, $order, a NaN of all bits in $where: in what follows");
            next if $kernel !~ /^(resident|persistent_cluster|cluster)$/;
            $result = bytes({ SIM_SCHEDULE => $order }, $p, 1, '--variant', $kernel);
            my $last = $where =~ /x/ ? 8192 : 8191;
            is($result =~ /^status/ ? $result : nans(1), $last + 1 . " of 40000, 0 to $last", "the same backward");
        }
    }
}

done_testing;
