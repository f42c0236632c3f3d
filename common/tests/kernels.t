# SPDX-License-Identifier: MIT
# One kernel, one file, one idea: what readers can rely on when they open a kernel's file. (texts.t counts its lines and headers.)
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# The files' own words: without comments and without the preprocessor's lines.
sub code_of {
    my $text = read_file($_[0]);
    $text =~ s{/\*.*?\*/|//[^\n]*}{ }gs;
    $text =~ s/^[ \t]*#(?:.*\\\n)*.*$//mg;
    return $text;
}

# What stands before each { and each ; : the heads of functions, and much else.
sub heads_of { return map { s/\s+/ /gr } code_of($_[0]) =~ /([^;{}]*)(?=[;{])/g }

# ---- every kernel and device function is the file's own, so that two chapters may use one name, and each runs its own code ----

my $functions = 0;
for my $path (glob('[0-9][0-9]_*/{,*/}*.{cu,cuh,h} common/*/*.{cu,cuh,h} common/tests/programs/*.cu docs/demos/*.cu')) {
    my @device = grep { /__global__|__device__/ } heads_of($path);
    my @foreign = grep { !/\bstatic\b/ && !/\boperator ?\(\)/ } @device; # a member is its struct's
    $functions += @device;
    is_deeply(\@foreign, [], "$path: kernels and device functions are static") if @device;
}
cmp_ok($functions, '>', 50, 'they are found');

# ---- the table is the one list, and template parameters are few ----

my %parameters = (elems => '03', rows => '05', from_end => '06'); # the chapter from which on there is one
for my $chapter (chapters()) {
    my %row = map { /^(\S+)/ ? ($1 => 1) : () } own_variants($chapter);
    for my $variant (sort keys %row) {
        ok(-f "$chapter/$variant.cu" || -f "$chapter/$variant.c", "$chapter: $variant has a file of its name");
    }
    for my $path (glob "$chapter/*.{cu,cuh,h}") {
        my ($name) = $path =~ m{([^/]+)\.cu$};
        my @heads = heads_of($path);
        if (grep { /__global__/ } @heads) {
            ok(defined $name && $row{ $name =~ s/_backward$//r }, "$path has kernels, and is a .cu file named after a variant, or after it and _backward");
        }
        my @given = map { split /\s*,\s*/ } map { /\btemplate ?< ?(.*?) ?>/g } @heads;
        my @wrong = grep { !/^int (\w+)$/ || !defined $parameters{$1} || $parameters{$1} gt $chapter } @given;
        is_deeply(\@wrong, [], "$path: template parameters are elems from 03 on, rows from 05 on, from_end from 06 on");
    }
}

# ---- C, and of C++ no more than is said: template <int> everywhere, the type of the arrays where the Makefile claims `dtype` ----

my $types = qr/\b(?:typename|auto|constexpr|decltype)\b|\[[&=]?\] ?\(/;
my $never = qr/\b(?:class|virtual|new|delete)\b|\bstd::|#\s*include <(?:algorithm|array|functional|tuple|type_traits|utility|vector)>/;
my $seen = 0;
for my $path (sort glob '[0-9][0-9]_*/{,kernels/}*.{cu,cuh}') {
    my ($chapter) = $path =~ m{^([^/]+)/};
    my $text = read_file($path);
    next if $text =~ /#\s*include <(?:cub|thrust)\//; # another library's kernels, to compare with
    my $code = code_of($path);
    my @found = ($code =~ /$never/g, claims($chapter, 'dtype') ? () : $code =~ /$types/g);
    is_deeply(\@found, [], "$path is C" . (claims($chapter, 'dtype') ? ', and templates' : ', and template <int>'));
    $seen++;
}
cmp_ok($seen, '>', 80, 'all kernels are looked at');
for my $chapter (grep { claims($_, 'dtype') } map { s{/Makefile$}{}r } glob '[0-9][0-9]_*/Makefile') {
    for my $part (qw(operation/arguments.h operation/operation.c operation/data.h kernels/kernels.h kernels/kernels.c kernels/default.c)) {
        my ($folder, $file) = split m{/}, $part;
        ok(scalar(() = glob "$chapter/$folder/{,*_}$file"), "$chapter has $part, for each of its operations one"); # product_arguments.h
    }
}

# ---- a program that links a launcher learns of that launcher's errors, and keeps its own: <<<>>> has no result ----

for my $chapter (grep { claims($_, 'linked') } map { s{/Makefile$}{}r } glob '[0-9][0-9]_*/Makefile') {
    my @sources = glob "$chapter/{,kernels/}*.{c,cu,cuh}";
    my @wrong = grep { code_of($_) =~ /<<<|cudaGetLastError/ } @sources;
    is_deeply(\@wrong, [], "$chapter: its " . @sources . ' files launch by cudaLaunchKernelEx (common/cuda/launch_of.h) and clear no error');
}

done_testing;
