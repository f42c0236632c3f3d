# Chapters 05 and 06: both sides of every switch that the default makes, on every kind of chip; long rows with long memory; and what waits, must:
# without one of its waits a kernel is told so.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $switches = '255,256,257,511,512,513,1023,1024,1025,2047,2048,2049,4092,4095,4096,4097,8188,8192,8193,8196,10007,16383,16384,16385,32768,32769,32772,40000';
for my $case ([program('05_pipe'), '--variant', 'default'], [program('06_backward'), '--variant', 'default'],
    [extra('tests_chips'), '--forward'], [extra('tests_chips'), '--backward']) {
    my ($status, $out, $err) = run_program(@$case, '--check-only', '--num-seqs', 3, '--seq-len', $switches);
    ok($status eq 0 && $out =~ /^all \d+ checks passed$/m, "@$case: both sides of every switch") or diag("$out$err");
}

my ($status, $out, $err) = run_program(program('05_pipe'), '--check-only', '--num-seqs', 1, '--seq-len', 16777216, '--variant', 'default');
ok($status eq 0, 'the error bound holds at 2^24 elements with coefficients near one') or diag($err);

# A copy of the chapters with one line changed must be found wrong in each of the simulator's orders: what orders threads, with both lines.
SKIP: {
    skip 'the simulator shows these for certain', 12 if backend() ne 'sim';
    my $copy = copy_of_chapters();
    my @mutations = (
        ['05_pipe', 'async', '05_pipe/tile_move.cuh', '__pipeline_wait_prior(stages->count - 1);', '', 'its wait for cp.async'],
        ['05_pipe', 'bulk', '05_pipe/tile_move.cuh', 'mbarrier_wait(&stages->arrived[stages->stage], stages->round);', '{}', 'its wait for the copy engine'],
        ['05_pipe', 'vector', '05_pipe/pipe.cuh', "lane);\n        __syncthreads();", 'lane);', 'the barrier before the totals are read'],
        ['05_pipe', 'staged', '05_pipe/tile_move.cuh', '__syncthreads(); /* everybody has taken', '; /* everybody has taken', 'the barrier before a stage is used again'],
        ['06_backward', 'vector', '06_backward/backward.cuh', 'base + behind < stream.end', 'false', 'the output behind a warp'],
        ['06_backward', 'flat', '06_backward/backward.cuh', 'lane == 0 ? first_of_next_row : first', 'lane == 32 ? first_of_next_row : first', 'the output behind a row'],
    );
    for my $mutation (@mutations) {
        my ($chapter, $variant, $file, $from, $to, $what) = @$mutation;
        my $text = read_file($file);
        my $at = index $text, $from;
        ok($at >= 0, "$file still has: $from") or next;
        substr($text, $at, length $from) = $to;
        open my $out, '>', "$copy/$file" or die;
        print $out $text;
        close $out;
        my $log = `make -C $copy/$chapter BACKEND=sim 2>&1`;
        my $told = $what =~ /^the output/ ? qr/elements are wrong/
            : qr/^simulator: \S+:\d+: kernel pipe_forward.*(race: .* at \S+:\d+|is on its way)/;
        my @missed;
        for my $schedule ('warp', 'reverse', 'random:1') {
            my ($status, $out, $err) = run_program({ SIM_SCHEDULE => $schedule }, "$copy/build/sim/$chapter", '--check-only', '--num-seqs', 3, '--seq-len',
                '100,5000', '--variant', $variant);
            push @missed, "$schedule: $err" if $status ne 1 || $err !~ $told;
        }
        ok(!@missed, "$chapter $variant without $what is found in every order") or diag($log, @missed);
        system("cp $file $copy/$file");
    }
}

done_testing;
