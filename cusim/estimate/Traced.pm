# SPDX-License-Identifier: MIT
# Traced.pm - the counts of a program's launches on any shape, from traces of small ones: blocks are alike, and so are tiles.
#
#   sequences   up to 4: these. More: 2 and 4, and the line through both. Where a launcher takes other kernels for 4 than for 2: 4 and 8, or
#               8 and 16. Where one block takes several sequences (2 and 4 of them are as many blocks): up to 128 these, more: 128 and 256
#   length      up to 16384: this one. More: 16384 and 32768, and the line through both; where a block takes several sequences: up to 1024,
#               then 512 and 1024
#               A launcher that chooses by the number of sequences, too (it is called default): as many for each SM as the real chip has, up to 17
#
#   a grid that fills the device, whatever the shape: the simulated device has few SMs, and so has the grid. With one of f times as many
#               blocks each has the same share of a shape that is f times as large, so a shape of 1/f stands for it
#
# A kernel that has a limit has it here, too: on shapes that it does not take, nothing is counted, and no answer is given for what they stand for.
package Traced;
use strict;
use warnings;
use Exporter 'import';
use File::Basename 'dirname';
use File::Temp 'tempdir';
use List::Util qw(max min);
use lib dirname(__FILE__);
use Counts qw(read_rows);
our @EXPORT_OK = qw(traced variants registers read_registers between whole_blocks);

my $scratch;
my $simulated_sms = 2; # SIM_MULTIPROCESSORS
my $many = 17;         # more sequences for each SM than this change no launcher's choice

# The counts of each kernel of a program, for some shapes [num_seqs, seq_len]: { "num_seqs x seq_len" => [{ chapter, variant, direction,
# counts => [a row of the trace for each of its kernels] }, ...] }, in the program's order; undef for one that launches other kernels for the
# shapes that would stand for this one. Variants: these alone. $most->($counts): blocks that
# the device can hold, of $sms SMs. Dies with one sentence.
sub traced {
    my ($program, $options, $variants, $most, $sms, @shapes) = @_;
    my %runs = (program => $program, options => $options, sms => $sms);
    my (@plain, @packed);
    for (@shapes) {
        my ($n, $l) = @$_;
        push @plain, map { my $m = $_; map { [$m, $_] } lengths($l, 16384) } $n <= 4 ? $n : (2, 4);
        push @packed, map { my $m = $_; map { [$m, $_] } lengths($l, 1024) } $n <= 128 ? $n : (128, 256);
    }
    run(\%runs, $_, @plain) for @$variants ? @$variants : undef;
    my %listed = map { $_ => 1 } variants($program);
    my %filling = filling(\%runs, \%listed);
    my (%packs, %numbers);
    for my $shape (grep { $_->[0] > 4 } @shapes) {
        my ($n, $l) = @$shape;
        for my $key (grep { !exists $filling{$_} } @{ $runs{order} }) {
            my @numbers = numbers(\%runs, \%listed, $key, $n, $l);
            $numbers{$key}{"$n x $l"} = \@numbers;
            $packs{$key} = 1 if packs(\%runs, $key, $l, @numbers);
        }
    }
    my %named = map { (name_of(\%listed, $_) => 1) } keys %packs;
    run(\%runs, $_, grep { $_->[0] > 4 } @packed) for sort keys %named;
    my %all;
    for my $shape (@shapes) {
        my ($n, $l) = @$shape;
        for my $key (@{ $runs{order} }) {
            my @numbers = @{ $numbers{$key}{"$n x $l"} // [$n] };
            my $counts =
                exists $filling{$key} ? share(\%runs, $key, $filling{$key}, $most, $n, $l)
                : @numbers == 1 && $numbers[0] < $n ? times_as_large($n / $numbers[0], at(\%runs, $key, $n, $l, @numbers, 16384))
                : packs(\%runs, $key, $l, @numbers) ? at(\%runs, $key, $n, $l, $n <= 128 ? $n : (128, 256), 1024)
                : at(\%runs, $key, $n, $l, @numbers, 16384);
            my ($chapter, $variant, $direction) = split /,/, $key;
            push @{ $all{"$n x $l"} }, { chapter => $chapter, variant => $variant, direction => $direction, counts => $counts }
                if defined $counts || $runs{other}{$key}{"$n x $l"};
        }
    }
    return \%all;
}

# The names of a program's kernels; those of other chapters have their chapter's before them.
sub variants { my ($program) = @_; return map { /^(\S+)/ ? $1 : () } `'$program' --list` }

# The lengths that stand for this one, where tiles are alike from $most on.
sub lengths { my ($l, $most) = @_; return $l <= $most ? $l : $most == 16384 ? (16384, 32768) : ($most / 2, $most) }

# A kernel's name on the command line.
sub name_of {
    my ($listed, $key) = @_;
    my ($chapter, $variant) = split /,/, $key;
    return ($listed->{"$chapter/$variant"} ? "$chapter/" : '') . $variant;
}

# The kernels whose grid fills the device, each with its name: as many blocks, more than one, for 2, 4 and 32 sequences.
sub filling {
    my ($runs, $listed) = @_;
    my @numbers = (2, 4, 32);
    my $blocks = sub { my ($key, $n) = @_; my $rows = $runs->{traced}{$n}{64}{$key}; return $rows && @$rows == 1 ? $rows->[0]{blocks} : 0 };
    my %named = map { (name_of($listed, $_) => 1) } @{ $runs->{order} };
    run($runs, $_, [2, 64], [4, 64]) for sort keys %named;
    my %same = map { (name_of($listed, $_) => 1) } grep { $blocks->($_, 2) > 1 && $blocks->($_, 2) == $blocks->($_, 4) } @{ $runs->{order} };
    run($runs, $_, [32, 64]) for sort keys %same;
    return map { my $key = $_; my %n = map { $blocks->($key, $_) => 1 } @numbers; keys %n == 1 && !$n{0} && !$n{1} ? ($key => name_of($listed, $key)) : () } @{ $runs->{order} };
}

# The counts of such a kernel: those of a part of the shape on the simulated device, as often as the real one holds more blocks.
sub share {
    my ($runs, $key, $name, $most, $n, $l) = @_;
    run($runs, $name, [1, 262144]); # where tiles are large: the grid is as large as the device can hold of these
    my $large = $runs->{traced}{1}{262144}{$key} // return;
    my $times = $most->($large->[0]) / $large->[0]{blocks};
    return if $times < 1;
    my $part = int($n / $times + 0.5) || 1;
    my $length = int($n * $l / $times / $part + 0.5) || 1;
    my @numbers = $part <= 16 ? $part : (8, 16);
    my $longest = 2**int(log(262144 / $numbers[-1]) / log(2)); # several rounds of the simulated device, and still seconds
    run($runs, $name, map { my $m = $_; map { [$m, $_] } lengths($length, $longest) } @numbers);
    my $counts = at($runs, $key, $part, $length, @numbers, $longest) // return;
    return times_as_large($times, $counts);
}

# The counts of a grid that has $times as many blocks.
sub times_as_large {
    my ($times, $counts) = @_;
    return undef if !defined $counts;
    my @larger = map { {%$_} } @$counts;
    for my $c (@larger) {
        $c->{$_} *= $times for grep { $c->{$_} =~ /^[\d.e+-]+$/ && !/_steps$|^handover|^launches$|^block_turns$|^chain$|^num_seqs$|^seq_len$/ } keys %$c;
    }
    return \@larger;
}

# The numbers of sequences that stand for n > 4 of them: the first two of 2, 4, 8 and 16 for which the same kernels are launched (a launcher may
# choose by the shape). None: what does not take these shapes, or never takes the same kernels.
sub numbers {
    my ($runs, $listed, $key, $n, $l) = @_;
    my @lengths = lengths($l, 16384);
    if ($key =~ /,default,/) {
        my $as_many = as_many($runs, $n, $l);
        run($runs, name_of($listed, $key), map { [$as_many, $_] } @lengths);
        my ($there, @here) = map { kernels($runs->{traced}{$_}{ $lengths[-1] }{$key}) } $as_many, 2, 4;
        return $as_many if grep { $_ ne $there } @here;
    }
    for my $few (2, 4, 8) {
        my @numbers = $n < 2 * $few ? $n : ($few, 2 * $few);
        run($runs, name_of($listed, $key), map { my $m = $_; map { [$m, $_] } @lengths } @numbers) if $few > 2;
        my @kernels = map { my $m = $_; map { kernels($runs->{traced}{$m}{$_}{$key}) } @lengths } @numbers;
        last if grep { $_ eq '' } @kernels; # it does not take this shape
        return @numbers if !grep { $_ ne $kernels[0] } @kernels;
        $runs->{other}{$key}{"$n x $l"} = 1 if $few == 8 || @numbers == 1;
        last if @numbers == 1;
    }
    return;
}

# As many sequences for each SM of the simulated device as the chip has of $n, as long as that is soon traced.
sub as_many {
    my ($runs, $n, $l) = @_;
    my $as_many = int(min($n / $runs->{sms}, $many) * $simulated_sms + 0.5);
    my $short = $n > $many * $runs->{sms} ? min(256, $n, int(65536 / $l)) : 0; # where a block takes several, enough for whole blocks
    return max(1, $as_many, $short);
}

# What a run has launched, and with how many threads a block; '' without a launch.
sub kernels {
    my ($rows) = @_;
    return join ' ', map { "$_->{kernel} " . $_->{threads} / $_->{blocks} } grep { $_->{launches} > 0 && $_->{blocks} > 0 } @{ $rows // [] };
}

# Does a block take several sequences, in one of the launches?
sub packs {
    my ($runs, $key, $l, @numbers) = @_;
    my ($last) = reverse lengths($l, 16384);
    my ($few, $more) = map { $runs->{traced}{$_}{$last}{$key} } @numbers;
    return $few && $more && grep { $few->[$_]{blocks} == $more->[$_]{blocks} } 0 .. $#$few;
}

# Traces what has not been traced yet; with a variant, that one alone.
sub run {
    my ($runs, $variant, @shapes) = @_;
    my %lengths;
    for (@shapes) {
        my ($n, $l) = @$_;
        $lengths{$n}{$l} = 1 if !$runs->{done}{$n}{$l}{$variant // ''}++;
    }
    $scratch //= tempdir(CLEANUP => 1);
    for my $n (sort { $a <=> $b } keys %lengths) {
        my ($path, $said) = ("$scratch/trace.csv", "$scratch/said");
        my @command = ($runs->{program}, '--num-seqs', $n, '--seq-len', join(',', sort { $a <=> $b } keys %{ $lengths{$n} }),
            @{ $runs->{options} }, defined $variant ? ('--variant', $variant) : ());
        unlink $path;
        my $pid = fork // die "fork: $!\n";
        if ($pid == 0) {
            $ENV{CUSIM_TRACE} = $path;
            open STDOUT, '>', '/dev/null';
            open STDERR, '>', $said;
            exec { $command[0] } @command or exit 127;
        }
        waitpid $pid, 0;
        my $status = $?;
        next if $status == 2 << 8 && defined $variant; # it does not take this shape
        if ($status != 0 || !-s $path) {
            open my $in, '<', $said;
            my @lines = grep { !/^skipped/ } <$in>;
            die $lines[-1] // "@command cannot be traced\n";
        }
        my %found;
        for my $row (read_rows($path)) {
            next if $row->{line} ne '' || $row->{variant} eq '';
            my $key = join ',', @$row{qw(chapter variant direction)};
            push @{ $runs->{order} }, $key if !$runs->{seen}{$key}++;
            push @{ $found{$key}{ $row->{seq_len} } }, $row;
        }
        for my $key (keys %found) {
            $runs->{traced}{$n}{$_}{$key} = $found{$key}{$_} for keys %{ $found{$key} };
        }
    }
}

# All counts on the line through two shapes, at x.
sub between {
    my ($c0, $x0, $c1, $x1, $x) = @_;
    my %c = %$c1;
    for (grep { $c1->{$_} =~ /^[\d.e+-]+$/ } keys %c) {
        my $value = $c0->{$_} + ($c1->{$_} - $c0->{$_}) * ($x - $x0) / ($x1 - $x0);
        $c{$_} = $value > 0 ? $value : 0;
    }
    return \%c;
}

sub at_length {
    my ($runs, $key, $n, $l, $most) = @_;
    my @lengths = lengths($l, $most);
    my @found = map { $runs->{traced}{$n}{$_}{$key} } @lengths;
    return undef if grep { kernels($_) eq '' || kernels($_) ne kernels($found[0]) } @found;
    return $found[0] if @lengths == 1;
    return [map { between($found[0][$_], $lengths[0], $found[1][$_], $lengths[1], $l) } 0 .. $#{ $found[0] }];
}

sub at {
    my ($runs, $key, $n, $l, @numbers) = @_;
    my $most = pop @numbers;
    my @found = map { at_length($runs, $key, $_, $l, $most) } @numbers;
    return undef if !@found || grep { !defined || kernels($_) ne kernels($found[0]) } @found;
    return $found[0] if @found == 1;
    my @counts = map { between($found[0][$_], $numbers[0], $found[1][$_], $numbers[1], $n) } 0 .. $#{ $found[0] };
    return [map { whole_blocks($_) } @counts];
}

# A block that is there is a whole one.
sub whole_blocks {
    my ($c) = @_;
    my $blocks = int($c->{blocks} + 1 - 1e-9) || 1;
    $c->{$_} *= $blocks / $c->{blocks} for qw(threads shared_memory);
    $c->{blocks} = $blocks;
    return $c;
}

# ---- registers ----

my (%compiled, %recorded, %by_name);

# _Z14float4_forwardILi2ELi0EEvmPKf as the trace has it: float4_forward<2;0>
sub plain {
    my ($name) = @_;
    my ($length, $rest) = $name =~ /^_Z(\d+)(.*)/ or return $name =~ s/\(.*//r;
    my $plain = substr $rest, 0, $length;
    my ($numbers) = substr($rest, $length) =~ /^I((?:L[a-z]\d+E)+)E/ or return $plain;
    return "$plain<" . join(';', $numbers =~ /L[a-z](\d+)E/g) . '>';
}

# Learns the registers of kernels from files: what ptxas has said (.ptxas), and tables with the columns kernel and registers (.csv), of which
# the first that knows a kernel counts.
sub read_registers {
    for my $path (@_) {
        if ($path =~ /\.csv$/) {
            for my $row (read_rows($path)) {
                $recorded{ join ',', map { $_ // '' } @$row{qw(chapter variant direction)} }{ $row->{seq_len} } //= $row->{registers} if defined $row->{variant};
                $by_name{ plain($row->{kernel}) } //= $row->{registers};
            }
            next;
        }
        open my $in, '<', $path or die "$path: $!\n";
        my $name;
        local $_;
        while (<$in>) {
            $name = plain($1) if /Compiling entry function '(\S+)'/;
            $compiled{$name} = $1 if defined $name && /Used (\d+) registers/;
        }
    }
}

# Registers of a thread, and who says so: "compiled" (nvcc, here), "recorded", or "assumed".
sub registers {
    my ($row) = @_;
    my $lengths = $recorded{ join ',', map { $_ // '' } @$row{qw(chapter variant direction)} };
    return ($compiled{ $row->{kernel} }, 'compiled') if defined $compiled{ $row->{kernel} };
    if ($lengths) {
        my ($nearest) = sort { abs(log($a / $row->{seq_len})) <=> abs(log($b / $row->{seq_len})) || $a <=> $b } keys %$lengths;
        return ($lengths->{$nearest}, 'recorded');
    }
    return defined $by_name{ $row->{kernel} } ? ($by_name{ $row->{kernel} }, 'recorded') : (40, 'assumed');
}

1;
