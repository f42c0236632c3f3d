#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# class.pl COMMAND [NAME=VALUE...] - what `make class' and `make seed' do (common/build/exercises.mk; docs/INSTRUCTORS.md explains them).
#
#   class IN=FOLDER OUT=class.csv   judges what the folders in FOLDER hold, one for each student: a table, and reports in class/STUDENT/02.1.txt
#       SECRET=TEXT                 each student's data is drawn from name and secret; SEED=N: the same number for all
#       ONLY=02.1,03                these exercises, or all of these chapters
#       EXERCISES=FOLDER            an instructor's own exercises, too, in folders like the course's
#       JOBS=N                      so many hand-ins at the same time (all cores)
#       SUMMARY=FILE                the table once more, in Markdown, at the end of FILE
#   seed STUDENT=NAME SECRET=TEXT   a student's number
#
# What was judged once is kept in class/.judged, by a hash of answer, seed and all sources: an interrupted run goes on where it ended, and
# what was handed in anew is judged alone. Exit status 0; 1 if something could not be judged; 2 for what was asked wrongly.
use strict;
use warnings;
use Digest::SHA 'sha256_hex';
use File::Glob 'bsd_glob';
use File::Path qw(make_path remove_tree);
use File::Spec;
use POSIX ();
use Time::HiRes qw(time sleep);
use lib 'common/judge';
use Copies;
use Exercises;
use Students;

my $command = shift // '';
my %given = map { /^(\w+)=(.*)$/s ? ($1 => $2) : () } @ARGV;
$ENV{BACKEND} ||= 'sim'; # where no makefile has chosen
my $longest = 300; # seconds that judging one hand-in may take; the judge has limits of its own, far below
$| = 1;

# Ends with one sentence.
sub refuse { print STDERR "$_[0]\n"; exit 2 }
sub asked { return defined $given{ $_[0] } && $given{ $_[0] } ne '' ? $given{ $_[0] } : undef }

# A path as it was typed, from where make was called.
sub whole { return File::Spec->rel2abs($_[0], $given{FROM} // '.') }

sub number_of { return "$_[0] $_[1]" . ($_[0] == 1 ? '' : 's') }

# ---- marks ----

# An exercise gives as many points as it is thought to take minutes (judges/NAME.txt). Who is right but misses goals has half of them for the right
# result, and of the other half the share of the goals that are met. All else gives none.
sub points {
    my ($of, $state, $met, $goals) = @_;
    return $of if $state eq 'solved';
    return $state eq 'over_goal' ? sprintf('%.1f', $of / 2 + ($goals ? $of / 2 * $met / $goals : 0)) + 0 : 0;
}

sub minutes { return $_[0]{minutes} // 20 }

# The start of a report, for a line in a table.
sub reason {
    my ($report) = @_;
    $report =~ s/^\s+|\s+$//g;
    $report =~ s/\s+/ /g;
    return length $report <= 240 ? $report : substr($report, 0, 240) =~ s/\s\S*\z/ .../r;
}


# ---- judging ----

# Line ends, a byte order mark and a missing last newline, as they are meant.
sub as_meant {
    my ($text) = @_;
    $text =~ s/^\xef\xbb\xbf//;
    $text =~ s/\r\n?/\n/g;
    return $text =~ /[^\n]\z/ ? "$text\n" : $text;
}

# Does `work' for each of the jobs, so many at a time, each in a process and a process group of its own, which has ended when the next one begins, and
# with a new folder, which is removed. `work' gets job and folder, and returns nothing: what it finds it writes. Returns [job, what went wrong] of those that did not end well.
my %running; # process => its job and when it began
sub in_parallel {
    my ($most, $what, $jobs, $work) = @_;
    my @waiting = @$jobs;
    my ($done, $begin, @failed) = (0, time);
    while (@waiting || %running) {
        while (@waiting && keys %running < $most) {
            my $job = shift @waiting;
            my $folder = new_folder();
            pipe my $reads, my $writes or die "pipe: $!\n";
            my $pid = fork // die "fork: $!\n";
            if ($pid == 0) {
                setpgrp;
                $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
                close $reads;
                my $well = eval { $work->($job, $folder); 1 };
                print $writes $@ if !$well;
                close $writes;
                POSIX::_exit(!$well);
            }
            close $writes;
            $running{$pid} = { job => $job, folder => $folder, begin => time, says => $reads };
        }
        my $pid = waitpid -1, POSIX::WNOHANG();
        if ($pid > 0 && $running{$pid}) {
            my ($status, $one) = ($?, delete $running{$pid});
            kill KILL => -$pid; # what a hand-in may have left behind
            if ($status != 0) {
                my $said = do { local $/; readline $one->{says} } // '';
                push @failed, [$one->{job}, $one->{late} ? "judging took more than $longest seconds" : reason($said eq '' ? "the judge's process ended ($status)" : $said)];
            }
            close $one->{says};
            remove_tree($one->{folder});
            $done++;
        } else {
            for (grep { time - $running{$_}{begin} > $longest } keys %running) {
                $running{$_}{late} = 1;
                kill KILL => -$_;
            }
            sleep 0.01;
        }
        progress($what, $done, scalar @$jobs, time - $begin) if -t STDERR;
    }
    print STDERR "\r\e[K" if -t STDERR;
    return @failed;
}

my $shown = 0;
sub progress {
    my ($what, $done, $of, $seconds) = @_;
    return if time - $shown < 0.2;
    $shown = time;
    my $left = $done ? $seconds * ($of - $done) / $done : 0;
    printf STDERR "\r\e[K%s: %d of %d%s", $what, $done, $of, $done < 5 ? '' : $left < 90 ? sprintf(', %d s left', $left + 1) : sprintf ', %d min left', $left / 60 + 1;
}

for my $signal (qw(INT TERM HUP)) {
    $SIG{$signal} = sub {
        kill KILL => map { -$_ } keys %running;
        remove_tree(map { $_->{folder} } values %running);
        print STDERR "\nInterrupted. The same command goes on from here.\n";
        exit 130;
    };
}

# ---- what has been judged: `state goals_met goals seconds', and the report ----

sub kept {
    my ($path) = @_;
    my ($first, $report) = split /\n/, read_text($path) // return, 2;
    my ($state, $met, $goals, $seconds) = split ' ', $first;
    return { state => $state, met => $met, goals => $goals, seconds => $seconds, report => $report // '' };
}

sub keep {
    my ($path, $state, $met, $goals, $seconds, $report) = @_;
    write_text("$path.part", sprintf "%s %d %d %.1f\n%s", $state, $met, $goals, $seconds, $report);
    rename "$path.part", $path or die "cannot write $path: $!\n";
}

# Judges one answer, at the bench or in a copy, and keeps the verdict. `shown' has no say in it: the file is called as the task's copy is.
sub judge {
    my ($bench, $folder, $exercise, $text, $path) = @_;
    my $begin = time;
    if ($exercise->{predict}) {
        chdir $bench or die "cannot enter $bench: $!\n";
    } else {
        fill_copy($folder, $bench, $exercise);
    }
    my ($state, $report, @goals) = judge_answer($exercise, $text, $exercise->{mine}, "$exercise->{id}.$$");

    my $goals = @goals || grep { $_->{text} !~ /^(?:time|registers)\b/ } @{ $exercise->{goal} // [] };
    keep($path, $state, scalar(grep { !defined Exercises::missed($_) } @goals), $goals, time - $begin, $report);
}

# The same exercises with the data of a seed, undef: the usual one.
sub drawn_by {
    my ($seed, @exercises) = @_;
    return @exercises if !defined $seed;
    my %drawn = map { $_->{id} => $_ } all_exercises($seed);
    return map { { %{ $drawn{ $_->{id} } }, seed => $seed } } @exercises;
}

# What an answer is that nobody has touched: the task as it stands, and as the seed draws it.
sub tasks {
    my ($exercise) = @_;
    return (read_text($exercise->{path}), Exercises->can('task_text') ? Exercises::task_text($exercise) : ());
}

# Builds at the bench what all answers to an exercise share, by judging its task: code that is ours.
sub prepare {
    my ($bench, $exercise) = @_;
    chdir $bench or die "cannot enter $bench: $!\n";
    my $text = $exercise->{predict} ? join '', map { $_->{text} =~ /^(\w+)/ ? "$1 = 0\n" : () } @{ $exercise->{ask} } : read_text($exercise->{path});
    judge_answer($exercise, $text, $exercise->{path}, "$exercise->{id}.task");
    write_text("build/prepared/$exercise->{id}", "\n");
}

# ---- commands ----


sub class {
    my $in = whole(asked('IN') // refuse('Where are the hand-ins? Say it like this: make class IN=handed_in OUT=class.csv'));
    my $out = whole(asked('OUT') // refuse('Into which table? Say it like this: make class IN=handed_in OUT=class.csv'));
    refuse("OUT=$given{OUT}: the table's name ends in .csv; reports go to a folder of the same name without it.") if $out !~ m{[^/]\.csv\z};
    my $reports = $out =~ s/\.csv\z//r;
    refuse("IN=$given{IN} is not a folder.") if !-d $in;
    refuse("OUT=$given{OUT} lies in IN=$given{IN}, where each folder is a student. Write it elsewhere.") if index("$out/", "$in/") == 0;
    my $most = asked('JOBS') // (`nproc 2> /dev/null` =~ /(\d+)/ ? $1 : 1);
    refuse("JOBS=$most is no number of hand-ins to judge at the same time.") if $most !~ /^[1-9]\d{0,3}$/;
    refuse('SECRET= draws a seed for each student, and SEED= is one for all. Give one of them.') if defined asked('SECRET') && defined asked('SEED');
    my $more = defined asked('EXERCISES') ? whole($given{EXERCISES}) : undef;
    refuse("EXERCISES=$given{EXERCISES} is not a folder.") if defined $more && !-d $more;
    my $summary = defined asked('SUMMARY') ? whole($given{SUMMARY}) : undef;
    my @students = students_in($in);
    refuse("IN=$given{IN} has no folders. Unpack what each student handed in into a folder there, which is called as the student.") if !@students;
    make_path("$reports/.judged", { error => \my $failed });
    refuse("cannot make the folder $reports/.judged: " . (values %{ $failed->[0] })[0]) if @$failed;
    open my $table, '>', "$out.part" or refuse("cannot write $out: $!");

    my ($bench, $version) = bench($more);
    chdir $bench or die "cannot enter $bench: $!\n";
    my @all = all_exercises();
    my @exercises = chosen_exercises(asked('ONLY'), @all);


    # what everybody handed in; of what is the same, one
    my (@rows, %jobs, @others);
    for my $student (@students) {
        my ($taken, $others) = hand_ins("$in/$student", @all);
        push @others, map { "$student/$_" } @$others;
        my $seed = defined asked('SECRET') ? student_seed($student, $given{SECRET}) : asked('SEED');
        for my $exercise (drawn_by($seed, @exercises)) {
            my %row = (student => $student, exercise => $exercise, %{ $taken->{ $exercise->{id} } });
            if (defined $row{text}) {
                $row{text} = as_meant($row{text});
                if (grep { $row{text} eq as_meant($_) } tasks($exercise)) {
                    $row{missing} = 'the task is as it was handed out';
                } else {
                    $row{kept} = "$reports/.judged/" . substr sha256_hex(join "\0", $version, $exercise->{id}, $seed // '', $row{text}), 0, 32;
                    $jobs{ $row{kept} } //= \%row if !-f $row{kept};
                }
            }
            push @rows, \%row;
        }
    }

    # the bench first, where what all need is built once, before two ask for it
    my %needed = map { $_->{exercise}{id} => $_->{exercise} } values %jobs;
    my @to_prepare = grep { !-f "build/prepared/$_->{id}" } map { $needed{$_} } sort keys %needed;
    print STDERR 'preparing the judge of ', number_of(scalar @to_prepare, 'exercise'), ", which is done once\n" if @to_prepare;
    my @failed = map { in_parallel($_->[0], 'preparing', $_->[1], sub { prepare($bench, $_[0]) }) } [1, [splice @to_prepare, 0, 1]], [$most, \@to_prepare];
    refuse("$_->[0]{id} cannot be judged: $_->[1]") for @failed;

    my @jobs = map { $jobs{$_} } sort { $jobs{$a}{exercise}{id} cmp $jobs{$b}{exercise}{id} || $a cmp $b } keys %jobs;
    my $begin = time;
    print STDERR 'judging ', number_of(scalar @jobs, 'answer'), ' of ', number_of(scalar @students, 'student'), "\n" if @jobs;
    @failed = in_parallel($most, 'judging', \@jobs, sub { judge($bench, $_[1], @{ $_[0] }{qw(exercise text kept)}) });
    my %failed = map { $_->[0]{kept} => $_->[1] } @failed;

    # the table, and a report for each answer
    my %count;
    print $table "student,exercise,state,points,of,goals_met,goals,seconds,reason\n";
    my (%used, @lines);
    for my $row (@rows) {
        my $of = minutes($row->{exercise});
        my $report = "$reports/" . safe_name($row->{student}) . "/$row->{exercise}{id}.txt";
        my ($verdict, $reason);
        for my $state (qw(missing refused)) {
            ($verdict, $reason) = ({ state => $state, met => 0, goals => 0, seconds => 0 }, $row->{$state}) if defined $row->{$state};
        }
        if (!$verdict && defined $failed{ $row->{kept} }) {
            ($verdict, $reason) = ({ state => 'wrong', met => 0, goals => 0, seconds => 0 }, "NOT JUDGED: $failed{ $row->{kept} }");
        } elsif (!$verdict) {
            $used{ $row->{kept} } = 1;
            $verdict = kept($row->{kept}) // die "$row->{kept} has gone\n";
            $reason = $verdict->{state} eq 'solved' ? '' : reason($verdict->{report});
        }
        if (defined $verdict->{report}) {
            write_text($report, "$row->{exercise}{id} $row->{exercise}{title}\n\n$verdict->{report}");
        } else {
            unlink $report;
        }
        $count{ $verdict->{state} }++;
        my $points = points($of, @$verdict{qw(state met goals)});
        print $table csv($row->{student}, $row->{exercise}{id}, $verdict->{state}, $points, $of, @$verdict{qw(met goals seconds)}, $reason);
        push @lines, [$row->{student}, $row->{exercise}, $verdict->{state}, $points, $of, $reason];
    }
    close $table or refuse("cannot write $out: $!");
    rename "$out.part", $out or refuse("cannot write $out: $!");
    if (!defined asked('ONLY')) { # of other versions, or no longer handed in
        unlink grep { !$used{$_} } bsd_glob "\Q$reports\E/.judged/*";
    }
    write_summary($summary, @lines) if defined $summary;

    printf "%s: %s, %s: %s\n", $given{OUT}, number_of(scalar @students, 'student'), number_of(scalar @exercises, 'exercise'),
        join ', ', map { ($count{$_} // 0) . " $_" } qw(solved over_goal wrong refused missing);
    print "reports: ", $given{OUT} =~ s/\.csv\z//r, "/STUDENT/", $exercises[0]{id}, ".txt\n";
    print 'belonging to no exercise: ', number_of(scalar @others, 'file'), ', the first is ', one_line($others[0]), "\n" if @others;
    print STDERR 'NOT JUDGED: ', one_line($_->[0]{student}), " $_->[0]{exercise}{id}: $_->[1]\n" for @failed;
    return @failed ? 1 : 0;
}

# The table as Markdown, for a page that a student sees: without names where there is one student.
sub write_summary {
    my ($path, @lines) = @_;
    my %students = map { $_->[0] => 1 } @lines;
    my ($reached, $all) = (0, 0);
    my $text = (keys %students > 1 ? '| student ' : '') . "| exercise | | points | of | |\n" . (keys %students > 1 ? '|---' : '') . "|---|---|---:|---:|---|\n";
    my $missing = 0;
    for (@lines) {
        my ($student, $exercise, $state, $points, $of, $reason) = @$_;
        $all += $of;
        if ($state eq 'missing') {
            $missing++;
            next;
        }
        my ($student_says, $says) = map { one_line($_) =~ s/([\\|`*_<>\[\]&])/\\$1/gr } $student, $reason;
        $text .= (keys %students > 1 ? "| $student_says " : '') . "| $exercise->{id} $exercise->{title} | $state | $points | $of | $says |\n";
        $reached += $points;
    }
    open my $file, '>>', $path or refuse("cannot write $path: $!");
    print $file "**$reached of $all points**\n\n$text\n$missing not handed in, or as handed out.\n\n";
    close $file or refuse("cannot write $path: $!");
}

sub seed {
    my ($student, $secret) = map { asked($_) // refuse("Say it like this: make seed STUDENT=anna SECRET=yours") } qw(STUDENT SECRET);
    print student_seed($student, $secret), "\n";
    return 0;
}

my %commands = (class => \&class, seed => \&seed);
my $run = $commands{$command} // refuse("usage: $0 " . join('|', sort keys %commands) . ' [NAME=VALUE...]');
my $status = eval { $run->() };
refuse($@ =~ s{\n\z}{}r) if !defined $status;
exit $status;
