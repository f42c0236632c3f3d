# SPDX-License-Identifier: MIT
# make slides, on a course of one deck: a file that needs nothing beside it, keys, paper, and what is refused. long/slides.t
# is for the real decks.
use strict;
use warnings;
use lib 'common/pages', 'common/base';
use Browser;
use Cwd 'getcwd';
use File::Path 'make_path';
use MIME::Base64;
use Run;
use Test::More;

my $script = getcwd() . '/common/pages/slides/slides.pl';
my $root = scratch('course');
make_path("$root/docs/teach/slides", "$root/figures");
chdir $root;
END { chdir '/' }

write_file('docs/teach/slides/01.md', <<'END');
# 1 · The first

**A question?**

## A formula, a [link](../../../kernel.cu) and [another](https://example.org/)

$y_l = x_l$ <!-- value -->7<!-- end --> `code`

<!-- listing: kernel.cu -->
```cpp
int listed;
```

*[kernel.cu](../../../kernel.cu)*

<!-- end -->

## A picture

![a blue square](../../../figures/blue.svg)
END
my $blue = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="#00f"/></svg>';
write_file('figures/blue.svg', $blue);

{
    local $ENV{PATH} = '/nowhere';
    refuses('without pandoc', qr/^The slides are made by pandoc.*install pandoc/, $^X, $script);
}
refuses('an unknown option', qr/^usage: /, $^X, $script, '--pdf');
if ((run_program('sh', '-c', 'command -v pandoc'))[0] ne 0) {
    die "pandoc is not here, and on CI it must be\n" if $ENV{CI};
    SKIP: { skip 'pandoc is not here, which makes the slides: install pandoc', 1 }
    done_testing;
    exit;
}

my ($status, $out, $err) = run_program($^X, $script);
is("$status$err", '0', 'the slides are made');
like($out, qr{^build/slides/01\.html to 01\.html: slides for 1 sessions}, 'it says where');
my $html = read_file('build/slides/01.html') // '';
is(() = $html =~ /<section /g, 3, 'a slide for each heading');
like($html, qr{<title>1 · The first</title>}, 'the title');
like($html, qr{<math }, 'a formula');
like($html, qr{<span class="dt">int</span> listed}, 'a listing in colours');
unlike($html, qr{<!-- (?:value|listing)}, 'markers stay at home');
like($html, qr{a link and <a\s+href="https://example\.org/"}, 'a link to a file beside it is words, one to elsewhere a link');
like($html, qr{src="data:image/svg\+xml;base64,\Q${\encode_base64($blue, '')}\E"}, 'the picture is in the file');
my @asked = $html =~ /(?:src|href)="(?!data:|https:|#)([^"]*)"/g;
is_deeply(\@asked, [], 'and nothing else is needed');

SKIP: {
    skip Browser::missing(), 1 if !Browser::path;
    my $browser = Browser->start;
    my $shown = sub { $browser->js('[...document.querySelectorAll("section")].findIndex(s => getComputedStyle(s).visibility === "visible") + 1') };
    my $ready = 'new Promise(done => { const look = () => document.documentElement.dataset.ready ? done() : setTimeout(look, 20); look() })';
    $browser->open('build/slides/01.html');
    $browser->js($ready);
    is($shown->(), 1, 'it begins with the title');
    my @walk = map { $browser->press($_); $shown->() } qw(ArrowRight ArrowRight ArrowRight ArrowLeft Home PageUp End);
    is_deeply(\@walk, [2, 3, 3, 2, 1, 1, 3], 'keys turn the slides, and stop at the ends');
    $browser->open('build/slides/01.html#2');
    $browser->js($ready);
    is($shown->(), 2, 'a link may name a slide');
    is_deeply([$browser->messages], [], 'without a complaint, and without a server');
    my $pdf = decode_base64($browser->command('Page.printToPDF', { preferCSSPageSize => \1 })->{data});
    is(() = $pdf =~ m{/Type\s*/Page\b}g, 3, 'on paper each slide is a page');
}

# ---- a picture whose labels would be too small is shown from closer by, too ----

my $tall = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 700" width="700" height="700"><text font-size="11" y="99">small</text></svg>';
write_file('figures/tall.svg', $tall);
write_file('docs/teach/slides/01.md', "# T\n\n## Tall\n\n![tall](../../../figures/tall.svg)\n\n## Next\n\nend\n");
is((run_program($^X, $script))[0], 0, 'a tall picture');
$html = read_file('build/slides/01.html') // '';
my @headings = map { s/\s+/ /gr } $html =~ m{<h2[^>]*>(.*?)</h2>}gs;
is_deeply(\@headings, ['Tall', 'Tall: closer (part 1 of 2)', 'Tall: closer (part 2 of 2)', 'Next'], 'is followed by its parts');
my @views = map { decode_base64($_) =~ /viewBox="([^"]*)"/ ? $1 : '' } $html =~ m{src="data:image/svg\+xml;base64,([^"]*)"}g;
is_deeply(\@views, ['0 0 700 700', '0.0 0.0 700.0 376.4', '0.0 323.6 700.0 376.4'], 'which together are all of it');
write_file('figures/tall.svg', $tall =~ s/"11"/"21"/r);
run_program($^X, $script);
is(() = (read_file('build/slides/01.html') // '') =~ /: closer/g, 0, 'with larger labels there are none');

write_file('docs/teach/slides/01.md', "no title\n");
refuses('a deck without a title', qr/^docs\/teach\/slides\/01\.md does not begin with a title/, $^X, $script);
unlink 'docs/teach/slides/01.md';
refuses('no slides', qr/^There are no slides here/, $^X, $script);
done_testing;
