#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# nccl.t - ranks of the stand-in for NCCL that stop, end, do not come or ask for something else: the others never wait for ever, and
# one sentence says why (nccl.cu; what is right is in tests/corpus/nccl_functions.cu).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Test::More;
use Time::HiRes 'time';

is(build_programs(), 1, 'the programs are built') or BAIL_OUT('no programs');
my $program = 'build/tests/nccl';

# What a rank that waits says. Nothing: all are right.
my %told = (
    right    => '',
    streams  => '',
    stopped  => 'rank 2 has not come to this ncclAllReduce for 2 seconds. It was stopped, waits for something else, or does not wait for the stream in which it has called it (CUSIM_NCCL_TIMEOUT sets the seconds)',
    killed   => 'rank 2 has ended, and this ncclAllReduce waits for it. All ranks have to call it, and to wait for its stream before they end',
    unwaited => 'rank 2 has ended, and this ncclAllReduce waits for it. All ranks have to call it, and to wait for its stream before they end',
    op       => 'rank 2 has called ncclAllReduce of 64 ncclFloat32 by ncclMax, and this rank, 0, ncclAllReduce of 64 ncclFloat32 by ncclSum. All have to ask for the same, in the same order',
    absent   => 'rank 1 of 3 has not called ncclCommInitRank for 2 seconds. All ranks have to, with the id that one of them has made (CUSIM_NCCL_TIMEOUT sets the seconds)',
    id       => 'this is no id that ncclGetUniqueId has made. One rank makes it, and sends it to all',
    twice    => 'this process is a rank of that communicator already. The simulator\'s stand-in for NCCL wants a process for each rank: start the program several times',
);
my $killed = '/dev/shm/cusim-nccl-' . '0' x 32; # what ranks have left that were killed while they waited for others
if (open my $file, '>', $killed) {
    close $file;
    utime time - 100, time - 100, $killed;
}
my %old = map { $_ => 1 } glob '/dev/shm/cusim-nccl-*';
for my $how (sort keys %told) {
    my $begin = time;
    my ($status, $out, $err) = run_program({ CUSIM_NCCL_TIMEOUT => 2 }, 'timeout', '60', $program, $how);
    my $took  = time - $begin;
    my @lines = grep { !/ ncclAllReduce was never waited for: / } split /\n/, $err; # rank 2 says that of itself
    if ($told{$how} eq '') {
        is("$status$err", '0', "$how: no error");
        is(join(' ', sort split /\n/, $out), 'rank 0 is done rank 1 is done rank 2 is done', "$how: all are done");
    } else {
        # mostly rank 0 alone; the next one, too, where this machine lets that one run first
        my $told  = quotemeta($told{$how}) =~ s/this\\ rank\\,\\ 0/this rank, [01]/r;
        my @other = grep { !/^tests\/nccl\.cu:\d+: error: host code: $told\.$/ } @lines;
        ok($status eq 1 && @lines >= 1 && @lines <= 2 && !@other, "$how: one sentence")
            or diag("status $status\n$err");
    }
    cmp_ok($took, '<', 40, "$how: in time");
}
ok(!-e $killed, 'what killed ranks have left is taken away');
my @new;
for (1 .. 50) { # another test's ranks may be about to find each other
    @new = grep { !$old{$_} } glob '/dev/shm/cusim-nccl-*';
    last if !@new;
    sleep 1;
}
is("@new", '', 'nothing is left in /dev/shm');

done_testing;
