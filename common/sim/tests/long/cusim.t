# SPDX-License-Identifier: MIT
# cusim in nvcc's place: options, several files, its own installation; streams that are late; the page's program, mistake by mistake.
use strict;
use warnings;
use lib 'common/tests';
use Cwd 'getcwd';
use Linrec;
use Test::More;

plan skip_all => 'this is the simulator\'s; BACKEND=' . backend() if backend() ne 'sim';
my $cusim = getcwd() . '/common/sim/cusim';
my $scratch = scratch('cusim');
mkdir $scratch;

# Compiles and runs a program; returns its status and all that it said.
sub try_program {
    my ($settings, $source, @arguments) = @_;
    my ($status, $out, $err) = run_program('sh', '-c', 'cd "$0" && exec "$@"', $scratch, $cusim, $source, '-o', 'program');
    return ($status, "$out$err") if $status ne '0';
    ($status, $out, $err) = run_program($settings, 'sh', '-c', 'cd "$0" && exec "$@"', $scratch, './program', @arguments);
    return ($status, "$out$err");
}

# ---- the page's program, and what it says at each step ----

my ($page) = read_file('docs/cusim.md') =~ /^```c\n(.*?)^```\n/ms;
sub page_program { my ($text, %change) = ($page, @_); $text =~ s/\Q$_\E/$change{$_}/ for keys %change; write_file("$scratch/reverse.cu", $text) }
page_program();
like((try_program({}, 'reverse.cu'))[1], qr/reverse\.cu:7: .*thread \(100,0,0\).* race: .*thread \(99,0,0\) has read at reverse\.cu:8/, 'the page: first two threads that nothing orders');
page_program('tile[i] = x[i];' => 'tile[i] = x[i]; __syncthreads();');
like((try_program({}, 'reverse.cu'))[1], qr/thread \(200,0,0\): reads .*past the end/, 'then a thread without an element');
page_program('tile[i] = x[i];' => 'if (i < n) { tile[i] = x[i]; __syncthreads();', 'n - 1 - i];' => 'n - 1 - i]; }');
like((try_program({}, 'reverse.cu'))[1], qr/__syncthreads waits for thread \(200,0,0\)/, 'one condition around all of it: a thread never comes');
page_program('tile[i] = x[i];' => 'if (i < n) tile[i] = x[i]; __syncthreads();', 'x[i] = tile' => 'if (i < n) x[i] = tile');
my ($status, $said) = try_program({ CUSIM_REPORT => 1 }, 'reverse.cu');
like($said, qr/\A199 0\n/, 'and mended, it is right');
like($said, qr/^reverse +1 +1 +3\.6 +3\.6 +28\.6 +3\.6 +3\.6 +28\.6 +0 +1\.0$/m, 'CUSIM_REPORT counts sectors, lanes and barriers');
like($said, qr/^ +50 % reverse\.cu:7 +if \(i < n\) tile/m, 'and names the lines');

# ---- options ----

write_file("$scratch/kernel.cu", "#include \"twice.h\"\n__global__ void twice(int *x) { x[threadIdx.x] *= FACTOR; }\nvoid launch(int *x) { twice<<<1, 32>>>(x); }\n");
write_file("$scratch/main.cpp", "#include <cuda_runtime.h>\n#include <stdio.h>\n#include \"twice.h\"\nint main() { int *x, y[32] = {21}; cudaMalloc(&x, 128);\n"
    . "cudaMemcpy(x, y, 128, cudaMemcpyHostToDevice); launch(x); cudaMemcpy(y, x, 128, cudaMemcpyDeviceToHost); printf(\"%d\\n\", y[0] + plus()); }\n");
write_file("$scratch/plus.c", "int plus(void) { return 0; }\n");
mkdir "$scratch/include";
write_file("$scratch/include/twice.h", "#ifdef __cplusplus\nextern \"C\"\n#endif\nint plus(void);\nvoid launch(int *x);\n");
my @options = (qw(-O3 -std=c++14 -arch=sm_80 -gencode), 'arch=compute_90,code=sm_90', qw(-lineinfo -Xptxas -v -Xcompiler), '-Wall,-Wextra', qw(-I include -DFACTOR=2 -lcudart -lm --use_fast_math));
my $out;
($status, $out, $said) = run_program('sh', '-c', 'cd "$0" && exec "$@"', $scratch, $cusim, @options, qw(kernel.cu main.cpp plus.c -o several));
is("$status $said", "0 cusim: without a meaning here: -arch=sm_80 -gencode arch=compute_90,code=sm_90 -lineinfo -Xptxas -v --use_fast_math\n", 'three languages, nvcc\'s options: one line says what is left out');
is((run_program("$scratch/several"))[1], "42\n", 'and it runs');
($status, $out, $said) = run_program('sh', '-c', 'cd "$0" && exec "$@"', $scratch, $cusim, qw(-c kernel.cu -Iinclude -D FACTOR=3 -MMD -MF kernel.rules -dc));
ok($status eq 0 && -s "$scratch/kernel.o" && read_file("$scratch/kernel.rules") =~ /^kernel\.o: kernel\.cu.*include\/twice\.h/s, '-c makes an object, and the rules that were asked for') or diag($said);
write_file("$scratch/Makefile", "all: made\nkernel2.o: kernel.cu\n\t\$(NVCC) -Iinclude -DFACTOR=2 -c \$< -o \$@\nmade: kernel2.o\n\t\$(NVCC) -Iinclude \$^ main.cpp plus.c -o \$@\n");
is((run_program('make', '-s', '-C', $scratch, "NVCC=$cusim"))[0] . (run_program("$scratch/made"))[1], "042\n", 'make NVCC=cusim');
for my $case ([['nothing.cu'], 'nothing.cu is not there.'], [[], 'nothing to compile. Say it like this: cusim FILE.cu -o PROGRAM'], [['-o'], '-o needs a value behind it.'],
    [['-ptx', 'kernel.cu'], '-ptx is machine code of a GPU, which the simulator has none of. Compile with -c, or take nvcc.'], [['-std=f77', 'kernel.cu'], '-std=f77 is no standard of C++. Say -std=c++17, for example.']) {
    ($status, $out, $said) = run_program('sh', '-c', 'cd "$0" && exec "$@"', $scratch, $cusim, @{ $case->[0] });
    is("$status $said", "1 cusim: $case->[1]\n", "cusim @{ $case->[0] }: one sentence");
}

# ---- streams are late ----

write_file("$scratch/streams.cu", <<'END');
#include <stdio.h>
#include <stdlib.h>
__global__ void twice(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
int main(int argc, char **argv)
{
    const int forgets = argc > 1 ? atoi(argv[1]) : 0, n = 1000;
    float *pinned, *device, *managed;
    cudaStream_t a, b;
    cudaEvent_t copied;
    cudaMallocHost(&pinned, n * 4), cudaMalloc(&device, n * 4);
    cudaStreamCreate(&a), cudaStreamCreate(&b), cudaEventCreate(&copied);
    for (int i = 0; i < n; i++)
        pinned[i] = i;
    cudaMemcpyAsync(device, pinned, n * 4, cudaMemcpyHostToDevice, a);
    if (forgets == 1)
        pinned[5] = 7;
    cudaEventRecord(copied, a);
    if (forgets != 2)
        cudaStreamWaitEvent(b, copied);
    twice<<<4, 256, 0, b>>>(n, device);
    cudaMemcpyAsync(pinned, device, n * 4, cudaMemcpyDeviceToHost, b);
    if (forgets != 3)
        cudaStreamSynchronize(b);
    printf("%g ", pinned[999] == pinned[999] ? pinned[999] : -1);
    cudaDeviceSynchronize();
    cudaMallocManaged(&managed, n * 4);
    for (int i = 0; i < n; i++)
        managed[i] = i;
    twice<<<4, 256>>>(n, managed);
    if (forgets != 4)
        cudaDeviceSynchronize();
    printf("%g ", managed[10]);
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    twice<<<4, 256, 0, a>>>(n, managed);
    twice<<<4, 256, 0, a>>>(n, managed);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    for (int i = 0; i < 3; i++)
        cudaGraphLaunch(run, a);
    cudaStreamSynchronize(a);
    printf("%g\n", managed[10]);
    return 0;
}
END
my @told = (qr/\A1998 20 1280\n\z/, qr/streams\.cu:14: .*the host memory that this copy reads has changed before it was done/, qr/which nothing has written/,
    qr/\A-1 20 1280\n\z/, qr/streams\.cu:32: .*managed memory, while kernels or copies have not been waited for/);
my @forgets = ('nothing is forgotten', 'pinned memory is written before its copy', 'a stream does not wait for the other\'s event', 'the copy back is not waited for: NaN is there', 'the host reads managed memory too early');
for my $forgets (0 .. 4) {
    like($forgets == 0 ? (try_program({}, 'streams.cu'))[1] : join('', (run_program('sh', '-c', 'cd "$0" && exec ./program "$1"', $scratch, $forgets))[1, 2]), $told[$forgets], $forgets[$forgets]);
}

# ---- installed ----

is((run_program('make', '-s', 'install-cusim', "PREFIX=$scratch/installed"))[0], 0, 'make install-cusim');
$cusim = "$scratch/installed/bin/cusim";
my ($hidden) = (scratch('elsewhere'));
mkdir $hidden;
system('cp', "$scratch/reverse.cu", $hidden);
is((run_program('sh', '-c', 'cd "$0" && "$1" reverse.cu -o reverse && ./reverse', $hidden, $cusim))[1], "199 0\n", 'what is installed compiles and links by itself');
like((run_program('sh', '-c', 'cd "$0" && SIM_TRACE=counts.csv ./reverse > /dev/null && "$1-estimate" --trace counts.csv', $hidden, $cusim))[1], qr/^reverse +[\d.]+ us .* launch /m,
    'and what is installed beside it estimates a time from what was counted');
like((run_program($cusim, '--version'))[1], qr/^Cuda compilation tools, release \d+\.\d+, V\d/m, '--version as build systems read it');
done_testing;
