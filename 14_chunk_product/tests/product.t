# SPDX-License-Identifier: MIT
# Chapter 14: the product of matrices. Its kernels against the definition, written down once more here in Perl, on numbers of which every result is
# exact; sizes around the tiles' edges in all types; a NaN stays in its row or column; nothing to add up, nothing to compute; what each kernel asks
# of global memory and of the banks; which operation --operation asks for.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT)};
my $p = program('14_chunk_product');
my @ask = ($p, '--operation', 'product');
my @of_list = map { /^(\S+)/ ? $1 : () } split /\n/, (run_program(@ask, '--list'))[1];
my @all = qw(plain tiles registers mma wgmma cublas default);
my @any_type = grep { !/mma/ } @all;
is_deeply([grep { my $name = $_; !grep { $name eq $_ } @of_list } @all], [], 'its kernels');

# ---- the harness's checks, on sizes around a tile's ----

sub is_right { my ($said, @options) = @_; is(complaint({}, @ask, @options), '', $said) }
for my $type (qw(float32 bf16 fp16)) {
    is_right("$type, one element, k of 1 and around 16 and 32", '--type', $type, '--m', 1, '--n', 1, '--k', '1,2,3,15,16,17,31,32,33');
    for (['tiles', 31, 33], ['tiles', 32, 32], ['tiles', 33, 31], ['registers', 127, 129], ['registers', 128, 128], ['registers', 129, 4]) {
        my ($variant, $m, $n) = @$_;
        is_right("$type, $variant: $m x $n", '--variant', "$variant,default", '--type', $type, '--m', $m, '--n', $n, '--k', '3,17,20');
    }
    is_right("$type, nothing to add up, or nothing to compute: $_", '--type', $type, split ' ') for '--m 5 --n 7 --k 0', '--m 0 --n 7 --k 3', '--m 5 --n 0 --k 3';
}
for my $type (qw(bf16 fp16)) {
    for my $size ($type eq 'bf16' ? ([1, 8], [129, 136]) : [127, 264]) {
        is_right("$type, tensor cores: $size->[0] x $size->[1]", '--variant', 'mma,wgmma,default', '--type', $type, '--m', $size->[0], '--n', $size->[1], '--k', 72);
    }
}
for my $order ('reverse', 'random:3') {
    is(complaint({ CUSIM_SCHEDULE => $order }, @ask, qw(--m 130 --n 36 --k 33)), '', "in the order $order");
    is(complaint({ CUSIM_SCHEDULE => $order }, @ask, qw(--m 9 --n 8 --k 328 --type bf16 --variant), 'mma,wgmma'), '', "tensor cores, in the order $order");
}

# ---- the definition ----

my $state = 1;
sub random { $state = ($state * 1103515245 + 12345) % 2**31; return int($state / 2**16) % 7 - 3 } # -3 ... 3

sub definition {
    my ($in, $m, $n, $k) = @_;
    my @c;
    for my $i (0 .. $m - 1) {
        for my $j (0 .. $n - 1) {
            my $sum = 0;
            $sum += $in->{a}[$i * $k + $_] * $in->{b}[$_ * $n + $j] for 0 .. $k - 1;
            push @c, $sum;
        }
    }
    return \@c;
}

# describe_arrays wants one word for the program: the operation is asked for by an option of each run
sub product {
    my ($in, $variant, $m, $n, $k) = @_;
    write_npy(scratch('a.npy'), "($m, $k)", @{ $in->{a} });
    write_npy(scratch('b.npy'), "($k, $n)", @{ $in->{b} });
    unlink scratch('c.npy');
    my (undef, undef, $err) = run_program(@ask, '--variant', $variant, map { ("--$_", scratch("$_.npy")) } qw(a b c));
    diag("$variant: $err") if $err ne '';
    my ($shape, @values) = read_npy(scratch('c.npy'));
    return { shape => $shape, c => \@values };
}

for (['three odd sizes', 5, 3, 7], ['rows of four, and more than one tile', 36, 132, 20], ['k of one', 130, 2, 1]) {
    my ($said, $m, $n, $k) = @$_;
    my $in = { a => [map { random() } 1 .. $m * $k], b => [map { random() } 1 .. $k * $n] };
    my $c = definition($in, $m, $n, $k);
    for my $variant (@any_type) {
        my $is = product($in, $variant, $m, $n, $k);
        is($is->{shape}, "($m, $n)", "$variant: the shape of own arrays, $said");
        is(join(' ', grep { $is->{c}[$_] != $c->[$_] } 0 .. $#$c), '', "$variant is the definition: $said");
        for my $bad ('NaN', 'Inf') {
            my @a = @{ $in->{a} };
            $a[0] = 0 + $bad; # of row 0
            my @b = @{ $in->{b} };
            $b[-1] = 0 + $bad; # of the last column
            my $spoilt = product({ a => \@a, b => \@b }, $variant, $m, $n, $k);
            is(join(' ', grep { my ($row, $column) = (int($_ / $n), $_ % $n); $row && $column != $n - 1 && $spoilt->{c}[$_] != $c->[$_] } 0 .. $#$c), '',
                "$variant: $bad stays in its row or column, $said");
            my @finite = grep { ($_ < $n || $_ % $n == $n - 1) && $spoilt->{c}[$_] * 0 == 0 } 0 .. $#$c;
            is("@finite", '', "$variant: and fills it, $said"); # 0 * Inf is NaN
        }
    }
}

# ---- what is asked of memory, by one launch of 128 x 128 x 128 ----

if (backend() eq 'sim') {
    my %asked = map { $_->{variant} => $_ } @{ (trace('14_chunk_product', qw(--operation product --m 128 --n 128 --k 128)))[0] };
    my $operations = 2 * 128**3;
    my %bytes = map { $_ => $asked{$_}{load_bytes} / $operations } qw(plain tiles registers);
    is_deeply(\%bytes, { plain => 4, tiles => 4 / 32, registers => 4 / 128 }, 'bytes for an operation: each tile divides them by its side');
    is($asked{$_}{load_sectors} * 32, $asked{$_}{load_bytes}, "$_ loads whole sectors, once") for qw(tiles registers);
    is($asked{$_}{store_bytes}, 4 * 128**2, "$_ stores C once") for qw(plain tiles registers);
    is($asked{$_}{conflicts}, 0, "$_: no bank conflict") for qw(tiles registers);
    cmp_ok($asked{tiles}{shared_requests}, '>', 25 * $asked{registers}{shared_requests}, 'registers takes an eighth of the numbers from shared memory, four at once');

    # without the four floats between two steps of A's tile
    my $source = read_file('14_chunk_product/kernels/product_registers.cu') =~ s/\bPAD = 4\b/PAD = 0/r;
    isnt($source, read_file('14_chunk_product/kernels/product_registers.cu'), 'the padding is found');
    $source =~ s/by_dtype\(.*?\);/product_registers_kernel<FLOAT32>;/s or die 'one type is enough';
    write_file(scratch('unpadded.cu'), $source . <<'END');
#include "../../14_chunk_product/kernels/product_begin.c"
int main(void)
{
    struct product_args args = {128, 128, 128, FLOAT32, {}, NULL, NULL, NULL};
    void *arrays[3];
    for (int a = 0; a < 3; a++)
        if (cudaMalloc(&arrays[a], 4 * 128 * 128) != cudaSuccess || cudaMemset(arrays[a], 0, 4 * 128 * 128) != cudaSuccess)
            return 2;
    args.a = arrays[0], args.b = arrays[1], args.c = arrays[2];
    return product_registers(&args, 0) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
}
END
    my ($status, $out, $err) = run_program(qw(perl cusim/compile/cusim -Og -fno-tree-loop-optimize -I 14_chunk_product/kernels -o),
        scratch('unpadded'), scratch('unpadded.cu'));
    is($status, 0, 'it is built without padding') or diag("$out$err");
    ($status, $out, $err) = run_program({ CUSIM_TRACE => scratch('unpadded.csv') }, scratch('unpadded'));
    is($status, 0, 'and runs') or diag("$out$err");
    my ($whole) = grep { $_->{line} eq '' } @{ read_table(scratch('unpadded.csv'))->{rows} };
    # each of the 128 x 16 x 8 elements of A is stored once: 8 x 2 x 4 x 8 requests of two halves whose lanes meet in pairs
    is($whole->{conflicts}, 512, 'then lanes meet in a bank where A\'s tile is put');
}

# ---- the check on the device, which the harness asks for on a GPU alone; and launchers by themselves ----

my ($status, $out, $err) = run_program(extra('tests_device'));
is("$status$err", '0', 'the check on the device finds what is wrong, and what launchers do not take is refused') or diag("$out$err");
note($out);

# ---- which operation ----

my (undef, $help) = run_program(@ask, '--help');
like($help, qr/^  --operation product +this operation$/m, '--help says how it is asked for');
is(complaint({}, $p, '--operation=product', qw(--m 2 --n 2 --k 2)), '', 'with = before the value, too');
refuses('an operation that there is not', qr/--operation: there is no operation "sum"; see --help/, $p, '--operation', 'sum');
refuses('no operation', qr/--operation needs a value; see --help/, $p, '--operation');
refuses('a size that is none', qr/--m: "x" is not a number of rows; give a whole number/, @ask, '--m', 'x');
refuses('matrices that do not fit', qr/\bb\.npy\b/, @ask, '--a', write_npy(scratch('a.npy'), '(2, 3)', 1 .. 6), '--b', write_npy(scratch('b.npy'), '(2, 3)', 1 .. 6),
    '--c', scratch('c.npy'));
my (undef, $csv) = run_program(@ask, qw(--m 2 --n 3 --k 4 --variant plain --csv), scratch('p.csv'));
is((grep { !/^#/ } split /\n/, read_file(scratch('p.csv')))[0],
    'chapter,variant,direction,m,n,k,type,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,tflop_per_s,percent_of_copy,percent_of_add,max_error', 'the columns of the CSV');

# ---- the ladders that the texts show are those of the newest recordings ----

mkdir scratch('ladders');
($status, $out, $err) = run_program('perl', '14_chunk_product/ladders.pl', scratch('ladders'));
is("$status$err", '0', 'the ladders are drawn') or diag("$out$err");
for my $name (qw(ladder_product.svg ladder_layer.svg)) {
    ok(read_file(scratch("ladders/$name")) eq read_file("14_chunk_product/figures/$name"), "$name is drawn from the newest recording (make report)");
}

# ---- make watch finds the operation that a variant belongs to ----

SKIP: {
    skip 'make watch plays on the simulator', 1 if backend() ne 'sim';
    my ($status, $out, $err) = run_program(qw(make --no-print-directory watch VARIANT=14_chunk_product/tiles));
    is("$status$out", "0results/watch/14_chunk_product_tiles.html\n", 'tiles is played') or diag($err);

    # what lanes hold of the matrices of mma_bf16: put together they are a product
    ($status, $out) = run_program(qw(make --no-print-directory watch EX=14.5 FILE=14_chunk_product/exercises/solutions/fragment.cu));
    my ($page) = $out =~ /^(results\S*\.html)$/m;
    my ($held) = read_file($page) =~ /"k":"fragments","of":"mma_bf16"[^{}]*"x":\[([^\]]*)\]/;
    my @x = split /,/, $held // '';
    is(scalar @x, 32 * 16, 'the page has what each lane holds of a, b and c');
    my (@a, @b, $off);
    for my $lane (0 .. 31) {
        my ($l, $j) = (int($lane / 4), $lane % 4);
        $a[$l + int($_ / 2) % 2 * 8][2 * $j + $_ % 2 + int($_ / 4) * 8] = $x[16 * $lane + $_] for 0 .. 7;
        $b[2 * $j + $_ % 2 + int($_ / 2) * 8][$l] = $x[16 * $lane + 8 + $_] for 0 .. 3;
    }
    for my $e (map { my $lane = $_; map { [$lane, $_] } 0 .. 3 } 0 .. $#x / 16) {
        my ($lane, $i) = @$e;
        my ($row, $column, $sum) = (int($lane / 4) + int($i / 2) * 8, $lane % 4 * 2 + $i % 2, 0);
        $sum += $a[$row][$_] * $b[$_][$column] for 0 .. 15;
        $off++ if !(abs($sum - $x[16 * $lane + 12 + $i]) < 1e-4 * (1 + abs $sum));
    }
    is($off, undef, '... and c is the product of a and b');
}

done_testing;
