# SPDX-License-Identifier: MIT
# Times that scatter are taken again; see programs/measure.c.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
exec extra('tests_measure') or die "tests_measure: $!";
