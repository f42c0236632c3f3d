# SPDX-License-Identifier: MIT
# The slides of all sessions: each fits, so that it can be read from the last row, and all pictures are there, the labels of each large enough at
# least once.
use strict;
use warnings;
use lib 'common/pages', 'common/pages/slides', 'common/base';
use Browser;
use Labels;
use MIME::Base64;
use Run;
use Test::More;

use constant LABEL => 17.9; # pixels of 720
use constant SMALLEST => 0.745; # of the usual size: listings have 16 of 720 points then

plan skip_all => Browser::missing() if !Browser::path;
my ($status, $out, $err) = run_program($^X, 'common/pages/slides/slides.pl');
if ($err =~ /^The slides are made by pandoc/) {
    die $err if $ENV{CI};
    plan skip_all => 'pandoc is not here, which makes the slides: install pandoc';
}
is("$status$err", '0', 'the slides are made') or die "there are none\n";

my $browser = Browser->start;
for my $deck (map { m{([^/]*)\.md$} } glob 'docs/teach/slides/*.md') {
    $browser->open("build/slides/$deck.html");
    $browser->js('new Promise(done => { const look = () => document.documentElement.dataset.ready ? done() : setTimeout(look, 20); look() })');
    my $small = $browser->js('slides.map((slide, index) => [index + 1, +getComputedStyle(slide).getPropertyValue("--fit")])');
    is_deeply([map { "slide $_->[0]: $_->[1]" } grep { $_->[1] < SMALLEST } @$small], [], "$deck: no slide has more than can be read");
    is_deeply($browser->js('slides.flatMap((slide, index) => slide.scrollHeight > 720 || slide.scrollWidth > 1280 ? [index + 1] : [])'), [],
        "$deck: every slide fits");
    is_deeply($browser->js('[...document.images].filter(image => !image.naturalWidth || image.clientHeight < 150).map(image => image.alt)'), [],
        "$deck: the pictures are there, and large enough");
    my %label; # picture => its smallest label, where that is largest
    for (@{ $browser->js('[...document.images].map(i => [i.alt, Math.min(i.clientWidth / i.naturalWidth, i.clientHeight / i.naturalHeight), i.src])') }) {
        my ($alt, $scale, $source) = @$_;
        my ($smallest) = (size_of(decode_base64($source =~ s/.*?base64,//r =~ s/%2B/+/gr)))[2];
        $alt =~ s/ \(part \d of \d\)\z//;
        $label{$alt} = $scale * $smallest if defined $smallest && $scale * $smallest > ($label{$alt} // 0);
    }
    is_deeply([map { "$_: $label{$_}" } grep { $label{$_} < LABEL } sort keys %label], [], "$deck: all labels can be read");
    is_deeply([$browser->messages], [], "$deck: without a complaint, and without a server");
}
done_testing;
