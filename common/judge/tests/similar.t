# SPDX-License-Identifier: MIT
# make similar: a copy with other names is found; what the task and our solution have, what half of a class has, and short answers are not; without sim_c a sentence.
use strict;
use warnings;
use lib 'common/base', 'common/judge';
use Exercises;
use File::Path 'make_path';
use Run;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL)};
my ($exercise) = grep { $_->{id} eq '04.4' } all_exercises();
my ($task, $solution) = map { read_text($_) } @$exercise{qw(path solution)};

sub hand_in {
    my ($class, $student, $text) = @_;
    make_path(scratch("$class/$student"));
    write_file(scratch("$class/$student/walk.cu"), $text);
}
my $own = <<'END';
    float held[8], factor = 1.0f, total = 0.0f;
    for (int k = 0; k < 8 && k + lane < seq_len; k++) {
        held[k] = k % 2 == 0 ? inputs[k + lane] * factor : total;
        if (held[k] > total)
            total = held[k] - factor / 2;
        else
            factor = factor * 0.5f + total * total;
    }
    while (factor > total && lane != 7)
        total = total / (1 + factor--);
END
my $others = <<'END';
    int round = 0;
    do {
        const float mine = lane + round < seq_len ? coeffs[lane + round] : 1.0f;
        outputs[lane] += mine * (lane > round ? inputs[lane - round] : 0.0f);
        switch (round = round * 2 + 1) { case 31: return; default: outputs[1] = -mine; }
    } while (round < seq_len);
END
my $renamed = $own =~ s/held/h/gr =~ s/factor/f_of/gr =~ s/total/t2/gr =~ s/^ +//gmr =~ s/;$/; \/\/ mine/gmr;
hand_in('class', 'anna', "$task$own");
hand_in('class', "bert, 'b'", "$task$renamed");
hand_in('class', 'cleo', "$task$others");
hand_in('class', $_, $solution) for 'dora', 'emil';
hand_in('class', $_, "$task\n/* nothing */\n") for 'fritz', 'gerd';

SKIP: {
    skip 'sim_c is not installed (similarity-tester)', 6 if !grep { -x "$_/sim_c" } split /:/, $ENV{PATH};
    my @similar = ('make', '-s', 'similar', 'IN=' . scratch('class'));
    my ($status, $out, $err) = run_program(@similar, 'OUT=' . scratch('similar.csv'));
    is($status, 0, 'make similar') or diag($err);
    like(read_text(scratch('similar.csv')) // '', qr/\Apercent,tokens,exercise,one,other\n100,\d+,04.4,anna,"bert, 'b'"\n\z/, 'one pair: the copy with other names') or diag(read_text(scratch('similar.csv')));
    like($out, qr/: 1 pair of answers with 60 % or more/, 'and a sentence');
    like((run_program(@similar))[1], qr/^ +100 +\d+ +04.4 +anna  and  bert, 'b'$/m, 'without a file as a table');
    like((run_program(@similar, 'ONLY=02'))[1], qr/^0 pairs/, 'ONLY other exercises');

    hand_in('class', $_, "$task$own") for 'dora', 'emil', 'fritz';
    unlike((run_program(@similar))[1], qr/04.4/, 'what more than half of a class has is nobody\'s own');
}

refuses('no folder', qr/^Where are the hand-ins\?/, 'perl', 'common/judge/similar.pl');
refuses('no number', qr/^LEAST=x is no per cent/, 'perl', 'common/judge/similar.pl', 'IN=' . scratch('class'), 'LEAST=x');
{
    local $ENV{PATH} = scratch('nothing');
    refuses('no sim_c', qr/^make similar needs sim_c, .* similarity-tester\.$/, $^X, 'common/judge/similar.pl', 'IN=' . scratch('class'));
}
refuses('no such exercise', qr/there is no exercise 77/, 'perl', 'common/judge/similar.pl', 'IN=' . scratch('class'), 'ONLY=77');
done_testing();
