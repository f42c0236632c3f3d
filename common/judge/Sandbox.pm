# SPDX-License-Identifier: MIT
# Sandbox.pm - keeps an answer's process apart from the rest of the machine: by bubblewrap (Debian's package), where it is there and
# allowed to. It has then no network, no other processes, no home, no repository, and nothing that it could write to; it sees itself and
# the system's programs and libraries. Where bubblewrap is missing, only the limits of judge.c hold (time, memory, output).
package Sandbox;
use strict;
use warnings;
use Cwd 'getcwd';
use Exporter 'import';
our @EXPORT = qw(sandboxed sandbox_missing);

# The call of bubblewrap for a program, as a list. On a GPU it sees the devices, too.
sub bubblewrap {
    my ($bwrap, $program, $gpu) = @_;
    my $root = getcwd();
    return ($bwrap, qw(--unshare-all --die-with-parent),
        qw(--ro-bind /usr /usr --ro-bind-try /bin /bin --ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 --ro-bind-try /etc/ld.so.cache /etc/ld.so.cache),
        $root =~ m{^/usr/} ? ('--tmpfs', $root, '--remount-ro', $root) : (), # a checkout among the system's files
        '--proc', '/proc', $gpu ? qw(--dev-bind /dev /dev --ro-bind-try /sys /sys) : qw(--dev /dev --remount-ro /dev),
        '--ro-bind', $program, '/answer', qw(--remount-ro / --chdir / /answer));
}

my %missing; # a sentence, for programs on the simulator ('') and on a GPU (1); '' where nothing is missing
our $off;    # a sentence, where answers shall run without it

# Why answers run without bubblewrap: a sentence, or '' where they run in it. $try: what is started to find out, if not `true'; it gets a
# command, and returns whether that ran as it should.
sub sandbox_missing {
    my ($gpu, $try) = ($_[0] ? 1 : '', $_[1] // sub { system(@_) == 0 });
    return $off // $missing{$gpu} if defined($off // $missing{$gpu});
    my ($bwrap) = grep { -x } map { "$_/bwrap" } split(/:/, $ENV{PATH} // ''), '/usr/bin';
    return $missing{$gpu} = "bubblewrap is not installed, so an answer runs with the rights of whoever judges it; Debian's package `bubblewrap' keeps it apart."
        if !defined $bwrap;
    open my $errors, '>&', \*STDERR or die "dup: $!\n";
    open STDERR, '>', '/dev/null';
    my $works = $try->(bubblewrap($bwrap, $gpu ? $_[2] : '/bin/true', $gpu));
    open STDERR, '>&', $errors;
    return $missing{$gpu} = $works ? '' : 'bubblewrap is installed but not allowed to run here, so an answer runs with the rights of whoever judges it.';
}

# The command that runs a program (a whole path), kept apart where that is possible.
sub sandboxed {
    my ($program, $gpu, $try) = @_;
    return sandbox_missing($gpu, $try, $program) eq '' ? bubblewrap((grep { -x } map { "$_/bwrap" } split(/:/, $ENV{PATH} // ''), '/usr/bin')[0], $program, $gpu) : $program;
}

1;
