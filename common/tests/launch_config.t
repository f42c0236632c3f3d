# SPDX-License-Identifier: MIT
# --config: what is given reaches the kernels that take it, in every use of a program, and the table says so; what no kernel takes is refused.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $p = extra('tests_launch_config');
my @quick = ('--num-seqs', 3, '--seq-len', 5, '--repeats', 1);
my ($csv, $trace, $y) = map { scratch($_) } qw(config.csv trace.csv y.npy);

my (undef, $list) = run_program($p, '--list');
like($list, qr/^all .* \(rows 1, 2, 4; threads up to 512; stages up to 4\)$/m, '--list shows all that can be tuned');
like($list, qr/^threads .* \(threads up to 1024\)$/m, '--list shows those that a kernel has');
like($list, qr/^none .*tests \(default\)$/m, '--list shows none where there are none');

my ($status, $out, $err) = run_program({ CUSIM_TRACE => $trace }, $p, @quick, '--config', 'stages=3,rows=2,threads=256', '--csv', $csv);
is($status, 0, 'a shape is run') or diag($err);
like($out, qr/^all:rows=2:threads=256:stages=3 +forward +3 +5 /m, 'the table names the shape');
like(read_file($csv), qr/^launch_config,all:rows=2:threads=256:stages=3,forward,3,5,/m, 'so does the CSV');
unlike($out, qr/^(?:threads|roomy|none)/m, 'kernels that cannot be told all of it do not run');
SKIP: {
    skip 'only the simulator counts blocks and threads', 2 if backend() ne 'sim';
    like($out, qr/^all\S+ +forward +3 +5 +6 +1536 +18 /m, 'the timed launch has it: 2 blocks of 256 threads a sequence, 3 barriers each');
    like(read_file($trace), qr/^launch_config,all:rows=2:threads=256:stages=3,forward,3,5,/m, 'so does the trace');
}
($status, $out) = run_program($p, @quick, '--config', 'threads=64');
ok($status eq 0 && $out =~ /^all:threads=64 .*^threads:threads=64 /ms && $out !~ /^none/m, 'all kernels that take it run');
($status, $out) = run_program($p, @quick);
ok($status eq 0 && $out =~ /^all +forward .*^threads +forward .*^none +forward /ms, 'without --config, all do');

# the launcher's own refusal: many threads with many stages
my @too_much = ('--config', 'threads=512,stages=3');
my $refusal = qr/: all does not run with threads=512,stages=3 here, .*; choose other numbers$/;
($status, $out, $err) = run_program($p, @quick, '--variant', 'all', @too_much);
ok($status eq 2 && $err =~ /\A[^\n]*$refusal\n\z/ && $out !~ /passed|FAILED/, 'a shape that the launcher refuses: one line') or diag("$status $out$err");
my @arrays = ('--inputs', write_npy(scratch('x.npy'), '(3,)', 1, 1, 1), '--coeffs', write_npy(scratch('c.npy'), '(3,)', 2, 2, 2), '--outputs', $y);
($status, $out, $err) = run_program($p, @quick, @too_much);
ok($status eq 0 && $err =~ /\Askipped: all does not run with threads=512,stages=3 here \(.*\)\n\z/ && $out =~ /^roomy\S+ +forward/m && $out !~ /^all:/m,
    'if another variant takes it, that one runs') or diag("$status $out$err");
($status, $out, $err) = run_program($p, @quick, '--config', 'rows=1,threads=512,stages=4');
ok($status eq 2 && $err =~ /\Askipped: all does .*\n\S+: no variant runs with rows=1,threads=512,stages=4 here, .*\n\z/, 'if none does, it is an error') or diag("$status $out$err");
refuses('also on own arrays', $refusal, $p, @arrays, '--variant', 'all', @too_much);
($status, $out) = run_program($p, @arrays, '--variant', 'all', '--config', 'threads=64');
ok($status eq 0 && $out =~ /variant all:threads=64 on /, 'own arrays in a shape') or diag($out);
is_deeply([read_npy($y)], ['(3,)', 1, 3, 7], 'give the same result');

# the chapters' own kernels, at the ends of what they list
for my $chapter (chapters()) {
    my %config;
    for my $line (own_variants($chapter)) {
        $config{"rows=$_"} = 1 for map { split /, / } $line =~ /\(rows ([\d, ]+)/;
        $config{"threads=$_"} = 1 for map { (32, $_) } $line =~ /threads up to (\d+)/;
        refuses("$chapter $1: fewer stages than it takes", qr/: $1 takes .*stages $2 to \d+; it does not take stages=${\ ($2 - 1)}$/, program($chapter),
            '--variant', $1, '--config', 'stages=' . ($2 - 1)) if $line =~ /^(\S+) .*stages (\d+) to/;
        $config{"stages=$_"} = 1 for $line =~ /stages up to (\d+)/ ? (1, $1) : $line =~ /stages (\d+) to (\d+)/;
    }
    for my $config (sort keys %config) {
        ($status, $out, $err) = run_program(program($chapter), '--check-only', '--num-seqs', 2, '--seq-len', '5,1001', '--config', $config);
        ok($status eq 0 && $out =~ /^all \d+ checks passed$/m, "$chapter --config $config") or diag($err);
    }
}

# each number of rows is a kernel of its own, not another's by mistake: it takes its own number of barriers and shuffles; and no block too many
SKIP: {
    skip 'only the simulator counts', 1 if backend() ne 'sim';
    for my $chapter (chapters()) {
        for my $line (own_variants($chapter)) {
            my ($variant) = $line =~ /^(\S+)/;
            next if $variant eq 'copy_only'; # it has neither
            my ($rows) = $line =~ /\(rows ([\d, ]+)/ or next;
            my $length = $line =~ /length up to (\d+)/ ? ($1 < 16384 ? $1 : 16384) : 4096; # few threads take a part of it
            my $threads = $variant eq 'per_block' ? ',threads=512' : $line =~ /threads up to/ ? ',threads=64' : ''; # per_block has all of it at once
            my %seen;
            for my $number (split /, /, $rows) {
                my (undef, $table) = run_program(program($chapter), '--variant', $variant, '--config', "rows=$number$threads", '--num-seqs', 2, '--seq-len', $length / 4);
                $seen{"$1 $2"} .= " $number" while $table =~ /^(?:\S+ +)?\S*\b$variant:\S+ +(\w+) +2 +\d+ +\d+ +\d+ +(\d+ +\d+) /mg;
            }
            is_deeply([grep { / \d+ / } values %seen], [], "$chapter $variant: each number of rows has its counts") or diag(join "\n", %seen);
            cmp_ok(scalar keys %seen, '>', 1, "$chapter $variant: they are seen");
        }
        my @warp = grep { /^per_warp / } own_variants($chapter);
        my (undef, $table) = run_program(program($chapter), '--variant', 'per_warp', '--config', 'threads=64', '--num-seqs', 100, '--seq-len', 100) if @warp && $warp[0] =~ /threads up to/;
        like($table, qr/^per_warp:\S+ +forward +100 +100 +50 +3200 /m, "$chapter per_warp: two warps a block, and no block too many") if defined $table;
    }
}

# refusals
my %wrong = (
    'block=3' => qr/"block=3" is not known; give rows, threads or stages/,
    'rows' => qr/"rows" gives no number/,
    'rows=' => qr/"rows=" gives no number/,
    'rows=two' => qr/"rows=two" gives no number/,
    'rows=0' => qr/"rows=0" gives no number/,
    'rows=-1' => qr/"rows=-1" gives no number/,
    'rows=99999999999' => qr/gives no number/,
    'rows=1,' => qr/"" is not known/,
    '' => qr/"" is not known/,
    'rows=1,rows=1' => qr/rows is given twice/,
    'threads=100' => qr/threads=100 is not a multiple of 32, .* choose 128/,
    'rows=3' => qr/no variant takes rows=3; --list shows what each takes/,
    'rows=1,threads=1024' => qr/no variant takes rows=1,threads=1024;/,
);
refuses("--config '$_'", $wrong{$_}, $p, @quick, '--config', $_) for sort keys %wrong;
refuses('given twice in two options', qr/rows is given twice/, $p, '--config', 'rows=1', '--config', 'rows=2');
refuses('rows that are not compiled', qr/: all takes rows 1, 2, 4; threads up to 512; stages up to 4; it does not take rows=3$/, $p, '--variant', 'all', '--config', 'rows=3');
refuses('more stages than there are', qr/does not take stages=5$/, $p, '--variant', 'all', '--config', 'stages=5');
refuses('what a variant does not take', qr/: threads takes threads up to 1024; it does not take rows=1$/, $p, '--variant', 'threads', '--config', 'rows=1');
refuses('a variant with nothing to tune', qr/: none leaves no choice of rows, threads or stages; choose a variant that does, see --list$/, $p, '--variant', 'none', '--config', 'rows=1');
refuses('own arrays, whose default has nothing to tune', qr/: none leaves no choice/, $p, @arrays, '--config', 'rows=1');
done_testing;
