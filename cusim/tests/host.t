#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# host.t - what host code does wrong is told, at its line, as an error or a remark, and what is right is not (host.cu).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Test::More;

my $source = 'tests/host.cu';
my $bytes  = "the 256-byte allocation made at $source:" . marked_line($source, 'THE ALLOCATION');

# What each case must say, of the line marked HERE and its name; {there}: the one marked THERE.
my %told = (
    launch_unseen   => ['error', 'kernel fill: launched with too many threads, block (2000,1,1). Take at most 1024 in all, and 64 in z. The kernel did not run, and nobody asked cudaGetLastError() for the error'],
    copy_unseen     => ['error', "host code: cudaMemcpy returned cudaErrorInvalidValue, and nobody looked at it: the destination is byte 0 of $bytes, and 260 bytes from there are too many. The size is in bytes"],
    copy_unseen_in_branch => ['error', 'host code: cudaMemset returned cudaErrorInvalidValue, and nobody looked at it'],
    direction       => ['error', 'it is given memory of the device to read and of the host to write, and cudaMemcpyHostToDevice. Write cudaMemcpyDeviceToHost, or change the two pointers'],
    library_copies  => ['error', "reads byte 0 of $bytes, which is the device's. Use cudaMemcpy"],
    library_sets    => ['error', "writes byte 0 of $bytes, which is the device's. Use cudaMemcpy"],
    template_copies => ['error', "writes byte 0 of $bytes, which is the device's. Use cudaMemcpy"],
    header_copies   => ['error', "writes byte 0 of $bytes, which is the device's. Use cudaMemcpy"],
    harmless        => ['remark', 'cudaDeviceEnablePeerAccess returned cudaErrorInvalidDevice, and nobody looked at it'],
    tail            => ['error', "copies 256 bytes to the host, of which nothing has written 16: from byte 240 of $bytes on. See whether the kernel ran, whether the grid has enough blocks"],
    last_one        => ['error', 'of which nothing has written 4: from byte 252'],
    nothing         => ['error', 'copies 256 bytes to the host, none of which anything has written: from byte 0'],
    in_another_stream => ['remark', "the launch of a kernel was never waited for: it was not done"],
    padding_and_tail => ['error', 'of which nothing has written 13: from byte 1512'],
    free_twice      => ['remark', "cudaFree of byte 0 of $bytes, which was freed by cudaFree at {there}. Free it once"],
    free_inside     => ['remark', "cudaFree of byte 4 of $bytes. Give it the pointer that cudaMalloc has given"],
    unwaited        => ['remark', 'the launch of a kernel was never waited for: a GPU may not be done with it when the program ends. Call cudaDeviceSynchronize() before the end'],
    unwaited_print  => ['remark', 'and what the kernel prints is lost then'],
    unwaited_stream => ['remark', 'the launch of a kernel was never waited for: it was not done'],
    unwaited_copy   => ['remark', 'cudaMemcpyAsync was never waited for: it was not done'],
    read_early      => ['remark', 'reads what cudaMemcpyAsync at {there} brings, before anything was waited for. It is there only because the memory is pageable'],
    freed_early     => ['error', "writes byte 0 of $bytes, which was freed by cudaFreeAsync at {there}, and nothing orders the two. Free it in the stream that uses it last"],
    captured        => ['error', 'cudaStreamSynchronize returned cudaErrorStreamCaptureUnsupported, and nobody looked at it: the stream is being captured'],
    elapsed_early   => ['error', 'the events are recorded, but not done. Call cudaEventSynchronize for the second one before'],
);
my @right = qw(library_right launch_seen launch_seen_late launch_returned copy_seen copy_cast_away written part_written padding gaps free_seen free_behind_main
    free_behind_reset waited before_main pinned_fill read_behind freed_behind);

is(build_programs(), 1, 'programs build without a warning') or BAIL_OUT('no programs');
for my $name (sort keys %told) {
    my ($kind, $words) = @{ $told{$name} };
    $words =~ s/\{there\}/"$source:" . marked_line($source, "THERE $name")/e;
    my ($status, undef, $err) = run($name);
    my $at = "$source:" . marked_line($source, "HERE $name") . ": $kind: ";
    ok($status eq ($kind eq 'error' ? 1 : 0) && $err =~ /\A\Q$at\E(?:host code|kernel \w+): [^\n]*\Q$words\E|\A\Q$at$words\E/ && $err =~ /\A[^\n]*\.\n\z/, "$name: $kind") or diag("status $status\n$err");
}
for my $name (@right) {
    my ($status, undef, $err) = run($name);
    is("$status $err", '0 ', "$name: right");
}
my ($status, undef, $err) = run('early_wait');
like($err, qr/which nothing has written\. The event for which cudaStreamWaitEvent at \Q$source\E:@{[marked_line($source, 'THERE early_wait')]} waits was not recorded yet/, 'early_wait: says why nothing is there');
($status, undef, $err) = run('launch_then_fault');
like($err, qr/\A\Q$source\E:@{[marked_line($source, 'THERE launch_then_fault')]}: remark: kernel fill: launched with 60000 bytes of dynamic shared memory[^\n]*\n\Q$source\E:@{[marked_line($source, 'HERE launch_then_fault')]}: error: host code: copies 256 bytes/,
    'launch_then_fault: first the launch, then what came of it');
($status, undef, $err) = run('free_of_c'); # in which the C library crashes, at the start of what it takes for its own heap
like("$status\n$err", qr/\Asignal 11\n\Q$source\E:@{[marked_line($source, 'HERE free_of_c')]}: error: host code: touches byte 0 of the 512-byte allocation made at \Q$source\E:@{[marked_line($source, 'THERE free_of_c')]}\. [^\n]*; and what cudaMalloc has given is for cudaFree, [^\n]* not for free\.\n\z/,
    'free_of_c: says which allocation it is, and who frees it');
is(join(' ', (run('unwaited_and_failed'))[0, 2]), '3 ', 'a program that gives up need not wait');
done_testing;

sub run { return run_program({}, 'build/tests/host', @_) }
