# SPDX-License-Identifier: MIT
# A header of tuned configurations is what the defaults of 05 and 06 take, up to the lengths that it names; a missing one is told.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

plan skip_all => 'what a launch consists of is counted by the simulator' if backend() ne 'sim';
my $copy = copy_of_chapters();
write_file("$copy/tuned.h", <<'END');
#define PIPE_TUNED(X) X(64, flat, 0, 96, 0) X(1024, tma_evict_last, 2, 256, 3) X(2048, tma_evict_last, 4, 512, 4)
#define BACKWARD_TUNED(X) X(1024, tma_evict_last, 2, 64, 2) X(2048, tma_evict_last, 4, 512, 4)
END
my $log = `make -C $copy/06_backward BACKEND=sim TUNED=tuned.h 2>&1`;
is($?, 0, 'TUNED builds') or diag($log);

# threads in all, of 4 sequences: a row of the table, by direction and length
my ($status, $out, $err) = run_program("$copy/build/sim/06_backward", '--variant', 'default', '--num-seqs', 4, '--seq-len', '64,1023,1024,2048');
is($status, 0, 'and all is right') or diag($err);
like($out, qr/\(sim, simulator, TUNED=tuned\.h\)/, 'and the table tells');
my %threads = map { my @cell = split; @cell > 5 && $cell[0] eq 'default' ? ("$cell[1] $cell[3]" => $cell[5]) : () } split /\n/, $out;
is($threads{'forward 64'}, 96, 'a tuned length');
is($threads{'reverse 1024'}, 4 * 256, 'a longer one, reversed');
is($threads{'backward 64'}, 4 * 64, 'backward, up to the length that is named');
my ($plain) = (run_program(program('06_backward'), '--variant', 'default', '--num-seqs', 4, '--seq-len', '1023,2048'))[1];
my %plain = map { my @cell = split; @cell > 5 && $cell[0] eq 'default' ? ("$cell[1] $cell[3]" => $cell[5]) : () } split /\n/, $plain;
# the length that is no multiple of 4, and the one whose tuned configuration takes more shared memory than a block has
is($threads{$_}, $plain{$_}, "not tuned: $_") for 'forward 1023', 'backward 1023', 'forward 2048', 'backward 2048';

like(`make -C $copy/05_pipe BACKEND=sim TUNED=nosuch.h 2>&1`, qr/TUNED=nosuch.h is not a file; `make tune` writes/, 'a header that is not there');
done_testing;
