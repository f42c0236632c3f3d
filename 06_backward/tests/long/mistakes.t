# SPDX-License-Identifier: MIT
# Chapter 06: without one of its waits or barriers, or without an output that it takes from its neighbour, a kernel is told so, in every order.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Mistakes;
use Test::More;

plan skip_all => 'mistakes are built in for the simulator; this is BACKEND=' . backend() if backend() ne 'sim';
find_mistakes('06_backward');
done_testing;
