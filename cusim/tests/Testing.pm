# SPDX-License-Identifier: MIT
# Testing.pm - shared by cusim's tests, which run in cusim's folder, wherever prove is called: `use` it first.
package Testing;
use strict;
use warnings;
use Exporter 'import';
use File::Spec;
use File::Temp 'tempdir';
use FindBin;
our @EXPORT = qw(run_program patiently scratch read_file write_file marked_line rows_of build_programs);

BEGIN {
    chdir(-e "$FindBin::Bin/../VERSION" ? "$FindBin::Bin/.." : "$FindBin::Bin/../..") or die "cusim's folder: $!\n";
    $ENV{LC_ALL} = 'C'; # messages are compared
    delete @ENV{ 'LANGUAGE', qw(MAKEFLAGS MAKELEVEL MFLAGS), grep { /^CUSIM_/ } keys %ENV };
}

# A folder for a test's files, or a file in it.
my $scratch;
sub scratch {
    $scratch //= tempdir(CLEANUP => 1, DIR => File::Spec->tmpdir);
    return @_ ? "$scratch/$_[0]" : $scratch;
}

sub read_file {
    open my $file, '<:raw', $_[0] or return undef;
    local $/;
    return scalar <$file>;
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!";
    print $file $text;
    close $file or die "$path: $!";
    return $path;
}

# Number of the line of a source that has a comment with this mark.
sub marked_line {
    my ($path, $mark) = @_;
    my @lines = split /\n/, read_file($path);
    index($lines[$_ - 1], "/* $mark */") >= 0 && return $_ for 1 .. @lines;
    die "$path has no mark '$mark'";
}

# The rows of a CSV file, below its lines of #: [{ column => value }].
sub rows_of {
    my ($columns, @rows) = map { [split /,/, $_, -1] } grep { !/^#/ } split /\n/, read_file($_[0]);
    return map { my %row; @row{@$columns} = @$_; \%row } @rows;
}

# Runs a command without a shell, with environment settings in an optional leading hash. Returns status, stdout, stderr.
sub run_program {
    my %env = ref $_[0] ? %{ shift() } : ();
    my ($out, $err) = (scratch('stdout'), scratch('stderr'));
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        @ENV{ keys %env } = values %env;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $out or die;
        open STDERR, '>', $err or die;
        exec { $_[0] } @_ or exit 127;
    }
    waitpid $pid, 0;
    return ($? & 127 ? 'signal ' . ($? & 127) : $? >> 8, read_file($out), read_file($err));
}

# A command that is ended after so many seconds of processor time, or twenty times as many by the clock.
sub patiently {
    my ($seconds, @command) = @_;
    return ('sh', '-c', 'ulimit -t "$0" 2> /dev/null; exec timeout "$((20 * $0))" "$@"', $seconds, @command);
}

# The programs of tests/*.cu are in build/tests: whether that went without a warning.
sub build_programs { return system('make -s -j2 -f tests/Makefile') == 0 }

1;
