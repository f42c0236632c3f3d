# SPDX-License-Identifier: MIT
# Battery.pm - hand-ins that try the judge: cheats/*.cheat, of which none may pass, and oddities/*.oddity, right answers that must. A file of them is
#
#   02.1 before the skeleton: what it tries         the exercise; `skeleton', `solution' or neither: what the code below is put before
#   says: a part of what the judge says             of a cheat
#   state: over_goal                                of a cheat that is right but misses a goal; the others are refused or wrong
#   shown: NAME                                     the hand-in's name, if that is part of it; it may go on in further lines
#   edit: s/this/that/                              Perl that changes the skeleton or solution, in $_; as often as needed
#                                                   an empty line, and then
#   code
package Battery;
use strict;
use warnings;
use Exporter 'import';
use Exercises;
our @EXPORT = qw(battery);

# All of a folder: name, exercise, tries, says, state, shown, and the hand-in's text.
sub battery {
    my ($folder) = @_;
    my %exercises = map { $_->{id} => $_ } all_exercises();
    my @all;
    my $suffix = { cheats => "cheat", oddities => "oddity" }->{$folder};
    for my $path (sort glob "common/judge/tests/$folder/*.$suffix") {
        my ($head, $code) = split /^\n/m, read_text($path), 2;
        my ($first, @lines) = split /\n/, $head;
        my ($id, $where, $tries) = $first =~ /^(\d\d\.\d+) ([^:]*): (.*)$/ or die "$path: the first line is not like `02.1 before the skeleton: ...'\n";
        my $exercise = $exercises{$id} // die "$path: there is no exercise $id\n";
        my ($name) = $path =~ m{([^/]+)\.$suffix$};
        my %one = (name => $name, exercise => $exercise, tries => $tries, shown => $exercise->{mine});
        $one{edit} = [];
        my $last;
        for my $line (@lines) {
            if ($line =~ /^edit: (.*)$/) { push @{ $one{edit} }, $1 }
            elsif ($line =~ /^(says|state|shown): (.*)$/) { $last = \($one{$1} = $2) }
            else { $$last .= "\n$line" }
        }
        local $_ = $where =~ /skeleton/ ? read_text($exercise->{path}) : $where =~ /solution/ ? read_text($exercise->{solution}) : '';
        for my $edit (@{ $one{edit} }) {
            my $before = $_;
            eval "$edit; 1" or die "$path: $edit: $@";
            die "$path: `$edit' changes nothing\n" if $_ eq $before;
        }
        push @all, { %one, text => ($code // '') . $_ };
    }
    return @all;
}

1;
