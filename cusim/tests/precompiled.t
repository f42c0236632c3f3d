#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# precompiled.t - an image of CUDA's headers changes no object and no message, is taken where it fits, and is not needed where it does not.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Test::More;

my ($image, $first, $second) = map { scratch($_) } qw(headers first.o second.o);
my @cusim = ('perl', 'compile/cusim', '-c', '-Wall');
is_deeply([run_program(@cusim, '-x', 'cu', '/dev/null', '--precompile', '-o', $image)], [0, '', ''], 'an image is made');

# Machine code and lines of an object; its name aside.
sub what_is_in { return join '', map { s/^.*file format.*$//mr } map { (run_program(@$_, $_[0]))[1] =~ s/\Q$_[0]\E//gr } ['objdump', '-dr'], ['readelf', '--debug-dump=decodedline'] }

my $source = 'tests/traffic.cu';
my @with = (@cusim, $source, "--precompiled=$image");
my $is_taken = sub { return scalar(() = (run_program(@with, '-v', '-o', $second, @_))[2] =~ /\.2\.short\.ii$/mg) };
for ([], ['--addresses']) {
    my $name = @$_ ? "@$_" : 'an object';
    run_program(@cusim, $source, '-o', $first, @$_);
    is_deeply([run_program(@with, '-o', $second, @$_)], [0, '', ''], "$name: it is compiled with the image");
    is(what_is_in($second), what_is_in($first), '... and is the same');
}
run_program(@with, '-o', $first, "--addresses=$second");
my $both = what_is_in($second);
run_program(@cusim, $source, '-o', $second, '--addresses');
is($both, what_is_in($second), 'two objects of one call: so is the second one');
is($is_taken->(), 1, 'the image is taken');
is($is_taken->('-DCUDART_IS_OURS', '-D__CUDA_ARCH_LIST__=1', '-include', 'cooperative_groups.h'), 0, 'where other headers come before, it is not');

my $wrong = write_file(scratch('wrong.cu'), "__global__ void k(int *x) { *x = y; }\n");
my @said = run_program(@cusim, $wrong, '-o', $first);
isnt($said[0], 0, 'what does not compile');
is_deeply([run_program(@cusim, $wrong, "--precompiled=$image", '-o', $first)], \@said, '... says the same with it');
is(scalar(() = (run_program(@cusim, $wrong, "--precompiled=$image", '-v', '-o', $first))[2] =~ m{ c\+\+-cpp-output }g), 1, '... and is compiled once');

write_file("$image.0.gch", 'of another compiler');
run_program(@cusim, $source, '-o', $first);
is((run_program(@with, '-o', $second))[0], 0, 'an image that this compiler does not take is passed over');
is(what_is_in($second), what_is_in($first), '... and the object is the same');
done_testing;
