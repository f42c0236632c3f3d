#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# similar.pl IN=FOLDER [OUT=similar.csv] [ONLY=02.1,03] [LEAST=60] - `make similar': pairs of students whose answers to an exercise have the
# same tokens, the most similar first. sim_c compares (Debian's package similarity-tester): names, numbers, comments and layout do not
# count. Before that each answer loses its lines that the task or our solution has, too, and those that more than half of all who answered have: what is
# left is a student's own, and where that is too little to tell anything, no pair is made.
use strict;
use warnings;
use File::Spec;
use File::Temp 'tempdir';
use lib 'common/base', 'common/judge';
use Code;
use Exercises;
use Students;

my $fewest = 30; # tokens that must be left of an answer
my $run = 12;    # tokens in a row that count as the same

my %given = map { /^(\w+)=(.*)$/s ? ($1 => $2) : () } @ARGV;
sub refuse { print STDERR "$_[0]\n"; exit 2 }
sub whole { return File::Spec->rel2abs($_[0], $given{FROM} // '.') }

refuse('Where are the hand-ins? Say it like this: make similar IN=handed_in') if ($given{IN} // '') eq '';
my $in = whole($given{IN});
refuse("IN=$given{IN} is not a folder.") if !-d $in;
my $least = $given{LEAST} // 60;
refuse("LEAST=$least is no per cent from 1 to 100.") if $least !~ /^\d+$/ || $least < 1 || $least > 100;

my @all = all_exercises();
my @exercises = eval { chosen_exercises($given{ONLY}, @all) };
refuse($@ =~ s/\n//r) if $@;
my ($sim) = grep { -x } map { "$_/sim_c" } split /:/, $ENV{PATH};
refuse("make similar needs sim_c, which compares programs; Debian's package is similarity-tester.") if !defined $sim;
my @students = students_in($in);
my %answers = map { $_ => (hand_ins("$in/$_", @all))[0] } @students;

# A line as sim_c sees it, so to say: its tokens, names and numbers being all alike.
sub kind { return join ' ', map { /^\d/ ? '0' : /^[A-Za-z_]/ ? 'n' : $_ } $_[0] =~ /\w+(?:\.\w+)*|"(?:[^"\\\n]|\\.)*"|\S/g }
sub lines_of { return grep { /\w/ } split /\n/, blanked($_[0] =~ s/\r\n?/\n/gr) }

my $folder = tempdir(CLEANUP => 1);
my @pairs;
for my $exercise (grep { !$_->{predict} } @exercises) {
    my %ours = map { kind($_) => 1 } map { lines_of(read_text($_) // '') } @$exercise{qw(path solution)};
    my (%own, %have);
    for my $student (@students) {
        my $text = $answers{$student}{ $exercise->{id} }{text} // next;
        my %kinds;
        for my $line (lines_of($text)) {
            my $kind = kind($line);
            push @{ $own{$student} }, [$line, $kind] if !$ours{$kind};
            $have{$kind}++ if !$kinds{$kind}++;
        }
    }
    my $answered = grep { defined $answers{$_}{ $exercise->{id} }{text} } @students;
    my (@files, %student, %tokens);
    for my $student (sort keys %own) {
        my $left = join '', map { "$_->[0]\n" } grep { $answered < 5 || $have{ $_->[1] } <= $answered / 2 } @{ $own{$student} };
        my $tokens = () = kind($left) =~ /\S+/g;
        next if $tokens < $fewest;
        push @files, "$folder/" . @files . '.c';
        write_text($files[-1], $left);
        @student{ $files[-1] } = $student;
        $tokens{$student} = $tokens;
    }
    next if @files < 2;
    write_text("$folder/list", join '', map { "$_\n" } @files);
    open my $said, '-|', 'sh', '-c', 'exec "$0" -e -s -p -T -r "$1" -i < "$2"', $sim, $run, "$folder/list" or refuse("$sim cannot be started: $!");
    my %percent;
    while (<$said>) {
        my ($one, $percent, $other) = /^(\S+) consists for (\d+) % of (\S+) material$/ or next;
        my $pair = join "\0", sort @student{ $one, $other };
        $percent{$pair} = $percent if $percent > ($percent{$pair} // 0);
    }
    close $said or refuse("$sim failed with status " . ($? >> 8) . '.');
    for (grep { $percent{$_} >= $least } keys %percent) {
        my ($one, $other) = split /\0/;
        push @pairs, { percent => $percent{$_}, exercise => $exercise->{id}, one => $one, other => $other, tokens => $tokens{$one} < $tokens{$other} ? $tokens{$one} : $tokens{$other} };
    }
    unlink @files;
}

@pairs = sort { $b->{percent} <=> $a->{percent} || $b->{tokens} <=> $a->{tokens} || $a->{exercise} cmp $b->{exercise} || $a->{one} cmp $b->{one} || $a->{other} cmp $b->{other} } @pairs;
my @columns = qw(percent tokens exercise one other);
if (($given{OUT} // '') ne '') {
    my $out = whole($given{OUT});
    open my $csv, '>', $out or refuse("cannot write $given{OUT}: $!");
    print $csv csv(@columns), map { csv(@$_{@columns}) } @pairs;
    close $csv or refuse("cannot write $given{OUT}: $!");
    print "$given{OUT}: ";
} else {
    printf "%7s %6s  %-8s  %s\n", 'percent', 'tokens', 'exercise', 'students' if @pairs;
    printf "%7d %6d  %-8s  %s\n", @$_{qw(percent tokens exercise)}, join '  and  ', map { one_line($_) } @$_{qw(one other)} for @pairs;
}
printf "%d pair%s of answers with %d %% or more of the same code, beside what the tasks and our solutions have\n", scalar @pairs, @pairs == 1 ? '' : 's', $least;
