# SPDX-License-Identifier: MIT
# Chapter 12's program: three ranks are right in all directions, and what is wrong ends the job with one sentence.
# (long/ranks.t has other numbers of ranks, counts and steps.)
use strict;
use warnings;
use Cwd 'abs_path';
use lib 'common/tests', '12_ranks/tests';
use Linrec;
use Ranks;
use Test::More;

# ---- without mpicc ----

my $bin = scratch('bin');
mkdir $bin;
for my $tool (qw(sh make grep sed uname nproc cat echo awk gcc g++ basename id)) {
    symlink((grep { -x } map { "$_/$tool" } split /:/, $ENV{PATH})[0], "$bin/$tool");
}
my $sentence = '12_ranks is left out: there is no mpicc here (make setup installs it)';
for my $what ('all', 'run', 'check') {
    my @make = ('make', '--no-print-directory', 'BACKEND=sim', '-C', '12_ranks', $what);
    my ($status, $out, $err) = run_program({ PATH => $bin }, @make);
    my @said = grep { !/^backend: / } split /\n/, $out;
    is("$status @said$err", "0 $sentence", "make $what says in one sentence what is missing");
}

if (!-x program('12_ranks') || !mpirun()) {
    note('12_ranks is not built: there is no mpicc here');
    done_testing;
    exit;
}

# ---- three ranks ----

my ($status, $out, $err) = ranks(3, '12_ranks', '--check-only', '--num-seqs', 3, '--seq-len', '2,130');
is("$status$err", '0', 'three ranks, one of them without an element, all directions and variants') or diag($err);
like($out, qr/^all \d+ checks passed$/m, 'and all was checked');

# ---- without NCCL ----

{
    my @make = ('make', '-n', 'V=1', '-C', '12_ranks', 'BACKEND=cuda', 'ARCH=sm_80', 'NVCC=/bin/true');
    my ($status, $out, $err) = run_program(@make, 'CC=gcc -nostdinc');
    my @said = grep { /nccl\.h/ } split /\n/, $out;
    is("$status @said", "0 12_ranks is built without its variant nccl: there is no nccl.h here (NVIDIA's packages libnccl2 and libnccl-dev have it, and NCCL_HOME=DIR says where else it is)",
        'without nccl.h one sentence says what is left out');
    my ($section) = read_file('12_ranks/main.c') =~ m{was not built, .*\(12_ranks/README\.md, \\"(.*?)\\"\)};
    ok(index(read_file('12_ranks/README.md'), "\n## $section\n") > 0, 'and the program names the section that says how to get it');
    ok($out !~ /-DHAS_NCCL|-lnccl/ && $out =~ m{-o \S*/12_ranks\.part}, 'and all else is built');
    ($status, $out, $err) = run_program(@make, 'CC=gcc', 'NCCL_HOME=' . abs_path('cusim'));
    ok($out =~ m{-isystem \S*/cusim/include .*-DHAS_NCCL.*/nccl\.o}, 'NCCL_HOME says where it is');
    ok($out =~ m{-L\S*/cusim/lib .*-lnccl}, 'and where its library is');
}

# ---- what is wrong ----

for (['--seq-len 1,x', qr/^12_ranks: --seq-len: "x" is not a length; give whole numbers/],
    ['--inputs x.npy', qr/^12_ranks: --inputs is not an option; see --help$/],
    ['--timeout 0', qr/^12_ranks: --timeout: "0" is not a number of seconds; give one from 1 to 1000000$/],
    ['--csv /nowhere/x.csv', qr/^12_ranks: .*nowhere/]) {
    my ($options, $says) = @$_;
    ($status, $out, $err) = ranks(2, '12_ranks', split ' ', $options);
    my @own = own_lines($err);
    is($status, 2, "$options: status 2");
    ok(@own == 1 && $own[0] =~ $says, "$options: one sentence, and not one from each rank") or diag($err);
}
($status, $out, $err) = ranks(2, '12_ranks', '--list');
like($out, qr/\Aalone .*\(partial.*\nchain .*\nexscan .*\nallgather .*\noverlap .*\nforget .*\nnccl .*\n\z/, '--list: once');

# A rank that fails takes the others along, who wait for it: one whose simulator refuses to begin, one that is killed,
# and all for want of memory.
my $one = 'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then';
SKIP: {
    skip 'only a simulator refuses for a setting of its own', 1 if backend() ne 'sim';
    my @refused = ('sh', '-c', qq($one export CUSIM_DEVICES=none; fi; exec "\$0" "\$@"), program('12_ranks'));
    ($status, $out, $err) = ranks(3, \@refused, '--check-only', '--seq-len', 10);
    my @said = $err =~ /^simulator: /mg;
    ok($status != 0 && $status < 124 && @said == 1, 'a rank whose simulator refuses ends the job with one sentence')
        or diag("status $status: $err");
}
my @killed = ('sh', '-c', qq($one exec timeout -s KILL 1 "\$0" "\$@"; fi; exec "\$0" "\$@"), program('12_ranks'));
($status, $out, $err) = ranks(3, \@killed, '--check-only', '--num-seqs', 1, '--seq-len', 10000000);
ok($status != 0 && $status != 124, 'a rank that is killed ends the job') or diag("status $status: $err");
($status, $out, $err) = ranks(2, '12_ranks', '--check-only', '--num-seqs', 1, '--seq-len', 10**15);
my $no_memory = qr/^12_ranks: rank \d: its device has no memory for this stretch; take more ranks: /m;
ok($status == 1 && $err =~ $no_memory, 'and so does one without memory') or diag("status $status: $err");

# One that is stopped, as soon as it has memory on its device, answers nobody: who waits for it ends the job.
SKIP: {
    skip "it is seen by the simulator's addresses when a rank is under way", 1 if backend() ne 'sim';
    my $when    = '(until grep -q "^2000[0-9a-f]*-" /proc/$$/maps; do sleep 0.1; done; kill -STOP $$) &';
    my @stopped = ('sh', '-c', qq($one $when fi; exec "\$0" "\$@"), program('12_ranks'));
    for my $variant (qw(chain exscan nccl)) {
        ($status, $out, $err) = ranks(3, \@stopped, '--check-only', '--variant', $variant, '--num-seqs', 1, '--seq-len', 10000000, '--timeout', 2);
        my @own = own_lines($err);
        my $says = qr/^12_ranks: rank \d: has waited for 2 s in \w+; a rank hangs or was stopped, or needs more time \(--timeout\)$/;
        # two ranks wait for it; the second says it, too, where its time is up before mpirun has ended it
        ok($status != 0 && $status != 124 && @own >= 1 && @own <= 2 && !(grep { $_ !~ $says } @own), "$variant: a rank that is stopped ends the job with one sentence")
            or diag("status $status: $err");
    }
}

done_testing;
