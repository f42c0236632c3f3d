# SPDX-License-Identifier: MIT
# Chapter 05: what waits, must: without one of its waits or barriers a kernel is told so, in every order.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Mistakes;
use Test::More;

plan skip_all => 'mistakes are built in for the simulator; this is BACKEND=' . backend() if backend() ne 'sim';
find_mistakes('05_pipe');
done_testing;
