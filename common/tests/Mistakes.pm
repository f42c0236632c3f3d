# Mistakes.pm - mistakes in a chapter's kernels, each of which its checks must find. All are compiled into one program for the simulator, where the
# variable MUTANT says which one is made, so that the chapter is compiled once and not once for each.
package Mistakes;
use strict;
use warnings;
use Exporter 'import';
use Linrec;
use Test::More;
our @EXPORT = qw(mistake find_mistakes);

my @mistakes;

# KERNEL, with OPTIONS, is wrong where TO stands in place of FROM, an expression or a statement, at its first place in FILE. A TO that asks `mutant == N`
# for itself takes the place as it is.
sub mistake { push @mistakes, [@_] } # KERNEL FILE FROM TO OPTIONS

# Tests that each mistake is found, and that nothing is wrong without one. CHAPTER; which FILES need --backward; a kernel and options that are right.
sub find_mistakes {
    my ($chapter, $backward, @right) = @_;
    my $copy = copy_of_chapters();
    my %text;
    for my $number (1 .. @mistakes) {
        my (undef, $file, $from, $to) = @{ $mistakes[$number - 1] };
        $text{$file} //= read_file("$chapter/$file");
        my $code = $to =~ /mutant [!=]= N\b/ ? $to =~ s/\bN\b/$number/r
            : $to =~ /(?<![=<>!])=(?!=)/ ? "do { if (mutant == $number) $to; else $from; } while (0)"
            : "(mutant == $number ? $to : $from)";
        ok($text{$file} =~ s/\Q$from\E/$code/, "$file still has what is replaced: $from");
    }
    for my $file (keys %text) {
        $text{$file} =~ s/^(?=#include )/#include "mutant.h"\n/m;
        write_file("$copy/$chapter/$file", $text{$file});
    }
    write_file("$copy/$chapter/mutant.h", "#ifndef MUTANT_H\n#define MUTANT_H\n#include <stdlib.h>\nstatic const int mutant = atoi(getenv(\"MUTANT\"));\n#endif\n");
    my $log = build_quickly($copy, $chapter);
    is($?, 0, 'the copy builds') or diag($log);
    for my $number (0 .. @mistakes) {
        my ($kernel, $file, $from, $to, @options) = $number ? @{ $mistakes[$number - 1] } : ($right[0], '', 'nothing', 'nothing', @right[1 .. $#right]);
        my ($status, undef, $err) = run_program({ MUTANT => $number }, "$copy/build/sim/$chapter", '--check-only', '--with', 'all', '--variant', $kernel, @options,
            $file =~ $backward ? '--backward' : '--forward');
        is($status, $number ? 1 : 0, "$kernel, $to in place of $from: " . ($number ? 'is found' : 'right')) or diag($err);
    }
}

1;
