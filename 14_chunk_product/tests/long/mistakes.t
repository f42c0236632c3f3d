# SPDX-License-Identifier: MIT
# Chapter 14: the checks find mistakes; each is a piece of a kernel that is replaced.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Mistakes;
use Test::More;

plan skip_all => 'mistakes are built in for the simulator; this is BACKEND=' . backend() if backend() ne 'sim';
find_mistakes('14_chunk_product');
done_testing;
