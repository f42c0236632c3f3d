#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# shortcuts.t - a place in the code that knows which memory is legal there does not call for that, and still is told when it comes to other
# memory (compile/shortcuts.pl, shortcuts.cu).
use strict;
use warnings;
use Cwd 'getcwd';
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Test::More;

my ($program, $source) = ('build/tests/shortcuts', 'tests/shortcuts.cu');
is(build_programs(), 1, 'programs build without a warning') or BAIL_OUT('no programs');

# What each case must say, and the mark of its line.
my %told = (
    host            => ['host',          'host code: reads byte 0 of the 256-byte allocation', 'which is the device\'s. Use cudaMemcpy'],
    host_writes     => ['host_writes',   'host code: writes byte 0 of the 256-byte allocation', 'which is the device\'s. Use cudaMemcpy'],
    past_end        => ['kernel',        'kernel reads', 'reads right past the end of the 256-byte allocation'],
    before          => ['kernel',        'kernel reads', 'reads 4 bytes before the start of the 256-byte allocation'],
    writes_past_end => ['kernel_writes', 'kernel writes', 'writes right past the end of the 256-byte allocation'],
    misaligned      => ['kernel',        'kernel reads', 'an address that is misaligned for its type'],
    of_the_host     => ['kernel',        'kernel reads', 'which is memory of the host'],
    other_block     => ['tiles',         'kernel tiles', 'reads tile[0], which was another block\'s'],
);
for my $checks (qw(all bounds)) {
    for my $name (sort keys %told) {
        my ($mark, @words) = @{ $told{$name} };
        my ($status, undef, $err) = run_program({ CUSIM_CHECKS => $checks }, $program, $name);
        my $at = "$source:" . marked_line($source, "HERE $mark") . ': error: ';
        ok($status eq 1 && $err =~ /\A\Q$at$words[0]\E[^\n]*\Q$words[1]\E[^\n]*\n\z/, "$name, $checks: told") or diag("status $status\n$err");
    }
    for my $name (qw(right_host right_kernel)) {
        my ($status, undef, $err) = run_program({ CUSIM_CHECKS => $checks }, $program, $name);
        is("$status $err", '0 ', "$name, $checks: right");
    }
}
my ($status, $out, $err) = run_program($program, 'host_arrival');
like($err, qr/\A\Q$source\E:@{[marked_line($source, 'HERE host')]}: remark: host code: reads what cudaMemcpyAsync/, 'host_arrival: told');

# The calls, counted: a place calls once for what it learns, so a loop of thousands calls a few times.
SKIP: {
    skip('shortcuts are written for x86-64', 3) if `uname -m` !~ /x86_64/;
    write_file(scratch('count.cpp'), <<'CODE');
#include <stdio.h>
static unsigned calls;
extern "C" void __real_sim_read4(const void *, void *);
extern "C" void __wrap_sim_read4(const void *at, void *place) { calls++; __real_sim_read4(at, place); }
void print_calls() { printf("%u calls\n", calls); calls = 0; }
CODE
    write_file(scratch('count.cu'), <<'CODE');
void print_calls();
__global__ void add(float *x, int n) { float sum = 0; for (int i = 0; i < n; i++) sum += x[i]; x[0] = sum; }
int main()
{
    static float host[5000];
    float *x, sum = 0;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    for (int i = 0; i < 5000; i++)
        sum += host[i];
    print_calls();
    add<<<1, 1>>>(x, 5000);
    cudaDeviceSynchronize();
    print_calls();
    return sum != 0;
}
CODE
    ($status, $out, $err) = run_program('compile/cusim', scratch('count.cu'), scratch('count.cpp'), '-Xlinker', '--wrap=sim_read4', '-o', scratch('count'));
    is("$status$err", '0', 'a program that counts calls');
    for my $checks (qw(all bounds)) {
        ($status, $out, $err) = run_program({ CUSIM_CHECKS => $checks }, scratch('count'));
        my ($host, $device) = $out =~ /\A(\d+) calls\n(\d+) calls\n\z/;
        ok($status eq 0 && $host < 10 && ($checks eq 'all' ? $device >= 5000 : $device < 10), "$checks: few calls, but of a kernel all, where all is checked")
            or diag("$status $out$err");
    }
}

# Bytes of plain loads and stores are counted where the places call for them no longer, and with --addresses those that calls take by value, too.
write_file(scratch('plain.cu'), <<"CODE");
#include "@{[getcwd()]}/counts.h"
#include <stdio.h>
struct row { float x[16]; };
__device__ __noinline__ float last(struct row row, const volatile int *zero) { return row.x[15 - *zero]; }
__global__ void plain(float *x, const int *zero) // for the array 100 loads and a store, and what goes by value; for *zero two loads
{
    float sum = 0;
    for (int i = 0; i < 100; i++)
        sum += x[i];
    x[99] = sum + last(*(const struct row *)x, zero);
    while (*(const volatile int *)zero != 0) // again and again the same: once
        ;
}
static void counted(float *x, const int *zero)
{
    sim_reset_counts();
    plain<<<1, 1>>>(x, zero);
    cudaDeviceSynchronize();
    printf("%d %d\\n", (int)sim_get_counts().plain_loads, (int)sim_get_counts().plain_stores);
}
int main()
{
    float *x;
    int *zero;
    cudaMalloc(&x, 400);
    cudaMalloc(&zero, 4);
    cudaMemset(x, 0, 400);
    cudaMemset(zero, 0, 4);
    counted(x, zero);
    sim_count_plainly(true);
    counted(x, zero);
    counted(x, zero);
    sim_count_plainly(false);
    counted(x, zero);
}
CODE
for my $by_value (0, 64) {
    my @more = $by_value ? '--addresses' : ();
    ($status, $out, $err) = run_program('compile/cusim', scratch('plain.cu'), @more, '-o', scratch('plain'));
    is("$status$err", '0', join ' ', 'a program whose plain loads are counted', @more);
    my $counted = join ' ', 4 * 102 + $by_value, 4;
    is((run_program({ CUSIM_CHECKS => 'bounds' }, scratch('plain')))[1], "0 0\n$counted\n$counted\n0 0\n", join ' ', 'plain loads and stores', @more);
}
done_testing;
