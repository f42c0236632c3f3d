# The types of 16 bits: all their values, and the elementwise kernels; see programs/storage.cu.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
exec extra('tests_storage') or die "tests_storage: $!";
