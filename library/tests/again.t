# SPDX-License-Identifier: MIT
# A built tree that was copied, or has another name now, is still built: `make lib' and `make install' build nothing there, and `make -n' says so.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# The files that make says it builds, or with -n that it would build.
sub built {
    my ($tree, @words) = @_;
    my ($status, $out, $err) = run_program('make', '--no-print-directory', 'QUIET=', 'BACKEND=' . backend(), '-C', $tree, @words);
    is("$status$err", '0', "make @words") or diag($out);
    return join ' ', $out =~ /(?:^|echo ")  \w+ (build\/[\w.\/]+)/mg;
}

my ($copy, $moved, $installed) = (copy_of_tree('copied'), scratch('moved'), scratch('installed'));
for ([$copy, '-n', 'install'], [$moved, 'lib'], [$moved, 'install']) {
    rename $copy, $moved if -d $copy && $_->[0] eq $moved;
    is(built(@$_, "PREFIX=$installed"), '', '... which builds nothing');
}
ok(-s "$installed/lib/liblinrec.a", 'and it is installed');

# but what has changed is seen, by make -n, too
like(built($moved, '-n', 'lib', 'CFLAGS=-O1'), qr/\bcommon\/base\/npy\.o\b/, 'other options: everything is built');
utime undef, undef, "$moved/library/liblinrec.h";
my $after = built($moved, '-n', 'lib');
like($after, qr/\blibrary\/recurrence\.o\b.*\bliblinrec\.so\b/, 'another header: what includes it is built');
unlike($after, qr/\bnpy\.o\b/, 'and nothing else');

done_testing;
