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
use lib "$FindBin::Bin/..";
use Cwd 'getcwd';
use File::Basename;
use File::Path 'make_path';
use Texts;

use constant { SLIDES => 'build/slides', TEMPLATE => "$FindBin::Bin/slides.html" };

sub refuse { print STDERR "$_[0]\n"; exit 2 }

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
