# SPDX-License-Identifier: MIT
# Run.pm - runs programs and reads what these write, for scripts and tests. It knows nothing of the course.
package Run;
use strict;
use warnings;
use Exporter 'import';
use File::Spec;
use File::Temp 'tempdir';
our @EXPORT = qw(run_program patiently scratch read_file write_file marked_line refuses);

# Messages are compared: perl and the compilers must not speak another language, or complain of a locale that is not there.
$ENV{LC_ALL} = 'C';
delete $ENV{LANGUAGE};

# A folder for a test's files, or a file in it. Its name has no blank: make and glob would take it for two.
my $scratch;
sub scratch {
    $scratch //= tempdir(CLEANUP => 1, DIR => File::Spec->tmpdir =~ /\s/ ? '/tmp' : File::Spec->tmpdir);
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
    for my $number (1 .. @lines) {
        return $number if index($lines[$number - 1], "/* $mark */") >= 0;
    }
    die "$path has no mark '$mark'";
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
        unshift @_, split ' ', $ENV{RUN} // '' if $_[0] =~ m{^build/cuda}; # what starts programs that want a GPU (common/build/config.mk)
        exec { $_[0] } @_ or exit 127;
    }
    waitpid $pid, 0;
    my $status = $? & 127 ? 'signal ' . ($? & 127) : $? >> 8;
    return ($status, read_file($out), read_file($err));
}

# A command that is ended if it hangs: after so many seconds of processor time, or twenty times as many by the clock, since what hangs may also
# sleep. Other work on the machine, which may leave a process a tenth of a core, ends nothing.
sub patiently {
    my ($seconds, @command) = @_;
    return ('sh', '-c', 'ulimit -t "$0" 2> /dev/null; exec timeout "$((20 * $0))" "$@"', $seconds, @command);
}

# One test: the command ends with status 2, says nothing on stdout and exactly one line, which matches, on stderr.
sub refuses {
    my ($name, $like, @command) = @_;
    my ($status, $out, $err) = run_program(@command);
    my @lines = split /\n/, $err;
    my $good = $status eq 2 && $out eq '' && @lines == 1 && $err =~ $like;
    Test::More::ok($good, "refused: $name") or Test::More::diag("status $status\nstdout: $out\nstderr: $err");
}

1;
