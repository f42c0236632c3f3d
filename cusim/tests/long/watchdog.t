#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# On a machine that is busy, a kernel that gets nowhere is stopped by the clock, long before it has had so much of the processor's time.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";
use Testing;
use Test::More;

is(build_programs(), 1, 'programs build') or BAIL_OUT('no programs');

my $said   = scratch('said');
my $before = of_children();
my $pid    = fork // die "fork: $!";
if ($pid == 0) {
    $ENV{CUSIM_WATCHDOG} = 5;    # 5 s of the processor's time; or 10 s by the clock, and 2 of them the processor's
    open STDOUT, '>', '/dev/null';
    open STDERR, '>', $said;
    exec 'build/tests/wrong', 'endless_register';
    die "exec: $!";
}

# It runs for more than a second, and is then kept from running, as other programs might keep it.
select undef, undef, undef, 0.1 while waitpid($pid, 1) == 0 && processor_time($pid) < 1.3;
kill STOP => $pid;
sleep 11;
kill CONT => $pid;
waitpid $pid, 0;
my $status = $? >> 8;
is($status, 1, 'an error');
like(read_file($said), qr/: error: kernel endless_register, .* loops for 5 s without an end/, 'which says so');
cmp_ok(of_children() - $before, '<', 4.5, 'before it has had 5 s of the processor');
unlink $said;
done_testing;

# Seconds that children have had which have ended.
sub of_children {
    my (undef, undef, $user, $system) = times;
    return $user + $system;
}

# And those that one has had which runs, from the 14th and 15th field behind its name.
sub processor_time {
    my @fields = split ' ', read_file("/proc/$_[0]/stat") =~ s/.*\) //sr;
    return ($fields[11] + $fields[12]) / 100;
}
