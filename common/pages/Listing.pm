# SPDX-License-Identifier: MIT
# Listing.pm - lines of a source for a text.
package Listing;
use strict;
use warnings;
use Texts;

# ```cpp also for CUDA: that is what gets its colours on most sites
my %language = (c => 'c', h => 'c', cu => 'cpp', cuh => 'cpp', cpp => 'cpp', pl => 'perl', pm => 'perl', t => 'perl', sh => 'sh',
    mk => 'make', py => 'python');

sub listing {
    my ($request, undef, $text) = @_;
    my ($source, @words) = words($request);
    my $path = $source->[1];
    -f $path or stop("there is no file $path");
    my @lines = split /\n/, read_text($path);
    my %how;
    for (@words) {
        my ($key, $value) = defined $_->[0] ? @$_ : ($_->[1], 1);
        stop("cannot read \"$key\": a listing has function=NAME, or part=NAME, or is the whole file") if $key !~ /^(function|comment|part)$/;
        $how{$key} = $value;
    }
    stop('a listing has function= or part=, not both') if $how{function} && $how{part};
    my @listed = $how{function} ? functions(\@lines, $how{comment}, split /,/, $how{function})
        : $how{part} ? parts(\@lines, split /,/, $how{part})
        : @lines;
    @listed = grep { !/SPDX-License-Identifier/ } @listed;
    s{^(\s*/[/*] )\[\w+\] ?}{$1} for @listed; # the marks are for us
    shift @listed while @listed && $listed[0] eq '';
    pop @listed while @listed && $listed[-1] eq '';
    @listed or stop('nothing is left of the listing');
    stop("a listing cannot hold \"$1\"") if "@listed" =~ /(```|<!--)/;

    my ($indent) = sort { length $a <=> length $b } map { /^(\s*)[^\s#]/ ? $1 : () } @listed; # #pragma stands at the left
    $indent //= '';
    my ($extension) = $path =~ m{(?:\.(\w+)|/?Makefile)$};
    my $fence = '```' . (defined $extension ? $language{$extension} // '' : 'make');
    my $link = "*[$path](" . link_to($text, $path) . ')*';
    return join "\n", '', $fence, (map { s/^\Q$indent\E//r } @listed), '```', '', $link, '', '';
}

# The lines of each definition of that name.
sub functions {
    my ($lines, $comment, @names) = @_;
    my @definitions = definitions(@$lines);
    my @listed;
    for my $name (@names) {
        my @found = grep { $_->{header} =~ /\b\Q$name\E\s*(\(|\[|=|$)/ } @definitions;
        stop(@found . " definitions of $name" . (@found ? ': at lines ' . join ', ', map { $_->{first} + 1 } @found : '')) if @found != 1;
        my ($first, $last) = @{ $found[0] }{ $comment ? 'comment' : 'first', 'last' };
        push @listed, '', @$lines[$first .. $last];
    }
    return @listed;
}

# What is defined at the top level of a C or CUDA source: { header, first, last, comment }, the text up to the first brace, the indices
# of its lines, and of the first line of the comment directly above.
sub definitions {
    my @lines = @_;
    my $bare = join "\n", @lines;
    # neither a comment nor a string counts as code; the lines stay where they are
    $bare =~ s{(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')}{ $1 =~ s/[^\n]+/ /gr }ges;
    my @code = split /\n/, $bare, -1;
    my @definitions;
    for (my $i = 0; $i < @code; $i++) {
        if ($code[$i] =~ /^\s*#/) { # a macro may go on
            $i++ while $i < $#code && $lines[$i] =~ /\\$/;
            next;
        }
        next if $code[$i] !~ /^\w/ || $code[$i] =~ /^extern\s+\{/;
        my ($first, $text, $depth) = ($i, '', 0);
        for (;; $i++) {
            $text .= "$code[$i]\n";
            $depth += ($code[$i] =~ tr/{//) - ($code[$i] =~ tr/}//);
            last if $i == $#code || ($depth == 0 && $code[$i] =~ /[;}]\s*$/) || ($text !~ /\{/ && $code[$i + 1] =~ /^\s*$/);
        }
        my ($header) = $text =~ /^(.*?)\s*\{/s or next;
        my $comment = $first;
        if ($first > 0 && $lines[$first - 1] =~ m{\*/\s*$}) {
            $comment--;
            $comment-- while $comment > 0 && $lines[$comment] !~ m{/\*};
        }
        $comment-- while $comment > 0 && $lines[$comment - 1] =~ m{^//};
        push @definitions, { header => $header, first => $first, last => $i, comment => $comment };
    }
    return @definitions;
}

# The lines of each part of that name: a part begins with a comment that begins with [NAME], and ends before the next such comment, or
# with the function that it stands in, or with the file.
sub parts {
    my ($lines, @names) = @_;
    my $mark = qr{^\s*/[/*] \[(\w+)\]};
    my @listed;
    for my $name (@names) {
        my @found = grep { $lines->[$_] =~ $mark && $1 eq $name } 0 .. $#$lines;
        stop(@found . " parts [$name]" . (@found ? ': at lines ' . join ', ', map { $_ + 1 } @found : '')) if @found != 1;
        my ($first, $last) = ($found[0], $found[0]);
        my $within = $lines->[$first] =~ /^\s/;
        $last++ while $last < $#$lines && $lines->[$last + 1] !~ $mark && !($within && $lines->[$last + 1] =~ /^\}/);
        push @listed, @$lines[$first .. $last];
    }
    return @listed;
}

1;
