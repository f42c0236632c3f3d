# SPDX-License-Identifier: MIT
# Mistakes.pm finds what is wrong and nothing else: a mistake that changes no result, one that ends the program in another way, and a place that is no
# longer there are failures of the test that names them; so is a kernel that is wrong without any. Places are found by their code.
use strict;
use warnings;
use lib 'common/base', 'common/tests';
use Code;
use Linrec;
use Test::More;

# ---- places ----

my $source = <<'EOS';
/* first(x) is a comment */
static int first(int x)
{
    wait(x); /* for it */
    return x < 3 ? x : 3;
}
static int second(int x)
{
    wait( x );
    if (x <
        3)
        wait(x);
    return x; // wait(x);
}
EOS
sub places { return join ' ', map { substr($source, $_->[0], $_->[1] - $_->[0]) =~ s/\s+//gr } find_code($source, {@_}) }
is(places(what => 'wait(x);'), 'wait(x); wait(x); wait(x);', 'code is found wherever it stands, and not in comments');
is(places(what => 'x<3', function => 'second'), 'x<3', 'in one function, laid out otherwise');
is(places(what => 'wait(x);', after => 'return x;'), 'wait(x);', 'before other code');
is(places(what => 'wait(x);', before => 'if (x < 3)'), 'wait(x);', 'and behind it');
is(places(what => 'ait(x);'), '', 'a part of a word is not found');
is(spelled('return x /* y */ <3;'), 'return x < 3 ;', 'a piece of code, word by word');
is(replace_all('abcdef', [1, 5, sub { "<$_[0]>" }], [2, 3, sub { uc $_[0] }], [2, 3, sub { "($_[0])" }]), 'a<b(C)de>f', 'places inside of places');
is(eval { replace_all('abcdef', [1, 3, sub { }], [2, 5, sub { }]); 1 } // 'no', 'no', 'but not across their ends');

# ---- mistakes ----

done_testing(), exit if backend() ne 'sim';

# What find_mistakes says, a line a test, of chapter 03 with these mistakes.
sub judged {
    my $data = write_file(scratch('mistakes.txt'), $_[0]);
    my (undef, $out) = run_program('perl', '-Icommon/tests', '-MMistakes', '-MTest::More', '-e', 'find_mistakes("03_tile", $ARGV[0]); done_testing', $data);
    return split /^(?=(?:not )?ok)/m, $out;
}
sub says_of { # what is said of one of them
    my ($what, @said) = @_;
    my ($line) = grep { index($_, $what) >= 0 } @said;
    return defined $line ? $line =~ /^(not ok|ok)/ ? $1 : $line : 'nothing';
}

my $shape = '--num-seqs 2 --seq-len 100 --variant serial';
my @said = judged(<<END);
let small = $shape
every mistake
orders: warp reverse
right: \$small

wrong result
in: tile_serial_forward
- return cudaGetLastError();
+ { (void)cudaMemsetAsync(args->outputs, 0, 4, stream); return cudaGetLastError(); }
run: \$small

no change
in: tile_serial_forward
- return cudaGetLastError();
+ { return cudaGetLastError(); }
run: \$small

another status
in: tile_serial_forward
- return cudaGetLastError();
+ { exit(3); }
run: \$small

other words
in: tile_serial_forward
- return cudaGetLastError();
+ { return cudaErrorUnknown; }
run: \$small
said: nothing says this
END
is(says_of('no mistake', @said), 'ok', 'the kernel as it is: right');
is(says_of('found: wrong result', @said), 'ok', 'a mistake: found');
is(says_of('found: no change', @said), 'not ok', 'what changes no result: not found');
is(says_of('found: another status', @said), 'not ok', 'what ends the program with another status: not found');
is(says_of('found: other words', @said), 'not ok', 'what is told in other words: not found');

@said = judged("gone\nin: tile_serial_forward\n- no such code\n+ nor this\nrun: $shape\n");
is(says_of('its mistakes are where they were', @said), 'not ok', 'a place that is gone: told');
is(says_of('found: gone', @said), 'nothing', 'and nothing is found there');
@said = judged("no program\nin: tile_serial_forward\n- return cudaGetLastError();\n+ return no_such_name;\nrun: $shape\n");
is(says_of('it builds with them', @said), 'not ok', 'what does not compile: told');

done_testing;
