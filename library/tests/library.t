# SPDX-License-Identifier: MIT
# liblinrec, as somebody uses it who has nothing but what `make install` leaves: compiled against in an empty directory, in C and in C++, and run.
use strict;
use warnings;
use lib 'common/tests';
use Cwd 'getcwd';
use Linrec;
use Test::More;

my $sim = backend() eq 'sim';
my $home = getcwd();
my ($installed, $staged, $empty) = map { scratch($_) } qw(installed staged empty);
mkdir $empty;

# ---- install ----

sub make_install { return run_program('make', '--no-print-directory', 'BACKEND=' . backend(), 'install', @_) }
my ($status, $out, $err) = make_install("PREFIX=$installed");
is("$status$err", '0', 'make install') or BAIL_OUT($out);
my @files = (qw(include/linrec.h lib/liblinrec.a lib/liblinrec.so lib/pkgconfig/linrec.pc share/doc/linrec/LICENSE), $sim ? 'include/cusim/cuda_runtime_api.h' : ());
ok(-s "$installed/$_", "it installs $_") for @files;
my @others = grep { my $file = $_; !grep { $_ eq $file } @files } map { s{^\Q$installed\E/}{}r } split /\n/, `find $installed -type f`;
is("@others", 'lib/liblinrec.so.' . join('.', read_file('library/liblinrec.h') =~ /LINREC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)/g), 'and nothing else, but for the file of the version');
make_install('PREFIX=/usr', "DESTDIR=$staged");
like(read_file("$staged/usr/lib/pkgconfig/linrec.pc"), qr{^prefix=/usr$}m, 'DESTDIR is where a package is put together, and PREFIX where it will be');

# ---- compile and run, in an empty directory ----

# What pkg-config says; where it is not installed, what it would say.
sub flags {
    return split ' ', `PKG_CONFIG_PATH=$installed/lib/pkgconfig pkg-config --cflags --libs linrec` if system('pkg-config --version > /dev/null 2>&1') == 0;
    my %value = read_file("$installed/lib/pkgconfig/linrec.pc") =~ /^(\w+)(?:=|: )(.*)$/mg;
    my $said = "$value{Cflags} $value{Libs}";
    1 while $said =~ s/\$\{(\w+)\}/$value{$1}/;
    return split ' ', $said;
}
# As somebody's shell would: without the variables of the make that runs the tests.
sub in_empty {
    delete local @ENV{grep { /^(?:MAKE|MFLAGS|C_?FLAGS|CPATH|C_INCLUDE)/ } keys %ENV};
    local $ENV{LD_LIBRARY_PATH} = "$installed/lib";
    chdir $empty or die $!;
    my @result = run_program(@_);
    chdir $home or die $!;
    return @result;
}
sub compiles {
    my ($what, @command) = @_;
    my ($status, undef, $err) = in_empty(@command);
    is("$status$err", '0', $what);
}

# The numbers that an example of the page prints.
sub example {
    my ($name) = @_;
    write_file("$empty/$name.c", read_file("docs/examples/$name.c"));
    compiles("the example $name.c compiles with what pkg-config says alone", 'cc', "$name.c", flags(), '-o', $name);
    my ($status, $out, $err) = in_empty("./$name");
    is("$status$err", '0', 'and runs');
    cmp_ok(scalar(grep { /\S/ } split /\n/, (read_file("docs/examples/$name.c") =~ /(int main.*)/s)[0]), '<=', 40, 'in 40 lines at most');
    return $out =~ /(-?\d+\.\d+)/g;
}
my @numbers = example('library');
cmp_ok(@numbers, '==', 4, 'it prints three results and what a loop says') or diag("@numbers");
cmp_ok(abs($_ - $numbers[3]), '<', 0.001, "$_ is right") for @numbers[0 .. 2];
@numbers = example('layout');
cmp_ok(@numbers, '==', 6, 'it prints three results, each with what a loop says') or diag("@numbers");
cmp_ok(abs($numbers[2 * $_] - $numbers[2 * $_ + 1]), '<', 0.001, "$numbers[2 * $_] is right") for 0 .. 2;

@numbers = example('stretches');
cmp_ok(@numbers, '==', 8, 'it prints four results, each with that of one pass') or diag("@numbers");
cmp_ok(abs($numbers[2 * $_] - $numbers[2 * $_ + 1]), '<', 0.001, "$numbers[2 * $_] is right") for 0 .. 3;

my ($cflags) = join ' ', grep { /^-I/ } flags();

# in C++, and found while the program runs, or not there
write_file("$empty/$_", read_file("docs/examples/$_")) for qw(library.cpp dlopen.c);
compiles('the example library.cpp compiles', qw(c++ -std=c++17 -Wall -Wextra -Werror library.cpp), flags(), '-o', 'library_cpp');
compiles('the example dlopen.c compiles, and is not linked with the library', qw(cc -Wall -Wextra -Werror dlopen.c), split(' ', $cflags), '-ldl', '-o', 'dlopen');
for my $name ('library_cpp', 'dlopen') {
    my ($status, $out, $err) = in_empty("./$name");
    is("$status$err", '0', "$name runs");
    my ($is, $expected) = $out =~ /ends with (\d+\.\d+); a loop says (\d+\.\d+)/;
    ok(defined $is && abs($is - $expected) < 0.001, 'and is right') or diag($out);
}
{
    (my $there, $installed) = ($installed, scratch('nowhere'));
    like(join('', (in_empty('./dlopen'))[0 .. 2]), qr/^0there is no liblinrec here; a loop says \d+\.\d+\n$/, 'dlopen without the library goes on');
    $installed = $there;
}
my @strict = qw(-Wall -Wextra -Wpedantic -Werror -fsyntax-only);
write_file("$empty/header.$_", "#include <linrec.h>\n") for qw(c cpp);
compiles('the header by itself is C11', qw(cc -std=c11), @strict, 'header.c', map { s/^-I/-isystem/r } split ' ', $cflags);
compiles('and C++11', qw(c++ -std=c++11), @strict, 'header.cpp', map { s/^-I/-isystem/r } split ' ', $cflags);
write_file("$empty/other.cpp", "#include <linrec.h>\nint main() { linrec_chunk_state c = {}; return linrec_chunk_state_forward(&c, nullptr); }\n");
compiles('a C++ program links it', 'c++', 'other.cpp', flags(), '-o', 'other');
is((in_empty('./other'))[0], 0, 'and runs');

# a function of the course's inner names is the program's own, in a shared and in a static library
my %about = (
    results => 'right results and gradients: every field of the structs arrives',
    errors  => 'each wrong argument has its status',
    before  => "an error that was there before is neither returned nor cleared",
    ($sim ? () : (graph => 'captured in a graph, and replayed')),
);
my %programs = (
    calls => {%about, threads => 'several host threads at once', infinities => 'an infinity stays one, or becomes a NaN, and stays in its sequence'},
    layout => {%about, promises => 'the same bits in each run; a NaN stays in its sequence', starts => 'wrong starts lead to no access outside the arrays', step => 'a step, in place'},
    transitions => {results => 'the transitions of stretches are what a loop says', joined => 'stretches joined are one pass', map { $_ => $about{$_} } qw(errors before)},
    steps => {%about, results => "the layers' steps, in place, are what a loop says"},
);
write_file("$empty/calls.h", read_file('library/tests/calls.h'));
for my $program (sort keys %programs) {
    write_file("$empty/$program.c", read_file("library/tests/$program.c") . join '', map { "int $_(void);\nint $_(void)\n{\n    abort();\n}\n" } qw(linrec_forward gpu_info_read choose));
    my @all = ('cc', qw(-std=gnu11 -Wall -Wextra -Werror), "$program.c", flags(), qw(-lm -lpthread));
    compiles("a program of all calls compiles: $program.c", @all, '-o', $program);
    compiles('and with the static library', (map { $_ eq '-llinrec' ? '-l:liblinrec.a' : $_ } @all), ($sim ? () : qw(-lcudart -ldl -lrt)), '-lstdc++', '-o', "${program}_static");
    my $about = $programs{$program};
    for my $run ($program, "${program}_static") {
        # both are made of the same objects: on the simulator a few calls show that the static one is whole
        for my $what (grep { !$sim || $run eq $program || /^(?:before|errors)$/ } sort keys %$about) {
            # blocks that take one sequence for theirs race for its state, which is among the results that nobody promises
            local $ENV{CUSIM_CHECKS} = 'bounds' if $what eq 'starts';
            my $said = join '', (in_empty(patiently(100, "./$run", $what)))[0 .. 2];
            # a program shares CUDA's runtime with the static library, and there a launch that succeeds takes the place of an error from before
            $said =~ s/after linrec_\w+_(?:forward|backward|step|transition)\(.*\) an error from before is "no error"\n//g if $what eq 'before' && $run =~ /static/ && !$sim;
            is($said, '0', "$run: $about->{$what}");
        }
    }
}
is(join('', (in_empty(patiently(100, './calls', 'states')))[0 .. 2]), '0', 'initial and final states, and their gradients');

# ---- what is in it ----

sub names { return map { / (\S+)$/ ? $1 : () } split /\n/, `nm @_` }
my $shown = $sim ? qr/^(?:linrec_|cuda[A-Z])/ : qr/^linrec_/;
my @declared = read_file('library/liblinrec.h') =~ /^LINREC_API .*?\b(linrec_\w+)\(/mg;
for my $library (qw(liblinrec.so liblinrec.a)) {
    my @names = names($library =~ /so$/ ? '-D' : '-g', '--defined-only', "$installed/lib/$library");
    is_deeply([grep { $_ !~ $shown } @names], [], "$library shows the names of linrec.h alone" . ($sim ? ', and those of CUDA, whose place the simulator takes' : ''));
    is_deeply([sort grep { /^linrec_/ } @names], [sort @declared], 'and all of them');
}
my %inside = map { $_ => 1 } names('--defined-only', "$installed/lib/liblinrec.a");
my @foreign = grep { $inside{$_} && !/^DW\.ref\./ } map { names('-g', '--defined-only', $_) } grep { !/baselines\.o$/ } glob 'build/obj/' . backend() . '/common/{harness,linrec,base}/*.o';
is("@foreign", '', 'nothing of the harness is in it');
is(join(' ', grep { /^chapter\d+/ } keys %inside), '', 'and no table of kernels');
ok($inside{$_}, "but $_ is") for qw(selective_forward chunk_state_backward lookback_resident scan_default layout_split layout_step selective_step chunk_state_step layer_default layer_transition selective_transition chunk_state_transition);
my @by_name = grep { my $object = $_; -f && grep { /^str(?:n|case)?cmp$/ } map { / U (\w+)/ ? $1 : () } split /\n/, `nm $object` } glob 'build/obj/' . backend() . '/{library,[0-9]*/kernels,[0-9]*}/{default,launch,recurrence,layout,selective_scan,chunk_state}.o';
is("@by_name", '', 'no default finds a kernel by its name');

# ---- the library is on top: nothing of the course takes from it, and all of the kernels' headers go together ----

my @takes = split /\n/, `grep -lE 'include "(\\.\\./)+library/' [0-9]*/*.[ch]* [0-9]*/*/*.[ch]* common/*/*.[ch]* 2> /dev/null`;
is("@takes", '', 'no chapter takes from the library');
my $header = join '', map { "#include \"$home/$_\"\n" } qw(08_lookback/lookback.h 08_lookback/persistent_cluster.h 09_selective_scan/kernels/selective_check.h 09_selective_scan/kernels/workspace.h 10_chunk_state/kernels/kernels.h
    10_chunk_state/kernels/low_rank_plan.h 10_chunk_state/kernels/tma_plan.h 14_chunk_product/kernels/layer_check.h 14_chunk_product/kernels/layer_kernels.h
    13_layout/kernels/kernels.h 13_layout/kernels/walk.h 13_layout/kernels/chunk_plan.h library/liblinrec.h);
write_file("$empty/together.c", $header);
compiles("the chapters' headers can be included together", 'cc', '-std=c11', '-fsyntax-only', '-Wall', 'together.c', $sim ? "-I$home/cusim/include" : split ' ', $cflags);

# ---- the example for torch has the structs field by field ----

my %kind = (size_t => 'size', bool => 'bool', 'enum linrec_dtype' => 'dtype', 'struct linrec_strides' => 'strides');
my $example = read_file('docs/examples/torch_linrec.py');
for my $struct (read_file('library/liblinrec.h') =~ /^(struct \w+ \{\n.*?)^\};/msg) {
    my ($name, $fields) = $struct =~ s{/\*.*?\*/}{}gsr =~ /^struct (\w+) \{(.*)/s;
    my @fields = map { my ($type, $names) = /^\s*(?:const )?((?:enum |struct )?\w+) (.*)/s ? ($1, $2) : ();
        map { /(\*?)(\w+)/ ? ($1 ? 'pointer' : $kind{$type}) . " $2" : () } split /,/, $names // '' } split /;/, $fields;
    my @lines = ($example =~ /struct\(\s*'$name',\s*(('[\w ]+',?\s*)+)\)/)[0] =~ /'(.*?)'/g;
    is(join(', ', map { my ($type, @names) = split; map { "$type $_" } @names } @lines), join(', ', @fields), "torch_linrec.py knows struct $name");
}

# ---- the page: what it says of a single kernel's files ----

my ($single) = read_file('docs/library.md') =~ /^nvcc .* -c (.*)$/m;
my @objects = map { s{^}{'build/obj/' . backend() . '/'}er =~ s/\.\w+$/.o/r } split ' ', $single;
my %defined = map { $_ => 1 } map { names('-g', '--defined-only', $_) } @objects;
my %elsewhere = map { $_ => 1 } map { names('-g', '--defined-only', $_) } glob 'build/obj/' . backend() . '/{[0-9]*,common/{base,cuda,harness,linrec}}/*.o';
is(@objects . ': ' . join(' ', grep { $elsewhere{$_} && !$defined{$_} } map { names('-u', $_) } @objects), '3: ', "the files of a single kernel need no others: $single");

done_testing;
