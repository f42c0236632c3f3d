# SPDX-License-Identifier: MIT
# A launch that takes long says on a terminal how far it is, and takes that away again; a file gets nothing of it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";
use Testing;
use Test::More;

# A terminal of our own: its two ends, or nothing where there is none.
sub terminal {
    my $number = pack 'i', 0;
    open my $ours, '+<', '/dev/ptmx' or return;
    ioctl($ours, 0x40045431, $number) && ioctl($ours, 0x80045430, $number) or return; # TIOCSPTLCK, TIOCGPTN
    open my $its, '+<', '/dev/pts/' . unpack('i', $number) or return;
    return ($ours, $its);
}

my $program = scratch('slow');
write_file("$program.cu", <<'CODE');
#include <time.h>
__global__ void slow(unsigned *x)
{
    unsigned n = 1;
    while (clock() < (blockIdx.x + 1) * 1300000L) /* 1.3 s of processor time each */
        for (unsigned i = 0; i < 1000000; i++)
            n = n * 5 + i;
    x[blockIdx.x] = n;
}
int main() { unsigned *x; cudaMalloc(&x, 8); slow<<<2, 1>>>(x); return cudaDeviceSynchronize() + cudaFree(x); }
CODE
is((run_program('compile/cusim', "$program.cu", '-o', $program))[0], 0, 'a program');

my ($status, $out, $err) = run_program({ CUSIM_CORES => 1 }, $program);
is("$status$out$err", '0', 'to a file it says nothing');
SKIP: {
    my ($ours, $its) = terminal() or skip 'no terminal', 2;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDERR, '>&', $its or die;
        $ENV{CUSIM_CORES} = 1;
        exec $program or exit 127;
    }
    close $its;
    my $said = '';
    1 while sysread $ours, $said, 1000, length $said;
    waitpid $pid, 0;
    my ($line, $behind) = $said =~ /(cusim: kernel slow, launched at slow\.cu:10: 1 of 2 blocks)(.*)\z/s;
    ok(defined $line, 'on a terminal it says how far it is') or diag($said);
    is($behind, "\r\e[K", 'and takes that away');
}
done_testing();
