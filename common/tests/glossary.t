# SPDX-License-Identifier: MIT
# The glossary has every term that a text introduces. A term stands in italics where it is introduced; what is in italics
# because it is stressed is a word of everybody's, and listed below. prove common/tests/glossary.t :: 05_pipe/few.md
use strict;
use warnings;
use lib 'common/tests', 'common/pages';
use Linrec;
use Texts;
use Test::More;

use constant GLOSSARY => 'docs/glossary.md';

my %stressed = map { $_ => 1 } split ' ', <<'END';
after all any away back before begun behind below big calls count different earlier every everything faster first forward
from front half here hides higher if in is kept last later lose next no not of on one only other own reach recomputed results same selected
selects shared shifted small starts this three to two use using wait ways what when within without
END

# A term as it is looked up: in small letters, singular.
sub name { return join ' ', map { s/(?<=[^s])s$//r } split ' ', lc $_[0] =~ s/`//gr }

# Each entry's text at its anchor, and its names: its heading, and what stands in italics in it.
my (%name, %entry);
for (split /^(?=### )/m, without_blocks(read_text(GLOSSARY))) {
    my ($heading) = /^### +(.*)/ or next;
    $name{ name($_) } = 1 for $heading, /(?<!\*)\*([^*]+)\*/g;
    my ($anchor) = keys %{ anchors("### $heading\n") };
    $entry{$anchor} = name($_);
}

my $italics = qr/(?<![*\w\\])\*(?![\s*])((?:[^*\s]+\s){0,3}[^*\s]*[^*\s.:,?!])\*(?![*\w])/;
for my $path (@ARGV ? @ARGV : grep { m{^\d\d_|^README|^docs/(?!teach/)} && $_ ne GLOSSARY } texts()) {
    my $text = without_blocks(read_text($path));
    $text =~ s{<!--.*?-->}{}gs;
    $text =~ s{`[^`]+`}{code}g;
    $text =~ s{^## Sources\n.*?(?=^## |\z)}{}gms; # titles
    $text =~ s{^(?:[-+]|\d+\.)? *\*(?!\*).*?\*}{}gm; # what a paragraph or an item begins with is its heading
    $text =~ s{\*\*.*?\*\*}{}gs;

    my (%missing, %elsewhere);
    while ($text =~ /$italics(?:\]\(([^)]*)\))?/g) {
        my ($term, $link) = (join(' ', split ' ', $1), $2 // '');
        if ($link =~ /\bglossary\.md#(.*)/) {
            $elsewhere{$term} = 1 if index($entry{$1} // '', name($term)) < 0;
        } elsif (!$link && !$name{ name($term) } && grep { !$stressed{ lc $_ } } split ' ', $term) {
            $missing{$term} = 1;
        }
    }
    is(join(', ', sort keys %missing), '', "$path: what it introduces has an entry in the glossary");
    is(join(', ', sort keys %elsewhere), '', "$path: what is linked to the glossary is explained there");
}
done_testing;
