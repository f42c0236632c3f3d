# SPDX-License-Identifier: MIT
# The settings of the environment: the table in machine/settings.cpp, cusim --help and the page name the same ones; a name that is none ends with
# one sentence.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Test::More;

my $source = read_file('machine/settings.cpp');
my ($table) = $source =~ /\bsettings\[\] = \{(.*?)\};/s;
my ($renamed) = $source =~ /\brenamed\[\]\[2\] = \{(.*?)\};/s;
my @settings = $table =~ /"(CUSIM_\w+)"/g;
my @renamed = $renamed =~ /\{"(SIM_\w+)",\s*"([^"]+)"\}/g;
cmp_ok(scalar @settings, '>', 15, 'machine/settings.cpp has a table');

# ---- the table, its comment, --help and the page ----

sub same { my ($found, $where) = @_; is_deeply([sort @$found], [sort @settings], "$where: all settings, and each once") }

my ($comment) = $source =~ m{\n(/\* settings\.cpp - .*?\*/)}s;
my @explained;
for (split /\n/, $comment) {
    push @explained, /\b(CUSIM_\w+)=/g if /^ {7}CUSIM_/;
    push @explained, map { "CUSIM_WATCH$_" } /(?<=[ ;])(_[A-Z]+)/g if /CUSIM_WATCH=/;
}
same(\@explained, 'the comment above it');

my $help = (run_program('compile/cusim', '--help'))[1];
my ($listed) = $help =~ /^settings of the environment, for programs: (.*)\z/ms;
same([map { /^CUSIM_/ ? $_ : "CUSIM_$_" } split ' ', $listed // ''], 'cusim --help');

my ($section) = read_file('docs/cusim.md') =~ /^## Settings\n(.*?)^## /ms;
same([map { /^\| `(CUSIM_\w+)=/ ? $1 : () } split /\n/, $section], "docs/cusim.md's table");

my %known = map { $_ => 1 } @settings;
for my $page (glob '*.md */*.md') {
    my $text = read_file($page);
    is(join(' ', grep { !$known{$_} } $text =~ /\b(CUSIM_\w+\b(?!\*))/g), '', "$page names no other");
    is(join(' ', $text =~ /^\| `(CUSIM_\w+)/mg), '', "$page repeats nothing of the table") if $page ne 'docs/cusim.md';
}

# ---- what a program says ----

my ($program, $out, $err, $status) = (scratch('chip'));
write_file("$program.cu", <<'CODE');
#include <stdio.h>
__global__ void fill(int *x) { x[blockIdx.x * 32 + threadIdx.x] = 1; }
int main() { int *x; cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); cudaMalloc(&x, 64 * 128); fill<<<64, 32>>>(x); cudaDeviceSynchronize();
    printf("%d.%d\n", p.major, p.minor); }
CODE
is((run_program('compile/cusim', "$program.cu", '-o', $program))[0], 0, 'a program');

while (my ($old, $new) = splice @renamed, 0, 2) {
    ok($known{ $new =~ /^(\w+)/ ? $1 : '' }, "$old has become a setting that there is");
    ($status, $out, $err) = run_program({ $old => 1 }, $program);
    is("$status$out$err", "2simulator: $old is called $new now.\n", "$old: one sentence");
}
($status, $out, $err) = run_program({ CUSIM_REPROT => 1 }, $program);
is("$status$out$err", "2simulator: there is no setting CUSIM_REPROT. cusim --help lists those that there are.\n", 'CUSIM_REPROT: one sentence');
my %not_understood = map { $_ => 'x' } grep { !/WATCH_|_WATCH$|TRACE|REPORT|JSON/ } @settings; # these are names and files
for (sort keys %not_understood) {
    ($status, $out, $err) = run_program({ $_ => $not_understood{$_} }, $program);
    ok($status eq 2 && $out eq '' && $err =~ /\Asimulator: $_=x is not understood\. Set it to [^\n]+\.\n\z/, "$_=x: one sentence") or diag("$status $out$err");
}

for ({ CUSIM_CORES => '2,0' }, { CUSIM_CORES => 1 }, { CUSIM_CORES => '2,0.5' }) {
    ($status, $out, $err) = run_program({ %$_, CUSIM_CHECKS => 'bounds' }, $program);
    is("$status$out$err", "09.0\n", "CUSIM_CORES=$_->{CUSIM_CORES}");
}

# every chip that is described has a name that a program understands, and its file can be named
for my $path (glob 'estimate/chips/*.chip') {
    my ($name) = $path =~ m{(\w+)\.chip};
    my ($called, $capability) = map { read_file($path) =~ /^$_ *= *(.*?) *(?:#.*)?$/m } qw(name compute_capability);
    for my $chip ($name, $path) {
        ($status, $out, $err) = run_program({ CUSIM_CHIP => $chip, CUSIM_REPORT => 1 }, $program);
        ok("$status$out" eq "0$capability\n" && $err =~ /^Estimates for \Q$called\E,/m, "CUSIM_CHIP=$chip: $called, $capability") or diag("$status $out$err");
    }
}
$err = (run_program({ CUSIM_CHIP => 'abacus' }, $program))[2];
is(join(' ', grep { $err !~ /\b$_\b/ } map { s{.*/(\w+)\.chip}{$1}r } glob 'estimate/chips/*.chip'), '', 'and of another it says which there are');
done_testing;
