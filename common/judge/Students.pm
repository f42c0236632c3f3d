# SPDX-License-Identifier: MIT
# Students.pm - a class: folders of students, which of a folder's files answers which exercise, the seed that belongs to a name, and names that are
# safe for files. A student chooses the names of folders and files and what they contain: nothing here gives them to a shell, or follows a link.
package Students;
use strict;
use warnings;
use Digest::SHA 'hmac_sha256_hex';
use Exporter 'import';
use File::Find;
our @EXPORT = qw(students_in hand_ins chosen_exercises student_seed safe_name one_line csv);

my $most_bytes = 1_000_000; # of a hand-in; the longest solution has some thousands

# The names of the folders in `folder', sorted by their bytes. Hidden ones, and files, are none of a student's.
sub students_in {
    my ($folder) = @_;
    opendir my $all, $folder or die "cannot read the folder $folder: $!\n";
    return sort grep { !/^\./ && -d "$folder/$_" && !-l "$folder/$_" } readdir $all;
}

# What a student's folder has for each exercise. Returns { id => { path, text } or { refused or missing => one sentence } }, and the files that belong to
# no exercise. An answer is called as its task is, or begins with its number (02.1.cu, 02.1_add.cu), in any folder. Where tasks of several
# chapters have one name, a folder above it is called as the chapter. Of several files, those in a folder `mine' count.
sub hand_ins
 {
    my ($folder, @exercises) = @_;
    my %chapter = map { $_->{chapter} => 1 } @exercises;
    my (%bearers, %found, %unclear, @others);
    push @{ $bearers{ file_name($_) } }, $_ for @exercises;

    find({ no_chdir => 1, preprocess => sub { sort grep { $_ ne '.git' } @_ }, wanted => sub {
        return if -d && !-l;
        my $inside = substr $_, length($folder) + 1;
        my (undef, @above) = reverse split m{/}, $inside;
        my ($name) = $inside =~ m{([^/]*)\z};
        my @candidates = @{ $bearers{$name} // [] };
        @candidates = grep { $_->{id} eq $1 && $_->{path} =~ m{\.$2\z} } @exercises if !@candidates && $name =~ m{^(\d\d\.\d+)(?:[ _.-].*)?\.(cu|c|txt)\z};
        my ($said) = grep { $chapter{$_} } @above;
        @candidates = grep { $_->{chapter} eq $said } @candidates if defined $said;
        return if grep { $_ eq 'solutions' || $_ eq 'judges' } @above; # of a whole checkout
        if (@candidates != 1) {
            $unclear{ $_->{id} } = $inside for @candidates;
            push @others, $inside if $name =~ m{\.(?:cu|c|txt|zip|tar|gz|tgz|xz|7z)\z} && !@candidates && (!@above || $above[0] eq 'mine');
            return;
        }
        push @{ $found{ $candidates[0]{id} }{ ($above[0] // '') eq 'mine' ? 'mine' : 'elsewhere' } }, $inside;
    } }, $folder);

    my %taken;
    for my $exercise (@exercises) {
        my $places = $found{ $exercise->{id} };
        my @paths = @{ $places->{mine} // $places->{elsewhere} // [] };
        $taken{ $exercise->{id} } = @paths ? one_of($folder, @paths)
            : { missing => defined $unclear{ $exercise->{id} } ? one_line($unclear{ $exercise->{id} }) . ": tasks of several chapters are called so; put it into a folder $exercise->{chapter}"
                : 'there is no file ' . file_name($exercise) };
    }
    return (\%taken, \@others);
}

sub file_name { return $_[0]{path} =~ s{.*/}{}r }

# The one that all of these files are.
sub one_of {
    my ($folder, @paths) = @_;
    my %texts;
    for (@paths) {
        my $path = "$folder/$_";
        lstat $path;
        return { refused => one_line($_) . ' is no file, but a link or something else; hand in the file itself' } if !-f _;
        return { refused => one_line($_) . ' has ' . (-s _) . ' bytes; an answer has some thousand' } if -s _ > $most_bytes;
        open my $file, '<:raw', $path or return { missing => one_line($_) . " cannot be read: $!" };
        local $/;
        $texts{ scalar(<$file>) // '' } = $_;
    }
    return { missing => 'two files, and no telling which one counts: ' . join(' and ', map { one_line($_) } (sort values %texts)[0, 1]) } if keys %texts > 1;
    my ($text, $path) = %texts;
    return { path => $path, text => $text };
}

# The number from which a student's data is drawn: six digits, of the name and the instructor's secret.
sub student_seed {
    my ($name, $secret) = @_;
    return 100_000 + hex(substr hmac_sha256_hex($name, $secret), 0, 8) % 900_000;
}

# A name for files that no shell, terminal or file system trips over, different for different names: what is special becomes %XX.
sub safe_name {
    my ($name) = @_;
    my $safe = $name =~ s/([^A-Za-z0-9._ ,\x80-\xff-]|^[-. ]|[. ]$)/sprintf '%%%02X', ord $1/ger =~ s/\.csv\z/%2Ecsv/r; # as the table beside it
    return length $safe <= 200 ? $safe : substr($safe, 0, 180) . '%' . substr hmac_sha256_hex($name, ''), 0, 16;
}

# Of these exercises those that are named: 02.1, or a chapter, 03; all where nothing is named. Dies with a sentence where there is none of a name.
sub chosen_exercises {
    my ($only, @exercises) = @_;
    return @exercises if ($only // '') eq '';
    my %chosen;
    for my $wanted (grep { $_ ne '' } split /[\s,]+/, $only) {
        my @of = grep { $_->{id} eq $wanted || $_->{id} eq "0$wanted" || $_->{id} =~ /^\Q$wanted\E\./ || $_->{chapter} eq $wanted } @exercises;
        die "ONLY=$only: there is no exercise $wanted; `make exercises' lists them.\n" if !@of;
        $chosen{ $_->{id} } = 1 for @of;
    }
    return grep { $chosen{ $_->{id} } } @exercises;
}

# A line of CSV (RFC 4180). What a spreadsheet would compute, or a terminal would obey, is text here: a name may be `=cmd|...'.
sub csv {
    my @cells = map { s/^(?=\s*(?:[=+\-@]|\xEF\xBC[\x8B\x8D\x9D\xA0]))(?![+-]?[\d.]+\z)/'/r =~ s/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/sprintf '\\x%02x', ord $&/ger } @_;
    return join(',', map { /[",\r\n]|^\s|\s\z/ ? '"' . s/"/""/gr . '"' : $_ } @cells) . "\n";
}

# A text as it can be shown in a line of a table or on a terminal: without control characters.
sub one_line { return $_[0] =~ s/[\x00-\x1f\x7f]+/ /gr }

1;
