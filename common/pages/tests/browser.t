# SPDX-License-Identifier: MIT
# Browser.pm, with which pages are tested: it shows a page as it was asked to, presses keys, and hears what goes wrong.
use strict;
use warnings;
use lib 'common/pages', 'common/base';
use Browser;
use Run;
use Test::More;

{
    local $ENV{PATH} = scratch();
    local @ENV{qw(CHROMIUM CI)};
    is(Browser::path, undef, 'without Chromium there is none');
    like(Browser::missing(), qr/^Chromium is not here.*make setup/, 'and tests are skipped with a sentence');
    eval { Browser->start };
    like($@, qr/^Chromium is not here.*CHROMIUM=/, 'who starts it all the same gets one, too');
    $ENV{CI} = 'true';
    ok(!eval { Browser::missing() }, 'on CI this is a failure');
    local $ENV{CHROMIUM} = write_file(scratch('broken'), "#!/bin/sh\necho 'no room' >&2\n");
    chmod 0755, $ENV{CHROMIUM};
    eval { Browser->start };
    like($@, qr/^Chromium has ended: no room$/, 'one that does not start is quoted');
}

my $browser = Browser::path ? Browser->start : undef;
SKIP: {
    skip Browser::missing(), 1 if !$browser;
    my $good = write_file(scratch('a page.html'),
        '<title>good</title><body onkeydown="keys.push(event.key)"><script>const keys = []</script><p id="here">text');
    $browser->look(dark => 1, width => 320, height => 500);
    $browser->open("$good#here");
    is_deeply([$browser->messages], [], 'a page without a mistake is loaded without a message');
    is($browser->js('document.title + location.hash'), 'good#here', 'a name with a blank, and an anchor');
    my $values = '[innerWidth, innerHeight, matchMedia("(prefers-color-scheme: dark)").matches, null, "\\u00e9"]';
    is_deeply($browser->js("Promise.resolve($values)"), [320, 500, JSON::PP::true, undef, "\x{e9}"],
        'a dark, narrow window, and a value of several parts');
    $browser->press($_) for 'ArrowLeft', 'n', '/', "'", 'Enter';
    is_deeply($browser->js('keys'), ['ArrowLeft', 'n', '/', "'", 'Enter'], 'keys have their names');
    eval { $browser->js('nothing.here') };
    like($@, qr/^nothing\.here: ReferenceError/, 'an expression that fails says why');
    eval { $browser->open('nowhere.html') };
    like($@, qr/^there is no page nowhere\.html$/, 'and so does a page that is not there');

    my $bad = write_file(scratch('bad.html'),
        '<img src="missing.png"><img src="http://elsewhere.example/x.png">'
        . '<script>console.error("said", 1); throw new Error("thrown")</script>');
    $browser->open($bad);
    my $heard = join "\n", sort $browser->messages;
    like($heard, $_, "a message is heard: $_")
        for qr{NOT_FOUND file://.*missing\.png}, qr{^asks a server}m, qr/^said 1$/m, qr/^Error: thrown$/m;
    $browser->open($good);
    is_deeply([$browser->messages], [], 'the next page begins without them');
}

done_testing;
