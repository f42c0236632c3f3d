# The launchers keep their promises (programs/contract.c).
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
exec extra('tests_contract') or die "tests_contract: $!";
