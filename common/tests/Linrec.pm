# SPDX-License-Identifier: MIT
# Linrec.pm - shared by the tests: running programs, reading and writing .npy. Tests run from the repository's root.
package Linrec;
use strict;
use warnings;
use Exporter 'import';
use lib 'common/base', 'common/pages';
use Run;
use Tables;
our @EXPORT = (qw(backend program extra says left_out chapters gpu_chapters on_cpu compares claims own_variants alone complete_variants complaint trace write_npy npy_bytes read_npy copy_of_chapters copy_of_tree build_quickly describe_arrays count_of option_of write_array compute difference finite_differences steps_of), @Run::EXPORT, @Tables::EXPORT);

# A make that a test calls has no share in the jobs of the one that called the test; the variables on its command line still count.
$ENV{MAKEFLAGS} =~ s/(^| )-(?:-jobserver\S+|j\d*)//g if defined $ENV{MAKEFLAGS};

# The backend whose programs are tested: from the makefile, or by what is built when prove is called by hand.
sub backend { return $ENV{BACKEND} || (-d 'build/cuda' ? 'cuda' : 'sim') }
sub program { return 'build/' . backend() . "/$_[0]" }
sub extra { return program("extra/$_[0]") }

# What a chapter's Makefile says of it: the value of a variable (common/build/chapter.mk explains them), '' if it says nothing.
sub says {
    my ($chapter, $variable) = @_;
    return ((read_file("$chapter/Makefile") // '') =~ /^$variable\s*[:?]?=\s*(.*?)\s*$/m)[0] // '';
}
sub claims { return scalar grep { $_ eq $_[1] } split ' ', says($_[0], 'CLAIMS') }

# Whether a chapter wants a command that is not here, and is left out.
sub left_out { my ($chapter) = @_; return scalar grep { my $wanted = $_; !grep { -x "$_/$wanted" } split /:/, $ENV{PATH} } split ' ', says($chapter, 'WANTS') }

# Every chapter that has a program; but for one that claims nothing a test of its own is enough.
sub chapters { return grep { -x program($_) && !claims($_, 'nothing') } map { s{/main\.c$}{}r } sort glob '[0-9][0-9]_*/main.c' }
sub gpu_chapters { return grep { !on_cpu($_) } chapters() }

# What the build sees of a chapter, too: it has no .cu, or runs earlier chapters' kernels beside its own.
sub on_cpu { my @kernels = glob "$_[0]/*.cu $_[0]/kernels/*.cu"; return !@kernels }
sub compares { return (read_file("$_[0]/kernels.c") // '') =~ /^ *\.compares_with/m }

# The lines of --list for a chapter's own variants: in a comparison the others' are named after their chapters.
sub own_variants {
    my (undef, $list) = run_program(program($_[0]), '--list');
    return grep { !m{^\S*/} } split /\n/, $list;
}

# Options with which a program runs the chapter's own variants that compute all of a result, as a list of lists: no options at all, or for a program
# that compares, which would run the others' variants, too, a variant at a time.
sub alone {
    my ($chapter) = @_;
    return [] if !compares($chapter);
    return map { /^(\S+)/ ? ['--variant', $1] : () } grep { !/\(partial/ } own_variants($chapter);
}

# The variants of a chapter that compute all of a pass: --forward, --backward or --reverse. Each is asked to, on an empty problem.
sub complete_variants {
    my ($chapter, $pass) = @_;
    my @complete = map { /^(\S+)/ } grep { !/\(partial/ } own_variants($chapter);
    my ($first_size) = (run_program(program($chapter), '--help'))[1] =~ /^  (--\S+) +N /m or die "$chapter --help names no size";
    return grep { (run_program(program($chapter), $pass, '--variant', $_, '--check-only', $first_size, 0))[2] !~ /does not run/ } @complete;
}

# '' if all checks of a program pass, else what is said. SETTINGS of the environment, PROGRAM, OPTIONS.
sub complaint {
    my ($settings, $program, @options) = @_;
    my ($status, $out, $err) = run_program($settings, $program, '--check-only', @options);
    return $status eq 0 && $out =~ /^all \d+ checks passed$/m ? '' : "status $status: $err";
}

# Runs a chapter's program on the simulator, which traces it; one test. Returns the rows of its own kernels, whole and line by line.
sub trace {
    my ($chapter, @arguments) = @_;
    my $path = scratch('trace.csv');
    unlink $path;
    my ($status, $out, $err) = run_program({ CUSIM_TRACE => $path }, program($chapter), @arguments);
    Test::More::is($status, 0, "$chapter @arguments is traced") or Test::More::diag($err);
    my @rows = -f $path ? rows_with(read_table($path), chapter => $chapter) : ();
    @rows = @{ read_table($path)->{rows} } if claims($chapter, 'nothing');
    return [grep { $_->{line} eq '' } @rows], [grep { $_->{line} ne '' } @rows];
}

# A .npy file as bytes: dtype, shape as text ("(2, 3)"), packed data, and whether it claims Fortran order.
sub npy_bytes {
    my ($dtype, $shape, $data, $fortran) = @_;
    my $header = "{'descr': '$dtype', 'fortran_order': " . ($fortran ? 'True' : 'False') . ", 'shape': $shape, }";
    $header .= ' ' x (118 - 1 - length $header) . "\n";
    return "\x93NUMPY\x01\x00" . pack('v', length $header) . $header . $data;
}

sub write_npy {
    my ($path, $shape, @values) = @_;
    open my $file, '>:raw', $path or die "$path: $!";
    print $file npy_bytes('<f4', $shape, pack('f<*', @values));
    close $file;
    return $path;
}

# Returns shape as text and the values of a float32 .npy file.
sub read_npy {
    my $bytes = read_file($_[0]) // return;
    my $size = unpack 'v', substr $bytes, 8, 2;
    my ($shape) = substr($bytes, 10, $size) =~ /'shape': (\([^)]*\))/;
    my $values = substr $bytes, 10 + $size;
    return ($shape, map { float16($_) } unpack 'v*', $values) if substr($bytes, 10, $size) =~ /'descr': '<f2'/;
    return ($shape, unpack 'f<*', $values);
}

# What 16 bits mean as a float16.
sub float16 {
    my ($bits) = @_;
    my ($sign, $exponent, $fraction) = ($bits >> 15 ? -1 : 1, $bits >> 10 & 31, $bits & 1023);
    return $sign * ($exponent == 31 ? ($fraction ? -sin(9**9**9) : 9**9**9) : $exponent == 0 ? $fraction * 2**-24 : (1024 + $fraction) * 2**($exponent - 25));
}

# ---- the arrays of an operation, each in a file of its name ----

# Says what the functions below are to know: the program, the values of its sizes, and the names of each array's sizes. Both hashes may still change.
my ($computes, $size, $dims);
sub describe_arrays { ($computes, $size, $dims) = @_ }
sub sizes_of { return map { $size->{$_} } @{ $dims->{ $_[0] } } }

# How many elements an array has.
sub count_of {
    my $count = 1;
    $count *= $_ for sizes_of($_[0]);
    return $count;
}

# The option for an array, and its file.
sub option_of { return ('--' . ($_[0] =~ s/_/-/gr), scratch("$_[0].npy")) }
sub write_array { write_npy(scratch("$_[0].npy"), '(' . join(', ', sizes_of($_[0])) . ',)', @{ $_[1] }) }

# Runs a variant on these inputs, name => values, and with these flags, name => whether; returns the arrays that it is to write.
sub compute {
    my ($in, $variant, @written) = @_;
    my @options = map { (option_of($_))[0] } grep { !ref $in->{$_} && $in->{$_} } sort keys %$in;
    for my $name (grep { ref $in->{$_} } sort keys %$in) {
        write_array($name, $in->{$name});
        push @options, option_of($name);
    }
    unlink map { scratch("$_.npy") } @written;
    my (undef, undef, $err) = run_program($computes, @options, (map { option_of($_) } @written), '--variant', $variant);
    Test::More::diag("$variant: $err") if $err ne '';
    return { map { my (undef, @values) = read_npy(scratch("$_.npy")); $_ => \@values } @written };
}

# The gradient of a loss, a function of such inputs, with respect to one of them, by finite differences.
sub finite_differences {
    my ($loss, $in, $name) = @_;
    my ($apart, @gradient) = 1e-5;
    for my $i (0 .. $#{ $in->{$name} }) {
        my @values = @{ $in->{$name} };
        $values[$i] += $apart;
        my $above = $loss->({ %$in, $name => [@values] });
        $values[$i] -= 2 * $apart;
        push @gradient, ($above - $loss->({ %$in, $name => \@values })) / (2 * $apart);
    }
    return \@gradient;
}

# The same inputs with steps [first, first + count) alone, of arrays (batch, seq_len, ...).
sub steps_of {
    my ($in, $first, $count) = @_;
    my %part = %$in;
    for my $name (grep { ref $in->{$_} && "@{ $dims->{$_} }" =~ /seq_len/ } keys %$in) {
        my $row = count_of($name) / $size->{batch} / $size->{seq_len};
        $part{$name} = [map { my $at = ($_ * $size->{seq_len} + $first) * $row; @{ $in->{$name} }[$at .. $at + $count * $row - 1] } 0 .. $size->{batch} - 1];
    }
    return \%part;
}

# The sources, and what was built for the simulator, in a folder where they may be changed and built. What was built is linked where that can be:
# compilers and linkers put a new file in an old one's place. Tests that run at the same time build, too: half files, and answers to exercises,
# which are gone again soon, are not copied.
sub copy_of_chapters {
    my $copy = scratch($_[0] // 'copy');
    mkdir $copy;
    system("cp -a [0-9][0-9]_* common cusim docs Makefile $copy && mkdir -p $copy/build/obj $copy/build/sim") == 0 or die 'cp';
    link_built($copy, qw(build/obj/sim build/obj/sim_debug build/sim_debug));
    return $copy;
}

# Without what another test has half, or takes away again: files that are being written, and the objects of answers.
sub link_built {
    my ($copy, @folders) = @_;
    for my $folder (grep { -d } @folders) {
        my $files = "find $folder -path '*/obj/*/build' -prune -o -type f ! -name '*.part-*' -print0 | xargs -0 cp --parents -t $copy";
        system("{ $files -al; } 2> /dev/null || { rm -rf $copy/$folder && $files -a; }") == 0 or die 'cp';
    }
}

# All that git knows, and all that was built, with its dates: a checkout in another place. Without what a reader has written or measured.
sub copy_of_tree {
    my $copy = scratch($_[0] // 'tree');
    mkdir $_ for $copy, "$copy/build";
    system('cp', '-a', (grep { !/^(?:\.\.?|\.git|build|results|handed_in|class(?:\.csv)?)$/ } glob '* .*'), $copy) == 0 or die 'cp';
    system("rm -rf $copy/[0-9][0-9]_*/exercises/mine") == 0 or die 'rm';
    link_built($copy, qw(build/obj build/sim build/sim_debug build/cuda build/cuda_debug));
    return $copy;
}

# Builds a chapter's program in the copy; what has changed is compiled sooner, because it is not optimised. Returns what is said.
sub build_quickly {
    my ($copy, $chapter) = @_;
    my $compile = "$copy/cusim/compile/cusim";
    my @times = (stat $compile)[8, 9]; # were it newer, make would compile everything
    write_file($compile, read_file($compile) =~ s{^(my \@options = .*?), \@compile\);}{$1, \@compile, qw(-Og -fno-tree-loop-optimize));}msr);
    utime @times, $compile;
    local @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
    delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
    return `make -j2 -C $copy/$chapter BACKEND=sim WERROR= ../build/sim/$chapter 2>&1`;
}

# The largest difference of two lists, over the largest value, or 1.
sub difference {
    my ($is, $must_be) = @_;
    return 9**9 if @$is != @$must_be;
    my ($most, $size) = (0, 1);
    for my $i (0 .. $#$is) {
        my $off = abs($is->[$i] - $must_be->[$i]);
        $most = $off if !($off <= $most);
        $size = abs $must_be->[$i] if abs $must_be->[$i] > $size;
    }
    return $most / $size;
}

1;
