# SPDX-License-Identifier: MIT
# fuzz.pl finds what is wrong and nothing else: in programs/broken.cu, where each kernel but one has a mistake that some case shows. What it prints is
# wrong again when it is typed, and small. A seed draws the same cases again.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $broken = extra('tests_broken');
my @command = ('perl', 'common/tests/fuzz.pl', 'CASES=80', 'SEED=7', "ONLY=$broken");
my ($status, $out, $err) = run_program(@command);
is($status, 1, 'a program with mistakes: status 1');
like($out, qr/\Aseed 7, 80 cases\n/, 'the seed comes first');
my ($wrong) = $out =~ /^tests_broken +\d+ cases of \d+ variants, (\d+) wrong$/m;
ok($wrong, 'the summary counts what is wrong') or diag("$out$err");
is($err, '', 'without a terminal no progress is told');

my @shown = $out =~ /^WRONG: (.*)\n    \S/mg;
my %shown;
push @{ $shown{ (/ --variant (\S+)/)[0] } }, $_ for @shown;
for my $variant (qw(off_by_one a_nan unwritten hides_errors)) {
    my ($case) = @{ $shown{$variant} // [] };
    ok(defined $case, "$variant is found") or diag($out) or next;
    is(system("$case > /dev/null 2>&1") >> 8, 1, "and wrong again: $case");
}
ok(!$shown{right}, 'the kernel without a mistake is not wrong');
my ($small) = @{ $shown{off_by_one} // [] };
like($small // '', qr/--num-seqs 1 --seq-len 2(?!\d)/, 'what is printed is as small as it stays wrong');

# one after the other, so that the same case is the first of its kernel
sub cases_of { return join "\n", (run_program(@command, 'CASES=20', 'JOBS=1', "SEED=$_[0]"))[1] =~ /^WRONG: (.*)$/mg }
my $cases = cases_of(7);
is(cases_of(7), $cases, 'the same seed finds the same');
isnt(cases_of(8), $cases, 'and another one another');

refuses('a chapter that is not there', qr/there is no program .*no_chapter/, 'perl', 'common/tests/fuzz.pl', 'ONLY=no_chapter');
refuses('no number of seconds', qr/SECONDS=many is no whole number/, 'perl', 'common/tests/fuzz.pl', 'SECONDS=many');
refuses('an unknown setting', qr/SECOND is unknown/, 'perl', 'common/tests/fuzz.pl', 'SECOND=1');

done_testing;
