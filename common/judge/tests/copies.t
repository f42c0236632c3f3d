# SPDX-License-Identifier: MIT
# A bench takes over what is built, while makes and judges beside it go on.
use strict;
use warnings;
use lib 'common/base', 'common/judge';
use Copies;
use Errno qw(EACCES ENOENT);
use Exercises;
use Run;
use Test::More;

my $root = scratch() . '/';
my ($object, $answer) = map { "build/obj/sim/$_.o" } '03_tile/staged', 'build/exercises/03.1/answer';
for ($object, $answer) {
    system('mkdir', '-p', $root . s{/[^/]+$}{}r);
    write_file($root . $_, 'x');
    utime 1e9, 1e9, $root . $_;
}
Copies::copy_built($root, 'build/obj/sim', "${root}part");
is((stat "${root}part/$object")[9], 1e9, 'an object is as old as the one it is a copy of, so it is not built again');
ok(!-e "${root}part/$answer", 'an answer\'s object is nobody else\'s');

no warnings 'redefine';
for my $case ([ENOENT, qr/^$/, 'a file that goes meanwhile is left out'], [EACCES, qr/^cannot copy .*staged\.o/, 'one that cannot be read is told']) {
    local *Copies::copy_as_it_is = sub { $! = $case->[0]; return 0 };
    eval { Copies::copy_built($root, 'build/obj/sim', "${root}part") };
    like($@, $case->[1], $case->[2]);
}
done_testing();
