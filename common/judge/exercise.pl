#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# exercise.pl COMMAND [NAME=VALUE...] - `make exercises', `exercise', `hint', `solution' and `reset' (common/build/exercises.mk).
# Exit status 0; of `exercise' only when it is solved; 2 for what was asked wrongly.
use strict;
use warnings;
use File::Basename 'dirname';
use File::Copy 'move';
use File::Path 'make_path';
use File::Spec;
use Cwd 'getcwd';
use lib qw(common/base common/judge);
use Copies;
use Exercises;
use Running 'typed_path';
use Terminal;

my $command = shift // '';
my %given = map { /^(\w+)=(.*)$/s ? ($1 => $2) : () } @ARGV;
$Exercises::columns = terminal_columns($Exercises::columns);
$| = 1;

# Ends with one sentence.
sub refuse { print STDERR "$_[0]\n"; exit 2 }

# ---- how far somebody is: a line `state tries hints' beside their copy ----

my %state_says = (not_begun => 'not begun', refused => 'not run', wrong => 'wrong', over_goal => 'misses a goal', solved => 'solved');

sub progress {
    my ($exercise) = @_;
    my ($state, $tries, $hints, $estimate) = split ' ', read_text($exercise->{progress}) // '';
    return { state => exists $state_says{ $state // '' } ? $state : 'not_begun', tries => $tries // 0, hints => $hints // 0, estimate => $estimate };
}

sub keep {
    my ($exercise, $progress) = @_;
    write_text($exercise->{progress}, join(' ', grep { defined } @$progress{qw(state tries hints estimate)}) . "\n");
}

# The copy is made when an exercise is first opened.
sub open_copy {
    my ($exercise) = @_;
    return if -f $exercise->{mine};
    make_path(dirname($exercise->{mine}), { error => \my $failed });
    refuse('cannot make the folder ' . dirname($exercise->{mine}) . ' for your copy: ' . (values %{ $failed->[0] })[0]) if @$failed;
    eval { write_text($exercise->{mine}, task_text($exercise)) };
    refuse($@ =~ s/\n\z//r) if $@;
    print Exercises::fold("Your copy: $exercise->{mine}. Read what is on top of it, and write there.");
}

# Where help is, from the third failed try on; and what make, which calls all this, is about to print.
sub after_failure {
    my ($exercise, $progress, $report) = @_;
    my ($hints, $taken) = (scalar @{ $exercise->{hint} // [] }, $progress->{hints});
    print "\nmake hint EX=$exercise->{id} ($hints hints, ", $taken == 0 ? 'none taken yet' : "$taken taken", ")\n" if $progress->{tries} >= 3 && $taken < $hints;
    print "\nmake watch EX=$exercise->{id} plays it up to that line by line, in your browser.\n" if !$exercise->{on_cpu} && $report =~ /^(?:A result is wrong|The simulator stopped it)/;
    print "\n", Exercises::fold("(A line of make comes now, with `Error 1': it says only that "
        . ($progress->{state} eq 'solved' ? 'this answer is not right' : "$exercise->{id} is not solved yet") . '.)') if defined $ENV{MAKELEVEL};
}

# ---- commands ----

refuse("SEED=$given{SEED} is not a whole number of at most 18 digits.") if ($given{SEED} // '') !~ /^\d{0,18}\z/;
# an instructor's own exercises, in a folder like a chapter's; whoever solves one says where the answer is
$given{FROM} //= getcwd();
if (defined $given{EXERCISES}) {
    refuse("EXERCISES= goes with `exercise' and FILE=, or with `try'.") if !($command eq 'exercise' && defined $given{FILE}) && $command ne 'try';
    $ENV{BACKEND} //= 'sim';
    my $bench = eval { (bench(File::Spec->rel2abs($given{EXERCISES}, $given{FROM})))[0] } // refuse($@ =~ s/\n//r);
    chdir $bench or refuse("cannot enter $bench: $!");
}
my @exercises = all_exercises($given{SEED});

sub asked {
    my $id = $given{EX} // '';
    my ($first) = grep { ($given{ONLY} // '') eq '' || $_->{chapter} eq $given{ONLY} } @exercises;
    $first //= $exercises[0];
    refuse("Which exercise? Say it like this: make $command EX=$first->{id}. `make exercises' lists them.") if $id eq '';
    my ($exercise) = grep { $_->{id} eq $id || "0$id" eq $_->{id} } @exercises;
    return $exercise // refuse("There is no exercise $id; `make exercises' lists them.");
}

my %commands = (
    exercises => sub {
        my @listed = grep { ($given{ONLY} // '') eq '' || $_->{chapter} eq $given{ONLY} } @exercises;
        if (defined $given{CSV}) {
            refuse("Into which file? Say it like this: make exercises CSV=table.csv") if $given{CSV} eq '';
            my $path = typed_path($given{CSV}, $given{FROM});
            open my $csv, '>', $path or refuse("cannot write $given{CSV}: $!");
            print $csv "id,path,state,tries,hints\n";
            for (@listed) {
                my $progress = progress($_);
                print $csv join(',', @$_{qw(id path)}, @$progress{qw(state tries hints)}), "\n";
            }
            close $csv or refuse("cannot write $given{CSV}: $!");
            return 0 if !defined $given{LIST};
        }
        if (defined $given{LIST}) {
            print "$_->{id} $_->{path} ", progress($_)->{state}, "\n" for @listed;
            return 0;
        }
        if (!@listed) {
            print "There are no exercises here.\n";
            return 0;
        }
        print Exercises::fold('You write code, or predict numbers that are then counted. A judge tries your answer; it needs no GPU.'), "\n";
        my ($chapter, $estimated, %in) = ('');
        for (@listed) {
            my $state = progress($_)->{state};
            print $chapter eq '' ? '' : "\n", "$_->{chapter}\n" if $_->{chapter} ne $chapter;
            $chapter = $_->{chapter};
            my $estimate = $state eq 'solved' && $_->{estimate} ? progress($_)->{estimate} : undef;
            $estimated ||= defined $estimate;
            printf "  %-6s %-46s %-10s %s\n", $_->{id}, $_->{title}, $_->{predict} ? 'prediction' : 'code', $state_says{$state};
            printf "         %s us, ours %s *\n", $estimate =~ s/:(.*):(.*)/ ($1 to $2)/r, $_->{estimate} =~ /^(\S+)/ if defined $estimate;
            push @{ $in{$state} }, $_;
        }
        print "\n* An estimate of its time on an NVIDIA H200; nothing was measured.\n" if $estimated;
        my ($next) = map { @{ $in{$_} // [] } } qw(over_goal wrong refused not_begun); # what is begun comes first
        printf "\n%d of %d solved.\n", scalar @{ $in{solved} // [] }, scalar @listed;
        return 0 if !defined $next;
        printf "\nmake exercise EX=%s   %s\n", $next->{id}, -f $next->{mine} ? "judges $next->{mine}" : 'makes your copy of the task, and judges it';
        print "make hint EX=$next->{id}       helps, and helps more when you ask again\n";
        print "$next->{chapter}/README.md explains what it is about\n";
        return 0;
    },
    exercise => sub {
        my $exercise = asked();
        my $path = $exercise->{mine};
        if (defined $given{FILE}) {
            $path = typed_path($given{FILE}, $given{FROM});
            refuse("FILE=$given{FILE} is not there, or is no file.") if !-f $path;
        } else {
            open_copy($exercise);
        }
        my $text = read_text($path) // refuse("cannot read $path: $!");
        my ($state, $report) = eval { judge_answer($exercise, $text, $path, defined $given{FILE} ? "$exercise->{id}.file" : $exercise->{id}) };
        refuse("$exercise->{id} cannot be judged: $@") if $@;
        print "$exercise->{id} $exercise->{title}\n\n", $report =~ s/^(.*)/verdict($1, $state eq 'solved')/er;
        if (!defined $given{FILE}) {
            my $progress = progress($exercise);
            my $was_solved = $progress->{state} eq 'solved';
            $progress->{state} = $state if !$was_solved; # what is solved stays solved, whatever is tried afterwards
            $progress->{tries}++;
            $progress->{estimate} = join ':', $1, $2, $3 if $report =~ /would\s+take\s+(\S+)\s+us.*?\(([\d.]+)\s+to\s+([\d.]+)\)/s;
            keep($exercise, $progress);
            print "\nYou have solved $exercise->{id} before, and `make exercises' goes on to say so.\n" if $was_solved && $state ne 'solved';
            after_failure($exercise, $progress, $report) if $state ne 'solved';
        }
        return $state eq 'solved' ? 0 : 1;
    },
    hint => sub {
        my $exercise = asked();
        my $progress = progress($exercise);
        my $hints = $exercise->{hint} // [];
        $progress->{hints}++ if $progress->{hints} < @$hints;
        keep($exercise, $progress);
        print Exercises::fold("Hint $progress->{hints} of " . @$hints . ": $hints->[$progress->{hints} - 1]{text}");
        print "(It was the last one. Ours: make solution EX=$exercise->{id} FORCE=1)\n" if $progress->{hints} == @$hints && -f $exercise->{solution};
        return 0;
    },
    solution => sub {
        my $exercise = asked();
        refuse("There are no solutions here; make hint EX=$exercise->{id} helps.") if !-f $exercise->{solution};
        refuse("$exercise->{id} is not solved yet. make hint EX=$exercise->{id} helps; make solution EX=$exercise->{id} FORCE=1 shows ours all the same.")
            if progress($exercise)->{state} ne 'solved' && !$given{FORCE};
        print "$exercise->{solution}:\n\n", solution_text($exercise);
        return 0;
    },
    # for who writes exercises: the skeleton, the solution and all mutants of one (EX) or of all, with what the judge says
    try => sub {
        my $failed = 0;
        for my $exercise (defined $given{EX} ? asked() : @exercises) {
            for (trials($exercise)) {
                my ($what, $good, $report) = @$_;
                $failed += !$good;
                print $good ? 'ok' : 'NOT OK', " - $exercise->{id} $what\n", map { "    $_\n" } split /\n/, $report;
            }
        }
        return $failed > 0;
    },
    reset => sub {
        my $exercise = asked();
        my $mine = $exercise->{mine};
        if (-f $mine && read_text($mine) ne task_text($exercise)) {
            my $old = "$mine.old";
            for (my $number = 2; -e $old; $number++) { # an older one is kept, too
                $old = "$mine.old$number";
            }
            move($mine, $old) or refuse("cannot write $old: $!");
            print "What you had is kept as $old.\n";
        }
        unlink $mine;
        unlink $exercise->{progress};
        open_copy($exercise);
        return 0;
    },
);

exit(($commands{$command} // refuse("usage: $0 " . join('|', sort keys %commands) . ' [NAME=VALUE...]'))->());
