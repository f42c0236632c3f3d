# SPDX-License-Identifier: MIT
# report.pl writes what belongs between the markers, and names what it cannot write.
use strict;
use warnings;
use lib 'common/tests', 'common/pages';
use Linrec;
use Tables;
use Test::More;

my $source = write_file(scratch('scan.cu'), <<'EOS');
/* scan.cu - not a kernel: { */
#include <cuda_runtime.h>
#define TWICE(x) \
    twice(x)

static int twice(int x);

/* Twice as much.
   Or more. */
template <int elems>
static __global__ void __launch_bounds__(256)
    twice(int x)
{
    if (x > 0) {
        call("}"); /* } */
    }
}

struct pair { /* of floats */
    float product, sum;
};

static const int sizes[] = {1, 2};

static void walk(int n)
{
    /* [ahead] 1. What comes first. */
    first(n);

    // [behind] 2. What follows.
    if (n > 0) {
        last(n);
    }
}
EOS

# What report.pl makes of a text: the text, its exit status and what it says.
sub report {
    my ($text, @options) = @_;
    my $path = write_file(scratch('text.md'), $text);
    my ($status, $out) = run_program('perl', 'common/pages/report.pl', @options, $path);
    return (read_file($path), $status, $out);
}

sub writes {
    my ($name, $open, $body, $close) = @_;
    $close //= '<!-- end -->';
    my $fence = $open =~ /output/ ? "```text\n" : '';
    my ($got, $status) = report("$open\n$fence$close\n");
    like($got, qr/\A\Q$open\E\n\Q$fence$body\E/, "written: $name");
    is($status, 0, "and all is well: $name");
    is((report($got, '--check'))[1], 0, "and stays so: $name");
    is((report($got =~ s/\Q$body\E/x$body/r, '--check'))[1], 1, "and a difference is found: $name");
}

sub fails {
    my ($name, $text, $like) = @_;
    my ($got, $status, $out) = report("$text\n");
    like($out, $like, "named: $name");
    is("$status $got", "1 $text\n", "and nothing is written: $name");
}

my $twice = <<'EOS';
template <int elems>
static __global__ void __launch_bounds__(256)
    twice(int x)
{
    if (x > 0) {
        call("}"); /* } */
    }
}
EOS
writes('a function', "<!-- listing: $source function=twice -->", "```cpp\n$twice```\n");
writes('with its comment', "<!-- listing: $source function=twice comment -->", "```cpp\n/* Twice as much.\n   Or more. */\n$twice```\n");
writes('a struct and an array', "<!-- listing: $source function=pair,sizes -->",
    "```cpp\nstruct pair { /* of floats */\n    float product, sum;\n};\n\nstatic const int sizes[] = {1, 2};\n```\n");
writes('a part, to the next one, without its mark and without its indentation', "<!-- listing: $source part=ahead -->",
    "```cpp\n/* 1. What comes first. */\nfirst(n);\n```\n");
writes('a part, to the end of its function', "<!-- listing: $source part=behind -->", "```cpp\n// 2. What follows.\nif (n > 0) {\n    last(n);\n}\n```\n");
writes('an output', '<!-- output: printf "one\ntwo\n" -->', "one\ntwo\n", '```');
fails('no such function', "<!-- listing: $source function=thrice -->\n<!-- end -->", qr/text\.md: listing: .*scan\.cu.*: 0 definitions of thrice/);
fails('no such file', "<!-- listing: none.cu -->\n<!-- end -->", qr/there is no file none\.cu/);
fails('no such part', "<!-- listing: $source part=above -->\n<!-- end -->", qr/0 parts \[above\]/);
fails('no marker of ours', "<!-- lisitng: x -->\n<!-- end -->", qr/lisitng: x: there is no such marker/);
fails('no end', "<!-- table: 07_bench variant=add gb_per_s %.0f -->12", qr/no counterpart/);
fails('a silent command', "<!-- output: true -->\n```text\nx\n```", qr/prints nothing/);
fails('a program for the debugger that is not built', "<!-- output: build/sim_debug/none -->\n```text\nx\n```", qr{build/sim_debug/none is not built: make BACKEND=sim all tests$}m);
fails('no block of text', "<!-- output: echo x -->\n\n<!-- end -->", qr/not followed by what belongs to it/);
fails('a figure without a key', '<!-- value: none variant=add gb_per_s %.0f -->12<!-- end -->', qr/there is no such marker/);

# figures in sentences, by keys that the page's end explains
my $explained = sub { "\n<!-- values\n" . join('', map { "$_: none variant=$_ gb_per_s %.0f\n" } @_) . "-->\n" };
my $waits = (report('It is <!-- a -->?<!-- end --> faster.' . $explained->('a'), '--check'))[1];
is($waits, 0, 'a key of the page');
like((report('It is <!-- a -->12<!-- end --> faster.' . $explained->('a'), '--check'))[2], qr/nothing is recorded as .*DATE-none\.csv/, 'and it is looked up');
like((report('It is <!-- b -->12<!-- end --> faster.' . $explained->('a'), '--check'))[2], qr/<!-- b -->: the page's values do not have it\n.*nothing on the page shows the value a/s,
    'a key that the page does not explain, and one that it does not show');
my @many = map { "k$_" } 1 .. 13;
like((report(join(' ', map { "<!-- $_ -->?<!-- end -->" } @many) . $explained->(@many), '--check'))[2], qr/13 values, more than 12: show a table/, 'too many of them');

my $table = '<!-- table: none direction=forward head="chapter | kernel" columns=13200x64,132x65536 rows="[02](x.md) | a: 02_a/b;'
    . "\n" . '| `add`, GB/s: 07_bench/add gb_per_s %.0f" percent_of_add %.0f -->';
my ($got, $status) = report("$table\n?\n<!-- end -->\n");
like($got, qr/^\| chapter \| kernel \| 13 200 × 64 \| 132 × 65536 \|\n\|---\|---\|---:\|---:\|\n\| \[02\]\(x\.md\) \| a \| \? \| \? \|\n/m, 'rows with labels');
is($status, 0, 'and cells that wait for their recording');
fails('labels that do not fit', ($table =~ s/02 \|/02/r =~ s/\(x\.md\) \|/(x.md)/r) . "\n?\n<!-- end -->", qr/has not as many \|/);
my $sizes = '<!-- table: none sizes=batch,seq_len columns=8x2048,1x65536 channels=2048 states=16 variant=steps median_ms %.0f/1e-3 -->';
like((report("$sizes\n?\n<!-- end -->\n"))[0], qr/^\| batch × length \| 8 × 2048 \| 1 × 65536 \|.*^\*µs, batch × length, 2048 channels, 16 states, not recorded yet/ms,
    'columns of the sizes of another operation');
my $three = '<!-- table: none sizes=batch,chunks,heads columns=4x64x16,8x128x32 dk=64 dv=64 rank=0 variant=tma percent_of_copy %.0f -->';
like((report("$three\n?\n<!-- end -->\n"))[0],
    qr/^\| batch × chunks × heads \| 4 × 64 × 16 \| 8 × 128 × 32 \|.*^\*% of a copy, batch × chunks × heads, rank 0, states of 64 × 64, not recorded yet/ms,
    'or of three sizes');
my $across = '<!-- table: none sizes=chunks,heads chunks=32,64 heads=16 batch=4 dk=64 dv=64 rank=0 variant=tma head="µs" median_ms %.0f/1e-3 -->';
like((report("$across\n?\n<!-- end -->\n"))[0], qr/^\| µs \| chunks: 32 \| 64 \|.*^\*µs, batch 4, 16 heads, rank 0, states of 64 × 64, not recorded yet/ms,
    'of which one changes');
my $pieces = '<!-- table: none sizes=seq_len,piece num_seqs=64 seq_len=1048576 piece=65536,262144 variant=pinned head="way" wall_ms %.1f -->';
like((report("$pieces\n?\n<!-- end -->\n"))[0],
    qr/^\| way \| pieces of 65 536 \| 262 144 \|.*^\*by the host's clock, ms, 64 sequences of 1048576, not recorded yet/ms, 'or of a piece');
like((report(($pieces =~ s/variant=pinned/rows="a: pinned; b: pinned num_seqs=1"/r) . "\n?\n<!-- end -->\n"))[0],
    qr/^\*by the host's clock, ms, not recorded yet/m, '... of several shapes, which the labels say');
my $ranks = '<!-- table: 12_ranks sizes=ranks,seq_len columns=2x67108864 num_seqs=1 rows="two: alone; one: alone ranks=1" wall_ms %.4f -->';
my ($one, $two) = map { (rows_with(read_table(newest('12_ranks', 'h200')), variant => 'alone', ranks => $_, seq_len => 67108864))[0]{wall_ms} } 1, 2;
like((report("$ranks\n<!-- end -->\n"))[0], qr/^\| two \| $two \|\n\| one \| $one \|\n\n\*by the host's clock/ms,
    'a row with a size of its own');
fails('a shape of two sizes where there are three', ($three =~ s/8x128x32/8x128/r) . "\n?\n<!-- end -->", qr/columns= wants batch x chunks x heads/);

# estimates beside what was recorded
SKIP: {
    skip 'the simulator counts for them; this is BACKEND=' . backend(), 2 if backend() ne 'sim';
    my $estimates = '<!-- estimates: 03_tile direction=forward variant=shared columns=13200x64 -->';
    my ($written) = report("$estimates\n<!-- end -->\n");
    my ($recorded) = map { sprintf '%.1f', 1e3 * $_->{median_ms} }
        rows_with(read_table(newest('03_tile', 'h200')), variant => 'shared', direction => 'forward', num_seqs => 13200, seq_len => 64);
    my ($estimated, $ratio) = $written =~ /^\| `shared`, 13 200 × 64 \| ([\d.]+) \| \Q$recorded\E \| ([\d.]+) \|/m;
    ok(defined $ratio && abs($ratio - $estimated / $recorded) < 0.02, 'an estimate, the recorded time, and their ratio') or diag($written);
    fails('a shape that is not recorded', ($estimates =~ s/x64/x63/r) . "\n<!-- end -->", qr/no row of 03_tile has .*seq_len=63/);
}
my $plain = q{<!-- table: none head="data | kernel" rows="even | `a`: 'even a'" median_ms %.2f -->};
like((report("$plain\n?\n<!-- end -->\n"))[0], qr/^\| data \| kernel \| ms \|\n\|---\|---\|---:\|\n\| even \| `a` \| \? \|\n\n\*ms, not recorded yet/m, 'no sizes: one column, with the unit above');
fails('a size that is none', ($sizes =~ s/batch,/bach,/r) . "\n?\n<!-- end -->", qr/sizes= wants two or more of/);
is((report("`<!-- value: shown -->`\n\n```\n<!-- output: shown -->\n```\n"))[1], 0, 'markers in code are only shown');

# the core of the course: its pages in their order, and how long each takes to read
use Cwd 'getcwd';
my ($pages, $here) = (scratch('core'), getcwd());
my $marks = sub { join '', map { "<!-- core: $_ -->\n<!-- end -->\n" } @_ };
my $many_words = join ' ', ('word') x 449;
my $not_read = "\n\n| a table | ${\join ' ', ('x') x 900} |\n\n<details>$many_words</details>\n\n## Exercises\n\n$many_words\n\n";
mkdir $pages;
write_file("$pages/README.md", $marks->('list one.md two.md'));
write_file("$pages/one.md", "# One\n\n" . $marks->('here') . "$many_words$not_read" . $marks->('next'));
write_file("$pages/two.md", "# Two\n\n" . $marks->('here') . 'Short.' . "\n\n" . $marks->('next'));
my $in_pages = sub { run_program('sh', '-c', "cd $pages && perl $here/common/pages/report.pl @_") };
is(($in_pages->('one.md two.md README.md'))[0], 0, 'the pages of a core are written');
like(read_file("$pages/README.md"), qr/^1\. \[One\]\(one\.md\), 3 minutes\n2\. \[Two\]\(two\.md\), 1 minute\n\nIn all 4 minutes/m, 'their list');
like(read_file("$pages/one.md"), qr/Page 1 of 2 of \[the core\]\(README\.md#the-core\)\. About 3 minutes/, 'where one is: tables, folded text and exercises do not count');
like(read_file("$pages/one.md"), qr/^Next: \[Two\]\(two\.md\)\.$/m, 'what comes next');
like(read_file("$pages/two.md"), qr/^This was the last page of the core/m, 'and that nothing does');
is(($in_pages->('--check one.md two.md README.md'))[0], 0, 'and stay so');
write_file("$pages/one.md", read_file("$pages/one.md") =~ s/word/word word word word/gr);
like(($in_pages->('--check one.md'))[1], qr/core: here: .*About 12 minutes/, 'a text that has grown takes longer');
write_file("$pages/two.md", "# Two\n\nIt takes <!-- core: minutes -->?<!-- end --> minutes. " . join ' ', ('word') x 300);
$in_pages->('two.md');
like(read_file("$pages/two.md"), qr/It takes <!-- core: minutes -->2<!-- end --> minutes/, 'the minutes of any page');
mkdir "$pages/$_" for '01_one', '01_one/exercises', '01_one/exercises/judges';
write_file("$pages/01_one/exercises/judges/add.txt", "number: 2\nminutes: 80\ntitle: Add\n");
write_file("$pages/two.md", "# Two\n\n| 01.2 Add | the sum |\n\nAll takes <!-- core: hours -->?<!-- end --> hours.");
$in_pages->('two.md');
like(read_file("$pages/two.md"), qr/takes <!-- core: hours -->2<!-- end --> hours/, 'the hours of the core, with the exercises of its tables');
write_file("$pages/three.md", "# Three\n\n" . $marks->('here'));
like(($in_pages->('three.md'))[1], qr/three\.md: core: here: the list in README\.md does not have this page/, 'a page that is not of the core');
like(($in_pages->('--check README.md'))[1] . ($in_pages->('README.md'))[1], qr/12 minutes/, 'and the list with it');

done_testing;
