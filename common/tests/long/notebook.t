# SPDX-License-Identifier: MIT
# docs/first_chapters.ipynb as a reader runs it, from the top down, in a clone of this tree and without Jupyter: each cell prints what it should.
# Its answers are the tasks at first; then those to one exercise of each chapter become right ones.
use strict;
use warnings;
use lib 'common/tests', 'common/judge';
use Exercises;
use JSON::PP;
use Linrec;
use Test::More;

my ($origin, $content) = (scratch('origin'), scratch('content'));
mkdir $content;
plan skip_all => 'needs git, and a checkout' if system("mkdir '$origin' && git ls-files -z -co --exclude-standard 2> /dev/null | perl -0ne 'chomp; print \"\$_\\0\" if -e' "
    . "| tar cf - --null -T - 2> /dev/null | tar xf - -C '$origin' && cd '$origin' && git init -q && git add -A && git -c user.name=x -c user.email=x commit -qm x") != 0;
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
$ENV{BACKEND} = 'sim';
my $folder = '.';

# What a line or a magic of IPython does: %%writefile, %cd, %env and !command. Returns what it prints, and dies of what it does not know.
sub run_cell {
    my ($source) = @_;
    $source =~ s{/content/}{$content/}g;
    if ($source =~ /\A%%writefile (\S+)\n(.*)\z/s) {
        write_file("$folder/$1", "$2\n");
        return "Writing $1\n";
    }
    my $said = '';
    for my $line (split /\n/, $source) {
        if ($line =~ /^!(.*)/) {
            my ($status, $out, $err) = run_program('sh', '-c', "cd '$folder' && $1");
            $said .= $out . $err;
        } elsif ($line =~ /^%cd (\S+)$/) {
            -d $1 or die "$line: no such folder\n$said";
            $folder = $1;
        } elsif ($line =~ /^%env (\w+)=(.*)$/) {
            $ENV{$1} = $1 eq 'REPOSITORY' ? "file://$origin" : $2;
        } else {
            die "a cell has a line that is no command: $line\n";
        }
    }
    return $said;
}

my @cells = map { join '', @{ $_->{source} } } grep { $_->{cell_type} eq 'code' } @{ JSON::PP->new->decode(read_file('docs/first_chapters.ipynb'))->{cells} };
my %exercises = map { $_->{id} => $_ } all_exercises();
my (@judged, %first);

# What is built here is there, too: that a clone builds from nothing is what the build of this tree has shown. All of one age, so that make takes it.
sub bring_objects {
    my $now = write_file(scratch('now'), '');
    -d 'build/obj/sim' or return;
    system("mkdir -p '$folder/build/obj' && cp -R build/obj/sim '$folder/build/obj' && find '$folder/build/obj' -type f -exec touch -r '$now' {} +") == 0 or die 'cp';
}

for my $cell (@cells) {
    my $said = run_cell($cell);
    bring_objects() if $cell =~ /git clone/;
    my ($name) = $cell =~ /^(.*)/;
    if (my ($id) = $cell =~ /^!make exercise EX=(\S+)$/) {
        my $exercise = $exercises{$id} // die "$name: there is no such exercise\n";
        push @judged, $id;
        my $says = $exercise->{skeleton} =~ s/\s+/ /gr =~ s/\Q$exercise->{path}\E/$exercise->{mine}/r;
        like($said =~ s/\s+/ /gr, qr/\Q$says\E/, "$name: the task as it is");
        $first{ $exercise->{chapter} } //= $exercise;
    } elsif ($cell =~ /^!make -C (\w+) run$/) {
        like($said, qr/^all \d+ checks passed$/m, $name) or diag($said);
    } else {
        unlike($said, qr/Error|fatal|not found|cannot/, $name) or diag($said);
    }
}
ok(@judged > 10, 'there are exercises');

# right ones
for my $exercise (map { $first{$_} } sort keys %first) {
    my ($writes) = grep { /\A%%writefile \Q$exercise->{mine}\E\n/ } @cells;
    run_cell($writes =~ s/\n.*/"\n" . read_text($exercise->{solution}) =~ s{\n\z}{}r/ser);
    like(run_cell("!make exercise EX=$exercise->{id}"), qr/^Solved\./m, "$exercise->{id}: our solution in the cell");
}
is(scalar(() = run_cell($cells[-1]) =~ /^1 of \d+ solved\.$/mg), scalar keys %first, 'the last cell says so');
my (undef, $kept) = run_program('tar', 'tzf', "$folder/answers.tar.gz");
is_deeply([sort grep { /\.(?:c|cu|txt)$/ } split /\n/, $kept], [sort map { $exercises{$_}{mine} } @judged], 'and it packs all answers');
done_testing;
