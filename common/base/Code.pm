# SPDX-License-Identifier: MIT
# Code.pm - finds and replaces places in C and CUDA sources by their code. Blanks, line ends and comments do not count, so a place is found
# again after a tidy-up; and it must be the only one, or somebody says which one is meant.
package Code;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(blanked functions_of spelled find_code replace_all);

# Comments become blanks, so that every character keeps its place; with `all`, strings and the preprocessor's lines, too.
sub blanked {
    my ($text, $all) = @_;
    my $blank = sub { $_[0] =~ s/[^\n]/ /gr };
    my $string = qr/"(?:[^"\\\n]|\\.)*"/;
    $text =~ s{($string)|(/\*.*?\*/|//[^\n]*)}{defined $1 && !$all ? $1 : $blank->($1 // $2)}gse;
    $text =~ s/^([ \t]*#(?:.*\\\n)*.*)$/$blank->($1)/gme if $all;
    return $text;
}

# For each function of a text [name, begin, end] of its body. Who looks for many places asks for the same texts again.
my (%functions, %code);
sub functions_of { return @{ $functions{ $_[0] } //= [all_functions($_[0])] } }
sub all_functions {
    my $code = blanked($_[0], 1);
    my ($depth, $head, $begin, $name, @functions) = (0, 0);
    while ($code =~ /([{};])/g) {
        my $at = pos($code) - 1;
        if ($1 eq '{' && $depth++ == 0) {
            ($name) = substr($code, $head, $at - $head) =~ /(\w+)\s*\([^()]*\)\s*$/;
            $begin = $at;
        } elsif ($1 eq '}' && --$depth == 0) {
            push @functions, [$name, $begin, $at] if defined $name;
        }
        $head = $at + 1 if $depth == 0;
    }
    return @functions;
}

# The words of a piece of code, one blank between them: two pieces that mean the same to the compiler are spelled the same.
sub spelled { return join ' ', blanked($_[0]) =~ /\w+(?:\.\w+)*|"(?:[^"\\\n]|\\.)*"|\S/g }

# A pattern for a piece of code, however it is laid out.
sub pattern {
    my @words = split / /, spelled($_[0]);
    my $pattern = '';
    for my $i (0 .. $#words) {
        $pattern .= $i == 0 ? '' : "$words[$i - 1] $words[$i]" =~ /\w \w/ ? '\s++' : '\s*+';
        $pattern .= quotemeta $words[$i];
    }
    return ($words[0] // '') =~ /^\w/ ? "(?<!\\w)$pattern" : $pattern, ($words[-1] // '') =~ /\w$/ ? '(?!\w)' : '';
}

# Where a text has the code `before`, `what` and `after`, one following the other, in one of its functions or, without `function`, anywhere: begin and
# end of each `what`.
sub find_code {
    my ($text, $place) = @_;
    my ($before, $what, $after) = map { join '', pattern($_ // '') } @$place{qw(before what after)};
    $before .= '\s*+' if $before ne ''; # blanks alone would be matched at each of a comment's
    my $code = $code{$text} //= blanked($text);
    my @found;
    while ($code =~ /$before($what)\s*+$after/g) {
        my ($begin, $end) = ($-[1], $+[1]);
        push @found, [$begin, $end] if !@found || $found[-1][0] != $begin;
        pos($code) = $-[0] + 1;
    }
    if (defined $place->{function}) {
        my @bodies = grep { $_->[0] eq $place->{function} } functions_of($text);
        @found = grep { my $it = $_; grep { $_->[1] <= $it->[0] && $it->[1] <= $_->[2] } @bodies } @found;
    }
    return @found;
}

# Replaces places of a text, each [begin, end, sub]: the sub gets what stands there, with all places inside of it replaced, and returns what shall.
sub replace_all {
    my ($text, @places) = @_;
    @places = sort { $a->[0] <=> $b->[0] || $b->[1] <=> $a->[1] } @places;
    my $inside = sub {
        my ($self, $begin, $end) = @_;
        my ($at, $result) = ($begin, '');
        while (@places && $places[0][0] < $end && ($places[0][1] <= $end || die "two places overlap at: " . substr($text, $places[0][0], 60) . "\n")) {
            my $place = shift @places;
            $result .= substr($text, $at, $place->[0] - $at);
            my $is = $self->($self, $place->[0], $place->[1]);
            $result .= $place->[2]->($is);
            $at = $place->[1];
        }
        return $result . substr($text, $at, $end - $at);
    };
    return $inside->($inside, 0, length $text);
}

1;
