# SPDX-License-Identifier: MIT
# Texts.pm - the texts of the repository, for report.pl and for the test that reads them.
package Texts;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(texts read_text stop words link_to);

sub texts { return sort glob '*.md docs/*.md [0-9][0-9]_*/*.md common/*.md common/*/*.md' }

sub read_text {
    open my $in, '<', $_[0] or die "$_[0]: $!\n";
    local $/;
    return scalar <$in>;
}

# A marker that cannot be followed. report.pl says in which text it stands.
sub stop { die "$_[0]\n" }

# The words of a request, as pairs: key and value, or undef and a word. A value with blanks stands in "..." or, if it is a regular
# expression, in /.../.
sub words {
    my ($request) = @_;
    my @words;
    while ($request =~ m{\G\s*(?:(\w+)=(?:"([^"]*)"|(/.*?/)(?=\s|$)|(\S*))|(\S+))}gc) {
        push @words, [$1, $2 // $3 // $4 // $5];
    }
    stop('cannot be read behind "' . substr($request, 0, pos($request) // 0) . '"') if $request !~ /\G\s*$/;
    return @words;
}

# A link from a text to a file: links are relative to the text.
sub link_to {
    my ($text, $path) = @_;
    my ($folder) = $text =~ m{^(.*/)} or return $path;
    return $path =~ /^\Q$folder\E(.*)/ ? $1 : '../' x ($folder =~ tr{/}{}) . $path;
}

1;
