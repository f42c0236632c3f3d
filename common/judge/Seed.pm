# SPDX-License-Identifier: MIT
# Seed.pm - numbers that a seed draws, the same on each machine: sizes that a prediction asks about, for example.
package Seed;
use strict;
use warnings;
use Digest::SHA 'sha256';
use Exporter 'import';
our @EXPORT = qw(drawn);

# A whole number from $low to $high, both included, for one exercise ("02.3") and one name in it ("n"): another seed, exercise or name
# draws another one. Seeds are whole numbers; 1 is taken where nobody names one.
sub drawn {
    my ($seed, $exercise, $name, $low, $high) = @_;
    die "$name is drawn from $low to $high, and there is nothing between them\n" if $low > $high;
    my ($bits) = unpack 'N', sha256("$seed $exercise $name");
    return $low + $bits % ($high - $low + 1);
}

1;
