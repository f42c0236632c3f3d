# SPDX-License-Identifier: MIT
# Every player of the texts, in headless Chromium: it opens where its text says, without a complaint on the console; at the end of the run as it is written
# memory holds what the kernel has left; back at the beginning all is as it was. And the pictures of 03 are
# what its kernel does.
use strict;
use warnings;
use lib 'common/base', 'common/pages';
use Browser;
use JSON::PP;
use Run;
use Test::More;

plan skip_all => Browser::missing() if !Browser::path();
delete @ENV{qw(MAKEFLAGS MAKELEVEL)};

my ($status, $out, $err) = run_program('perl', 'common/pages/plays.pl', '--pages');
is($status, 0, 'the pages are made') or diag($err);
my @places = $out =~ m{^(build/watch/\S+\.html#\S+)$}mg;
is(scalar @places, scalar(() = join('', map { read_file($_) } glob '[0-9][0-9]_*/figures/plays.txt') =~ /^watch:/mg), 'all that the texts name');

my $browser = Browser->start;
$browser->look(width => 1200, height => 900);
my $json = JSON::PP->new->canonical->allow_nonref;
for my $place (@places) {
    my ($page, $step) = $place =~ /^(.*?)#(?:.*&)?step=(\d+)/;
    my ($trace) = map { decode_json($_) } read_file($page) =~ m{<script type="application/json" id="trace">(.*?)</script>}s;
    my $name = $page =~ s{.*?(\d\d_\w+)/figures/(\w+)\.html}{$1, $2}r;

    $browser->open($place);
    is($browser->js('player.ready && player.at()'), $step, "$name: opens at its moment");
    $browser->js('player.run(0)');
    $browser->js('player.step(0)');
    my $begin = $json->encode($browser->js('player.state()'));
    $browser->js('player.step(player.count() - 1)');
    my $end = $browser->js('player.state()');
    my ($results, $arrays) = ($trace->{runs}[0]{results} // {}, $end->{arrays});
    my @differ = grep { $json->encode($arrays->{ exists $arrays->{$_} ? $_ : "$_ 0" } // []) ne $json->encode($results->{$_}) } sort keys %$results;
    is_deeply(\@differ, [], "$name: at the end memory holds the results") if !defined $trace->{runs}[0]{cut};
    $browser->js('player.step(0)');
    is($json->encode($browser->js('player.state()')), $begin, "$name: back at the beginning all is as it was");
    is_deeply([$browser->messages], [], "$name: without a complaint");
}

($status, $out, $err) = run_program('perl', 'common/pages/plays.pl', '--check', '03_tile');
is($status, 0, 'the pictures of 03 are what its kernel does') or diag($err);
done_testing();
