# SPDX-License-Identifier: MIT
# Labels.pm - how small the labels of a picture are, which is SVG.
package Labels;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(size_of);

# Width, height and smallest label of a picture; nothing if it has none.
sub size_of {
    my ($svg) = @_;
    my ($width, $height) = $svg =~ /<svg[^>]*\bviewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/ or return;
    my ($style) = $svg =~ m{<style>(.*?)</style>}s;
    my @labels = $svg =~ /\bfont-size="([\d.]+)/g;
    while (($style // '') =~ /^\s*(?:\.(\w+)|text) \{[^}]*font-size: ([\d.]+)px/mg) {
        my ($class, $label) = ($1, $2);
        push @labels, $label if defined $class ? $svg =~ /class="[^"]*\b$class\b/ : $svg =~ /<text/;
    }
    my ($smallest) = sort { $a <=> $b } @labels;
    return defined $smallest ? ($width, $height, $smallest) : ();
}

1;
