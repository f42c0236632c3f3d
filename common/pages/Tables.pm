# SPDX-License-Identifier: MIT
# Tables.pm - reads the CSV tables that the programs and scripts write, and finds columns by their names. (tables.py: the same for Python.)
#
#   # command: ...            on top, lines of '#' that hold for the whole table
#   # renamed: NN_x/old is new, ...      what was measured has another name now; the rows below have the old one
#   chapter,variant,...       the columns
#   NN_x,default,...
package Tables;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(read_table rows_with measured sizes write_table newest device_of_texts);

# The table in a file: { path, comments => [the lines of '#'], about => { date, toolkit, ... }, columns => [names], rows => [{ name => text }] }.
# Dies with one sentence if the file cannot be read or a row has not as many fields as there are columns.
sub read_table {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    my %table = (path => $path, comments => [], about => {}, columns => [], rows => []);
    while (my $line = <$file>) {
        $line =~ s/\r?\n\z//;
        if ($line =~ /^#/) {
            push @{ $table{comments} }, $line;
            $table{about}{$1} = $2 if $line =~ /^# (\w+): (.*)/;
            next;
        }
        my @fields = split /,/, $line, -1;
        if (!@{ $table{columns} }) {
            $table{columns} = \@fields;
            next;
        }
        @fields == @{ $table{columns} } or die "$path, line $.: a row of " . @fields . ' fields below ' . @{ $table{columns} } . " columns\n";
        my %row;
        @row{ @{ $table{columns} } } = @fields;
        rename_variant(\%row, $table{about}{renamed});
        push @{ $table{rows} }, \%row;
    }
    return \%table;
}

# Gives a row the name that its variant has now; a launch configuration stays behind it.
sub rename_variant {
    my ($row, $renamed) = @_;
    return if !defined $renamed || !defined $row->{variant};
    my ($name, $config) = $row->{variant} =~ /^([^:]*)(.*)/;
    $row->{variant} = $1 . $config if $renamed =~ /(?:^|, )\Q$row->{chapter}\E\/\Q$name\E is (\w+)/;
}

# The rows in which each of these columns has this value. A column that the table does not have has no value.
sub rows_with {
    my ($table, %wanted) = @_;
    return grep { my $row = $_; !grep { ($row->{$_} // '') ne $wanted{$_} } keys %wanted } @{ $table->{rows} };
}

# The columns that say what was measured: they stand before `backend`, which says on what.
sub measured {
    my ($table) = @_;
    my @columns = @{ $table->{columns} };
    my ($end) = grep { $columns[$_] eq 'backend' } 0 .. $#columns;
    return defined $end ? @columns[0 .. $end - 1] : @columns;
}

# The columns of the operation's sizes: they stand behind `direction`.
sub sizes {
    my ($table) = @_;
    my @columns = @{ $table->{columns} };
    shift @columns while @columns && $columns[0] ne 'direction';
    shift @columns;
    my ($end) = grep { $columns[$_] =~ /^(?:type|with|backend|kernel)$/ } 0 .. $#columns;
    return defined $end ? @columns[0 .. $end - 1] : @columns;
}

# Writes a table; the file appears whole or not at all. What else stands in a row is left out.
sub write_table {
    my ($path, $comments, $columns, @rows) = @_;
    my $beside = "$path.partial-$$";
    open my $file, '>', $beside or die "$beside: $!\n";
    print $file map { "$_\n" } @$comments, join(',', @$columns), map { join ',', map { $_ // '' } @$_{@$columns} } @rows;
    close $file && rename $beside, $path or die "$path: $!\n";
}

# The GPU whose figures the texts show, as the folder of its recordings is called.
sub device_of_texts { return 'h200' }

# The newest recording of that name, recordings/DEVICE/DATE-NAME.csv; undef if there is none. Any device if none is given.
sub newest {
    my ($name, $device) = @_;
    my %date = map { m{/(\d{4}-\d\d-\d\d)-\Q$name\E\.csv$} ? ($_ => $1) : () } glob 'recordings/' . ($device // '*') . '/*.csv';
    my ($path) = sort { $date{$b} cmp $date{$a} || $a cmp $b } keys %date;
    return $path;
}

1;
