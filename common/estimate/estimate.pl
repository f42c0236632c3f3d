#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# estimate.pl [--chip NAME] [--num-seqs N[,N]] [--seq-len L[,L]] [--csv FILE] [--own] PROGRAM [OPTION ...]
#     how fast each kernel of a program, built for the simulator, would be on a chip; the options are the program's, such as --variant NAME.
#     --own: without the kernels of other chapters that it compares itself with
# estimate.pl [--chip NAME] --trace FILE.csv
#     the same of launches that were traced (SIM_TRACE=FILE.csv), as they were.
#
# Nothing is measured: README.md says what is computed, and how far off that has been.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::Bin/../pages";
use Getopt::Long qw(GetOptions :config require_order);
use Estimate qw(chip resident launches_time elementwise);
use Tables;
use Traced qw(traced variants registers);

my $usage = "usage: $0 [--chip NAME] [--num-seqs N[,N]] [--seq-len L[,L]] [--csv FILE] [--own] PROGRAM [OPTION ...] | --trace FILE.csv\n";
my ($chip_name, $num_seqs, $seq_len, $csv, $trace, $own) = ('h200', undef, '64,1024,16384');
GetOptions('chip=s' => \$chip_name, 'num-seqs=s' => \$num_seqs, 'seq-len=s' => \$seq_len, 'csv=s' => \$csv, 'trace=s' => \$trace, 'own' => \$own) or die $usage;
die $usage if defined $trace ? @ARGV : !@ARGV;
my $chip = chip($chip_name);
$ENV{SIM_CHIP} = $chip->{simulated};

my ($assumed, $waits); # is there something to say below the table?
sub registers_of {
    my ($row) = @_;
    my ($registers, $from) = registers($row);
    $assumed++ if $from eq 'assumed';
    return $registers;
}

# A star behind a kernel whose blocks tell each other of something: how long they wait for that is counted in part.
sub star {
    return '' if !grep { $_->{orders} > 0 } @_;
    $waits = 1;
    return ' *';
}

# Three digits: 7.36 us, 41.1 us, 2.81 ms.
sub short {
    my ($us) = @_;
    my ($value, $unit) = $us < 1000 ? ($us, 'us') : $us < 1e6 ? ($us / 1e3, 'ms') : ($us / 1e6, 's');
    return sprintf $value < 9.995 ? '%.2f %s' : $value < 99.95 ? '%.1f %s' : '%.0f %s', $value, $unit;
}

sub head {
    printf "%-30s %9s  %-19s %s%-14s %s\n", 'kernel', 'estimate', 'range', $_[0] ? '% of add  ' : '', 'limited by', 'then by';
}
sub line {
    my ($name, $time, $percent) = @_;
    printf "%-30.30s %9s  %-19s %s%-14s %s\n", $name, short($time->{us}), short($time->{low}) . ' - ' . short($time->{high}),
        defined $percent ? sprintf('%8.0f  ', $percent) : '', $time->{limited_by}, $time->{next};
}

my $how = ($chip->{checked} // 'no') eq 'yes' ? "nine of ten recorded times were within its range" : "from its datasheet: never held against a measurement";
print "Estimates for $chip->{name}, from what the simulator counts; nothing was measured ($how).\n";
if (defined $trace) {
    my $table = read_table($trace);
    my @rows = grep { $_->{line} eq '' && $_->{launches} > 0 } @{ $table->{rows} };
    grep { $_ eq 'fills' } @{ $table->{columns} } or die "$trace is not a trace of this simulator; SIM_TRACE=FILE.csv writes one\n";
    head(0);
    line("$_->{kernel}" . ($_->{launches} > 1 ? " ($_->{launches} launches)" : '') . star($_), launches_time($chip, \&registers_of, $_)) for @rows;
} else {
    my ($program, @options) = @ARGV;
    for ($num_seqs // (), $seq_len) { /^[1-9]\d*(?:,[1-9]\d*)*$/ or die "\"$_\" are no sizes; write 1024 or 64,1024\n" }
    my @shapes = map { my $n = $_; map { [$n, $_] } split /,/, $seq_len } split /,/, $num_seqs // 100 * $chip->{sms};
    my $traced = traced($program, \@options, $own ? [grep { !m{/} } variants($program)] : [], sub { $chip->{sms} * resident($chip, $_[0], registers_of($_[0])) }, $chip->{sms}, @shapes);
    my @csv;
    for my $shape (@shapes) {
        my ($n, $l) = @$shape;
        my $direction = '';
        for my $kernel (sort { index($a->{direction}, 'back') <=> index($b->{direction}, 'back') || $a->{direction} cmp $b->{direction} } @{ $traced->{"$n x $l"} // [] }) {
            my $back = $kernel->{direction} =~ /^back/;
            my $add = launches_time($chip, sub { 24 }, elementwise($n * $l, $back ? (3, 2) : (2, 1)));
            if ($kernel->{direction} ne $direction) {
                $direction = $kernel->{direction};
                printf "\n%d sequence%s of %d elements, %s; %s: %s\n", $n, $n == 1 ? '' : 's', $l, $direction =~ tr/_/ /r, $back ? 'add5' : 'add', short($add->{us});
                head(1);
            }
            if (!defined $kernel->{counts}) {
                printf "%-30.30s %s\n", "$kernel->{chapter} $kernel->{variant}", 'no estimate: it launches something else for the smaller shapes that are traced';
                next;
            }
            my $time = launches_time($chip, \&registers_of, @{ $kernel->{counts} });
            my $percent = 100 * $add->{us} / $time->{us};
            line("$kernel->{chapter} $kernel->{variant}" . star(@{ $kernel->{counts} }), $time, $percent);
            push @csv, { %$kernel, num_seqs => $n, seq_len => $l, chip => $chip_name =~ s{.*/|\.chip$}{}gr, percent_of_add => sprintf('%.1f', $percent),
                limited_by => $time->{limited_by}, map { ("$_->[0]_ms" => sprintf '%.6f', $time->{ $_->[1] } / 1e3) } ['estimated', 'us'], ['low', 'low'], ['high', 'high'] };
        }
    }
    die "no kernel takes these shapes\n" if !@csv;
    write_table($csv, ['# estimated, not measured: common/estimate'], [qw(chapter variant direction num_seqs seq_len chip estimated_ms low_ms high_ms percent_of_add limited_by)], @csv)
        if defined $csv;
}
print "\nFor kernels that nobody has compiled for a GPU here or recorded, 40 registers a thread are assumed.\n" if $assumed;
print "\n* Its blocks wait for each other. The longest chain of hand-overs is counted, as if all blocks began at once; it may take longer, up to\n  twice as long where thousands of blocks look back.\n" if $waits;
