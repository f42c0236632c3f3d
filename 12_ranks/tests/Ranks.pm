# SPDX-License-Identifier: MIT
# Ranks.pm - shared by the tests of chapter 12: programs of several ranks.
package Ranks;
use strict;
use warnings;
use Exporter 'import';
use Linrec;
our @EXPORT = qw(mpirun ranks own_lines);

%ENV = (%ENV, read_file('12_ranks/mpirun.env') =~ /^export (\w+)=(.*)$/mg);

sub mpirun { return system('command -v mpirun > /dev/null') == 0 }

# Runs a program, a chapter's by its name or a command as a list, with so many ranks: status, stdout, stderr. What
# hangs is ended, with status 124, after a time that no right run comes near where ten others want each core: they take seconds.
sub ranks {
    my ($number, $program, @arguments) = @_;
    my @program = ref $program ? @$program : program($program);
    return run_program('timeout', '1200', 'mpirun', '-n', $number, @program, @arguments);
}

# What our program says, without mpirun's own words about it.
sub own_lines { return grep { /^(?:12_ranks|FAILED)\b/ } split /\n/, $_[0] }

1;
