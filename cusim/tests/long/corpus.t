#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# corpus.t - the simulator takes the CUDA that people write, and refuses what nvcc refuses: the programs of tests/corpus. The
# first line of each says what must come of it:
#
#   // right                      it prints "right", in every order
#   // refused by both: WORDS     the simulator's compiler says that of the line marked HERE; nvcc refuses it, too
#   // refused here: WORDS        nvcc takes it
#   // stopped: WORDS             it compiles; when it runs, the simulator says that of the line marked HERE
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";
use Testing;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CUSIM_SCHEDULE CUSIM_RESIDENT)};

my $folder = 'tests/corpus';
my @names  = map { m{(\w+)\.cu$} } sort glob "$folder/" . ($ENV{CORPUS} // "*") . ".cu"; # CORPUS=cg_*: some of them
is(build_programs(), 1, 'the simulator is built') or BAIL_OUT('no simulator');
my @engine = 'build/cusim.o';
my @nvcc = split ' ', $ENV{NVCC} // (grep { -x } map { "$_/nvcc" } split(/:/, $ENV{PATH}), '/usr/local/cuda/bin')[0] // '';

for my $name (@names) {
    my $source = "$folder/$name.cu";
    my ($kind, $words) = read_file($source) =~ m{\A// (right|refused by both|refused here|stopped)(?:: (.*))?\n} or die "$source: first line";
    my ($object, $program) = (scratch("$name.o"), scratch($name));
    my $here = line_of($source, 'HERE');
    $words =~ s/\{there\}/$source:@{[line_of($source, 'THERE')]}/ if defined $words;

    my ($status, $out, $err) = run_program('compile/cusim', '-c', $source, '-o', $object, '-Wall', '-Wextra', '-Werror');
    if ($kind =~ /^refused/) {
        my $place = defined $here ? qr/^\Q$source\E:$here:/m : qr/:\d+:/;
        ok($status ne 0 && !-e $object && $err =~ /$place(?:\d+:)?.*? error: .*\Q$words\E/, "$name: refused") or diag("status $status\n$err");
    } else {
        my $built = $status eq 0 && (run_program('g++', '-no-pie', '-o', $program, $object, @engine))[0] eq 0;
        for my $order ($kind eq 'right' ? qw(warp reverse random:1) : 'warp') {
            ($status, $out, $err) = run_program({ CUSIM_SCHEDULE => $order }, $program) if $built;
            my $good = $kind eq 'right' ? $status eq 0 && $out eq "right\n" && $err eq ''
                : $status eq 1 && $err =~ /\A\Q$source\E:$here: error: (?:kernel|host code:) [^\n]*\Q$words\E[^\n]*\n\z/;
            ok($built && $good, "$name: $kind, order $order") or diag("status $status\n$out$err");
        }
    }
    unlink $object, $program;
}

# the page on the simulator names every device function that its headers offer
my $page = read_file('docs/simulator.md');
for my $header (glob 'include/cuda_runtime.h include/sim_math.h include/cuda_pipeline.h include/sim_cp_async.h include/sim_tma.h include/sim_fast_math.h include/sim_named_barrier.h include/sim_cluster.h') {
    my %offers;
    $offers{$_} = 1 for read_file($header) =~ /\b((?:__(?!attribute__|builtin_|align__|launch_bounds__)[a-z]\w*?|atomic[A-Z]\w*|mbarrier_\w+|named_barrier_\w+|cluster_\w+|tma_\w+|cp_async_\w+|l2_\w+|fast_\w+))\s*\((?=[^;]*?\bSIM_AT|[^;{]*\)\s*\{)/g;
    $offers{$_} = 1 for read_file($header) =~ /^(?:SIM_(?!VECTOR|LOAD\(name|ENUM|NAME)[A-Z_]+\(|#define )((?:__[a-z]\w*f|__[a-z]\w*|atomic\w+))\b(?=[,)]| [a-z0-9]+f$)/mg;
    my @missing = grep { $page !~ /`\Q$_\E`/ } sort keys %offers;
    cmp_ok(scalar keys %offers, '>', $header =~ /runtime/ ? 60 : $header =~ /cp_async/ ? 0 : 1, "$header: functions found");
    is("@missing", '', "$header: the page names all of them");
}

# nvcc, where it is: it stops before it makes code for a chip. Its pass for the device takes half the time of both, and reads the host's code, too;
# a few things only the host's refuses
SKIP: {
    skip 'no nvcc here', scalar @names if !@nvcc;
    for my $name (@names) {
        my $refused = read_file("$folder/$name.cu") =~ m{\A// refused by both};
        my ($status, $err);
        for my $passes ('-ptx', $refused ? '-cuda' : ()) {
            ($status, undef, $err) = run_program(@nvcc, '-std=c++17', '-arch=compute_90', '-c', $passes, '-o', scratch('out'), "$folder/$name.cu");
            last if $status ne 0;
        }
        if ($err =~ /nccl\.h: No such file/) {
            note("$name: NCCL is not here");
            next;
        }
        ok($refused ? $status ne 0 : $status eq 0, "$name: nvcc " . ($refused ? 'refuses it' : 'takes it')) or diag($err);
    }
}
done_testing;

# Number of the line with that mark, undef: there is none.
sub line_of {
    my ($path, $mark) = @_;
    my @lines = split /\n/, read_file($path);
    return (grep { $lines[$_ - 1] =~ m{// $mark$} } 1 .. @lines)[0];
}
