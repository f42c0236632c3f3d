# SPDX-License-Identifier: MIT
# Battery.pm - hand-ins that try the judge, many in a file: cheats/*.txt, of which none may pass, oddities/*.txt, right answers that must,
# and processes.txt, which try what an answer's process may. One of them is
#
#   === name
#   02.1 before the skeleton: what it tries         the exercise; `skeleton', `solution' or neither: what the code below is put before
#   says: a part of what the judge says             of a cheat
#   state: over_goal                                of a cheat that is right but misses a goal; the others are refused or wrong
#   met: 0                                          and how many goals it meets, where `make class' gives points for them
#   needs: bubblewrap                               of a cheat that only this stops
#   shown: NAME                                     the hand-in's name, if that is part of it; it may go on in further lines
#   edit: s/this/that/                              Perl that changes the skeleton or solution, in $_; as often as needed
#                                                   an empty line, and then
#   code                                            and an empty line before the next
package Battery;
use strict;
use warnings;
use Exporter 'import';
use Exercises;
our @EXPORT = qw(battery);

# All of a folder, or of a file of that name: name, exercise, tries, says, state, met, needs, shown, and the hand-in's text.
sub battery {
    my ($what) = @_;
    my %exercises = map { $_->{id} => $_ } all_exercises();
    my (@all, %known);
    for my $path (sort glob "common/judge/tests/$what.txt common/judge/tests/$what/*.txt") {
        next if !-e $path;
        my (undef, @cases) = split /\n?^=== (\w+)\n/m, read_text($path);
        while (my ($name, $case) = splice @cases, 0, 2) {
            die "$path: there are two `$name'\n" if $known{$name}++;
            push @all, hand_in("$path: $name", $name, $case, \%exercises);
        }
    }
    return @all;
}

sub hand_in {
    my ($place, $name, $case, $exercises) = @_;
    my ($head, $code) = split /^\n/m, $case, 2;
    my ($first, @lines) = split /\n/, $head;
    my ($id, $where, $tries) = $first =~ /^(\d\d\.\d+) ([^:]*): (.*)$/ or die "$place: the first line is not like `02.1 before the skeleton: ...'\n";
    my $exercise = $exercises->{$id} // die "$place: there is no exercise $id\n";
    my %one = (name => $name, exercise => $exercise, tries => $tries, shown => $exercise->{mine});
    my (@edits, $last);
    for my $line (@lines) {
        if ($line =~ /^edit: (.*)$/) { push @edits, $1 }
        elsif ($line =~ /^(says|state|met|needs|shown): (.*)$/) { $last = \($one{$1} = $2) }
        else { $$last .= "\n$line" }
    }
    local $_ = $where =~ /skeleton/ ? read_text($exercise->{path}) : $where =~ /solution/ ? read_text($exercise->{solution}) : '';
    for my $edit (@edits) {
        my $before = $_;
        eval "$edit; 1" or die "$place: $edit: $@";
        die "$place: `$edit' changes nothing\n" if $_ eq $before;
    }
    return { %one, text => ($code // '') . $_ };
}

1;
