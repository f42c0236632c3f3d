# The texts tell the truth: figures, tables, listings and outputs are what `make report` writes, links lead somewhere, formulas are
# closed. And they keep their shape: pages of a bearable length, an answer to every question, kernels that are read top to bottom.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Spec::Functions 'abs2rel';
use lib 'common/tests', 'common/pages';
use Linrec;
use Texts;
use Test::More;

# the most words that a chapter's page may have, unless its Makefile says WORDS; listings, outputs, tables and code do not count
my $most_words = 4500;
my ($most_lines, $most_headers) = (150, 2); # of a file with a kernel
# fused_roles: two roles, each a loop of its own; relay: a chunk is one function, for rounds in which all is there and for others; state_passing_backward: all gradients of a layer in one kernel, its walks stand in walks.cuh
my %more_lines = ('09_selective_scan/kernels/warp_specialized.cu' => 241, '09_selective_scan/kernels/state_passing.cu' => 168, '09_selective_scan/kernels/state_passing_backward.cu' => 165);
# in 09 it is the test data, which are made as the recurrence's are (data.h, host_device.h), and the chunk backward, its walks, what two roles share, and 05's question for shared memory; in 10 also the oracle, which runs on the device
my %more_headers = ('08_lookback' => 3, '09_selective_scan' => 7, '10_chunk_state' => 6); # 04's scan of a warp and 06's direction stay as they are; the words between blocks are its own

# The text without what stands between markers and without blocks of code.
sub without_blocks {
    my ($text) = @_;
    $text =~ s{<!-- (?:listing|table): .*? -->.*?<!-- end -->}{}gs;
    $text =~ s{^[ ]*(```+).*?^[ ]*\1$}{}gms;
    return $text;
}

# The words of a page: a formula and a figure are one word each.
sub words_of {
    my $text = without_blocks($_[0]);
    $text =~ s/<!--.*?-->//gs;
    $text =~ s/<[^<>\n]+>//g;
    $text =~ s/^\|.*\n//mg;
    $text =~ s/\$\$.*?\$\$|\$[^\$]+\$/ formula /gs;
    $text =~ s/\]\([^)]*\)/]/g;
    return scalar(() = $text =~ /\S*\w\S*/g);
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

my @written = (backend() eq 'sim' ? () : '--no-outputs'); # the outputs are the simulator's
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

    if ($path =~ m{^(\d\d_\w+)/}) {
        my ($words, $most) = (words_of($text), says($1, 'WORDS') || $most_words);
        ok($words < $most, "$path: $words words, under $most");
    }
}

# A kernel is read top to bottom: few lines, and few headers that must be known, however they are reached. What every chapter has does
# not count: linrec.h and the header of the chapter's table.
sub headers_of {
    my ($path, $known) = @_;
    my ($folder, $chapter) = $path =~ m{^((?:\d\d_(\w+))?.*/)};
    for my $included (read_text($path) =~ /^#\s*include "([^"]+)"/mg) {
        next if $included =~ m{(^|/)linrec\.h$} || $included eq ($chapter // "") . ".h";
        my ($header) = grep { -f } "$folder$included", $included, "common/$included";
        $header = abs2rel(abs_path($header // $included));
        headers_of($header, $known) if !$known->{$header}++ && -f $header;
    }
    return sort keys %$known;
}

for my $path (sort grep { read_text($_) =~ /__global__/ } glob '[0-9][0-9]_*/*.cu [0-9][0-9]_*/*.cuh') {
    like($path, qr/\.cu$/, "$path: a kernel stands in a file of its own, not in a header");
    next if $path !~ /\.cu$/;
    my $lines = () = read_text($path) =~ /\n/g;
    my $limit = $more_lines{$path} // $most_lines;
    cmp_ok($lines, '<=', $limit, "$path has at most $limit lines");
    my @headers = headers_of($path, {});
    my $most = $more_headers{ $path =~ s{/.*}{}r } // $most_headers;
    cmp_ok(@headers, '<=', $most, "$path needs at most $most headers") or diag("@headers");
}

done_testing;
