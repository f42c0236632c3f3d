# SPDX-License-Identifier: MIT
# The rooms of common/ (common/README.md has the map): a file takes from its own room and from those below it, nothing in common names a
# chapter, and no chapter takes from a later one.
use strict;
use warnings;
use lib 'common/tests';
use File::Spec::Functions 'canonpath';
use Linrec;
use Test::More;

# Whose files each room may include or use beside its own. What a room's programs are told on the command line is no concern of this.
my @below_judge = qw(base cuda harness linrec);
my %takes = (
    build => [], base => [], cuda => [],
    harness => [qw(base cuda)],
    linrec  => [qw(base cuda harness)],
    judge   => [@below_judge],
    pages   => [],
    plot    => [qw(pages)],
    record  => [@below_judge, 'pages'],
    tests   => undef, # they cross all: from everywhere
);
# Of the simulator, which is a program of its own, the course knows its commands, its headers, and one header of counts. Under CUSIM these ask it what it
# has counted; chapters' judges do, too. These two ask its estimate, by one module.
my %asks_simulator = map { $_ => 1 } qw(harness linrec judge record);
my %asks_estimate = map { $_ => 1 } qw(judge record);

my @files = grep { -f } split /\n/, `git ls-files -co --exclude-standard 2> /dev/null` || `find . -path ./build -prune -o -type f -print | sed 's,^\\./,,'`;
my @common = grep { m{^common/} } @files;
cmp_ok(scalar @common, '>', 150, 'the files of common are found');

# common/ROOM/... is of that room, but for tests beside it, which cross rooms as those of common/tests do; '' for what is none of common's.
sub room_of { return $_[0] =~ m{^common/(?:[^/]+/)?(tests)/} ? $1 : $_[0] =~ m{^common/([^/]+)/} ? $1 : '' }
sub chapter_of { return $_[0] =~ m{^([0-9][0-9]_\w+)/} ? $1 : '' }

# "x/y/../z" as "x/z": canonpath leaves .. alone.
sub plain {
    my ($path) = @_;
    $path = canonpath($path);
    1 while $path =~ s{(?:^|/)(?!\.\./)[^/]+/\.\.(?=/|$)}{};
    return $path =~ s{^/}{}r;
}

# ---- the map ----

is_deeply([grep { !m{^common/[^/]+/} } @common], [-f 'common/README.md' ? 'common/README.md' : ()], 'nothing but README.md and drawers at the root of common');
is_deeply([sort { $a cmp $b } keys %{ { map { m{^common/([^/]+)/} ? ($1 => 1) : () } @common } }], [sort keys %takes], 'and the drawers are those of the map');

my %headers;
push @{ $headers{ s{.*/}{}r } }, $_ for grep { m{\.(?:h|cuh)$} && room_of($_) ne 'tests' } @common;
is_deeply([map { "@$_" } grep { @$_ > 1 } values %headers], [], "a header's name exists once in common");

# ---- who takes from whom ----

# What a file takes: [path from the root, line, whether it stands under #ifdef CUSIM]. In angle brackets the simulator's own headers alone:
# all others are the toolkit's.
sub taken {
    my ($path) = @_;
    my $folder = $path =~ s{/[^/]*$}{}r;
    my $line = 0;
    my (@taken, @under);
    for (split /\n/, read_file($path)) {
        $line++;
        if ($path =~ m{\.(?:c|h|cu|cuh|cpp)$}) {
            push @under, $1 if /^\s*#\s*if(.*)/;
            $under[-1] = '' if @under && /^\s*#\s*el/; # the other branch is not under it
            pop @under if /^\s*#\s*endif/;
            my $under = scalar grep { /^def CUSIM\b/ } @under;
            push @taken, [plain("$folder/$1"), $line, $under] if /^\s*#\s*include\s+"([^"]+)"/;
            push @taken, ["cusim/include/$1", $line, $under] if /^\s*#\s*include\s+<(sim_\w+\.h)>/;
        } elsif ($path =~ m{\.(?:pl|pm|t)$} && /^\s*use lib\b(.*)/) {
            my $what = $1;
            push @taken, [plain("$folder/$1") . '/', $line, 0] while $what =~ m{\$FindBin::Bin/([\w./]+)}g;
            push @taken, ["$1/", $line, 0] while $what =~ m{['\s](common/\w+)}g;
            push @taken, ["$1/", $line, 0] while $what =~ m{(cusim/\w+)}g;
        } elsif ($path =~ m{\.py$} && /sys\.path/) {
            push @taken, ["common/$1/", $line, 0] if /'common', '(\w+)'/;
        }
    }
    return @taken;
}

my (@up, @later);
my $count = 0;
for my $path (grep { m{\.(?:c|h|cu|cuh|cpp|pl|pm|py|t)$} && m{^(?:common/|[0-9][0-9]_)} && !m{/tests/corpus/} } @files) {
    my ($room, $chapter) = (room_of($path), chapter_of($path));
    for (taken($path)) {
        my ($what, $line, $under_cusim) = @$_;
        my ($from, $other) = (room_of($what), chapter_of($what));
        $count++;
        push @later, "$path:$line takes $what" if $chapter ne '' && $other gt $chapter;
        push @up, "$path:$line takes $what" if $chapter ne '' && $what =~ m{^cusim/} && $what ne 'cusim/counts.h';
        next if $room eq '' || $room eq 'tests' || $from eq $room;
        next if $what eq 'cusim/counts.h' && $asks_simulator{$room} && $under_cusim;
        next if $what eq 'cusim/estimate/' && $asks_estimate{$room};
        next if $room eq 'cuda' && $what =~ m{^cusim/include/} && $under_cusim;
        push @up, "$path:$line takes $what" if $from eq '' || !grep { $_ eq $from } @{ $takes{$room} };
    }
}
for my $makefile (grep { m{^[0-9][0-9]_\w+/Makefile$} } @files) {
    my $chapter = chapter_of($makefile);
    push @later, map { "$makefile takes $_" } grep { $_ gt $chapter } split ' ', says($chapter, 'NEEDS');
}
cmp_ok($count, '>', 400, 'includes are found');
is_deeply(\@up, [], 'no room takes from one that is not below it');
is_deeply(\@later, [], 'no chapter takes from a later one');

# ---- nothing in common names a chapter ----

# Chapters have names, "NN_word", and numbers in sentences. Tests are about them.
my @named;
for my $path (grep { room_of($_) ne 'tests' && m{\.(?:c|h|cu|cuh|cpp|pl|pm|py|sh|mk|gp|md)$|/Makefile$} } @common) {
    my $line = 0;
    for (split /\n/, read_file($path)) {
        $line++;
        push @named, "$path:$line: $1" if m{(?<![\w-])((?:0[1-9]|[1-9]\d)_[a-z]\w+)} || m{\b([Cc]hapters? \d+)};
    }
}
is_deeply(\@named, [], 'nothing in common names a chapter');

done_testing;
