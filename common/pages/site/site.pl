#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# site.pl [--teacher | --book] - writes the course as a site into build/site: every text as a page, made by pandoc, and every file
# that a text links to as a coloured listing. It needs no server: open build/site/index.html. With --book it writes
# build/book.pdf instead: all texts in one file, printed by Chromium.
#
# Run from the repository's root (make site, make book). A text is found by being there (Texts.pm). Its place in the
# contents is beside the texts of its folder, in the order of their links in README.md. The pages for those who teach are in
# the contents of each other, and not in the book; quizzes, keys and answers are only there with --teacher. What pandoc makes of a file is
# kept in build/obj/site, and made anew when the file has changed. SITE_ADDRESS=https://... is where the site will be, for the
# picture that other sites show beside a link to it.
#
# A picture PATH.svg is shown as a page in a frame, if there is one at build/watch/PATH.html: NN_x/figures/race.svg as
# build/watch/NN_x/figures/race.html. It is the place for what plays a kernel; printed, it is the picture.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/..";
use File::Basename;
use File::Copy 'copy';
use File::Path qw(make_path remove_tree);
use JSON::PP;
use MIME::Base64;
use Browser;
use Core;
use Texts;

use constant { SITE => 'build/site', PARTS => 'build/obj/site', PLAYERS => 'build/watch', BOOK => 'build/book.pdf', GLOSSARY => 'docs/glossary.md' };
# for formulas where the reader's system has no font for them: Debian's fonts-dejavu-extra
use constant MATH => '/usr/share/fonts/truetype/dejavu/DejaVuMathTeXGyre.ttf';

sub refuse { print STDERR "$_[0]\n"; exit 2 }

my ($teacher, $book) = map { my $what = $_; @ARGV && $ARGV[0] eq $what ? shift @ARGV : '' } qw(--teacher --book);
refuse("usage: $0 [--teacher | --book]") if @ARGV;
`pandoc --list-extensions=gfm 2> /dev/null` =~ /tex_math_dollars/
    or refuse("The pages are made by pandoc 2.10 or later, which is not here: install pandoc (make setup SITE=1 does).");
refuse('The book is printed by Chromium, which is not here: install chromium (make setup SITE=1 does).')
    if $book && !Browser::path;

# Makes the folder of a file that is to be written.
sub folder_of {
    make_path(dirname($_[0]), { error => \my $failed });
    refuse(join ': ', 'cannot make a folder for the pages', %{ $failed->[0] }) if @$failed;
}

sub write_text {
    my ($path, $text) = @_;
    folder_of($path);
    open my $out, '>', $path or refuse("cannot write $path: $!");
    print $out $text;
    close $out or refuse("cannot write $path: $!");
}

# ---- paths: of files from the repository's root, of pages from the site's ----

# The path that a link in a text means.
sub resolve {
    my ($text, $link) = @_;
    my @path;
    for (split m{/}, dirname($text) . "/$link") {
        $_ eq '..' ? pop @path : $_ eq '.' ? () : push @path, $_;
    }
    return join '/', @path;
}

# The page of a text, of a folder, of another file. A picture is no page.
sub page_of {
    my ($path) = @_;
    return $1 . ($2 eq 'README' ? 'index' : $2) . '.html' if $path =~ m{^(.*/|)(\w+)\.md$};
    return -d $path ? "$path/index.html" : $path =~ /\.svg$/ ? $path : "$path.html";
}

# ---- what pandoc makes of texts and other files ----

my %language = (
    c => 'c', h => 'c', cu => 'c', cuh => 'c', cpp => 'cpp', # as C, CUDA is coloured five times as fast as as C++
    pl => 'perl', pm => 'perl', t => 'perl', sh => 'bash', py => 'python',
    mk => 'makefile', Makefile => 'makefile', ipynb => 'json', yml => 'yaml',
);
sub language { return $language{ ($_[0] =~ /(\w+)$/)[0] // '' } }

# Leaves in PARTS the HTML of each file: of a text the page, of a source a listing with numbered lines (#L-1 and so on),
# of another file its lines as they are.
sub convert {
    my @stale = grep { my $part = PARTS . "/$_.html"; !-f $part || -M $part > -M $_ || -M $part > -M $0 } @_;
    folder_of(PARTS . "/$_") for @stale;
    chomp(my $jobs = `nproc 2> /dev/null` || 2);
    for my $job (1 .. $jobs) {
        next if fork // die "fork: $!";
        convert_one($stale[$_]) for grep { $_ % $jobs == $job - 1 } 0 .. $#stale;
        exit 0;
    }
    my $failed = 0;
    $failed ||= $? while wait != -1;
    exit 2 if $failed;
}

sub convert_one {
    my ($path) = @_;
    my ($part, $content) = (PARTS . "/$path.html", read_text($path));
    my @how = ('--from=gfm+tex_math_dollars', '--mathml', '--wrap=preserve', '--fail-if-warnings');
    if ($path !~ /\.md$/) {
        my $language = language($path) or return write_text($part, '<pre>' . escaped($content) . "</pre>\n");
        my $fence = '~' x 40;
        $content = "$fence {#L .$language .numberLines}\n$content\n$fence\n";
        @how = ('--from=markdown', '--quiet'); # some sources it cannot colour
    }
    open my $pandoc, '|-', 'pandoc', @how, '--to=html5', "--output=$part.partial"
        or refuse("pandoc cannot be started: $!");
    print $pandoc $content;
    close $pandoc or refuse("$path: pandoc cannot convert it");
    rename "$part.partial", $part or refuse("$part: $!");
}

# Without comments, and in texts without pandoc's link for each line of a listing. An output whose lines are longer than any table's
# holds sentences, which wrap. Where a core page's text leads on, the site has its own links.
sub html_of {
    my $html = read_text(PARTS . "/$_[0].html");
    $html =~ s{<!-- core: next -->\s*<p>Next: .*?</p>}{}s if !$book;
    $html =~ s/<!--.*?-->//gs;
    $html =~ s{(<pre(?: class="text")?>)(?=((?:(?!</pre>).)*))}{
        my ($tag, $lines) = ($1, $2);
        $lines =~ s/<[^>]*>//gr =~ /^.{190}/m ? '<pre class="sentences">' : $tag;
    }gse;
    return $html =~ s{<span id="cb[\d-]+"><a href="#cb[\d-]+"[^>]*></a>}{<span>}gr =~ s/ id="cb\d+"//gr;
}

sub escaped { return $_[0] =~ s{&}{&amp;}gr =~ s{<}{&lt;}gr =~ s{"}{&quot;}gr }

# HTML as words. A formula is read as it is written: y_l = y_l-1 · c_l + x_l.
sub plain {
    my %character = (lt => '<', gt => '>', amp => '&', quot => '"', '#39' => "'");
    my $plain = $_[0] =~ s{<annotation.*?</annotation>}{}gsr;
    $plain =~ s{<msub>(<(\w+)[^>]*>[^<]*</\2>)}{$1_}g;
    $plain =~ s{<mo[^>]*>(=|\+|\xE2..|\xC2\xB7|\xC3\x97|&[lg]t;)</mo>}{ $1 }g; # of those beyond ASCII the bytes
    return join ' ', split ' ', $plain =~ s{<[^>]*>}{}gr =~ s/&(lt|gt|amp|quot|#39);/$character{$1}/gr;
}

# ---- the texts, in their order ----

# What a class should not find: left out, and named without a link.
sub is_secret { return !$teacher && $_[0] =~ m{^docs/teach/(?:(?:quiz|keys)(?:/|$)|answers\.md$)} }

my @texts = grep { (!$book || part_of($_) ne 'teach') && !is_secret($_) } texts();
convert(@texts);
my %html = map { $_ => html_of($_) } @texts;
my %title = map { $_ => $html{$_} =~ m{<h1[^>]*>(.*?)</h1>}s ? plain($1) : $_ } @texts;

# The parts of the contents: the start, the chapters, what is beside them, what is inside, what teachers need.
sub part_of {
    my ($text) = @_;
    return $text =~ m{^(\d\d_\w+)} ? $1 : $text eq 'README.md' ? 0 : $text =~ m{^common} ? 'inside' : $text =~ m{^docs/teach/} ? 'teach' : 'beside';
}
my %heading = (beside => 'Beside the chapters', inside => 'Inside', teach => 'To teach');

# The text whose links give a part's texts their order.
sub index_of {
    my ($part) = @_;
    return $part =~ /^\d\d/ ? "$part/README.md" : $part eq 'teach' ? 'docs/teach/README.md' : 'README.md';
}
my %place;
for my $text (@texts) {
    my $part = part_of($text);
    my $index = index_of($part);
    my $at = index $html{$index} // '', 'href="' . link_to($index, $text); # -1 where there is no such link
    $place{$text} = sprintf '%s %d %07d %s', $part, $text eq $index ? 0 : $at < 0 ? 2 : 1, $at + 1, $text;
}
@texts = sort { $place{$a} cmp $place{$b} } @texts;

# The core, whose pages lead from one to the next. All others lead to their neighbours in the contents.
my @core = grep { $html{$_} } Core::pages();
my %in_core = map { $_ => 1 } @core;
sub neighbours {
    my ($text) = @_;
    my @way = $in_core{$text} || $text eq Core::FRONT ? (Core::FRONT, @core) : @texts;
    my ($at) = grep { $way[$_] eq $text } 0 .. $#way;
    my $next = $way[$at + 1] // $texts[(grep { $texts[$_] eq $text } 0 .. $#texts)[0] + 1];
    return ($at > 0 ? $way[$at - 1] : undef, $next);
}
my %exercises = map { $_ => 1 } map { $html{$_} =~ m{<tr[^>]*>\s*<td[^>]*>(\d\d\.\d+) }g } grep { /^\d\d_/ } @texts;

# ---- links and pictures ----

my (%linked, @nowhere);

# A file that a text links to gets a page, and so do the sources in a folder that has no text.
sub note {
    my ($path) = @_;
    return if $html{$path} || $linked{$path}++ || !-d $path;
    note($_) for grep { -f && language($_) } glob "$path/*";
}

# Where a link of a text leads in the site, or in the book; undef for what is not in it.
sub target {
    my ($text, $root, $link, $anchor) = @_;
    my $path = $link eq '' ? $text : resolve($text, $link);
    $path .= '/README.md' if $html{"$path/README.md"};
    push @nowhere, "$text: $link" if !-e $path;
    return undef if is_secret($path);
    note($path);
    return ($link eq '' ? '' : $root . page_of($path)) . $anchor if !$book;
    return $html{$path} ? '#' . id($path) . ($anchor =~ s/^#/-/r) : undef;
}

sub picture {
    my ($text, $root, $link, $says) = @_;
    my $path = resolve($text, $link);
    push @nowhere, "$text: $link" if !-f $path;
    my $picture = qq(<img src="$root$path" alt="$says">);
    return $picture if $book || !-f $path;
    copy_to_site($path, $path);
    my $player = $path =~ s/\.svg$/.html/r;
    return $picture if !-f PLAYERS . "/$player";
    copy_to_site(PLAYERS . "/$player", $player);
    my $start = PLAYERS . '/' . ($path =~ s/\.svg$/.start/r); # the moment that the text speaks of
    $player .= '#' . (read_text($start) =~ s/\s+\z//r =~ s/&/&amp;/gr) if -f $start;
    my $whole = $player =~ s/&amp;panels=[\w,]*//r;
    return qq(<span class="player"><iframe src="$root$player" title="$says" loading="lazy"></iframe>)
        . qq(<a href="$root$whole">In a window of its own</a>$picture</span>);
}

# A text's HTML with its links and pictures as they are in the site, or in the book.
sub linked {
    my ($text, $root) = @_;
    my $html = $html{$text};
    $html =~ s{ id="}{' id="' . id($text) . '-'}ge if $book;
    $html =~ s{<a href="(?!\w+:)([^"#]*)(#[^"]*)?"[^>]*>(.*?)</a>}{
        my ($words, $to) = ($3, target($text, $root, $1, $2 // ''));
        defined $to ? qq(<a href="$to">$words</a>) : $words;
    }gse;
    $html =~ s{<img src="([^"]*)" alt="([^"]*)" />}{picture($text, $root, $1, $2)}ge;
    return $html;
}

my %page_number; # in the book

# The contents: each part of the course folds, and the one of the text that is shown is open, with that text's headings.
sub contents {
    my ($shown, $root) = @_;
    my (%in, @parts);
    for my $text (@texts) {
        my $part = part_of($text);
        push @parts, $part if !$in{$part};
        push @{ $in{$part} }, $text if $part ne 'teach' || part_of($shown) eq 'teach' || !$in{$part};
    }
    my $contents = '';
    for my $part (@parts) {
        my ($first, @rest) = $heading{$part} ? ($heading{$part}, @{ $in{$part} }) : @{ $in{$part} };
        my $top = $heading{$part} ? $first : entry($first, $shown, $root);
        my $within = join '', $heading{$part} ? () : headings($first, $shown),
            map { '<li>' . entry($_, $shown, $root) . "</li>\n", headings($_, $shown) } @rest;
        my $open = $book || part_of($shown) eq $part ? ' open' : '';
        $contents .= $within eq '' ? "<li>$top</li>\n"
            : "<li><details$open><summary>$top</summary>\n<ol>\n$within</ol></details></li>\n";
    }
    return $contents;
}

sub entry {
    my ($text, $shown, $root) = @_;
    my $href = $book ? '#' . id($text) : $root . page_of($text);
    my $number = $page_number{ id($text) } // '';
    return qq(<a href="$href" data-page="$number">$title{$text}</a>) if $book;
    my $look = ($in_core{$text} ? ' class="core"' : '') . ($text eq $shown ? ' aria-current="page"' : '');
    return qq(<a href="$href"$look>$title{$text}</a>);
}

sub headings {
    my ($text, $shown) = @_;
    return '' if $text ne $shown;
    my $headings = '';
    $headings .= qq(<li class="section"><a href="#$1">$2</a></li>\n) while $html{$text} =~ m{<h2 id="([^"]*)">(.*?)</h2>}gs;
    return $headings;
}

sub id { return page_of($_[0]) =~ tr{a-zA-Z0-9}{_}cr }
sub root_of { return '../' x ($_[0] =~ tr{/}{}) }
sub fill { my ($template, %value) = @_; return read_text("$FindBin::Bin/$template") =~ s/\{\{(\w+)\}\}/$value{$1}/gr }

# ---- the site ----

sub copy_to_site {
    my ($from, $to) = ($_[0], SITE . ".partial/$_[1]");
    folder_of($to);
    copy($from, $to) or refuse("cannot write $to: $!");
}

sub link_from { my ($root, $path, $words) = @_; return qq(<a href="$root${\page_of($path)}">$words</a>) }

# here: where the reader is. A core page says that itself.
sub write_page {
    my ($path, %value) = @_;
    my $root = root_of(page_of($path));
    my $chapter = index_of(part_of($path));
    my @above = $html{$chapter} && $chapter ne $path && $chapter ne 'README.md' ? link_from($root, $chapter, $title{$chapter}) : ();
    my $here = join ' &rsaquo; ', link_from($root, 'README.md', 'Start'), @above, $value{title};
    my $minutes = $html{$path} ? ' About ' . minutes(read_text($path)) . ' minutes.' : '';
    my ($first) = grep { length > 60 } map { plain($_) } $value{body} =~ m{<p>(\w.*?)</p>}gs; # the first paragraph that says something
    write_text(SITE . '.partial/' . page_of($path), fill('page.html', turn => '', %value,
        course => $title{'README.md'}, root => $root, contents => contents($path, $root), page => page_of($path),
        here => $in_core{$path} || $path eq Core::FRONT ? '' : qq(<p class="here">You are here: $here.$minutes</p>), exercises => scalar keys %exercises,
        address => $ENV{SITE_ADDRESS} ? $ENV{SITE_ADDRESS} =~ s{/*$}{/}r : $root,
        description => escaped(($first // $value{title}) =~ s/^(.{1,200})\b.*/$1/sr)));
}

sub write_texts {
    for my $text (@texts) {
        my $root = root_of(page_of($text));
        my ($previous, $next) = neighbours($text);
        my $turn = '';
        $turn .= link_from($root, $previous, "Before: $title{$previous}") =~ s/ / rel="prev" /r if defined $previous;
        $turn .= link_from($root, $next, "Next: $title{$next}") =~ s/ / rel="next" /r if defined $next;
        write_page($text, title => $title{$text}, body => linked($text, $root), turn => $turn);
    }
}

sub write_files {
    my @files = grep { !-d } sort keys %linked;
    convert(@files);
    for my $path (@files) {
        copy_to_site($path, $path);
        write_page($path, title => $path, body => "<h1>$path</h1>\n" . html_of($path)
            . '<p><a href="' . basename($path) . '">The file itself</a></p>');
    }
    for my $folder (grep { -d } sort keys %linked) {
        my $root = root_of(page_of($folder));
        my @in = map { my $name = basename($_) . (-d $_ ? '/' : ''); $linked{$_} ? link_from($root, $_, $name) : $name }
            glob "$folder/[!_]*";
        my $list = join '', map { "<li>$_</li>\n" } @in;
        write_page($folder, title => $folder, body => "<h1>$folder</h1>\n<ul>\n$list</ul>");
    }
    return scalar @files;
}

# What is searched: [title, page, whether it is of the core, [[heading, anchor, text], ...]] for each text, the core's in its order.
sub write_index {
    my @index;
    for my $text (@core, grep { !$in_core{$_} } @texts) {
        my @sections;
        push @sections, [plain($2), $1, plain($3)]
            while $html{$text} =~ m{<h[1-6] id="([^"]*)">(.*?)</h[1-6]>(.*?)(?=<h[1-6] id="|\z)}gs;
        push @index, [$title{$text}, page_of($text), $in_core{$text} // 0, \@sections];
    }
    write_data('search', \@index);
}

# The entries of the glossary, which open where their words are used: anchor => HTML, with links from the site's root, which is ROOT/.
sub write_terms {
    my $html = $html{+GLOSSARY} ? linked(GLOSSARY, 'ROOT/') =~ s{ href="#}{' href="ROOT/' . page_of(GLOSSARY) . '#'}ger : '';
    my %entries = $html =~ m{<h3 id="([^"]*)">(.*?</h3>.*?)(?=<h[1-6] id="|\z)}gs;
    $_ = "<h3>$_" for values %entries;
    write_data('terms', \%entries);
}

# As a script, because a page from a file may read no other.
sub write_data {
    my ($name, $data) = @_;
    write_text(SITE . ".partial/$name.js", "const ${name}_data = " . JSON::PP->new->canonical->encode($data) . ";\n");
}

sub write_site {
    remove_tree(SITE . '.partial');
    write_texts();
    refuse(join "\n", map { "$_ is not there, and linked to" } @nowhere) if @nowhere;
    my $files = write_files();
    write_index();
    write_terms();
    my $style = read_text("$FindBin::Bin/style.css");
    if (-f MATH) {
        copy_to_site(MATH, 'math.ttf');
        $style .= qq(\@font-face { font-family: "Course Math"; src: url("math.ttf"); }\n);
    }
    write_text(SITE . '.partial/style.css', $style);
    copy_to_site("$FindBin::Bin/$_", $_) for qw(site.js icon.svg preview.png);
    remove_tree(SITE);
    rename SITE . '.partial', SITE or refuse('cannot write ' . SITE . ": $!");
    print SITE, '/index.html: ', scalar @texts, " texts, $files files that they link to\n";
}

# ---- the book ----

# Where the anchors of a PDF are: anchor => its page's number. Chromium writes what is not a page's content as plain text.
sub pages_of {
    my ($pdf) = @_;
    my %kids = $pdf =~ m{^(\d+) 0 obj\n<</Type /Pages\b[^>]*?/Kids \[([^\]]*)\]}gm;
    my @order = $pdf =~ m{/Type /Catalog\b[^>]*?/Pages (\d+) 0 R};
    @order = map { $kids{$_} ? $kids{$_} =~ /(\d+) 0 R/g : $_ } @order while grep { $kids{$_} } @order;
    my %number = map { $order[$_] => $_ + 1 } 0 .. $#order;
    my %page = $pdf =~ m{/(\w+) \[(\d+) 0 R /XYZ }g;
    return map { $_ => $number{ $page{$_} } } keys %page;
}

sub write_book {
    my $path = PARTS . '/book.html';
    my $body = join '', map { qq(<section id="${\id($_)}">\n) . linked($_, root_of($path)) . "</section>\n" } @texts;
    my $browser = Browser->start;
    my %how = (preferCSSPageSize => \1, printBackground => \1, generateTaggedPDF => \1, generateDocumentOutline => \1);
    my $pdf;
    for (1, 2) { # the second time with the pages' numbers in the contents
        write_text($path, fill('book.html', title => $title{'README.md'}, contents => contents('', ''),
            style => read_text("$FindBin::Bin/style.css"), body => $body =~ s/<details>/<details open>/gr));
        $browser->open($path);
        $pdf = decode_base64($browser->command('Page.printToPDF', \%how)->{data});
        %page_number = pages_of($pdf);
    }
    write_text(BOOK, $pdf);
    print BOOK, ": all texts but those for teachers\n";
}

$book ? write_book() : write_site();
