# SPDX-License-Identifier: MIT
# The texts' pictures of running kernels: each picture stands in a text that says how to watch it. (long/plays.t opens their pages.)
use strict;
use warnings;
use lib 'common/base';
use Run;
use Test::More;

for my $list (glob '[0-9][0-9]_*/figures/plays.txt') {
    my ($chapter) = split '/', $list;
    my $texts = join '', map { read_file($_) } glob "$chapter/*.md $chapter/further/*.md";
    my %moment = read_file($list) =~ /^([a-z_0-9]+)\nwatch: (.*)\n/mg;
    cmp_ok(scalar keys %moment, '>', 0, "$list names moments");
    for my $name (sort keys %moment) {
        ok($texts =~ /\]\((?:\.\.\/)?figures\/\Q$name\E\.svg\)/, "$chapter, $name: a text shows it");
        ok($texts =~ /make watch \Q$moment{$name}\E\s*(?:`|\n)/, "$chapter, $name: and says how to watch it");
        ok(-s "$chapter/figures/$name.svg", "$chapter, $name: there is a picture");
    }
}
refuses('a chapter without a list', qr/^plays.pl: cannot read 07_bench\/figures\/plays.txt/, 'perl', 'common/pages/plays.pl', '07_bench');

done_testing();
