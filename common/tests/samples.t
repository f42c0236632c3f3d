# SPDX-License-Identifier: MIT
# Checks as on a GPU, of large results by samples; see programs/samples.c.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
exec extra('tests_samples') or die "tests_samples: $!";
