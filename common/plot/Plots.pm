# SPDX-License-Identifier: MIT
# Plots.pm - shared by the scripts that draw: gnuplot, if it is there, and the data files that it reads.
package Plots;
use strict;
use warnings;
use Exporter 'import';
use File::Basename 'dirname';
use File::Path 'make_path';
our @EXPORT = qw(has_gnuplot gnuplot for_dark_screens looks write_file);

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

# How the lines of throughput.gp look, from their names. A colour is drawn from a name's letters, so that a kernel has the same one in all
# plots; a chapter's number before its name does not count. Each second line is dashed, and so shows the one that it may lie on.
sub looks {
    my (@hues, @dashes, %drawn);
    for my $name (@_) {
        my $hue = 0;
        $hue = ($hue * 83 + ord) % 257 for split //, $name =~ s/^\d\d_(?!default$)//r; # numbers with which few of the course's names share one
        push @hues, my $shown = $name =~ /^(?:copy|add5?)$/ ? 0 : $hue % 8 + 1;
        push @dashes, $shown ? 1 + (2 * $drawn{$shown}++ + ((@_ - @hues) % 2 ? 0 : 1)) % 5 : $name eq 'copy' ? 3 : 1;
    }
    return (hues => "@hues", dashes => "@dashes");
}

# gnuplot knows one set of colours. This adds to its picture what they become on a dark screen.
my %dark = (
    black => '#e6edf3', gray => '#9da7b3', '  0,   0,   0' => '#e6edf3', '221, 221, 221' => '#30363d', '208, 215, 222' => '#30363d',
    '  0, 114, 178' => '#58a6e6', '158, 202, 225' => '#2f5573', '122,  62, 157' => '#d2a8ff', '140,  86,  75' => '#d9a899',
    ' 89,  99, 110' => '#9da7b3', '213,  94,   0' => '#ff9a57', '  0, 158, 115' => '#3fc79a', ' 85,  85,  85' => '#9da7b3',
);
sub for_dark_screens {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    my $svg = join '', <$file>;
    close $file;
    my $rules = qq(  rect[fill="#ffffff"] { fill: #0d1117; }\n);
    for my $light (sort keys %dark) {
        my $named = $light =~ /\d/ ? "rgb($light)" : $light;
        $rules .= qq(  [$_="$named"] { $_: $dark{$light}; }\n) for grep { $svg =~ /\b$_=["']\Q$named\E["']/ } qw(fill stroke color);
    }
    write_file($path, $svg =~ s{(<svg[^>]*>)}{$1\n<style>\n\@media (prefers-color-scheme: dark) {\n$rules}\n</style>}r);
}
END { print 'drew ', join(', ', @drew), "\n" if @drew }

1;
