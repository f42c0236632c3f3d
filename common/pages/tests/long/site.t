# SPDX-License-Identifier: MIT
# The course as a site: every text is a page, every link and anchor leads somewhere, nothing comes from elsewhere, and a
# browser shows all pages without a complaint, light and dark, narrow and wide, and finds what one searches.
use strict;
use warnings;
use lib 'common/pages', 'common/base';
use Browser;
use Run;
use Test::More;
use Texts;

if ((run_program('sh', '-c', 'command -v pandoc'))[0] ne 0) {
    die "pandoc is not here, and on CI it must be\n" if $ENV{CI};
    plan skip_all => 'pandoc is not here, which makes the site: install pandoc';
}
my ($status, $out, $err) = run_program($^X, 'common/pages/site/site.pl');
is("$status$err", '0', 'the site is made') or die "there is no site\n";
my @secret = qw(docs/teach/quiz/04.html docs/teach/keys/04.html docs/teach/answers.html);
is(join(' ', grep { -f "build/site/$_" } @secret), '', 'without what a class should not find');
my @dead = grep { (read_file($_) // '') =~ m{href="[^"]*(?:quiz/|keys/|answers\.html)} } glob 'build/site/docs/teach/*.html build/site/docs/teach/*/*.html';
is("@dead", '', 'and without links to that');
($status, $out, $err) = run_program($^X, 'common/pages/site/site.pl', '--teacher');
is("$status$err", '0', 'the site for teachers is made') or die "there is no site\n";
is(join(' ', grep { !-f "build/site/$_" } @secret), '', 'with all that they need');

my @texts = texts();
my %page_of = map { $_ => s{README\.md$}{index.md}r =~ s{\.md$}{.html}r } @texts;
my @pages = split /\n/, `cd build/site && find . -name '*.html' | sed 's,^\\./,,' | sort`;
my %html = map { $_ => read_file("build/site/$_") } @pages;

# ---- the texts ----

my %in_contents = map { $_ => 1 } $html{'index.html'} =~ m{<a href="([^"#]+)"}g;
my %to_teach = map { $_ => 1 } $html{'docs/teach/index.html'} =~ m{<a href="\.\./\.\./([^"#]+)"}g;
for my $text (@texts) {
    ok(($text =~ m{^docs/teach/} ? $to_teach{ $page_of{$text} } : $in_contents{ $page_of{$text} }), "$text is in the contents") or next;
    my $html = $html{ $page_of{$text} };
    my $markdown = read_text($text) =~ s/^ *(```+).*?^ *\1$//gmsr =~ s/<!--.*?-->//gsr =~ s/`[^`]+`//gr; # tables have formulas, too
    my $formulas = () = $markdown =~ /\$\$.*?\$\$|\$[^\$]+\$/gs;
    is(() = $html =~ /<math /g, $formulas, "$text: all $formulas formulas are MathML");
    my %has = map { $_ => 1 } $html =~ m{<main.*?</main>}s ? $& =~ / id="([^"]+)"/g : ();
    my @missing = grep { !$has{$_} } sort keys %{ anchors(read_text($text)) };
    is_deeply(\@missing, [], "$text has the anchors that it has on GitHub");
}

# ---- links, of all pages ----

my (%anchors, @twice, @nowhere, @elsewhere);
for my $page (@pages) {
    $anchors{$page}{$_}++ for $html{$page} =~ / id="([^"]+)"/g;
    push @twice, map { "$page#$_" } grep { $anchors{$page}{$_} > 1 } sort keys %{ $anchors{$page} };
}
my $links = 0;
for my $page (@pages) {
    for my $link ($html{$page} =~ / (?:href|src)="([^"]*)"/g) {
        next if $link =~ /^(?:https?|mailto|data):/;
        my ($to, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
        my $path = $to eq '' ? $page : $page =~ s{[^/]*$}{$to}r;
        1 while $path =~ s{(?:^|(?<=/))(?!\.\./)[^/]+/\.\./}{};
        $links++;
        my $is_moment = $anchor =~ /\bstep=\d/; # a page that plays a kernel begins there (docs/watch.md)
        push @nowhere, "$page: $link" if !-f "build/site/$path" || $anchor ne '' && !$is_moment && !$anchors{$path}{$anchor};
    }
    push @elsewhere, map { "$page: $_" } grep { m{=["']?(?:https?:)?//} }
        $html{$page} =~ /<(?:script|link|img|iframe)[^>]*>/g;
}
cmp_ok($links, '>', 100 * @texts, 'there are links to look at');
is_deeply(\@nowhere, [], 'every link and every anchor leads somewhere');
is_deeply(\@twice, [], 'no page has an anchor twice');
is_deeply(\@elsewhere, [], 'no page loads anything from elsewhere');
unlike(read_file("build/site/$_") =~ s{//.*}{}gr, qr{https?:|\@import}, "nor does $_") for qw(style.css site.js);

# ---- in a browser ----

SKIP: {
    skip Browser::missing(), 1 if !Browser::path;
    my $browser = Browser->start;
    my $js = sub { $browser->js(@_) };
    my $wait_for = sub {
        my ($what) = @_;
        for (1 .. 500) {
            return if eval { $js->($what) }; # it dies while a page is left
            select undef, undef, undef, 0.02;
        }
        fail("waited in vain for $what");
    };

    for my $width (360, 1300) {
        $browser->look(width => $width, dark => $width < 1000);
        my (@complaints, @wide, @broken);
        # a page that fits into a narrow window fits into a wide one, but for what lies beside it there: that is alike for all pages of a folder
        for my $page (grep { $width < 1000 || /index\.html$/ } map { $page_of{$_} } @texts) {
            $browser->open("build/site/$page");
            push @wide, $page if $js->('document.documentElement.scrollWidth') > $width;
            push @broken, @{ $js->('[...document.images].filter(image => !image.naturalWidth)
                .map(image => image.src)') };
            push @complaints, map { "$page: $_" } $browser->messages;
        }
        is_deeply(\@complaints, [], "at $width pixels pages are shown without a complaint");
        is_deeply(\@wide, [], 'none is wider than the window');
        is_deeply(\@broken, [], 'and all pictures are there');
    }

    my $brightness = 'getComputedStyle(document.body).backgroundColor.match(/\d+/g)
        .reduce((sum, part) => sum + +part, 0)';
    $browser->open('build/site/03_tile/index.html');
    cmp_ok($js->($brightness), '>', 600, 'light paper');
    $browser->look(dark => 1);
    cmp_ok($js->($brightness), '<', 150, 'dark paper');

    # with keys alone
    my $next = $js->('document.querySelector("a[rel=next]").href');
    $browser->press('n');
    $wait_for->("location.href === '$next' && document.readyState === 'complete'");
    $browser->press('p');
    $wait_for->('location.pathname.endsWith("/03_tile/index.html") && document.readyState === "complete"');
    pass('n and p turn the page');
    $browser->press($_) for '/', split(//, "little's law");
    $wait_for->('document.querySelector("#found a")');
    like($js->('document.querySelector("#found a").href'), qr{docs/glossary\.html#littles-law$},
        'what is searched is found');
    $browser->press('Enter');
    $wait_for->('document.querySelector(":target")');
    is($js->('document.querySelector(":target").textContent'), "Little's law", 'and opened');
    $browser->press($_) for '/', split(//, 'xyzzyx');
    $wait_for->('document.querySelector("#found li")');
    is($js->('document.querySelector("#found").textContent'), 'No page has this word.', 'what is nowhere is not found');
    $browser->open('build/site/03_tile/index.html');
    $js->('document.querySelector("summary").focus()');
    $browser->press('Enter');
    ok($js->('document.querySelector("details").open'), 'Enter unfolds an answer');
    my $contents_are_shown = 'document.querySelector("[aria-current]").checkVisibility()';
    $browser->look(width => 360);
    $browser->open('build/site/03_tile/index.html#site-contents');
    ok($js->($contents_are_shown), 'in a narrow window the contents are opened by their link');
    $browser->press('Escape');
    ok(!$js->($contents_are_shown), 'and closed by Escape');
}

done_testing;
