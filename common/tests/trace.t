# SPDX-License-Identifier: MIT
# The kernels' requests to memory, as the simulator sees them: the defaults from chapter 05 on touch each sector once and ask for nothing
# else; what the texts say of coalescing and of banks is so; and the trace's own files and table.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

plan skip_all => 'only the simulator sees every access; this is BACKEND=' . backend() if backend() ne 'sim';

# Arrays that a pass reads and writes.
my %arrays = (forward => [2, 1], reverse => [2, 1], backward => [3, 2], backward_reverse => [3, 2]);

# ---- the defaults of chapters that claim it: nothing twice, nothing in vain. Lengths whose rows begin at multiples of
# 32 bytes, and others; long/counters.t has longer ones ----

for my $chapter (grep { claims($_, 'once') } chapters()) {
    my ($kernels) = trace($chapter, '--variant', 'default', '--num-seqs', 3, '--seq-len', '8,64,104,520,4096,10000,7,100,1001,4097,10007');
    for my $row (@$kernels) {
        my ($num_seqs, $length, $direction) = @$row{qw(num_seqs seq_len direction)};
        my ($name, $bytes) = ("$chapter $direction, $num_seqs x $length", 4 * $num_seqs * $length);
        my $needed = int(($bytes + 31) / 32);
        my $aligned = $length % 8 == 0;
        for (['load', $arrays{$direction}[0]], ['store', $arrays{$direction}[1]]) {
            my ($what, $count) = @$_;
            my ($requests, $sectors, $least, $once) = map { $row->{"${what}_$_"} } qw(requests sectors least once);
            is($once, $count * $needed, "$name: ${what}s touch the arrays' sectors and no other");
            # the gradient of a coefficient takes an output from behind its warp: one sector of 4 bytes more a request
            my $behind = $what eq 'load' && $direction =~ /backward/ ? $requests : 0;
            if ($aligned && !$behind) {
                is("$sectors $least", "$once $once", "$name: each sector is ${what}ed once, and every request is ideal");
                is($row->{"${what}_bytes"}, $count * $bytes, "$name: not a byte too many is ${what}ed");
            } else {
                # a request may begin and end inside a sector, which a neighbour then touches, too
                cmp_ok($sectors, '<=', $once + $requests, "$name: ${what}s touch at most one sector more a request");
                cmp_ok($sectors, '<=', $least + $requests, "$name: nearly ideal requests");
                cmp_ok($row->{"${what}_bytes"}, '<=', $count * $bytes + 4 * $behind, "$name: not a byte too many is ${what}ed");
            }
        }
    }
}

# ---- what the texts say of 02: 32 sectors a request where 4 would do, 8 times the bytes ----

my ($kernels, $lines) = trace('02_cuda_ref', '--num-seqs', 64, '--seq-len', 1024, '--variant', 'full_blocks', '--forward');
my $row = $kernels->[0];
is_deeply([@$row{qw(load_requests load_sectors load_least load_once store_requests store_sectors store_least store_once chain)}],
    [2 * 2047, 32 * 2 * 2047, 4 * 2 * 2047, 2 * 64 * 128 , 2 * 1024, 32 * 2 * 1024, 4 * 2 * 1024, 64 * 128, 1024],
    '02_cuda_ref full_blocks: every lane a sector of its own');
for my $column (qw(load_requests load_sectors store_bytes store_once)) {
    my $sum = 0;
    $sum += $_->{$column} for @$lines;
    is($sum, $row->{$column}, "the lines make up the kernel: $column");
}
is_deeply([sort map { (split /:/, $_->{line})[0] } @$lines], [('02_cuda_ref/full_blocks.cu') x @$lines], 'lines are named as seen from the root');

# ---- the table, and a program that gives no labels ----

my ($status, $out, $err) = run_program('perl', 'common/pages/trace.pl', scratch('trace.csv'), 'all');
ok($status eq 0 && $out =~ /^forward, 64 sequences of 1024 elements\nfull_blocks +32\.0 +4\.0 +32\.0 +4\.0 +95\.97 +12\.00 +0 +0 +0$/m
        && $out =~ m{^ +02_cuda_ref/full_blocks\.cu:\d+: outputs\[l\] = y;\n +- +- +32\.0 +4\.0 +31\.\d\d +\d\.\d\d +0$}m, 'trace.pl prints kernels and their lines')
    or diag("$out$err");

# each chapter on its own; and no shared access of its kernels conflicts
for my $chapter (gpu_chapters(), '07_bench') {
    my $num_seqs = $chapter =~ /^02/ ? 32 : 2; # 02 takes a warp of sequences
    my ($kernels) = trace($chapter, '--num-seqs', $num_seqs, '--seq-len', '33,1001,4100');
    is_deeply([map { "$_->{variant} $_->{seq_len}: $_->{conflicts}" } grep { $_->{conflicts} } @$kernels], [], "$chapter: no bank conflicts") if $chapter ne '07_bench';
    (my $failed, $out, $err) = run_program('perl', 'common/pages/trace.pl', scratch('trace.csv'), 'all');
    is("$failed$err", 0, "trace.pl: $chapter");
    is_deeply([grep { length > 100 } split /\n/, $out], [], "$chapter: within 100 columns");
    my $whose = compares($chapter) ? "$kernels->[0]{chapter}, " : '';
    like($out, qr/^\Q$whose\E$kernels->[0]{direction}, $num_seqs sequences of 33 elements$/m, "$chapter: a line says the shape");
}
like($out, qr/^06_backward, backward, 2 sequences of 4100 elements\ntwo_pass .*\n(?:.*\n)*?\+ /m, "more kernels of a variant");
{
    local $ENV{LINES} = 24; # a shell's terminal, not the reader's wish
    my $few = "TRACED_SHAPES='--num-seqs 32 --seq-len 100'";
    $out = `make --no-print-directory BACKEND=sim -C 02_cuda_ref trace $few 2>&1`;
    ok($? == 0 && $out =~ /^full_blocks /m && $out !~ /full_blocks\.cu:/, 'make trace, with LINES exported') or diag($out);
    $out = `make --no-print-directory BACKEND=sim -C 02_cuda_ref trace $few LINES=full_blocks 2>&1`;
    like($out, qr{^  02_cuda_ref/full_blocks\.cu:\d+: }m, 'make trace LINES=VARIANT shows its lines');
}
($status) = run_program({ CUSIM_TRACE => scratch('plain.csv'), CUSIM_TRACE_WARP => scratch('warp.csv') }, extra('02_cuda_ref_broken'), 'none');
like(read_file(scratch('plain.csv')), qr/^,,,,,none,,1,1,128,/m, 'a program without labels: its kernels');
like(read_file(scratch('warp.csv')), qr/^,,,,,none,\S+:\d+,load,\d+,31,6200,4$/m, 'and the lanes of its first warp');

# ---- few active lanes, and lanes at one address, stand behind their lines ----

for my $case (['02_cuda_ref_mixed', qr{^as_they_come .*\n(?:  .*\n)*  02_cuda_ref/demos/mixed\.cu:\d+ \[9\.0 lanes\]: outputs\[i\] = y;$}m],
    ['06_backward_shared_coefficients', qr{^along .*\n(?:  .*\n)*  06_backward/demos/shared_coefficients\.cu:\d+ \[contention 126976\]: atomicAdd}m]) {
    my ($demo, $line) = @$case;
    ($status) = run_program({ CUSIM_TRACE => scratch('demo.csv') }, extra($demo));
    (my $failed, $out, $err) = run_program('perl', 'common/pages/trace.pl', scratch('demo.csv'), 'all');
    ok("$status$failed" eq '00' && $out =~ $line, "$demo is right, and its trace names the line") or diag("$out$err");
}

done_testing;
