# SPDX-License-Identifier: MIT
# The types of 16 bits: all their values, and the elementwise kernels; see programs/dtype.cu.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
exec extra('tests_dtype') or die "tests_dtype: $!";
