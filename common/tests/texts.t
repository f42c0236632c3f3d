# SPDX-License-Identifier: MIT
# The texts tell the truth: figures, tables, listings and outputs are what `make report` writes, links lead somewhere, formulas are
# closed. And every question has its answer.
use strict;
use warnings;
use lib 'common/tests', 'common/pages';
use Linrec;
use Texts;
use Test::More;

# The text without what stands between markers and without blocks of code.
sub without_blocks {
    my ($text) = @_;
    $text =~ s{<!-- (?:listing|table): .*? -->.*?<!-- end -->}{}gs;
    $text =~ s{^[ ]*(```+).*?^[ ]*\1$}{}gms;
    return $text;
}

# What GitHub makes of a page's headings, to be linked to as page.md#heading.
sub anchors {
    my $text = without_blocks($_[0]);
    my (%anchors, %seen);
    for my $heading ($text =~ /^#+ +(.*?)(?: +#+)? *$/mg) {
        $heading =~ s/!?\[([^\]]*)\]\([^)]*\)/$1/g;
        $heading =~ s/(?<!\w)[*_]+(?=\S)|(?<=\S)[*_]+(?!\w)//g unless $heading =~ /`/;
        (my $slug = lc $heading) =~ s/[^\w\- ]//g;
        $slug =~ tr/ /-/;
        $anchors{ $slug . ($seen{$slug}++ ? '-' . ($seen{$slug} - 1) : '') } = 1;
    }
    $anchors{$_} = 1 for $text =~ /<a (?:id|name)="([^"]+)"/g;
    return \%anchors;
}

my @written = ('--no-outputs'); # long/outputs.t runs what the texts show the outputs of
my @texts = @ARGV ? @ARGV : texts(); # prove common/tests/texts.t :: README.md
my ($status, $out, $err) = run_program('perl', 'common/pages/report.pl', '--check', @written, @texts);
is($err, '', 'report.pl runs');
diag($_) for grep { /^\(/ } split /\n/, $out;

for my $path (@texts) {
    my $text = read_text($path);
    is(join('', grep { /^\Q$path\E: / } split /^/, $out), '', "$path is what make report writes");

    my ($folder) = $path =~ m{^(.*/)?};
    (my $plain = without_blocks($text)) =~ s/`[^`]+`/code/g;
    for my $link ($plain =~ /\]\(\s*([^)\s]+)[^)]*\)/g, $plain =~ /(?:src|href)="([^"]+)"/g) {
        next if $link =~ /^(https?|mailto):/;
        my ($file, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
        my $target = $file eq '' ? $path : ($folder // '') . $file;
        $target =~ s{[^/]+/\.\./}{} while $target =~ m{(?<!\.\.)(?<!\.\./)\b[^/.][^/]*/\.\./};
        ok(-e $target, "$path links to $link") or next;
        ok(anchors(read_text($target))->{$anchor}, "$path links to a heading: $link") if defined $anchor && $target =~ /\.md$/;
    }
    my $dollars = () = $plain =~ /(?<!\\)\$/g;
    is($dollars % 2, 0, "$path: every formula is closed");
    unlike($text, qr{(?<![\w.~/-])/(work|home|root|Users|mnt|tmp/bash)\b}, "$path names no folder of some machine");

    # questions and, folded, their answers: both are numbered lists
    my $list = qr/(?:^\d+\. .*\n(?:(?!\d+\. |<).+\n|\n+(?=[ ]+\S))*\n*)+/m;
    my (undef, @parts) = split /^(?=While reading\b)/m, $plain;
    for (@parts) {
        my ($asked) = /\A(?:.+\n)+\n($list)/;
        my ($answered) = m{^<details><summary>Answers</summary>\n\n($list)</details>}m;
        my ($questions, $answers) = map { join ' ', ($_ // '') =~ /^(\d+)\. /mg } $asked, $answered;
        like($questions, qr/^1\b/, "$path: what to find while reading is a numbered list");
        is($answers, $questions, "$path: every question has its answer, in a numbered list folded under \"Answers\"");
    }
    my $folded = () = $plain =~ m{<summary>Answers</summary>}g;
    is($folded, @parts, "$path: as many folded answers as lists of questions") if $folded || @parts;
}

done_testing;
