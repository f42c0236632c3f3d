#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# report.pl [--check] [--no-outputs] [--gpu] [TEXT...] - writes what the texts show of recordings, programs and sources, between markers.
#
# Run from the repository's root. Without TEXT it takes them all (Texts.pm says which). With --check it writes nothing and says
# what has drifted. A marker in a block of code is only shown, not followed. These are the markers:
#
#   <!-- of_add -->95<!-- end -->
#
#       A figure in a sentence, where no table stands above it. What it is stands at the page's end, once, a line for each:
#
#       <!-- values
#       of_add: FILE key=value ... COLUMN FORMAT
#       -->
#
#       FILE is the newest recordings/h200/DATE-FILE.csv: the texts speak of this GPU. It is the one row in which every key has its
#       value. FORMAT is printf's; "%.2f/1e9" divides. At most a dozen of them on a page: more belong into a table.
#
#   <!-- table: FILE key=value ... variant=a,b seq_len=16,64 COLUMN FORMAT -->
#   <!-- table: FILE key=value ... rows="label: chapter/a; label: b" columns=13200x64,132x65536 COLUMN FORMAT -->
#   (the table)
#   <!-- end -->
#
#       A row for each variant (or chapter/variant) and a column for each seq_len, or for each num_seqs if these are several. Or, in the
#       second form, rows with labels of their own, and columns that are num_seqs x seq_len, or what sizes=batch,seq_len or
#       sizes=batch,chunks,heads names. sizes=seq_len,piece seq_len=N piece=a,b are columns for pieces. Without any sizes it is a single
#       column. A label may hold links, code, and | where the labels have several columns; head="chapter | kernel" is what stands above
#       them. Behind a row's variant may follow what is different in this row: key=value, also of a size, and a COLUMN and FORMAT of its
#       own: "`add`, GB/s: NN_x/add gb_per_s %.0f". A variant with a blank in its name stands in '...'. FILE may be several: NN_x,NN_few.
#       A dash stands where the kernel does not run on the shape.
#
#   <!-- estimates: FILE direction=D[,D] variant=a,b columns=13200x1024,132x65536 -->
#   (the table)
#   <!-- end -->
#
#       What an estimate says of these kernels, and what was recorded. FILE is as above; the kernels are those of the first one's
#       chapter, where they are not named as chapter/variant. It runs the simulator, as outputs do: --no-outputs leaves it as it is.
#
#   What is not recorded yet: put ? between the markers. It stays, in a table as ? in the cells, until there is a recording.
#
#   <!-- listing: PATH function=NAME[,NAME...] [comment] -->
#   <!-- listing: PATH part=NAME[,NAME...] -->
#   (the listing)
#   <!-- end -->
#
#       Lines of a source: whole functions (or structs, enums, arrays), from `template` or `static` to the closing brace, with the word
#       "comment" also the comment directly above. Or parts: in the source a comment that begins with [NAME] begins one, and it ends
#       before the next, or with its function; the text does not show the [NAME]. With neither it is the whole file. What all lines are
#       indented by is removed. A link to the file follows.
#
#   <!-- output: COMMAND -->
#   ```text
#   (the output)
#   ```
#
#       What the command prints on stdout, on the simulator (Output.pm says what may differ from machine to machine). Commands
#       that need a GPU are only run with --gpu; --no-outputs runs none.
#
#   <!-- core: list PAGE ... -->
#   (the list)
#   <!-- end -->
#
#       The pages of the course's core in their order, with the minutes that each takes to read (Texts.pm counts). It stands in
#       README.md. On each of its pages "core: here" says which of them the page is and how long it takes, and "core: next" which
#       one comes next. On any page "core: minutes" is the number of minutes that it takes, and "core: hours" how many hours the
#       core takes with the exercises in its pages' tables.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Texts;
use Recorded;
use Estimated;
use Listing;
use Core;
use Output;

use constant MOST_VALUES => 12;

my %option = map { $_ => 0 } qw(--check --no-outputs --gpu);
$option{ shift() } = 1 while @ARGV && exists $option{ $ARGV[0] };
die "usage: $0 [--check] [--no-outputs] [--gpu] [TEXT...]\n" if grep { /^-/ || !-f } @ARGV;
my ($wrong, $path) = (0);

# What belongs between a marker and its end. $old is what stands there, without the fence where it is an output.
my %writes = (
    '' => sub { Recorded::value(@_) }, # a key's
    table => sub { Recorded::table(@_, $path) },
    estimates => sub { $option{'--no-outputs'} ? $_[1] : Estimated::estimates(@_, $path) },
    core => sub { Core::core(@_, $path) },
    listing => sub { Listing::listing(@_, $path) },
    output => sub { $option{'--no-outputs'} ? $_[1] : Output::output(@_, $option{'--gpu'}) },
);

sub between {
    my ($kind, $request, $old) = @_;
    my $new = eval {
        my $write = $writes{$kind} // stop("there is no such marker");
        $write->($request, $old);
    };
    if (!defined $new) {
        print "$path: $kind: $request: $@";
        $wrong = 1;
        return $old;
    }
    if ($new ne $old && $option{'--check'}) {
        print "$path: $kind: $request: ", difference($old, $new), "; run make report\n";
        $wrong = 1;
    }
    return $new;
}

# The first line that differs, both ways.
sub difference {
    my ($old, $new) = map { [split /\n/, $_, -1] } @_;
    my ($i) = grep { ($old->[$_] // '') ne ($new->[$_] // '') } 0 .. (@$old > @$new ? $#$old : $#$new);
    return join ' instead of ', map { !defined $_->[$i] ? 'nothing' : '"' . $_->[$i] =~ s/^(.{100}).+/$1.../r . '"' } $new, $old;
}

# The figures that stand in a page's sentences, as its end declares them: key => what report.pl would read of it.
sub values_of {
    my ($text) = @_;
    my ($lines) = $text =~ /^<!-- values\n(.*?)^-->$/ms or return;
    return $lines =~ /^(\w+): (.*)$/mg;
}

for (@ARGV ? @ARGV : texts()) {
    $path = $_;
    my $text = read_text($path);
    my %values = values_of($text);
    my %unused = %values;
    my $new = $text;
    $new =~ s{
        (?<marker> <!--\ (?:(?<kind>\w+):\ (?<request>(?:(?!-->).)*?) | (?!end\ )(?<key>\w+))\ --> )
            (?: (?<fence>\s*```text\n) (?<shown>.*?) (?<close>^```$) | (?<shown>(?:(?!<!--).)*?) (?<close><!--\ end\ -->) )
        | (?<code> ^(?<ticks>```+)(?!`) .*? ^\g{ticks}$ | `(?:(?!\n\n)[^`])+` )
        | (?<stray> <!--\ (?:end|\w+:.*?)\ --> )
    }{
        my %part = %+;
        if (defined(my $key = $part{key})) {
            delete $unused{$key};
            @part{qw(kind request)} = ('', $values{$key});
            if (!defined $values{$key}) {
                print "$path: $part{marker}: the page's values do not have it\n";
                $wrong = 1;
                delete $part{marker};
            }
        }
        if (defined $part{stray}) {
            print "$path: $part{stray} has no counterpart\n";
            $wrong = 1;
        }
        if (defined $part{marker} && (defined $part{fence}) != ($part{kind} eq 'output')) {
            print "$path: $part{marker} is not followed by what belongs to it (report.pl shows it on its top)\n";
            $wrong = 1;
            delete $part{marker};
        }
        defined $part{marker} ? $part{marker} . ($part{fence} // '') . between(@part{qw(kind request shown)}) . $part{close} : $&;
    }gemsx;
    for (sort keys %unused) {
        print "$path: nothing on the page shows the value $_\n";
        $wrong = 1;
    }
    if (keys %values > MOST_VALUES) {
        print "$path: ", scalar keys %values, ' values, more than ', MOST_VALUES, ": show a table\n";
        $wrong = 1;
    }
    next if $option{'--check'};
    if ($new ne $text) {
        open my $out, '>', $path or die "$path: $!\n";
        print $out $new;
        close $out or die "$path: $!\n";
        print "$path: written\n";
    }
}
print "not recorded yet: ? in ", Recorded::missing(), " places\n" if !$option{'--check'} && Recorded::missing();
print map { "($_)\n" } Output::left_alone();
exit $wrong;
