#!/usr/bin/perl
# report.pl [--check] - writes the recorded figures into the texts, between markers; with --check it only says what has drifted.
#
# Run from the repository's root. In every README.md and *.md of a chapter:
#
#   <!-- value: FILE key=value ... COLUMN FORMAT -->13<!-- end -->
#   <!-- table: FILE key=value seq_len=16,64 variant=a,b COLUMN FORMAT -->
#   (the table)
#   <!-- end -->
#
# FILE is the newest 07_bench/results/h200/DATE-FILE.csv: the texts speak of this GPU. A value is the one row in which every key has its
# value. A table has a row for each variant (or chapter/variant) and a column for each seq_len, or for each num_seqs if these are several,
# and says below where its numbers come from. FORMAT is printf's; "%.2f/1e9" divides. What is not recorded yet stands in the text as "?".
use strict;
use warnings;

my $check = @ARGV && $ARGV[0] eq '--check';
die "usage: $0 [--check]\n" if @ARGV > ($check ? 1 : 0);
my ($drifted, $file, %recorded) = (0);

my $device = 'h200';

sub stop { die "$file: $_[0]\n" }

# The newest recording of that name: { rows => [{ column => value }], about => { date, toolkit, ... }, path }.
sub recording {
    my ($name) = @_;
    return $recorded{$name} //= do {
        my ($path) = sort { ($b =~ m{([^/]*)$})[0] cmp ($a =~ m{([^/]*)$})[0] }
            grep { m{/\d{4}-\d\d-\d\d-\Q$name\E\.csv$} } glob "07_bench/results/$device/*.csv";
        return undef if !defined $path;
        open my $csv, '<', $path or die "$path: $!\n";
        my (%about, @columns, @rows);
        while (my $line = <$csv>) {
            chomp $line;
            if ($line =~ /^# (\w+): (.*)/) { $about{$1} = $2; next }
            my @fields = split /,/, $line, -1;
            if (!@columns) { @columns = @fields; next }
            my %row;
            @row{@columns} = @fields;
            push @rows, \%row;
        }
        { rows => \@rows, about => \%about, path => $path };
    };
}

# The one row of the recording where every key has its value.
sub row_of {
    my ($recording, %keys) = @_;
    my @found = grep { my $row = $_; !grep { ($row->{$_} // '') ne $keys{$_} } keys %keys } @{ $recording->{rows} };
    stop(@found . " rows of $recording->{path} have " . join ' ', map { "$_=$keys{$_}" } sort keys %keys) if @found != 1;
    return $found[0];
}

sub formatted {
    my ($row, $column, $format) = @_;
    my $value = $row->{$column};
    stop("no column $column, or it is empty") if !defined $value || $value eq '';
    $value /= $1 if $format =~ s{/([\d.e+-]+)$}{};
    return sprintf $format, $value;
}

# "FILE key=value ... COLUMN FORMAT" in its parts
sub request {
    my ($name, @words) = split ' ', $_[0];
    my ($format, $column) = (pop @words, pop @words);
    return ($name, $column, $format, map { /^(\w+)=(.*)$/ ? ($1, $2) : stop("cannot read \"$_\" in a marker") } @words);
}

# What stands in the text where nothing is recorded under that name. It must be a question mark, or somebody has made it up.
sub not_yet {
    my ($name, $old) = @_;
    stop("nothing is recorded as 07_bench/results/$device/DATE-$name.csv") if $old !~ /^\s*\?\s*$/;
    return $old;
}

sub value {
    my ($name, $column, $format, %keys) = request($_[0]);
    my $recording = recording($name) // return not_yet($name, $_[1]);
    return formatted(row_of($recording, %keys), $column, $format);
}

# One cell; a dash where the kernel does not run on this shape. The first parameter becomes the row.
sub cell {
    my (undef, $recording, $column, $format, %keys) = @_;
    my %kernel = map { $_ => $keys{$_} } grep { /^(chapter|variant|direction)$/ } keys %keys;
    my @rows = grep { my $row = $_; !grep { ($row->{$_} // '') ne $keys{$_} } keys %keys } @{ $recording->{rows} };
    my $known = grep { my $row = $_; !grep { ($row->{$_} // '') ne $kernel{$_} } keys %kernel } @{ $recording->{rows} };
    return '-' if !@rows && $known;
    $_[0] = row_of($recording, %keys);
    return formatted($_[0], $column, $format);
}

sub table {
    my ($name, $column, $format, %keys) = request($_[0]);
    my $recording = recording($name) // return not_yet($name, $_[1]);
    my @variants = split /,/, delete $keys{variant};
    my $across = ($keys{num_seqs} // '') =~ /,/ ? 'num_seqs' : 'seq_len';
    my @columns = split /,/, delete $keys{$across};
    my @lines = ('| ' . ($across eq 'seq_len' ? 'sequence length' : 'sequences') . ' | ' . join(' | ', @columns) . ' |', '|---|' . '---:|' x @columns);
    my $any;
    for my $variant (@variants) {
        my %kernel = $variant =~ m{(.*)/(.*)} ? (chapter => $1, variant => $2) : (variant => $variant);
        my @cells = map { cell($any, $recording, $column, $format, %keys, %kernel, $across => $_) } @columns;
        push @lines, "| `$variant` | " . join(' | ', @cells) . ' |';
    }
    my $shape = $across eq 'seq_len' ? "$any->{num_seqs} sequences" : "length $any->{seq_len}";
    my $unit = { gb_per_s => 'GB/s', percent_of_add => ($any->{direction} // '') =~ /backward/ ? '% of `add5`' : '% of `add`', median_ms => 'ms' }->{$column} // $column;
    my ($date) = $recording->{about}{date} =~ /^(\d{4}-\d\d-\d\d)/;
    return "\n" . join("\n", @lines) . "\n\n*$unit, $shape, $any->{device}, $recording->{about}{toolkit}, driver "
        . "$recording->{about}{driver}, $date ([all figures]($recording->{path})).*\n\n";
}

for my $path (sort glob('*.md [0-9][0-9]_*/*.md')) {
    $file = $path;
    open my $in, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$in> };
    close $in;
    my $new = $text;
    $new =~ s{(<!-- value: (.*?) -->)(.*?)(<!-- end -->)}{$1 . value($2, $3) . $4}ge;
    $new =~ s{(<!-- table: (.*?) -->)(.*?)(<!-- end -->)}{
        my ($open, $close) = ($1, $4);
        my $table = table($2, $3);
        $table =~ s{\]\((07_bench/)}{](../$1} if $path =~ m{/}; # links are relative to the text
        $open . "\n" . $table =~ s/^\n//r . $close
    }gse;
    next if $new eq $text;
    $drifted = 1;
    print "$path: the figures differ from the recorded ones; run make report\n" if $check;
    next if $check;
    open my $out, '>', $path or die "$path: $!\n";
    print $out $new;
    close $out or die "$path: $!\n";
    print "$path: figures written\n";
}
exit($check && $drifted ? 1 : 0);
