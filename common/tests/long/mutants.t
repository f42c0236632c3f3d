# SPDX-License-Identifier: MIT
# A few mutants of the kernels (mutants.pl; all of them: make mutants, which takes hours): the chapters' own checks kill those that
# something depends on, and the list of the equivalent ones has no entry that is out of date.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

plan skip_all => 'mutants run on the simulator; this is BACKEND=' . backend() if backend() ne 'sim';

my @mutants = ('perl', 'common/tests/mutants.pl', '--results', scratch('results'));

# ---- the list ----

my ($status, $out, $err) = run_program(@mutants, '--list');
is("$status$err", '0', 'every entry of mutants.txt is still some mutant') or diag($out =~ /(mutants\.txt: no mutant.*)/s);
cmp_ok(scalar(() = $out =~ /^\+ /mg), '>', 1000, 'there are many mutants');
for my $mutant ( # a rule of each kind still finds its place
    'to_block_forward\n- if \(thread > 0\) \{\n\+ if \(true\)', 'to_thread_forward\n- for \(int i = 1; i < elems; i\+\+\) \{\n\+ for \(int i = 1; false;',
    'return cudaGetLastError\(\);\n\+ return cudaSuccess', 'one_per_block_forward<<<blocks, 1, 0, 0>>>', '- __syncthreads\(\);\n\+ ;',
    '- mbarrier_wait\(&arrived\[stage\], parity\);\n\+ ;', '\(threadIdx\.x \+ 1\)', '\? 0\.0f : __shfl') {
    like($out, qr/$mutant/, "a mutant: $mutant");
}

my $list = scratch('list.txt');
write_file($list, "05_pipe/flat.cu flat_forward\n- no such line\n+ nor this\nThe line went away.\n");
($status, $out) = run_program(@mutants, '--list', '--equivalent', $list);
ok($status eq 1 && $out =~ /^mutants\.txt: no mutant is\n05_pipe\/flat\.cu flat_forward\n- no such line\n\+ nor this\n\z/m, 'an entry that fits no mutant is an error');

# ---- what the texts stress, and what was missed once; each is one mutant ----

for (['04_warp_scan', '04_warp_scan/to_block.cu to_block_forward if (thread > 0) { if (true)', 'zeros stay zeros where products overflow'],
    ['04_warp_scan', '04_warp_scan/to_thread.cu to_thread_forward x[i] = x[i - 1] * c[i] + x[i]; ;', 'a level that does no work'],
    ['02_cuda_ref', '02_cuda_ref/one_per_block.cu cuda_ref_one_per_block_forward one_per_block_forward<<<blocks, 1, 0, stream>>>(args->seq_len, args->inputs, '
        . 'args->coeffs, args->outputs); one_per_block_forward<<<blocks, 1, 0, 0>>>', 'a launch on the default stream'],
    ['02_cuda_ref', '02_cuda_ref/one_per_block.cu cuda_ref_one_per_block_forward return cudaGetLastError(); return cudaSuccess', 'the error of a launch, hidden'],
    ['05_pipe', '05_pipe/copy_only.cu copy_only_forward x[r][i] = x[r][i] + c[r][i]; ;', 'copies that take one array']) {
    my ($chapter, $only, $what) = @$_;
    ($status, $out, $err) = run_program(@mutants, '--only', $only, $chapter);
    like($out, qr/^$chapter: 1 mutants, 0 equivalent; of the others make check kills 1 of 1, 100\.0 %$/m, "killed: $what") or diag("$out$err");
}

# one of each chapter, always the same
($status, $out, $err) = run_program(@mutants, '--sample', 1, qw(02_cuda_ref 03_tile 04_warp_scan 05_pipe));
ok($status eq 0 && 4 == (() = $out =~ /^\w+: \d mutants, /mg) && $out !~ /survived/, 'a sample of each chapter') or diag("$out$err");

# one that is called equivalent, and is not
write_file($list, "02_cuda_ref/one_per_block.cu one_per_block_forward\n- outputs[0] = y;\n+ ;\nNobody looks at it.\n");
($status, $out) = run_program(@mutants, '--again', '--equivalent', $list, '--only', 'one_per_block_forward outputs[0] = y; ;', '02_cuda_ref');
ok($status eq 1 && $out =~ /^mutants\.txt calls this one equivalent, but it is found \(/m, 'an entry whose mutant a check kills is an error') or diag($out);

refuses('a chapter that is not there', qr/there is no chapter 99_none; name a folder such as 04_warp_scan/, @mutants, '99_none');

done_testing;
