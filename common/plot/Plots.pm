# SPDX-License-Identifier: MIT
# Plots.pm - shared by the scripts that draw: gnuplot, if it is there, the data files that it reads, and the colours.
package Plots;
use strict;
use warnings;
use Exporter 'import';
use File::Basename 'dirname';
use File::Path 'make_path';
our @EXPORT = qw(colour has_gnuplot gnuplot for_dark_screens looks write_file);

$ENV{LC_ALL} = 'C'; # in some languages 0.5 is written 0,5

sub has_gnuplot { return grep { -x "$_/gnuplot" } split /:/, $ENV{PATH} // '' }

sub write_file {
    my ($path, @text) = @_;
    make_path(dirname($path));
    open my $file, '>', $path or die "$path: $!\n";
    print $file @text;
    close $file or die "$path: $!\n";
}

# Draws: the script, the picture it writes, and its settings, name => text or number. With term => 'dumb' it draws in the terminal;
# else the pictures are named at the end, in one line.
my @drew;
sub gnuplot {
    my ($script, $out, %settings) = @_;
    my %all = (out => $out, term => 'svg', %settings);
    my $text = join '; ', map { "$_=" . ($all{$_} =~ /^-?\d+$/ ? $all{$_} : "'" . $all{$_} =~ s/'/''/gr . "'") } sort keys %all;
    system('gnuplot', '-e', $text, $script) == 0 or die "gnuplot could not draw $out from $script\n";
    return if $all{term} eq 'dumb';
    for_dark_screens($out);
    push @drew, $out;
}

# The colours of all plots, from colours.txt: their names in its order, light and dark by name, gnuplot's point type by name; and the
# kernels that have one of their own.
my %point = (circle => 7, square => 5, triangle => 9, wedge => 11, diamond => 13, star => 3, plus => 1, cross => 2);
my (@names, %light, %dark, %shape, %own);
open my $colours, '<', dirname(__FILE__) . '/colours.txt' or die "common/plot/colours.txt: $!\n";
while (<$colours>) {
    if (/^(\w+) += +(\w+)$/) {
        $own{$1} = $2;
    } elsif (/^(\w+) +(#\w{6}) +(#\w{6}) +(\w+)$/) {
        push @names, $1;
        ($light{$1}, $dark{$1}, $shape{$1}) = ($2, $3, $point{$4});
    }
}
close $colours;
my @hues = grep { !/^(?:paper|ink|soft|faint|pale)$/ } @names;
sub colour { return $light{ $_[0] } // die "common/plot/colours.txt has no colour $_[0]\n" }

# How the lines of throughput.gp look, from their names: a kernel has the same colour in all plots, and a chapter's number before its
# name does not count. Each second line is dashed, and so shows the one that it may lie on.
sub looks {
    my (@colours, @points, @dashes, %drawn);
    for my $name (@_) {
        my $plain = $name =~ s/^\d\d_(?!default$)//r;
        my $hue = 0;
        $hue = ($hue * 83 + ord) % 257 for split //, $plain; # numbers with which few of the course's names share one
        my $colour = $own{$plain} // $hues[$hue % @hues];
        my $baseline = $name =~ /^(?:copy|add5?)$/;
        push @colours, $light{$colour};
        push @points, $baseline ? 0 : $shape{$colour};
        push @dashes, !$baseline ? 1 + (2 * $drawn{$colour}++ + ((@_ - @colours) % 2 ? 0 : 1)) % 5 : $name eq 'copy' ? 3 : 1;
    }
    return (colours => "@colours", points => "@points", dashes => "@dashes");
}

# gnuplot knows one set of colours. This adds to its picture what they become on a dark screen.
my %on_dark = (black => $dark{ink}, gray => $dark{soft}, '  0,   0,   0' => $dark{ink},
    map { join(', ', map { sprintf '%3d', hex } $light{$_} =~ /\w\w/g) => $dark{$_} } @names);
sub for_dark_screens {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    my $svg = join '', <$file>;
    close $file;
    $svg =~ s{rgb\((\d+),(\d+),(\d+)\)}{sprintf 'rgb(%3d, %3d, %3d)', $1, $2, $3}ge; # gnuplot writes a text's colour so, and a line's with spaces
    my $rules = qq(  rect[fill="#ffffff"] { fill: #0d1117; }\n);
    for my $light (sort keys %on_dark) {
        my $named = $light =~ /\d/ ? "rgb($light)" : $light;
        $rules .= qq(  [$_="$named"] { $_: $on_dark{$light}; }\n) for grep { $svg =~ /\b$_=["']\Q$named\E["']/ } qw(fill stroke color);
    }
    write_file($path, $svg =~ s{(<svg[^>]*>)}{$1\n<style>\n\@media (prefers-color-scheme: dark) {\n$rules}\n</style>}r);
}
END { print 'drew ', join(', ', @drew), "\n" if @drew }

1;
