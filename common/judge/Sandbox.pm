# SPDX-License-Identifier: MIT
# Sandbox.pm - keeps an answer apart from the rest of the machine while it is compiled, linked and run: by bubblewrap (Debian's package),
# where it is there and allowed to. There is then no network, no other process, no home; no solution, nobody else's answer. Where it runs it sees
# itself and the system's programs and libraries, and can write nowhere. A compiler sees the headers too that an answer may include, and writes the
# object alone. Where bubblewrap is missing, only limits hold (time, memory, output).
package Sandbox;
use strict;
use warnings;
use Cwd qw(getcwd realpath);
use Exporter 'import';
our @EXPORT = qw(sandboxed compiler_sandbox sandbox_missing);

# The start of a call of bubblewrap, as a list: the system's programs and libraries, and nothing else.
sub system_alone {
    my ($bwrap) = @_;
    my $root = getcwd();
    return ($bwrap, qw(--unshare-all --die-with-parent),
        qw(--ro-bind /usr /usr --ro-bind-try /bin /bin --ro-bind-try /lib /lib --ro-bind-try /lib64 /lib64 --ro-bind-try /etc/ld.so.cache /etc/ld.so.cache),
        $root =~ m{^/usr/} ? ('--tmpfs', $root) : ()); # a checkout among the system's files
}

# The call for compilers and linkers, which go on in common/judge: they see what they consist of, the folder `seen' in place of the repository, and in
# it these files and folders, and write into these folders, and 512 MB in /tmp. What is not there yet when the first compiler starts is there for the linker. `compilers' are programs that may lie elsewhere than in /usr.
sub compiler_sandbox {
    my ($seen, $readable, $writable, @compilers) = @_;
    my $root = getcwd();
    my @elsewhere = grep { !m{^/usr/} } map { s{/[^/]+/[^/]+$}{}r } grep { defined } map { realpath($_) } grep { m{^/} } @compilers;
    return (system_alone(bwrap()), qw(--ro-bind-try /etc/alternatives /etc/alternatives --proc /proc --dev /dev --size 536870912 --tmpfs /tmp),
        '--bind', "$root/$seen", $root, map({ ('--bind', "$root/$_", "$root/$_") } @$writable), map({ ('--ro-bind-try', $_, $_) } @elsewhere, map { "$root/$_" } @$readable),
        '--remount-ro', $root, qw(--remount-ro / --chdir), "$root/common/judge");
}

sub bwrap { return (grep { -x } map { "$_/bwrap" } split(/:/, $ENV{PATH} // ''), '/usr/bin')[0] }

# The call of bubblewrap for a program, as a list. On a GPU it sees the devices, too.
sub bubblewrap {
    my ($bwrap, $program, $gpu) = @_;
    return (system_alone($bwrap), getcwd() =~ m{^/usr/} ? ('--remount-ro', getcwd()) : (), '--proc', '/proc', $gpu ? qw(--dev-bind /dev /dev --ro-bind-try /sys /sys) : qw(--dev /dev --remount-ro /dev),
        '--ro-bind', $program, '/answer', qw(--remount-ro / --chdir / /answer));
}

my %missing; # a sentence, for programs on the simulator ('') and on a GPU (1); '' where nothing is missing
our $off;    # a sentence, where answers shall run without it

# Why answers run without bubblewrap: a sentence, or '' where they run in it. $try: what is started to find out, if not `true'; it gets a
# command, and returns whether that ran as it should.
sub sandbox_missing {
    my ($gpu, $try) = ($_[0] ? 1 : '', $_[1] // sub { system(@_) == 0 });
    return $off // $missing{$gpu} if defined($off // $missing{$gpu});
    my $bwrap = bwrap();
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
    return sandbox_missing($gpu, $try, $program) eq '' ? bubblewrap(bwrap(), $program, $gpu) : $program;
}

1;
