#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# record.pl - copies the tables in results/ that were measured on a GPU to recordings/DEVICE/DATE-NAME.csv, where the texts and the
# plots find them. DEVICE is the GPU's name in lower case, without a leading "nvidia-", other characters become "-". From the
# repository's root.
use strict;
use warnings;
use File::Copy 'copy';
use File::Path 'make_path';
use FindBin;
use lib "$FindBin::Bin/../pages";
use Tables;

my ($copied, $skipped) = (0, 0);
for my $path (sort glob 'results/*.csv') {
    my ($name) = $path =~ m{([^/]+)\.csv$};
    next if $name =~ /_(quick|ladder)$/;    # a few shapes only; made from the others
    my $table = eval { read_table($path) };
    if (!$table) {
        print "left out: $@";
        next;
    }
    my %first = (%{ $table->{about} }, %{ $table->{rows}[0] // {} });    # a table without a column `device` may say it on top
    my ($date) = ($first{date} // '') =~ /^(\d{4}-\d\d-\d\d)/;
    my $tuned = ($first{toolkit} // '') =~ /TUNED=/;
    if ($tuned) {
        print "$path comes from a tuned build and stays where it is: recorded are the defaults\n";
        next;
    }
    if (!defined $date || !defined $first{device} || ($first{backend} // 'cuda') ne 'cuda') {
        $skipped++;
        next;
    }
    my $device = lc($first{device}) =~ s/[^a-z0-9]+/-/gr =~ s/^nvidia-//r =~ s/^-|-$//gr;
    make_path("recordings/$device");
    my $target = "recordings/$device/$date-$name.csv";
    copy($path, $target) or die "$target: $!\n";
    print "$target\n";
    $copied++;
}
print $copied ? "make report writes them into the texts\n"
    : "nothing to record: no table in results/ comes from a GPU ($skipped do not); make run and make bench on a GPU write them\n";
