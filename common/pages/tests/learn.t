# SPDX-License-Identifier: MIT
# A small site as its reader has it, in a browser: the core's way, a prediction and what was counted, progress that is remembered, terms
# in place, the search, a player in its frame. site.t is for what the pages hold, player.t for the player alone.
use strict;
use warnings;
use lib 'common/pages', 'common/base';
use Browser;
use Cwd 'getcwd';
use File::Path 'make_path';
use JSON::PP;
use Run;
use Test::More;

plan skip_all => Browser::missing if !Browser::path;
plan skip_all => 'pandoc is not here, which makes the site: install pandoc' if (run_program('sh', '-c', 'command -v pandoc'))[0] ne 0;

my $home = getcwd();
my $root = scratch('course');
mkdir $root;
chdir $root;
END { chdir '/' }

sub file {
    my ($path, $text) = @_;
    make_path($path =~ s{[^/]*$}{}r || '.');
    return write_file($path, $text);
}

file('README.md', "# The course\n\n[one](01_first/README.md)\n\n<!-- core: list 01_first/README.md 02_second/README.md -->\n<!-- end -->\n");
file('01_first/README.md', <<'END');
# 01 First

The [tile](../docs/glossary.md#tile), and [more](further/more.md).

## Predict

Count them.

1. How many barriers?
2. How many steps?

How many sectors are that?

<details><summary>Our count</summary>

Four.

</details>

## Measure

Here `__syncthreads()` makes all wait, and $y_l = x_l$ is right.

![moves](figures/race.svg)

## Exercises

| exercise | goal |
|---|---|
| 01.1 Count | numbers |
| 01.2 Mend | a barrier |
END
file('01_first/further/more.md', "# More\n\n`__syncthreads()` waits, `__syncthreads()` waits, and again `__syncthreads()` waits.\n");
file('02_second/README.md', "# 02 Second\n\nThe end.\n");
file('docs/glossary.md', "# Glossary\n\n### Barrier\n\nAll wait.\n\n### Tile\n\nA part, up to a [barrier](#barrier).\n");
file('01_first/figures/race.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
file('build/watch/01_first/figures/race.start', "step=1&panels=shared\n");
my %trace = (
    title => 'A kernel', kernel => 'kernel', grid => [1], block => [32], sources => [{ name => 'a.cu', first => 1, text => ['line 1', 'line 2'] }],
    functions => [{ name => 'kernel', source => 0, first => 1, last => 2 }], variables => [{ name => 'thread', type => 'int', dims => [], function => 0, lines => [1, 2] }],
    arrays => [{ name => 'tile', space => 'shared', type => 'float', element => 4, dims => [32], start => 0 }],
    runs => [map { { name => $_, steps => [{ b => 0, s => 'begin' }, { b => 0, w => 0, p => [0, 1], v => { 0 => [0 .. 31] },
        e => [{ k => 'shared_store', a => 0, i => [0 .. 31], x => [0 .. 31], conflicts => 0 }] }], counts => {}, results => {},
        verdict => { ok => JSON::PP::true, text => '', step => undef } } } 'as it is written', 'in another order'],
);
my %part = (STYLE => read_file("$home/cusim/player/player.css"), SCRIPT => read_file("$home/cusim/player/player.js"), TITLE => 'player',
    TRACE => JSON::PP->new->utf8->encode(\%trace));
file('build/watch/01_first/figures/race.html', read_file("$home/cusim/player/player.html") =~ s/\@(STYLE|SCRIPT|TRACE|TITLE)\@/$part{$1}/gr);
my ($status, undef, $err) = run_program($^X, "$home/common/pages/site/site.pl");
is("$status$err", '0', 'the site is made') or die "there is no site\n";

my $browser = Browser->start;
my $js = sub { $browser->js(@_) };
sub opened { $browser->open("build/site/$_[0]"); return $browser->messages }
sub wait_for { # an expression that becomes true
    my ($what) = @_;
    for (1 .. 500) {
        return 1 if eval { $js->($what) }; # it dies while a page is left
        select undef, undef, undef, 0.02;
    }
    return 0;
}
sub typed { $browser->press($_) for split //, $_[0] }

# the core's way
is_deeply([opened('index.html')], [], 'the first page is shown without a message');
for my $to ('01_first', '02_second') {
    $browser->press('n');
    ok(wait_for("location.pathname.endsWith('/$to/index.html') && document.readyState === 'complete'"), "n leads to $to");
}

# predictions
opened('01_first/index.html');
is($js->('[...document.querySelectorAll("textarea")].length'), 3, 'each question has a box');
is($js->('[...document.querySelectorAll("main > button")].map(one => one.disabled).join()'), 'true,true', 'nothing is compared before something is predicted');
$js->('document.querySelector("ol textarea").focus()');
typed('two npp');
is($js->('location.pathname.endsWith("/01_first/index.html") && document.querySelector("aside:not([hidden])").textContent'), "You predicted:two npp\x{2013}",
    'what is written stands where it was measured, and turns no page');
is($js->('document.querySelector("aside:not([hidden])").previousElementSibling.id'), 'measure', 'below that heading');
$js->('(box => { box.value = "4"; box.dispatchEvent(new Event("input")); })(document.querySelectorAll("textarea")[2])');
ok(!$js->('document.querySelector("main details").open'), 'the count stays folded');
$js->('document.querySelector("textarea + button:enabled").click()');
ok($js->('document.querySelector("main details").open'), 'until it is asked for');

# progress
is($js->('document.getElementById("progress").innerText.replace(/\s+/g, " ").trim()'), 'Core pages read: 0 of 2 Exercises solved: 0 of 2', 'nothing is read yet');
$js->('document.querySelector(".done input").click(), document.querySelectorAll("td input")[1].click()');
opened('02_second/index.html');
is($js->('document.getElementById("progress").innerText.replace(/\s+/g, " ").trim()'), 'Core pages read: 1 of 2 Exercises solved: 1 of 2', 'another page knows what was ticked');
is($js->('[...document.querySelectorAll("#site-contents .read")].map(one => one.textContent).join()'), '01 First', 'and so do its contents');
opened('01_first/index.html');
is($js->('[...document.querySelectorAll("td input")].map(one => one.checked).join() + document.querySelector("textarea").value'), 'false,truetwo npp', 'ticks and predictions are kept');
$js->('document.getElementById("measure").scrollIntoView(true), document.body.style.paddingBottom = "90vh", scrollTo(0, document.getElementById("measure").offsetTop)');
ok(wait_for('document.querySelector("#site-contents [aria-current=location]")?.textContent === "Measure"'), 'the contents follow the scroll');

# terms
$js->('scrollTo(0, 0), document.querySelector("main a[href*=glossary]").click()');
ok(wait_for('document.getElementById("term").matches(":popover-open")'), 'a term opens where it is used');
like($js->('location.pathname + document.getElementById("term").textContent'), qr{/01_first/index\.html.*Tile.*A part, up to a barrier}s, 'with its entry');
$js->('document.querySelector("#term a[href*=barrier]").click()');
ok(wait_for('document.querySelector("#term h3").textContent === "Barrier"'), 'whose words open, too');
opened('docs/glossary.html');
is($js->('[...document.querySelectorAll(".letters a")].map(one => one.textContent + one.hash).join()'), 'B#barrier,T#tile', 'the glossary has letters');
$js->('(box => { box.value = "up to"; box.dispatchEvent(new Event("input")); })(document.querySelector(".letters input"))');
is($js->('[...document.querySelectorAll("main h3:not([hidden])")].map(one => one.id).join()'), 'tile', 'and a filter');

# search
opened('index.html');
typed('/__syncthreads wait');
ok(wait_for('document.querySelector("#found a")'), 'something is found');
is($js->('document.querySelector("#found a").textContent'), '01 First: Measure', 'where the core first speaks of it');
is($js->('[...document.querySelectorAll("#found li:first-child mark")].map(one => one.textContent).join()'), '__syncthreads,wait', 'all words are marked');
like($js->('document.querySelector("#found li").textContent'), qr/y_l = x_l is right/, 'a formula keeps its blanks');

# a player
for my $width (1300, 390) {
    $browser->look(width => $width);
    opened('01_first/index.html');
    $js->('(frame => { frame.loading = "eager"; frame.scrollIntoView(); })(document.querySelector("iframe"))');
    ok(wait_for('document.querySelector("iframe").style.height > ""'), "at $width pixels the player says how high it is");
}
opened('01_first/figures/race.html#step=1&panels=shared');
is($js->('[...document.querySelectorAll("section:not(.folded) > h2 > .fold")].filter(one => one.offsetParent).map(one => one.textContent).join()'), 'Shared memory',
    'it opens with the panel that the text speaks of');
$js->('(runs => { runs.value = 1; runs.dispatchEvent(new Event("change")); })(document.getElementById("run"))');
is($js->('player.state().run'), 1, 'a run is chosen from a list');

# colours
$browser->look;
opened('01_first/index.html');
$js->('document.getElementById("colours").click()');
opened('02_second/index.html');
is($js->('getComputedStyle(document.body).backgroundColor'), 'rgb(13, 17, 23)', 'dark stays dark on the next page');
is_deeply([$browser->messages], [], 'all of it without a message');

undef $browser;

# the book
($status, undef, $err) = run_program($^X, "$home/common/pages/site/site.pl", '--book');
is("$status$err", '0', 'the book is printed');
my %number = (read_file('build/obj/site/book.html') // '') =~ /<a href="#(\w+)" data-page="(\d+)">/g;
is(join(' ', map { $number{$_} // '?' } qw(index_html 01_first_index_html 01_first_further_more_html 02_second_index_html docs_glossary_html)), '2 3 4 5 6',
    'its contents have page numbers');

done_testing;
