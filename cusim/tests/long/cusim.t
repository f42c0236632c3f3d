# SPDX-License-Identifier: MIT
# cusim in nvcc's place: options, several files, its own installation; streams that are late; the page's program, mistake by mistake.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";
use Testing;
use Cwd 'getcwd';
use Test::More;

my $cusim = getcwd() . '/compile/cusim';
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
system('cp', "$scratch/reverse.cu", "$scratch/wrong.cu");
page_program('tile[i] = x[i];' => 'if (i < n) { tile[i] = x[i]; __syncthreads();', 'n - 1 - i];' => 'n - 1 - i]; }');
like((try_program({}, 'reverse.cu'))[1], qr/\A199 0\n.*: remark: .*__syncthreads waits for thread \(200,0,0\)/s, 'one condition around all of it: a thread never comes, which gets a remark');
page_program('tile[i] = x[i];' => 'if (i < n) tile[i] = x[i]; __syncthreads();', 'x[i] = tile' => 'if (i < n) x[i] = tile');
my ($status, $said) = try_program({ CUSIM_REPORT => 1 }, 'reverse.cu');
like($said, qr/\A199 0\n/, 'and mended, it is right');
like($said, qr/^reverse +1 +1 +3\.6 +3\.6 +28\.6 +3\.6 +3\.6 +28\.6 +0 +0 +1\.0$/m, 'CUSIM_REPORT counts sectors, lanes and barriers');
like($said, qr/^ +50 % reverse\.cu:7 +28\.6 lanes:  if \(i < n\) tile/m, 'and names the lines');

# it looks at no error: what fails shows elsewhere, or nowhere
my @fails = (undef, ['cudaMalloc', 16, 'cudaErrorMemoryAllocation'], ['cudaMemcpy', 17, 'cudaErrorInvalidValue'], ['the launch of reverse', 18, 'cudaErrorLaunchOutOfResources'], ['cudaMemcpy', 19, 'cudaErrorInvalidValue']);
for my $n (1 .. $#fails) {
    my ($call, $line, $error) = @{ $fails[$n] };
    ($status, $said) = try_program({ CUSIM_FAIL => $n }, 'reverse.cu');
    like($said, qr/^simulator: reverse\.cu:$line: $call fails with $error, as CUSIM_FAIL=$n asks$/m, "CUSIM_FAIL=$n");
}
($status, $said) = try_program({ CUSIM_FAIL => 5 }, 'reverse.cu');
is("$status $said", "0 199 0\nsimulator: CUSIM_FAIL=5, but the program made 4 calls that can fail\n", 'and a call that is not there');
is((try_program({ CUSIM_FAIL => '0' }, 'reverse.cu'))[0], 2, 'nor is there one before the first');

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
write_file("$scratch/past.cu", "__global__ void fill(int *x) { x[threadIdx.x] = 1; }\nvoid launch(int *x) { fill<<<1, 33>>>(x); }\n");
run_program('sh', '-c', 'cd "$0" && exec "$@"', $scratch, $cusim, qw(-I include past.cu main.cpp plus.c -o past));
like((run_program('sh', '-c', 'cd "$0" && exec ./past', $scratch))[2], qr/\Apast\.cu:1: error: kernel fill, .* made at main\.cpp:4\. /, "an allocation of a .cpp file's: by its line");
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
#include <string.h>
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
    if (forgets == 5)
        memset(pinned + 5, 0, 4);
    cudaEventRecord(copied, a);
    if (forgets != 2)
        cudaStreamWaitEvent(b, copied);
    twice<<<4, 256, 0, b>>>(n, device);
    cudaMemcpyAsync(pinned, device, n * 4, cudaMemcpyDeviceToHost, b);
    if (forgets != 3 && forgets != 4)
        cudaStreamSynchronize(b);
    float last = 0;
    const size_t four = argc < 9 ? 4 : 0; /* so that it is a call, which is not watched */
    memcpy(&last, pinned + 999, four);
    printf("%g ", forgets == 4 ? pinned[999] : last == last ? last : -1);
    cudaDeviceSynchronize();
    cudaMallocManaged(&managed, n * 4);
    for (int i = 0; i < n; i++)
        managed[i] = i;
    twice<<<4, 256>>>(n, managed);
    if (forgets != 6)
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
my @forgets = (
    ['nothing is forgotten' => qr/\A1998 20 1280\n\z/],
    ['pinned memory is written before its copy' => qr/streams\.cu:17: error: host code: race: writes byte 20 .* which cudaMemcpyAsync at streams\.cu:15 reads in the stream made at/],
    ['a stream does not wait for the other\'s event' => qr/kernel twice.* race: .* which cudaMemcpyAsync at streams\.cu:15 writes in the stream made at/],
    ['the copy back is not waited for: NaN is there' => qr/\A-1 20 1280\n\z/],
    ['and told, where that is watched' => qr/host code: race: reads byte 3996 .* which cudaMemcpyAsync at .* writes in the stream made at/],
    ['pinned memory is written by C\'s own functions' => qr/streams\.cu:15: .*the host memory that this copy reads has changed before it was done/],
    ['the host reads managed memory too early' => qr/host code: race: reads byte 40 .* which the kernel launched at .* has written at streams\.cu:4 in the default stream/],
);
for my $forgets (0 .. $#forgets) {
    like($forgets == 0 ? (try_program({}, 'streams.cu'))[1] : join('', (run_program('sh', '-c', 'cd "$0" && exec ./program "$1"', $scratch, $forgets))[1, 2]), $forgets[$forgets][1], $forgets[$forgets][0]);
}

# ---- what is left behind ----

write_file("$scratch/left.cu", <<'END');
#include <stdio.h>
__global__ void fill(float *x) { x[threadIdx.x] = 1; }
int main(int argc, char **)
{
    float *x, host[4];
    cudaStream_t stream;
    cudaMalloc(&x, 1600);
    cudaMalloc(&x, 1600), cudaStreamCreate(&stream);
    if (cudaMemcpy(x, host, 1604, cudaMemcpyHostToDevice) == cudaSuccess) return 1;
    fill<<<1, 4, 0, stream>>>(x);
    if (argc > 1)
        puts(cudaGetErrorString(cudaGetLastError())), cudaStreamDestroy(stream), cudaDeviceReset();
    return 0;
}
END
($status, $said) = try_program({ CUSIM_LEAKS => 1 }, 'left.cu');
is("$status $said", "0 simulator: 1600 bytes from cudaMalloc at left.cu:7 were never freed.\nsimulator: 1600 bytes from cudaMalloc at left.cu:8 were never freed.\n"
    . "simulator: the stream from cudaStreamCreate at left.cu:8 was never destroyed.\nsimulator: cudaMemcpy at left.cu:9 returned cudaErrorInvalidValue, which nobody looked at.\n"
    . "simulator: the launch of a kernel at left.cu:10 was never waited for, so it was not done.\n", 'CUSIM_LEAKS: memory, a stream, an error, a kernel');
($status, $said) = try_program({ CUSIM_LEAKS => 1 }, 'left.cu', 'cleanly');
is("$status $said", "0 invalid argument\nsimulator: nothing is left behind: all that was made is given back.\n", 'and nothing, where nothing is');
like((try_program({}, 'left.cu'))[1], qr/\Aleft\.cu:10: remark: host code: the launch of a kernel was never waited for: it was not done\.[^\n]*\n\z/, 'unasked only what was not waited for');

# ---- code that was not written for it ----

write_file("$scratch/meet.cu", <<'END');
#include <stdio.h>
__global__ void turns(int *x)
{
    __shared__ int tile[2];
    if (threadIdx.x < 32) {
        tile[0] = 1;
        __syncthreads(); // here the first warp
        x[0] = tile[1];
    } else {
        tile[1] = 2;
        __syncthreads(); // and here the second
        x[1] = tile[0];
    }
}
int main() { int *x, y[2]; cudaMalloc(&x, 8); turns<<<1, 64>>>(x); cudaMemcpy(y, x, 8, cudaMemcpyDefault); printf("%d %d\n", y[0], y[1]); }
END
$_ = read_file("$scratch/meet.cu"), s/tile\[(\d)\] = (\d);/if (threadIdx.x % 32 == 0) tile[$1] = $2;/g, s/x\[(\d)\] = tile/if (threadIdx.x % 32 == 0) x[$1] = tile/g, write_file("$scratch/meet.cu", $_);
like((try_program({}, 'meet.cu'))[1], qr/meet\.cu:7: .*__syncthreads, while thread \(32,0,0\) waits at __syncthreads at meet\.cu:11/, 'two warps at two barriers: a mistake by CUDA\'s rules');
is((try_program({ CUSIM_BARRIERS => 'any' }, 'meet.cu'))[1], "2 1\n", 'CUSIM_BARRIERS=any: warps are counted, as hardware does');
like((try_program({ CUSIM_BARRIERS => 'all' }, 'meet.cu'))[1], qr/CUSIM_BARRIERS=all .*same or any/, 'another word is refused');

write_file("$scratch/loop.cu", "#include <stdio.h>\n__global__ void rounds(int *x)\n{\n    __shared__ int tile[64];\n    for (int i = 0; i < 2; i++) {\n        tile[threadIdx.x] = i;\n"
    . "        __syncthreads();\n        x[threadIdx.x] = tile[63 - threadIdx.x];\n    }\n}\nint main() { int *x; cudaMalloc(&x, 256); rounds<<<1, 64>>>(x); }\n");
like((try_program({}, 'loop.cu'))[1], qr/The barrier at loop\.cu:7 is between them in one round of the loop \(or call of the function\), but not from one to the next/, 'a race from one round to the next: the barrier that is there is not the one that is missing');

write_file("$scratch/bytes.cu", "__global__ void first(int *x) { extern __shared__ int tile[]; tile[threadIdx.x] = 1; }\nint main() { first<<<1, 32>>>(0); }\n");
like((try_program({}, 'bytes.cu'))[1], qr/writes tile\[0\], past the end \(it has no elements: the launch gives it no bytes/, 'extern __shared__ without bytes at the launch');

write_file("$scratch/ipc.cu", "int main() { int *x; cudaMalloc(&x, 4);\n    cudaIpcMemHandle_t handle;\n    cudaIpcGetMemHandle(&handle, x); }\n");
like((try_program({}, 'ipc.cu'))[1], qr/ipc\.cu:3: .*cudaIpcGetMemHandle has no stand-in in the simulator/, 'a call that cannot be simulated stops with its name and line');

write_file("$scratch/sorted.cu", "// a library that is not here\n#include <thrust/sort.h>\nint main() {}\n");
like((try_program({}, 'sorted.cu'))[1], qr{\Asorted\.cu:2: error: thrust/sort\.h is not simulated\. What needs Thrust has to be written as a kernel, or run on a GPU\.\n\z}, 'Thrust: one sentence');
mkdir "$scratch/toolkit";
mkdir "$scratch/toolkit/thrust";
write_file("$scratch/toolkit/cuda_runtime_api.h", "#error a toolkit's\n");
write_file("$scratch/toolkit/cuda_other.h", "/* Copyright NVIDIA */\nint other(void);\n");
write_file("$scratch/toolkit/theirs.h", "int theirs(void);\n");
write_file("$scratch/mixed.cu", "#include <theirs.h>\n#include <cuda_other.h>\nint main() {}\n");
write_file("$scratch/toolkit/thrust/sort.h", "namespace thrust {}\n");
write_file("$scratch/toolkit/cuda_runtime.h", "#error a toolkit's\n");
{
    local $ENV{CPATH} = "$scratch/toolkit";
    like((try_program({}, 'sorted.cu'))[1], qr/\Asorted\.cu:2: error: Thrust is not simulated\./, 'also where a toolkit has it');
    is((try_program({}, 'mixed.cu'))[1], "mixed.cu:2: error: cuda_other.h is the CUDA Toolkit's, and is not simulated. Leave out what needs it, or run it on a GPU.\n", 'nor is another header of it mixed in');
    like((try_program({}, 'reverse.cu'))[1], qr/\A199 0\n/, 'a toolkit in the path does not win');
}

write_file("$scratch/method.cu", "struct lane {\n    __device__ unsigned id() { unsigned i;\n        asm(\"bfind.u32 %0, %1;\" : \"=r\"(i) : \"r\"(7)); return i; }\n};\nint main() {}\n");
like((try_program({}, 'method.cu'))[1], qr/\Amethod\.cu:3: error: here is PTX, of which the simulator knows nothing/, 'PTX in a function of a class');

write_file("$scratch/relaxed.cu", "#include <algorithm>\n#include <stdio.h>\n__global__ void most(int *x) { *x = std::max(*x, 3); }\n"
    . "int main(int n, char **) { int *x, y[n]; cudaMalloc(&x, 4); cudaMemset(x, 0, 4); most<<<1, 1>>>(x); cudaMemcpy(y, x, 4, cudaMemcpyDefault); printf(\"%d\\n\", y[0]); }\n");
for my $options ([], ['--expt-relaxed-constexpr'], ['-w', '-Xcompiler', '-Werror']) {
    ($status, undef, $said) = run_program('sh', '-c', 'cd "$0" && "$@" relaxed.cu -o relaxed && test "$(./relaxed)" = 3', $scratch, $cusim, @$options);
    like("$status $said", $options->[0] && $options->[0] =~ /relaxed/ ? qr/\A0 \z/ : qr/\A0 relaxed\.cu:3: warning: kernel most uses std::max, a constexpr function of the host.* or write max without std::\.\n\z/,
        "constexpr functions of the host in a kernel: @$options");
}
write_file("$scratch/sized.cu", "__global__ void k(int n) {\n    int a[n];\n    a[0] = n; }\nint main() { k<<<1, 1>>>(3); }\n");
like((run_program('sh', '-c', 'cd "$0" && "$1" -w sized.cu', $scratch, $cusim))[2], qr/\Asized\.cu:2: error: the size of the array a is not known/, '-w leaves errors as they are');

is((run_program('sh', '-c', 'cd "$0" && "$1" -rdc=true -dc relaxed.cu -o relaxed.o && "$1" -arch=sm_90 -dlink relaxed.o -o linked.o && "$1" relaxed.o linked.o -o relaxed && ./relaxed', $scratch, $cusim))[1],
    "3\n", '-dlink: nothing is left to do, and the program is whole');
is((run_program('sh', '-c', 'cd "$0" && "$1" -w -lib relaxed.o -o librelaxed.a && "$1" librelaxed.a -o relaxed && ./relaxed', $scratch, $cusim))[1], "3\n", '-lib: a library');

for my $chip (undef, 't4') {
    my $said = (try_program({ CUSIM_REPORT => 1, defined $chip ? (CUSIM_CHIP => $chip) : () }, 'reverse.cu'))[1];
    my $name = $chip ? 'T4' : 'H200';
    like($said, qr/^Estimates for NVIDIA $name, [^\n]*nothing was measured.*^reverse +[\d.]+ us +[\d.]+ us - [\d.]+ us +launch +\w/ms, "CUSIM_REPORT: an estimate of time, for $name");
}
like((try_program({ CUSIM_REPORT => 1, CUSIM_CHIP => 'abacus' }, 'reverse.cu'))[1], qr/\Asimulator: CUSIM_CHIP=abacus is not understood\. Set it to h200, h100, l4, a100 or t4, or to a file/, 'a chip that is none: one sentence with the list');
unlike((try_program({ CUSIM_REPORT => 1, CUSIM_CHECKS => 'bounds' }, 'reverse.cu'))[1], qr/Estimates/, 'no estimate where memory is not counted');

# Blocks that wait for each other: 10 of them in a chain, and 10 that look back at what was published first.
write_file("$scratch/chain.cu", <<'END');
__global__ void chain(volatile int *flags)
{
    int before = 0;
    while (blockIdx.x > 0 && before == 0)
        before = flags[blockIdx.x - 1];
    flags[blockIdx.x] = before + 1;
}
__global__ void looks_back(volatile int *flags)
{
    int before = 0;
    flags[blockIdx.x] = 1;
    while (blockIdx.x > 0 && before == 0)
        before = flags[blockIdx.x - 1];
    flags[blockIdx.x] = before + 1;
}
int main()
{
    int *flags;
    cudaMalloc(&flags, 40);
    cudaMemset(flags, 0, 40);
    chain<<<10, 1>>>(flags);
    cudaMemset(flags, 0, 40);
    looks_back<<<10, 1>>>(flags);
    cudaDeviceSynchronize();
    cudaFree(flags);
}
END
my ($chain_status, $chain_said) = try_program({ CUSIM_TRACE => "$scratch/chain.csv" }, 'chain.cu');
is("$chain_status$chain_said", '0', 'blocks in a chain');
my %handovers = map { ($_->{kernel} => $_->{handovers}) } grep { $_->{line} eq '' } rows_of("$scratch/chain.csv");
is_deeply(\%handovers, { chain => 9, looks_back => 1 }, 'hand-overs on the longest path across blocks');

# ---- installed ----

is((run_program('make', '-s', 'install', "PREFIX=$scratch/installed"))[0], 0, 'make install');
$cusim = "$scratch/installed/bin/cusim";
my ($hidden) = (scratch('elsewhere'));
mkdir $hidden;
system('cp', "$scratch/reverse.cu", $hidden);
is((run_program('sh', '-c', 'cd "$0" && "$1" reverse.cu -o reverse && ./reverse', $hidden, $cusim))[1], "199 0\n", 'what is installed compiles and links by itself');
like((run_program('sh', '-c', 'cd "$0" && CUSIM_REPORT=1 ./reverse 2>&1', $hidden))[1], qr/^reverse +[\d.]+ us .* launch /m, 'its report has an estimate, too');
like((run_program('sh', '-c', 'cd "$0" && CUSIM_TRACE=counts.csv ./reverse > /dev/null && "$1-estimate" --trace counts.csv', $hidden, $cusim))[1], qr/^reverse +[\d.]+ us .* launch /m,
    'and what is installed beside it estimates a time from what was counted');
system('cp', "$scratch/wrong.cu", $hidden);
like((run_program('sh', '-c', 'cd "$0" && "$1" wrong.cu -o wrong && ./wrong', $hidden, $cusim))[2], qr/past the end of the 800-byte allocation made at wrong\.cu:16/, 'and names the user\'s lines, not those of its own headers');
my $versions = (run_program($cusim, '--version'))[1];
is($versions, "cusim: CUDA compiler for the CPU\nCuda compilation tools, release 13.0, V13.0.0\nBuild cusim " . read_file('VERSION'), '--version: the toolkit that it stands for, and its own');
is_deeply([map { $versions =~ /$_/ ? $1 : 'none' } qr/release ([0-9.]+)/, qr/V([0-9]+\.[0-9]+)/, qr/([0-9]+\.[0-9]+)/], [('13.0') x 3], 'and build systems find the toolkit\'s, however they look');
done_testing;
