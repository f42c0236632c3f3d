#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# ptxas.pl ARCH FILE.ptxas ... - a table of what `ptxas -v` says about every kernel, and how many warps an SM can hold with it.
#
# Warps: what the registers leave room for. Threads and shared memory are a launch's own and can only lower it. Exits with 1 if a kernel
# of a chapter spills.
use strict;
use warnings;

die "usage: $0 ARCH FILE.ptxas ...\n" if @ARGV < 2;
my $arch = shift @ARGV;
my ($chip) = $arch =~ /(\d+)/ or die "$0: $arch is not an architecture, as in sm_90\n";

# warps that an SM holds at once (CUDA C++ Programming Guide, technical specifications per compute capability)
my %max_warps = (75 => 32, 80 => 64, 86 => 48, 87 => 48, 89 => 48, 90 => 64, 100 => 64, 103 => 64, 110 => 48, 120 => 48, 121 => 48);
my $max = $max_warps{$chip};

# A warp's registers come in units of 256, and each quarter of an SM has 16384.
sub warps {
    my ($registers) = @_;
    my $units = int(($registers * 32 + 255) / 256) * 256;
    my $fit = 4 * int(16384 / $units);
    return defined $max && $fit > $max ? $max : $fit;
}

my @kernels;
for my $path (@ARGV) {
    my ($chapter, $file) = $path =~ m{([^/]+)/([^/]+)\.ptxas$} or next;
    open my $in, '<', $path or die "$path: $!\n";
    my %kernel;
    while (<$in>) {
        if (/Compiling entry function '(\S+)'/) { %kernel = (chapter => $chapter, file => $file, name => $1, stack => 0, spills => 0) }
        elsif (/(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads/) { # its own, and of functions that it calls
            $kernel{stack} = $1 if $1 > ($kernel{stack} // 0);
            $kernel{spills} += $2 + $3;
        }
        elsif (/Used (\d+) registers/ && $kernel{name}) {
            $kernel{registers} = $1;
            $kernel{shared} = /(\d+) bytes smem/ ? $1 : 0;
            push @kernels, {%kernel};
            %kernel = ();
        }
    }
}
die "$0: no kernel is reported in @ARGV; build with BACKEND=cuda first\n" if !@kernels;

# names as in the source, without their parameters
my $names = join "\n", map { $_->{name} } @kernels;
my @plain = split /\n/, $names;
if (open my $filt, '-|', "printf '%s\\n' '" . join("' '", @plain) . "' | c++filt 2>/dev/null") {
    my @found = <$filt>;
    chomp @found;
    @plain = @found if @found == @kernels;
}
my $spills = 0;
printf "%-14s %-18s %-44s %9s %6s %6s %6s %5s\n", 'chapter', 'file', 'kernel', 'registers', 'stack', 'spills', 'shared', 'warps';
for my $i (0 .. $#kernels) {
    my $kernel = $kernels[$i];
    my $name = $plain[$i] =~ s/^void //r;
    if ($name =~ /\bcub::/) {
        ($name) = $name =~ /(\w*Kernel)\b/;    # its full name fills a page
        $name = "CUB $name";
    }
    1 while $name =~ s/\(([a-z_]+)\)(\d+)/$2/;    # (int)4
    $name =~ s/\((?!anonymous).*//;
    my $spilled = $kernel->{spills};
    my $foreign = $name =~ /^CUB/;
    $spills++ if $spilled && !$foreign;
    printf "%-14s %-18s %-44s %9d %6d %6d %6d %5d%s\n", @$kernel{qw(chapter file)}, $name, @$kernel{qw(registers stack)}, $spilled,
        $kernel->{shared}, warps($kernel->{registers}), $spilled ? '  SPILLS' : '';
}
printf "\n%s. Stack, spills (stored and loaded) and shared: bytes, of a thread and of a block. Warps: that an SM can hold with these registers%s.\n",
    $arch, defined $max ? ", of $max" : '';
print $spills ? "$spills kernels spill registers\n" : "no kernel spills a register\n";
exit($spills ? 1 : 0);
