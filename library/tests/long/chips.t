# SPDX-License-Identifier: MIT
# The library on other chips: with code for several of them it takes on each one kernels that this has code and room for, and is right. The simulator runs
# any kernel, so what it is asked of the device is answered by a stand-in.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

plan skip_all => 'other chips are the simulator\'s' if backend() ne 'sim';
my $built = scratch('chips');
mkdir $built or die $!;

write_file("$built/chip.c", <<'END');
#include <stdlib.h>
#include <cuda_runtime_api.h>
cudaError_t chip_attribute(int *value, enum cudaDeviceAttr which, int device);
cudaError_t chip_attribute(int *value, enum cudaDeviceAttr which, int device)
{
    const int chip = atoi(getenv("CHIP"));
    const cudaError_t error = cudaDeviceGetAttribute(value, which, device);
    if (which == cudaDevAttrComputeCapabilityMajor)
        *value = chip / 10;
    else if (which == cudaDevAttrComputeCapabilityMinor)
        *value = chip % 10;
    else if (which == cudaDevAttrMaxSharedMemoryPerBlockOptin)
        *value = atoi(getenv("CHIP_SHARED"));
    return error;
}
END
write_file("$built/linrec.h", read_file('library/liblinrec.h'));

sub must {
    my ($what, @command) = @_;
    my ($status, $out, $err) = run_program(@command);
    is($status, 0, $what) or BAIL_OUT($out . $err);
}
my @gcc = ('gcc', qw(-std=gnu11 -O1 -I. -Icusim/include), "-I$built");
must('gpu_info.c for three chips', @gcc, '-DLINREC_ARCH=80,90,120', qw(-DcudaDeviceGetAttribute=chip_attribute -c common/cuda/gpu_info.c -o), "$built/gpu_info.o");
my ($chapters) = read_file('library/Makefile') =~ /^NEEDS := (.*)$/m;
my @objects = grep { !m{/(?:main|gpu_info|baselines_cpu)\.o$} } map { glob "build/obj/sim/$_/*.o" } (map { ($_, "$_/kernels", "$_/operation") } split ' ', $chapters), map { "common/$_" } qw(base cuda harness linrec);
must('an archive of the rest', 'ar', 'qcs', "$built/rest.a", @objects);
for my $program ('calls', 'layout') {
    must("$program.c with it", @gcc, "library/tests/$program.c", "$built/chip.c", "$built/gpu_info.o", glob('build/obj/sim/library/*.o'), "$built/rest.a", 'cusim/build/cusim.o', qw(-no-pie -lpthread -lm -lstdc++ -o), "$built/$program");
}

# compute capability, bytes of shared memory that a block may have; what must not run there, and what is among that which must
my %chips = (
    80  => [166912, qr/tma|cluster|warp_specialized|fused_backward|wgmma|tensor_map/, qr/state_passing/],
    86  => [101376, qr/tma|cluster|warp_specialized|fused_backward|wgmma|tensor_map/, qr/state_passing/],
    90  => [232448, qr/^$/, qr/warp_specialized/],
    120 => [101376, qr/wgmma|warp_specialized/, qr/cluster/],
);
for my $chip (sort { $a <=> $b } keys %chips) {
    my ($shared, $never, $some) = @{ $chips{$chip} };
    my @ran;
    for my $program ('calls', 'layout') {
        my ($status, $out, $err) = run_program({ CHIP => $chip, CHIP_SHARED => $shared, CUSIM_REPORT => 1 }, patiently(200, "$built/$program", 'results'));
        if ($shared < 137 << 10) { # no kernel with little memory for up to 8 states, as linrec.h says: the program tells where there is none
            $status = 0 if $out =~ s/^selective scan: the small workspace has (\d+) bytes, the other one \1\n//m;
            $out =~ s/^[^\n]*, 8 states: small (\d+) of \1, [^\n]*\n//mg;
        }
        is("$status$out", '0', "sm_$chip, $program: right") or diag($err);
        push @ran, $err =~ /^(\w+)\S.*? +\d+ +\d+ +\d+\.\d/mg;
    }
    is(join(' ', grep { /$never/ } @ran), '', "sm_$chip: nothing that there is no code or room for");
    ok((grep { /$some/ } @ran) > 0, "sm_$chip: but what there is, as $some") or diag("@ran");
}

done_testing;
