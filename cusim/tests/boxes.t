#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# boxes.t - the TMA's loads and stores of boxes (boxes.cu): the right bytes at edges and beyond, what they count, and one
# sentence for each mistake.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CUSIM_SCHEDULE CUSIM_CHECKS)};

my $source    = "tests/boxes.cu";
my $allocated = "the 1728-byte allocation made at $source:" . line_of("THE ALLOCATION");
my $late      = qr/which the tma_store_box at $source:\d+ has not read yet. Let the thread that called that wait by tma_store_commit/;

is(system("make -s -f tests/Makefile build/tests/boxes"), 0, "the program builds without a warning") or BAIL_OUT("no program");

for my $order (qw(warp reverse random:1)) {
    is_deeply([boxes({ CUSIM_SCHEDULE => $order }, "right")], [0, "", ""], "boxes of 32 and 16 bits, inside, at edges, outside, order $order");
}
is_deeply([boxes({ CUSIM_CHECKS => "bounds" }, "right")], [0, "", ""], "the same where addresses alone are judged");
for my $order (qw(warp reverse random:1)) {
    is_deeply([boxes({ CUSIM_SCHEDULE => $order }, "swizzled")], [0, "", ""], "swizzled boxes, whose 16 bytes lie in the order of their row, order $order");
}
is_deeply([boxes({ CUSIM_CHECKS => "bounds" }, "swizzled")], [0, "", ""], "the same where addresses alone are judged");
is_deeply([boxes({}, "refused")], [0, "", ""], "maps that the driver refuses, and its entry point");
my @counted = split /^/, (boxes({}, "counts"))[1];
is($counted[0], "2 bulk copies, 1 requests 104 bytes 4 sectors 4 least 2 lines 4 once, 1 requests 128 bytes 4 sectors 4 least 3 lines 4 once\n",
    "a load counts one request of the bytes inside of the array, a store whole pieces of 16 bytes");
is($counted[1], "2 bulk copies, 1 requests 2560 bytes 80 sectors 80 least 30 lines 80 once, 1 requests 2560 bytes 80 sectors 80 least 30 lines 80 once\n",
    "a swizzled one counts the sectors and lines of its rows, each once, however its 16 bytes lie");

# What `boxes NAME` says, on the line that is marked so.
for (["no_wait", "HERE no_wait", qr/reads tile\[0\], to which the copy of $source:@{[line_of("THE LOAD")]} is on its way/],
    ["unwaited", "THE LOAD", qr/tma_load_box of 384 bytes, and the block ended before anybody waited for phase 0 of the barrier, which is complete/],
    ["few_bytes", "HERE few_bytes", qr/has 16 bytes more than the 368 announced, the last by tma_load_box at $source:@{[line_of("THERE few_bytes")]}/],
    ["unaligned", "HERE unaligned", qr/tma_load_box to an address that is not aligned to 128. Declare shared arrays __align__\(128\)/],
    ["odd_column", "HERE odd_column", qr/tma_load_box of a box that begins at x = -7, -28 bytes from where a row does: a GPU refuses what is no multiple of 16. Let x be a multiple of 4/],
    ["store_negative", "HERE store_negative", qr/tma_store_box at \(0, -1, 0\): a GPU loads from negative coordinates, but refuses to store there/],
    ["small_tile", "HERE small_tile", qr/tma_load_box writes tile\[64\] to tile\[159\], past the end .* Make the shared array as large as the map's box/],
    ["unmade", "HERE unmade", qr/tma_load_box with a map that tensor_map_of \(cuTensorMapEncodeTiled\) has not made/],
    ["two_dimensions", "HERE two_dimensions", qr/tma_load_box with a map of 2 dimensions. Make one of 3/],
    ["past_end", "HERE past_end", qr/tma_load_box reads right past the end of $allocated. Give tensor_map_of sizes and strides of memory that is there/],
    ["freed", "HERE freed", qr/tma_load_box reads byte 0 of the 1728-byte allocation .*, which was freed/],
    ["store_past_end", "HERE store_past_end", qr/tma_store_box writes right past the end of $allocated/],
    ["store_unwaited", "HERE store_unwaited", qr/tma_store_box, and its thread ends without tma_store_wait_read: /],
    ["uncommitted", "HERE uncommitted", qr/tma_store_wait_read, which does not wait for the tma_store_box at $source:@{[line_of("THERE uncommitted")]}, as that is not committed/],
    ["unfenced", "THE STORE", qr/tma_store_box reads tile\[64\], which thread \(0,0,0\) has written at $source:@{[line_of("THERE unfenced")]}, and called no fence_proxy_async since/],
    ["unordered", "THE STORE", qr/race: reads tile\[\d+\], which thread \(\d+,0,0\) has written at $source:@{[line_of("THERE unordered")]}/],
    ["written_too_soon", "HERE written_too_soon", qr/race: writes tile\[0\], $late/],
    ["wait_unshared", "HERE wait_unshared", qr/race: writes tile\[\d+\], which thread \(0,0,0\) has read at $source:@{[line_of("THE STORE")]}/],
    ["two_blocks", "THE STORE", qr/race: writes byte 0 of .*, which thread \(0,0,0\) of block \(0,0,0\) has written/],
    ["swizzled_off_1024", "HERE swizzled_off_1024", qr/tma_load_box of a swizzled box to an address that is not aligned to 1024: .* Declare shared arrays __align__\(1024\)/],
    ["swizzled_store_off_1024", "HERE swizzled_store_off_1024", qr/tma_store_box of a swizzled box from an address that is not aligned to 1024/],
    ["swizzled_64", "HERE swizzled_64", qr/cuTensorMapEncodeTiled with an interleave, or a swizzle of other than 128 bytes, which are not simulated/, 1],
    ["swizzled_row_of_64", "HERE swizzled_row_of_64", qr/cuTensorMapEncodeTiled with a swizzle of 128 bytes and a box whose rows have 64, which is not simulated/, 1]) {
    my ($name, $line, $words, $near) = @$_;
    my ($status, undef, $err) = boxes({}, $name);
    my @lines = map { line_of($line) + $_ } $near ? (-2 .. 1) : 0;
    ok($status eq 1 && $err =~ /\A\Q$source\E:(\d+): error: [^\n]*$words[^\n]*\.\n\z/ && grep({ $1 == $_ } @lines), "$name: says so") or diag("$status: $err");
}

is((boxes({ CUSIM_CHECKS => "bounds" }, "no_wait"))[1] =~ s/^-//r, "nan\n", "no_wait: NaN, where addresses alone are judged");
is((boxes({ CUSIM_CHECKS => "bounds" }, "written_too_soon"))[1], "2\n", "written_too_soon: the store takes the late value there");

done_testing();

sub boxes {
    my ($settings, $name) = @_;
    return run_program($settings, "build/tests/boxes", $name);
}

sub line_of { return marked_line($source, $_[0]) }
