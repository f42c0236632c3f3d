# SPDX-License-Identifier: MIT
# Estimated.pm - estimates beside the times that were recorded, for a text.
#
# The estimates are those of cusim-estimate with what was recorded of the kernels' registers, so they are the same on every machine.
package Estimated;
use strict;
use warnings;
use File::Temp 'tempdir';
use Recorded;
use Tables;
use Texts;

my %options = (forward => '--forward', reverse => '--reverse', backward => '--backward', backward_reverse => '--backward --reverse');
my $folder = tempdir(CLEANUP => 1);

# What is estimated of one kernel: { length => row of the estimates }.
sub estimated {
    my ($chapter, $variant, $direction, $num_seqs, @lengths) = @_;
    my $program = "build/sim/$chapter";
    stop("$program is not built: make BACKEND=sim -C $chapter") if !-x $program;
    my $csv = "$folder/estimates.csv";
    my $registers = join ' ', map { "--registers $_" } reverse sort glob 'recordings/*/*_attrs.csv';
    my $sizes = "--num-seqs $num_seqs --seq-len " . join ',', @lengths;
    my $said = `perl cusim/estimate/cusim-estimate $registers $sizes --csv $csv $program --variant $variant $options{$direction} 2>&1`;
    stop("cusim-estimate: $said") if $? != 0;
    return { map { $_->{seq_len} => $_ } rows_with(read_table($csv), chapter => $chapter, variant => $variant, direction => $direction) };
}

# Microseconds, as they are written: 5.6, 44.9, 693, 2430.
sub us { return sprintf $_[0] < 0.0995 ? '%.1f' : '%.0f', 1e3 * $_[0] }

# A row for each kernel, direction and shape: estimated, recorded, and how far apart they are.
sub estimates {
    my ($request, undef, $text) = @_;
    my @words = words($request);
    my @files = split /,/, (shift @words)->[1];
    my %keys = map { defined $_->[0] ? @$_ : stop("cannot read \"$_->[1]\"") } @words;
    my ($directions, $variants, $shapes) = map { [split /,/, $_ // stop('wants FILE direction=... variant=a,b columns=13200x1024,...')] }
        @keys{qw(direction variant columns)};
    my (@lines, $device, %baselines);
    for my $kernel (@$variants) {
        my ($chapter, $variant) = $kernel =~ m{^(.*)/(.*)} ? ($1, $2) : ($files[0], $kernel);
        for my $direction (@$directions) {
            stop("there is no direction $direction") if !$options{$direction};
            $baselines{ $direction =~ /backward/ ? '`add5`' : '`add`' } = 1;
            my $label = "`$variant`" . (@$directions > 1 ? ', ' . $direction =~ tr/_/ /r : '');
            my (%lengths, %estimated);
            for (@$shapes) {
                my ($num_seqs, $seq_len) = split /x/;
                push @{ $lengths{$num_seqs} }, $seq_len;
            }
            $estimated{$_} = estimated($chapter, $variant, $direction, $_, @{ $lengths{$_} }) for keys %lengths;
            for (@$shapes) {
                my ($num_seqs, $seq_len) = split /x/;
                my %wanted = (chapter => $chapter, variant => $variant, direction => $direction, num_seqs => $num_seqs, seq_len => $seq_len);
                my ($recorded) = map { rows_with($_, %wanted) } map { Recorded::recording($_) // () } @files;
                stop("no row of @files has " . Recorded::in_words(%wanted)) if !$recorded;
                my $estimate = $estimated{$num_seqs}{$seq_len} // stop("no estimate of $variant at $num_seqs x $seq_len");
                $device //= $recorded->{device};
                push @lines, "| $label, " . Recorded::grouped($num_seqs) . " × $seq_len | " . us($estimate->{estimated_ms}) . ' | ' . us($recorded->{median_ms})
                    . sprintf(" | %.2f | %.0f | %.0f |\n", $estimate->{estimated_ms} / $recorded->{median_ms}, map { $_->{percent_of_add} } $estimate, $recorded);
            }
        }
    }
    my $of = join ' or ', reverse sort keys %baselines;
    return "\n| kernel, sequences × length | estimated, µs | recorded, µs | ratio | estimated, % of $of | recorded, % |\n|---|---:|---:|---:|---:|---:|\n" . join('', @lines)
        . "\n*The ratio is estimated / recorded. Recorded: " . Recorded::source($device, $text, @files) . ".*\n\n";
}

1;
