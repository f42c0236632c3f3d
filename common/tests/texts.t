# SPDX-License-Identifier: MIT
# The texts tell the truth: figures, tables, listings and outputs are what `make report` writes, links lead somewhere, formulas are
# closed. The lists of kernels are what the programs list. And every question has its answer.
use strict;
use warnings;
use lib 'common/tests', 'common/pages';
use Linrec;
use Output;
use Texts;
use Test::More;

my @written = ('--no-outputs'); # long/outputs.t runs what the texts show the outputs of
my @texts = @ARGV ? @ARGV : texts(); # prove common/tests/texts.t :: README.md
my ($status, $out, $err) = run_program('perl', 'common/pages/report.pl', '--check', @written, @texts);
is($err, '', 'report.pl runs');
diag($_) for grep { /^\(/ } split /\n/, $out;

for my $path (@texts) {
    my $text = read_text($path);
    is(join('', grep { /^\Q$path\E: / } split /^/, $out), '', "$path is what make report writes");

    # a program says at once which kernels it has, and the texts show the simulator's; a chapter may be left out (12_ranks without MPI)
    while (backend() eq 'sim' && $text =~ /^<!-- output: (\S+)( --list\b.*?) -->\n```text\n(.*?)^```/gms) {
        my ($program, $options, $shown) = ($1, $2, $3);
        SKIP: {
            skip("$program is not built", 1) if !-x $program;
            is($shown, eval { Output::output("$program$options", $shown) }, "$path lists the kernels that $program has");
        }
    }

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
    unlike($plain, qr{^ *<!-- (?!end )\w+ -->}m, "$path: no line begins with a value, which would make it a block of HTML");
    my $dollars = () = $plain =~ s/<!--.*?-->//gsr =~ /(?<!\\)\$/g;
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
