#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# notebook.pl CHAPTERS - prints a notebook for Google Colab (JSON) in which the first so many chapters are run and their exercises solved, made of
# the chapters' texts and tasks; `make notebook' keeps it in docs/first_chapters.ipynb. Run from the repository's root.
use strict;
use warnings;
use JSON::PP;
use lib 'common/judge';
use Exercises;

my ($count) = @ARGV;
die "usage: $0 CHAPTERS\n" if @ARGV != 1 || $count !~ /^[1-9]\d*$/;
my @exercises = all_exercises();
my @chapters = glob '[0-9][0-9]_*';
die "there are only " . @chapters . " chapters\n" if $count > @chapters;
@chapters = @chapters[0 .. $count - 1];
my @cells;

# The lines of a cell as notebooks hold them: one string a line, all but the last with their end.
sub lines_of { return [$_[0] =~ s/\n+\z//r =~ /.*\n|.+\z/g] }
sub text { push @cells, { cell_type => 'markdown', metadata => {}, source => lines_of($_[0]) } }
sub code { push @cells, { cell_type => 'code', metadata => {}, execution_count => undef, outputs => [], source => lines_of($_[0]) } }

# The address of this repository, where it is known.
my ($address) = (read_text('CITATION.cff') // '') =~ /^repository-code: *(\S+)/m;
$address //= '';

text(<<"END");
# Linear recurrences at the speed of memory

This notebook runs the first chapters of the course on Google Colab, and judges your answers to their exercises.

- **You need no GPU.** With one (*Runtime, Change runtime type*; the free T4 will do) the chapters run on it, and without one on the
  simulator. The judge's verdict needs no GPU.
- **Keep your answers** by *File, Save a copy in Drive*, now. What you write stays in the cells of your copy. The machine behind
  the notebook forgets everything; when you come back, run the cells from the top down to where you were.
- **The texts are in the repository.** Open the README of each chapter there, in a tab beside this one.

Begin with the next two cells. The first one gets the course.@{[$address eq '' ? ' Write the address of its repository behind `REPOSITORY=`.' : '']}
END
code(<<"END");
%env REPOSITORY=$address
!test -d /content/course || git clone --depth 1 "\$REPOSITORY" /content/course
%cd /content/course
END
code('!make setup && mkdir -p ' . join(' ', map { "$_/exercises/mine" } @chapters));

for my $chapter (@chapters) {
    my $readme = read_text("$chapter/README.md") // die "$chapter/README.md cannot be read\n";
    my ($title) = $readme =~ /^# (.+)/m;
    my ($can) = $readme =~ /^(After this chapter you can\n\n(?:.+\n)+)/m;
    my ($question) = $readme =~ /^## The question\n\n(.*?)\n(?=## )/ms or die "$chapter/README.md asks no question\n";
    # pictures and other pages are in the repository, and not in the notebook
    s/^!\[[^\]]*\]\([^)]*\)\n+//mg, s/\[([^\]]*)\]\([^)]*\)/$1/g for $can //= '', $question;
    text("# $title\n\n$can\n## The question\n\n$question\n\nRead `$chapter/README.md` from here on. Where it says what to run, the next cell does it.\n");
    code("!make -C $chapter run");
    text("## Exercises of chapter @{[substr $chapter, 0, 2]}\n\nWrite your answer into the cell that begins with `%%writefile`, run it, and then the cell behind it, "
        . "which judges it: as often\nas you like. The line with `Error 1` at the end says that an exercise is not solved yet, and nothing else.\n");
    for my $exercise (grep { $_->{chapter} eq $chapter } @exercises) {
        text("### $exercise->{id} $exercise->{title}\n\nA hint: `!make hint EX=$exercise->{id}`, and the next one when you ask again.\n");
        code("%%writefile $exercise->{mine}\n" . read_text($exercise->{path}));
        code("!make exercise EX=$exercise->{id}");
    }
}

text(<<"END");
# What you have

The next cell shows how far you are, and packs your answers into one file. You find `answers.tar.gz` in the panel of files on the left, in
the folder `course`, from where you can download it.
END
code(join "\n", map({ "!make --no-print-directory -C $_ exercises" } @chapters), '!tar czf answers.tar.gz ' . join(' ', map { "$_/exercises/mine" } @chapters));

my $notebook = {
    nbformat => 4,
    nbformat_minor => 0,
    metadata => {
        accelerator => 'GPU',
        colab => { gpuType => 'T4', name => 'Linear recurrences: the first chapters', provenance => [] },
        kernelspec => { name => 'python3', display_name => 'Python 3' },
        language_info => { name => 'python' },
    },
    cells => \@cells,
};
print JSON::PP->new->pretty->indent_length(1)->canonical->utf8(0)->encode($notebook);
