# Mistakes.pm finds what is wrong and nothing else: a mistake that changes no result, one that ends the program in another way, and a place that is no
# longer there are failures of the test that names them; so is a kernel that is wrong without any.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

plan skip_all => 'mistakes are built in for the simulator; this is BACKEND=' . backend() if backend() ne 'sim';

# What find_mistakes says, a line a test, of reread.cu with these mistakes: [FROM, TO], ...
sub judged {
    my @lines = map { "mistake('reread', 'reread.cu', q($_->[0]), q($_->[1]), \@shape);" } @_;
    my $script = write_file(scratch('judged.pl'), join "\n", 'use lib "common/tests"; use Linrec; use Mistakes; use Test::More;',
        'my @shape = qw(--batch 2 --chunks 3 --heads 1 --dk 2 --dv 4 --rank 0);', @lines,
        'find_mistakes("10_chunk_state", qr/backward/, "reread", @shape);', 'done_testing;', '');
    my (undef, $out) = run_program('perl', $script);
    return split /^(?=(?:not )?ok)/m, $out;
}
sub says_of { # what is said of one of them
    my ($what, @said) = @_;
    my ($line) = grep { index($_, $what) >= 0 } @said;
    return defined $line ? $line =~ /^(not ok|ok)/ ? $1 : $line : 'nothing';
}

my @said = judged(['column / flat.per_decay', 'column / flat.columns'], ['k == 0 ? initial : h_out[last]', 'k == 0 ? initial : after'], ['args->storage != FLOAT32', '(exit(3), true)'],
    ['no such place', 'nor this']);
is(says_of('nothing in place of nothing', @said), 'ok', 'the kernel as it is: right');
is(says_of('column / flat.columns in place of', @said), 'ok', 'a mistake: found');
is(says_of('initial : after in place of', @said), 'not ok', 'what changes no result: not found');
is(says_of('exit(3), true) in place of', @said), 'not ok', 'what ends the program with another status: not found');
is(says_of('still has what is replaced: no such place', @said), 'not ok', 'a place that is gone: told');
is(says_of('nor this in place of', @said), 'not ok', 'and nothing is found there');

@said = judged(['column / flat.per_decay', 'column / flat.columns + 0 * no_such_name']);
is(says_of('the copy builds', @said), 'not ok', 'what does not compile: told');
is(says_of('nothing in place of nothing', @said), 'not ok', 'and nothing is right then');
is(says_of('no_such_name in place of', @said), 'not ok', 'or found');

done_testing;
