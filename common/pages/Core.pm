# SPDX-License-Identifier: MIT
# Core.pm - the core of the course: the pages that everybody reads, in their order, and how long each takes. The order stands
# in README.md, in the marker of its list.
package Core;
use strict;
use warnings;
use Texts;

use constant FRONT => 'README.md';

# What belongs between a marker and its end: the list of the pages, or, on one of them, where the reader is and what is next.
sub core {
    my ($request, undef, $text) = @_;
    my ($what, @listed) = split ' ', $request;
    return minutes(read_text($text)) if $request eq 'minutes';
    return hours() if $request eq 'hours';
    my @pages = $what eq 'list' ? @listed : pages();
    -f or stop("there is no text $_") for @pages;
    return list($text, @pages) if $what eq 'list';
    @listed == 0 && $what =~ /^(here|next)$/ or stop('the core has list PAGE..., here, next, minutes and hours');
    my ($at) = grep { $pages[$_] eq $text } 0 .. $#pages;
    defined $at or stop('the list in ' . FRONT . ' does not have this page');
    return here($text, $at, scalar @pages) if $what eq 'here';
    return $at < $#pages ? "\nNext: " . link_of($text, $pages[$at + 1]) . ".\n\n"
        : "\nThis was the last page of the core. For more, see [the table of the chapters]("
            . link_to($text, FRONT) . "#the-chapters).\n\n";
}

# The pages of the core, in their order.
sub pages {
    my ($listed) = read_text(FRONT) =~ /^<!-- core: list (.*?) -->/ms or stop(FRONT . ' has no list of the core');
    return split ' ', $listed;
}

sub link_of {
    my ($text, $page) = @_;
    my ($title) = read_text($page) =~ /^# (.*)/m or stop("$page has no heading");
    return "[$title](" . link_to($text, $page) . ')';
}

sub list {
    my ($text, @pages) = @_;
    my ($list, $all) = ('', 0);
    for my $i (0 .. $#pages) {
        my $minutes = minutes(read_text($pages[$i]));
        $all += $minutes;
        $list .= $i + 1 . '. ' . link_of($text, $pages[$i]) . ", $minutes minute" . ($minutes == 1 ? '' : 's') . "\n";
    }
    return "\n$list\nIn all $all minutes of reading, at " . WORDS_A_MINUTE . " words a minute. Listings, tables and exercises come on top.\n\n";
}

# How many hours all pages take with their exercises: those in a page's table, whose minutes judges/NAME.txt says.
sub hours {
    my %exercises;
    for my $path (glob '[0-9][0-9]_*/exercises/judges/*.txt') {
        my ($chapter) = $path =~ /^(\d\d)/;
        my %data = read_text($path) =~ /^(number|minutes): *(\d+)/mg;
        $exercises{"$chapter.$data{number}"} = $data{minutes} // 0 if defined $data{number};
    }
    my $all = 0;
    for my $text (map { read_text($_) } pages()) {
        $all += $_ for minutes($text), map { $exercises{$_} // stop("no judges/NAME.txt is exercise $_") } $text =~ /^\| (\d\d\.\d+) /mg;
    }
    return int($all / 60 + 0.5);
}

sub here {
    my ($text, $at, $all) = @_;
    my $minutes = minutes(read_text($text));
    return "\n*Page ${\($at + 1)} of $all of [the core](" . link_to($text, FRONT)
        . "#the-core). About $minutes minute${\($minutes == 1 ? '' : 's')} to read; listings and exercises come on top.*\n\n";
}

1;
