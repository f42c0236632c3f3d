#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# estimates.pl [--chip NAME] [--csv FILE] PROGRAM RECORDING.csv - estimates every time in a recording, and says how far off the estimates are.
#
# PROGRAM has the recording's kernels, built for the simulator. Those that do only a part on purpose, NAME_only, are left out: they are
# controls, from which the chip's parameters come.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../pages", "$FindBin::Bin/../../cusim/estimate";
use Getopt::Long;
use List::Util qw(min sum);
use Estimate qw(chip resident launches_time traced registers read_registers);
use Tables;

my ($chip_name, $csv) = ('h200');
GetOptions('chip=s' => \$chip_name, 'csv=s' => \$csv) && @ARGV == 2 or die "usage: $0 [--chip NAME] [--csv FILE] PROGRAM RECORDING.csv\n";
my ($program, $path) = @ARGV;
my $chip = chip($chip_name);
$ENV{CUSIM_CHIP} = $chip_name;
my $recording = read_table($path);
read_registers(glob('build/obj/cuda*/*/*.ptxas'), reverse sort glob 'recordings/*/*_attrs.csv');

# The part of a sorted list below which so many of a hundred lie.
sub percentile { my ($percent, @x) = @_; @x = sort { $a <=> $b } @x; return $x[min($#x, int($percent / 100 * @x))] }

# Ranks, from the smallest up; equal ones share theirs.
sub ranks {
    my @x = @_;
    my @order = sort { $x[$a] <=> $x[$b] } 0 .. $#x;
    my @rank;
    for (my $i = 0; $i < @order;) {
        my $end = $i;
        $end++ while $end < $#order && $x[$order[$end + 1]] == $x[$order[$i]];
        $rank[$order[$_]] = ($i + $end) / 2 for $i .. $end;
        $i = $end + 1;
    }
    return \@rank;
}

# Spearman's rank correlation.
sub rank_correlation {
    my ($x, $y) = map { ranks(@$_) } @_;
    my $mean = ($#$x) / 2;
    my ($xy, $xx, $yy) = (0, 0, 0);
    for (0 .. $#$x) {
        $xy += ($x->[$_] - $mean) * ($y->[$_] - $mean);
        $xx += ($x->[$_] - $mean)**2;
        $yy += ($y->[$_] - $mean)**2;
    }
    return $xx * $yy > 0 ? $xy / sqrt($xx * $yy) : 0;
}

my (%recorded, %shapes);
for my $row (grep { $_->{backend} eq 'cuda' } @{ $recording->{rows} }) {
    $recorded{ join ',', @$row{qw(chapter variant direction num_seqs seq_len)} } = $row;
    $shapes{"$row->{num_seqs} x $row->{seq_len}"} = [@$row{qw(num_seqs seq_len)}];
}
my $traced = traced($program, [], [], sub { $chip->{sms} * resident($chip, $_[0], (registers($_[0]))[0]) }, $chip->{sms}, map { $shapes{$_} } sort keys %shapes);
my @rows;
for my $shape (sort keys %shapes) {
    for my $kernel (@{ $traced->{$shape} // [] }) {
        my $row = $recorded{ join ',', @$kernel{qw(chapter variant direction)}, @{ $shapes{$shape} } };
        next if !$row || $row->{variant} =~ /_only$/ || !defined $kernel->{counts};
        my $time = launches_time($chip, sub { (registers($_[0]))[0] }, @{ $kernel->{counts} });
        my $bytes = 0;
        $bytes += 32 * ($_->{load_once} + $_->{store_once}) for @{ $kernel->{counts} };
        push @rows, { %$row, chip => $chip_name, low => $time->{low}, high => $time->{high}, estimated_ms => sprintf('%.6f', $time->{us} / 1e3), recorded_ms => $row->{median_ms}, limited_by => $time->{limited_by},
            roofline_ms => sprintf('%.6f', ($chip->{launch_us} + $bytes / 1e3 / $chip->{dram_gb_per_s}) / 1e3) };
    }
}
die "$program has none of the kernels of $path\n" if !@rows;

sub errors { my ($column) = @_; return map { abs($_->{$column} / $_->{recorded_ms} - 1) * 100 } @rows }
printf "%d recorded times, %d kernels\n", scalar @rows, scalar keys %{ { map { ("$_->{chapter}/$_->{variant}" => 1) } @rows } };
printf "%-9s median error %5.1f %%, nine of ten within %5.1f %%\n", @$_[0], percentile(50, errors($_->[1])), percentile(90, errors($_->[1]))
    for ['estimate:', 'estimated_ms'], ['roofline:', 'roofline_ms'];
for my $shape ([13200, 64], [13200, 1024], [13200, 16384], [132, 65536]) {
    my @column = grep { $_->{direction} eq 'forward' && $_->{num_seqs} == $shape->[0] && $_->{seq_len} == $shape->[1] } @rows;
    next if @column < 3;
    my ($far, $right) = (0, 0);
    for my $i (0 .. $#column) {
        for my $j (0 .. $i - 1) {
            my ($slow, $fast) = sort { $b->{recorded_ms} <=> $a->{recorded_ms} } @column[$i, $j];
            next if $slow->{recorded_ms} < 1.15 * $fast->{recorded_ms};
            $far++;
            $right += $slow->{estimated_ms} > $fast->{estimated_ms};
        }
    }
    printf "%5d x %5d, forward: %2d kernels, rank correlation %.3f (roofline %.3f), %d of %d pairs that differ by 15 %% in order\n", @$shape, scalar @column,
        map({ rank_correlation([map { $_->{recorded_ms} } @column], [@$_]) } [map { $_->{estimated_ms} } @column], [map { $_->{roofline_ms} } @column]), $right, $far;
}

# Kernels whose ranges overlap are a tie (cusim-estimate): how often is the order right that their estimates have, and how often elsewhere?
my (%tables, %pairs, %wrong);
push @{ $tables{ join ',', @$_{qw(direction num_seqs seq_len)} } }, $_ for @rows;
for my $table (values %tables) {
    my @by_estimate = sort { $a->{estimated_ms} <=> $b->{estimated_ms} } @$table;
    for my $slow (1 .. $#by_estimate) {
        for my $fast (0 .. $slow - 1) {
            my $kind = $by_estimate[$slow]{low} <= $by_estimate[$fast]{high} ? 'overlap' : 'do not overlap';
            $pairs{$kind}++;
            $wrong{$kind} += $by_estimate[$fast]{estimated_ms} < $by_estimate[$slow]{estimated_ms}
                && $by_estimate[$fast]{recorded_ms} > $by_estimate[$slow]{recorded_ms};
        }
    }
}
printf "pairs whose ranges %-15s %5d, of which %5.2f %% were recorded in the other order\n", "$_:", $pairs{$_}, 100 * $wrong{$_} / $pairs{$_}
    for grep { $pairs{$_} } 'overlap', 'do not overlap';

my %kernel;
push @{ $kernel{"$_->{chapter} $_->{variant}, " . ($_->{direction} =~ /^back/ ? 'backward' : 'forward') . ", $_->{num_seqs} sequences"} },
    ($_->{estimated_ms} / $_->{recorded_ms} - 1) * 100 for @rows;
my @worst = sort { abs($b->[1]) <=> abs($a->[1]) || $a->[0] cmp $b->[0] } map { [$_, percentile(50, @{ $kernel{$_} })] } keys %kernel;
printf "%-58s %+4.0f %%\n", @$_ for ['farthest off, median over the lengths:', $worst[0][1]], map { ["    $_->[0]", $_->[1]] } @worst[0 .. min(11, $#worst)];
write_table($csv, ['# estimated: cusim/estimate', "# recorded: $path"],
    [qw(chapter variant direction num_seqs seq_len chip estimated_ms roofline_ms recorded_ms limited_by)], @rows) if defined $csv;
