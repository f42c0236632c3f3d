# SPDX-License-Identifier: MIT
# Counts.pm - reads and writes tables of counts (CSV), with lines of # on top.
package Counts;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(read_rows write_rows);

# The rows of a table: ({ column => text }, ...). Dies with one sentence. A line `# renamed: A/x is y, ...' says that the variant x of the chapter A is
# called y now; a launch configuration stands behind its name.
sub read_rows {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    my ($columns, $renamed, @rows);
    while (my $line = <$file>) {
        $line =~ s/\r?\n\z//;
        $renamed = $1 if $line =~ /^# renamed: (.*)/;
        next if $line =~ /^#/;
        my @fields = split /,/, $line, -1;
        if (!defined $columns) {
            $columns = \@fields;
            next;
        }
        @fields == @$columns or die "$path, line $.: a row of " . @fields . ' fields below ' . @$columns . " columns\n";
        my %row;
        @row{@$columns} = @fields;
        my ($name, $config) = ($row{variant} // '') =~ /^([^:]*)(.*)/;
        $row{variant} = $1 . $config if defined $renamed && $renamed =~ m{(?:^|, )\Q$row{chapter}/$name\E is (\w+)};
        push @rows, \%row;
    }
    return @rows;
}

# Writes a table; the file appears whole or not at all. What else stands in a row is left out.
sub write_rows {
    my ($path, $comment, $columns, @rows) = @_;
    my $beside = "$path.partial-$$";
    open my $file, '>', $beside or die "$beside: $!\n";
    print $file "# $comment\n", map { "$_\n" } join(',', @$columns), map { join ',', map { $_ // '' } @$_{@$columns} } @rows;
    close $file && rename $beside, $path or die "$path: $!\n";
}

1;
