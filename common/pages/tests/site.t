# SPDX-License-Identifier: MIT
# make site, on a course of a few pages: their order, links, anchors, formulas, figures, players and files; what is made
# again, and what is refused. long/site.t is for the real pages.
use strict;
use warnings;
use lib 'common/pages', 'common/base';
use Cwd 'getcwd';
use File::Path 'make_path';
use Run;
use Test::More;

my $script = getcwd() . '/common/pages/site/site.pl';
my $root = scratch('course');
mkdir $root;
chdir $root;
END { chdir '/' }

sub site { return run_program($^X, $script, @_) }
sub page { return read_file("build/site/$_[0]") // '' }
sub file {
    my ($path, $text) = @_;
    make_path($path =~ s{[^/]*$}{}r || '.');
    return write_file($path, $text);
}

{
    local $ENV{PATH} = '/nowhere';
    refuses('without pandoc', qr/^The pages are made by pandoc.*install pandoc/, $^X, $script);
}
if ((run_program('sh', '-c', 'command -v pandoc'))[0] ne 0) {
    die "pandoc is not here, and on CI it must be\n" if $ENV{CI};
    SKIP: { skip 'pandoc is not here, which makes the site: install pandoc', 1 }
    done_testing;
    exit;
}

file('README.md', <<"END");
# The course

It is "short", but as long as what a search engine shows of a page. [one](01_first/README.md) [notes](docs/notes.md#a--b-c)

<!-- core: list 01_first/README.md 02_second.md -->
<!-- end -->
END
file('02_second.md', "# 02 Second\n\nThe [tile](docs/glossary.md#tile).\n");
file('docs/glossary.md', "# Glossary\n\n### Tile\n\nSee [here](../01_first/README.md), [there](#other).\n\n### Other\n\nNone.\n");
file('01_first/README.md', <<"END");
# 01 First

[then](then.md) [earlier](earlier.md), [kernel](kernel.cu), [drawer](../common/base)

## What is `int x`?

${\join ' ', ('word') x 500} \$x_1\$

\$\$y = \\sum_{l=0}^n x_l\$\$

```cpp
${\join ' ', ('int listed;') x 30}
```

```text
a short one
```

```text
${\join ' ', ('an error of many words') x 10}
```

![a figure](figures/still.svg) ![moves](figures/race.svg)

<details><summary>Answers</summary>

1. folded

</details>

## Exercises

| exercise | goal |
|---|---|
| 01.1 Count | numbers |

<!-- core: next -->
Next: [02 Second](../02_second.md).
<!-- end -->
END
file('01_first/earlier.md', "# Earlier by name, later in the text\n");
file('01_first/then.md', "# Then\n\n${\join ' ', ('word') x 512}\n\n[up](README.md#what-is-int-x) [outside](https://example.org/x.md)\n");
file('01_first/kernel.cu', "/* </script> & \"quoted\" */\n__global__ void k() {}\n~~~~~~~~\n");
file("01_first/figures/$_.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>') for qw(still race);
file('build/watch/01_first/figures/race.html', '<title>a player</title>');
file('docs/notes.md', "# Notes\n\n## A & b, c\n\ntext\n");
file('docs/teach/README.md', "# To teach\n\n[second](keys/02.md) [first](keys/01.md)\n");
file("docs/teach/keys/0$_.md", "# Key $_\n") for 1, 2;
file('common/base/error.c', "int error;\n");
file('common/base/data.bin', "1\n");

my ($status, $out, $err) = site('--teacher');
is("$status$err", '0', 'the site is made');
is($out, "build/site/index.html: 10 texts, 2 files that they link to\n", 'it says where, and of what');

# where one is
my $first = page('01_first/index.html');
my @order = qw(index.html 01_first/index.html 01_first/then.html 01_first/earlier.html 02_second.html
    docs/notes.html docs/glossary.html docs/teach/index.html);
my ($contents) = $first =~ m{<nav id="site-contents".*?</nav>}s ? $& : '';
my @found = $contents =~ m{<a href="\.\./([^"]*)"}g;
is_deeply(\@found, \@order, 'the contents have all texts, in the order of their links; of those to teach the first');
@found = page('docs/teach/keys/01.html') =~ m{<li[^>]*><a href="(?:\.\./)*(docs/teach/[^"]*)"}g;
is_deeply(\@found, [map { "docs/teach/$_.html" } qw(index keys/02 keys/01)], 'which are all in the contents of each other');
like(page('docs/teach/keys/01.html'), qr{Start</a> &rsaquo; <a href="\.\./\.\./\.\./docs/teach/index\.html">To teach</a> &rsaquo; Key 1\.}, 'and name the first');
like($first, qr{<details open><summary><a href="\.\./01_first/index\.html" class="core" aria-current="page">01 First<}, 'they show where one is');
like($contents, qr{<details><summary>Beside the chapters}, 'the other parts are folded');
like($contents, qr{data-exercises="1"}, 'exercises are counted');
like($first, qr{<li class="section"><a href="#what-is-int-x">}, 'and the headings there');
like(page('01_first/then.html'), qr{index\.html">01 First</a> &rsaquo; Then\. About 3 minutes\.},
    'a page beside names its chapter; 514 words are three minutes');
unlike($first, qr{You are here}, 'a page of the core says itself where it is');
like(page('index.html'), qr{<a rel="next" href="01_first/index\.html">}, 'the first page leads to the core');
like($first, qr{<a rel="prev" href="\.\./index\.html">.*<a rel="next" href="\.\./02_second\.html">}, 'which leads to its next page');
unlike($first, qr{>Next: <a}, 'and the text does not say so a second time');
like(page('01_first/then.html'), qr{rel="prev" href="\.\./01_first/index\.html">.*rel="next" href="\.\./01_first/earlier\.html">},
    'beside the core the contents are followed');
like(page('index.html'), qr{<meta name="description" content="It is &quot;short&quot;, but as long as what a search engine shows of a page\. one notes">}, 'a page is described by how it begins');

# what is in the texts
like(page('index.html'), qr{href="docs/notes\.html#a--b-c"}, 'a link to a heading');
like(page('docs/notes.html'), qr{<h2 id="a--b-c">}, 'has the anchor that it has on GitHub');
like(page('01_first/then.html'), qr{href="https://example\.org/x\.md"}, 'a link to elsewhere stays as it is');
unlike(page('index.html'), qr{a marker}, 'comments stay at home');
is(() = $first =~ m{<math }g, 2, 'formulas are MathML');
like($first, qr{<span class="dt">int</span> listed}, 'listings are coloured');
like($first, qr{<pre class="text"><code>a short one}, 'an output of short lines stays as it is');
like($first, qr{<pre class="sentences"><code>an error}, 'one of long sentences wraps');
unlike($first, qr{<pre class="sentences"><code[^>]*>(?!an error)}, 'and a listing does not');
like($first, qr{<details><summary>Answers</summary>\s*<ol.*folded.*</details>}s, 'answers stay folded');
like($first, qr{<img src="\.\./01_first/figures/still\.svg" alt="a figure">}, 'a figure');
my $frame = qr{<iframe src="\.\./01_first/figures/race\.html" title="moves"};
my $still = qr{<img src="\.\./01_first/figures/race\.svg"};
like($first, qr{$frame.*$still}, 'a player, with its picture for paper');
is(page('01_first/figures/race.html'), '<title>a player</title>', 'which is there');
like(page('search.js'), qr{\["What is int x\?","what-is-int-x","word word.* y = \xE2\x88\x91 ?l=?}, 'what is searched; formulas keep their blanks');
like(page('search.js'), qr{^const search_data = \[\["01 First","01_first/index\.html",1,.*\["The course","index\.html",0,}, 'the core first');
like(page('terms.js'), qr{"tile":"<h3>Tile.*?<a href=\\"ROOT/01_first/index\.html\\">here</a>, <a href=\\"ROOT/docs/glossary\.html#other\\">there},
    'terms, with links from anywhere');

# what they link to
my $listed = page('01_first/kernel.cu.html');
like($listed, qr{<span id="L-1">.*&lt;/script&gt; &amp; &quot;quoted&quot;}, 'a source has numbered lines');
is(page('01_first/kernel.cu'), read_file('01_first/kernel.cu'), 'and is there as it is');
my $link = '<a href="../../common/base/error.c.html">error.c</a>';
like(page('common/base/index.html'), qr{<li>data\.bin</li>\n<li>\Q$link\E},
    'a folder is listed, its sources are pages');

# made again: what has changed
my $made_of = sub { return (stat "build/obj/site/$_[0].html")[1] };
my @before = map { $made_of->($_) } '01_first/then.md', 'docs/notes.md';
file('docs/notes.md', "# Notes, renamed\n\n## A & b, c\n");
utime time + 60, time + 60, 'docs/notes.md';
is((site())[0], 0, 'made again');
is($made_of->('01_first/then.md'), $before[0], 'what has not changed is not converted again');
isnt($made_of->('docs/notes.md'), $before[1], 'what has changed is');
like(page('01_first/then.html'), qr{>Notes, renamed</a>}, 'a new title is in the contents of all pages');

# refused: nothing is written
file('01_first/then.md', "# Then\n\n[gone](missing.md) ![no](figures/none.svg)\n");
utime time + 60, time + 60, '01_first/then.md';
($status, $out, $err) = site();
is($status, 2, 'a link that leads nowhere is refused');
is($err, join('', map { "01_first/then.md: $_ is not there, and linked to\n" } 'missing.md', 'figures/none.svg'),
    'and named');
like(page('01_first/then.html'), qr{>up</a>}, 'the site that was there stays');
refuses('an unknown option', qr/^usage: /, $^X, $script, '--pdf');
my $pandoc_alone = 'mkdir bin && ln -s "$(command -v pandoc)" bin && PATH=bin CHROMIUM=/nowhere exec "$@"';
refuses('a book without Chromium', qr/^The book is printed by Chromium.*install chromium/,
    '/bin/sh', '-c', $pandoc_alone, 'sh', $^X, $script, '--book');

done_testing;
