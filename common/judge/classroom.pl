#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# classroom.pl OUT=FOLDER - `make classroom': writes a repository for students into a new folder. It is what git tracks here, without what
# students shall not read and what they have no use for (@left_out); with a front page and a workflow of its own
# (classroom/), and git tracks their work there. What git does not track here, an exercise that is kept back, for example, is not in it.
use strict;
use warnings;
use File::Basename 'dirname';
use File::Copy 'copy';
use File::Path 'make_path';
use File::Spec;
use lib 'common/judge';
use Exercises;

my %given = map { /^(\w+)=(.*)$/s ? ($1 => $2) : () } @ARGV;
sub refuse { print STDERR "$_[0]\n"; exit 2 }

# paths that students do not get
my @left_out = (
    qr{/exercises/solutions/},
    qr{(?:^|/)tests/(?!decay/)},   # they need solutions, and a build of all chapters; with the smallest operation a project begins
    qr{^docs/teach/(?!project\.md$)}, # keys, answers, and what the judge says to mistakes
    qr{^\.ci/}, qr{^\.github/}, qr{^CONTRIBUTING\.md$}, qr{^CHANGELOG\.md$},
    qr{^common/judge/classroom},
);
# another place in the students' repository
my %moved = ('README.md' => 'COURSE.md');
# and what only they have
my %own = ('common/judge/classroom/front_page.txt' => 'README.md', 'common/judge/classroom/judge.yml' => '.github/workflows/judge.yml');

my $out = File::Spec->rel2abs($given{OUT} // '', $given{FROM} // '.');
refuse('Into which folder? Say it like this: make classroom OUT=../classroom') if ($given{OUT} // '') eq '';
refuse("OUT=$given{OUT} is there already. Name a folder that is not, or remove it.") if -e $out && !(-d $out && !glob "\Q$out\E/* \Q$out\E/.[!.]*");
open my $list, '-|', 'git', 'ls-files', '-z' or refuse("git cannot be started: $!");
my @tracked = do { local $/ = "\0"; map { chomp; $_ } <$list> };
close $list and @tracked or refuse('The repository is written from what git tracks, and git tracks nothing here. Take a clone.');

my %there = map { ($_ => $moved{$_} // $_) } grep { my $path = $_; !grep { $path =~ $_ } @left_out } grep { -f } @tracked;

# What judging needs of an exercise's data: the mistakes are lines of the solution.
sub without_solution {
    my ($text) = @_;
    my ($kept, $drop) = ('', 0);
    for (split /^/, $text) {
        $drop = $1 =~ /^(?:mutant|says|skeleton)$/ if /^(\w+):/;
        $kept .= $_ if !$drop && !/^[+-]/;
    }
    return $kept =~ s/\n{3,}/\n\n/gr =~ s/\n+\z/\n/r;
}

# Links to pages that have another place, and of links to those that are not there the words alone.
sub relinked {
    my ($path, $text) = @_;
    my $folder = dirname($path);
    my $link = sub {
        my ($image, $words, $target, $anchor) = @_;
        my @to = $folder eq '.' ? () : split m{/}, $folder;
        for (split m{/}, $target) {
            $_ eq '..' ? pop @to : $_ eq '.' ? () : push @to, $_;
        }
        my $to = join '/', @to;
        return "$image\[$words]($target$anchor)" if defined $there{$to} && $there{$to} eq $to || !grep { $_ eq $to || m{^\Q$to\E/} } @tracked;
        return "$image\[$words](" . ('../' x ($path =~ tr{/}{})) . "$there{$to}$anchor)" if defined $there{$to};
        return grep({ m{^\Q$to\E/} } values %there) ? "$image\[$words]($target$anchor)" : $words;
    };
    $text =~ s{(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!\w+:)([^()\s#]+)(#[^()\s]*)?\)}{$link->($1, $2, $3, $4 // '')}ge;
    return $text;
}

for my $path (sort keys %there) {
    my $to = "$out/$there{$path}";
    make_path(dirname($to), { error => \my $failed });
    refuse("cannot make the folder $to lies in: " . (values %{ $failed->[0] })[0]) if @$failed;
    my $text = $path =~ /\.md$/ ? relinked($path, read_text($path)) : $path =~ m{/exercises/judges/\w+\.txt$} ? without_solution(read_text($path))
        : $path eq '.gitignore' ? read_text($path) =~ s{^(.*/exercises/mine)/$}{$1/*.progress}mr : undef;
    if (defined $text) {
        write_text($to, $text);
    } else {
        copy($path, $to) or refuse("cannot write $to: $!");
        chmod((stat $path)[2] & 0777, $to);
    }
}
write_text("$out/$own{$_}", read_text($_)) for sort keys %own;

chdir $out or refuse("cannot enter $out: $!");
system('git init --quiet && git add --all') == 0 or refuse("git cannot begin a repository in $out.");
print "$given{OUT}: ", scalar(keys %there) + keys %own, " files, ready to be committed:\n",
    "    git -C '$given{OUT}' commit -m 'The course'\n",
    "Then push it to where each student gets a copy. Nobody's marks come from there: see docs/teach/marks.md.\n";
