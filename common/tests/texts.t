# The texts tell the truth: the outputs that they show are what the commands print, the figures are the recorded ones, links lead
# somewhere, and formulas are balanced.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my @texts = sort glob '*.md [0-9][0-9]_*/*.md common/*.md common/*/*.md';

# Numbers, times and the names of machines differ from run to run; words and the table's shape do not.
sub masked {
    my ($text) = @_;
    $text =~ s/ on .*? \((cpu|sim), [^)]*\)/ on DEVICE ($1)/g;
    $text =~ s/-?\d+(\.\d+)?(e[-+]?\d+)?/N/g;
    $text =~ s/[ \t]+/ /g;
    $text =~ s/ +$//mg;
    $text =~ s/^(.*\n)\1+/$1/mg; # a line for each thread, or more of them
    $text =~ s/\s+\z//;
    return $text;
}

for my $path (@texts) {
    my $text = read_file($path);
    my @blocks = $text =~ /<!-- output: (.*?) -->\s*```text\n(.*?)```/gs;
    my $markers = () = $text =~ /<!-- output:/g;
    is(@blocks / 2, $markers, "$path: every output marker is followed by a block of text") if $markers;
    while (my ($command, $shown) = splice @blocks, 0, 2) {
        SKIP: {
            skip "$command is for the simulator", 1 if backend() ne 'sim';
            my $got = `{ $command; } 2>/dev/null`; # what is skipped is said on stderr
            # the same everywhere, to the digit, unless it is timed on the CPU or depends on its cores
            my $exact = $command !~ /01_reference( |$)|speedup/;
            is($exact ? $got : masked($got), $exact ? $shown : masked($shown), "$path: $command");
        }
    }
    my ($folder) = $path =~ m{^(.*/)?[^/]*$};
    for my $link ($text =~ /\]\(([^)#\s]+)[^)]*\)/g) {
        next if $link =~ /^https?:/;
        ok(-e(($folder // '') . $link), "$path links to $link");
    }
    (my $plain = $text) =~ s/```.*?```|`[^`\n]*`//gs;
    my $dollars = () = $plain =~ /(?<!\\)\$/g;
    is($dollars % 2, 0, "$path: every formula is closed");
}

my ($status, $out, $err) = run_program('perl', 'common/report.pl', '--check');
is("$status $out$err", '0 ', 'every figure is the recorded one (make report)');

done_testing;
