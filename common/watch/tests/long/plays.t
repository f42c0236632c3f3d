# SPDX-License-Identifier: MIT
# What the texts of 03 show of a running kernel is what it does.
$ENV{LONG} = 1;
do './common/watch/tests/plays.t' or die $@ || $!;
