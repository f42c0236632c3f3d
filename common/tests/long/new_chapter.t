# SPDX-License-Identifier: MIT
# CONTRIBUTING's list for a chapter is followed to the letter, in a copy of the tree: the chapter builds, is checked, is found by everything
# that looks for chapters, and nothing outside its folder changes but a line of the map. Then its kernel, a copy under the original's name, gets
# four barriers more, and a comparison counts each with its own.
use strict;
use warnings;
use lib 'common/tests';
use Cwd 'getcwd';
use Linrec;
use Test::More;

plan skip_all => 'the copy is built for the simulator; this is BACKEND=' . backend() if backend() ne 'sim';

my ($root, $copy) = (getcwd(), copy_of_tree());
chdir $copy;
delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
$ENV{BACKEND} = 'sim';

# ---- the list, step by step ----

my ($list) = read_file('CONTRIBUTING.md') =~ /^## A chapter\n(.*?)^## An operation\n/ms;
my $steps = 0;
while ($list =~ /^(?:`(?<path>\S+)`\n\n)?(?<ticks>```+)(?<language>\w+)\n(?<text>.*?)^\g{ticks}\n/gms) {
    my ($path, $language, $text) = @+{qw(path language text)};
    if (defined $path) {
        write_file($path, $text);
    } elsif ($language eq 'sh') {
        my ($status, $out, $err) = run_program('sh', '-e', '-c', $text);
        is($status, 0, 'the commands ' . ($text =~ s/\n.*//sr) . ' ...') or diag("$out$err");
    }
    $steps++;
}
cmp_ok($steps, '>=', 7, 'the list is found');

# ---- what it touches, and who knows it ----

my ($status, $out) = run_program('diff', '-rq', '--exclude=build', '--exclude=results', '--exclude=.git*', '--exclude=mine', $root, '.');
is_deeply([grep { !m{^Only in \Q$root\E} } split /\n/, $out], ['Only in .: 20_example', "Files $root/README.md and ./README.md differ"],
    'nothing else has changed but README');
my %before = map { $_ => 1 } split /\n/, read_file("$root/README.md");
is_deeply([grep { !$before{$_} } split /\n/, read_file('README.md')], ['| [20_example](20_example/README.md) | Is a copy as fast as the original? | an example |'],
    'and there, a line of the map');
my $page = read_file('20_example/README.md');
like($page, qr/^static __global__ .*\n    to_block_forward\(int seq_len/m, 'make report has written the listing');
like($page, qr/^mine +forward +3 +100 |^20_example +mine +forward +3 +100 /m, 'and the output');
like((run_program('make', '-n', 'run'))[1], qr/^==== 20_example ====$/m, 'make run finds it');
like(join(' ', chapters()), qr/\b20_example\b/, 'so do the tests');
($status, $out) = run_program('make', '-n', 'BACKEND=cuda', 'ARCH=sm_90', 'NVCC=nvcc', 'bench');
like($out, qr{build/cuda/20_example --resume --csv results/20_example\.csv}, 'and make bench');

# on a GPU: a program that only pretends writes a table, which is recorded under the chapter's name and shown by a text
mkdir 'build/cuda';
write_file('build/cuda/20_example', <<'END');
#!/bin/sh
cat > "$2" <<CSV
# date: 2100-01-02T03:04:05Z
# toolkit: CUDA 99.0
# driver: 999
chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,max_error
20_example,mine,forward,10,64,cuda,NVIDIA H200,1,1,1,1234.5,1,77,0.1
CSV
END
chmod 0755, 'build/cuda/20_example';
($status, $out) = run_program({ BACKEND => 'cuda' }, 'sh', 'common/record/recordings.sh', '20');
ok($status eq 0 && -f 'recordings/h200/2100-01-02-20_example.csv', 'make recordings records it') or diag($out);
my $marker = '<!-- speed -->';
write_file('20_example/README.md', "$page\n$marker?<!-- end -->\n\n<!-- values\nspeed: 20_example variant=mine gb_per_s %.0f\n-->\n");
run_program('perl', 'common/pages/report.pl', '--no-outputs', '20_example/README.md');
like(read_file('20_example/README.md'), qr/\Q$marker\E1234</, 'and make report shows it');

# ---- a copied kernel is counted with its own code ----

sub barriers { # of the copy and of the original
    my (undef, $out) = run_program('build/sim/20_example', '--num-seqs', 3, '--seq-len', 1000);
    my @rows = map { [split] } split /\n/, $out;
    my ($head) = grep { ($_->[0] // '') eq 'chapter' } @rows;
    my ($column) = grep { $head->[$_] eq 'barriers' } 0 .. $#{ $head // [] };
    return map { my $name = $_; map { $_->[$column] } grep { join(' ', @$_[0, 1]) eq $name } grep { @$_ > 5 } @rows } '20_example mine', '04_warp_scan to_block';
}
my ($mine, $original) = barriers();
ok(defined $mine && $mine == $original && $mine > 0, 'a copy counts as many barriers as its original') or diag($mine, $original);
my $kernel = read_file('20_example/mine.cu');
my $barrier = "    __syncthreads();\n";
like($kernel, qr/\Q$barrier\E/, 'the kernel has a barrier');
write_file('20_example/mine.cu', $kernel =~ s/\Q$barrier\E/$barrier x 5/er);
($status, $out) = run_program('sh', '-c', 'make -C 20_example 2>&1');
is($status, 0, 'with four barriers more it builds') or diag($out);
is_deeply([barriers()], [$mine + 4 * 3, $original], 'and in a comparison, each counts its own: four more in each of three blocks');

chdir $root;
done_testing;
