#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# plays.pl - the moments of kernels that the texts show, as pages for the site and as pictures for the texts.
#
#   perl common/pages/plays.pl [--pages | --check] [CHAPTER...]
#
# A chapter names them in figures/plays.txt, a block a moment, and `#` begins a comment:
#
#   race                                          the name: figures/race.svg is the picture
#   watch: VARIANT=NN_chapter/name SEQ_LEN=64   what `make watch` is told
#   run: without 2                                the run without the second barrier (default: as it is written)
#   step: verdict                                 where that run was stopped; or `end`; or `line TEXT [warp N] [visit N]`, the N-th step
#                                                 of the warp (of any warp) in a line that has TEXT in it
#   open: lane=17                                 more for the page's address (docs/watch.md)
#   shows: sentence shared                        the picture's panels (still.pl); in the page the others are folded
#
# It writes build/watch/CHAPTER/figures/NAME.html and, beside it, NAME.start with the moment's address, which make site shows in place of the
# picture; and the picture, but not with --pages, which needs no browser. --check compares the pictures with those that are there.
use strict;
use warnings;
use File::Copy 'copy';
use File::Path 'make_path';
use JSON::PP;

my ($pages, $check) = (0, 0);
while (@ARGV && $ARGV[0] =~ /^--(pages|check)$/) { $1 eq 'pages' ? ($pages = 1) : ($check = 1); shift }
@ARGV = map { s{/figures/plays.txt$}{}r } glob '[0-9][0-9]_*/figures/plays.txt' if !@ARGV;

sub refuse { print STDERR "plays.pl: $_[0]\n"; exit 2 }

sub read_text {
    my ($path) = @_;
    open my $file, '<', $path or refuse("cannot read $path: $!");
    local $/;
    return <$file> // '';
}

# The moments that a chapter names.
sub moments {
    my ($chapter) = @_;
    my $path = "$chapter/figures/plays.txt";
    my @moments;
    for my $block (split /\n\s*\n/, read_text($path) =~ s/^#.*\n//gmr) {
        my ($name, @rest) = split /\n+/, $block =~ s/^\n+//r;
        next if !defined $name;
        refuse("$path: \"$name\" is no name of a picture") if $name !~ /^[a-z_0-9]+$/;
        my %moment = (name => $name, chapter => $chapter, run => '', step => 'end', open => '', shows => '');
        for (@rest) {
            /^(watch|run|step|open|shows): *(.*?) *$/ or refuse("$path, $name: \"$_\" is none of watch, run, step, open and shows");
            $moment{$1} = $2;
        }
        refuse("$path, $name: watch: is missing, what make watch is told") if !defined $moment{watch};
        push @moments, \%moment;
    }
    return @moments;
}

# The moment's place in a trace, as the page's address has it; or undef, and what is wrong.
sub address {
    my ($moment, $trace) = @_;
    my ($run, $step) = (0);
    if ($moment->{run} =~ /^without (\d+)$/) {
        my @without = grep { defined $trace->{runs}[$_]{without} } 0 .. $#{ $trace->{runs} };
        $run = $without[$1 - 1] // return (undef, "has no run without barrier $1");
    } elsif ($moment->{run} ne '') {
        ($run) = grep { ($trace->{runs}[$_]{order} // '') eq $moment->{run} } 0 .. $#{ $trace->{runs} };
        return (undef, "has no run $moment->{run}") if !defined $run;
    }
    my @steps = @{ $trace->{runs}[$run]{steps} };
    unshift @steps, @{ $trace->{runs}[0]{steps} }[0 .. $trace->{runs}[$run]{same} - 1] if $trace->{runs}[$run]{same};
    if ($moment->{step} eq 'verdict') {
        $step = $trace->{runs}[$run]{verdict}{step} // return (undef, 'is not stopped in this run');
    } elsif ($moment->{step} eq 'end') {
        $step = $#steps;
    } elsif ($moment->{step} =~ /^line (.*?)(?: warp (\d+))?(?: visit (\d+))?$/) {
        my ($text, $warp, $visit) = ($1, $2, $3 // 1);
        my @found = grep {
            my $s = $steps[$_];
            my ($source, $line) = @{ $s->{p} // [] };
            !defined $s->{s} && defined $line && (!defined $warp || $s->{w} == $warp)
                && index($trace->{sources}[$source]{text}[$line - $trace->{sources}[$source]{first}] // '', $text) >= 0
        } 0 .. $#steps;
        $step = $found[$visit - 1] // return (undef, 'comes to such a line ' . @found . ' times: ' . $moment->{step});
    } else {
        return (undef, "has no step \"$moment->{step}\"");
    }
    return join '&', ($run ? "run=$run" : ()), "step=$step", defined $steps[$step]{b} && $steps[$step]{b} ? "block=$steps[$step]{b}" : (),
        $steps[$step]{w} ? "warp=$steps[$step]{w}" : (), $moment->{open} ne '' ? $moment->{open} : ();
}

my @drifted;
for my $chapter (map { s{/$}{}r } @ARGV) {
    for my $moment (moments($chapter)) {
        my ($name, $folder) = ($moment->{name}, "build/watch/$chapter/figures");
        my ($page, $picture) = ("$folder/$name.html", "$chapter/figures/$name.svg");
        make_path($folder);
        my $said = `make --no-print-directory BACKEND=sim watch $moment->{watch} 2>&1`;
        my ($written) = $said =~ m{^(results/watch/\S+\.html)$}m or refuse("$chapter, $name: $said");
        copy($written, $page) or refuse("cannot write $page: $!");

        my ($json) = read_text($page) =~ m{<script type="application/json" id="trace">(.*?)</script>}s or refuse("$page has no trace in it");
        my ($address, $wrong) = address($moment, decode_json($json));
        refuse("$chapter/figures/plays.txt, $name: the kernel $wrong") if $wrong;
        open my $start, '>', "$folder/$name.start" or refuse("cannot write $folder/$name.start: $!");
        print $start "$address&panels=", join(',', map { s/=.*//r } grep { $_ ne 'sentence' } split ' ', $moment->{shows}), "\n";
        close $start;
        print "$page#$address\n";
        next if $pages;

        my $drawn = "$folder/$name.svg";
        system('perl', 'common/pages/still.pl', $page, $address, $drawn, split ' ', $moment->{shows}) == 0 or exit 2;
        if ($check) {
            push @drifted, $picture if !-f $picture || read_text($picture) ne read_text($drawn);
        } else {
            copy($drawn, $picture) or refuse("cannot write $picture: $!");
            print "$picture\n";
        }
    }
}
print STDERR "$_ is not what the kernel does now: make plays draws it anew\n" for @drifted;
exit(@drifted ? 1 : 0);
