# SPDX-License-Identifier: MIT
# Chapter 10: the states between chunks. Its kernels against the definition, written down once more here in Perl, on numbers of which every result is
# exact; its gradients against finite differences of that, which are exact, too, because a state is linear in each number; all options in all
# combinations; a NaN stays in its head; the oracle finds mistakes; what the reader does wrong is told.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('10_chunk_state');
my $sim = backend() eq 'sim';
my @forward = complete_variants('10_chunk_state', '--forward');
my @backward = complete_variants('10_chunk_state', '--backward');
ok(@forward >= 7 && @backward >= 4, "forward: @forward; backward: @backward");
my @with_rank = qw(low_rank plain mma default);
my @backward_with_rank = qw(low_rank plain mma default);

my @names = qw(batch chunks heads dk dv rank decays);
sub shape {
    my @options;
    push @options, "--$names[$_]", $_[$_] for 0 .. $#_;
    return @options;
}

# ---- one tiny shape has all options in all combinations; long/shapes.t has the boundaries ----

is(complaint({}, $p, shape(2, 3, 1, 3, 8, 0)), '', 'all options in all combinations');
is(complaint({}, $p, shape(1, 2, 1, 2, 3, 1)), '', 'and with a rank');

is(complaint({}, $p, shape(1, '8,17', 1, 2, 8, 0), '--backward', '--type', 'bf16', '--with', $_), '', "gradients in bf16, of one stretch and of three, $_") for 'initial_state', 'all';
is(complaint({}, $p, shape(1, 17, 1, 2, 8, 0), qw(--backward --type fp16 --with none)), '', 'gradients in fp16, of three stretches');

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
                    my $t = $in->{gamma}[$at * $decays + ($decays == 1 ? 0 : $i)] * $before[$i * $dv + $j] + $in->{h_local}[($at * $dk + $i) * $dv + $j];
                    $t -= $in->{W}[($at * $dk + $i) * $rank + $_] * $p[$_] for 0 .. $#p;
                    $h[$i * $dv + $j] = $t;
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

# ---- packed sequences: each is what it is by itself, to the bit, whatever stands beside it ----

sub packed { my ($seqs, @others) = @_; return ('--seqs', $seqs, (shape(1, @others))[2 .. 2 * @others + 1], '--with', 'all') }
is(complaint({}, $p, packed(@$_)), '', "packed sequences: @$_") for [5, 9, 2, 3, 8, 0], [1, 3, 1, 2, 3, 1], [3, 0, 2, 3, 4, 0], [0, 0, 1, 2, 3, 1], [4, 9, 1, 9, 34, 5, 1];
is(complaint({}, $p, packed(4, 9, 1, 5, 12, 2, 1), '--type', $_), '', "packed sequences in $_") for 'bf16', 'fp16';
for my $lengths ([0, 2, 0, 3, 1, 0], [4], [0, 0, 0], [1, 1, 1]) {
    my @starts = (0);
    push @starts, $starts[-1] + $_ for @$lengths;
    my %one = (batch => 1, chunks => 4, heads => 2, dk => 3, dv => 8, rank => 2, decays => 3);
    my $in_all = sub { # of an array's elements those of sequence s
        my ($name, $values, $s) = @_;
        my $is_state = $dims{$name}[1] ne 'chunks';
        my ($from, $number) = $is_state ? ($s, 1) : ($starts[$s], $lengths->[$s]);
        my $part = $is_state ? 2 * 24 : $name =~ /gamma/ ? 2 * 3 : $name =~ /[WY]/ ? 2 * 6 : 2 * 24;
        return [@$values[$from * $part .. ($from + $number) * $part - 1]];
    };
    my @read = qw(h_local gamma W Y initial_state d_h_out d_final_state);
    my %values;
    for my $pass ('forward', 'backward') {
        my @written = $pass eq 'forward' ? qw(h_out final_state) : qw(d_h_local d_gamma d_W d_Y d_initial_state);
        my @reads = $pass eq 'forward' ? @read[0 .. 4] : @read;
        for my $ranks (0, 1) {
            my @here = grep { $ranks || !/[WY]/ } @reads;
            my @there = grep { $ranks || !/[WY]/ } @written;
            %size = (%one, chunks => $starts[-1], seqs => scalar @$lengths, edges => scalar @starts);
            my %packed_dims = ((map { my $name = $_; $name => [map { $_ ne 'batch' ? $_ : $dims{$name}[1] eq 'chunks' ? () : 'seqs' } @{ $dims{$name} }] } keys %dims), starts => ['edges']);
            describe_arrays($p, \%size, \%packed_dims);
            %values = map { my $name = $_; $name => [map { random() } 1 .. count_of($name)] } @here;
            my @run = ('plain', 'low_rank', $ranks ? 'mma' : ());
            my %is = map { $_ => compute({ %values, starts => \@starts, exclusive => 1 }, $_, @there) } @run;
            my @wrong;
            for my $s (0 .. $#$lengths) {
                %size = (%one, chunks => $lengths->[$s]);
                describe_arrays($p, \%size, \%dims);
                my %alone = map { $_ => $in_all->($_, $values{$_}, $s) } @here;
                for my $variant (@run) {
                    my $must_be = compute({ %alone, exclusive => 1 }, $variant, @there);
                    push @wrong, map { "$variant: $_ of sequence $s" } grep { "@{ $in_all->($_, $is{$variant}{$_}, $s) }" ne "@{ $must_be->{$_} }" } @there;
                }
            }
            is("@wrong", '', "$pass of packed sequences of @$lengths chunks by @run" . ($ranks ? ', W and Y' : ''));
        }
    }
}
{ # what are no starts
    %size = (batch => 1, chunks => 4, heads => 2, dk => 3, dv => 8, rank => 2, decays => 3, edges => 3);
    describe_arrays($p, \%size, { (map { my $name = $_; $name => [grep { $_ ne 'batch' } @{ $dims{$name} }] } grep { $dims{$_}[1] eq 'chunks' } keys %dims), starts => ['edges'] });
    write_array($_, [map { random() } 1 .. count_of($_)]) for qw(h_local gamma W Y d_h_out);
    my @outside;
    for my $wrong ([-5, 2**24, -3], [4, 2, 0], [2**24, -1, 4], [0, 9, 2]) {
        write_array('starts', $wrong);
        for my $run ('plain forward W', 'low_rank forward W', 'low_rank forward', 'mma forward W', 'plain backward W', 'low_rank backward W', 'mma backward W') {
            my ($variant, $pass, $ranks) = split ' ', $run;
            my @arrays = (qw(h_local gamma starts), $ranks ? qw(W Y) : (), $pass eq 'forward' ? 'h_out' : qw(d_h_out d_h_local d_gamma d_W d_Y));
            my ($status, undef, $err) = run_program({ CUSIM_CHECKS => 'bounds' }, $p, '--variant', $variant, map { option_of($_) } @arrays);
            push @outside, "$run, @$wrong: $err" if $status ne '0';
        }
    }
    is("@outside", '', 'numbers that are no starts: no access outside of the arrays');
    %size = (batch => 2, chunks => 4, heads => 2, dk => 3, dv => 8, rank => 2, decays => 3);
    describe_arrays($p, \%size, \%dims);
}
refuses('chunks of no sequence', qr/takes at least one sequence where there are chunks;/, $p, qw(--seqs 0 --chunks 4 --variant plain));
refuses('packed, and too many rows', qr/takes up to 256 rows(?: of packed sequences)?, not 257;/, $p, qw(--seqs 1 --dk 257 --rank 0 --variant default));
refuses('a kernel that takes no packed sequences', qr/variant tma does not run forward;/, $p, qw(--seqs 2 --variant tma));

# ---- one position (library/tests/steps.c compares it with a loop, with rows that lie apart, in place) ----

is(complaint({}, $p, '--step', @$_), '', "a step: @$_") for [], [qw(--type bf16)], [qw(--type fp16 --batch 5 --heads 3 --dk 9 --dv 12 --decays 1 --num-slots 6)];
refuses('a step with too many rows', qr/takes 1 to 256 rows, not 257;/, $p, qw(--step --dk 257));

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
