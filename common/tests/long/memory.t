# SPDX-License-Identifier: MIT
# Memory that runs out, in each place in turn: a program then says so and ends; it never crashes, and never goes on with less.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

plan skip_all => 'the simulator\'s programs are linked at fixed addresses, by which they are told from libraries' if backend() ne 'sim';

# In front of the C library: the call number FAIL_AT that the program itself makes finds no memory. Into the file CALLS goes
# a line a call: where it comes from, as the addresses that called each other.
my $source = write_file(scratch('fail.c'), <<'END');
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static int fails(void *caller)
{
    static long calls, fail_at = -1;
    void *from[16];
    if (fail_at < 0)
        fail_at = getenv("FAIL_AT") != NULL ? atol(getenv("FAIL_AT")) : 0;
    if ((uintptr_t)caller >= (uintptr_t)1 << 30)
        return 0;
    if (getenv("CALLS") != NULL) {
        const int count = backtrace(from, 16), file = open(getenv("CALLS"), O_WRONLY | O_CREAT | O_APPEND, 0666);
        for (int i = 0; i < count; i++)
            dprintf(file, "%p ", from[i]);
        dprintf(file, "\n");
        close(file);
    }
    if (++calls != fail_at)
        return 0;
    close(creat(getenv("FAILED"), 0666));
    errno = ENOMEM;
    return 1;
}
#define CALLER __builtin_return_address(0)
void *malloc(size_t size) { return fails(CALLER) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails(CALLER) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return fails(CALLER) ? NULL : __libc_realloc(old, size); }
char *strdup(const char *text)
{
    char *copy = fails(CALLER) ? NULL : __libc_malloc(strlen(text) + 1);
    return copy != NULL ? strcpy(copy, text) : NULL;
}
END
my $library = scratch('fail.so');
my ($status, $out, $err) = run_program('gcc', '-shared', '-fPIC', '-O1', '-fno-builtin', '-o', $library, $source);
plan skip_all => 'no C library here whose allocation can be replaced' if $status ne '0';

my $x = write_npy(scratch('x.npy'), '(4,)', 1 .. 4);
my %commands = (
    'gradients of own arrays' => [program('02_cuda_ref'), '--d-outputs', $x, '--coeffs', $x, '--outputs', $x,
        '--d-inputs', scratch('dx.npy'), '--d-coeffs', scratch('dc.npy')],
    'a table in a file' => [program('04_warp_scan'), '--num-seqs', 2, '--seq-len', '3,40', '--variant', 'to_block', '--csv', scratch('t.csv')],
    'a trace' => [program('06_backward'), '--num-seqs', 2, '--seq-len', '40', '--variant', 'default', '--reverse'],
);
my $failed = scratch('failed'); # is there when memory was refused
for my $what (sort keys %commands) {
    # each way to an allocation once: a loop, or a list of variants, comes to most of them again and again
    # (MEMORY_ALL=1: at each allocation)
    my %settings = (LD_PRELOAD => $library, FAILED => $failed, CUSIM_TRACE => scratch('trace.csv'));
    my $places = scratch('places');
    unlink $places;
    ($status, $out, $err) = run_program({ %settings, CALLS => $places }, @{ $commands{$what} });
    is($status, 0, "$what: ends well with memory") or diag($err);
    my @places = split /\n/, read_file($places) // '';
    my (%seen, @bad);
    for my $call (grep { !$seen{ $places[$_ - 1] }++ || $ENV{MEMORY_ALL} } 1 .. @places) {
        unlink $failed, map { glob scratch($_) } '*.csv', 'd?.npy';
        ($status, $out, $err) = run_program({ %settings, FAIL_AT => $call }, @{ $commands{$what} });
        push @bad, "allocation $call: memory was not refused" if !-e $failed;
        push @bad, "allocation $call: status $status, $err" if $status !~ /^[12]$/ || $err !~ /memory|allocat|could not be copied back/i;
        push @bad, "allocation $call: a file is left" if glob scratch('*partial*');
    }
    ok(keys %seen > 5 && !@bad, "$what: memory runs out in each of " . keys(%seen) . ' places, of ' . @places . ' calls') or diag(join "\n", @bad);
}
done_testing;
