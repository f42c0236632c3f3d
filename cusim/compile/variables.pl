#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# variables.pl - all that watch.cpp must know of a program: which line a place in its machine code belongs to, and where each function
# keeps its variables. Reads the program's debugging information by objdump; writes a table, a line an entry:
#
#   perl variables.pl PROGRAM
#
#   file      NUMBER PATH
#   function  FROM TO FILE LINE WATCHED NAME            addresses; WATCHED: compiled by cusim --watch
#   variable  NAME TYPE KIND SIZE AT PARAMETER LINE FROM TO DIMS POINTS_TO
#                                                       of the function before: a number or an array of them. AT: its distance from the
#                                                       frame's base; LINE: of its declaration; FROM TO: addresses of the block that it is in;
#                                                       DIMS: elements:bytes from one to the next, ...; POINTS_TO: type:kind:size
#   row       ADDRESS FILE LINE                         from there on
#
# KIND: f floating point, h half, B bfloat16, i signed, u unsigned, c character, b truth value, p pointer.
# A member of a struct is a variable of its own, named x.member. Only what was compiled by cusim is looked at.
use strict;
use warnings;

my ($program) = @ARGV;
my $most_elements = 256; # of a variable: larger ones are left out

my (%files, @files); # path -> number

sub file_number {
    my ($path) = @_;
    1 while $path =~ s{(^|/)\./}{$1} || $path =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};
    return $files{$path} //= do { push @files, $path; $#files };
}

sub open_dump {
    my ($what) = @_;
    local $ENV{LC_ALL} = 'C';
    open my $dump, '-|', 'objdump', "--dwarf=$what", $program or die "variables.pl: cannot run objdump: $!\n";
    return $dump;
}

# ---- the units that cusim compiled: their entries as a tree ----

my (%units, %entries, @functions); # units: by the offset of their lines; entries: by their offset

sub read_entries {
    my $dump = open_dump('info');
    my ($unit, $entry, @open, $wanted);
    while (my $line = <$dump>) {
        if ($line =~ /^ <([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: (\d+)(?: \(DW_TAG_(\w+)\))?/) {
            my ($depth, $offset, $tag) = (hex $1, $2, $4);
            $wanted = 0 if defined $tag && $tag eq 'compile_unit';
            undef $entry, next if !defined $tag || ($depth > 0 && !$wanted);
            $entry = { tag => $tag, children => [] };
            $unit = $entry if $tag eq 'compile_unit';
            $entries{$offset} = $entry if $depth > 0;
            $#open = $depth;
            $open[$depth] = $entry;
            push @{ $open[$depth - 1]{children} }, $entry if $depth > 0;
            push @functions, [$entry, $unit] if $tag eq 'subprogram';
        } elsif (defined $entry && $line =~ /^\s+<[0-9a-f]+>\s+DW_AT_(\w+)\s*:\s*(?:\((?:indirect|indexed)[^)]*\): )?(.*?)\s*$/) {
            my ($name, $value) = ($1, $2);
            $entry->{$name} = $value;
            if ($name eq 'producer') {
                $wanted = $value =~ /-fsanitize=thread/;
                $unit->{watched} = $value =~ /-mno-red-zone/ ? 1 : 0;
            }
            $units{ hex $value } = $unit if $wanted && $name eq 'stmt_list';
        }
    }
    close $dump;
}

# What an entry does not say itself, the one that it is made from does.
sub attribute {
    my ($entry, $name) = @_;
    for (1 .. 4) {
        return $entry->{$name} if defined $entry->{$name};
        my $from = $entry->{abstract_origin} // $entry->{specification} // return undef;
        $from =~ /<0x([0-9a-f]+)>/ or return undef;
        $entry = $entries{$1} // return undef;
    }
    return undef;
}

# The type of an entry, without typedef, const and volatile; and the name by which it was called first.
sub type_of {
    my ($entry) = @_;
    my $name;
    for (1 .. 20) {
        my $at = attribute($entry, 'type') // return (undef, $name // 'void');
        $at =~ /<0x([0-9a-f]+)>/ or return (undef, 'void');
        $entry = $entries{$1} // return (undef, 'void');
        $name //= $entry->{name};
        return ($entry, $name // '') if $entry->{tag} !~ /^(?:typedef|const_type|volatile_type|restrict_type)$/;
    }
    return (undef, 'void');
}

# Kind and size of a number; nothing for other types.
sub number {
    my ($type) = @_;
    my $name = $type->{name} // '';
    return ($name =~ /bfloat16/ ? 'B' : 'h', 2) if $type->{tag} =~ /^(?:structure|class)_type$/ && $name =~ /^(?:__half|half|__nv_bfloat16)$/;
    return ('i', $type->{byte_size}) if $type->{tag} eq 'enumeration_type';
    return ('p', 8) if $type->{tag} eq 'pointer_type';
    return () if $type->{tag} ne 'base_type' || $type->{byte_size} > 8;
    my $encoding = $type->{encoding} // '';
    my $kind = $encoding =~ /float/ ? 'f' : $encoding =~ /boolean/ ? 'b' : $encoding =~ /char/ ? 'c' : $encoding =~ /unsigned/ ? 'u' : 'i';
    $kind = $encoding =~ /unsigned/ ? 'u' : 'i' if $kind eq 'c' && $name !~ /^(?:char|signed char|unsigned char)$/;
    return ($kind, $type->{byte_size});
}

# Prints a variable, number by number. $fixed: from PARAMETER to TO. @dims: [elements, bytes from one to the next] around it.
sub print_variable {
    my ($name, $type, $called, $at, $fixed, @dims) = @_;
    my $elements = 1;
    $elements *= $_->[0] for @dims;
    return if !defined $type || $elements == 0 || $elements > $most_elements;
    if (my ($kind, $size) = number($type)) {
        my $points_to = '';
        if ($kind eq 'p') {
            my ($to, $to_called) = type_of($type);
            my @of = defined $to ? number($to) : ();
            if (defined $to && !@of && $to->{tag} =~ /^(?:structure|class)_type$/) { # a float4: what is inside
                my ($member) = grep { $_->{tag} eq 'member' } @{ $to->{children} };
                my ($inner, $inner_called) = defined $member ? type_of($member) : ();
                ($to_called, @of) = ($inner_called, number($inner)) if defined $inner;
            }
            $points_to = join ':', $to_called, @of if @of;
            $called = "$to_called *";
        }
        print join("\t", 'variable', $name, $called, $kind, $size, $at, $fixed, join(',', map { "$_->[0]:$_->[1]" } @dims), $points_to), "\n";
    } elsif ($type->{tag} eq 'array_type') {
        my ($element, $element_called) = type_of($type);
        my @sizes = map { (hex_or_number($_->{upper_bound}) // -1) + 1 } grep { $_->{tag} eq 'subrange_type' } @{ $type->{children} };
        my $bytes = size_of($element // return);
        my @inner;
        unshift(@inner, [$_, $bytes]), $bytes *= $_ for reverse @sizes;
        print_variable($name, $element, $element_called, $at, $fixed, @dims, @inner);
    } elsif ($type->{tag} =~ /^(?:structure|class|union)_type$/) {
        for my $member (grep { $_->{tag} eq 'member' && !$_->{external} && !$_->{bit_size} } @{ $type->{children} }) {
            my ($inner, $inner_called) = type_of($member);
            my $offset = hex_or_number($member->{data_member_location}) // 0;
            print_variable(defined $member->{name} ? "$name.$member->{name}" : $name, $inner, $inner_called, $at + $offset, $fixed, @dims);
        }
    }
}

sub hex_or_number { my ($text) = @_; return !defined $text ? undef : $text =~ /^0x/ ? hex $text : $text =~ /^(\d+)/ ? $1 : undef }

sub size_of {
    my ($type) = @_;
    return $type->{byte_size} if defined $type->{byte_size} && $type->{tag} ne 'array_type';
    return 8 if $type->{tag} =~ /pointer|reference/;
    my ($element) = type_of($type);
    my $bytes = defined $element ? size_of($element) : 0;
    $bytes *= (hex_or_number($_->{upper_bound}) // -1) + 1 for grep { $_->{tag} eq 'subrange_type' } @{ $type->{children} };
    return $bytes;
}

# The variables of a function or of a block in it.
sub print_variables {
    my ($entry, $from, $to) = @_;
    ($from, $to) = (hex $entry->{low_pc}, hex($entry->{low_pc}) + hex $entry->{high_pc}) if defined $entry->{low_pc};
    for my $child (@{ $entry->{children} }) {
        print_variables($child, $from, $to) if $child->{tag} eq 'lexical_block';
        next if $child->{tag} !~ /^(?:variable|formal_parameter)$/;
        my ($name, $at) = (attribute($child, 'name'), ($child->{location} // '') =~ /\(DW_OP_fbreg: (-?\d+)\)/);
        next if !defined $name || !defined $at || attribute($child, 'artificial') || $name =~ /^(?:sim_|__)/;
        print_variable($name, type_of($child), $at, join "\t", $child->{tag} eq 'formal_parameter' ? 1 : 0, attribute($child, 'decl_line') // 0, $from, $to);
    }
}

# ---- lines ----

my %unit_files; # by the offset of their lines: numbers of files, as the entries call them

sub read_rows {
    my ($each) = @_;
    my $dump = open_dump('rawline');
    my ($unit, @folders, @paths, $at, $file, $row, $part);
    while (my $line = <$dump>) {
        if ($line =~ /^  Offset:\s+(0x[0-9a-f]+|\d+)/) {
            $at = hex_or_number($1);
            $unit = $units{$at};
            @folders = @paths = ();
            ($part, $file, $row) = ('', 1, 1);
        } elsif (!defined $unit) {
            next;
        } elsif ($line =~ /The Directory Table/) { $part = 'folders' }
        elsif ($line =~ /The File Name Table/) { $part = 'files' }
        elsif ($line =~ /Line Number Statements/) { $part = 'rows'; $unit_files{$at} = [@paths] }
        elsif ($part eq 'folders' && $line =~ /^  (\d+)\t(.*)$/) { $folders[$1] = $2 }
        elsif ($part eq 'files' && $line =~ /^  (\d+)\t(\d+)\t\d+\t\d+\t(.*)$/) {
            my ($number, $in, $path) = ($1, $2, $3);
            my $folder = $in == 0 ? $unit->{comp_dir} : $folders[$in] =~ m{^/} ? $folders[$in] : "$unit->{comp_dir}/$folders[$in]";
            $paths[$number] = file_number($path =~ m{^/} ? $path : "$folder/$path");
        } elsif ($part eq 'rows') {
            if ($line =~ /Set File Name to entry (\d+)/) { $file = $1 }
            elsif ($line =~ /Advance Line by -?\d+ to (\d+)/) { $row = $1 }
            elsif ($line =~ /set Address to 0x([0-9a-f]+)|^  \S+\s+Advance PC by (?:constant )?(?:fixed size amount )?-?\d+ to 0x([0-9a-f]+)/) { $each->{address} = hex($1 // $2) }
            elsif ($line =~ /Special opcode \d+: advance Address by \d+ to 0x([0-9a-f]+) and Line by -?\d+ to (\d+)/) {
                ($each->{address}, $row) = (hex $1, $2);
                print "row\t$each->{address}\t$paths[$file]\t$row\n";
            } elsif ($line =~ /  Copy/) { print "row\t$each->{address}\t$paths[$file]\t$row\n" }
            elsif ($line =~ /End of Sequence/) { print "row\t$each->{address}\t-1\t0\n"; ($file, $row) = (1, 1) }
        }
    }
    close $dump;
}

read_entries();
read_rows({});
for (@functions) {
    my ($function, $unit) = @$_;
    my ($low, $high, $name) = ($function->{low_pc}, $function->{high_pc}, attribute($function, 'name'));
    next if !defined $low || !defined $high || !defined $name;
    my $file = $unit_files{ hex $unit->{stmt_list} }[attribute($function, 'decl_file') // 0] // next;
    printf "function\t%d\t%d\t%d\t%d\t%d\t%s\n", hex $low, hex($low) + hex($high), $file, attribute($function, 'decl_line') // 0, $unit->{watched}, $name;
    print_variables($function) if $unit->{watched} && ($function->{frame_base} // '') =~ /call_frame_cfa/;
}
print "file\t$_\t$files[$_]\n" for 0 .. $#files;
