# SPDX-License-Identifier: MIT
# Copies.pm - places for judging a class's hand-ins: never among the course's own files, and each in a folder that has been nobody's before.
#
# From the sources comes a *bench*, build/class/VERSION/, once for each version of the sources. It is the repository without tests,
# texts and readers' work, with an instructor's own exercises among the others; what all hand-ins share is built there.
# No hand-in's code ever runs there. Each is judged in a *copy* of the few folders that this takes, at a random place under $TMPDIR, which is removed
# afterwards. A prediction has no code: it is judged at the bench.
package Copies;
use strict;
use warnings;
use Digest::SHA;
use Exporter 'import';
use File::Basename 'dirname';
use File::Copy 'copy';
use File::Find;
use File::Path qw(make_path remove_tree);
use File::Glob 'bsd_glob';
use File::Temp 'tempdir';
use Exercises;
our @EXPORT = qw(bench new_folder fill_copy);

# The sources that judging needs, as paths below `root': what a verdict may depend on.
sub sources {
    my ($root) = @_;
    my @paths;
    find({ no_chdir => 1, follow => 0,
        preprocess => sub { grep { !/^(?:\.git|mine|tests|figures|__pycache__)$/ } @_ },
        wanted => sub { push @paths, substr $_, length($root) + 1 if -f && !/\.(?:md|svg|png|py)$/ && !m{/judge/(?:class|similar|Copies|Students)|/cusim/build/} },
    }, grep { -d } map { "$root/$_" } 'common', 'cusim', chapters($root));
    return sort @paths;
}

sub chapters { return map { m{([^/]+)$} } sort { $a cmp $b } bsd_glob("\Q$_[0]\E/[0-9][0-9]_*") }

# The bench's folder for the sources here and the exercises in `more' (undef: none), an absolute path, and its version, a hash of all that a verdict depends on.
sub bench {
    my ($more) = @_;
    my %from; # path at the bench => path of the source
    $from{$_} = $_ for map { s{^\./}{}r } sources('.');
    if (defined $more) {
        my @own = grep { m{^\d\d_\w+/exercises/} } sources($more);
        die "$more has no exercises: they lie in folders as NN_x/exercises there, as the course's own do\n" if !grep { m{/judges/\w+\.txt$} } @own;
        my ($twice) = grep { defined $from{$_} } @own;
        die "$more/$twice: the course has this file, too; choose another name\n" if defined $twice;
        my %number = map { (read_text($_) // '') =~ /^number: (\d+)/m ? (substr($_, 0, 2) . ".$1" => $_) : () } grep { m{^\d\d_\w+/exercises/judges/\w+\.txt$} } keys %from;
        for (grep { m{/judges/\w+\.txt$} } @own) {
            my $id = (read_text("$more/$_") // '') =~ /^number: (\d+)/m ? substr($_, 0, 2) . ".$1" : die "$more/$_ has no line `number: 6'\n";
            die "$more/$_: there is an exercise $id already; take the next number\n" if defined $number{$id};
            $number{$id} = $_;
        }
        $from{$_} = "$more/$_" for @own;
    }
    my $hash = Digest::SHA->new(256);
    $hash->add($ENV{BACKEND}, "\n", scalar(`\${CXX:-g++} --version 2>&1`), "\n", (grep { -x } $ENV{NVCC} // (), map { "$_/nvcc" } split(/:/, $ENV{PATH}), '/usr/local/cuda/bin') ? "nvcc\n" : "\n"); # which counts registers
    for (sort keys %from) {
        $hash->add("$_\n");
        $hash->addfile($from{$_}, 'b');
    }
    my $version = substr $hash->hexdigest, 0, 16;

    my $bench = `pwd -P` =~ s/\n\z//r . "/build/class/$version";
    if (!-d $bench) {
        my $part = "$bench.part-$$";
        copy_as_it_is($from{$_}, "$part/$_") or die "cannot write $part/$_: $!\n" for sort keys %from; # what is built already is not built again
        # make knows what of that is still right
        my ($before) = map { dirname($_) . '/' } sort { -M $a <=> -M $b } grep { !/\.part-/ } bsd_glob('build/class/*/build');
        copy_built($before // '', $_, $part) for 'cusim/build', map { "build/$_" } defined $before ? '' : map { "obj/$_" } 'sim', $ENV{BACKEND} eq 'cuda' ? 'cuda' : ();
        remove_tree("$part/build/prepared");
        remove_tree(grep { -M $_ > 1 } bsd_glob('build/class/*')); # nobody's for a day
        rename $part, $bench or -d $bench or die "cannot write $bench: $!\n";
    }
    utime undef, undef, $bench;
    return ($bench, $version);
}

# Copies a file with its times and rights.
sub copy_as_it_is {
    my ($from, $to) = @_;
    make_path(dirname($to));
    my ($mode, @times) = (stat $from)[2, 8, 9] or return 0;
    return copy($from, $to) && chmod($mode & 07777, $to) && utime @times, $to;
}

# The files of the folder `built' below `root', to the same place below `part'. A make or a judge may be at work there: what goes meanwhile is not needed, and what an
# answer has left is nobody's.
sub copy_built {
    my ($root, $built, $part) = @_;
    return if !-d "$root$built";
    no warnings 'File::Find'; # a folder that is gone
    find({ no_chdir => 1, follow => 0,
        preprocess => sub { grep { $File::Find::dir !~ m{(?:^|/)build/obj/\w+/build\z} || $_ ne 'exercises' } @_ },
        wanted => sub { !-f || copy_as_it_is($_, "$part/" . substr $_, length $root) || $!{ENOENT} or die "cannot copy $_ to $part: $!\n" },
    }, "$root$built");
}

# A new folder that nobody can guess, for fill_copy; who asks for it removes it.
sub new_folder { return tempdir('judged_XXXXXXXXXX', TMPDIR => 1) }

# Copies the folders at `bench' that judging `exercise' takes to the empty folder `copy', and enters it.
sub fill_copy {
    my ($copy, $bench, $exercise) = @_;
    chdir $bench or die "cannot enter $bench: $!\n";
    my @needed = grep { -e && !m{/(?:tests|debug)\z} && $_ ne 'cusim/build' } 'common/build', glob('cusim/* cusim/build/* common/judge/*'), glob('common/{base,cuda,harness,linrec}/*.{h,cuh}'),
        glob('[0-9][0-9]_*/Makefile [0-9][0-9]_*/*.h [0-9][0-9]_*/*.cuh [0-9][0-9]_*/kernels/*.h [0-9][0-9]_*/kernels/*.cuh [0-9][0-9]_*/operation/*.h'),
        @$exercise{qw(path solution)}, glob("$exercise->{chapter}/exercises/*.h $exercise->{judge}.* build/obj/*/flags build/obj/*/common/judge build/obj/*/$exercise->{judge}.*"), Running::judge_program($exercise);
    # links, where that can be, are made in a thirtieth of the time. Nothing writes into what is linked: compilers, linkers and make's rules put a new
    # file in an old one's place, and an answer's sandbox has all of it read-only
    my ($linked) = Running::run_command({}, 'cp', '-al', '--parents', @needed, "$copy/");
    $linked eq 0 or system('cp', '-a', '--parents', @needed, "$copy/") == 0 or die "cannot copy $bench to $copy\n";
    chdir $copy or die "cannot enter $copy: $!\n";
}

1;
