#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# class.pl COMMAND [NAME=VALUE...] - `make class' and `make seed' (common/build/exercises.mk; docs/teach/marks.md explains them).
#
#   class IN=FOLDER OUT=class.csv   judges what the folders in FOLDER hold, one for each student: a table, and reports in class/STUDENT/02.1.txt
#       SECRET=TEXT                 each student's data is drawn from name and secret; SEED=N: the same number for all
#       ONLY=02.1,03                these exercises, or all of these chapters
#       EXERCISES=FOLDER            an instructor's own exercises, too, in folders like the course's
#       JOBS=N                      so many hand-ins at the same time (all cores)
#       SUMMARY=FILE                the table once more, in Markdown, at the end of FILE
#   seed STUDENT=NAME SECRET=TEXT   a student's number, for SEED=
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
use HandIn;
use Sandbox;
use Students;

my $command = shift // '';
my %given = map { /^(\w+)=(.*)$/s ? ($1 => $2) : () } @ARGV;
$ENV{BACKEND} ||= 'sim'; # where no makefile has chosen
my $longest = 3600; # seconds that judging one hand-in may take; the judge has limits of its own, far below, also on a busy machine
$| = 1;

# Ends with one sentence.
sub refuse { print STDERR "$_[0]\n"; exit 2 }
sub asked { return defined $given{ $_[0] } && $given{ $_[0] } ne '' ? $given{ $_[0] } : undef }

# A path as it was typed, from where make was called.
sub whole { return File::Spec->rel2abs($_[0], $given{FROM} // '.') }

sub number_of { return "$_[0] $_[1]" . ($_[0] == 1 ? '' : 's') }

# ---- marks ----

# An exercise gives as many points as it is thought to take minutes (judges/NAME.txt). Who is right but misses goals has two fifths of them for the right
# result, and of the other three the share of the goals that are met (goals_met). Where the task as it is handed out is right, too, and meets some goals (task_met; -1: it
# is wrong), that is worth nothing: the share of the other goals counts. All else gives none.
sub points {
    my ($of, $state, $met, $goals, $task_met) = @_;
    return $of if $state eq 'solved';
    return 0 if $state ne 'over_goal' || !$goals;
    my $share = $task_met < 0 ? 0.4 + 0.6 * $met / $goals : $met > $task_met ? ($met - $task_met) / ($goals - $task_met) : 0;
    return sprintf('%.1f', $of * $share) + 0;
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


# Does `work' for each of the jobs, so many at a time, for so many seconds an answer at most (undef: as long as it takes), each in a process and a process group of its own, which has ended when the next one begins, and
# with a new folder, which is removed. `work' gets job and folder, and returns nothing: what it finds it writes. Returns [job, what went wrong] of those that did not end well.
my %running; # process => its job and when it began
sub in_parallel {
    my ($most, $limit, $what, $jobs, $work) = @_;
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
                push @failed, [$one->{job}, $one->{late} ? "judging took more than $limit seconds" : reason($said eq '' ? "the judge's process ended ($status)" : $said)];
            }
            close $one->{says};
            remove_tree($one->{folder});
            $done++;
        } else {
            for (grep { defined $limit && time - $running{$_}{begin} > $limit * @{ $running{$_}{job}{answers} } } keys %running) {
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

# ---- what has been judged: `state goals_met goals seconds known task_met rank', and the report. known: 1 for our solution, names aside; task_met: how many
# goals the task meets as it is handed out, -1: it is not right; rank: the numbers of a leaderboard, `bytes=12.02,chain=591', or `-' ----

sub kept {
    my ($path) = @_;
    my ($first, $report) = split /\n/, read_text($path) // return, 2;
    my ($state, $met, $goals, $seconds, $known, $task_met, $rank) = split ' ', $first;
    return { state => $state, met => $met, goals => $goals, seconds => $seconds, known => $known, task_met => $task_met, rank => [map { [split /=/] } split /,/, $rank eq '-' ? '' : $rank], report => $report // '' };
}

sub keep {
    my ($path, $state, $met, $goals, $seconds, $known, $task_met, $rank, $report) = @_;
    write_text("$path.part", sprintf "%s %d %d %.1f %d %d %s\n%s", $state, $met, $goals, $seconds, $known, $task_met, $rank, $report);
    rename "$path.part", $path or die "cannot write $path: $!\n";
}

# Judges the answers of a job, and keeps the verdicts: one answer with code in a copy, or predictions about the same numbers at the bench, where these
# are counted once. Each is called as a student's copy of the task is, whatever its name was.
sub judge {
    my ($bench, $folder, $job) = @_;
    my $exercise = $job->{exercise};
    $exercise->{task_met} = 0 + (read_text("$bench/build/prepared/$exercise->{id}") // -1);
    if ($exercise->{predict}) {
        chdir $bench or die "cannot enter $bench: $!\n";
    } else {
        fill_copy($folder, $bench, $exercise);
    }
    judge_one($exercise, @$_) for @{ $job->{answers} };
}

sub judge_one {
    my ($exercise, $text, $path) = @_;
    my $begin = time;
    my ($state, $report, @goals) = judge_answer($exercise, $text, $exercise->{mine}, "$exercise->{id}.$$");

    my $goals = @goals || grep { $_->{text} !~ /^(?:time|registers)\b/ } @{ $exercise->{goal} // [] };
    my $rank = join ',', map { sprintf '%s=%.6g', @$_ } rank_of($exercise, @goals);
    keep($path, $state, goals_met(@goals), $goals, time - $begin, is_known_solution($exercise, $text), $exercise->{task_met}, $rank eq '' ? '-' : $rank, $report);
}

# The same exercises with the data of a seed, undef: the usual one.
sub drawn_by {
    my ($seed, @exercises) = @_;
    return @exercises if !defined $seed;
    my %drawn = map { $_->{id} => $_ } all_exercises($seed);
    return map { { %{ $drawn{ $_->{id} } }, seed => $seed } } @exercises;
}

# Whether nobody has touched an answer: it is the task as it stands, or as the seed draws it; of code, comments and layout aside.
sub is_task {
    my ($exercise, $text) = @_;
    return scalar grep { $exercise->{predict} ? $text eq as_meant($_) : has_same_words($text, $_, $exercise->{on_cpu}) } read_text($exercise->{path}), task_text($exercise);
}

# Builds at the bench what all answers to an exercise share, by judging its task: code that is ours.
sub prepare {
    my ($bench, $exercise) = @_;
    chdir $bench or die "cannot enter $bench: $!\n";
    my $text = $exercise->{predict} ? join '', map { $_->{text} =~ /^(\w+)/ ? "$1 = 0\n" : () } @{ $exercise->{ask} } : read_text($exercise->{path});
    my ($state, undef, @goals) = judge_answer($exercise, $text, $exercise->{path}, "$exercise->{id}.task");
    write_text("build/prepared/$exercise->{id}", ($state eq 'over_goal' ? goals_met(@goals) : -1) . "\n");
}

# ---- commands ----

# What everybody handed in: a row for each student and exercise, in the order of the table; what has to be judged of it (of the same text for the same data
# one, and predictions about the same numbers together), as { exercise, answers => [[text, where the verdict is kept] ...] }; and files that are none of it.
sub gather {
    my ($in, $reports, $version, $all, $exercises) = @_;
    my (@rows, %jobs, %asked);
    my @others = map { s{.*/}{}sr } grep { -f } bsd_glob("\Q$in\E/*"); # an archive that nobody has unpacked, for example
    for my $student (students_in($in)) {
        my ($taken, $others) = hand_ins("$in/$student", @$all);
        push @others, map { "$student/$_" } @$others;
        my $seed = defined asked('SECRET') ? student_seed($student, $given{SECRET}) : asked('SEED');
        for my $exercise (drawn_by($seed, @$exercises)) {
            my %row = (student => $student, exercise => $exercise, %{ $taken->{ $exercise->{id} } });
            if (defined $row{text}) {
                $row{text} = as_meant($row{text});
                if (is_task($exercise, $row{text})) {
                    $row{missing} = 'the task is as it was handed out';
                } else {
                    $row{kept} = "$reports/.judged/" . substr sha256_hex(join "\0", $version, $exercise->{id}, $seed // '', $row{text}), 0, 32;
                    if (!-f $row{kept} && !$asked{ $row{kept} }++) {
                        my $together = $exercise->{predict} ? "$exercise->{id} " . ($seed // '') : $row{kept};
                        $jobs{$together}{exercise} = $exercise;
                        push @{ $jobs{$together}{answers} }, [@row{qw(text kept)}];
                    }
                }
            }
            push @rows, \%row;
        }
    }
    my @jobs = map { $jobs{$_} } sort { $jobs{$a}{exercise}{id} cmp $jobs{$b}{exercise}{id} || $a cmp $b } keys %jobs;
    return (\@rows, \@jobs, \@others);
}

# A row's line of the table, as a hash; and the report of its answer, which is written.
sub line_of {
    my ($row, $reports, $failed) = @_;
    my ($exercise, $kept) = @$row{qw(exercise kept)};
    my %line = (student => $row->{student}, exercise => $exercise->{id}, title => $exercise->{title}, of => minutes($exercise), met => 0, goals => 0, times_ours => '', seconds => 0, kept => $kept);
    my $path = "$reports/" . safe_name($row->{student}) . "/$exercise->{id}.txt";
    my ($state) = grep { defined $row->{$_} } qw(missing refused);
    if (defined $state) {
        @line{qw(state reason)} = ($state, $row->{$state});
    } elsif (defined $failed->{$kept}) {
        @line{qw(state reason)} = ('wrong', "NOT JUDGED: $failed->{$kept}");
    } else {
        %line = (%line, %{ kept($kept) // die "$kept has gone\n" });
        my $times = times_ours($line{report});
        $line{times_ours} = defined $times ? sprintf '%.2f', $times : '';
        $line{reason} = $line{state} ne 'solved' ? reason($line{report}) : $line{known} ? 'the same as our solution, but for names, comments and layout'
            : ($times // 0) > 2 ? "look at it: it is estimated to take $line{times_ours} times as long as our solution" : '';
    }
    $line{points} = points(@line{qw(of state met goals task_met)});
    if (defined $line{report}) {
        write_text($path, "$exercise->{id} $exercise->{title}\n\n$line{report}");
    } else {
        unlink $path;
    }
    return \%line;
}

sub class {
    my $in = whole(asked('IN') // refuse('Where are the hand-ins? Say it like this: make class IN=handed_in OUT=class.csv'));
    my $out = whole(asked('OUT') // refuse('Into which table? Say it like this: make class IN=handed_in OUT=class.csv'));
    refuse("OUT=$given{OUT}: the table's name ends in .csv; reports go to a folder of the same name without it.") if $out !~ m{[^/]\.csv\z};
    my $reports = $out =~ s/\.csv\z//r;
    refuse("OUT=$given{OUT}: reports would go into $given{IN}, among the hand-ins; give the table another name.") if $reports eq $in =~ s{/+\z}{}r;
    refuse("IN=$given{IN} is not a folder.") if !-d $in;
    refuse("OUT=$given{OUT} lies in IN=$given{IN}, where each folder is a student. Write it elsewhere.") if index("$out/", "$in/") == 0;
    my $most = asked('JOBS') // (`nproc 2> /dev/null` =~ /(\d+)/ ? $1 : 1);
    refuse("JOBS=$most is no number of hand-ins to judge at the same time.") if $most !~ /^[1-9]\d{0,3}$/;
    refuse("SEED=$given{SEED} is no whole number.") if defined asked('SEED') && $given{SEED} !~ /^\d{1,9}$/;
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

    my ($rows, $jobs, $others) = gather($in, $reports, $version, \@all, \@exercises);

    # the bench first, where what all need is built once, before two ask for it
    my %needed = map { $_->{exercise}{id} => $_->{exercise} } @$jobs;
    my @to_prepare = grep { !-f "build/prepared/$_->{id}" } map { $needed{$_} } sort keys %needed;
    print STDERR 'preparing the judge of ', number_of(scalar @to_prepare, 'exercise'), ", which is done once\n" if @to_prepare;
    my @failed = map { in_parallel($_->[0], undef, 'preparing', $_->[1], sub { prepare($bench, $_[0]) }) } [1, [splice @to_prepare, 0, 1]], [$most, \@to_prepare];
    refuse("$_->[0]{id} cannot be judged: $_->[1]") for @failed;

    print STDERR "without SECRET= everybody gets the same data, which a result can be copied from: docs/teach/marks.md\n" if @$jobs && !defined asked('SECRET') && !defined asked('SEED');
    print STDERR 'judging ', number_of(scalar(map { @{ $_->{answers} } } @$jobs), 'answer'), ' of ', number_of(scalar @students, 'student'), "\n" if @$jobs;
    if (@$jobs && sandbox_missing()) {
        refuse(sandbox_missing() . ' A class is not judged so; UNSAFE=1 does it all the same.') if !asked('UNSAFE');
        print STDERR sandbox_missing(), "\n";
    }
    HandIn::c_library() if @$jobs; # here, and not once more for each answer
    @failed = in_parallel($most, $longest, 'judging', $jobs, sub { judge($bench, $_[1], $_[0]) });
    my %failed;
    for my $one (@failed) {
        $failed{ $_->[1] } = $one->[1] for grep { !-f $_->[1] } @{ $one->[0]{answers} };
    }

    my @lines = map { line_of($_, $reports, \%failed) } @$rows;
    print $table csv(qw(student exercise state points of goals_met goals times_ours seconds reason)), map { csv(@$_{qw(student exercise state points of met goals times_ours seconds reason)}) } @lines;
    close $table or refuse("cannot write $out: $!");
    rename "$out.part", $out or refuse("cannot write $out: $!");
    if (!defined asked('ONLY')) { # of other versions, or no longer handed in
        my %used = map { ($_->{kept} // '') => 1 } @$rows;
        unlink grep { !$used{$_} } bsd_glob "\Q$reports\E/.judged/*";
    }
    write_summary($summary, @lines) if defined $summary;
    write_leaderboard("$reports/leaderboard.csv", @lines);

    printf "%s: %s, %s: %s\n", $given{OUT}, number_of(scalar @students, 'student'), number_of(scalar @exercises, 'exercise'),
        join ', ', map { my $state = $_; grep({ $_->{state} eq $state } @lines) . " $state" } qw(solved over_goal wrong refused missing);
    print "reports: ", $given{OUT} =~ s/\.csv\z//r, "/STUDENT/", $exercises[0]{id}, ".txt\n";
    print 'belonging to no exercise: ', number_of(scalar @$others, 'file'), ', the first is ', one_line($others->[0]), "\n" if @$others;
    print STDERR 'NOT JUDGED: ', one_line($_->{student}), " $_->{exercise}: $failed{ $_->{kept} }\n" for grep { defined $failed{ $_->{kept} // '' } } @lines;
    return %failed ? 1 : 0;
}

# The tables of exercises that have one (`rank:'), the best first: solved before over_goal, then the fewest of what is counted. On a GPU the time comes first.
sub write_leaderboard {
    my ($path, @lines) = @_;
    my (%standing, $text);
    for my $line (grep { @{ $_->{rank} // [] } } @lines) {
        my %number = map { @$_ } @{ $line->{rank} };
        my @order = ($line->{state} ne 'solved', defined $number{time} ? $number{time} : (), map { $_->[1] } @{ $line->{rank} });
        push @{ $standing{ $line->{exercise} } }, { line => $line, order => \@order, number => \%number };
    }
    for my $exercise (sort keys %standing) {
        my @all = sort { my $by = 0; $by ||= $a->{order}[$_] <=> $b->{order}[$_] for 0 .. $#{ $a->{order} }; $by || $a->{line}{student} cmp $b->{line}{student} } @{ $standing{$exercise} };
        my @names = grep { $_ ne 'time' } map { $_->[0] } @{ $all[0]{line}{rank} };
        $text .= csv(qw(exercise place student state), @names, 'percent_of_add');
        my ($place, $last) = (0, '');
        for my $n (0 .. $#all) {
            my ($line, $number) = @{ $all[$n] }{qw(line number)};
            my $order = join ' ', @{ $all[$n]{order} };
            $place = $n + 1 if $order ne $last; # who is as good has the same place
            $last = $order;
            $text .= csv($exercise, $place, $line->{student}, $line->{state}, @$number{@names}, defined $number->{time} ? sprintf('%.1f', 100 / $number->{time}) : '');
        }
    }
    if (defined $text) {
        write_text($path, $text);
    } else {
        unlink $path;
    }
}

# The table as Markdown, for a page that a student sees: without names where there is one student.
sub write_summary {
    my ($path, @lines) = @_;
    my %students = map { $_->{student} => 1 } @lines;
    my ($reached, $all) = (0, 0);
    my $text = (keys %students > 1 ? '| student ' : '') . "| exercise | | points | of | |\n" . (keys %students > 1 ? '|---' : '') . "|---|---|---:|---:|---|\n";
    my $missing = 0;
    for (@lines) {
        my $line = $_;
        $all += $line->{of};
        if ($line->{state} eq 'missing') {
            $missing++;
            next;
        }
        my ($student_says, $says) = map { one_line($_) =~ s/([\\|`*_<>\[\]&])/\\$1/gr } @$line{qw(student reason)};
        $text .= (keys %students > 1 ? "| $student_says " : '') . "| $line->{exercise} $line->{title} | $line->{state} | $line->{points} | $line->{of} | $says |\n";
        $reached += $line->{points};
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
