# SPDX-License-Identifier: MIT
# ptx.pl - the inline PTX that there is: a line that reads a register, or is a function of CUDA's by another name. check.pl and
# rewrite.pl read this.
#
#   asm("mov.u32 %0, %laneid;" : "=r"(lane))     becomes  (lane = the thread's number in its block % 32)
use strict;
use warnings;

my $place   = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))";
my $block   = "(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))";
my $quoted  = qr/"(?:\\.|[^"\\])*"/;
my $bracket = qr/(\((?:[^()"]++|$quoted|(?-1))*+\))/;

my %register = (
    laneid => "$place % 32", warpid => "$place / 32", nwarpid => "64u", smid => "$block % 2", nsmid => "2u", # as the device has
    lanemask_eq => "1u << $place % 32", lanemask_lt => "(1u << $place % 32) - 1", lanemask_le => "(2u << $place % 32) - 1",
    lanemask_gt => "-(2u << $place % 32)", lanemask_ge => "-(1u << $place % 32)",
    clock => "(unsigned)clock64()", clock64 => "clock64()", globaltimer => "clock64()",
    map({ ("tid.$_" => "threadIdx.$_", "ntid.$_" => "blockDim.$_", "ctaid.$_" => "blockIdx.$_", "nctaid.$_" => "gridDim.$_") } qw(x y z)),
);
my %call = (
    "bar.sync 0" => "__syncthreads()", "membar.gl" => "__threadfence()", "membar.cta" => "__threadfence_block()",
    "membar.sys" => "__threadfence_system()", trap => "__trap()",
);

# What an asm statement does, in C; nothing: that is not known. $text: from the word asm to the bracket that closes it.
sub ptx_in_c {
    my ($strings, $rest) = $_[0] =~ /^\w+\s*(?:\w+\s*)?\(\s*((?:$quoted\s*)+)(.*)\)\s*\z/s or return undef;
    my $ptx = join "", $strings =~ /"((?:\\.|[^"\\])*)"/g;
    $ptx =~ s/\\[nt]/ /g;
    $ptx =~ s/%%/%/g;
    $ptx =~ s/^[\s{]+|[\s;}]+$//g;
    $ptx =~ s/\s+/ /g;
    my ($to, $from) = $rest =~ /^:\s*(?:"=[rl]"\s*$bracket)?\s*(?::\s*(?:"[rl]"\s*$bracket)?\s*(?::.*)?)?\z/s;
    return undef if $rest !~ /^\s*\z/ && $rest !~ /^:/;
    return $call{$ptx} if defined $call{$ptx} && !defined $to && !defined $from;
    return "($to = $register{$1})" if defined $to && !defined $from && $ptx =~ /^mov\.[usb](?:32|64) %0, %([\w.]+)$/ && defined $register{$1};
    return "sim_same_bits($to, $from)" if defined $to && defined $from && $ptx =~ /^cvta(?:\.to)?\.(?:global|shared|local|const)\.u64 %0, %1$/;
    return "__nanosleep($from)" if !defined $to && defined $from && $ptx =~ /^nanosleep\.u32 %0$/;
    return undef;
}
1;
