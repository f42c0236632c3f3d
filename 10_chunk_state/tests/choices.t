# SPDX-License-Identifier: MIT
# Chapter 10: the default takes what was fastest when it was last recorded, in each type and direction, with TMA and without; what a chip or a build
# cannot do is not taken; a shape that a chip's shared memory does not hold is computed another way.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

delete @ENV{qw(CUSIM_SCHEDULE CUSIM_RESIDENT CUSIM_CHIP)};
my $p = program('10_chunk_state');
my $choices = extra('tests_choices');

# What the default takes for each of these questions (choices.c has their form).
sub ask {
    my ($settings, $program, @questions) = @_;
    my $path = scratch('questions');
    write_file($path, join '', map { "$_\n" } @questions);
    return split ' ', (run_program($settings, 'sh', '-c', "$program < $path"))[1];
}

# ---- the recordings: nothing that the default may take is faster by more than a twentieth ----

my $recording = read_table(newest('10_chunk_state', device_of_texts()));
my %floats_only = map { /^(\S+) .*\(float32\)/ ? ($1 => 1) : () } own_variants('10_chunk_state');
my %needs = map { /^(\S+) .*needs sm_(\d+)/ ? ($1 => $2) : () } own_variants('10_chunk_state');
my %offered = map { /^(\S+)/ && $1 ne 'default' ? ($1 => 1) : () } own_variants('10_chunk_state');
my @sizes = sizes($recording);
my %times; # by what was measured: variant => its time
for my $row (rows_with($recording, chapter => '10_chunk_state')) {
    next if !$offered{ $row->{variant} } || ($floats_only{ $row->{variant} } && $row->{type} ne 'float32');
    my %size = map { $_ => $row->{$_} } @sizes;
    my $question = join ' ', @$row{qw(direction type)}, @size{qw(batch chunks heads dk dv rank decays)};
    $times{$question}{ $row->{variant} } //= $row->{median_ms}; # exclusive or not: the bytes are the same
}
my @questions = sort keys %times;
ok(@questions >= 30, 'there are recorded shapes to compare with: ' . @questions);
my $clock = 0.0005; # ms: cudaEventElapsedTime tells no smaller differences ("a resolution of around 0.5 microseconds")
my %chips = ('an H200' => [90, 226 << 10], 'an H200 without TMA' => [80, 162 << 10]);
for my $chip (sort keys %chips) {
    my ($arch, $shared) = @{ $chips{$chip} };
    my @taken = ask({}, $choices, map { "$arch $shared 132 $_" } @questions);
    is(scalar @taken, scalar @questions, "$chip: the default takes something for each");
    my $compared = 0;
    for my $i (0 .. $#questions) {
        fail("$questions[$i]: $taken[$i] takes float32 only") if $floats_only{ $taken[$i] } && $questions[$i] !~ / float32 /;
        my %time = %{ $times{ $questions[$i] } };
        delete @time{ grep { ($needs{$_} // 0) > $arch } keys %time };
        my ($best) = sort { $time{$a} <=> $time{$b} } keys %time;
        if (!defined $time{ $taken[$i] }) {
            note("$questions[$i]: $taken[$i] is not recorded");
            next;
        }
        $compared++;
        ok($time{ $taken[$i] } <= 1.05 * $time{$best} || $time{ $taken[$i] } <= $time{$best} + $clock, "$chip, $questions[$i]: $taken[$i] is as fast as $best")
            or diag("$taken[$i] takes $time{$taken[$i]} ms, $best $time{$best} ms");
    }
    ok($compared >= 0.9 * @questions, "$chip: most of what it takes is recorded: $compared of " . @questions);
}

# ---- packed sequences get the kernels with W and Y, in which each block has its own number of chunks ----

for my $case ([0, 'low_rank', 'low_rank'], [4, 'low_rank', 'low_rank'], [16, 'mma', 'mma']) {
    my ($rank, @must_be) = @$case;
    my @asked = map { "90 231424 132 ${_}_packed float32 1 512 8 64 64 $rank 64" } 'forward', 'backward';
    is(join(' ', ask({}, $choices, @asked)), "@must_be", "packed sequences, rank $rank: @must_be");
}
is(join(' ', ask({}, $choices, '75 65536 40 forward_packed float32 1 512 8 64 64 16 64')), 'low_rank', 'packed sequences without tensor cores: low_rank');

# ---- low_rank rounds the states that it computes again: in 16 bits it is taken for those that are given ----

for my $case (qw(low_rank:backward_again:float32 low_rank:backward:bf16 registers:backward_again:bf16 registers:backward_again:fp16)) {
    my ($must_be, $pass, $type) = split ':', $case;
    is(join(' ', ask({}, $choices, "80 165888 108 $pass $type 4 64 16 64 64 0 64")), $must_be, "without TMA $pass in $type: $must_be");
}

# ---- what is not known of a build is not there: the parts that know it are compiled anew, and not told ----

SKIP: {
    skip 'the parts of a program are linked anew for the simulator', 3 if backend() ne 'sim';
    my @asked = ('0 0 0 forward bf16 4 64 16 64 64 0 64', '0 0 0 forward float32 4 64 16 64 64 16 64', '0 0 0 forward bf16 4 64 16 64 64 32 64');
    is(join(' ', ask({}, $choices, @asked)), 'tma mma wgmma', 'as the makefile compiles it, TMA and tensor cores are taken');
    my %anew = map { $_ => scratch(s{.*/}{}r . '.o') } 'common/cuda/gpu_info', '10_chunk_state/kernels/wgmma';
    my $linked = sub {
        my @objects = map { my ($name) = m{build/obj/sim/(.*)\.o$}; my %new = map { $_ => $anew{$_} } @_; $new{$name} // $_ }
            map { glob "build/obj/sim/$_/*.o" } qw(common/base common/cuda common/harness common/linrec 10_chunk_state/operation 10_chunk_state/kernels);
        @objects = grep { !/baselines_cpu/ } @objects;
        my $program = scratch('choices');
        return (run_program('g++', '-no-pie', '-o', $program, 'build/obj/sim/10_chunk_state/tests/programs/choices.o', @objects, 'cusim/build/cusim.o', '-pthread', '-lm'))[0] eq 0 ? $program : undef;
    };
    is((run_program('gcc', qw(-std=c11 -D_GNU_SOURCE -Icusim/include -c common/cuda/gpu_info.c -o), $anew{'common/cuda/gpu_info'}))[0], 0, 'gpu_info.c, not told for what');
    is((run_program('cusim/compile/cusim', '-c', '10_chunk_state/kernels/wgmma.cu', '-o', $anew{'10_chunk_state/kernels/wgmma'}, '-O0', '-Icusim/include', '-DLINREC_ARCH=90'))[0], 0, 'wgmma.cu, for sm_90 and not for sm_90a');
    is(join(' ', ask({}, $linked->('common/cuda/gpu_info'), @asked)), 'registers low_rank low_rank', 'without LINREC_ARCH: neither TMA nor tensor cores');
    is(join(' ', ask({}, $linked->('10_chunk_state/kernels/wgmma'), @asked)), 'tma mma mma', 'without LINREC_SM_90A: the tensor cores as mma has them');
}

# ---- chips with less shared memory ----

SKIP: {
    skip 'other chips are the simulator\'s', 1 if backend() ne 'sim';
    for my $case (['a100', 'forward', 129, 57, 'float32'], ['a100', 'backward', 129, 64, 'bf16'], ['t4', 'forward', 65, 40, 'float32'], ['t4', 'backward', 9, 57, 'float32'],
        ['a100', 'forward', 65, 33, 'float32', 'mma']) {
        my ($chip, $pass, $dk, $rank, $type, $variant) = @$case;
        my @shape = ('--batch', 1, '--chunks', 2, '--heads', 1, '--dk', $dk, '--dv', 3, '--rank', $rank, '--type', $type, '--with', 'all', "--$pass");
        for my $one ($variant // 'low_rank', 'default') {
            is(complaint({ CUSIM_CHIP => $chip }, $p, @shape, '--variant', $one), '', "$chip, $dk rows, rank $rank, $type: $one $pass is right");
        }
    }
    for my $chip ('a100', 't4') {
        is(complaint({ CUSIM_CHIP => $chip }, $p, '--batch', 1, '--chunks', 9, '--heads', 1, '--dk', 3, '--dv', 8, '--rank', $_, '--with', 'all'), '', "$chip, rank $_: all that runs there is right") for 0, 5;
        my @in_16_bits = qw(--backward --type bf16 --batch 1 --chunks 17 --heads 1 --dk 3 --dv 8 --rank 0 --with initial_state);
        is(complaint({ CUSIM_CHIP => $chip }, $p, @in_16_bits), '', "$chip: gradients in bf16");
    }
}

done_testing;
