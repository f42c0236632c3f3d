# SPDX-License-Identifier: MIT
# cusim alone: a copy of the folder, elsewhere and under another name, passes its tests and installs itself; what it has installed works when the
# copy is gone.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";
use Testing;
use Test::More;

delete @ENV{ 'PERL5LIB', 'PERL5OPT', grep { /^(?:HARNESS|PERL_TEST)/ } keys %ENV };
my ($copy, $installed, $own) = map { scratch($_) } qw(simulator installed own);
is(system('mkdir', $copy, $own), 0, 'two folders');
is(system('sh', '-c', 'tar cf - --exclude=./build . | tar xf - -C "$0"', $copy), 0, 'a copy without what was built');

# As distributions configure their compilers: Ubuntu's g++ does all this by itself, Debian's does not.
my $hardened = 'g++ -fstack-protector-strong' . (`uname -m` =~ /x86_64/ ? ' -fcf-protection=full -fstack-clash-protection' : '');
my ($status, $out, $err) = run_program('make', '-C', $copy, 'WERROR=1', "CXX=$hardened", 'test');
ok($status eq 0 && $out =~ /^Result: PASS$/m, 'make test passes in it, hardened') or diag("$out$err");
($status, $out, $err) = run_program('make', '-s', '-C', $copy, 'WERROR=1', 'install', "PREFIX=$installed");
is("$status$err", '0', 'make install PREFIX=');
rename $copy, scratch('gone') or die "$copy: $!";

# in a folder of one's own, with nothing but what was installed
my ($page) = read_file('docs/cusim.md') =~ /^```c\n(.*?)^```\n/ms;
$page =~ s/^( +)(?=tile\[i\] = |x\[i\] = tile)/$1if (i < n) /mg;
$page =~ s/^( +)(?=if \(i < n\) x)/$1__syncthreads();\n$1/m;
write_file("$own/reverse.cu", $page);
sub here { return run_program('sh', '-c', "cd \"\$0\" && PATH=\"\$1/bin:\$PATH\" && $_[0]", $own, $installed) }

is(join('', here('cusim reverse.cu -o reverse && ./reverse')), "0199 0\n", 'cusim FILE.cu -o PROGRAM && ./PROGRAM');
($status, $out, $err) = here('CUSIM_REPORT=1 ./reverse');
like($err, qr/^reverse +1 +1 +3\.6 .*^Estimates for NVIDIA H200.*^reverse +[\d.]+ us /ms, 'CUSIM_REPORT=1: what it costs, and an estimate');
like((here('CUSIM_TRACE=counts.csv ./reverse && cusim-estimate --chip t4 --trace counts.csv'))[1], qr/^reverse +[\d.]+ us /m, 'cusim-estimate --trace');
SKIP: {
    skip 'lines and variables are watched on an x86-64 only', 1 if `uname -m` !~ /x86_64/;
    ($status, $out, $err) = here('cusim --watch reverse.cu -o watched && CUSIM_WATCH=page.html ./watched');
    my $html = read_file("$own/page.html") // '';
    ok($status eq 0 && $html =~ /^<!DOCTYPE html>/ && $html =~ /"variables":\[\s*\{"name":"n",/, 'CUSIM_WATCH=page.html: a page that knows variables')
        or diag("$status $out$err", substr($html, 0, 300));
}
like((here('cusim --version'))[1], qr/^Build cusim \Q@{[read_file('VERSION')]}\E\z/m, 'cusim --version');
unlike(join('', map { read_file($_) // '' } glob "$installed/lib/cusim/*.o"), qr{\Q$copy\E|\bsimulator/(?:machine|runtime|observe)/},
    'nothing that is installed names the folder that it came from, and messages call its files cusim/...');
done_testing;
