#!/bin/sh
# warp.sh CHAPTER [TERM] - draws results/CHAPTER_warp.svg: which bytes the lanes of one warp want at once. From the repository's root.
#
# For each variant, forward, of the longest traced shape: a load of global memory, and the next one of the same line; a store where only
# the copy engine loads. TERM=dumb draws in the terminal. Without gnuplot this is a sentence, not an error.
set -eu
export LC_ALL=C # in some languages 0.5 is written 0,5, and awk reads 0.5 as 0 there
chapter=$1
term=${2:-svg}
csv=results/${chapter}_warp.csv
data=results/${chapter}_warp.dat

if ! command -v gnuplot >/dev/null; then
    echo "the picture of $chapter's requests skipped: gnuplot is not installed (make setup installs it)"
    exit 0
fi

# for each request a block "# variant number what sectors last-sector", then a line for each lane: lane, sector from the variant's first one
perl -F, -lane '
    next if $. == 1 || $F[2] ne "forward" || $F[7] !~ /^(load|store)$/;
    $longest = $F[4] if $F[4] > ($longest // 0);
    push @rows, [@F];
    END {
        for my $row (grep { $_->[4] == $longest } @rows) {
            my ($variant, $line, $kind, $request, $lane, $offset, $bytes) = @$row[1, 6 .. 11];
            push @variants, $variant if !$seen{$variant}++;
            push @{ $of{$variant}{$kind}{$line}{$request} }, [$lane, $offset, $bytes];
        }
        for my $variant (@variants) {
            my $kind = $of{$variant}{load} ? "load" : "store";
            my $lines = $of{$variant}{$kind};
            my ($line) = sort { keys %{ $lines->{$b} } <=> keys %{ $lines->{$a} } || $a cmp $b } keys %$lines; # what runs most often
            my ($one, @later) = map { $lines->{$line}{$_} } sort { $a <=> $b } keys %{ $lines->{$line} };
            my ($next) = grep { "@{$_->[0]}" ne "@{$one->[0]}" } @later;
            my $first = int($one->[0][1] / 32);
            my $number = 0;
            for my $request (grep { defined } $one, $next) {
                my %sectors = map { int($_->[1] / 32) => 1, int(($_->[1] + $_->[2] - 1) / 32) => 1 } @$request;
                print "# $variant ", $number++, " $kind ", scalar(keys %sectors), " ", int($request->[-1][1] / 32) - $first;
                printf "%d %.4f\n", $_->[0], $_->[1] / 32 - $first for @$request;
                print "\n";
            }
        }
    }' "$csv" > "$data"
[ -s "$data" ] || { echo "$csv holds no requests of a forward pass"; exit 0; }
gnuplot -e "term='$term'; data='$data'; chapter='$chapter'; out='results/${chapter}_warp.svg'" common/plots/warp.gp
[ "$term" != dumb ] || exit 0

# gnuplot knows one set of colours; this is the other one, for readers with a dark screen
perl -0pi -e 's{(<svg[^>]*>)}{$1
<style>
\@media (prefers-color-scheme: dark) {
  rect[fill="#ffffff"] { fill: #0d1117; }
  [fill="black"] { fill: #e6edf3; }
  [stroke="black"] { stroke: #e6edf3; }
  [stroke="rgb(221, 221, 221)"] { stroke: #30363d; }
  [color="rgb(  0, 114, 178)"] { color: #56b4e9; }
  [color="rgb(158, 202, 225)"] { color: #2f5573; }
}
</style>}' "results/${chapter}_warp.svg"
echo "drew results/${chapter}_warp.svg"
