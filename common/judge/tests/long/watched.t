# SPDX-License-Identifier: MIT
# make watch EX=: an answer that fails is played up to its mistake, with what the judge says of it, and a right one on small data.
use strict;
use warnings;
use lib 'common/base';
use JSON::PP;
use POSIX ();
use Run;
use Test::More;

plan skip_all => 'lines and variables are to be had on an x86-64 only' if (POSIX::uname())[4] ne 'x86_64';

# Watches a file as an answer; returns the first run, the trace, and what make said.
sub watch {
    my ($id, $text) = @_;
    my $file = write_file(scratch('answer.cu'), $text);
    unlink "results/watch/${id}_file.html";
    my ($status, $out, $err) = run_program('make', '--no-print-directory', 'watch', "EX=$id", "FILE=$file");
    my ($json) = (read_file("results/watch/${id}_file.html") // '') =~ m{<script type="application/json" id="trace">(.*?)</script>}s;
    my $trace = decode_json($json // '{"runs":[{"verdict":{}}]}');
    return ($trace->{runs}[0], $trace, "$out$err", $status);
}

my $solution = read_file('03_tile/exercises/solutions/step.cu');
my ($run, $trace, $said, $status) = watch('03.2', $solution);
ok($status eq 0 && $run->{verdict}{ok}, 'a right answer is played') or diag($said);
like($said, qr/^It computes what is right.*^results\/watch\/03\.2_file\.html$/ms, 'and said to be right');
ok((grep { defined $_->{without} && !$_->{verdict}{ok} } @{ $trace->{runs} }), 'its barrier must not be left out');

# the neighbour on the other side: a wrong result
($run, $trace, $said) = watch('03.2', $solution =~ s/x\[l - 1\]/x[(l + 1) % blockDim.x]/r);
my $verdict = $run->{verdict};
like($verdict->{text}, qr/^A result is wrong: outputs\[0\]\[1\] is /, 'the verdict is what the judge says');
my $step = $run->{steps}[$verdict->{step} // 1e9];
my ($store) = grep { $_->{k} eq 'store' } @{ $step->{e} // [] };
my ($at) = grep { ($step->{m}[$_] // $_) == 1 } 0 .. 31; # the entry of lane 1
is_deeply([@$verdict{qw(thread index)}, $trace->{arrays}[$verdict->{array}]{name}, $store->{i}[$at]], [1, 1, 'outputs', 1], 'it stands still where that was written');

# no barrier: a race
($run, $trace, $said) = watch('03.2', $solution =~ s/__syncthreads\(\);//r);
like($run->{verdict}{text}, qr/race: .* Put __syncthreads\(\) between them/, 'a race is told');
is_deeply([map { $run->{steps}[$_ // 1e9]{p} } $run->{verdict}{step}, $run->{verdict}{other}{step}], [@{ $run->{verdict} }{'place'}, $run->{verdict}{other}{place}], 'and shown at both lines');

for (['03.1', qr/prediction/], ['03.2', qr/does not compile/, $solution =~ s/;/:/r]) {
    my ($id, $like, $text) = @$_;
    (undef, undef, $said, $status) = watch($id, $text // $solution);
    ok($status eq 2 && $said =~ $like, "refused: $said");
}

done_testing;
