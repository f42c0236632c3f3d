#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# said.pl - the compiler's messages on rewritten code, in words that fit the code as it was written.
#
#   perl said.pl FILE EXPANDED [quiet]       FILE: the compiler's messages, in the C locale; EXPANDED: the preprocessed source; quiet: no warnings
#
# Fails where a kernel or a device function has an array whose size is not known: g++ has such arrays, and nvcc takes them in host code only.
use strict;
use warnings;

my ($said, $expanded, $quiet) = @ARGV;
my @all = read_lines($said);

# Two types of one extern __shared__ array: each function that has one declares a function of that name (rewrite.pl).
my $one = qr/declaration (?:of )?'([^']*?) ?\*sim_one_type_of_(\w+)\(\)'|declaration (?:of )?'([^']*?)\* sim_one_type_of_(\w+)\(\)'/;
my (@twice, %told);
for my $i (0 .. $#all) {
    next unless $all[$i] =~ /^(.*?:\d+):\d+: error: ambiguating new $one/;
    my ($place, $type, $name) = ($1, $2 // $4, $3 // $5);
    my ($note) = grep { /: note: old $one/ } @all[$i + 1 .. ($i + 12 < $#all ? $i + 12 : $#all)];
    my ($there, $other) = ($note // "") =~ /^(.*?:\d+):\d+: note: old $one/ ? ($1, $2 // $4) : ("another place", "of another type");
    push @twice, "$place: error: extern __shared__ $name is an array of $type here, and of $other at $there, though all of that name are one. "
        . "Call them differently, or declare it as unsigned char in each, and make a pointer of that type to it.\n" unless $told{$place}++;
}
print(@twice), exit if @twice;

# A message: the lines before it that say where it is, its first line, and those that explain it.
my (@messages, @context);
for (@all) {
    if (/^\S.*?:\d+(?::\d+)?: (?:\w+ )?(?:error|warning): /) {
        push @messages, { context => [@context], text => [$_] };
        @context = ();
    } elsif (/^\S.*: (?:In|At) |^In file included from |^ {17}from /) {
        push @context, $_;
    } elsif (@messages && !@context) {
        push @{ $messages[-1]{text} }, $_;
    } else {
        push @context, $_;
    }
}

my (@sizes, %said, @others);
for my $message (@messages) {
    my $first = $message->{text}[0];
    if ($first =~ /^(.*?):(\d+):(?:\d+:)? \w+: .*variable length array(?: '(?:sim_type_)?(\w+)')?/) {
        my ($file, $line, $name) = ($1, $2, $3 // 'of no name');
        my $shared = $first =~ /'sim_type_/;
        push @sizes, [$file, $line, $name, $shared] if ($shared || is_of_device($file, $line)) && !$said{$name}++;
    } elsif (!$quiet || $first !~ /: warning: /) {
        push @others, @{ $message->{context} }, @{ $message->{text} };
    }
}
# What g++ says besides such an error follows from it.
if (@sizes) {
    printf "%s:%d: error: the size of the %sarray %s is not known when the program is compiled. Write a constant%s.\n", @$_[0, 1],
        $_->[3] ? "shared " : "", $_->[2], $_->[3] ? ", or extern __shared__ $_->[2]\[] and its bytes at the launch" : ""
        for @sizes;
    exit 1;
}
print s/\bsim_(?:type|struct)_(\w+)/$1/gr for @others, @context;

sub read_lines {
    open my $in, '<', $_[0] or die "said.pl: cannot read $_[0]: $!\n";
    return <$in>;
}

# Whether a line is in the body of a kernel or a device function.
my $bodies;
sub is_of_device {
    my ($file, $line) = @_;
    $bodies //= find_bodies();
    return scalar grep { $_->[0] eq $file && $_->[1] <= $line && $line <= $_->[2] } @$bodies;
}

sub find_bodies {
    my ($name, $number, $depth, $awaited, @found) = ('', 0, 0, 0); # awaited: a body of a function with such a word before it
    my $from;
    for (read_lines($expanded)) {
        if (/^# (\d+) "([^"]*)"/) {
            ($number, $name) = ($1, $2);
            next;
        }
        while (/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\b__sim_(?:device|global)__\b|[{};]/g) {
            my $word = $&;
            if ($word =~ /^__sim/) { $awaited = 1 if !defined $from }
            elsif ($word eq ';') { $awaited = 0 if !defined $from }
            elsif ($word eq '{' && (defined $from || $awaited)) { $from //= $number; $depth++ }
            elsif ($word eq '}' && defined $from && --$depth == 0) { push @found, [$name, $from, $number]; ($from, $awaited) = (undef, 0) }
        }
        $number++;
    }
    return \@found;
}
