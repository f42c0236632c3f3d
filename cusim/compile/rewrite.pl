#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# rewrite.pl - turns preprocessed CUDA C into C++, where no macro can.
#
#   kernel<4><<<grid, block>>>(x)     becomes  sim_kernel(kernel<4>, "kernel<4>", sim_config(grid, block))(x)
#   __shared__ float tile[32];        becomes  a reference named tile to memory from sim_static_shared()
#   extern __shared__ float tile[];   becomes  a pointer named tile to memory from sim_dynamic_shared(), and so it does, as
#                                              above, in each function that has the name if it stands outside of functions
#   (void *)kernel<4>                 becomes  sim_untyped(kernel<4>, "kernel<4>")
#   asm("mov.u32 %0, %laneid;" ...)   becomes  what it does, in C (ptx.pl)
#   #pragma unroll                    becomes  #pragma GCC unroll 64
#   __device__ int hits;              becomes  a reference named hits to memory from sim_variable()
#   cudaFree(x);                      becomes  sim_throw_away(cudaFree(x)); as a statement, of which nobody sees the result
#
# Reads the named file, writes standard output. Everything stays on its line, so positions in messages are right.
use strict;
use warnings;
use FindBin;
require "$FindBin::Bin/ptx.pl";

my $space   = qr/(?:\s|^\#[^\n]*\n)*/m;                                       # line markers may stand between tokens
my $literal = qr/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^\#[^\n]*/m;         # strings, characters, line markers
my $system  = qr/^\# \d+ "[^"\n]*" 1 3\b[^\n]*+\n(?:(?!\# \d+ "[^"\n]*" 2$)[^\n]*+\n)*+/m;    # a header of the system's, whole
my $round   = qr/(\((?:[^()]++|(?-1))*+\))/;                                  # balanced ( )
my $inner   = qr/(\((?:[^(){};]++|(?-1))*+\))/;                              # the same, no statement inside
my $angle   = qr/(<(?:[^<>(){};]++|<<(?!\s*<)|$inner|(?-2))*+>)/;             # balanced < >, shifts and no statement inside
my $align   = qr/(?:__attribute__\s*\(\(\s*aligned|alignas)\s*$round(?:\s*\)\))?/;
my $square  = qr/(\[(?:[^][]++|(?-1))*+\])/;                                  # balanced [ ]
my $curly   = qr/(\{(?:[^{}]++|(?-1))*+\})/;                                  # balanced { }
my $callee  = qr/(?:::)?[A-Za-z_]\w*+(?:\s*::\s*\w++)*+(?:\s*$angle)?(?:\s*(?:$square|(?:\.|->)\s*\w++))*+|$round/;

# The text that is rewritten; what stands before it, the simulator's header and the system's that it includes, which is long and has nothing to
# rewrite but the words of g++'s own; and where in the text the declaration is that is being read.
my ($code, $header, $at);

# file:line of a place in the text
sub place {
    my ($line, $file, $since) = substr($code, 0, $_[0]) =~ /.*^\# (\d+) "([^"]*)"[^\n]*\n(.*)\z/ms;
    $line += $since =~ tr/\n//;
    return "$file:$line";
}

sub not_understood {
    my ($declaration) = @_;
    $declaration =~ s/\s+/ /g;
    die place($at) . ": error: cannot read '$declaration'. Write __shared__ TYPE NAME[SIZE]; or extern __shared__ TYPE NAME[];\n";
}

# Splits at the commas that stand outside all brackets.
sub split_declarators {
    my ($list) = @_;
    my ($depth, @parts) = (0, "");
    for my $piece (split /([][(),])/, $list) {
        $depth++ if $piece =~ /^[[(]$/;
        $depth-- if $piece =~ /^[])]$/;
        if   ($piece eq "," && $depth == 0) { push @parts, "" }
        else                                { $parts[-1] .= $piece }
    }
    return @parts;
}

# A declaration with the word __shared__ in it, without its semicolon. Returns what comes before all, then [name, what stands
# in each function that has the name, what stands outside if it does] of each variable, then the line ends. $place: ", file, line" if it is not where it is used.
sub shared {
    my ($declaration, $place) = @_;
    my $text  = $declaration;
    my $lines = join "", $text =~ /\n(?:\#[^\n]*(?=\n))?/g;    # line ends and markers inside go behind
    $text =~ s/\n(?:\#[^\n]*(?=\n))?/ /g;
    my $bytes    = $text =~ s/$align// ? $1 : "";
    my $external = $text =~ s/\bextern\b//;
    $text =~ s/\b(?:static|__shared__)\b//g;

    if ($external) {
        my ($type, $name, $rows) = $text =~ /^(.*?)(\w+)\s*\[\s*\]\s*((?:$square\s*)*)$/s or not_understood($declaration);
        my $by = $bytes || "alignof($type)";
        my $one = "extern $type *sim_one_type_of_$name(void); "; # all arrays of that name are one: g++ refuses another type (said.pl)
        my $element = $rows ne "" ? "sim_row_$name" : $type;
        $one .= "typedef $type sim_row_$name$rows; " if $rows ne "";
        $one .= "$element *const $name = ($element *)sim_dynamic_shared(\"$name\", $by, &sim_shape_of<$element\[]>$place);";
        return ("", [$name, $one, ""], $lines);
    }
    die place($at) . ": error: a __shared__ variable has no initial value on a GPU. Write to it in one thread, then call __syncthreads().\n"
        if $text =~ /^(?:[^{}]|$curly)*?=/;
    if (my ($struct, $rest) = $text =~ /^(\s*(?:const\s+|volatile\s+)*(?:struct|union|enum)\b[^{]*$curly)(.*)$/s ? ($1, $3) : ()) {
        my ($first) = $rest =~ /(\w+)/ or not_understood($declaration);
        return ("typedef $struct sim_struct_$first; ", shared_list("sim_struct_$first", $rest, $bytes, $declaration, $place), $lines);
    }
    # TYPE, then one or more of *NAME[SIZE]: the first name is the last word before [ , or the end
    $text =~ /^(?<type>(?:[^[,<]|$angle)*?)(?<list>\**\s*\w+\s*(?:[[,].*)?)$/s or not_understood($declaration);
    my ($type, $list) = ($+{type}, $+{list});
    return ("", shared_list($type, $list, $bytes, $declaration, $place), $lines);
}

# The same in a function.
sub shared_here {
    my ($first, @rest) = shared($_[0], "");
    my $lines = pop @rest;
    return join "", $first, map({ $_->[2] . $_->[1] } @rest), $lines;
}

# The fields of a struct that the file defines, for messages: an initializer for an array of sim_field, or nothing where
# it is not known, or has something in it that this does not read.
sub fields {
    my ($type, $as) = @_;
    my ($name) = $type =~ /^\s*(?:(?:const|volatile|struct)\s+)*(\w+)\s*\z/ or return undef;
    my ($body) = "$header$code" =~ /\bstruct\s+(?:$align\s*)?\Q$name\E\s*\{([^{}()]*)\}/ ? $+ : return undef;
    return undef if $body =~ /\btypedef\b/;    # one of CUDA's own
    $body =~ s{^#.*}{}mg;
    my @fields;
    for my $declaration (grep { /\S/ } split /;/, $body) {
        $declaration =~ /^\s*[\w\s]+?[\s*](\w+\s*(?:\[[^][]*\])?(?:\s*,\s*\w+\s*(?:\[[^][]*\])?)*)\s*\z/ or return undef;
        push @fields, map { /(\w+)/ } split /,/, $1;
    }
    return join ", ", map({ "{\"$_\", __builtin_offsetof($as, $_), sizeof(${as}::$_), sizeof(sim_element<decltype(${as}::$_)>)}" } @fields), "{}";
}

# The variables of a list, *NAME[SIZE], ...: of each [name, a reference to it, what that needs].
sub shared_list {
    my ($type, $list, $bytes, $declaration, $place) = @_;
    my @references;
    for my $part (split_declarators($list)) {
        my ($stars, $name, $size) = $part =~ /^\s*(\**)\s*(\w+)\s*(.*)$/s or not_understood($declaration);
        my $by = $bytes || "alignof(sim_type_$name)";
        my $fields = $stars eq "" ? fields($type, "sim_element<sim_type_$name>") : undef;
        my $shape = "sim_shape_of<sim_type_$name>";
        my $needs = "typedef $type $stars sim_type_$name$size; static sim_shared sim_key_$name; ";
        if (defined $fields) {
            $needs .= "static constexpr sim_field sim_fields_${name}[] = {$fields}; "
                . "static constexpr sim_shape sim_shape_$name = sim_make_shape<sim_type_$name>(sim_fields_$name); ";
            $shape = "sim_shape_$name";
        }
        push @references, [$name, "sim_type_$name &$name = *(sim_type_$name *)"
            . "sim_static_shared(&sim_key_$name, \"$name\", sizeof(sim_type_$name), $by, &$shape$place);", $needs];
    }
    return @references;
}

# The types of a list of parameters, in one spelling, without names and defaults.
sub types_of {
    my ($list) = @_;
    my @types;
    for my $parameter (split_declarators($list =~ s/^\(|\)$//gr)) {
        $parameter =~ s/=.*//s;
        $parameter =~ s/(\w+)\s*$square(?:\s*$square)*\s*\z/* $1/;
        my @words = grep { !/^(?:const|__restrict__|__restrict|struct)$/ } $parameter =~ /\w+|::|[^\s\w]/g;
        @words = grep { $_ ne "int" } @words if grep { /^(?:unsigned|signed|short|long)$/ } @words;
        pop @words if @words > 1 && $words[-1] =~ /^\w+$/ && $words[-2] ne "::"
            && $words[-1] !~ /^(?:unsigned|signed|short|long|char|int|float|double|bool)$/;
        push @types, join " ", @words;
    }
    return join ",", @types;
}

# Kernels whose name alone does not say which function it is, or how many arguments it takes: templates, overloaded ones,
# and those with default arguments. A template's value is the number of its parameters: if they are all given, its name says all.
# Also the names of all kernels, as a pattern.
sub named_kernels {
    my (%defined, %named, %all, %kernels, %types);
    while ($code =~ /\b__sim_global__\b/g) {
        my ($before, $after) = (substr($code, $-[0] > 300 ? $-[0] - 300 : 0, $-[0] > 300 ? 300 : $-[0]), substr($code, $+[0], 2000));
        $after =~ s/__attribute__\s*$round//g;
        my ($name, $list, $end) = $after =~ /^[^;{}()]*?(\w+)\s*$round\s*([;{])/ or next;
        $all{$name} = 1;
        $kernels{$name}++ if $end eq "{";
        my ($parameters) = $before =~ /\btemplate\s*<([^;{}]*)\z/;
        $named{$name} = 0 if !$named{$name};
        $named{$name} = scalar(my @parts = split_declarators($parameters)) if defined $parameters;
        $named{$name} = 1 if !$named{$name} && ($list =~ /=/ || ($end eq "{" && $defined{$name}++));
        my $types = types_of($list);
        $named{$name} ||= 1 if ($types{$name} //= $types) ne $types;    # two are declared, defined or not
    }
    for my $name (grep { !$named{$_} } keys %named) {    # a function of the host may have the name, too
        my $all = () = "$header$code" =~ /(?<=[\w*&>])\s+\Q$name\E\s*$round\s*\{/g;
        $named{$name} = 1 if $all > ($defined{$name} // 0);
    }
    for my $name (keys %all) {    # a launcher of the host's may have the kernel's name
        my $functions = () = "$header$code" =~ /\b$name\s*$round\s*\{/g;
        $named{$name} ||= $functions > ($kernels{$name} // 0);
    }
    return (\%named, join "|", "(?!)", sort keys %all);
}

# ---- clusters ----

# __cluster_dims__(2, 1, 1) belongs to a kernel, whose body says it: where there is the body, the machine knows the cluster before main.
#
#   __global__ void __cluster_dims__(2) k(int *x) { ... }     __global__ void k(int *x) { (void)&sim_cluster_known<k, 2>; ... }
# A launch whose arguments do not have the parameters' very types knows no kernel by its address, and says the cluster itself.
my (%dims, %dims_at_launch);    # of kernels: as they are declared; those that are no matter of a template's parameters
sub clusters {
    while ($code =~ /\b__cluster_dims__\s*$round/g) {
        my ($start, $length, $dims) = ($-[0], $+[0] - $-[0], $1);
        my $after = substr($code, $start + $length, 2000) =~ s/__attribute__\s*$round//gr;
        my ($name) = $after =~ /^[^;{}()]*?(\w+)\s*$round\s*[;{]/ or die place($start) . ": error: __cluster_dims__ stands before no kernel. "
            . "Write __global__ void __cluster_dims__(2, 1, 1) NAME(...).\n";
        $dims{$name} = join ", ", map { "($_)" } split_declarators($dims =~ s/^\(|\)$//gr);
        substr($code, $start, $length) =~ s/[^\n]//g;
        pos($code) = $start;
    }
    my $names = join "|", "(?!)", sort keys %dims;
    %dims_at_launch = %dims;
    $code =~ s{
        (?<parameters> \btemplate\s*$angle $space )?
        (?<head> (?:\b(?:static|inline|extern(?:\s*"C")?|__attribute__\s*$round)\s*)* \b__sim_global__\b (?:[^;{}()]|__attribute__\s*$round)*? \b(?<name>$names)\s*$round\s*\{ )
    }{
        my ($parameters, $head, $name) = ($+{parameters} // "", @+{qw(head name)});
        my ($list) = $parameters =~ /<(.*)>/s;
        my @names  = map { s{=.*}{}sr =~ /(\.\.\.)?\s*(\w+)\s*\z/ ? $2 . ($1 // "") : () } split_declarators($list // "");
        delete $dims_at_launch{$name} if grep { $dims{$name} =~ /\b\Q$_\E\b/ } map { s/\W//gr } @names;
        my $kernel = @names ? "$name<" . join(", ", @names) . ">" : $name;
        "$parameters$head (void)&sim_cluster_known<$kernel, $dims{$name}>;"
    }gemx if %dims;
}

# ---- variables of the device ----

# They become references to memory from sim_variable(), where loads and stores are judged as in any other memory of the device:
#
#   __device__ float table[64];            typedef float sim_type_table[64]; sim_type_table &table = sim_variable<...>("table", ...);
#   __device__ int hits = 5;               static int sim_first_hits = 5; typedef decltype(sim_first_hits) sim_type_hits; ...
#   extern __device__ int hits;            typedef int sim_type_hits; extern sim_type_hits &hits;
#
# So do static variables in functions of the device. Constants stay what they are, and so does what this does not understand.

my $word   = qr/\b__sim_(?:device|constant|managed)__\b/;
my $opened = qr/(?:[^;{}()\[\]<>="']|$literal|$round|$square|$angle|[<>])*?/;    # up to something outside of brackets

# Whether a statement up to its body or its end is a function's: a ( stands behind a name.
sub is_function {
    my ($head) = @_;
    $head =~ s/\b(?:__attribute__|alignas|decltype|noexcept)\s*$round//g;
    $head =~ s/\btemplate\s*$angle//g;
    return 1 if $head =~ /\boperator\b/;
    $head =~ /^(?<before>(?:[^=(<]|$angle|<)*?)(?<in>$round)/ or return 0;
    my ($before, $in) = @+{qw(before in)};
    return $before =~ /[\w>]\s*\z/ && $in !~ /^\(\s*(?:\*|[-+]?[\d.]+\w*\s*[,)]|[{"'])/;
}

# A declaration's parts: what stands before the first declarator's name without its * and &; and of each declarator [* and &, name, what
# stands behind it, initial value]. Nothing where it is not understood.
sub declarators {
    my ($text) = @_;
    my ($base, @parts) = $text =~ s/^\s*((?:struct|class|union|enum)\b[^;{}=()]*$curly)// ? $1 : "";
    my $first = 1;
    while ($text =~ /\S/) {
        $text =~ s/^(?<head>$opened)(?=[,={]|\z)//s or return;
        my $head = $+{head};
        my $value = $text =~ s/^(?<value>=(?:[^,(){}\[\]<>]|$literal|$round|$square|$curly|$angle|[<>])*|$curly)//s ? $+{value} : "";
        $text =~ s/^\s*(?:,|\z)//s or return;
        $value = $+{value} if $head !~ /\(\s*\*/ && $head =~ s/(?<value>$round)\s*\z//s;
        $head =~ ($head =~ /\(\s*\*/
            ? qr/^(?<before>.*?\(\s*\*[\s*]*(?:const\b\s*)?)(?<name>\w+)(?<behind>\s*(?:$square\s*)*\)\s*$round\s*)\z/s
            : qr/^(?<before>.*?)\b(?<name>\w+)\s*(?<behind>(?:$square\s*)*)\z/s) or return;
        my ($before, $called, $behind) = @+{qw(before name behind)};
        if ($first) {
            $before =~ /^(?<type>(?:[^*&(<]|$angle)*)(?<pointer>.*)\z/s;
            $base .= $+{type};
            $before = $+{pointer};
        }
        return if $base !~ /\w/ || "$base$before" =~ /::\s*\z/ || (!$first && $before =~ /[\w<]/);
        push @parts, [$before, $called, $behind, $value];
        $first = 0;
    }
    return ($base, @parts);
}

# One declaration, without its semicolon. Returns it as it is where it stays.
sub variable {
    my ($declaration, $at_file_scope) = @_;
    my $text  = $declaration;
    my $lines = join "", $text =~ /\n(?:\#[^\n]*(?=\n))?/g;
    $text =~ s/\n(?:\#[^\n]*(?=\n))?/ /g;
    return $declaration if $text =~ /\b(?:constexpr|constinit|thread_local|typedef|using|friend|template|__shared__)\b/;
    my ($kind) = $text =~ /\b__sim_(constant|managed)__\b/ ? "SIM_" . uc $1 : "SIM_DEVICE";
    my $external = $text =~ s/\bextern\b(?:\s*"C")?//;
    my $fixed    = $text =~ /\bconst\b/;
    my $linkage  = join "", map { "$_ " } grep { $text =~ /\b$_\b/ } qw(static inline);
    $text =~ s/\b(?:static|inline|__sim_\w+__)\b//g;
    $text =~ s/$align//g if $text !~ /\{/;
    my ($base, @parts) = declarators($text) or return $declaration;
    my $result = "";
    for my $part (@parts) {
        my ($before, $called, $behind, $value) = @$part;
        return $declaration if $fixed && "$before$behind" !~ /[*\[(]/;    # a constant
        my $type  = "sim_type_$called";
        my $plain = "typedef $base $before$type$behind; ";
        if ($external && $value eq "") {
            my ($size) = $behind =~ /^\s*\[\s*\]/ ? $code =~ /$word[^;{}()=]*?\b$called\s*((?:\[[^][]+\]\s*)+)[;={]/ : ();
            $plain = "typedef $base $before$type$size; " if defined $size;
            $result .= $plain . "extern $type &$called; ";
        } else {
            my $first  = $value ne "" || $base =~ /\{/;
            my $fields = $before eq "" && $at_file_scope && !$first ? fields($base, "sim_element<$type>") : undef;
            $result .= $first ? "static $base ${before}sim_first_$called$behind $value; typedef decltype(sim_first_$called) $type; " : $plain;
            $result .= "static constexpr sim_field sim_fields_${called}[] = {$fields}; " if defined $fields;
            $result .= "$linkage$type &$called = sim_variable<$type>(\"$called\", $kind, " . (defined $fields ? "sim_fields_$called" : "nullptr")
                . ($first ? ", &sim_first_$called" : "") . "); ";
        }
    }
    return "$result$lines";
}

# Shared variables that stand outside of functions, as shared() gives them: the text goes into each function that has the name. Its body becomes
# a block behind that, since a local variable may have the name, too.
my @shared;

sub begin_of_function {
    my ($head, $open) = @_;
    return "" if !@shared;
    pos($code) = $open;
    my $body = $code =~ /\G$curly/g ? $1 : "";
    pos($code) = $open + 1;
    my $has = sub {
        my ($name) = map { qr/(?<!\.)(?<!->)\b$_\b/ } @_;
        return $body =~ $name && $head !~ $name && $body !~ /\b__shared__[^;{}]*$name/;
    };
    return join " ", map { "$_->[1] (void)$_->[0];" } grep { $has->($_->[0]) } @shared;
}

# Replaces them all, if $variables, and shared variables outside of functions. Returns whether some lie in the program's own data, or are made
# when a kernel first comes to them: processes do not share those.
sub variables {
    my ($variables) = @_;
    return 0 if $code !~ ($variables ? qr/$word|\b__sim_global__\b/ : qr/\b__shared__\b/);
    my ($result, $left, @open) = ("", 0);    # @open: of each { what it opens, and what stands behind its }
    my $start = 0;                           # of the statement
    pos($code) = 0;
    while ($code =~ /\G(?:[^;{}"'#]++|$system|$literal|[#'"])*+([;{}])/gc) {
        my ($end, $mark) = ($-[1], $1);
        if ($mark eq "}") {
            $result .= substr($code, $start, $end + 1 - $start) . (@open ? (pop @open)->[1] : "");
            $start = $end + 1;
            next;
        }
        substr($code, $start, $end - $start) =~ /\A((?:\s|$system|^\#[^\n]*\n)*)/m;    # headers of the system's before it
        $result .= $1;
        $start += length $1;
        my $statement = substr $code, $start, $end - $start;
        my $where = @open ? $open[-1][0] : "file";
        my $is_one = $statement =~ /$word/ || ($where eq "device" && $statement =~ /^static\b/);
        $is_one &&= $variables && $statement !~ /\b(?:using|typedef|friend|__shared__)\b/ && !is_function($statement =~ s/$literal//gr);
        if ($mark eq ";" && $where eq "file" && $statement =~ /\b__shared__\b/ && !is_function($statement =~ s/$literal//gr)) {
            $at = $start;
            my ($first, @references) = shared($statement, place($start) =~ s/(.*):(\d+)/, "$1", $2/r);
            my $lines = pop @references;
            push @shared, @references;
            $result .= join "", $first, map({ $_->[2] } @references), "$lines;";
            $start = $end + 1;
            next;
        }
        if ($mark eq "{" && $is_one && ($statement =~ /=\s*\z/ || $statement !~ /\b(?:struct|class|union|enum|namespace)\b/)) {
            pos($code) = $start;    # an initial value: on to the semicolon
            $code =~ /\G(?:[^;{}"'#]++|$literal|$curly|[#'"])*+(?=;)/gc or die place($start) . ": error: a declaration has no end.\n";
            ($end, $mark) = (pos($code), ";");
            pos($code) = $end + 1;
            $statement = substr $code, $start, $end - $start;
        }
        if ($mark eq ";" && $is_one) {
            my $made = $where eq "class" ? $statement : variable($statement, $where eq "file");
            $left ||= $made eq $statement ? $statement !~ /\bconst(?:expr)?\b/ : $where eq "device";
            $result .= "$made;";
        } else {
            $result .= $statement . $mark;
        }
        $start = $end + 1;
        next if $mark eq ";";
        my $head = $statement =~ s/$literal//gr =~ s/\btemplate\s*$angle//gr;
        my $what = $head =~ /\b(?:struct|class|union)\b[^()=]*\z/ ? "class"
            : $head =~ /\b(?:namespace\b[^()=]*|extern)\s*\z/ ? $where
            : $head =~ /\b__sim_host__\b/                     ? "other"
            : $head =~ /\b__sim_(?:device|global)__\b/        ? "device"
            : $where eq "device"                              ? $where
            : "other";
        my $begin = $what eq "device" && $where ne "device" ? begin_of_function($statement, $end) : "";
        $result .= "$begin {" if $begin ne "";
        push @open, [$what, $begin eq "" ? "" : "}"];
    }
    $code = $result . substr $code, $start;
    return $left;
}

# Calls of the runtime that are statements of their own.
sub mark_thrown_away {
    my $calls = join "|", do { my %seen; grep { !$seen{$_}++ } "$header$code" =~ /\bcudaError_t\s+(cuda[A-Z]\w*)\s*\(/g };
    $code =~ s{
        (?<literal> $system | $literal )
      | (?<before> [;{}] | \b(?:else|do)\b | \b(?:if|while|for) \s* $round ) (?<gap> $space ) (?<call> (?:::\s*)? \b(?:$calls)\b \s* (?:$angle\s*)? $round ) (?= \s* ; )
    }{ $+{literal} // "$+{before}$+{gap}sim_throw_away($+{call})" }gemx;
}

local $/;
$code = <>;
$header = $code =~ s/\A(.*^\# \d+ "<command-line>" 2\n)//ms ? $1 : "";
clusters();
my $variables = variables(($ENV{CUSIM_CORES} // '') ne '1');    # not the judge's, whose answers begin nothing by themselves
my ($named, $kernels) = named_kernels();
$code =~ s{
    (?<literal> $system | $literal )
  | (?<asm> \b(?:asm|__asm__)\b\s* (?:(?:volatile|__volatile__)\s*)? $round )
  | (?<!\w) (?<declaration> (?:extern(?:\s+\w+){0,3}?\s+(?=__shared__)|(?:extern|static|volatile|unsigned|signed|long|short|char|int|float|double|$align)\s*)* __shared__\b (?:[^;{}]|$curly)* ) ;
  | (?: \( \s*(?:const\s+)?void\s*\*\s* \) \s*&?\s* (?<cast> (?:::)?\b(?:$kernels)\b (?:\s*$angle)? ) (?!\s*[\w(<]) )
  | (?<!\w) (?!operator\b) (?<callee> $callee ) (?<gap> $space ) <<\s*< (?<config> (?:[^()>]++|$round|>(?!>\s*>))*+ ) >>\s*>
}{
    if    (defined $+{literal})     { $+{literal} }
    elsif (defined $+{asm})         { (my $asm = $+{asm}) =~ s{^\#.*}{}gm; ptx_in_c($asm) // $+{asm} }
    elsif (defined $+{declaration}) { $at = $-[0]; shared_here($+{declaration}) }
    elsif (defined $+{cast})        { (my $name = my $cast = $+{cast}) =~ s{\s+}{ }g; "sim_untyped($cast, \"$name\")" }
    else {
        my ($callee, $gap, $config) = ($+{callee}, $+{gap}, $+{config});
        my $name = $callee =~ s/\s+/ /gr;
        $name =~ s/"/'/g;
        my ($base, $arguments) = $callee =~ /^(?:::)?\s*(\w+)\s*(?:<(.*)>)?\z/s;
        my $given = defined $arguments ? scalar(my @parts = split_declarators($arguments)) : 0;
        $config = "sim_config($config)" . (defined $base && $dims_at_launch{$base} ? ".in_clusters($dims_at_launch{$base})" : "");
        defined $base && ($named->{$base} // 0) > $given
            ? "sim_named_kernel([](auto... a) -> decltype($callee(a...)) { $callee(a...); }, "
                . "[](auto... a) -> decltype((const void *)static_cast<void (*)(decltype(a)...)>($callee)) "
                . "{ return (const void *)static_cast<void (*)(decltype(a)...)>($callee); }, $gap\"$name\", $config)"
            : "sim_kernel($callee, $gap\"$name\", $config)";
    }
}gemx;
mark_thrown_away();
$code = $header . $code;
$code =~ s/\b__builtin_clear_padding\s*\([^;]*;/;/g if $code =~ /\[\s*\]\s*;\s*\}/; # of a struct that ends in an array without a size, g++ says no padding
$code =~ s/\b__sim_(?:global|device|host|constant|managed)__\b//g;
$code =~ s/(?<![(,\w])__noinline__\b(?!\s*[,)])/__attribute__((noinline))/g;
$code =~ s/\#[ \t]*pragma[ \t]+unroll[ \t]*$/#pragma GCC unroll 64/gm; # (no ^ before it: perl 5.36 takes half a second then)
$code .= "static const int sim_variables __attribute__((unused)) = sim_know_variables();\n"
    if $variables;
print $code;
