# SPDX-License-Identifier: MIT
# Tools for those who carry the course on: make format, make compile_commands.json, and the files that name others.
use strict;
use warnings;
use lib 'common/tests';
use Cwd qw(abs_path getcwd);
use JSON::PP;
use Linrec;
use Test::More;

my $root = getcwd();

# ---- format ----

SKIP: {
    my (@long, @never); # clang-format leaves comments alone: it would cut them into lone tails
    for my $path (grep { !m{^cusim/include/} } split /\n/, `git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp' 2> /dev/null`) {
        my $line = 0;
        for (split /\n/, read_file($path)) {
            $line++;
            push @long, "$path:$line" if length > 120;
            push @never, "$path:$line: $1" if /\bDEVICE_ARCH *[<>]=? *(\d+)/ && ($1 < 75 || $1 > 130);
        }
    }
    is_deeply(\@long, [], 'no line of a source is longer than 120 characters');
    is_deeply(\@never, [], 'DEVICE_ARCH is compared with a compute capability as 90 for sm_90');
    skip 'clang-format-14 is not installed here', 6 if system('command -v clang-format-14 > /dev/null') != 0;
    my $unpacked = scratch('unpacked');
    system("mkdir $unpacked && cp -a Makefile common cusim $unpacked") == 0 or die 'cp';
    my ($refused, undef, $why) = run_program('make', '--no-print-directory', 'BACKEND=sim', '-C', $unpacked, 'format');
    ok($refused eq 2 && $why =~ /^make format asks git which files are sources/, 'sources that git does not have are refused with a sentence') or diag($why);
    skip 'git is not here, or this is no checkout', 5 if system('git rev-parse --git-dir > /dev/null 2>&1') != 0;
    my @make = ('make', '--no-print-directory', 'BACKEND=sim', 'format');
    my ($status, $out, $err) = run_program(@make, 'CHECK=1');
    is("$status$out", '0', 'all sources are as clang-format writes them') or diag($err);

    my $there = scratch('format');
    system("mkdir $there && cp -a Makefile .clang-format common cusim 01_reference $there && git -C $there init -q && git -C $there add -A") == 0 or die 'git';
    my $loop = "$there/01_reference/loop.c";
    my $text = read_file($loop);
    write_file($loop, $text =~ s/^    /  /mr);
    write_file("$there/untracked.c", "int  x ;\n");
    chdir $there;
    ($status, $out, $err) = run_program(@make, 'CHECK=1');
    ok($status ne 0 && $err =~ m{^01_reference/loop\.c:\d+:\d+: error: code should be clang-formatted}m && $err !~ /untracked/, 'what is not is named')
        or diag("$out$err");
    ($status) = run_program(@make);
    chdir $root;
    is($status, 0, 'make format');
    is(read_file($loop), $text, 'mends it');
    is(read_file("$there/untracked.c"), "int  x ;\n", 'and leaves alone what git does not know');
}

# ---- compile_commands.json ----

my $there = scratch('commands');
system("mkdir $there && cp -a Makefile common cusim docs [0-9][0-9]_* $there") == 0 or die 'cp';
for my $backend ('sim', `command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null` ? 'cuda' : ()) {
    chdir $there;
    my ($status, $out, $err) = run_program('make', '--no-print-directory', "BACKEND=$backend", 'ARCH=sm_90', 'compile_commands.json');
    chdir $root;
    is($status, 0, "$backend: make compile_commands.json") or diag("$out$err");
    my @entries = @{ decode_json(read_file("$there/compile_commands.json") // '[]') };
    my %of = map { (abs_path("$_->{directory}/$_->{file}") // $_->{file}) =~ s{^\Q@{[abs_path($there)]}/\E}{}r => $_ } @entries;
    my @sources = grep { !m{/exercises/} && !m{device(?:_cpu)?\.c} } grep { !m{^([0-9]\d_\w+)/} || !left_out($1) } glob '{[0-9][0-9]_*,common}/*.{c,cu}';
    is_deeply([grep { !$of{$_} } @sources], [], "$backend: every source of the chapters is there");
    ok(!-e "$there/build", "$backend: and nothing is built");

    # a command of each kind does what a compiler must be able to do with it
    for my $source ('common/base/npy.c', '03_tile/serial.cu') {
        my $entry = $of{$source} or next;
        my $command = $entry->{command} =~ s/ -(?:o|MF|MT) \S+| -M+[DP]//gr;
        $command =~ s/ -c / -E / if $source =~ /\.cu$/; # neither the simulator nor an editor's g++ knows <<<
        my ($compiled, undef, $said) = run_program('sh', '-c', "cd $entry->{directory} && $command " . ($command =~ / -E / ? '> /dev/null' : '-o /dev/null'));
        is($compiled, 0, "$backend: $source is compiled by its command") or diag("$command\n$said");
    }
}

# ---- what these files name is there ----

for my $workflow (glob '.github/workflows/*.yml') {
    my @named = read_file($workflow) =~ /\bbash (\S+)/g;
    is_deeply([grep { !-f } @named], [], "$workflow runs scripts that are there");
    unlike(read_file($workflow), qr/\t/, "$workflow has no tab, which YAML refuses");
}
like(read_file('CITATION.cff'), qr/^title: \Q@{[read_file('README.md') =~ m{^# (.*)}]}\E$/m, 'the citation has the title of README');
like(`make --no-print-directory BACKEND=sim help`, qr/^make \Q$_\E /m, "make help names $_") for qw(format compile_commands.json setup bench recordings);
like(read_file('docs/machines.md'), qr/clang-format-14/, 'the page names the package that make setup installs');

done_testing;
