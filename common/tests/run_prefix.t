# SPDX-License-Identifier: MIT
# RUN="srun --gres=gpu:1": each program that wants a GPU is started by it, and nothing else is. Without a GPU and CUDA: of make what it would do (-n),
# of scripts what a stand-in for srun is told.
use strict;
use warnings;
use lib 'common/tests';
use Cwd ();
use Linrec;
use Test::More;

delete @ENV{qw(MAKEFLAGS MAKELEVEL BACKEND BACKEND_REASON RUN)};
my @cuda = ('BACKEND=cuda', 'ARCH=sm_80', 'NVCC=/bin/true');
my $started = qr{(?:^|[;&|] *|\bdo )(?:\w+=\S+ +)*}; # where a command begins

# ---- make ----

for my $chapter (map { s{/Makefile$}{}r } glob '[0-9][0-9]_*/Makefile') {
    my (undef, $out) = run_program('make', '-n', '-C', $chapter, @cuda, 'RUN=srun -x', qw(run check bench tune));
    my @with = $out =~ m{${started}srun -x build/cuda/\S+ }mg;
    my @without = $out =~ m{${started}(build/cuda/\S+ .*)}mg;
    if (on_cpu($chapter)) {
        is(scalar @with, 0, "$chapter: plain C is started as it is");
    } else {
        cmp_ok(scalar @with, '>=', 4, "$chapter: run and check start programs with RUN");
        is_deeply(\@without, [], "$chapter: and none without") or diag(@without);
    }
    (undef, $out) = run_program('make', '-n', '-C', $chapter, 'BACKEND=sim', 'RUN=srun -x', 'check');
    unlike($out, qr{srun}, "$chapter: the simulator wants no GPU");
    (undef, $out) = run_program({ RUN => 'srun -x' }, 'make', '-n', '-C', $chapter, @cuda, 'check');
    unlike($out, qr{srun}, "$chapter: what the environment calls RUN is something else");
}

# ---- tests and scripts, which find it in their environment ----

my (undef, $said) = run_program({ RUN => 'echo -n' }, 'build/cuda/any', '--list');
is($said, 'build/cuda/any --list', 'tests start programs with it');
isnt((run_program({ RUN => 'echo' }, 'build/sim/any'))[1], "build/sim/any\n", 'and no others');

# a stand-in that starts nothing, notes what it was to start, and says what a program would
my ($log, $srun) = (scratch('log'), write_file(scratch('srun'), "#!/bin/sh\necho \"\$*\" >> '" . scratch('log') . "'\necho 'float4 one'\n"));
chmod 0755, $srun;
mkdir scratch('bin');
write_file(scratch('bin/compute-sanitizer'), "#!/bin/sh\necho started without RUN\n");
chmod 0755, scratch('bin/compute-sanitizer');
my %settings = (BACKEND => 'cuda', ARCH => 'sm_80', RUN => $srun, NCU => '/bin/true', PATH => scratch('bin') . ":$ENV{PATH}");
my $root = Cwd::getcwd();
mkdir scratch($_) for 'build', 'build/cuda', 'build/cuda/extra', '05_pipe'; # where sanitize.sh keeps what was said, and of what
my @sanitize = ('sh', '-c', 'cd "$0" && exec "$@"', scratch(), 'sh', "$root/common/record/sanitize.sh", '05_pipe');
my $sanitized = qr{^compute-sanitizer --tool (\w+)(?: --num-cuda-barriers \d+)? --error-exitcode 1 build/cuda/05_pipe --check-only (.+)$}m;
run_program(\%settings, @sanitize);
like(read_file($log) // '', $sanitized, 'make sanitize');
unlink $log;
write_file(scratch('05_pipe/sanitize.sh'), "shapes='--num-seqs 3 ;\n    --num-seqs 4'\nno_racecheck=float4\n");
run_program(\%settings, @sanitize);
is_deeply([(read_file($log) // '') =~ /$sanitized/g], [map { my $shape = "--num-seqs $_"; map { $_ => $shape } qw(memcheck initcheck synccheck) } 3, 4],
    "a chapter's own shapes, and a variant that one tool is not asked about");
unlink $log;
run_program(\%settings, 'sh', '-c', 'cd "$0" && exec "$@"', scratch(), 'perl', "$root/common/record/profile.pl", '07_bench');
like(read_file($log) // '', qr{^build/cuda/extra/07_bench_launches }m, 'make profile');

# the judge and the answer talk over a socket pair: where the judge is, the answer is, too
unlink $log;
for my $backend ('cuda', 'answer') { # of a GPU, and of the simulator
    run_program(\%settings, 'perl', '-Icommon/judge', '-MRunning', '-e', 'run_judge({ judge => "NN_x/exercises/judges/name" }, "build/exercises/any/$ARGV[0]", {}, "compare")', $backend);
}
my @started = grep { / compare / } split /\n/, read_file($log) // '';
is(scalar @started, 1, 'of what a judge starts, one program has it');
like($started[0] // '', qr{^build/exercises/judges/NN_x.name compare .*/any/cuda\b}, 'the judge of an answer on a GPU');
done_testing();
