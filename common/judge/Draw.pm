# SPDX-License-Identifier: MIT
# Draw.pm - the numbers of a prediction, drawn for a student. judges/NAME.txt says which numbers of the task are drawn and from what
# (README.md, "Numbers that are drawn"); without a seed each is what the task in the repository says.
package Draw;
use strict;
use warnings;
use Exporter 'import';
use POSIX 'ceil';
use lib 'common/judge';
use Seed;
our @EXPORT_OK = qw(read_draw draw_numbers put_numbers draw_task);

# What a line `draw: ...' or `let: ...' says: name, what the task says in its place (`let': nothing), and the choices or an expression.
# Dies with a sentence.
sub read_draw {
    my ($key, $text) = @_;
    return { name => $1, expression => $2 } if $key eq 'let' && $text =~ /^([a-z]\w*) = (\S.*)$/;
    die "`let: $text' is not like `let: NAME = EXPRESSION'\n" if $key eq 'let';
    return { name => $1, says => $2, expression => $3 } if $text =~ /^([a-z]\w*) (\d[\d.]*) = (\S.*)$/;
    my ($name, $says, $choices) = $text =~ /^([a-z]\w*) (\S.*?) in (\S.*)$/
        or die "`draw: $text' is not like `draw: NAME NUMBER in LOW..HIGH', `... in A | B | C' or `draw: NAME NUMBER = EXPRESSION'\n";
    my ($low, $high, $by) = $choices =~ /^(\d+)\.\.(\d+)(?: by (\d+))?$/;
    my @choices = defined $low ? () : split / \| /, $choices;
    for (my $n = $low; defined $n && $n <= $high; $n += $by // 1) {
        push @choices, $n;
    }
    die "`draw: $text' does not have the task's own `$says' among its choices\n" if !grep { $_ eq $says } @choices;
    return { name => $name, says => $says, choices => \@choices };
}

# A text with numbers in place of their names, $name or ${name}. Other words with a $ stay.
sub put_numbers {
    my ($text, $value) = @_;
    return $text =~ s/\$(?:\{(\w+)\}|(\w+))/$value->{ $1 \/\/ $2 } \/\/ $&/ger;
}

# The value of each name for a seed; undef: the task's own.
sub draw_numbers {
    my ($exercise, $seed) = @_;
    my %value;
    for (@{ $exercise->{draw} // [] }) {
        if (defined $_->{expression}) {
            my $expression = put_numbers($_->{expression}, \%value);
            $value{ $_->{name} } = eval $expression;
            die "$exercise->{judge}.txt: `$_->{name} = $expression' cannot be computed: $@\n" if !defined $value{ $_->{name} };
        } else {
            $value{ $_->{name} } = defined $seed ? $_->{choices}[drawn($seed, $exercise->{id}, $_->{name}, 0, $#{ $_->{choices} })] : $_->{says};
        }
    }
    return \%value;
}

# Where the task says a number: not within a longer one, nor in a name such as bf16. Of a text that is no number: wherever it is.
sub place { return $_[0] =~ /^\d/ ? qr/(?<![A-Za-z\d.])\Q$_[0]\E(?!\d|\.\d)/ : qr/\Q$_[0]\E/ }

# The task with the numbers of a seed; all are put there at once, so that none is taken for another. Dies with a sentence if the task does
# not say a number, or if it cannot be told which one is meant.
sub draw_task {
    my ($exercise, $text, $value) = @_;
    my %name;
    for (grep { defined $_->{says} } @{ $exercise->{draw} // [] }) {
        my $place = place($_->{says});
        die "$exercise->{judge}.txt: the task does not say `$_->{says}', which is to be drawn\n" if $text !~ $place;
        die "$exercise->{judge}.txt: `$_->{says}' is both $name{ $_->{says} } and $_->{name}\n" if $name{ $_->{says} };
        $name{ $_->{says} } = $_->{name};
    }
    return $text if !%name;
    my $any = join '|', map { place($_) } sort { length $b <=> length $a } keys %name;
    return $text =~ s/($any)/$value->{ $name{$1} }/gr;
}

1;
