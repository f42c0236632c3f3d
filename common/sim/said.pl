#!/usr/bin/perl
# said.pl - what the compiler said of rewritten code, in words that fit the code as it was written.
#
#   perl said.pl FILE       FILE: the compiler's messages, in the C locale
use strict;
use warnings;

while (<>) {
    s/error: ISO C\+\+ forbids variable length array '(?:sim_type_)(\w+)'.*/error: the size of the shared array $1 is not known when the program is compiled. Write a constant, or extern __shared__ $1\[\] and give the bytes at the launch./;
    s/error: ISO C\+\+ forbids variable length array '(\w+)'.*/error: the size of the array $1 is not known when the program is compiled. Write a constant./;
    s/\bsim_(?:type|struct)_(\w+)/$1/g;
    print;
}
