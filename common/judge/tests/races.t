# SPDX-License-Identifier: MIT
# Races in plain C are found by gcc's sanitizer, which does not start where a system draws addresses from a wide range. So an answer's addresses are
# not drawn; and where the sanitizer does not start all the same, that is said.
use strict;
use warnings;
use lib 'common/tests', 'common/judge';
use Exercises;
use HandIn;
use Linrec;
use Test::More;

{
    no warnings 'redefine';
    *HandIn::refused_text = *HandIn::refused_object = sub { return undef };
}
my ($exercise) = grep { $_->{id} eq '01.4' } all_exercises();
my $solution = read_text($exercise->{solution});

# What judging says, and prints to stderr.
sub judged {
    my ($text) = @_;
    open my $kept, '>&', \*STDERR or die "dup: $!";
    open STDERR, '>', scratch('said') or die "said: $!";
    my ($state, $report) = judge_answer($exercise, $text, 'answer.c', 'races');
    open STDERR, '>&', $kept or die "dup: $!";
    return ($state, $report, read_file(scratch('said')));
}

SKIP: {
    skip 'this system does not let a program ask for addresses that are not drawn', 1 if system('setarch -R true 2> /dev/null') != 0;
    my ($state, $report) = judged(qq(#include <stdlib.h>\n#include <sys/personality.h>\n)
        . qq(__attribute__((constructor)) static void look(void) { if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) abort(); }\n) . $solution);
    is($state, 'solved', 'the answer\'s addresses are not drawn') or diag($report);
}

my ($state, undef, $said) = judged($solution);
ok($state eq 'solved' && $said !~ /sanitizer/, 'a right answer, in which races were looked for') or diag("$state $said");
{
    no warnings 'redefine';
    my $runs = \&Exercises::run_judge;
    *Exercises::run_judge = sub { return $_[1] =~ m{/raced$} ? { right => 0, said => "\@ended 66\n", complained => "FATAL: ThreadSanitizer\n" } : $runs->(@_) };
}
($state, undef, $said) = judged($solution);
like($said, qr/^\(gcc's sanitizer for races does not start here, [^\n]*\)\n\z/m, 'a sanitizer that does not start') or diag($state);
done_testing;
