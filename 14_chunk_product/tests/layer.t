# SPDX-License-Identifier: MIT
# Chapter 14: the layer of Mamba-2. Its kernels against the definition, written down once more here in Perl; odd sizes, groups, and
# sizes of 0; a text in two calls is a text in one; a NaN stays where it belongs; what the
# user does wrong is told.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('14_chunk_product');
my @forward = complete_variants('14_chunk_product', '--forward');
ok((grep { $_ eq 'loop' } @forward) && (grep { $_ eq 'default' } @forward), "forward: @forward");
my %chunk = (loop => 1, chunk => 64, stretches => 64, wgmma => 64, default => 64); # steps in which a NaN may come before its cause, but for its own (operation/layer_arguments.h)

sub shape {
    my ($batch, $lengths, $heads, $dk, $dv, $groups) = @_;
    return ('--batch', $batch, '--seq-len', $lengths, '--heads', $heads, '--dk', $dk, '--dv', $dv, '--groups', $groups);
}

# ---- all options, both passes; sizes that fill nothing, and sizes of 0. All combinations, types and orders are long/layer.t's ----

for my $case (['lengths', 2, '3,5', 2, 3, 2, 1], ['one of each', 1, 1, 1, 1, 1, 1], ['a lane more than a warp', 1, 9, 1, 33, 3, 1], ['the most states', 1, 2, 1, 256, 2, 1],
    ['three groups of two', 2, 3, 6, 65, 5, 3], ['no step', 2, 0, 2, 3, 4, 1], ['no batch', 0, 4, 2, 3, 4, 1], ['no head', 2, 4, 0, 3, 4, 1], ['no row', 2, 4, 2, 3, 0, 1]) {
    my ($name, @sizes) = @$case;
    is(complaint({}, $p, shape(@sizes), qw(--with all)), '', "$name (@sizes)");
}
is(complaint({}, $p, shape(2, 3, 2, 3, 2, 1), '--with', $_, qw(--type bf16)), '', "bf16, $_ of the options") for 'all', 'none';
is(complaint({}, $p, '--forward', shape(1, '1,64,65', 2, 8, 8, 1), qw(--with all --type bf16 --variant chunk)), '', 'chunk: around a chunk');
is(complaint({}, $p, '--backward', shape(1, 65, 1, 8, 8, 1), qw(--with all --type bf16 --variant chunk)), '', 'chunk, backward: past a chunk');
# few heads: as many stretches as fit on a GPU, so that here each is one chunk; and two chunks, if that is asked for
is(complaint({}, $p, shape(1, 129, 1, 8, 8, 1), qw(--with all --type bf16 --variant stretches)), '', 'stretches: around their ends');
is(complaint({}, $p, shape(1, 260, 1, 8, 8, 1), qw(--with all --type bf16 --variant stretches --config rows=2)), '', 'stretches of two chunks');

# wgmma: two heads a block, and one where a group has an odd number; two tiles of states and two slices of rows; a stretch behind another
is(complaint({}, $p, shape(@$_), qw(--with all --type bf16 --variant wgmma)), '', "wgmma: @$_") for [1, '1,65', 2, 64, 64, 1], [2, 64, 1, 128, 64, 1];
is(complaint({}, $p, '--forward', shape(1, 130, 1, 64, 64, 1), '--with', 'initial_state,final_state', qw(--type fp16 --variant wgmma --config rows=1)), '', 'wgmma: stretches of one chunk');

# ---- packed sequences: the harness's, many short ones and few long ones ----

sub packed { my ($seqs, $steps, $heads, $dk, $dv, $groups) = @_; return ('--seqs', $seqs, '--seq-len', $steps, '--heads', $heads, '--dk', $dk, '--dv', $dv, '--groups', $groups) }
is(complaint({}, $p, packed(@$_), qw(--with all --type bf16)), '', "packed, bf16: @$_") for [3, 20, 1, 8, 8, 1], [4, 0, 1, 8, 8, 1];
is(complaint({}, $p, packed(@$_), qw(--with all)), '', "packed: @$_") for [0, 0, 1, 3, 2, 1], [4, 9, 0, 3, 2, 1], [20, 9, 2, 3, 5, 2];

# ---- the definition, in double ----

my %size = (batch => 2, seq_len => 9, heads => 4, dk => 5, dv => 3, groups => 2);
my %dims = (
    (map { $_ => [qw(batch seq_len heads dv)] } qw(x z out)),
    dt => [qw(batch seq_len heads)],
    (map { $_ => [qw(batch seq_len groups dk)] } qw(B C)),
    (map { $_ => ['heads'] } qw(A D dt_bias)),
    (map { $_ => [qw(batch heads dv dk)] } qw(initial_state final_state)),
);
describe_arrays($p, \%size, \%dims);

# Takes a hash of arrays and `dt_softplus`; returns out and final_state.
sub definition {
    my ($in) = @_;
    my ($batch, $seq_len, $heads, $dk, $dv, $groups) = @size{qw(batch seq_len heads dk dv groups)};
    my (@out, @final);
    for my $b (0 .. $batch - 1) {
        for my $head (0 .. $heads - 1) {
            my $g = int($head / ($heads / $groups));
            for my $row (0 .. $dv - 1) {
                my $state = (($b * $heads + $head) * $dv + $row) * $dk;
                my @h = map { $in->{initial_state} ? $in->{initial_state}[$state + $_] : 0 } 0 .. $dk - 1;
                for my $t (0 .. $seq_len - 1) {
                    my $at = $b * $seq_len + $t;
                    my $s = $in->{dt}[$at * $heads + $head] + ($in->{dt_bias} ? $in->{dt_bias}[$head] : 0);
                    $s = log(1 + exp $s) if $in->{dt_softplus};
                    my $x = $in->{x}[($at * $heads + $head) * $dv + $row];
                    my $y = $in->{D} ? $in->{D}[$head] * $x : 0;
                    for my $n (0 .. $dk - 1) {
                        my $bc = ($at * $groups + $g) * $dk + $n;
                        $h[$n] = exp($s * $in->{A}[$head]) * $h[$n] + $s * $x * $in->{B}[$bc];
                        $y += $h[$n] * $in->{C}[$bc];
                    }
                    my $z = $in->{z} ? $in->{z}[($at * $heads + $head) * $dv + $row] : undef;
                    $out[($at * $heads + $head) * $dv + $row] = defined $z ? $y * $z / (1 + exp -$z) : $y;
                }
                $final[$state + $_] = $h[$_] for 0 .. $dk - 1;
            }
        }
    }
    return (\@out, \@final);
}

# Numbers that all types hold, from -1 to 1 in 64ths; a step without softplus is positive, A is negative, and -1000 once.
my $state = 1;
sub random { $state = ($state * 1103515245 + 12345) % 2**31; return int($state / 2**24) / 64 - 1 }
my %all = map { my $name = $_; ($name => [map { random() } 1 .. count_of($name)]) } qw(x z dt A B C D dt_bias initial_state);
@{ $all{A} } = (-1000, map { -abs($_) - 0.25 } @{ $all{A} }[1 .. $#{ $all{A} }]);
sub inputs {
    my ($softplus, @with) = @_;
    my %in = map { $_ => $all{$_} } qw(x dt A B C), @with;
    $in{dt} = [map { abs($_) + 1 } @{ $all{dt} }] if !$softplus;
    return { %in, dt_softplus => $softplus };
}

my @choices = ([], [qw(D)], [qw(z)], [qw(dt_bias)], [qw(initial_state)], [qw(D z dt_bias initial_state)]);
my @taking = grep { (run_program($p, '--check-only', shape(0, @size{qw(seq_len heads dk dv groups)}), '--variant', $_))[0] eq '0' } @forward;
for my $variant (@taking) {
    for my $softplus (0, 1) {
        my @wrong;
        for my $with (@choices) {
            my $in = inputs($softplus, @$with);
            my ($out, $final) = definition($in);
            my $is = compute($in, $variant, 'out', 'final_state');
            push @wrong, "[@$with]" if !(difference($is->{out}, $out) < 1e-6 && difference($is->{final_state}, $final) < 1e-6);
        }
        is("@wrong", '', "$variant is the definition" . ($softplus ? ', with softplus' : ''));
    }
}

# ---- a text in two calls is a text in one ----

for my $variant (@taking) {
    my $in = inputs(1, qw(D z dt_bias initial_state));
    my $whole = compute($in, $variant, 'out', 'final_state');
    my $length = $size{seq_len};
    my ($now, %parts) = ($all{initial_state});
    for my $piece ([0, 4], [4, 5]) {
        my $given = { %{ steps_of($in, @$piece) }, initial_state => $now };
        local $size{seq_len} = $piece->[1];
        my $is = compute($given, $variant, 'out', 'final_state');
        $now = $is->{final_state};
        my $row = count_of('out') / $size{batch};
        push @{ $parts{$_} }, @{ $is->{out} }[$_ * $row .. ($_ + 1) * $row - 1] for 0 .. $size{batch} - 1;
    }
    my @out = map { @{ $parts{$_} } } 0 .. $size{batch} - 1;
    my $allowed = ($chunk{$variant} // 2) == 1 ? 0 : 1e-6; # a loop does the same again
    ok(difference(\@out, $whole->{out}) <= $allowed && difference($now, $whole->{final_state}) <= $allowed, "$variant: two calls with the state between them are one");
}

# ---- a NaN or an infinity in x stays in its batch, head and row, and comes not before its cause ----

my @is_in = (1, 5, 2, 1); # batch, step, head, row
my $place = (($is_in[0] * $size{seq_len} + $is_in[1]) * $size{heads} + $is_in[2]) * $size{dv} + $is_in[3];
for my $variant (@taking) {
    for my $bad ('NaN', 'Inf') {
        my $in = inputs(0, qw(D));
        my $spoilt = { %$in, x => [@{ $in->{x} }] };
        $spoilt->{x}[$place] = 0 + $bad;
        my ($good, $is) = map { compute($_, $variant, 'out', 'final_state') } $in, $spoilt;
        my (@strays, %reached);
        for my $at (grep { pack('f', $good->{out}[$_]) ne pack('f', $is->{out}[$_]) } 0 .. $#{ $good->{out} }) {
            my ($row, $head) = ($at % $size{dv}, int($at / $size{dv}) % $size{heads});
            my ($t, $b) = (int($at / $size{dv} / $size{heads}) % $size{seq_len}, int($at / $size{dv} / $size{heads} / $size{seq_len}));
            my $from = $is_in[1] - $is_in[1] % ($chunk{$variant} // 256);
            push @strays, "$b $t $head $row" if "$b $head $row" ne "@is_in[0, 2, 3]" || $t < $from;
            $reached{$t} = 1;
        }
        is("@strays", '', "$variant: $bad in x reaches no other batch, head or row, and no earlier step");
        is(join(' ', grep { !$reached{$_} } $is_in[1] .. $size{seq_len} - 1), '', "$variant: and it is in all later steps of its row");
        my $first = (($is_in[0] * $size{heads} + $is_in[2]) * $size{dv} + $is_in[3]) * $size{dk};
        my @states = grep { pack('f', $good->{final_state}[$_]) ne pack('f', $is->{final_state}[$_]) } 0 .. $#{ $good->{final_state} };
        is("@states", join(' ', $first .. $first + $size{dk} - 1), "$variant: of the final state its row and no other");
    }
}

# ---- packed sequences are sequences by themselves: they have the bits of calls of their own, whatever lies beside them ----

my @lengths = (0, 1, 63, 64, 0, 65, 1, 130, 0); # the one of 65 steps is spoilt at both ends
my $spoilt = 5;
my %batches = %size;
my @starts = (0);
push @starts, $starts[-1] + $_ for @lengths;
%size = (batch => 1, seq_len => $starts[-1], heads => 1, dk => 8, dv => 8, groups => 1, seqs => scalar @lengths, edges => scalar @starts);
my %packed_dims = ((map { my $name = $_; $name => [grep { $_ ne 'batch' } @{ $dims{$name} }] } keys %dims), starts => ['edges']);
unshift @{ $packed_dims{$_} }, 'seqs' for qw(initial_state final_state);
describe_arrays($p, \%size, \%packed_dims);
my %packed = (starts => \@starts, A => [-0.5], dt => [map { abs(random()) / 8 } 1 .. $size{seq_len}], map { my $name = $_; $name => [map { random() } 1 .. count_of($name)] } qw(x z B C D dt_bias initial_state));
my %row = map { $_ => count_of($_) / $size{seq_len} } qw(x z dt B C out);
my %of_state = map { $_ => count_of($_) / $size{seqs} } qw(initial_state final_state);
$packed{x}[$starts[$spoilt] * $row{x} + 3] = 0 + 'NaN';
$packed{B}[$starts[$spoilt + 1] * $row{B} - 1] = 0 + 'Inf';

for my $case (['loop'], ['loop', 'type=bf16' => 1], ['chunk', 'type=bf16' => 1], ['stretches', 'type=bf16' => 1]) {
    my ($variant, @type) = @$case;
    describe_arrays($p, \%size, \%packed_dims);
    my $is = compute({ %packed, @type }, $variant, 'out', 'final_state');
    describe_arrays($p, \%size, \%dims);
    my @other;
    for my $s (grep { $_ != $spoilt } 0 .. $#lengths) {
        my $of = sub { my ($values, $each, $first, $count) = @_; return [@$values[$first * $each .. ($first + $count) * $each - 1]] };
        my $initial = $of->($packed{initial_state}, $of_state{initial_state}, $s, 1);
        my $alone = { out => [], final_state => $initial };
        if ($lengths[$s] != 0) {
            local $size{seq_len} = $lengths[$s];
            my %in = (%packed, initial_state => $initial, @type, map { $_ => $of->($packed{$_}, $row{$_}, $starts[$s], $lengths[$s]) } qw(x z dt B C));
            delete $in{starts};
            $alone = compute(\%in, $variant, 'out', 'final_state');
        }
        my $got = { out => $of->($is->{out}, $row{out}, $starts[$s], $lengths[$s]), final_state => $of->($is->{final_state}, $of_state{final_state}, $s, 1) };
        push @other, map { "$_ of $s" } grep { pack('f*', @{ $got->{$_} }) ne pack('f*', @{ $alone->{$_} }) } qw(out final_state);
    }
    is("@other", '', "$variant, @{[@type ? 'bf16' : 'float32']}: each of the packed sequences has the bits that it has alone");
}

%size = %batches;

# ---- the loop, the masked product and the chunks of the demo agree, and cost what its formulas say ----

my ($status, $out, $err) = run_program(extra('14_chunk_product_dual'));
is("$status$err", '0', 'the dual form') or diag($out);

# ---- the check on the device, and what launchers refuse ----

($status, $out, $err) = run_program(extra('tests_layer'));
is(join('', "$status$err", grep { /^not ok/ } split /^/, $out), '0', 'the device finds what the host finds, and launchers refuse what they cannot take');
like($out, qr/^1\.\.(?!0)\d+\n\z/m, 'and all of it was tried');

# ---- what the user does wrong is told in one sentence ----

refuses('groups that do not divide the heads', qr/takes groups that divide the heads evenly, and 3 heads are not 2 equal groups;/, $p, shape(1, 4, 3, 4, 4, 2));
refuses('no group', qr/takes groups that divide the heads evenly, and 3 heads are not 0 equal groups;/, $p, shape(1, 4, 3, 4, 4, 0));
refuses('a row without numbers', qr/takes 1 to 256 numbers in a row of the state \(dk\), not 0;/, $p, '--variant', 'loop', shape(1, 4, 2, 0, 4, 1));
refuses('and one with too many', qr/takes 1 to 256 numbers in a row of the state \(dk\), not 257;/, $p, '--variant', 'loop', shape(1, 4, 2, 257, 4, 1));
refuses('an array too few', qr/forward takes --x, --dt, --A, --B, --C and --out/, $p, '--x', scratch('x.npy'), '--out', scratch('out.npy'));
{
    my $in = inputs(0);
    write_array($_, $in->{$_}) for qw(x dt A B C);
    write_npy(scratch('C.npy'), '(2, 9, 2, 4)', (0) x 144);
    refuses('B and C of different lengths', qr/C\.npy/, $p, (map { option_of($_) } qw(x dt A B C out)));
}
refuses('packed steps of no sequence', qr/takes at least one sequence where there are steps;/, $p, packed(0, 4, 1, 4, 4, 1), '--variant', 'loop');
refuses('a pass that it does not have', qr/reverse/, $p, '--reverse');

# ---- numbers that are no starts lead to no access outside of the arrays ----

# Sequences that overlap race, which nobody promises anything of.
SKIP: {
    skip 'the simulator sees each access', 1 if backend() ne 'sim';
    %size = (batch => 1, seq_len => $starts[-1], heads => 1, dk => 8, dv => 8, groups => 1, seqs => scalar @lengths, edges => scalar @starts);
    my %d_dims = map { /^(?:x|dt|A|B|C)$/ ? ("d_$_" => $packed_dims{$_}) : () } keys %packed_dims;
    describe_arrays($p, \%size, { %packed_dims, %d_dims, d_out => $packed_dims{x} });
    write_array($_, $packed{ s/^d_out$/x/r }) for qw(x dt A B C d_out);
    my @outside;
    for my $wrong ([reverse @starts], [map { $_ % 2 ? -7 : 2 * $starts[-1] } 0 .. $#starts], [map { 7 * $_ % 50 } 0 .. $#starts], [(2**24) x @starts]) {
        write_array('starts', $wrong);
        for my $case (['loop'], ['chunk', '--type', 'bf16'], ['stretches', '--type', 'bf16'], ['loop', '--backward'], ['chunk', '--backward', '--type', 'bf16']) {
            my ($variant, @how) = @$case;
            my @written = grep { /^d_/ } keys %d_dims;
            my ($status, undef, $err) = run_program({ CUSIM_CHECKS => 'bounds' }, $p, (map { option_of($_) } qw(x dt A B C starts), grep({ /backward/ } @how) ? ('d_out', @written) : 'out'),
                '--variant', $variant, grep { $_ ne '--backward' } @how);
            push @outside, "@$case: @$wrong: $err" if "$status$err" ne '0';
        }
    }
    is("@outside", '', 'wrong starts: no access outside of the arrays');
}

done_testing;
