# SPDX-License-Identifier: MIT
# Pages for those who teach (docs/teach): minutes that add up, exercises, slides and pictures that exist, six questions with six answers,
# and an answer to what the judge asks after every exercise.
use strict;
use warnings;
use lib 'common/tests', 'common/judge', 'common/pages';
use Linrec;
use Exercises;
use Texts ();
use Test::More;

use constant { TEACH => 'docs/teach', MINUTES => 90, SESSIONS => 12, QUESTIONS => 6 };

my %exercise = map { $_->{id} => $_ } all_exercises();
my @chapters = grep { m{^(?:\d\d_|docs/[^/]*$|README)} } Texts::texts();
my @folders = glob '[0-9][0-9]_*';
my $chapter = join '|', map { /^(\d\d)/ } @folders;
my $chapters = join "\n", map { read_text($_) } @chapters;

# The pictures that the chapters' texts show, by their paths.
my %shown;
for my $text (@chapters) {
    $shown{ resolve($text, $_) } = 1 for read_text($text) =~ /!\[[^\]]*\]\(([^)]*)\)/g;
}

sub resolve {
    my ($text, $link) = @_;
    my @path;
    for (split m{/}, ($text =~ m{^(.*/)} ? $1 : '') . $link) {
        $_ eq '..' ? pop @path : push @path, $_;
    }
    return join '/', @path;
}

sub without_indent { return $_[0] =~ s/^[ \t]+//gmr }
my $code = without_indent($chapters);

# ---- every page: exercises and programs that it names ----

for my $page (grep { m{^docs/teach/} } Texts::texts()) {
    my $text = read_text($page);
    my $plain = $text =~ s/<!-- (?:table|listing): .*?<!-- end -->//gsr;
    my @unknown = grep { !$exercise{$_} } $plain =~ /(?<![\d.])((?:$chapter)\.\d)(?![\d.])/g;
    is_deeply(\@unknown, [], "$page: the exercises that it names exist");
    my @gone = grep { my $name = $_; !grep { $name eq $_ || $name =~ /^\Q$_\E_(\w+)$/ && -f (glob "$_/demos/$1.c*")[0] } @folders }
        $text =~ m{build/(?:sim|cuda|sim_debug)/(?:extra/)?(\d\d_\w+)}g;
    is_deeply(\@gone, [], "$page: the programs that it names exist");
}

# ---- sessions ----

# The rows of a session's table: minutes, the time at which they are over, what is done, slides.
sub rows { return map { [/^\| (\d+) \| (\d+):(\d\d) \| (.*?) \|(?: (\S+) \|)?$/] } $_[0] =~ /^(\| \d+ \| \d+:\d\d \| .*)$/mg }

for my $path (glob TEACH . '/sessions/*.md') {
    my ($number) = $path =~ /(\d+)\.md$/;
    my $text = read_text($path);
    my @rows = rows($text);
    my ($sum, $late) = (0, 0);
    for (@rows) {
        $sum += $_->[0];
        $late++ if $sum != 60 * $_->[1] + $_->[2];
    }
    is($sum, MINUTES, "$path: its minutes add up");
    is($late, 0, "$path: and so do the times until which its parts last");

    my @in_room;
    for (@rows) {
        my ($minutes, $what) = @$_[0, 3];
        my ($id) = $what =~ /^Exercise (\d\d\.\d)/ or next;
        push @in_room, $exercise{$id} // next;
        cmp_ok($minutes, '>=', $what =~ /begun/ ? 20 : $exercise{$id}{minutes}, "$path: there is time for $id");
    }
    ok(scalar @in_room, "$path has an exercise in the room");

    # `| mistake | `says` | ask |', in some tables with the exercise in front
    while ($text =~ /^\| (?:(\d\d\.\d) \| )?[^|`]*(?:`[^`]*`[^|`]*)*\| `([^`]+)` \| .* \|$/mg) {
        my ($id, $says) = ($1, $2);
        my @says = map { $_->{says} } map { @{ $_->{mutant} // [] } } grep { !defined $id || $_->{id} eq $id } @in_room;
        ok(scalar(grep { index($_, $says) >= 0 } @says), "$path: the judge says so to somebody: $says");
    }

    next if $number > SESSIONS && !grep { defined $_->[4] } @rows; # further ones may do without
    # slides: each is shown, in their order
    my $deck = read_text(TEACH . "/slides/$number.md");
    ok(defined $deck, "session $number has slides") or next;
    my ($slides, $at, $jumps) = (1 + (() = $deck =~ /^## /mg), 1, 0);
    for (grep { $_->[4] ne '–' } @rows) {
        my ($from, $to) = $_->[4] =~ /^(\d+)(?:–(\d+))?$/;
        $jumps++ if $from < $at || $from > $at + 1;
        $at = $to // $from;
    }
    is($jumps, 0, "$path shows the slides one after the other");
    is($at, $slides, "$path shows all of them");
}

is_deeply([grep { $_ <= SESSIONS } map { /(\d+)\.md$/ } glob TEACH . '/sessions/*.md'], [map { sprintf '%02d', $_ } 1 .. SESSIONS],
    SESSIONS . ' sessions');

# ---- slides ----

for my $path (glob TEACH . '/slides/*.md') {
    my $deck = read_text($path);
    my @foreign = grep { !$shown{ resolve($path, $_) } } $deck =~ /!\[[^\]]*\]\(([^)]*)\)/g;
    is_deeply(\@foreign, [], "$path shows pictures that the chapters have, and no others");
    my $own = $deck =~ s/<!-- listing: .*?<!-- end -->//gsr;
    my @new = grep { index($code, without_indent($_)) < 0 } $own =~ /^```(?:text|c|cpp)\n(.*?)^```$/gms;
    is_deeply(\@new, [], "$path: code and sketches without a marker stand in a chapter, too");
}

# ---- quizzes and keys ----

for my $number (grep { $_ <= SESSIONS || -f TEACH . "/quiz/$_.md" } map { /(\d+)\.md$/ } glob TEACH . '/sessions/*.md') {
    my ($quiz, $key) = map { read_text(TEACH . "/$_/$number.md") // '' } qw(quiz keys);
    my @questions = split /^(?=\d+\. )/m, $quiz;
    shift @questions;
    is(scalar @questions, QUESTIONS, "quiz $number has six questions");
    is((grep { join('', /^   - ([a-z])\) \S/mg) =~ /^abcd$/ } @questions), QUESTIONS, '... each with four answers');
    my @right = $key =~ /^\d+\. \*\*([a-d])\*\*\. \S/mg;
    is(scalar @right, QUESTIONS, "key $number has six answers");
    my @there = grep { ($questions[$_] // '') =~ /^   - $right[$_]\) /m } 0 .. $#right;
    is(scalar @there, scalar @right, '... which the questions offer');
    my %times;
    $times{$_}++ for @right;
    is_deeply([grep { $times{$_} > QUESTIONS / 2 } keys %times], [], '... and guessing one letter does not do');
}

# ---- answers ----

my %answered = map { $_ => 1 } (read_text(TEACH . '/answers.md') // '') =~ /^### (\d\d\.\d+)\n\n\S/mg;
is_deeply([grep { !$answered{$_} } sort keys %exercise], [], 'what the judge asks after an exercise is answered for those who teach (docs/teach/answers.md)');
is_deeply([grep { !$exercise{$_} } sort keys %answered], [], '... and nothing else is');

# ---- the plan ----

my $plan = read_text(TEACH . '/README.md') // '';
my %planned = map { $_ => 1 } map { /(\d\d\.\d+) \(\d+\)/g } $plan =~ /^(\| \[\d+\]\(sessions.*)$/mg;
is_deeply([grep { !$planned{$_} } sort keys %exercise], [], 'the plan has a place for each exercise');
is_deeply([grep { $plan !~ m{^\| \[\d+\]\(\Q$_\E\)}m } map { s{^docs/teach/}{}r } glob TEACH . '/sessions/*.md'], [], '... and for each session');

done_testing;
