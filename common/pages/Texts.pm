# SPDX-License-Identifier: MIT
# Texts.pm - the texts of the repository, for report.pl, site.pl and the tests that read them.
package Texts;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(texts read_text stop words link_to without_blocks prose_words minutes anchors WORDS_A_MINUTE);

use constant WORDS_A_MINUTE => 150;

sub texts { return sort glob '*.md docs/*.md docs/teach/*.md docs/teach/*/*.md [0-9][0-9]_*/*.md [0-9][0-9]_*/further/*.md common/*.md common/*/*.md cusim/*.md cusim/docs/*.md cusim/estimate/*.md' }

sub read_text {
    open my $in, '<', $_[0] or die "$_[0]: $!\n";
    local $/;
    return scalar <$in>;
}

# A marker that cannot be followed. report.pl says in which text it stands.
sub stop { die "$_[0]\n" }

# The words of a request, as pairs: key and value, or undef and a word. A value with blanks stands in "..." or, if it is a regular
# expression, in /.../, a word with blanks in '...'.
sub words {
    my ($request) = @_;
    my @words;
    while ($request =~ m{\G\s*(?:(\w+)=(?:"([^"]*)"|(/.*?/)(?=\s|$)|(\S*))|'([^']*)'|(\S+))}gc) {
        push @words, [$1, $2 // $3 // $4 // $5 // $6];
    }
    stop('cannot be read behind "' . substr($request, 0, pos($request) // 0) . '"') if $request !~ /\G\s*$/;
    return @words;
}

# A link from a text to a file: links are relative to the text.
sub link_to {
    my ($text, $path) = @_;
    my @from = split m{/}, $text;
    my @to = split m{/}, $path;
    shift @from, shift @to while @from > 1 && @to > 1 && $from[0] eq $to[0];
    return join "/", ("..") x $#from, @to;
}

# The text without what stands between markers and without blocks of code.
sub without_blocks {
    my ($text) = @_;
    $text =~ s{<!-- (?:listing|table|estimates): .*? -->.*?<!-- end -->}{}gs;
    $text =~ s{^[ ]*(```+).*?^[ ]*\1$}{}gms;
    return $text;
}

# How many words of a text a reader reads from one end to the other: without listings, outputs, tables, what is folded, and without
# exercises and sources. A formula and a piece of code are a word each.
sub prose_words {
    my $text = without_blocks($_[0]);
    $text =~ s{<details>.*?</details>}{}gs;
    $text =~ s{<!-- core: .*? -->.*?<!-- end -->}{}gs;
    $text =~ s{<!--.*?-->}{}gs;
    $text =~ s{^## (?:Exercises?|Further|Sources)\n.*?(?=^## |\z)}{}gms;
    $text =~ s{^[ ]*\|.*$}{}gm;
    $text =~ s{!\[[^\]]*\]\([^)]*\)}{}g;
    $text =~ s{\$\$.*?\$\$|\$[^\$]+\$|`[^`]+`}{code}gs;
    $text =~ s{\]\([^)]*\)}{]}g;
    return scalar grep { /\w/ } split ' ', $text;
}

# How long a text takes to read.
sub minutes { return int(prose_words($_[0]) / WORDS_A_MINUTE + 0.5) || 1 }

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

1;
