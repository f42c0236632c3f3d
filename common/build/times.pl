#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# times.pl [--write] CHAPTER - the times of the commands of README on this machine, on the simulator, and of the build of one chapter: prints a
# table, and with --write puts it into docs/machines.md. It copies the sources to a folder of its own, so that nothing is built yet, and leaves this checkout alone.
use strict;
use warnings;
use File::Temp 'tempdir';
use POSIX 'strftime';
use Time::HiRes 'time';

my $page = 'docs/machines.md';
my $write = @ARGV && $ARGV[0] eq '--write' && shift;
my ($chapter) = @ARGV;
die "usage: $0 [--write] CHAPTER\n" if @ARGV != 1;

delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
@ENV{qw(BACKEND CCACHE_DISABLE)} = ('sim', 1);

# The files as git has them, with what is changed and new here; without git all but what is built.
sub copy_of_sources {
    my $to = tempdir(CLEANUP => 1);
    system("{ git ls-files -z -co --exclude-standard 2> /dev/null || find . -path ./build -prune -o -path ./results -prune -o -type f -print0; } "
        . "| perl -0ne 'chomp; print \"\$_\\0\" if -e' | tar cf - --null -T - | tar xf - -C '$to'") == 0 or die "the sources could not be copied\n";
    return $to;
}

# Seconds of a command, CPU seconds, and after how many seconds the first line came that $first matches.
sub times_of {
    my ($folder, $command, $first) = @_;
    my ($begin, @before, $seen) = (time, times);
    open my $out, '-|', "cd '$folder' && { $command; } 2>&1" or die "$command: $!\n";
    my $last = '';
    while (my $line = <$out>) {
        $seen //= time - $begin if defined $first && $line =~ $first;
        $last .= $line;
        $last = substr $last, -2000 if length $last > 2000;
    }
    close $out or die "$command failed:\n$last";
    my @after = times;
    return (time - $begin, $after[2] + $after[3] - $before[2] - $before[3], $seen);
}

# A machine with other work measures that, too.
my $load = (split ' ', do { open my $in, '<', '/proc/loadavg' or die "/proc/loadavg: $!\n"; <$in> })[0];
warn "the load of this machine is $load: it is not quiet\n" if $load > 0.5;

my @rows;
my $tree = copy_of_sources();
push @rows, ["`make -C $chapter`", (times_of($tree, "make -C $chapter"))[0, 1]];
$tree = copy_of_sources();
my ($seconds, $cpu, $first) = times_of($tree, 'make run', qr/^build\/\S+ > \S+: /);
push @rows, ['`make run`, its first result', $first], ['`make run`', $seconds, $cpu];
push @rows, ['`make test`, after it', (times_of($tree, 'make test'))[0, 1]];

my ($model) = map { /^model name\s*: (.*?)\s*$/ ? $1 : () } do { open my $in, '<', '/proc/cpuinfo'; $in ? <$in> : () };
chomp(my $cores = `nproc`);
chomp(my $compiler = `g++ -dumpfullversion`);
my $table = "| on the simulator | seconds | CPU seconds |\n|---|---:|---:|\n"
    . join('', map { my ($what, @numbers) = @$_; "| $what | " . join(' | ', map { defined $numbers[$_] ? sprintf '%.0f', $numbers[$_] : '' } 0, 1) . " |\n" } @rows)
    . sprintf "\n*%d cores of %s, g++ %s, %s.*\n", $cores, $model // 'an unknown CPU', $compiler, strftime('%Y-%m-%d', localtime);
print $table;
exit if !$write;

open my $in, '<', $page or die "$page: $!\n";
my $text = do { local $/; <$in> };
$text =~ s/(<!-- written by make times WRITE=1 -->\n).*?(?=\n#|\z)/$1$table/s or die "$page has no place for the table\n";
open my $out, '>', $page or die "$page: $!\n";
print $out $text;
close $out or die "$page: $!\n";
