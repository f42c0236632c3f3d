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

my ($status, $out, $err) = run_program(program('05_pipe'), '--check-only', '--num-seqs', 1, '--seq-len', '131072,4194304', '--variant', 'default');
ok($status eq 0, 'the error bound holds at 2^17 elements in a chain, and at 2^22 with a zero now and then, with coefficients near one') or diag($err);

# A copy of the chapters with one line changed must be found wrong in each of the simulator's orders: what orders threads, with both lines.
SKIP: {
    skip 'the simulator shows these for certain', 1 if backend() ne 'sim';
    my $copy = copy_of_chapters();
    my $race = qr/race: .* at \S+:\d+|is on its way/;
    my $barrier = qr/^        __syncthreads\(\);\n(?=        const struct pair up_to_warp)/m;
    my $wait = qr/^        mbarrier_wait\(&arrived\[stage\], parity\);\n/m;
    my $wait_prior = qr/__pipeline_wait_prior\(num_stages - 1\);/;
    my $refill = qr/^(        __syncthreads\(\);\n)(        if \(threadIdx\.x == 0\) [^;]*;\n)/m;
    my $turn = qr/^        turn \^= 1;\n/m;
    my $phase = qr/, parity \^= 1;/;
    my $wrong = qr/elements are wrong/;
    my @mutations = ( # chapter, file, what is replaced by what, what that is, what is said, with which options
        ['05_pipe', 'blocked', $barrier, sub { '' }, 'the barrier before the totals are read', $race],
        ['05_pipe', 'staged', qr/__syncthreads\(\);(?= \/\* everybody has taken)/, sub { ';' }, 'the barrier before a stage is used again', $race],
        ['05_pipe', 'float4', $barrier, sub { '' }, 'the barrier before the totals are read', $race],
        ['05_pipe', 'float4', $turn, sub { '' }, 'a second array of totals', $race],
        ['05_pipe', 'prefetch', $barrier, sub { '' }, 'the barrier before the totals are read', $race],
        ['05_pipe', 'async', $wait_prior, sub { '' }, 'its wait for cp.async', $race],
        ['05_pipe', 'tma', $wait, sub { '' }, 'its wait for the copy engine', $race],
        ['05_pipe', 'tma', $phase, sub { ';' }, 'a new phase of the barrier in each round', $race],
        ['05_pipe', 'tma', $refill, sub { "$2$1" }, 'the barrier before a stage is filled again', $race],
        ['06_backward', 'float4', $barrier, sub { '' }, 'the barrier before the totals are read', $race],
        ['06_backward', 'async', $wait_prior, sub { '' }, 'its wait for cp.async', $race],
        ['06_backward', 'tma_evict_last', $wait, sub { '' }, 'its wait for the copy engine', $race],
        ['06_backward', 'tma_evict_last', $refill, sub { "$2$1" }, 'the barrier before a stage is filled again', $race],
        ['06_backward', 'prefetch_backward', qr/base \+ behind < end/, sub { 'false' }, 'the output behind a warp', $wrong, '--backward'],
        ['06_backward', 'async_backward', qr/base \+ behind < end/, sub { 'false' }, 'the output behind a warp', $wrong, '--backward'],
        ['06_backward', 'async_backward', $wait_prior, sub { '' }, 'its wait for cp.async', $race, '--backward'],
        ['06_backward', 'tma_evict_last_backward', qr/base \+ behind < end/, sub { 'false' }, 'the output behind a warp', $wrong, '--backward'],
        ['06_backward', 'tma_evict_last_backward', $refill, sub { "$2$1" }, 'the barrier before a stage is filled again', $race, '--backward'],
        ['06_backward', 'prefetch_backward', qr/lane == 0 \? next_row : y/, sub { 'false ? next_row : y' }, 'the output behind a row', $wrong, '--backward'],
        ['06_backward', 'per_block', qr/^    __syncthreads\(\);\n/m, sub { '' }, 'the barrier before the totals are read', $race],
        ['06_backward', 'per_block_backward', qr/warp \+ 1 < num_warps/, sub { q(false) }, 'the output behind a warp', $wrong, '--backward'],
        ['06_backward', 'per_block_backward', qr/^    __syncthreads\(\);\n/m, sub { '' }, 'the barrier before the totals are read', $race, '--backward'],
        ['06_backward', 'flat_backward', qr/lane == 0 \? next_y\[0\] : y/, sub { 'false ? next_y[0] : y' }, 'the output behind a row', $wrong, '--backward'],
        ['06_backward', 'two_pass', qr/^    if \(lane == \(reverse \? 0 : 31\)[^;]*;\n/m, sub { '' }, 'the output beside a warp', $wrong, '--backward'],
    );
    for my $mutation (@mutations) {
        my ($chapter, $name, $from, $to, $what, $told, @options) = @$mutation;
        my $file = "$chapter/$name.cu";
        my $variant = $name =~ s/_backward$//r;
        my $text = read_file($file);
        my $changed = $text =~ s/$from/$to->()/er;
        ok($changed ne $text, "$file still has $what") or next;
        my ($object, $kept) = ("$copy/build/obj/sim/$chapter/$name.o", scratch('kept.o'));
        system("cp $object $kept");
        write_file("$copy/$file", $changed);
        my $log = build_quickly($copy, $chapter);
        my $fault = $told eq $race ? qr/^simulator: \S+:\d+: kernel ${name}(?:_forward|)<?.*$told/m : $told;
        my @missed;
        for my $schedule ('warp', 'reverse', 'random:1') {
            my ($status, $out, $err) = run_program({ SIM_SCHEDULE => $schedule }, "$copy/build/sim/$chapter", '--check-only', '--num-seqs', 3, '--seq-len',
                $variant eq 'per_block' ? '100,700,5000' : '100,5000,12000', '--variant', $variant, @options);
            push @missed, "$schedule: status $status $err" if $status ne 1 || $err !~ $fault;
        }
        ok(!@missed, "$chapter $name without $what is found in every order") or diag($log, @missed);
        system("cp $file $copy/$file; cp $kept $object"); # the object is the newer one, and is not made again
    }
}

done_testing;
