#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# still.pl - one step of a page that plays a kernel, as an SVG for the texts, which is light or dark as the reader's screen is.
#
#   perl common/pages/still.pl PAGE.html STEP OUT.svg [PANEL...]
#
# STEP is a number, or what follows # in the page's address: 'run=1&step=40&warp=1&lane=17'. A PANEL is sentence, threads,
# variables, shared, fragments, copies or global; without any they are sentence, threads, variables and shared. Of many variables,
# `variables=y_next+y' shows these.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../pages";
use Browser;
use JSON::PP;

my @known = qw(sentence threads variables shared fragments copies global);

# The SVG, or nothing and what is wrong.
sub still {
    my ($page, $step, $panels) = @_;
    my $link = $step =~ /^\d+\z/ ? "step=$step" : $step =~ s/^#//r;
    my $browser = Browser->start;
    $browser->look(width => 1000, height => 800);
    $browser->open("$page#$link");
    return (undef, "$page does not play a kernel") if !$browser->js('Boolean(window.player && player.ready)');
    my ($asked, $shown) = ($link =~ /(?:^|&)step=(\d+)/, $browser->js('player.at()'));
    return (undef, "$page has no step $asked: its last one is $shown") if $asked != $shown;
    return $browser->js('player.still(player.at(), ' . JSON::PP->new->allow_nonref->encode($panels) . ')');
}

sub refuse {
    print STDERR "@_\n";
    exit 2;
}

my ($page, $step, $out, @panels) = @ARGV;
my $known = join '|', @known;
defined $out && -f $page && $step =~ /^(?:\d+|#?\S*step=\d+\S*)\z/ && !grep { !/^(?:$known|variables=[\w+]+)\z/ } @panels
    or refuse("usage: still.pl PAGE.html STEP OUT.svg [PANEL...], with PANEL one of @known");
my ($svg, $wrong) = still($page, $step, join ' ', @panels ? @panels : @known[0 .. 3]);
refuse($wrong) if $wrong;
open my $file, '>:encoding(UTF-8)', $out or die "$out: $!\n";
print $file $svg;
close $file or die "$out: $!\n";
