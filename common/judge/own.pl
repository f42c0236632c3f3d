# SPDX-License-Identifier: MIT
# own.pl ANSWER.o RUNNER.o - prints the functions and variables that an answer defines, but for those that the runner calls; and an empty line.
use strict;
use warnings;

# The global symbols of an object: [where, name]; those of no place are `UND'.
sub globals {
    open my $symbols, '-|', 'readelf', '-sW', $_[0] or die "cannot run readelf: $!\n";
    my @all = map { /^ *\d+: [0-9a-f]+ +\w+ \w+ +GLOBAL +\w+ +(?:\[.*?\] +)?(\w+) +(\S+)/ ? [$1, $2] : () } <$symbols>;
    close $symbols or die "readelf failed\n";
    return @all;
}

my %called = map { $_->[0] eq 'UND' ? ($_->[1] => 1) : () } globals($ARGV[1]);
print map { "$_\n" } grep { !$called{$_} } map { $_->[0] ne 'UND' ? $_->[1] : () } globals($ARGV[0]);
print "\n";
