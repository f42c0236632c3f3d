#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# compile_commands.pl - reads what `make -B -n V=1` would do in each folder (below a line "in FOLDER"), and prints how each source is compiled, in
# the form of clang's compilation database. A kernel for the simulator is what cusim first makes of it: C++ with the simulator's
# cuda_runtime.h.
use strict;
use warnings;
use Cwd 'getcwd';
use JSON::PP;

my ($folder, @entries, %seen);
while (my $line = <STDIN>) {
    $line .= <STDIN> while $line =~ s/\\\n\z//; # a line that goes on
    $folder = $1 if $line =~ /^in (.*)$/;
    for my $command (split /\s*(?:&&|;|2>)\s*/, $line) {
        my $source;
        if ($command =~ /^CXX='([^']*)' perl (\S*)compile\/cusim -c (\S+\.cu) -o (\S+\.o) (.*)/) {
            (my ($compiler, $here, $object, $flags), $source) = ($1, $2, $4, $5, $3);
            $command = "$compiler -x c++ $flags -D__CUDACC__ -I ${here}include -include cuda_runtime.h -c -o $object $source";
        } elsif ($command =~ / -c / && $command =~ /(?:^| )(\S+\.(?:c|cu|cpp))(?= |$)/) {
            $source = $1;
            $command =~ s/\.part-\$+//g; # where make writes before it renames
        } else {
            next;
        }
        # a source of common/ is compiled by each chapter: the first time counts
        push @entries, { directory => $source =~ m{^cusim/} ? getcwd() : $folder, file => $source, command => $command =~ s/\s+$//r } if !$seen{ $source =~ s{^(?:\.\./)+}{}r }++;
    }
}
die "make says of no source how it is compiled\n" if !@entries;
print JSON::PP->new->pretty->canonical->encode(\@entries);
