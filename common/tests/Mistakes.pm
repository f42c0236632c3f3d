# SPDX-License-Identifier: MIT
# Mistakes.pm - mistakes in a chapter's kernels, each of which its checks must find. All of a chapter's are compiled into one program for the simulator,
# where the variable MUTANT of the environment says which one is made, so that the chapter is compiled once and not once for each.
#
# NN_chapter/tests/mistakes.txt has them, in blocks between empty lines. A block is a name, and below it:
#
#   in: FILE FUNCTION      where the code is: one or both of them (a FILE has a point in its name), * for the whole chapter
#   nth: 2                 which of several such places; without this there must be one only
#     code                 lines of code as in a diff: what stands before and after, to find the place,
#   - code                 what is replaced,
#   + code                 and by what (nothing: it is left out). Blanks, line ends and comments do not count (common/base/Code.pm).
#   run: OPTIONS           what shows it: the program's options besides --check-only
#   env: NAME=VALUE ...    settings of the environment
#   orders: warp reverse   the simulator's orders in each of which it must be found (default: as the environment says)
#   said: PATTERN          what is then said (default: a result is wrong, or the simulator stops). A test runs one with `said: -` by itself.
#   right: OPTIONS         with these options, and without any mistake, all is right
#
# Code that ends with ; is a statement, other code an expression. `in:` may stand there several times for changes in several places. What a block
# called `every mistake` says holds for all blocks below it; its changes are always made. `let NAME = TEXT` defines $NAME for all lines below.
package Mistakes;
use strict;
use warnings;
use Exporter 'import';
use lib 'common/base';
use Code;
use Linrec;
use Test::More;
our @EXPORT = qw(read_mistakes build_mistakes find_mistakes number_of);

my %keys = map { $_ => 1 } qw(run env orders said right);

# The mistakes of a file, as a list of hashes; the first is `every mistake', with what is always there. Number i is what MUTANT=i makes.
sub read_mistakes {
    my ($path) = @_;
    my %let;
    my @mistakes = ({ name => 'every mistake', changes => [], right => [] });
    for my $block (split /\n(?:[ \t]*\n)+/, read_file($path) // die "$path: $!\n") {
        my ($mistake, $change);
        for (split /\n/, $block) {
            next if /^#/ || !/\S/;
            if (/^let (\w+) = (.*)$/) {
                my ($name, $value) = ($1, $2);
                $let{$name} = fill($value, \%let);
            } elsif (!defined $mistake) {
                $mistake = $_ eq 'every mistake' ? $mistakes[0] : { name => $_, changes => [], right => [] };
            } elsif (/^([-+ ])(?: (.*))?$/ && $change) {
                my ($kind, $code) = ($1, fill($2 // '', \%let));
                my $part = $kind eq '-' ? 'what' : $kind eq '+' ? 'to' : defined $change->{what} || defined $change->{to} ? 'after' : 'before';
                $change->{$part} .= ($change->{$part} // '') eq '' ? $code : "\n$code";
                $change->{$part} //= '';
            } elsif (/^in: *(.*)$/) {
                push @{ $mistake->{changes} }, $change = { map { $_ eq '*' ? () : (/\./ ? 'file' : 'function') => $_ } split ' ', $1 };
            } elsif (/^nth: *(\d+)$/ && $change) {
                $change->{nth} = $1;
            } elsif (/^(\w+): *(.*)$/ && $keys{$1}) {
                $1 eq 'right' ? push @{ $mistake->{right} }, fill($2, \%let) : ($mistake->{$1} = fill($2, \%let));
            } else {
                die "$path: `$_' is nothing that a mistake says\n";
            }
        }
        next if !defined $mistake || $mistake == $mistakes[0];
        $mistake = { %{ $mistakes[0] }, %$mistake };
        $mistake->{env} = join ' ', grep { defined } $mistakes[0]{env}, $mistake->{env} if defined $mistake->{env};
        push @mistakes, $mistake;
    }
    return @mistakes;
}

sub fill { my ($text, $let) = @_; return $text =~ s/\$\{?([a-z_]\w*)\}?/exists $let->{$1} ? $let->{$1} : $&/ger }

# The number of the mistake of that name.
sub number_of {
    my ($name, @mistakes) = @_;
    return (grep { $mistakes[$_]{name} eq $name } 1 .. $#mistakes)[0] // die "there is no mistake `$name'\n";
}

# What stands in a place where a mistake may be made.
sub either {
    my ($number, $is, $to) = @_;
    return $to if $number == 0;
    return $is =~ /[;}]\s*$/ || $is eq '' || $to =~ /[;}]\s*$/ ? "if (mutant == $number) { $to } else { $is }" : "(mutant == $number ? ($to) : ($is))";
}

# The sources of a chapter with these mistakes in them: path => text, of those that change. Says what cannot be found.
sub texts_with {
    my ($chapter, @mistakes) = @_;
    my %text = map { $_ => read_file($_) } glob "$chapter/*.{c,h,cu,cuh} $chapter/{operation,kernels}/*.{c,h,cu,cuh}";
    my (%places, @lost);
    for my $number (0 .. $#mistakes) {
        for my $change (@{ $mistakes[$number]{changes} }) {
            my @files = grep { !defined $change->{file} || m{/\Q$change->{file}\E$} } sort keys %text;
            my @found = map { my $file = $_; map { [$file, @$_] } find_code($text{$file}, $change) } @files;
            @found = grep { defined } $found[$change->{nth} - 1] if defined $change->{nth};
            if (@found != 1) {
                push @lost, "$mistakes[$number]{name}: its code is there " . @found . ' times, and not once: ' . spelled($change->{what} // '');
                next;
            }
            my ($file, $begin, $end) = @{ $found[0] };
            push @{ $places{$file} }, [$begin, $end, sub { either($number, $_[0], $change->{to} // '') }];
        }
    }
    return (\@lost, map { $_ => replace_all($text{$_}, @{ $places{$_} }) } keys %places);
}

# Builds the chapter with all of them. Returns the program, or undef and what is said.
sub build_mistakes {
    my ($chapter, @mistakes) = @_;
    my $copy = copy_of_chapters();
    my ($lost, %text) = texts_with($chapter, @mistakes);
    return (undef, join "\n", @$lost) if @$lost;
    for my $path (keys %text) {
        my $up = $path =~ tr{/}{} > 1 ? '../' : '';
        write_file("$copy/$path", qq(#include "${up}mutant.h"\n#line 1\n) . $text{$path});
    }
    # a function of the host that kernels may call: nvcc would not take it, and nothing of it is watched or counted
    write_file("$copy/$chapter/mutant.h", "#ifndef MUTANT_H\n#define MUTANT_H\n#include <stdlib.h>\n#ifdef __cplusplus\n"
        . "#include <cuda_runtime.h>\nextern \"C\" __host__ __device__ int which_mutant(void);\n#else\nint which_mutant(void);\n#endif\n"
        . "#define mutant which_mutant()\n#endif\n");
    write_file("$copy/$chapter/mutant.c", "#include \"mutant.h\"\nint which_mutant(void)\n{\n    static int number = -1;\n"
        . "    return number >= 0 ? number : (number = atoi(getenv(\"MUTANT\")));\n}\n");
    my $log = build_quickly($copy, $chapter);
    return $? == 0 ? "$copy/build/sim/$chapter" : (undef, $log);
}

# Tests that each mistake of a chapter is found, and that nothing is wrong without one. Returns the program, and all that was read.
sub find_mistakes {
    my ($chapter, $path) = @_;
    my @mistakes = read_mistakes($path // "$chapter/tests/mistakes.txt");
    my ($program, $log) = build_mistakes($chapter, @mistakes);
    ok(defined $program, "$chapter: its mistakes are where they were, and it builds with them") or diag($log);
    return if !defined $program;
    my $run = sub {
        my ($number, $order, $env, $options) = @_;
        return run_program({ CUSIM_CHECKS => "strict", map({ split /=/, $_, 2 } split ' ', $env // ''), $order ? (CUSIM_SCHEDULE => $order) : (), MUTANT => $number },
            patiently(60, $program, '--check-only', split ' ', $options));
    };
    for my $options (@{ $mistakes[0]{right} }) {
        my ($status, $out, $err) = $run->(0, undef, $mistakes[0]{env}, $options);
        ok($status eq 0 && $out =~ /^all \d+ checks passed$/m, "$chapter, no mistake: $options") or diag($err);
    }
    for my $number (1 .. $#mistakes) {
        my ($name, $env, $orders, $said, $options) = @{ $mistakes[$number] }{qw(name env orders said run)};
        $said //= '^(?:FAILED|\S+:\d+: error: )';
        next if $said eq '-';
        my @missed;
        for my $order ($orders ? split ' ', $orders : undef) {
            my ($status, undef, $err) = $run->($number, $order, $env, $options);
            push @missed, ($order // 'as it is') . ": status $status: $err" if $status ne 1 || $err !~ /$said/m;
        }
        ok(!@missed, "$chapter, found: $name") or diag(substr join('', @missed), 0, 1500);
    }
    return ($program, @mistakes);
}

1;
