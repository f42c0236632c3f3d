# SPDX-License-Identifier: MIT
# The special function units' exponential and reciprocal: on a GPU over all floats; see programs/fast_math.cu.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
exec extra('tests_fast_math'), backend() eq 'cuda' ? 1 : 65537 or die "tests_fast_math: $!";
