# SPDX-License-Identifier: MIT
# Chapter 11: each of its waits, left out, is told, and so is a state that is not handed on.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Mistakes;
use Test::More;

plan skip_all => 'mistakes are built in for the simulator; this is BACKEND=' . backend() if backend() ne 'sim';
find_mistakes('11_stream');
done_testing;
