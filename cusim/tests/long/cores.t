# SPDX-License-Identifier: MIT
# The blocks of a launch on several cores: the same bits, lines and errors as on one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";
use Testing;
use Cwd 'getcwd';
use Test::More;

my $cusim = getcwd() . '/compile/cusim';
my $scratch = scratch('cores');
mkdir $scratch;
is(system(qw(make -s)), 0, 'the simulator is built') or BAIL_OUT('no simulator');

# Compiles a program; with plain machine code, if wanted.
sub compile {
    my ($name, $checks, $source) = @_;
    write_file("$scratch/$name.cu", $source);
    my ($status, $out, $err) = run_program({ CUSIM_CHECKS => $checks }, 'sh', '-c', 'cd "$0" && exec "$@"', $scratch, $cusim, "$name.cu", '-o', "$name-$checks");
    is("$status $out$err", '0 ', "$name.cu compiles for CUSIM_CHECKS=$checks") or done_testing, exit;
}

# Runs it: "STATUS what it said". Each launch is split behind its first block.
sub said {
    my ($program, $cores, @arguments) = @_;
    my %settings = ($program =~ /-none/ ? () : (CUSIM_CHECKS => 'bounds'), CUSIM_CORES => "$cores,0");
    my ($status, $out, $err) = run_program(\%settings, 'sh', '-c', 'cd "$0" && exec "$@"', $scratch, patiently(60, "./$program", @arguments));
    return "$status $out$err";
}

my $source = <<'END';
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 128, T = 16, BLOCKS = N / T * (N / T) };
__global__ void product(const float *a, const float *b, float *c)
{
    __shared__ float left[T][T], right[T][T];
    const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k += T) {
        left[threadIdx.y][threadIdx.x] = a[row * N + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * N + column];
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[row * N + column] = sum;
}
__global__ void sum_block(const float *x, float *sums)
{
    __shared__ float part[256];
    part[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}
__global__ void clear(unsigned *x) { x[blockIdx.x * N + threadIdx.x] = 0; }
__global__ void count(unsigned *x)
{
    atomicAdd(&x[0], threadIdx.x);
    atomicMax(&x[1], blockIdx.x);
    atomicInc(&x[2 + threadIdx.x % 7], 1000000);
}
__global__ void look_back(unsigned *x) // x[0] numbers the blocks; x[1 + i] is block i's sum over all up to it, and a flag
{
    const unsigned block = atomicAdd(&x[0], 1);
    volatile unsigned *sums = x + 1;
    for (const long long begin = clock64(); clock64() - begin < 200000;) // other processes wait for it meanwhile
        continue;
    while (block > 0 && sums[block - 1] == 0)
        continue;
    sums[block] = (block > 0 ? sums[block - 1] : 0) + block + 1;
}
__global__ void meet(unsigned *x) // a barrier of two blocks at a time, made by hand
{
    __threadfence();
    atomicAdd(&x[blockIdx.x / 2], 1);
    while (*(volatile unsigned *)&x[blockIdx.x / 2] < 2)
        continue;
    x[BLOCKS + blockIdx.x] = 1;
}
__global__ void wait_in_vain(volatile unsigned *x)
{
    while (blockIdx.x > 0 && x[blockIdx.x / 8] == 0)
        continue;
}
__global__ void times(long long *x)
{
    x[blockIdx.x * 2] = clock64();
    while (clock64() - x[blockIdx.x * 2] < 2000000)
        continue;
    x[blockIdx.x * 2 + 1] = clock64();
}
__global__ void stray(unsigned *x)
{
    if (blockIdx.x % 8 == 5)
        x[BLOCKS * 1000 + blockIdx.x] = 1;
    x[blockIdx.x] = 1;
}
__global__ void draw(cudaSurfaceObject_t image)
{
    const unsigned x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    surf2Dwrite(1 + y * N + x, image, x * 4, y);
}
__global__ void claim() { assert(blockIdx.x < 20); }
__global__ void tell()
{
    const long long begin = clock64();
    while (clock64() - begin < 500000) // so that no process prints all
        continue;
    printf("block %u thread %u\n", blockIdx.x, threadIdx.x);
}
int main(int argc, char **argv)
{
    const char *const what = argv[1];
    static union { float f[N * N]; unsigned u[N * N]; long long times[N * N / 2]; } h;
    const dim3 grid(N / T, N / T), block(T, T);
    float *a, *b, *c;
    for (int i = 0; i < N * N; i++)
        h.f[i] = (i * 2654435761u >> 8) / 16777216.0f - 0.5f;
    cudaMalloc(&a, sizeof(h)), cudaMalloc(&b, sizeof(h)), cudaMalloc(&c, sizeof(h));
    cudaMemcpy(a, &h, sizeof(h), cudaMemcpyHostToDevice), cudaMemcpy(b, &h, sizeof(h), cudaMemcpyHostToDevice);
    cudaMemset(c, 0, sizeof(h));
    unsigned *u = (unsigned *)c;
    printf("%s:\n", what);
    if (!strcmp(what, "product"))
        product<<<grid, block>>>(a, b, c), product<<<grid, block>>>(c, b, a), product<<<grid, block>>>(a, b, c);
    if (!strcmp(what, "sum")) sum_block<<<BLOCKS, 256>>>(a, c);
    if (!strcmp(what, "count")) { // atomics of what plain stores have written, of which nothing tells
        cudaFree(c), cudaMalloc(&c, sizeof(h));
        clear<<<N, N>>>((unsigned *)c), count<<<BLOCKS * 8, 256>>>((unsigned *)c);
    }
    if (!strcmp(what, "look_back")) look_back<<<BLOCKS * 4, 1>>>(u);
    if (!strcmp(what, "meet")) meet<<<BLOCKS, 1>>>(u);
    if (!strcmp(what, "wait_in_vain")) wait_in_vain<<<BLOCKS, 32>>>(u);
    if (!strcmp(what, "times")) times<<<BLOCKS, 1>>>((long long *)c);
    if (!strcmp(what, "draw")) {
        const cudaChannelFormatDesc number = cudaCreateChannelDesc<unsigned>();
        cudaResourceDesc desc = {};
        cudaSurfaceObject_t image;
        desc.resType = cudaResourceTypeArray;
        cudaMallocArray(&desc.res.array.array, &number, N, N, cudaArraySurfaceLoadStore);
        cudaCreateSurfaceObject(&image, &desc);
        draw<<<grid, block>>>(image);
        cudaMemcpy2DFromArray(c, N * 4, desc.res.array.array, 0, 0, N * 4, N, cudaMemcpyDeviceToDevice);
        cudaFreeArray(desc.res.array.array);
    }
    if (!strcmp(what, "stray")) stray<<<BLOCKS, 1>>>(u);
    if (!strcmp(what, "claim")) claim<<<BLOCKS, 1>>>();
    if (!strcmp(what, "tell")) tell<<<BLOCKS, 2>>>();
    cudaMemcpy(&h, c, sizeof(h), cudaMemcpyDeviceToHost);
    if (!strcmp(what, "times")) {
        int together = 0;
        for (int i = 0; i < BLOCKS; i++)
            for (int j = 0; j < i; j++)
                together += h.times[2 * i] < h.times[2 * j + 1] && h.times[2 * j] < h.times[2 * i + 1];
        printf("%s\n", together > 0 ? "at the same time" : "one after the other");
        return together > 0 ? 7 : 0;
    }
    unsigned hash = 0;
    for (int i = 0; i < N * N; i++)
        hash = hash * 31 + h.u[i];
    printf("%08x\n", hash);
    return 3;
}
END
compile('cores', $_, $source) for qw(all none);

is(said('cores-all', 1, 'times'), "0 times:\none after the other\n", 'on one core blocks run one after the other');
for my $program (qw(cores-all cores-none)) {
    is(said($program, 2, 'times'), "7 times:\nat the same time\n", "$program: with CUSIM_CORES=2 at the same time");
    for my $what (qw(product sum count draw look_back meet tell)) {
        next if $program eq 'cores-none' && $what =~ /look_back|meet/; # they wait for what is volatile
        my $alone = said($program, 1, $what);
        like($alone, qr/\A3 $what:\n.*^[0-9a-f]{8}\n\z/ms, "$program, $what: ends");
        is(said($program, $_, $what), $alone, "$program, $what: the same on $_ cores") for 2, 5;
    }
}
for my $case (['stray', qr/kernel stray, block \(\d+,0,0\).*writes .* past the end/], ['claim', qr/block \((?:[2-6]\d),0,0\).*assertion/], ['wait_in_vain', qr/polls .*which never changes/]) {
    my ($what, $line) = @$case;
    for my $program (qw(cores-all cores-none)) {
        next if $program eq 'cores-none' && $what eq 'wait_in_vain';
        like(said($program, $_, $what), qr/\A1 $what:\ncores\.cu:\d+: error: [^\n]*$line[^\n]*\n\z/, "$program, $what on $_ cores: one line, status 1") for 1, 2, 5;
    }
}

my @reports = map { (run_program({ CUSIM_CHECKS => 'bounds', CUSIM_CORES => "$_,0", CUSIM_REPORT => 1 }, "$scratch/cores-all", 'product'))[2] } 1, 5;
like($reports[0], qr/^product +3 +192 .* 16\.0$/m, 'CUSIM_REPORT: three launches, their blocks, and 16 barriers in each');
is($reports[1], $reports[0], 'the same on 5 cores');

# ---- variables of the device are shared by the processes; those that a kernel first comes to, and what rewrite.pl leaves as it is, are not ----

compile('variables', 'none', <<'END');
#include <stdio.h>
__device__ unsigned total;
__global__ void add() { atomicAdd(&total, 1); }
int main()
{
    unsigned result = 0;
    add<<<1000, 32>>>();
    cudaMemcpyFromSymbol(&result, total, 4);
    printf("%u\n", result);
}
END
is(said('variables-none', 5), "0 32000\n", 'a __device__ variable');
for my $line ('template <class T> __device__ T l;', 'struct f { static __device__ int x; }; __device__ int f::x = 1;', '__device__ int g() { static int n; return n++; }', '__global__ void k(int *x) { static __device__ int n[3] = {1, 2, 3}; *x = n[0]; }') {
    like(rewritten($line), qr/sim_know_variables\(\);\n\z/, "left in the program's data, or made late: $line");
}
for my $line ('__device__ int a;', 'static __device__ float b[4] = {1, 2};', '__managed__ int c;', '__device__ const int *d;', '__device__ int (*e)(int);', '__device__ dim3 h(1, 2);', '__device__ volatile unsigned k = 0;',
    'namespace n { __device__ int o, *p = &o, q[] = {1, 2}; }', 'extern __device__ float r[]; __device__ float r[3];') {
    my $text = rewritten($line);
    ok($text =~ /= sim_variable<sim/ && $text !~ /= sim_know_variables/, "shared: $line") or diag($text =~ s/.*line\.cu"\n//sr);
}
for my $line ('__device__ const int a = 4;', 'static constexpr __device__ float c[] = {1, 2};', '__device__ int d(int x);', '__device__ __forceinline__ int e() { static const int n = 2; return n; }',
    '__global__ void f(int *x) { __shared__ int s[32]; s[threadIdx.x] = 1; *x = s[0]; }', 'template <int n> __host__ __device__ int g(int x) { return x + n; }', 'struct h { int x; __device__ h(int a) : x(a) {} __device__ int operator[](int i) { return x + i; } };') {
    unlike(rewritten($line), qr/= sim_know_variables|sim_variable<sim/, "none: $line");
}

sub rewritten {
    my ($line) = @_;
    write_file("$scratch/line.cu", "$line\n");
    my @expanded = run_program('g++', '-E', '-x', 'c++', '-Iinclude', '-DSIM_QUALIFIERS', '-include', 'cuda_runtime.h', "$scratch/line.cu");
    write_file("$scratch/line.ii", $expanded[1]);
    return (run_program('perl', 'compile/rewrite.pl', "$scratch/line.ii"))[1];
}

# ---- settings ----

like(said('cores-all', $_, 'tell'), qr/\A2 simulator: CUSIM_CORES=$_,0 is not understood\. Set it to a number of cores from 1 to 256, [^\n]*milliseconds\.\n\z/, "CUSIM_CORES=$_") for qw(0 many 1000);
done_testing;
