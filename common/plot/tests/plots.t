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
    return map { (split ' ', $looks{$_})[$at] } qw(hues dashes);
}
my @one = look('prefetch', qw(copy add float4 prefetch default));
my @other = look('prefetch', qw(copy add5 two_pass prefetch async flat per_block default));
is($one[0], $other[0], 'a kernel has the same colour in another plot');
is((look('03_shared', qw(03_shared 05_default)))[0], (look('shared', qw(serial shared)))[0], "with its chapter's number, too");
is_deeply([look('copy', qw(copy add)), look('add', qw(copy add))], [0, 3, 0, 1], 'the baselines have none');
my @ladder = qw(copy add 02_full_blocks 03_shared 04_to_block cub_by_key cub_block_scan 05_default 06_default);
my %looks = map { join(' ', look($_, @ladder)) => 1 } @ladder;
is(scalar keys %looks, scalar @ladder, 'all lines of the ladder can be told apart');
my @defaults = map { (look($_, @ladder))[1] } qw(05_default 06_default);
isnt($defaults[0], $defaults[1], 'of two neighbours one is dashed');

my $picture = write_file(scratch('picture.svg'), q{<svg><rect fill="#ffffff"/><path stroke='rgb(  0, 114, 178)'/><path stroke='rgb(1, 2, 3)'/></svg>});
Plots::for_dark_screens($picture);
like(read_file($picture), qr/^<svg>\n<style>\n\@media \(prefers-color-scheme: dark\) \{\n  rect\[fill="#ffffff"\] .*\n  \[stroke="rgb\(  0, 114, 178\)"\] \{ stroke: #58a6e6; \}\n\}\n<\/style><rect/,
    'a picture says what its colours become on a dark screen');

done_testing;
