#!/usr/bin/perl
# record.pl - copies the tables in results/ that were measured on a GPU to 07_bench/results/DEVICE/DATE-NAME.csv, where the texts and the
# plots find them. DEVICE is the GPU's name in lower case, without a leading "nvidia-", other characters become "-". From the
# repository's root.
use strict;
use warnings;
use File::Copy 'copy';
use File::Path 'make_path';

my ($copied, $skipped) = (0, 0);
for my $path (sort glob 'results/*.csv') {
    my ($name) = $path =~ m{([^/]+)\.csv$};
    next if $name =~ /_(quick|ladder)$/;    # a few shapes only; made from the others
    open my $in, '<', $path or die "$path: $!\n";
    my ($date, $tuned, @columns, %row);
    while (<$in>) {
        chomp;
        $date = $1 if /^# date: (\d{4}-\d\d-\d\d)/;
        $tuned = 1 if /^# toolkit: .*TUNED=/;
        $row{device} = $1 if /^# device: (.*)/;    # a table without that column may say it on top
        next if /^#/;
        if (!@columns) { @columns = split /,/; next }
        @row{@columns} = split /,/, $_, -1;
        last;
    }
    if ($tuned) {
        print "$path comes from a tuned build and stays where it is: recorded are the defaults\n";
        next;
    }
    if (!defined $date || !defined $row{device} || ($row{backend} // 'cuda') ne 'cuda') {
        $skipped++;
        next;
    }
    my $device = lc($row{device}) =~ s/[^a-z0-9]+/-/gr =~ s/^nvidia-//r =~ s/^-|-$//gr;
    make_path("07_bench/results/$device");
    my $target = "07_bench/results/$device/$date-$name.csv";
    copy($path, $target) or die "$target: $!\n";
    print "$target\n";
    $copied++;
}
print $copied ? "make report writes them into the texts\n"
    : "nothing to record: no table in results/ comes from a GPU ($skipped do not); make run and make bench on a GPU write them\n";
