# SPDX-License-Identifier: MIT
# The exercises: skeletons fail and say why, solutions are solved and reach just what the goals say, and wrong solutions of the kinds that
# students write are caught with the sentence that belongs to them: of the first exercise of each chapter here, of all in
# long/exercises.t. And the commands.
# prove common/tests/exercises.t :: 10: those of chapter 10 alone, without the commands.
use strict;
use warnings;
use Cwd 'abs_path';
use lib 'common/tests', 'common/judge';
use Linrec;
use Exercises;
use Test::More;

my ($only) = @ARGV;
my @exercises = grep { !defined $only || $_->{chapter} =~ /^$only/ } all_exercises();
my $sample = 1; # wrong solution of an exercise

# ---- what there is ----

my %seen;
for my $exercise (@exercises) {
    my $id = $exercise->{id};
    ok(!$seen{$id}++, "$id is one exercise") or next;
    ok(-f $exercise->{solution}, "$id has a solution");
    ok(defined $exercise->{$_} && $exercise->{$_} ne '', "$id has: $_") for qw(title next skeleton);
    cmp_ok(@{ $exercise->{hint} // [] }, '>=', 2, "$id has hints, from a nudge to nearly the answer");
    cmp_ok(@{ $exercise->{mutant} // [] }, '>=', 6, "$id has wrong solutions") if !$exercise->{predict};
    like(read_text($exercise->{path}) // '', qr/\A(?:.*SPDX.*\n)?\W*$id  \Q$exercise->{title}\E$/m, "$exercise->{path} begins with its number and title");
}
for my $chapter (sort keys %{ { map { $_->{chapter} => 1 } @exercises } }) {
    my @here = grep { $_->{chapter} eq $chapter } @exercises;
    is_deeply([map { $_->{number} } @here], [1 .. @here], "$chapter: the exercises are numbered");
    cmp_ok(@here, '>=', 4, "$chapter has four exercises or more");
    cmp_ok((grep { !$_->{predict} } @here), '>=', 2, "$chapter: two or more of them ask for code");
    my $text = read_text("$chapter/README.md");
    for my $exercise (@here) {
        ok(scalar($text =~ /\Q$exercise->{id}\E/), "$chapter/README.md names $exercise->{id}");
    }
}

# For those who teach: exercises, and what the judge says to a mistake, in rows `| 02.1 | mistake | `says` | ask |'.
for my $page (glob 'docs/teach/mistakes.md') {
    for (read_text($page) =~ /^\| (\d\d\.\d+ \|.*) \|$/mg) {
        my ($id, $mistake, $says) = split / \| /;
        my ($exercise) = grep { $_->{id} eq $id } all_exercises();
        ok(scalar(grep { index($_->{says}, $says =~ s/^`|`$//gr) >= 0 } @{ $exercise->{mutant} // [] }), "$page: $id: $mistake: the judge says so");
    }
}

# ---- what the judge says ----

for my $exercise (defined $only ? @exercises : grep { $_->{number} == 1 } @exercises) {
    for (trials($exercise, $sample)) {
        my ($what, $good, $report) = @$_;
        ok($good, "$exercise->{id}: $what") or diag($report);
    }
}

# ---- the commands, in a copy without anybody's progress ----

if (backend() ne 'sim' || defined $only) { # nothing in them depends on it
    done_testing;
    exit;
}

my $copy = copy_of_chapters();
system("cp Makefile $copy && rm -rf $copy/[0-9][0-9]_*/exercises/mine") == 0 or die 'cp';
my ($first) = grep { !$_->{predict} && !$_->{on_cpu} && $_->{goal} } @exercises;
my ($id, $path, $mine) = @$first{qw(id path mine)};

sub make { return run_program('make', '-s', '-C', $copy, 'BACKEND=sim', @_) }

# A call of make that ends with status 2 for the reason given, and says one sentence beside make's own.
sub make_refuses {
    my ($name, $like, @arguments) = @_;
    my ($status, $out, $err) = make(@arguments);
    my @said = grep { !/^make/ } split /\n/, $err;
    ok($status eq 2 && $out eq '' && @said == 1 && $said[0] =~ $like, "refused: $name") or diag("$status\n$out\n$err");
}

my ($status, $out, $err) = make('exercises', 'LIST=1');
is($out, join('', map { "$_->{id} $_->{path} not_begun\n" } @exercises), 'LIST=1 prints id, path and state a line, nothing else');
is("$status$err", '0', '... and succeeds');
($status, $out) = run_program('make', '-C', "$copy/$first->{chapter}", 'BACKEND=sim', '--no-print-directory', 'exercises', 'LIST=1');
is($out, join('', map { "$_->{id} $_->{path} not_begun\n" } grep { $_->{chapter} eq $first->{chapter} } @exercises), '... in a chapter only its own');
($status, $out) = make('exercises');
ok($status eq 0 && $out =~ /^  \Q$id\E +\Q$first->{title}\E +code +not begun$/m && $out =~ /^0 of ${\ scalar @exercises} solved\.$/m
    && $out =~ /^make exercise EX=$exercises[0]{id} +makes your copy of the task/m, 'the list says what to do next');

make_refuses('no EX', qr/^Which exercise\? Say it like this: make exercise EX=\d\d\.\d/, 'exercise');
make_refuses('an EX that does not exist', qr/^There is no exercise 99\.7; `make exercises' lists them\.$/, 'exercise', 'EX=99.7');
make_refuses('an EX with a quote', qr/^There is no exercise 'x; /, 'hint', "EX='x");
make_refuses('a FILE that is not there', qr/^FILE=no such is not there/, 'exercise', "EX=$id", 'FILE=no such');
make_refuses('a FILE that is a folder', qr/^FILE=common is not there, or is no file/, 'exercise', "EX=$id", 'FILE=common');
make_refuses('a solution before it is solved', qr/is not solved yet.*FORCE=1/, 'solution', "EX=$id");
my $folder = "$copy/" . ($mine =~ s{/[^/]*\z}{}r);
write_file($folder, 'a file in its place');
make_refuses('a folder for answers that cannot be made', qr/^cannot make the folder \S+ for your copy: /, 'exercise', "EX=$id");
unlink $folder;
make_refuses('a CSV that cannot be written', qr/^cannot write /, 'exercises', 'CSV=no/such/folder.csv');
make_refuses('a CSV without a name', qr/^Into which file\? .*CSV=table\.csv$/, 'exercises', 'CSV=');
is((make('exercises', 'LIST=1'))[1] =~ /begun\n(?!.*wrong)/s, 1, 'what is refused leaves no progress');

($status, $out) = make('exercise', "EX=$id");
ok($status ne 0 && $out =~ /^Your copy: \Q$mine\E\. / && $out =~ /^\Q$id $first->{title}\E$/m, 'the first time it makes a copy, and judges it');
ok(-f "$copy/$mine", 'the copy is there');
is(read_text("$copy/$mine"), read_text($path), '... and is the task');
like((make('exercises', 'LIST=1'))[1], qr/^\Q$id $path\E (wrong|over_goal)$/m, 'the list knows');

for my $number (1, 2) {
    like((make('hint', "EX=$id"))[1], qr/^Hint $number of \d+: \S/, "hint $number");
}
my ($forced) = (make('solution', "EX=$id", 'FORCE=1'))[1];
like($forced, qr/\Q${\ read_text($first->{solution})}\E/, 'FORCE=1 shows the solution');

($status, $out) = make('exercise', "EX=$id", "FILE=$first->{solution}", 'DEBUG=1');
ok($status eq 0 && $out =~ /^Solved\.$/m, 'FILE judges another file, also where all else is built for a debugger') or diag($out);
like((make('exercises', 'LIST=1'))[1], qr/^\Q$id $path\E (wrong|over_goal)$/m, '... and leaves the progress alone');

like((make('exercises'))[1], qr/^make exercise EX=\Q$id\E +judges \Q$mine\E$/m, 'the list goes on with what is begun');

my $lines = "h\\n" x 1000; # at once: what is not buffered takes a call of the system each time
for (['a crash' => '*(volatile int *)8 = 1;', qr/^It crashed\.\n  It used an address where there is nothing/m],
    ['a program that ends by itself' => 'exit(0);', qr/^It crashed\.\n  It ended, with status \d, before the judge was done\. Does it call exit\?/m],
    ['endless output' => "for (;;) puts(\"$lines\");", qr/^It printed more than 10 MB\..*^      h$/ms],
    ['endless output in one line' => 'for (;;) putchar(104);', qr/^It printed more than 10 MB\..*^      hhhh/ms],
    ['endless complaints' => "for (;;) fputs(\"$lines\", stderr);", qr/^It printed more than 10 MB\./m]) {
    my ($what, $mistake, $says) = @$_;
    my $wrong = "#include <stdio.h>\n#include <stdlib.h>\n" . read_text($first->{solution}) =~ s/(return cudaGetLastError\(\);)/$mistake\n$1/r;
    write_text("$copy/wrong.cu", $wrong);
    # KB of memory: 10 MB of text must not become gigabytes
    ($status, $out) = run_program('sh', '-c', 'ulimit -v 600000; exec "$@"', 'sh', 'make', '-s', '-C', $copy, 'BACKEND=sim', 'exercise', "EX=$id", 'FILE=wrong.cu');
    ok($status ne 0 && $out =~ $says && $out !~ /^ *\@/m, "the judge says what happened: $what") or diag($out);
}

write_file("$copy/wrong.cu", read_text($first->{solution}) =~ s/sum\[i\] = /sum[i] = 1.000001f * /r);
like((make('exercise', "EX=$id", 'FILE=wrong.cu'))[1],
    qr/^  sum\[0\] is \S+\.\d{8,}, and should be \S+\.\d{8,}\.\n  Rounding makes a difference of at most [\d.e-]+ here\.$/m,
    'numbers that are nearly the same are told apart, and from rounding');

write_file("$copy/$mine", read_text($path) =~ s/\*\/.*?\K;/ oops;/sr);
my ($line) = map { 1 + (() = $_ =~ /\n/g) } (read_text($path) =~ /\A(.*?\*\/[^;]*);/s);
($status, $out) = make('exercise', "EX=$id");
ok($status ne 0 && $out =~ /^It does not compile\.\n  At \Q$mine\E:$line: /m, 'what does not compile is named with its line') or diag($out);
like($out, qr/^\(A line of make comes now, with `Error 1': it says only that \Q$id\E is not solved yet\.\)\n\z/m, '... the last line says what make is about to say');
unlike($out, qr/^make hint/m, 'two failed tries are left alone');
like((make('exercise', "EX=$id"))[1], qr/^make hint EX=\Q$id\E \(\d+ hints, 2 taken\)$/m, 'the third names the hints');

system("cp $first->{solution} $copy/$mine") == 0 or die 'cp';
($status, $out) = make('exercise', "EX=$id");
is($status, 0, 'status 0 when it is solved');
like((make('exercises', 'LIST=1'))[1], qr/^\Q$id $path\E solved$/m, 'the list knows that, too');
my ($ours) = ($first->{estimate} // '') =~ /^([\d.]+) at /;
SKIP: {
    skip 'a GPU would time it', 2 if $out !~ /An estimate/;
    like($out, qr/^An estimate; nothing was measured: on an NVIDIA H200\s+yours\s+would\s+take\s+\Q$ours\E\s+us.*\bours\s+\Q$ours\E\./ms, 'an estimate says how long it would take');
    like((make('exercises'))[1], qr/^  \Q$id\E .* solved\n +\Q$ours\E \([\d.]+ to [\d.]+\) us, ours \Q$ours\E \*\n.*^\* An estimate /ms, '... and the list has it beside ours');
}
my $solved_text = read_text("$copy/$mine");
write_text("$copy/$mine", "oops\n$solved_text");
($status, $out) = make('exercise', "EX=$id");
ok($status ne 0 && $out =~ /^It does not compile\..*^You have solved \Q$id\E before, /ms && (make('exercises', 'LIST=1'))[1] =~ /^\Q$id $path\E solved$/m,
    'a wrong answer afterwards is told, and what is solved stays solved') or diag($out);
write_text("$copy/$mine", $solved_text);
is((make('solution', "EX=$id"))[1], $forced, 'now the solution is shown without FORCE');
is((make('exercises', 'CSV=table.csv', 'LIST=1'))[1], (make('exercises', 'LIST=1'))[1], 'CSV and LIST together print the list');
like(read_text("$copy/table.csv"), qr/\Aid,path,state,tries,hints\n(?:.*\n)*\Q$id,$path\E,solved,5,2\n/, 'CSV writes a table');

($status, $out) = make('reset', "EX=$id");
ok($status eq 0 && read_text("$copy/$mine") eq read_text($path) && -f "$copy/$mine.old", 'reset begins again, and keeps what was there');
like((make('exercises', 'LIST=1'))[1], qr/^\Q$id $path\E not_begun$/m, '... in the list, too');
make('reset', "EX=$id");
is(read_text("$copy/$mine.old"), read_text($first->{solution}), '... and a second time, which keeps nothing of the untouched task');
write_text("$copy/$mine", 'something else');
make('reset', "EX=$id");
is_deeply([map { read_text("$copy/$mine.$_") } 'old', 'old2'], [read_text($first->{solution}), 'something else'], '... and a third: nothing is lost');

# a program of an answer, for a debugger
my ($program) = read_text('docs/debugger.md') =~ /^(#include "\S*exercises\/mine.*?^}\n)/ms;
write_file(scratch('try.cu'), $program =~ s{"../(\S+?)/mine/}{'"' . abs_path('.') . "/$1/solutions/"}er);
($status, $out) = run_program('perl', 'cusim/compile/cusim', qw(-g -O0), scratch('try.cu'), '-o', scratch('try'));
is($status, 0, 'the program that docs/debugger.md shows compiles') or diag($out);
is((run_program(scratch('try')))[1], "0.5 ... 299.5\n", '... and runs an answer');

# a prediction whose numbers are drawn
my ($drawn) = grep { $_->{draw} } all_exercises(5);
($id, $mine) = @$drawn{qw(id mine)};
make('exercise', "EX=$id", 'SEED=5');
ok(read_text("$copy/$mine") eq task_text($drawn) && read_text("$copy/$mine") ne read_text($drawn->{path}), 'with a SEED the copy has the numbers that it draws');
write_file("$copy/$mine", (make('solution', "EX=$id", 'SEED=5', 'FORCE=1'))[1] =~ s/\A.*\n\n//r);
is((make('exercise', "EX=$id", 'SEED=5'))[0], 0, '... and so has the solution');
($status, $out) = make('exercise', "EX=$id");
ok($status ne 0 && $out =~ /Is this the task of another SEED\?/, 'without it the answer is wrong, and the judge asks why') or diag($out);

done_testing;
