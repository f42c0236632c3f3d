# SPDX-License-Identifier: MIT
# Plots.pm: a kernel has its colour in all plots, lines that lie on each other can be told apart, and pictures follow a dark screen.
use strict;
use warnings;
use lib 'common/plot', 'common/base';
use Plots ();
use Run;
use Test::More;

sub look { # of a name in a plot of such names
    my ($name, @names) = @_;
    my %looks = Plots::looks(@names);
    my ($at) = grep { $names[$_] eq $name } 0 .. $#names;
    return map { (split ' ', $looks{$_})[$at] } qw(colours points dashes);
}
my @one = look('prefetch', qw(copy add float4 prefetch default));
my @other = look('prefetch', qw(copy add5 two_pass prefetch async flat per_block default));
is($one[0], $other[0], 'a kernel has the same colour in another plot');
is((look('03_shared', qw(03_shared 05_default)))[0], (look('shared', qw(serial shared)))[0], "with its chapter's number, too");
is_deeply([look('copy', qw(copy add)), look('add', qw(copy add))], ['#59636e', 0, 3, '#1f2328', 0, 1], 'the baselines are grey and black');
my @ladder = qw(copy add 02_full_blocks 03_shared 04_to_block cub_by_key cub_block_scan 05_default 06_default);
my %looks = map { join(' ', look($_, @ladder)) => 1 } @ladder;
is(scalar keys %looks, scalar @ladder, 'all lines of the ladder can be told apart');
my @defaults = map { (look($_, @ladder))[2] } qw(05_default 06_default);
isnt($defaults[0], $defaults[1], 'of two neighbours one is dashed');

is((look('05_default', @ladder))[0], Plots::colour('orange'), 'a kernel that is named in colours.txt has that colour');

# No plot has a colour of its own. Under and over white numbers, which stay white, there are three more.
my %known = map { lc, 1 } '#0070b0', '#c84f00', '#000000', read_file('common/plot/colours.txt') =~ /#\w{6}/g;
for my $script (glob '{common/plot/*.gp,*/plots/*.gp,*/figures/*.gp,07_bench/*.pl,07_bench/figures.py,14_chunk_product/ladders.pl}') {
    my @own = grep { !$known{ lc $_ } } read_file($script) =~ /#[0-9a-fA-F]{6}\b/g;
    is("@own", '', "$script draws with the course's colours");
}

my $picture = write_file(scratch('picture.svg'), q{<svg><rect fill="#ffffff"/><path stroke='rgb(  0, 114, 178)'/><text fill='rgb(89,99,110)'/><path stroke='rgb(1, 2, 3)'/></svg>});
Plots::for_dark_screens($picture);
like(read_file($picture), qr/^<svg>\n<style>\n\@media \(prefers-color-scheme: dark\) \{\n  rect\[fill="#ffffff"\] .*\n  \[stroke="rgb\(  0, 114, 178\)"\] \{ stroke: #58a6e6; \}\n  \[fill="rgb\( 89,  99, 110\)"\] \{ fill: #9da7b3; \}\n\}\n<\/style><rect/,
    'a picture says what its colours become on a dark screen');

done_testing;
