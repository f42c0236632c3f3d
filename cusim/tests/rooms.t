# SPDX-License-Identifier: MIT
# The rooms of the engine (README.md has the map). What a room includes and what its objects link lies in it or below: machine < runtime <
# libraries, and all three announce what happens (machine/announce.h); observe comes above them, and explain above that. No cycle of more than
# three files is in a room, and nothing here leads out of this folder.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Test::More;

my %below = (machine => [], runtime => ['machine'], libraries => [qw(machine runtime)], observe => [qw(machine runtime)], explain => [qw(machine runtime observe)]);

sub room_of { return $_[0] =~ m{^(?:build/)?(\w+)/} ? $1 : '' }
sub may_take { my ($from, $to) = @_; return $from eq $to || grep { $_ eq $to } @{ $below{$from} } }

# ---- includes ----

my @sources = map { glob "$_/*.{h,cpp}" } sort keys %below;
my (@up, %name);
for my $path (@sources) {
    my $room = room_of($path);
    push @{ $name{$1} }, $path if $path =~ m{([^/]+\.h)$};
    for (read_file($path) =~ /^\s*#\s*include\s+"([^"]+)"/mg) {
        my $what = m{^\.\./(.*)} ? $1 : "$room/$_";
        next if $what =~ m{^include/|^counts\.h$};
        push @up, "$path includes $what" if !-e $what || !may_take($room, room_of($what));
    }
}
cmp_ok(scalar @sources, '>', 80, 'the engine is found');
is_deeply(\@up, [], 'no room includes from one that is not below it');
is_deeply([grep { @{ $name{$_} } > 1 } sort keys %name], [], "a header's name exists once");

# ---- what objects link ----

is(system(qw(make -s)), 0, 'the engine is built') or BAIL_OUT('no engine');
my (%defines, %wants);
for my $object (map { s{^}{build/}r =~ s{\.cpp$}{.o}r } grep { /\.cpp$/ } @sources) {
    for (split /\n/, (run_program('nm', $object))[1]) {
        $defines{$1} = $object if /^\S+ [A-TX-Z] (\S+)$/;
        push @{ $wants{$object} }, $1 if /^ +U (\S+)$/;
    }
}
my (%arrows, $count);
for my $from (sort keys %wants) {
    for my $symbol (@{ $wants{$from} }) {
        my $to = $defines{$symbol};
        next if !defined $to || $to eq $from;
        $count += !$arrows{$from}{$to}++;
        push @up, "$from calls $symbol of $to" if !may_take(room_of($from), room_of($to));
    }
}
cmp_ok($count, '>', 150, 'arrows are found');
is_deeply(\@up, [], 'no room links what is not below it');

# Cycles, by Tarjan's algorithm: strongly connected components.
my (%index, %low, %on_stack, @stack, @cycles);
sub visit {
    my ($v) = @_;
    $index{$v} = $low{$v} = keys %index;
    push @stack, $v;
    $on_stack{$v} = 1;
    for my $w (sort keys %{ $arrows{$v} // {} }) {
        visit($w) if !defined $index{$w};
        $low{$v} = $low{$w} if $on_stack{$w} && $low{$w} < $low{$v};
    }
    return if $low{$v} != $index{$v};
    my @cycle;
    do { push @cycle, pop @stack; delete $on_stack{ $cycle[-1] } } while $cycle[-1] ne $v;
    push @cycles, "@cycle" if @cycle > 3;
}
defined $index{$_} or visit($_) for sort keys %arrows;
is_deeply(\@cycles, [], 'no cycle of more than three files');

done_testing;
