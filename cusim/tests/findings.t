# SPDX-License-Identifier: MIT
# Findings, for people and machines: an error and its object in CUSIM_JSON's file, with the other access; a remark, told once at the end, with
# the program's own exit status, and as an error with CUSIM_CHECKS=strict.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use JSON::PP 'decode_json';
use Testing;
use Test::More;

sub build {
    my ($name, $text, @more) = @_;
    write_file(scratch("$name.cu"), $text);
    my ($status, $out, $err) = run_program('compile/cusim', scratch("$name.cu"), @more, '-o', scratch($name));
    is("$status$out$err", '0', "$name is built");
    return scratch($name);
}
my $json = scratch('found.json');
sub found { return map { decode_json($_) } split /\n/, read_file($json) }

my $race = build('race', <<'CODE');
__global__ void reverse(float *x) {
    __shared__ float t[64];
    t[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = t[63 - threadIdx.x];
}
int main() { float *x; cudaMalloc(&x, 256); cudaMemset(x, 0, 256); reverse<<<1, 64>>>(x); cudaDeviceSynchronize(); }
CODE
my ($status, $out, $err) = run_program({ CUSIM_JSON => $json }, $race);
my ($place, $thread, $text) = $err =~ /\A(\S+:\d+): error: kernel reverse, block \(0,0,0\), thread \((\d+),0,0\): (race: .*)\n\z/;
ok($status eq 1 && defined $text, 'an error is one line, as gcc has it') or diag("$status $err");
my @found = found();
is(@found, 1, 'and an object');
my ($other_thread, $other_place) = $text =~ /which thread \((\d+),0,0\) has \w+ at (\S+:\d+)/;
is_deeply($found[0], { kind => 'error', message => $text, file => $place =~ s/:\d+$//r, line => $place =~ s/.*://r, function => 'reverse',
        block => [0, 0, 0], thread => [$thread, 0, 0],
        other => { file => $other_place =~ s/:\d+$//r, line => $other_place =~ s/.*://r, block => [0, 0, 0], thread => [$other_thread, 0, 0] } },
    'that says the same, the other access too') or diag(explain $found[0]);
($status, $out, $err) = run_program({ CUSIM_JSON => '/nowhere/found.json' }, $race);
is("$status$err", "2simulator: CUSIM_JSON=/nowhere/found.json is not understood. Set it to a file that can be written.\n", 'a file that cannot be');

# a remark, by the engine's own function, at two lines, twice each
write_file(scratch('say.cpp'), <<'CODE');
void sim_remark(const char *file, int line, const char *format, ...);
void say(int line) { sim_remark("each.cu", line, "says \"%s\". Do not", "it"); }
CODE
my $remarks = build('remarks', <<'CODE', scratch('say.cpp'));
__host__ __device__ void say(int line);
__global__ void each() { say(7); }
int main() { each<<<2, 32>>>(); cudaDeviceSynchronize(); say(3); say(3); return 5; }
CODE
my @lines = ("each.cu:7: remark: kernel each, block (0,0,0), thread (0,0,0): says \"it\". Do not.\n", "each.cu:3: remark: host code: says \"it\". Do not.\n");
for my $checks (qw(all bounds)) {
    ($status, $out, $err) = run_program({ CUSIM_JSON => $json, CUSIM_CHECKS => $checks, CUSIM_CORES => '2,0' }, $remarks);
    is("$status$err", '5' . join('', @lines), "remarks: once, at the end, with the program's status ($checks)");
    is(join(' ', map { "$_->{kind} $_->{message}" } found()), 'remark says "it". Do not. remark says "it". Do not.', 'and two objects');
}
($status, $out, $err) = run_program({ CUSIM_CHECKS => 'strict' }, $remarks);
is("$status$err", '1' . $lines[0] =~ s/remark/error/r, 'strict: an error');

done_testing;
