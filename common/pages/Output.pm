# SPDX-License-Identifier: MIT
# Output.pm - the output of a command, for a text.
#
# The simulator prints the same everywhere, so what it prints is written to the digit. These outputs differ from machine to machine and
# are written anew only if they differ in more than that:
#   what holds times of the CPU, in ms                  numbers and the machine's name
#   gdb                                                 addresses and the numbers of processes
#   programs on a GPU                                   numbers and the device
package Output;
use strict;
use warnings;
use Texts;

my %left_alone; # the outputs that stay as they are: of what => number

sub left_alone { return map { "outputs left as they are: $left_alone{$_} of $_" } sort keys %left_alone }

sub needs_gpu { return $_[0] =~ m{build/cuda|compute-sanitizer|cuda-gdb|\b(nvcc|ncu|nsys|nvidia-smi)\b} }

# The output without what may differ.
sub masked {
    my ($command, $text) = @_;
    if ($command =~ /\bgdb\b/) {
        $text =~ s/^#\d+ +(?=0x)/#N /mg; # gdb's number of a frame: how many functions of the simulator stand above it
        $text =~ s/\b0x[0-9a-f]+\b/ADDRESS/g;
        $text =~ s/\b(LWP|process|Thread) \d+/$1 N/g;
        $text =~ s{\b(cusim/\w+/\w+\.\w+(?::|, line ))\d+}{${1}N}g; # the simulator's own lines, which move
        $text =~ s{(\bcusim/\w+/\w+\.\w+:N\n)\d+\t}{${1}N\t}g;
    }
    if (needs_gpu($command) || $text =~ /\(cpu, |\bms\b/) {
        $text =~ s/ on .*? \((cpu|cuda), [^)]*\)/ on DEVICE ($1)/g;
        $text =~ s/-?\d+(\.\d+)?(e[-+]?\d+)?/N/g;
        $text =~ s/[ \t]+/ /g;
        $text =~ s/ +$//mg;
        $text =~ s/^(.*\n)\1+/$1/mg; # a line for each thread, or more of them
    }
    return $text;
}

sub output {
    my ($command, $old, $on_gpu) = @_;
    if (needs_gpu($command) && !$on_gpu) {
        $left_alone{'programs on a GPU; report.pl --gpu runs them'}++;
        return $old;
    }
    if (my ($missing) = grep { system("command -v $_ > /dev/null") } $command =~ /\b(gdb|gnuplot|mpirun|compute-sanitizer|cuda-gdb)\b/) {
        $left_alone{"$missing, which is not here"}++;
        return $old;
    }
    for ($command =~ m{(build/\w+/\S+)}g) {
        # `tests' also builds what docs/ runs, and what is for the debugger
        stop("$_ is not built: make BACKEND=" . (m{^build/([a-z]+)})[0] . ' all tests') if !-x && !m{\.\w+$};
    }
    local %ENV = %ENV;
    delete @ENV{ grep { /^CUSIM_/ } keys %ENV };
    $ENV{LC_ALL} = 'C';
    %ENV = (%ENV, map { read_text($_) =~ /^export (\w+)=(.*)$/mg } glob '[0-9][0-9]_*/mpirun.env'); # what mpirun wants to be told
    my $new = `{ $command; } 2> /dev/null`; # what is skipped is said on stderr
    stop('prints nothing') if $new eq '';
    stop('prints ```') if $new =~ /^```/m;
    $new =~ s/\n?\z/\n/;
    return masked($command, $new) eq masked($command, $old) ? $old : $new;
}

1;
