# SPDX-License-Identifier: MIT
# make class: a folder a student, whatever it is called; what counts as a hand-in; a line of the table for each student and exercise; points; what was
# judged is kept; no hand-in touches another one's verdict or the course.
use strict;
use warnings;
use lib 'common/base', 'common/judge';
use Exercises;
use File::Path 'make_path';
use POSIX 'WNOHANG';
use Run;
use Sandbox;
use Students;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL)};
$ENV{BACKEND} = 'sim'; # as `make class' chooses for class.pl, which is also called without it here
mkdir $ENV{TMPDIR} = scratch('tmp'); # scratch() is there already

# ---- hand-ins: which file is which exercise's ----

my @all = all_exercises();
my $in = scratch('handed_in');
sub hand_in {
    my ($student, $path, $text) = @_;
    make_path("$in/$student/$path" =~ s{/[^/]*\z}{}r);
    write_file("$in/$student/$path", $text);
}
sub solution { return read_text((grep { $_->{id} eq $_[0] } @all)[0]{solution}) }
sub task { return read_text((grep { $_->{id} eq $_[0] } @all)[0]{path}) }

my $odd = "Zo\xc3\xab \$HOME 'n' \"q\"\n;rm, x"; # bytes of UTF-8
hand_in('places', $_->[0], $_->[1])
    for ['02_cuda_ref/exercises/mine/add.cu', 'mine'], ['02_cuda_ref/exercises/add.cu', 'the task'], ['02_cuda_ref/exercises/solutions/add.cu', 'ours'],
    ['columns.cu', 'alone'], ['count.txt', 'of which chapter?'], ['04_warp_scan/count.txt', 'of 04'], ['03_tile/step.cu', 'of 03'], ['deep/er/step.cu', 'of 03 or 09?'],
    ['one/wide.cu', 'a'], ['two/wide.cu', 'b'], ['one/strided.cu', 'same'], ['two/strided.cu', 'same'], ['03.4 last.cu', 'by its number'], ['what.cu', '?'], ['all.tar.gz', '?'];
symlink '/etc/passwd', "$in/places/mend.cu";
hand_in('places', 'scan.cu', 'x' x 1_000_001);
my ($taken, $others) = hand_ins("$in/places", @all);
is($taken->{'02.1'}{text}, 'mine', 'of a whole checkout the folder mine counts');
is($taken->{'02.4'}{text}, 'alone', 'a file alone, where its name is one exercise\'s');
like($taken->{'02.3'}{missing}, qr/^count.txt: tasks of several chapters are called so; put it into a folder 02_cuda_ref$/, 'a name of several exercises, and no folder');
is($taken->{'04.1'}{text}, 'of 04', 'and with a folder called as the chapter');
is($taken->{'03.2'}{text}, 'of 03', 'which counts whatever lies elsewhere');
like($taken->{'02.5'}{missing}, qr/^two files, and no telling which one counts: one\/wide.cu and two\/wide.cu$/, 'two that differ');
is($taken->{'02.2'}{text}, 'same', 'two that do not');
is($taken->{'03.4'}{text}, 'by its number', 'a name that begins with the number');
like($taken->{'03.3'}{refused}, qr/^mend.cu is no file, but a link/, 'a link is not followed');
like($taken->{'04.2'}{refused}, qr/^scan.cu has 1000001 bytes/, 'a file that no answer can be');
is($taken->{'03.5'}{missing}, 'there is no file barriers.cu', 'nothing');
is_deeply($others, ['all.tar.gz', 'what.cu'], 'what belongs to no exercise is named');
system 'rm', '-r', "$in/places";

# ---- names and seeds ----

my %safe = map { safe_name($_) => $_ } my @names = ($odd, '-rf', '%2Drf', '..', '.x', 'a b', 'a%b', "a\nb", 'a ', ('x' x 254) . 'y', ('$' x 254) . 'y', ('$' x 254) . 'z');
is(scalar keys %safe, @names, 'different names are different for files, too');
is_deeply([grep { m{[\x00-\x1f/"'\$;*]|^[-.]} || length > 220 } keys %safe], [], 'and none needs care');
isnt(student_seed('anna', 'one'), student_seed('anna', 'two'), 'a seed is of the secret');
isnt(student_seed('anna', 'one'), student_seed('bert', 'one'), 'and of the name');
my ($status, $seed) = run_program('make', '-s', 'seed', "STUDENT=Zo\xc3\xab 'n'", 'SECRET=a b');
is($seed, student_seed("Zo\xc3\xab 'n'", 'a b') . "\n", 'make seed prints it');

# ---- a small class ----

my $out = scratch('class.csv');
my @unsafe = sandbox_missing() ? 'UNSAFE=1' : ();
sub class { return run_program('make', '-s', 'class', "IN=$in", "OUT=$out", @unsafe, @_) }

# The table: student => exercise => row.
sub table {
    my ($head, @fields) = (undef, '');
    my (@rows, $quoted);
    for my $part ($_[0] =~ /("(?:[^"]|"")*"|[^",\n]+|,|\n)/g) { # RFC 4180
        if ($part eq ',') { push @fields, '' }
        elsif ($part eq "\n") { push @rows, [@fields]; @fields = ('') }
        else { $fields[-1] .= $part =~ /^"(.*)"$/s ? $1 =~ s/""/"/gr : $part }
    }
    $head = shift @rows;
    is(join(',', @$head), 'student,exercise,state,points,of,goals_met,goals,times_ours,seconds,reason', 'the columns');
    my %table;
    for (@rows) {
        my %row;
        @row{@$head} = @$_;
        $table{ $row{student} =~ s/^'(?=[-=+\@])//r }{ $row{exercise} } = \%row; # a name that a spreadsheet would compute
    }
    return \%table;
}

hand_in($odd, '02_cuda_ref/exercises/mine/add.cu', "\xef\xbb\xbf" . solution('02.1') =~ s/\n\z//r =~ s/\n/\r\n/gr);
hand_in($odd, 'rules.c', task('01.1'));
hand_in('-rf *', 'add.cu', solution('02.1') =~ s/threads = 128/threads = 64/r);
hand_in('-rf *', '02_cuda_ref/count.txt', solution('02.3'));
# writes wherever it gets, and is right
hand_in('vandal', 'add.cu', "#include <stdio.h>\n" . solution('02.1') . <<'END');
__attribute__((constructor)) static void spoil(void)
{
    static const char *const paths[] = {"common/judge/judge.c", "02_cuda_ref/exercises/judges/add.c", "02_cuda_ref/exercises/judges/add.txt", "vandal_was_here",
                                        "build/obj/sim/flags", "../../../common/judge/judge.c", "../vandal_was_here"};
    for (int i = 0; i < 7; i++) {
        FILE *file = fopen(paths[i], "a");
        if (file) {
            fputs("/* vandal */\n", file);
            fclose(file);
        }
    }
}
END
($status, my $said, my $errors) = class('ONLY=01.1,02.1,02.3', 'JOBS=2');
is($status, 0, 'make class') or diag($errors);
my $table = table(read_text($out) // '');
is_deeply([map { "$_ " . join ' ', sort keys %{ $table->{$_} } } sort keys %$table], [map { "$_ 01.1 02.1 02.3" } '-rf *', $odd, 'vandal'], 'a line a student and exercise');
is($table->{$odd}{'02.1'}{state}, 'solved', 'CRLF, a byte order mark and no last newline are taken as they are meant');
is_deeply([@{ $table->{$odd}{'01.1'} }{qw(state points reason)}], ['missing', 0, 'the task is as it was handed out'], 'an untouched task');
is($table->{'-rf *'}{'02.3'}{state}, 'solved', 'a prediction');
my $over = $table->{'-rf *'}{'02.1'};
is($over->{state}, 'over_goal', 'right, but misses a goal');
cmp_ok($over->{goals_met}, '<', $over->{goals}, 'goals are counted');
cmp_ok(abs($over->{points} - $over->{of} * (0.4 + 0.6 * $over->{goals_met} / $over->{goals})), '<', 0.051, 'two fifths of the points, and of the others the share of the goals');
like($over->{reason}, qr/threads: 320, and the goal is 384/, 'and the reason is told');
is_deeply([@{ $table->{$odd}{'02.1'} }{qw(points of goals_met)}], [15, 15, $table->{$odd}{'02.1'}{goals}], 'solved: all points');
like(read_text(scratch('class/') . safe_name('-rf *') . '/02.1.txt') // '', qr/^02.1 A first kernel\n\nThe results are right, but/, 'a report for each answer');
like($said, qr/3 students, 3 exercises: \d solved, 1 over_goal, \d wrong, \d refused, 5 missing$/m, 'the last lines sum up');
is($errors =~ /\e|\r/, '', 'no progress where there is no terminal');
is_deeply([grep { (read_text($_) // '') =~ /vandal/ } 'common/judge/judge.c', glob('02_cuda_ref/exercises/judges/* build/class/*/*/*/*.c build/obj/sim/flags'), glob '02_cuda_ref/exercises/*'],
    [], 'a vandal gets at none of the course\'s files');
ok(!-e "$_/vandal_was_here", "nor into $_") for '.', glob 'build/class/*';
is_deeply([glob scratch('tmp/*')], [], 'nothing is left in the folder for temporary files');

# ---- once more: what was judged is kept; what is new is judged ----

my $first = read_text($out);
hand_in($odd, 'count.txt', "nothing\n"); # of no exercise, without a folder
(undef, $said, $errors) = class('ONLY=01.1,02.1,02.3');
unlike($errors, qr/judging/, 'nothing is judged twice');
is(read_text($out), $first =~ s/there is no file count.txt(?=\n"Zo|\nvandal)/count.txt: tasks of several chapters are called so; put it into a folder 02_cuda_ref/r, 'the table says the same');

# interrupted: no table of this run, and what was judged before that is not judged again
unlink $out;
hand_in('-rf *', '02_cuda_ref/count.txt', solution('02.3') . '# again');
hand_in('vandal', '02_cuda_ref/count.txt', task('02.3') =~ s/\?/0/gr);
hand_in('vandal', 'rules.c', solution('01.1') . '/* */'); # which takes as long as a compiler
my @kept = glob scratch('class/.judged/*');
my $pid = fork // die "fork: $!";
if ($pid == 0) {
    open STDOUT, '>', '/dev/null';
    open STDERR, '>', '/dev/null';
    exec 'perl', 'common/judge/class.pl', 'class', "IN=$in", "OUT=$out", 'ONLY=01.1,02.1,02.3', 'JOBS=1', @unsafe;
}
my $ended = 0;
until ($ended || grep({ !/\.part$/ } glob scratch('class/.judged/*')) > @kept) { # however long that takes here
    select undef, undef, undef, 0.05;
    $ended = waitpid $pid, WNOHANG;
}
kill INT => $pid if !$ended;
waitpid $pid, 0 if !$ended;
is($? >> 8, 130, 'interrupted');
ok(!-e $out, 'there is no table then');
my $left = 3 - (grep({ !/\.part$/ } glob scratch('class/.judged/*')) - @kept); # on a busy machine the others are judged before the signal comes
(undef, undef, $errors) = class('ONLY=01.1,02.1,02.3');
is($errors =~ /judging (\d+) answer/ ? $1 : 0, $left, 'the same command goes on where it ended');
is(scalar(() = (read_text($out) // '') =~ /\n(?:vandal|"Zo|'-rf)/g), 9, 'and then the table is whole');

# ---- what is asked wrongly ----

for (['no folder', qr/^Where are the hand-ins\?/, 'OUT=x.csv'], ['no table', qr/^Into which table\?/, "IN=$in"], ['no such folder', qr/is not a folder/, 'IN=none', 'OUT=x.csv'],
    ['a table of another kind', qr/ends in .csv/, "IN=$in", 'OUT=x.txt'], ['among the students', qr/lies in IN=/, "IN=$in", "OUT=$in/x.csv"],
    ['reports among the hand-ins', qr/reports would go into/, "IN=$in", "OUT=$in.csv"],
    ['no such exercise', qr/there is no exercise 77/, "IN=$in", "OUT=$out", 'ONLY=02.1,77'], ['no number', qr/^JOBS=0 is no number/, "IN=$in", "OUT=$out", 'JOBS=0'],
    ['no seed', qr/^SEED=x is no whole number/, "IN=$in", "OUT=$out", 'SEED=x'],
    ['two seeds', qr/Give one of them/, "IN=$in", "OUT=$out", 'SEED=1', 'SECRET=x'], ['no students', qr/has no folders/, 'IN=' . scratch('class/.judged'), "OUT=$out"]) {
    my ($name, $like, @given) = @$_;
    refuses("make class: $name", $like, 'perl', 'common/judge/class.pl', 'class', @given);
}

# ---- minutes, by which points are given ----

is_deeply([map { $_->{id} } grep { ($_->{minutes} // '') !~ /^\d+$/ } @all], [], 'every exercise says how many minutes it takes');
my %told;
my $plan = read_text('docs/teach/README.md');
while ($plan =~ /^\| \[\d+\]\(sessions.*$/mg) {
    my $line = $&;
    $told{$1} = $2 while $line =~ /(\d\d\.\d+) \((\d+)\)/g;
}
is_deeply(\%told, { map { $_->{id} => $_->{minutes} } grep { exists $told{ $_->{id} } } @all }, 'the plan for those who teach has the same');
done_testing();
