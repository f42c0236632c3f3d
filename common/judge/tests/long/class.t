# SPDX-License-Identifier: MIT
# Two classes judged at the same time, one with a vandal in it, give the tables that each gives alone, but for the
# seconds; with a seed of each student's, too, and with another number of jobs.
use strict;
use warnings;
use lib 'common/base', 'common/judge', 'common/judge/tests';
use Battery;
use Exercises;
use File::Path 'make_path';
use Run;
use Sandbox;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL)};
mkdir($ENV{TMPDIR} = scratch('tmp'));
my @ids = qw(01.3 02.1 02.2 02.3);
my %exercise = map { $_->{id} => $_ } all_exercises();

sub hand_in {
    my ($class, $student, $id, $text) = @_;
    my $path = scratch("$class/$student/" . $exercise{$id}{mine});
    make_path($path =~ s{/[^/]*\z}{}r);
    write_file($path, $text);
}
sub solution { return read_text($exercise{ $_[0] }{solution}) }

# right, wrong by the first mistake that the exercise knows, or not there
my $turn = 0;
for my $class (qw(monday tuesday)) {
    for my $student ('anna', "b'ert", 'c d') {
        for my $id (@ids) {
            my ($mutant) = @{ $exercise{$id}{mutant} // [] };
            my $what = $turn++ % 5;
            next if $what == 4;
            hand_in($class, $student, $id, $what == 3 && $mutant ? Exercises::mutate($exercise{$id}, $mutant, solution($id))
                : solution($id) . ($id eq '02.3' ? "# $turn\n" : "/* $turn */\n"));
        }
    }
}
# spoils all that it can reach: what lies beside it, above it, and in the folder for temporary files; then it starts a process that goes on with that
hand_in('tuesday', 'vandal', '02.1', "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n" . solution('02.1') . <<'END');
__attribute__((constructor)) static void spoil(void)
{
    if (fork() == 0) {
        for (int i = 0; i < 20; i++) {
            if (system("for f in $(find . ../../.. -name '*.o' -newer /etc/passwd -path '*judged_*' 2> /dev/null | head -200); do echo spoiled > $f; done; "
                       "for f in common/judge/* 0*/exercises/judges/*; do echo spoiled >> $f; done") != 0)
                continue;
            usleep(250000);
        }
        _exit(0);
    }
}
END

sub begin_class {
    my ($class, $out, @more) = @_;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        open STDOUT, '>', scratch("$out.said");
        open STDERR, '>&', \*STDOUT;
        exec 'make', '-s', 'class', sandbox_missing() ? 'UNSAFE=1' : (), 'IN=' . scratch($class), 'OUT=' . scratch("$out.csv"), 'ONLY=' . join(',', @ids), @more;
    }
    return $pid;
}
sub table_of {
    my ($out) = @_;
    my $table = read_text(scratch("$out.csv")) // '';
    return $table =~ s/^((?:"(?:[^"]|"")*"|[^",\n]*)(?:,[^,\n]*){7}),[\d.]+,/$1,,/mgr; # without the seconds
}

my %alone;
for my $class (qw(monday tuesday)) {
    waitpid begin_class($class, "$class.alone", 'JOBS=1'), 0;
    is($?, 0, "$class alone") or diag(read_text(scratch("$class.alone.said")));
    $alone{$class} = table_of("$class.alone");
    is(scalar(() = $alone{$class} =~ /^(?:anna|b'ert|c d),/mg), 3 * @ids, 'a line a student and exercise');
}
like($alone{monday}, qr/,$_,/, "with $_ ones in it") for qw(solved wrong missing);
my %pid = map { $_ => begin_class($_, "$_.beside", 'JOBS=2') } qw(monday tuesday);
for my $class (sort keys %pid) {
    waitpid $pid{$class}, 0;
    is($?, 0, "$class beside the other one");
    is(table_of("$class.beside"), $alone{$class}, 'the same table');
}

waitpid begin_class('monday', 'monday.seeds', 'SECRET=of ours', 'JOBS=2'), 0;
is($?, 0, 'monday, with a seed for each student') or diag(read_text(scratch('monday.seeds.said')));
sub states { return join ' ', map { /^((?:[^,]*,){3})/ ? $1 : () } grep { !/,02.3,/ } split /\n/, $_[0] }
is(states(table_of('monday.seeds')), states($alone{monday}), 'right is right with other data, too; but for a prediction, whose numbers are drawn');
# one thread for all: two fifths, whatever goals it meets
hand_in('friday', 'one lane', '04.2', $_->{text}) for grep { $_->{name} eq 'one_lane' } battery('cheats');
@ids = qw(04.2);
waitpid begin_class('friday', 'friday.alone', 'JOBS=1'), 0;
like(table_of('friday.alone'), qr/^one lane,04\.2,over_goal,12,30,0,\d,/m, 'one lane: no goals, and two fifths of the points') or diag(table_of('friday.alone'));
is_deeply([glob scratch('tmp/*')], [], 'nothing is left behind');
done_testing();
