#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# slides.pl - writes slides for lectures: docs/teach/slides/NN.md as build/slides/NN.html, made by pandoc. Each is one file
# with its pictures in it, and asks nobody for anything: it can be carried to any machine that has a browser. slides.html
# is what surrounds them; its last lines are the keys.
#
# Run from the repository's root (make slides). In a text the first heading begins the title, and each second heading a
# slide. Listings and tables stand between markers, as in every text (report.pl).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..", $FindBin::Bin;
use Cwd 'getcwd';
use File::Basename;
use File::Path 'make_path';
use File::Temp 'tempdir';
use List::Util 'min';
use Labels;
use Texts;

use constant { SLIDES => 'build/slides', TEMPLATE => "$FindBin::Bin/slides.html" };

# The smallest label that can be read from the last row, in pixels of a slide of 1280 x 720, and the room that a picture has below a heading;
# where there is text beside it, the text takes TEXT of the height.
use constant { LABEL => 18, WIDTH => 1248, HEIGHT => 616, TEXT => 150 };

sub refuse { print STDERR "$_[0]\n"; exit 2 }

# ---- pictures whose labels would be too small ----

my $parts = tempdir(CLEANUP => 1); # what is cut out of them, until pandoc has taken it

# How many windows, and where the first and each further one begins: they overlap, so that all are as large as may be.
sub windows {
    my ($length, $window) = @_;
    return 0 if $length <= $window;
    my $count = int($length / $window) + 1;
    return map { $_ * ($length - $window) / ($count - 1) } 0 .. $count - 1;
}

# The slides behind one with a picture, if its labels are too small there: the picture from closer by, in parts if need be.
sub closer {
    my ($slide, $heading, $alt, $path, $from) = @_;
    my $svg = -e "$from/$path" ? read_text("$from/$path") : return ''; # pandoc says what is missing
    my ($width, $height, $smallest) = size_of($svg) or return '';
    my $beside = $slide =~ s/^## .*\n|^!\[.*\n//mgr =~ /\S/ ? TEXT : 0;
    my $scale = LABEL / $smallest;
    return '' if $width * $scale <= WIDTH && $height * $scale <= HEIGHT - $beside;
    my ($wide, $high) = map { min($_->[0], $_->[1] / $scale) } [$width, WIDTH], [$height, HEIGHT];
    my @windows = map { my $y = $_; map { [$_, $y] } windows($width, $wide) } windows($height, $high);
    my ($slides, $part) = ('', 0);
    for my $window (@windows) {
        my $name = sprintf '%s/%s_%d.svg', $parts, $path =~ s{^[./]*}{}r =~ tr{/}{_}r =~ s/\.svg$//r, ++$part;
        my $view = sprintf 'viewBox="%.1f %.1f %.1f %.1f"', @$window, $wide, $high;
        my $cut = $svg =~ s/(<svg[^>]*?)\bviewBox="[^"]*"/$1$view/r;
        $cut =~ s/(<svg[^>]*?)\b$_->[0]="[^"]*"/$1$_->[0]="$_->[1]"/ for [width => $wide], [height => $high];
        open my $out, '>', $name or refuse("cannot write $name: $!");
        print $out $cut;
        close $out or refuse("cannot write $name: $!");
        my $which = @windows > 1 ? sprintf ' (part %d of %d)', $part, scalar @windows : '';
        $slides .= "## $heading: closer$which\n\n![$alt$which]($name)\n\n";
    }
    return $slides;
}

# A text whose pictures can all be read.
sub with_closer {
    my ($text, $from) = @_;
    return join '', map {
        my $slide = $_;
        my ($heading) = $slide =~ /\A## (.+)$/m;
        my ($alt, $path) = $slide =~ /^!\[(.*)\]\(([^()\s]+\.svg)\)$/m;
        $slide . (defined $heading && defined $path ? closer($slide, $heading, $alt, $path, $from) : '');
    } split /^(?=## )/m, $text;
}

my @decks = sort glob 'docs/teach/slides/*.md';
refuse("usage: $0") if @ARGV;
refuse('There are no slides here: docs/teach/slides has them, and a repository that was written for students has not.') if !@decks;
`pandoc --list-extensions=gfm 2> /dev/null` =~ /tex_math_dollars/
    or refuse('The slides are made by pandoc 2.10 or later, which is not here: install pandoc (make setup SITE=1 does).');
make_path(SLIDES, { error => \my $failed });
refuse(join ': ', 'cannot make a folder for the slides', %{ $failed->[0] }) if @$failed;

for my $deck (@decks) {
    my $text = read_text($deck);
    my ($title) = $text =~ /\A# (.+)$/m or refuse("$deck does not begin with a title: # ...");
    $text =~ s/<!--.*?-->//gs;
    $text =~ s{(?<!!)\[([^\[\]]*)\]\((?!https?:)[^()\s]*\)}{$1}g; # what they link to is not carried along
    my ($to, $from) = (getcwd() . '/' . SLIDES . '/' . basename($deck, '.md') . '.html', dirname($deck));
    $text = with_closer($text, $from);
    my @how = ('--from=gfm+tex_math_dollars', '--to=dzslides', '--slide-level=2', '--mathml', '--self-contained',
        '--template=' . TEMPLATE, '--metadata=pagetitle=slides', "--output=$to.partial");
    # pandoc finds pictures from where it runs
    open my $pandoc, '|-', 'sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', $from, 'pandoc', @how
        or refuse("pandoc cannot be started: $!");
    print $pandoc $text;
    close $pandoc or refuse("$deck: pandoc cannot convert it");
    my $html = read_text("$to.partial") =~ s/\{\{title\}\}/$title/r; # not by pandoc, which takes arguments in the locale's letters
    open my $out, '>', "$to.partial" or refuse("cannot write $to: $!");
    print $out $html;
    close $out && rename "$to.partial", $to or refuse("cannot write $to: $!");
}
print SLIDES, '/', basename($decks[0], '.md'), '.html to ', basename($decks[-1], '.md'), '.html: slides for ', scalar @decks,
    " sessions (arrows turn them; printed, each is a page)\n";
