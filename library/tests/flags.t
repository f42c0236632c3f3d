# SPDX-License-Identifier: MIT
# The library for several chips: what nvcc is told, and makes of it; a chip that this nvcc does not know is refused with one sentence; and on which chip
# which code is taken for there. long/chips.t runs it on them.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{grep { /^(?:MAKE|MFLAGS|ARCH$|NVCC$|BACKEND)/ } keys %ENV};

# ---- the options, with a stand-in for nvcc of another toolkit ----

sub nvcc_of {
    my ($release, @chips) = @_;
    my $nvcc = scratch("nvcc-$release");
    write_file($nvcc, "#!/bin/sh\ncase \$1 in --list-gpu-code) echo '" . join("\n", map { "sm_$_" } @chips) . "' ;; --version) echo 'Cuda compilation tools, release $release, V$release.1' ;; esac\n");
    chmod 0755, $nvcc or die $!;
    return $nvcc;
}
my %nvcc = ('12.4' => nvcc_of('12.4', 50, 52, 60, 70, 75, 80, 86, 89, 90), '12.8' => nvcc_of('12.8', 75, 80, 90, 100, 101, 120), '13.0' => nvcc_of('13.0', 75, 80, 90, 100, 110, 120));

# What is compiled in chapter 10, file by file, and the command of each.
sub commands {
    my ($nvcc, $arch) = @_;
    my ($status, $out, $err) = run_program('make', '-n', '-B', '-C', '10_chunk_state', 'V=1', 'BACKEND=cuda', "ARCH=$arch", "NVCC=$nvcc", 'objects');
    return $status eq 0 ? map { m{(\S*nvcc\S* -std\S+ .*?-o \S+ \S*/(\w+)\.cu)\b} ? ($2 => $1) : () } split /\n/, $out : (error => $err);
}
sub codes { return join ' ', $_[0] =~ /(-arch=\S+|code=\S+)/g }

my %one = commands($nvcc{'13.0'}, 'sm_90');
is(codes($one{tma}), '-arch=sm_90', 'one chip: what -arch says');
is(codes($one{wgmma}), '-arch=sm_90a', 'and sm_90a for a source that has its instructions');
like($one{wgmma}, qr/ -DLINREC_SM_90A\b/, 'which is told so');
for my $release ('12.8', '13.0') {
    my %several = commands($nvcc{$release}, 'sm_120 sm_80 sm_90');
    is(codes($several{tma}), 'code=sm_80 code=sm_90 code=sm_120 code=compute_120', "CUDA $release, several: code for each, and PTX of the newest");
    is(codes($several{wgmma}), 'code=sm_80 code=sm_90a code=sm_120 code=compute_120', 'and sm_90a for a source that has its instructions');
    like($several{wgmma}, qr/ -DLINREC_SM_90A\b/, 'which is told so');
}
my %none = commands($nvcc{'13.0'}, 'sm_80 sm_120');
ok($none{wgmma} !~ /90/, 'without sm_90 nothing is for sm_90a');
for (['12.4', 'sm_80 sm_120', 'sm_120', 'sm_90'], ['13.0', 'sm_70', 'sm_70', 'sm_75 sm_80'], ['13.0', 'sm_101 sm_90', 'sm_101', 'sm_110']) {
    my ($release, $arch, $unknown, $known) = @$_;
    my ($status, $out, $err) = run_program('make', '-n', 'BACKEND=cuda', "ARCH=$arch", "NVCC=$nvcc{$release}", 'lib');
    like("$status$out$err", qr/^2\S*config\.mk:\d+: \*\*\* ARCH: the nvcc of CUDA \Q$release\E does not compile for $unknown; it knows [^\n]*$known[^\n]*\.  Stop\.\n$/, "ARCH=\"$arch\" with CUDA $release: one sentence");
}

# ---- the same, as the nvcc that is here understands it ----

my ($nvcc) = grep { -x } map { "$_/nvcc" } split(/:/, $ENV{PATH}), '/usr/local/cuda/bin';
SKIP: {
    skip 'nvcc is not here', 2 if !$nvcc;
    my %known = map { $_ => 1 } split /\n/, `$nvcc --list-gpu-code`;
    skip 'this nvcc does not know all of these chips', 2 if grep { !$known{$_} } qw(sm_80 sm_90 sm_120);
    my %several = commands($nvcc, 'sm_80 sm_90 sm_120');
    for (['tma', 'elf 80, elf 90, elf 120, ptx 120'], ['wgmma', 'elf 80, elf 90a, elf 120, ptx 120']) {
        my ($source, $images) = @$_;
        # the steps that nvcc would take; in `fatbinary' it lists what is embedded
        my (undef, undef, $steps) = run_program(split(' ', $several{$source} =~ s{ \.\./}{ }gr), '--dryrun');
        my ($fatbinary) = $steps =~ /^#\$ fatbinary (.*)$/m;
        my @embedded = map { /kind=(\w+),sm=(\w+)/ ? "$1 $2" : () } split ' ', $fatbinary // '';
        is(join(', ', sort { ($a =~ /(\d+)/)[0] <=> ($b =~ /(\d+)/)[0] || $a cmp $b } @embedded), $images, "nvcc embeds in $source.o: $images") or diag($steps);
    }
}

# ---- on the device: which code is taken for there ----

my $asks = scratch('asks');
write_file("$asks.c", <<'END');
#include <stdio.h>
#include <stdlib.h>
#include "common/cuda/gpu_info.h"
static int chip;
cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
    *value = which == cudaDevAttrComputeCapabilityMajor ? chip / 10 : which == cudaDevAttrComputeCapabilityMinor ? chip % 10 : device;
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute which, int value) { return kernel == NULL && which + value < 0 ? cudaErrorInvalidValue : cudaSuccess; }
int main(int argc, char **argv)
{
    struct gpu_info gpu;
    for (int i = 1; i < argc; i++)
        if (chip = atoi(argv[i]), gpu_info_read(&gpu) == cudaSuccess)
            printf("%s%d: %d", i > 1 ? ", " : "", gpu.chip_arch, gpu.arch);
    return 0;
}
END
for (['80,90,120', '80: 80, 86: 80, 89: 80, 90: 90, 100: 100, 120: 120, 121: 120, 130: 120', 'the code of the same generation, or PTX of the newest; none for sm_100'],
    ['90', '80: 80, 90: 90, 100: 90, 120: 90', 'one chip: newer ones take its PTX'], ['75,80', '75: 75, 80: 80, 89: 80, 90: 80', 'what was left out of the code is not there on a newer chip']) {
    my ($compiled, $expected, $what) = @$_;
    my ($status, undef, $err) = run_program('gcc', qw(-std=c11 -D_GNU_SOURCE -I. -Icusim/include), "-DLINREC_ARCH=$compiled", "$asks.c", 'common/cuda/gpu_info.c', '-o', $asks);
    is("$status$err", '0', "gpu_info.c for $compiled");
    is((run_program($asks, $expected =~ /(\d+):/g))[1], $expected, $what);
}

done_testing;
