# Chapter 05: both sides of every switch that the default makes, on every kind of chip; long rows with long memory; and what waits, must:
# without one of its waits a kernel is told so.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $switches = '255,256,257,511,512,513,2047,2048,2049,4092,4095,4096,4097,8188,8192,8193,8196,10007,16384,32768,32769,32772,40000';
for my $program (program('05_pipe'), extra('tests_chips')) {
    my @default = $program =~ /chips/ ? () : ('--variant', 'default');
    my ($status, $out, $err) = run_program($program, '--check-only', '--num-seqs', 3, '--seq-len', $switches, @default);
    ok($status eq 0 && $out =~ /^all \d+ checks passed$/m, "$program: both sides of every switch") or diag("$out$err");
}

my ($status, $out, $err) = run_program(program('05_pipe'), '--check-only', '--num-seqs', 1, '--seq-len', 16777216, '--variant', 'default');
ok($status eq 0, 'the error bound holds at 2^24 elements with coefficients near one') or diag($err);

# A copy of the chapters with one line changed must be found wrong, in each of the simulator's orders.
SKIP: {
    skip 'the simulator shows these for certain', 8 if backend() ne 'sim';
    my $copy = scratch('copy');
    mkdir $copy;
    system("cp -a common 0[345]_* $copy && mkdir -p $copy/build/obj/sim/common && cp -a build/obj/sim/flags build/obj/sim/0[345]_* "
        . "$copy/build/obj/sim && cp -a build/obj/sim/common/*.[od] build/obj/sim/common/sim $copy/build/obj/sim/common") == 0 or die 'cp';
    my @mutations = (
        ['async', '05_pipe/pipe.cuh', '__pipeline_wait_prior(stages - 1);', '', 'its wait for cp.async'],
        ['bulk', '05_pipe/pipe.cuh', 'mbarrier_wait(&arrived[stage], round);', '', 'its wait for the copy engine'],
        ['vector', '05_pipe/pipe.cuh', "lane);\n        __syncthreads();", 'lane);', 'the barrier before the totals are read'],
        ['staged', '05_pipe/tile_move.cuh', '__syncthreads(); /* everybody has taken', '; /* everybody has taken', 'the barrier before a stage is used again'],
    );
    for my $mutation (@mutations) {
        my ($variant, $file, $from, $to, $what) = @$mutation;
        my $text = read_file($file);
        my $at = index $text, $from;
        ok($at >= 0, "$file still has: $from") or next;
        substr($text, $at, length $from) = $to;
        open my $out, '>', "$copy/$file" or die;
        print $out $text;
        close $out;
        my $log = `make -C $copy/05_pipe BACKEND=sim 2>&1`;
        my @missed;
        for my $schedule ('warp', 'reverse', 'random:1') {
            my ($status, $out, $err) = run_program({ SIM_SCHEDULE => $schedule }, "$copy/build/sim/05_pipe", '--check-only', '--num-seqs', 3, '--seq-len',
                '100,5000', '--variant', $variant);
            push @missed, "$schedule: $err" if $status ne 1 || $err !~ /^simulator: \S+:\d+: kernel pipe_forward.*(race: .* at \S+:\d+|is on its way)/;
        }
        ok(!@missed, "$variant without $what is told in every order, with both lines") or diag($log, @missed);
        system("cp $file $copy/$file");
    }
}

done_testing;
