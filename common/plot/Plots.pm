# SPDX-License-Identifier: MIT
# Plots.pm - shared by the scripts that draw: gnuplot, if it is there, and the data files that it reads.
package Plots;
use strict;
use warnings;
use Exporter 'import';
use File::Basename 'dirname';
use File::Path 'make_path';
our @EXPORT = qw(has_gnuplot gnuplot write_file);

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
    push @drew, $out if $all{term} ne 'dumb';
}
END { print 'drew ', join(', ', @drew), "\n" if @drew }

1;
