# Chapter 10: the states between chunks. Its kernels against the definition, written down once more here in Perl, on numbers of which every result is
# exact; its gradients against finite differences of that, which are exact, too, because a state is linear in each number; all options in all
# combinations; a NaN stays in its head; the oracle finds mistakes; what the reader does wrong is told.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Mistakes;
use Test::More;

delete @ENV{qw(SIM_SCHEDULE SIM_RESIDENT)};
my $p = program('10_chunk_state');
my $sim = backend() eq 'sim';
my @forward = complete_variants('10_chunk_state', '--forward');
my @backward = complete_variants('10_chunk_state', '--backward');
ok(@forward >= 7 && @backward >= 4, "forward: @forward; backward: @backward");
my @with_rank = qw(low_rank mma default);
my @backward_with_rank = qw(low_rank default);

my @names = qw(batch chunks heads dk dv rank decays);
sub shape {
    my @options;
    push @options, "--$names[$_]", $_[$_] for 0 .. $#_;
    return @options;
}

# ---- shapes, around every boundary; each against the oracle, on all kinds of data ----

# One tiny shape has all options in all combinations; at a boundary all of them are there, or none.
is(complaint({}, $p, shape(2, '1,3', 2, 3, 8, 0)), '', 'all options in all combinations');
is(complaint({}, $p, shape(2, '1,3', 2, 2, 3, 1)), '', 'and with a rank');
for my $case (['one chunk, one row, one column', [1, 1, 1, 1, 1, 0]],
    ['chunks around a tile', [1, '7,8,9,16,17', 1, 2, 8, 0]], ['columns that are no multiple of 4', [1, 5, 2, 3, 7, 0]], ['and with a rank', [1, 3, 2, 3, 7, 2]],
    ['one decay for all', [1, 5, 2, 4, 16, 0, 1]], ['and with a rank', [1, 5, 2, 4, 16, 2, 1]], ['parts of a decay', [1, 3, 1, 33, 40, 0, 1]],
    ['a slice and a bit', [1, 9, 3, 5, 72, 0]], ['columns around a warp', [1, 2, 1, 2, 33, 1]], ['256 rows', [1, 2, 1, 256, 8, 0]], ['256 rows with a rank', [1, 2, 1, 256, 3, 1]],
    ['65 rows', [1, 2, 1, 65, 3, 12]], ['129 rows', [1, 2, 1, 129, 3, 5]], ['ranks that are filled up', [1, 2, 1, 9, 5, 9]], ['the largest rank', [1, 2, 1, 17, 4, 64]],
    ['half of the largest rank and one', [1, 2, 1, 33, 5, 33]], ['rank 16', [1, 2, 1, 34, 40, 16]], ['an odd rank', [1, 4, 1, 34, 8, 13]], ['many rows and ranks', [1, 2, 1, 128, 2, 64]],
    ['no batch', [0, 3, 2, 3, 8, 0]], ['no chunk', [2, 0, 2, 3, 8, 0]], ['no head', [2, 3, 0, 3, 8, 0]], ['no row', [2, 3, 2, 0, 8, 0, 1]], ['no column', [2, 3, 2, 3, 0, 0]]) {
    my ($name, $shape) = @$case;
    is(complaint({}, $p, shape(@$shape), '--with', $_), '', "@$shape: $name, $_ of the options") for 'all', $shape->[5] ? 'W' : 'none';
    next if $name !~ /filled|bit|multiple|parts|rank 16|odd|many/;
    is(complaint({}, $p, shape(@$shape), '--type', $_, '--with', 'all'), '', "@$shape: $name, in $_") for 'bf16', 'fp16';
}
my @split = ('--variant', 'split', '--config', 'threads=32,stages=4', shape(1, '100,333', 1, 4, 8, 0));
is(complaint({}, $p, @split), '', 'split: windows of several segments');
is(complaint({}, $p, '--variant', $_, '--config', 'threads=32,stages=2', shape(2, 41, 3, 5, 24, 0)), '', "$_: stages are filled again") for 'tma', 'split';
is(complaint({}, $p, '--variant', 'low_rank', '--config', "stages=$_", shape(1, 5, 1, 9, 8, 3), '--with', 'all'), '', "low_rank: stages=$_") for 1, 2, 5;
for my $type ('float32', 'bf16') {
    is(complaint({}, $p, '--variant', 'mma', '--type', $type, '--config', "stages=$_", shape(1, 7, 1, 40, 8, 3), '--with', 'all'), '', "mma in $type: stages=$_") for 2, 3, 5;
}
for my $case (['full tiles', [1, 3, 2, 64, 40, 40]], ['more than half of the rows and ranks', [1, 3, 1, 65, 5, 64]], ['24 ranks', [1, 9, 1, 33, 7, 24]]) {
    is(complaint({}, $p, '--variant', 'mma', '--type', 'bf16', shape(@{ $case->[1] }), '--with', 'all'), '', "a warpgroup: $case->[0]");
}
is(complaint({}, $p, '--variant', 'mma', '--type', 'bf16', '--config', "stages=$_", shape(1, 7, 1, 40, 8, 24), '--with', 'all'), '', "a warpgroup: stages=$_") for 2, 3, 5;
is(complaint({}, $p, '--variant', 'prefetch', '--config', "rows=$_", shape(1, 19, 1, 3, 8, 0)), '', "prefetch: $_ chunks") for 2, 4, 8, 16;
SKIP: {
    skip 'schedules are the simulator\'s', 1 if !$sim;
    for my $order ('reverse', 'random:1') {
        for my $type ('float32', 'bf16') {
            is(complaint({ SIM_SCHEDULE => $order }, $p, shape(2, 9, 2, 3, 24, 2), '--type', $type, '--with', 'all'), '', "right in the simulator's order $order, with a rank, in $type");
        }
        is(complaint({ SIM_SCHEDULE => $order }, $p, '--variant', 'mma', shape(2, 9, 1, 5, 24, 40), '--type', 'bf16', '--with', 'all'), '', "a warpgroup: right in the simulator's order $order");
        is(complaint({ SIM_SCHEDULE => $order }, $p, shape(2, 30, 2, 3, 24, 0), '--with', 'all'), '', "right in the simulator's order $order");
        is(complaint({ SIM_SCHEDULE => $order }, $p, @split, '--with', 'all'), '', "split: right in the simulator's order $order");
    }
}

# ---- the definition, on halves and quarters: every result is exact in float32 ----

my %size = (batch => 2, chunks => 4, heads => 2, dk => 3, dv => 8, rank => 2, decays => 3);
my @of_all = qw(batch chunks heads dk dv);
my %dims = (
    (map { $_ => \@of_all } qw(h_local h_out states d_h_out d_h_local)),
    (map { $_ => [qw(batch chunks heads decays)] } qw(gamma d_gamma)),
    (map { $_ => [qw(batch chunks heads dk rank)] } qw(W Y d_W d_Y)),
    (map { $_ => [qw(batch heads dk dv)] } qw(initial_state final_state d_final_state d_initial_state)),
);
describe_arrays($p, \%size, \%dims);

# Takes a hash of arrays and `exclusive`; returns h_out and final_state.
sub definition {
    my ($in) = @_;
    my ($batch, $chunks, $heads, $dk, $dv, $rank, $decays) = @size{@names};
    my (@out, @final);
    for my $bh (0 .. $batch * $heads - 1) {
        my ($b, $head) = (int($bh / $heads), $bh % $heads);
        my @h = map { $in->{initial_state} ? $in->{initial_state}[$bh * $dk * $dv + $_] : 0 } 0 .. $dk * $dv - 1;
        for my $k (0 .. $chunks - 1) {
            my $at = ($b * $chunks + $k) * $heads + $head;
            my @before = @h;
            for my $j (0 .. $dv - 1) {
                my @p = map { my $r = $_; my $sum = 0; $sum += $in->{Y}[($at * $dk + $_) * $rank + $r] * $before[$_ * $dv + $j] for 0 .. $dk - 1; $sum } 0 .. ($in->{W} ? $rank : 0) - 1;
                for my $i (0 .. $dk - 1) {
                    my $t = $before[$i * $dv + $j];
                    $t -= $in->{W}[($at * $dk + $i) * $rank + $_] * $p[$_] for 0 .. $#p;
                    $h[$i * $dv + $j] = $in->{gamma}[$at * $decays + ($decays == 1 ? 0 : $i)] * $t + $in->{h_local}[($at * $dk + $i) * $dv + $j];
                }
            }
            $out[$at * $dk * $dv + $_] = $in->{exclusive} ? $before[$_] : $h[$_] for 0 .. $dk * $dv - 1;
        }
        $final[$bh * $dk * $dv + $_] = $h[$_] for 0 .. $dk * $dv - 1;
    }
    return (\@out, \@final);
}

my $state = 1;
sub random { $state = ($state * 1103515245 + 12345) % 2**31; return int($state / 2**16) % 5 / 2 - 1 } # -1 ... 1 in halves
my %all;
sub make_arrays {
    $size{decays} = $_[0];
    %all = map { my $name = $_; ($name => [map { random() } 1 .. count_of($name)]) } qw(h_local gamma W Y initial_state d_h_out d_final_state);
}
sub same { my ($is, $must_be) = @_; return @$is == @$must_be && !grep { $is->[$_] != $must_be->[$_] } 0 .. $#$is }

# ---- gradients: finite differences of the loss, sum of d_h_out h_out and of d_final_state final_state ----

sub loss {
    my ($in) = @_;
    my ($out, $final) = definition($in);
    my $loss = 0;
    $loss += $in->{d_h_out}[$_] * $out->[$_] for 0 .. $#$out;
    $loss += $in->{d_final_state} ? $in->{d_final_state}[$_] * $final->[$_] : 0 for 0 .. $#$final;
    return $loss;
}
sub differences {
    my ($in, $name) = @_;
    my @gradient;
    my @all = $in->{$name} ? @{ $in->{$name} } : (0) x count_of($name);
    my $here = loss($in); # the loss is linear in each number by itself
    for my $i (0 .. $#all) {
        my @values = @all;
        $values[$i] += 1;
        push @gradient, loss({ %$in, $name => \@values }) - $here;
    }
    return \@gradient;
}

for my $decays (3, 1) {
    make_arrays($decays);
    for my $exclusive ($decays == 1 ? 0 : (0, 1)) {
        for my $with ([], $decays == 1 ? () : ['initial_state'], ['W', 'Y'], $decays == 1 ? () : ['W', 'Y', 'initial_state']) {
            my $has_rank = grep { $_ eq 'W' } @$with;
            my $said = "$decays decays" . ($exclusive ? ', exclusive' : '') . (@$with ? ", @$with" : '');
            my $in = { (map { $_ => $all{$_} } qw(h_local gamma), @$with), exclusive => $exclusive };
            my ($out, $final) = definition($in);
            for my $variant ($has_rank ? @with_rank : @forward) {
                my $is = compute($in, $variant, 'h_out', 'final_state');
                ok(same($is->{h_out}, $out) && same($is->{final_state}, $final), "$variant forward is the definition: $said");
            }
            for my $has_final ($has_rank ? (1) : (0, 1)) {
                my $back = { %$in, d_h_out => $all{d_h_out}, $has_final ? (d_final_state => $all{d_final_state}) : () };
                my @of = (qw(h_local gamma initial_state), $has_rank ? qw(W Y) : ());
                my %gradient = map { $_ => differences($back, $_) } @of;
                my ($states) = definition({ %$in, exclusive => 1 });
                for my $variant ($has_rank ? @backward_with_rank : @backward) {
                    for my $given ({}, { states => $states }) {
                        my $is = compute({ %$back, %$given }, $variant, map { "d_$_" } @of);
                        my @wrong = grep { !same($is->{"d_$_"}, $gradient{$_}) } @of;
                        is("@wrong", '', "$variant backward is what finite differences give: $said" . ($has_final ? ', d_final_state' : '') . (%$given ? ', states' : ''));
                    }
                }
            }
        }
    }
}

# ---- a NaN or an infinity stays in its head, and never comes before its cause ----

make_arrays(3);
for my $bad ('NaN', 'Inf') {
    for my $where (qw(h_local gamma)) { # batch 1, chunk 2, head 1, the first number
        my $in = { map { $_ => $all{$_} } qw(h_local gamma initial_state) };
        my $at = ((1 * 4 + 2) * 2 + 1) * ($where eq 'gamma' ? 3 : 24);
        my $spoilt = { %$in, $where => [@{ $all{$where} }] };
        $spoilt->{$where}[$at] = 0 + $bad;
        for my $variant (@forward) {
            my ($good, $is) = map { compute($_, $variant, 'h_out')->{h_out} } $in, $spoilt;
            my @changed = grep { pack('f', $good->[$_]) ne pack('f', $is->[$_]) } 0 .. $#$good;
            my @strays = grep { int($_ / 24 / 2 / 4) != 1 || int($_ / 24 / 2) % 4 < 2 || int($_ / 24) % 2 != 1 || int($_ / 8) % 3 != 0 } @changed;
            ok(@changed && !@strays, "$variant: $bad in $where changes only its own row, from there on") or diag("strays @strays");
        }
    }
}

# ---- the oracle finds mistakes: each is an expression of a kernel that is replaced ----

my @small = shape(2, 9, 2, 3, 8, 0);
my @ranks = shape(2, 3, 2, 9, 8, 3);
mistake('launches', 'launches.cu', 'i % flat.columns] =', '(mutant == N ? i % flat.columns / 2 : i % flat.columns)] =', @small);
mistake('registers', 'registers.cu', 'exclusive ? before : h', 'h', @small);
mistake('prefetch', 'prefetch.cu', 'decay + next * flat.decays', 'decay + k * flat.decays', @small);
mistake('prefetch', 'prefetch.cu', 'const size_t k = base + a, next = k + distance;', 'const size_t k = base + a, next = k + distance - (mutant == N);', shape(2, 19, 2, 3, 8, 0));
mistake('tma', 'tma.cu', 'exclusive ? row_bytes : 0', '0', @small);
mistake('tma', 'tma.cu', 'if (s < in)', 'if (mutant == N || s < in)', @small);
mistake('tma', 'tma_slice.cuh', 'threadIdx.x * OWN(dtype) < slice.columns', 'threadIdx.x * OWN(dtype) <= slice.columns', shape(1, 9, 3, 5, 72, 0));
mistake('tma', 'tma_slice.cuh', 'slicing->parts == 1 ? slice.own / slicing->per_decay : 0', '0', @small);
mistake('split', 'split.cu', 'window % 2', '0', @split[4 .. $#split], '--config', 'threads=32,stages=4');
mistake('split', 'split.cu', 'exclusive ? 1 : 0', '0', @split[4 .. $#split], '--config', 'threads=32,stages=4');
mistake('split', 'split.cu', 'if (s == segment)', 'if (s == (mutant == N ? 0 : segment))', @split[4 .. $#split], '--config', 'threads=32,stages=4');
mistake('split', 'split.cu', 'product *= decays[s];', 'product *= (mutant == N ? 1.0f : decays[s]);', @split[4 .. $#split], '--config', 'threads=32,stages=4');
mistake('registers', 'registers_backward.cu', 'inside ? d * read1<dtype>(states, at) : 0.0f', 'd', @small);
mistake('registers', 'registers_backward.cu', 'sums[k % 2]', 'sums[0]', shape(1, 5, 1, 33, 40, 0, 1));
mistake('tma', 'tma_backward.cu', 'exclusive ? 0.0f : d_out[c]', 'd_out[c]', @small);
mistake('tma', 'tma_sums.cuh', 'i += sums.team', 'i += (mutant == N ? 2 : 1) * sums.team', shape(1, 3, 1, 33, 40, 0, 1));
mistake('tma', 'backward_space.cu', 'part < parts', 'part + 1 < parts', shape(1, 3, 1, 33, 40, 0, 1));
mistake('low_rank', 'low_rank.cu', '((const float *)(here + own_gamma))[v / 2 * ROW_LANES]', '1.0f', @ranks);
mistake('low_rank', 'low_rank_products.cuh', 'upper ? sum[v] : sum[v + left]', 'sum[v]', @ranks);
mistake('low_rank', 'low_rank_products.cuh', 'lane & COLUMN_LANES * d', 'lane & COLUMN_LANES / 2 * d', @ranks);
mistake('low_rank', 'low_rank_copy.cuh', 'gamma + first * shape->decays', 'gamma', @ranks);
mistake('low_rank', 'low_rank_copy.cuh', 'shape->decays == 1 ? 0 : lane', '0', @ranks);
mistake('mma', 'mma.cuh', 'mma_tf32(rest, small, b);', 'if (mutant != N) mma_tf32(rest, small, b);', @ranks);
mistake('mma', 'mma.cuh', 'mma_tf32(rest, big, b_small);', 'if (mutant != N) mma_tf32(rest, big, b_small);', @ranks);
mistake('mma', 'mma.cu', 'p[v][0] + more.x', 'p[v][0]', shape(1, 3, 1, 48, 8, 5));
mistake('mma', 'mma.cu', 'k % 2', '0', shape(1, 3, 1, 48, 8, 5));
mistake('mma', 'mma_copy.cuh', 'shape->decays == 1 ? 0 : i', '0', @ranks);
mistake('mma', 'copy_rows.cuh', 'raw != rows', '0', '--type', 'bf16', shape(1, 3, 1, 34, 8, 13));
my @warpgroup = ('--type', 'bf16', shape(1, 3, 1, 2, 8, 24));
mistake('mma', 'wgmma.cuh', 'wgmma_multiply<n, by_rows>(c, left->small, b, true);', 'if (mutant != N) wgmma_multiply<n, by_rows>(c, left->small, b, true);', @warpgroup);
mistake('mma', 'wgmma.cu', 's[1] + s[3]', 's[1]', @warpgroup);
mistake('mma', 'wgmma.cu', 'exclusive ? 0xFFFFFFFFu : 0u', '0u', @warpgroup);
mistake('mma', 'mma_copy.cuh', 'share->to_row % 1024 == 0 ? 0 : 64', '0', '--type', 'bf16', shape(1, 3, 1, 9, 8, 40));
mistake('low_rank', 'low_rank_backward.cu', '((const float *)(here + own_gamma))[i * ROW_LANES]', '1.0f', @ranks);
mistake('low_rank', 'low_rank_backward.cu', 'exclusive ? read1<dtype>(d_h_out, first + v / 2 * step + v % 2) : 0.0f', '0.0f', @ranks);
mistake('low_rank', 'low_rank_backward_copy.cuh', 'later ? copies.next : 0', '0', @ranks);
mistake('low_rank', 'low_rank_sums.cuh', 'w[r] * x[v]', '0.0f', @ranks);
mistake('low_rank', 'low_rank_sums.cuh', 'side ? of_w[r] : of_y[r]', 'of_w[r]', @ranks);
mistake('low_rank', 'low_rank_sums.cuh', 'of_warps[1]', '0.0f', shape(1, 3, 1, 33, 8, 2, 1));
mistake('low_rank', 'low_rank_sums.cu', 's < slices', 's < 1', shape(1, 2, 1, 2, 33, 1));

SKIP: {
    skip 'mistakes are built in for the simulator', 1 if !$sim;
    find_mistakes('10_chunk_state', qr/backward|sums/, 'tma', @small);
}

# ---- what the reader does wrong is told in one sentence ----

refuses('a number of decays that is neither 1 nor that of the rows', qr/takes one decay for each of the 4 rows, or 1, not 3;/, $p, '--dk', 4, '--decays', 3, '--variant', 'registers');
refuses('too large a rank', qr/low_rank takes a rank of up to 64, not 65;/, $p, '--rank', 65, '--variant', 'low_rank');
refuses('a rank for a diagonal kernel', qr/tma takes a rank of up to 0, not 4;/, $p, '--rank', 4, '--variant', 'tma');
refuses('too many rows with a rank', qr/takes up to 256 rows with a rank, not 257;/, $p, '--dk', 257, '--rank', 1, '--variant', 'low_rank');
refuses('too many rows for the tensor cores', qr/mma takes up to 128 rows, not 129;/, $p, '--dk', 129, '--rank', 1, '--variant', 'mma');
refuses('columns that TMA does not take', qr/split takes multiples of 8 columns, not 12;/, $p, '--dv', 12, '--rank', 0, '--variant', 'split');
write_array($_, $all{$_}) for qw(h_local gamma W);
refuses('W without Y', qr/--Y/, $p, map { option_of($_) } qw(h_local gamma W h_out));
refuses('an array that is missing', qr/the set of arrays is not complete; forward takes --h-local, --gamma and --h-out;/, $p, map { option_of($_) } qw(h_local h_out));

done_testing;
