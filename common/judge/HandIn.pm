# SPDX-License-Identifier: MIT
# HandIn.pm - the rules for a hand-in's code: looked at as text before it is compiled, and as the object that the compiler made of it
# before it is linked. README.md beside this file says the rules. Where it runs, and under which limits, is another matter: this is the first of two walls.
#
#   as_meant          a text as its author saw it: line ends, marks and the last line as every editor shows them
#   refused_text      undef, or the report that says why a text is not compiled
#   refused_object    undef, or the report that says why an object is not linked
#   has_same_words    whether two texts differ in comments and layout alone
#   is_known_solution whether a text is our solution, but for names, comments and layout
package HandIn;
use strict;
use warnings;
use Exporter 'import';
use Running 'read_text';
our @EXPORT = qw(as_meant refused_text refused_object has_same_words is_known_solution);

my $most_bytes = 60000; # of a hand-in; a pattern of Perl repeats 65534 times at most

# Line ends of Windows and of old Macs, a mark of UTF-8 in front, an end-of-file mark of DOS behind, a last line without its end.
sub as_meant {
    my ($text) = @_;
    $text =~ s/^\xEF\xBB\xBF//;
    $text =~ s/\r\n?/\n/g;
    $text =~ s/\x1A+\z//;
    $text .= "\n" if $text !~ /\n\z/;
    return $text;
}

# A report: where, and one sentence, or two.
sub report {
    my ($text, $shown, $line, $sentence) = @_;
    my $source = defined $line ? (split /\n/, $text)[$line - 1] // '' : '';
    $source =~ s/^\s+|\s+$//g;
    return "It was not run.\n" . (defined $line ? "  At $shown:$line:\n" : '') . ($source eq '' ? '' : '      ' . substr($source, 0, 200) . "\n") . "  $sentence\n";
}

# ---- the words of a text, as the compiler reads them ----

my $blank = qr{(?:[ \t\f\x0B]|/\*.*?\*/|//[^\n]*)*+}s;

# A text as a list of [kind, text, line]: `word', `string', `other', and `directive' (its name) and `include' (its file, "" or <> and all; '' where it is
# none that can be read). Comments and blanks are left out. on_cpu: C11; else C++17.
sub words {
    my ($text, $on_cpu) = @_;
    my %trigraph = ("=" => "#", "/" => "\\", "'" => "^", "(" => "[", ")" => "]", "!" => "|", "<" => "{", ">" => "}", "-" => "~");
    $text =~ s{\?\?([=/'()!<>-])}{$trigraph{$1}}g if $on_cpu;
    # a line that goes on is joined; the lines that it took come behind it
    $text =~ s{^((?:[^\n]*\\[ \t\f\x0B]*\n)+[^\n]*)}{my $whole = $1; my $joined = $whole =~ s/\\[ \t\f\x0B]*\n//g; $whole . "\n" x $joined}gme;

    my ($line, $starts, @words) = (1, 1);
    my $prefix = $on_cpu ? qr/(?:u8|[uUL])?/ : qr/(?:u8|[uUL])?R?/;
    my $number = $on_cpu ? qr/\.?[0-9](?:[eEpP][+-]|[\w.])*+/ : qr/\.?[0-9](?:[eEpP][+-]|'\w|[\w.])*+/;
    for ($text) {
        while (!/\G\z/gc) {
            if (/\G\n/gc) { $line++; $starts = 1; next }
            if (m{\G(?:[ \t\f\x0B]+|//[^\n]*|/\*.*?(?:\*/|\z))}sgc) { $line += $& =~ tr/\n//; next }
            if ($starts && /\G(?:\#|%:)(?!\#|%:)$blank(\w*)/gc) {
                my ($name, $passed) = ($1, $& =~ tr/\n//);
                push @words, ['directive', $name, $line];
                push @words, ['include', /\G$blank("[^"\n]*"|<[^>\n]*>)$blank(?=\n)/gc ? $1 : '', $line] if $name eq 'include';
                $line += $passed;
            } elsif (/\G($prefix)"(?:[^"\\\n]|\\.)*+"?/gc) { push @words, ['string', $&, $line] }
            elsif (/\G(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*+'?/gc) { push @words, ['other', $&, $line] }
            elsif (/\G$number/gc) { push @words, ['other', $&, $line] }
            elsif (/\G[A-Za-z_\$\x80-\xFF][\w\$\x80-\xFF]*+/gc) { push @words, ['word', $&, $line] }
            elsif (/\G<:(?!:(?![:>]))/gc) { push @words, ['other', '[', $line] }
            elsif (/\G:>/gc) { push @words, ['other', ']', $line] }
            elsif (/\G(?:\#\#|%:%:|\#%:|%:\#)/gc) { push @words, ['other', '##', $line] }
            elsif (/\G./gcs) { push @words, ['other', $&, $line] }
            $starts = 0;
        }
    }
    return @words;
}

# The words of the simulator's headers, which stand in for CUDA's: what is there, an answer may use. Not those of whole libraries (cuBLAS, cuRAND, cuFFT, NCCL): here
# they compute on the host.
my $offered;
sub offered {
    return $offered if $offered;
    $offered = {};
    for my $header (grep { !m{/(?:cublas|curand|cufft|nccl|nvTools)[^/]*$} } glob 'cusim/include/*.h cusim/include/{cuda,cooperative_groups}/* common/cuda/*.h common/cuda/*.cuh') {
        $offered->{$_} = 1 for (read_text($header) // '') =~ /[A-Za-z_]\w*/g;
    }
    return $offered;
}

# ---- the text ----

my %directive = map { $_ => 1 } '', qw(define undef if ifdef ifndef elif else endif include pragma error warning);
my %attribute = map { $_ => 1 } qw(aligned unused maybe_unused noinline always_inline fallthrough nodiscard const pure hot cold deprecated noreturn);
my $pragma = qr/^(?:unroll|nounroll|once|GCC (?:unroll|diagnostic|ivdep)|nv_\w+|diag_\w+|STDC FP_CONTRACT|region|endregion)$/;

my @c_headers = qw(math stdint stddef float limits assert stdio stdbool string stdlib);
my %header = map { $_ => 1 } map({ "$_.h" } @c_headers), qw(cuda_runtime.h cuda_runtime_api.h);
my %cuda_header = map { $_ => 1 } map({ "c$_" } @c_headers), qw(algorithm limits cuda_pipeline.h cuda_fp16.h cuda_bf16.h cooperative_groups.h cooperative_groups/reduce.h
    cooperative_groups/scan.h cooperative_groups/memcpy_async.h mma.h math_constants.h cuda/atomic cuda/barrier cuda/pipeline);
my %cpu_header = map { $_ => 1 } qw(pthread.h stdatomic.h);

# Words that begin as the compiler's own do, and that are C's or harmless.
my %plain = map { $_ => 1 } qw(__func__ __FUNCTION__ __PRETTY_FUNCTION__ __LINE__ __FILE__ __VA_ARGS__ __restrict __restrict__ __inline __inline__ __const __volatile__
    __CUDACC__ __cplusplus __STDC_VERSION__ __noinline__ __builtin_expect __builtin_assume __builtin_assume_aligned __builtin_unreachable __assume
    _Bool _Alignas _Alignof _Static_assert _Noreturn _Atomic _Generic);

# The headers that an exercise names, as its task and its solution do: without the way up, and also from the root.
sub named_headers {
    my ($exercise) = @_;
    return map { $_ => 1 } map { m{/} ? $_ : ($_, "$exercise->{chapter}/$_") } map { map { s{^(?:\.\./)+}{}r } /^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"/mg } map { read_text($exercise->{$_}) // '' } qw(path solution);
}

sub refused_text {
    my ($exercise, $text, $shown) = @_;
    return report('', $shown, undef, "It is longer than $most_bytes bytes. What an exercise asks for fits on a page or two.") if length $text > $most_bytes;
    return report('', $shown, undef, 'It is not a text in UTF-8, it may be UTF-16. Save it as UTF-8, which every editor offers under "encoding".') if $text =~ /\0/;
    $text = as_meant($text);
    return report($text, $shown, 1 + ($` =~ tr/\n//), 'There is a control character in this line. Type the line anew.') if $text =~ /[\x01-\x08\x0E-\x1F\x7F]/;

    my %may = named_headers($exercise);
    my @words = words($text, $exercise->{on_cpu});
    my $refuse = sub { return report($text, $shown, $_[0][2], $_[1]) };
    for my $i (0 .. $#words) {
        my ($kind, $what) = @{ $words[$i] };
        my @next = map { $_->[1] } @words[$i + 1 .. ($i + 2 > $#words ? $#words : $i + 2)];
        if ($kind eq 'directive') {
            return $refuse->($words[$i], "`#$what' is not for a hand-in: what is compiled is this file, with the headers that it names.") if !$directive{$what};
            return $refuse->($words[$i], "`#$what $next[0]' changes a name that is not yours. Names that begin with an underscore are the compiler's and CUDA's.")
                if $what =~ /^(?:define|undef)$/ && ($next[0] // '') =~ /^_|^(?:CUSIM|defined)$/;
            if ($what eq 'pragma') {
                my $name = ($next[0] // '') =~ /^(?:GCC|STDC)$/ ? join ' ', @next[0, 1] : $next[0] // '';
                return $refuse->($words[$i], "`#pragma $name' is not for a hand-in. `#pragma unroll' is.") if $name !~ $pragma;
            }
        } elsif ($kind eq 'include') {
            my ($quote, $file) = $what =~ /^(["<])(?:\.\.?\/)*(.*)[">]$/;
            next if defined $file && ($header{$file} || ($exercise->{on_cpu} ? \%cpu_header : \%cuda_header)->{$file} || $quote eq '"' && $may{$file});
            my @ours = map { "`$_'" } sort keys %may;
            return $refuse->($words[$i], ($what eq '' ? 'This include names no file that can be read here.' : "$what is not for a hand-in.")
                . ' It may include ' . ($exercise->{on_cpu} ? 'C\'s headers for mathematics, types and threads' : 'CUDA\'s headers and C\'s for mathematics and types')
                . (@ours ? ', and of ours ' . join(' and ', @ours) : '') . '.');
        } elsif ($kind eq 'string') {
            return $refuse->($words[$i], 'Write this string in double quotes alone: raw strings are not for a hand-in.') if $what =~ /^\w*R"/;
            return $refuse->($words[$i], '`%n\' has printf write to memory, which nobody watches, and which CUDA does not know.') if $what =~ s/%%//gr =~ /%[-+ #0-9.*'hljztL]*n/;
        } elsif ($kind eq 'other') {
            return $refuse->($words[$i], '`##\' glues words together, and what they become cannot be read here. Write them out.') if $what eq '##';
            return $refuse->($words[$i], 'Write this name in letters: `\\u\' and `\\U\' belong into strings.') if $what eq '\\' && ($next[0] // '') =~ /^[uU]/;
            if ($what eq '[' && ($next[0] // '') eq '[') { # [[attribute]]
                my $bad = bad_attribute(\@words, $i, $text, $shown);
                return $bad if defined $bad;
            }
        } elsif ($what eq '__CUDA_ARCH__' && grep { $_->{text} =~ /^registers\b/ } @{ $exercise->{goal} // [] }) {
            return $refuse->($words[$i], 'Another chip than the one on which it is judged would get another kernel, and registers are counted for that one.');
        } elsif ($what eq '_Atomic' && $exercise->{goal}) {
            return $refuse->($words[$i], 'Atomics are not counted, and this exercise needs none.');
        } elsif ($what =~ /^(?:__)?asm(?:__)?$/) {
            return $refuse->($words[$i], 'Inline assembly is not for a hand-in: the simulator cannot watch it.');
        } elsif ($what =~ /^__attribute(?:__)?$/) {
            my $bad = bad_attribute(\@words, $i, $text, $shown);
            return $bad if defined $bad;
        } elsif ($what =~ /^(?:sim|SIM|judge|CUSIM)_|\dsim_|^CUSIM$/ || $what =~ /^_[_A-Z]/ && !$plain{$what} && (!offered()->{$what} || $what =~ /^__(?:sim|builtin)_/)) {
            return $refuse->($words[$i], $what =~ /^_/ ? "`$what' is a name of the compiler's, or one that the simulator does not have. What CUDA's guide explains is enough here."
                : "`$what' begins as the names of the simulator and of the judge do. Call yours otherwise.");
        }
    }
    return undef;
}

# The report about an attribute that is none of the list, in the brackets that follow word $i; undef if there is none.
sub bad_attribute {
    my ($words, $i, $text, $shown) = @_;
    my $depth = 0;
    for my $at ($i + 1 .. $#$words) {
        my ($kind, $what, $line) = @{ $words->[$at] };
        $depth++ if $what =~ /^[[(]$/;
        $depth-- if $what =~ /^[])]$/;
        my $plain = $what =~ s/^__(\w+)__$/$1/r;
        return report($text, $shown, $line, "The attribute `$what' is not for a hand-in. What it changes, the judge could not see.")
            if $kind eq 'word' && !$attribute{$plain} && $depth <= 2 && $what ne 'gnu';
        return report($text, $shown, $line, 'These brackets are too many for an attribute.') if $depth > 8;
        return undef if $depth <= 0;
    }
    return undef;
}

# ---- the object ----

my $c_library; # names of the C library and of C++'s => 1; those of mathematics => 2
sub c_library {
    return $c_library if $c_library;
    my $compiler = $ENV{CXX} || 'g++';
    $c_library = {};
    for my $library (qw(libc.so.6 libpthread.so.0 libgcc_s.so.1 libstdc++.so.6 libm.so.6)) {
        my ($path) = run($compiler, "-print-file-name=$library") =~ /^(\S+)/;
        next if $path !~ m{^/}; # there is none: newer C libraries have no libpthread of their own
        $c_library->{$_} = $library eq 'libm.so.6' ? 2 : 1 for run('nm', '-D', '--defined-only', $path) =~ / [A-Za-z] ([^@\s]+)/g;
    }
    return $c_library;
}

# What a command prints.
sub run {
    open my $out, '-|', @_ or die "cannot run $_[0]: $!\n";
    local $/;
    my $text = <$out>;
    close $out or die "$_[0] failed\n";
    return $text;
}

# The name in the source that a symbol stands for, as far as the compiler's spelling tells it.
sub plain_name {
    my ($symbol) = @_;
    return $symbol =~ /^_Zn/ ? 'operator new' : 'operator delete' if $symbol =~ /^_Z(?:n[wa]|d[la])/;
    return $symbol =~ /^_Z(?:[NLK]|St|TI|TV|GV|Z)*(\d+)(\w+)/ ? substr($2, 0, $1) : $symbol =~ s/\.\w+$//r;
}

my $compilers_own = qr/^(?: _GLOBAL_OFFSET_TABLE_ | __(?:tsan|ubsan|asan)_\w+ | __stack_chk_fail | __assert_fail
    | __cxa_guard_(?:acquire|release|abort) | __gxx_personality_v0 | _Unwind_Resume
    | __aarch64_(?:cas|swp|ldadd|ldclr|ldeor|ldset)\d+_\w+ | sim_(?:printf|puts|putchar|memcpy|memset|memmove) # atomics on ARM; printf and memory of a .cu file
    | __(?:u?div|u?mod|mul|popcount|parity|clz|ctz|ffs|fix|fixuns|float|floatun|extend|trunc|ashl|ashr|lshr|cmp|pow)[a-z]+\d
    | sim_(?:changes|(?:read|write)(?:1|2|4|8|16)) # what calls of the sanitizer become
    | memcpy | memset | memmove | exit | printf | vprintf | puts | putchar | putc | fprintf | fputs | fputc | fwrite | fflush | stdout | stderr | abs | labs | llabs )$/x;
my $in_c = qr/^(?: malloc | calloc | free | judge_thread_(?:create|join) | pthread_(?:self|equal) | pthread_(?:mutex|barrier|cond|rwlock|spin)_\w+ )$/x;
my %cuda = map { $_ => 1 } qw(cudaGetLastError cudaPeekAtLastError cudaGetErrorName cudaGetErrorString cudaFuncSetAttribute cudaFuncGetAttributes cudaGetDevice cudaDeviceGetAttribute
    cudaDeviceSynchronize cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveClusters cudaOccupancyMaxPotentialClusterSize);

# What to do instead.
my @instead = (
    [qr/^(?:_?_?|quick_)exit$|^_Exit$|^abort$/ => 'returns the error, and the judge says what it means'],
    [qr/^(?:malloc|calloc|realloc|free|aligned_alloc|operator (?:new|delete))$/ => 'gets its arrays, and has local ones'],
    [qr/^(?:time|clock|clock_gettime|gettimeofday|rand|srand|random)$/ => 'gives the same results each time'],
);

my $section = qr/^(?: (?:\.rela?)?\.(?:text|data|bss|rodata)(?:\..*)? | (?:\.rela?)?\.(?:eh_frame|gcc_except_table(?:\..*)?|debug_\w+)
    | \.comment | \.note\.GNU-stack | \.note\.gnu\.property | \.group | \.symtab | \.strtab | \.shstrtab )$/x;
my $initialiser = qr/^(?:\.rela?)?\.(init|fini)_array\.00099$/; # where a sanitizer's own one lies, in every object that it has been through

sub refused_object {
    my ($exercise, $object, $text, $shown) = @_;
    $text = as_meant($text);
    my ($sections, $symbols) = run('readelf', '-SsW', $object) =~ /^(.*?)^Symbol table(.*)/ms or die "readelf says nothing of $object\n";
    return refused_section($exercise, $object, $text, $shown, $sections, $symbols) // refused_symbol($exercise, $object, $text, $shown, $symbols);
}

# Sections: code, data, constants, what a debugger reads, and nothing else.
sub refused_section {
    my ($exercise, $object, $text, $shown, $sections, $symbols) = @_;
    my ($read, %writable) = (0);
    while ($sections =~ /^  \[ *(\d+)\] (\S+) +([A-Z]\w+) +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Za-z]*) +\d/mg) {
        my ($number, $name, $type, $size, $flags) = ($1, $2, $3, hex $4, $5);
        $read++;
        $writable{$number} = 1 if $flags =~ /W/ && $name =~ /^\.(?:data|bss)(?!\.rel\.ro)/;
        my $code = $name =~ /^\.text(?:\.|$)/;
        my ($end) = $name =~ $initialiser;
        next if defined $end && ($end eq "init" || $exercise->{on_cpu}) && $size == ($type =~ /^RELA?$/ ? 24 : 8);
        if ($name =~ /^(?:\.rela?)?\.(?:init|fini|preinit|ctors|dtors)/) {
            my ($at) = $symbols =~ /([0-9a-f]+) +\d+ FUNC +\w+ +\w+ +\d+ _GLOBAL__sub_I_/;
            my ($from) = defined $at ? run('addr2line', '-j', '.text.startup', '-e', $object, $at) =~ /:(\d+)/ : ();
            return report($text, $shown, $from, 'A variable gets its value by a call before the program begins, or a function runs there by itself. '
                . 'Give it a constant, and let the launcher begin everything.');
        }
        return report($text, $shown, undef, 'A variable for each thread of the host (thread_local) is not for a hand-in. A local variable is each thread\'s own.') if $flags =~ /T/;
        return report($text, $shown, undef, 'A function inside of a function, whose address is taken, needs a stack that can be executed. Take it out, to file scope.')
            if $name eq '.note.GNU-stack' && $flags =~ /X/;
        return report($text, $shown, undef, "The object has a part of its own, `$name', which no answer needs.")
            if $name !~ $section || $type !~ /^(?:NULL|PROGBITS|NOBITS|RELA?|GROUP|STRTAB|SYMTAB|NOTE|X86_64_UNWIND)$/ || ($flags =~ /X/) != $code || $code && $flags =~ /W/;
    }

    die "not all sections of $object were understood\n" if $sections !~ /There are (\d+) section headers/ || $read != $1 - 1;
    return $exercise->{on_cpu} ? undef : refused_variables($text, $shown, $symbols, \%writable);
}

# Variables of a file with kernels: what an answer keeps in them, from launch to launch or between threads, is neither judged nor counted.
my $most_variables = 64; # bytes

sub refused_variables {
    my ($text, $shown, $symbols, $writable) = @_;
    my ($bytes, $largest, $name) = (0, 0);
    while ($symbols =~ /^ *\d+: [0-9a-f]+ +(0x[0-9a-f]+|\d+) [A-Z]\w* +[A-Z]\w* +\w+ +(?:\[.*?\] +)?(\w+) +(\S+)/mg) {
        my ($size, $where, $symbol) = ($1, $2, $3);
        $size = hex $size if $size =~ /^0x/;
        # not the simulator's own: for each shared array, in its functions, and for each access
        next if !$writable->{$where} && $where ne 'COM' || $symbol =~ /^_Z(?:GV)?Z\d+sim_|^_ZZ.*E\d+sim_\w+$|^DW\.ref\.|^sim_shortcuts$/;
        $bytes += $size;
        ($largest, $name) = ($size, $symbol =~ /^_ZZ.*E\d+(\w+?)(?:_\d+)?$/ ? $1 : plain_name($symbol)) if $size > $largest;
    }
    return undef if $bytes <= $most_variables;
    return report($text, $shown, undef, "Variables outside of functions and static ones hold $bytes bytes, `$name' the most: loads from them and stores to them are not counted, so $most_variables "
        . 'are allowed. Use the arrays that the exercise gives, shared memory, or what is const.');
}

# Symbols: what it uses is on a list, and what it defines is its own.
sub refused_symbol {
    my ($exercise, $object, $text, $shown, $symbols) = @_;
    my $on_cpu = $exercise->{on_cpu};
    my %line; # where each word stands first
    $line{ $_->[1] } //= $_->[2] for grep { $_->[0] eq 'word' } words($text, $on_cpu);
    my $refuse = sub { my ($name, $sentence) = @_; return report($text, $shown, $line{ $name =~ s{ .*}{}r }, $sentence) };
    my ($may, $offered, $library) = ({ map { $_ => 1 } split ' ', $exercise->{may} // '' }, offered(), c_library());
    my ($read, $taken) = (0);
    while ($symbols =~ /^ *\d+: [0-9a-f]+ +\w+ ([A-Z]\w*) +([A-Z]\w*) +\w+ +(?:\[.*?\] +)?(\w+) +(\S+)/mg) {
        my ($type, $binding, $where, $symbol) = ($1, $2, $3, $4);
        $read++;
        my $name = plain_name($symbol);
        return $refuse->($name, "`$name' is a symbol that the linker or the loader chooses (IFUNC or TLS), which no answer needs.") if $type !~ /^(?:NOTYPE|OBJECT|FUNC|SECTION|FILE)$/;
        next if $binding eq 'LOCAL';
        if ($where eq 'UND') {
            if ($name =~ /^cuda[A-Z]/) {
                next if $cuda{$name} || $may->{$name};
                return $refuse->($name, "`$name' is not for this exercise: " . (%$may ? 'of the functions that allocate, copy and free it may call ' . join(', ', sort keys %$may) . '.'
                    : 'the arrays are on the device already, and the judge copies what comes out.'));
            }
            next if $symbol =~ $compilers_own || ($library->{$symbol} // 0) == 2 && $symbol !~ /^fe[a-z]/ || $may->{$symbol};
            next if $on_cpu ? $symbol =~ $in_c : $offered->{$name} && $symbol !~ /^_ZN/ && !$library->{$symbol};
            my ($instead) = map { $_->[1] } grep { $name =~ $_->[0] } @instead;
            return $refuse->($name, "`$name' is not among what a hand-in may use: an answer $instead.") if defined $instead;
            return $refuse->($name, "`$name' is not among what a hand-in may use: " . ($on_cpu ? 'mathematics, memcpy and memset, malloc and free, printf, and threads.'
                : 'kernels and launches, what CUDA has inside of kernels, mathematics and printf.'));
        }
        next if $symbol eq 'DW.ref.__gxx_personality_v0'; # the compiler's own, in every object with C++'s exceptions
        $taken //= taken($exercise, $object);
        if ($binding =~ /^(?:WEAK|UNIQUE)$/) { # a template, or an inline function: also those of headers, which are everywhere the same
            next if $symbol =~ /^_Z/ && (!$taken->{$symbol} && !$library->{$symbol} || $offered->{$name} && ($name =~ /^sim_/ || $text !~ /\btemplate\s*<\s*>/));
        } else {
            next if !$taken->{$symbol} && $symbol !~ $compilers_own; # else its own is its own: the judge's makefile sees to that
        }
        return $refuse->($name, "`$name' is a name that the judge or the simulator have already. Call yours otherwise, or make it static.");
    }
    my ($all) = $symbols =~ /contains (\d+) entries/;
    my $unnamed = () = $symbols =~ /^ *\d+: [0-9a-f]+ +\w+ [A-Z]\w* +[A-Z]\w* +\w+ +\w+ *$/mg;
    die "not all symbols of $object were understood\n" if $read + $unnamed != $all;
    return undef;
}

# What the answer's process consists of without it: the judge's runner and the simulator, as the judge's makefile has built them.
sub taken {
    my ($exercise, $object) = @_;
    my ($built) = $object =~ m{^(.*?)/?build/exercises/} or die "$object is no answer's\n";
    my @objects = grep { -f } "$built/$exercise->{judge}.runner.o", 'cusim/build/cusim.o';
    die "there is nothing built in $built\n" if !@objects;
    return { map { $_ => 1 } run('readelf', '-sW', @objects) =~ /^ *\d+: [0-9a-f]+ +\w+ \w+ +(?:GLOBAL|WEAK|UNIQUE) +\w+ +(?:\[.*?\] +)?(?!UND)\w+ +(\S+)$/mg, 'main' };
}

# ---- our own solutions ----

my %keyword = map { $_ => 1 } qw(auto bool break case char const constexpr continue default do double else enum extern float for goto if int long namespace return short
    signed sizeof static struct switch template typedef union unsigned using void volatile while);
my $cudas = qr{^(?:__\w+|cuda\w*|memory_order\w*|thread_scope\w*|(?:thread|block)Idx|(?:block|grid)Dim|(?:float|int|uint|double)[1-4]|dim3|[xyzw])$};

# The words of a text, each name that is its author's choice as the number of the place where it first stood.
sub shape {
    my ($text, $on_cpu) = @_;
    my %number;
    return join ' ', map { $_->[0] eq 'word' && !$keyword{ $_->[1] } && $_->[1] !~ $cudas ? '@' . ($number{ $_->[1] } //= keys %number) : $_->[1] }
        grep { $_->[0] =~ /^(?:word|string|other)$/ } words(as_meant($text), $on_cpu);
}

# Whether two texts are the same, comments and layout aside.
sub has_same_words {
    my ($one, $other, $on_cpu) = @_;
    return join("\n", map { $_->[1] } words(as_meant($one), $on_cpu)) eq join("\n", map { $_->[1] } words(as_meant($other), $on_cpu));
}

# Whether it is our solution, names, comments and layout aside. That is no proof of anything where there is little to write.
sub is_known_solution {
    my ($exercise, $text) = @_;
    return 0 if $exercise->{predict} || !-f $exercise->{solution};
    return shape($text, $exercise->{on_cpu}) eq shape(read_text($exercise->{solution}), $exercise->{on_cpu}) ? 1 : 0;
}

1;
