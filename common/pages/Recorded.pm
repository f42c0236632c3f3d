# SPDX-License-Identifier: MIT
# Recorded.pm - figures and tables of recordings/, for a text.
package Recorded;
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Tables;
use Texts;

my $results = 'recordings/' . device_of_texts();
my (%recorded, $missing);

sub missing { return $missing // 0 } # how many ? are left

# The newest recording of that name, as read_table returns it. None: undef.
sub recording {
    my ($name) = @_;
    if (!exists $recorded{$name}) {
        my $path = newest($name, device_of_texts());
        $recorded{$name} = defined $path ? read_table($path) : undef;
    }
    return $recorded{$name};
}

sub in_words {
    my (%keys) = @_;
    return join ' ', map { "$_=$keys{$_}" } sort keys %keys;
}

sub formatted {
    my ($row, $column, $format) = @_;
    my $value = $row->{$column};
    stop("no column $column, or it is empty") if !defined $value || $value eq '';
    $value /= $1 if $format =~ s{/([\d.e+-]+)$}{};
    return sprintf $format, $value;
}

# What is not recorded. There must be a question mark in the text, or somebody has made up what stands there.
sub not_yet {
    my ($what, $old) = @_;
    stop("$what; put ? between the markers if it is still to be recorded") if $old !~ /\?/;
    $missing++;
    return '?';
}

sub nothing { return "nothing is recorded as $results/DATE-$_[0].csv" }

# "FILE key=value ... COLUMN FORMAT" in its parts
sub request {
    my @words = words($_[0]);
    stop('wants FILE key=value ... COLUMN FORMAT') if @words < 3 || grep { defined $_->[0] } @words[0, -2, -1];
    my ($name, $format, $column) = map { $_->[1] } shift @words, pop @words, pop @words;
    return ($name, $column, $format, map { defined $_->[0] ? @$_ : stop("cannot read \"$_->[1]\"") } @words);
}

sub value {
    my ($request, $old) = @_;
    my ($name, $column, $format, %keys) = request($request);
    my $recording = recording($name) // return not_yet(nothing($name), $old);
    my @rows = rows_with($recording, %keys);
    return not_yet("no row of $recording->{path} has " . in_words(%keys), $old) if !@rows;
    stop(@rows . " rows of $recording->{path} have " . in_words(%keys)) if @rows > 1;
    return formatted($rows[0], $column, $format);
}

# The greatest length in those rows; without any, no kernel is shorter.
sub longest {
    my ($longest) = sort { $b <=> $a } grep { defined } map { $_->{seq_len} } rows_with(@_);
    return $longest // 'inf';
}

# One cell, from the first recording that has it. A dash: the kernel does not run on this shape, since others did in its recording, or
# since its lengths end before the recording's. The row that was found, if any, comes first.
sub cell {
    my ($row, $shape, $files, $old) = @_;
    my %keys = (%$shape, %{ $row->{keys} }); # a row may say a size of its own
    my %kernel = map { $_ => $keys{$_} } grep { defined $keys{$_} } qw(chapter variant direction);
    my $dash;
    for my $recording (grep { defined } map { recording($_) } @$files) {
        my @rows = rows_with($recording, %keys);
        stop(@rows . " rows of $recording->{path} have " . in_words(%keys)) if @rows > 1;
        return ($rows[0], formatted($rows[0], $row->{column}, $row->{format})) if @rows;
        $dash ||= rows_with($recording, %kernel) && rows_with($recording, %$shape) || defined $keys{seq_len}
            && longest($recording, %kernel) < longest($recording) && longest($recording, %kernel) < $keys{seq_len};
    }
    return (undef, '-') if $dash;
    my ($unknown) = grep { !defined recording($_) } @$files;
    return (undef, not_yet(defined $unknown ? nothing($unknown) : "no row of @$files has " . in_words(%keys), $old));
}

# 13200 as 13 200
sub grouped { return length $_[0] > 4 ? scalar reverse(reverse($_[0]) =~ s/(\d{3})(?=\d)/$1 /gr) : $_[0] }

sub sequences { return grouped($_[0]) . ($_[0] eq '1' ? ' sequence' : ' sequences') }

# What stands above a column for a size, and before its first number where only that size changes.
my %says = (num_seqs => ['sequences', 'sequences: '], seq_len => ['length', 'length '], batch => ['batch', 'batch '], states => ['states', 'states: '],
    channels => ['channels', 'channels: '], layers => ['layers', 'layers: '], chunks => ['chunks', 'chunks: '], heads => ['heads', 'heads: '], rank => ['rank', 'rank '],
    piece => ['elements of a piece', 'pieces of '], ranks => ['ranks', 'ranks: '], m => ['m', 'm '], n => ['n', 'n '], k => ['k', 'k ']);

# The columns of a table: [{ keys }], what stands above the labels, what the numbers above the columns are, and these numbers. A column is
# two sizes of its operation or more, which sizes= names. Without sizes there is one, and the unit stands above it.
sub columns {
    my ($keys) = @_;
    my @sizes = split /,/, delete $keys->{sizes} // 'num_seqs,seq_len';
    stop('sizes= wants two or more of ' . join ', ', sort keys %says) if @sizes < 2 || grep { !$says{$_} } @sizes;
    my @columns;
    if (defined(my $shapes = delete $keys->{columns})) {
        my $wanted = join ' x ', @sizes;
        for my $shape (split /,/, $shapes) {
            my @numbers = split /x/, $shape;
            stop("columns= wants $wanted, as in " . join 'x', (132, 65536, 16)[0 .. $#sizes]) if @numbers != @sizes || grep { !/^\d+$/ } @numbers;
            push @columns, { map { $sizes[$_] => $numbers[$_] } 0 .. $#sizes };
        }
    } elsif (!grep { defined $keys->{$_} } @sizes) {
        return ([{}], '', '');
    } else {
        my ($across) = ((grep { ($keys->{$_} // '') =~ /,/ } @sizes), 'seq_len');
        stop("wants columns=, or $sizes[1]= or $sizes[0]=") if !defined $keys->{$across};
        my %rest = map { $_ => $keys->{$_} } grep { defined $keys->{$_} && $_ ne $across } @sizes;
        @columns = map { { $across => $_, %rest } } split /,/, $keys->{$across};
        delete @$keys{@sizes};
    }
    my @several = grep { my $key = $_; my %seen = map { ($_->{$key} // '') => 1 } @columns; keys %seen > 1 } @sizes;
    return (\@columns, join(' × ', map { $says{$_}[0] } @sizes), '',
        map { my $column = $_; join ' × ', grouped($column->{ $sizes[0] }), map { $column->{$_} } @sizes[1 .. $#sizes] } @columns)
        if @several >= 2;
    my $one = $several[0] // 'seq_len';
    return (\@columns, $one eq 'seq_len' ? 'sequence length' : $says{$one}[0], $says{$one}[1],
        map { $one eq 'seq_len' ? $_->{$one} : grouped($_->{$one}) } @columns);
}

# The sizes of the chunk states that are the same in all columns, in words.
sub fixed_sizes {
    my ($keys, $columns) = @_;
    my @words;
    for my $size (qw(batch chunks heads rank)) {
        my %values = map { $_ // $keys->{$size} // '' => 1 } map { $_->{$size} } @$columns;
        my ($value) = keys %values;
        push @words, $size =~ /s$/ ? "$value $says{$size}[0]" : "$says{$size}[0] $value" if keys %values == 1 && $value ne '';
    }
    return @words;
}

# The rows of a table: [{ label, keys, column, format }]
sub labelled_rows {
    my ($column, $format, $keys) = @_;
    my ($rows, $variants) = delete @$keys{qw(rows variant)};
    stop('wants rows="label: variant; ..." or variant=...') if defined $rows == defined $variants;
    my @rows = defined $rows ? map { s/^\s+|\s+$//gr } split /;/, $rows : map { "`$_`: $_" } split /,/, $variants;
    return map {
        my ($label, $kernel) = /^(.*): +(.*)$/ or stop("a row is \"label: variant\", not \"$_\"");
        my ($variant, @words) = words($kernel);
        my %row = (label => $label, column => $column, format => $format, keys => {%$keys});
        $row{keys}{chapter} = $1 if $variant->[1] =~ s{^(.*)/}{};
        $row{keys}{variant} = $variant->[1];
        $row{keys}{ $_->[0] } = $_->[1] for grep { defined $_->[0] } @words;
        my @own = map { $_->[1] } grep { !defined $_->[0] } @words;
        stop("the row \"$label\" wants COLUMN FORMAT behind its variant") if @own == 1 || @own > 2;
        @row{qw(column format)} = @own if @own;
        \%row;
    } grep { $_ ne '' } @rows;
}

sub table {
    my ($request, $old, $text) = @_;
    my ($names, $column, $format, %keys) = request($request);
    my @files = split /,/, $names;
    my $head = delete $keys{head};
    my ($columns, $sizes, $unit, @above) = columns(\%keys);
    my $corner = $head // ($sizes || 'kernel');
    my @rows = labelled_rows($column, $format, \%keys);
    my (%directions, $any, @lines);
    my $wide = 1 + (($head // '') =~ tr/|//); # the columns of the labels
    $above[0] = $unit . $above[0] if @above && defined $head; # then the first column says what the numbers above are
    for my $row (@rows) {
        stop("the label \"$row->{label}\" has not as many | as head=") if 1 + ($row->{label} =~ tr/|//) != $wide;
        my @cells;
        for my $shape (@$columns) {
            my ($found, $cell) = cell($row, $shape, \@files, $old);
            push @cells, $cell;
            $any //= $found;
        }
        push @lines, "| $row->{label} | " . join(' | ', @cells) . ' |';
        my $five = ($row->{keys}{direction} // '') =~ /backward/ && !defined $keys{dk}; # backward, chunk states move as much as `add` does
        $directions{ $five ? 'add5' : 'add' } = 1 if $row->{column} eq $column;
    }

    my %units = (gb_per_s => $format =~ m{/1e3$} ? 'TB/s' : 'GB/s', median_ms => $format =~ m{/1e-3$} ? 'µs' : 'ms',
        wall_ms => "by the host's clock, " . ($format =~ m{/1e-3$} ? 'µs' : 'ms'), percent_of_roof => '% of the roof', tflop_per_s => 'TFLOP/s',
        percent_of_copy => '% of a copy', percent_of_add => '% of ' . join ', backward of ', map { "`$_`" } sort keys %directions);
    my $what = $units{$column} // $column;
    @above = ($what) if !@above;
    unshift @lines, "| $corner | " . join(' | ', @above) . ' |', '|' . '---|' x $wide . '---:|' x @$columns;
    my $fixed = join ', ', grep { $_ } $unit eq '' && $sizes, $unit eq 'states: ' && "length $columns->[0]{seq_len}",
        $keys{batch} && "batch $keys{batch}", map { $keys{$_} && "$keys{$_} $_" } qw(channels states);
    my $own_shapes = grep { my $row = $_; grep { ($row->{keys}{$_} // '') ne ($keys{$_} // '') } qw(num_seqs seq_len) } @rows; # then the labels say them
    my $recorded = defined $any;
    my $shape = $own_shapes || defined $columns->[0]{channels} ? $unit eq '' && $sizes
        : defined $keys{channels} ? $fixed
        : defined $keys{dk} ? join(', ', grep { $_ } $unit eq '' && $sizes, fixed_sizes(\%keys, $columns), "states of $keys{dk} × $keys{dv}")
        : $unit eq '' ? $sizes
        : $unit eq 'pieces of ' ? sequences($keys{num_seqs} // $any->{num_seqs} // '?') . ' of ' . ($columns->[0]{seq_len} // '?')
        : $unit eq 'length ' ? sequences($columns->[0]{num_seqs} // $any->{num_seqs} // '?')
        : 'length ' . ($columns->[0]{seq_len} // $any->{seq_len} // '?');
    my $about = join ', ', $what, grep { $_ } $shape, $recorded ? source($any->{device}, $text, @files) : 'not recorded yet';
    return "\n" . join("\n", @lines) . "\n\n*$about.*\n\n";
}

# Where the figures come from: of several recordings, all days, and all that was there.
sub source {
    my ($device, $text, @files) = @_;
    my @recorded = grep { recording($_) } @files;
    my $about = recording($recorded[0])->{about};
    my (%day, %there);
    $day{ substr($_->{about}{date}, 0, 10) } = 1 for map { recording($_) } @recorded;
    my @toolkit = grep { !$there{$_}++ } map { split /, /, recording($_)->{about}{toolkit} } @recorded;
    my @links = map { '[' . (@recorded == 1 ? 'all figures' : $_) . '](' . link_to($text, recording($_)->{path}) . ')' } @recorded;
    my $links = (@links == 1 ? '' : 'all figures: ') . join ', ', @links;
    $device //= $about->{device} // 'unknown device'; # in the rows, or on top of the file
    return join(', ', $device, @toolkit, "driver $about->{driver}", join ' and ', sort keys %day) . " ($links)";
}

1;
