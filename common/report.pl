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
# FILE is the newest 07_bench/results/DEVICE/DATE-FILE.csv. A value is the one row in which every key has its value. A table has a row
# for each variant and a column for each seq_len, and says below where its numbers come from. FORMAT is printf's; "%.2f/1e9" divides.
use strict;
use warnings;

my $check = @ARGV && $ARGV[0] eq '--check';
die "usage: $0 [--check]\n" if @ARGV > ($check ? 1 : 0);
my ($drifted, $file, %recorded) = (0);

sub stop { die "$file: $_[0]\n" }

# The newest recording of that name: { rows => [{ column => value }], about => { date, toolkit, ... }, path }.
sub recording {
    my ($name) = @_;
    return $recorded{$name} //= do {
        my ($path) = sort { ($b =~ m{([^/]*)$})[0] cmp ($a =~ m{([^/]*)$})[0] }
            grep { m{/\d{4}-\d\d-\d\d-\Q$name\E\.csv$} } glob '07_bench/results/*/*.csv';
        stop("nothing is recorded as 07_bench/results/*/DATE-$name.csv") if !defined $path;
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

sub value {
    my ($name, $column, $format, %keys) = request($_[0]);
    return formatted(row_of(recording($name), %keys), $column, $format);
}

sub table {
    my ($name, $column, $format, %keys) = request($_[0]);
    my $recording = recording($name);
    my @variants = split /,/, delete $keys{variant};
    my @lengths = split /,/, delete $keys{seq_len};
    my @lines = ('| sequence length | ' . join(' | ', @lengths) . ' |', '|---|' . '---:|' x @lengths);
    my $any;
    for my $variant (@variants) {
        my @cells = map { formatted($any = row_of($recording, %keys, variant => $variant, seq_len => $_), $column, $format) } @lengths;
        push @lines, "| `$variant` | " . join(' | ', @cells) . ' |';
    }
    my $unit = { gb_per_s => 'GB/s', percent_of_add => '% of `add`', median_ms => 'ms' }->{$column} // $column;
    my ($date) = $recording->{about}{date} =~ /^(\d{4}-\d\d-\d\d)/;
    return "\n" . join("\n", @lines) . "\n\n*$unit, $any->{num_seqs} sequences, $any->{device}, $recording->{about}{toolkit}, driver "
        . "$recording->{about}{driver}, $date ([all figures]($recording->{path})).*\n\n";
}

for my $path (sort glob('*.md [0-9][0-9]_*/*.md')) {
    $file = $path;
    open my $in, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$in> };
    close $in;
    my $new = $text;
    $new =~ s{(<!-- value: (.*?) -->).*?(<!-- end -->)}{$1 . value($2) . $3}ge;
    $new =~ s{(<!-- table: (.*?) -->).*?(<!-- end -->)}{
        my ($open, $close) = ($1, $3);
        my $table = table($2);
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
