#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# rewrite.pl - turns preprocessed CUDA C into C++, where no macro can.
#
#   kernel<4><<<grid, block>>>(x)     becomes  sim_kernel(kernel<4>, "kernel<4>", sim_config(grid, block))(x)
#   __shared__ float tile[32];        becomes  a reference named tile to memory from sim_static_shared()
#   extern __shared__ float tile[];   becomes  a pointer named tile to memory from sim_dynamic_shared()
#   (void *)kernel<4>                 becomes  sim_untyped(kernel<4>, "kernel<4>")
#   #pragma unroll                    becomes  #pragma GCC unroll 64
#   __device__ int count;             as well  a call of sim_know_variables() before main (cores.cpp)
#
# Reads the named file, writes standard output. Everything stays on its line, so positions in messages are right.
use strict;
use warnings;

my $space   = qr/(?:\s|^\#[^\n]*\n)*/m;                                       # line markers may stand between tokens
my $literal = qr/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^\#[^\n]*/m;         # strings, characters, line markers
my $system  = qr/^\# \d+ "[^"\n]*" 1 3\b[^\n]*+\n(?:(?!\# \d+ "[^"\n]*" 2$)[^\n]*+\n)*+/m;    # a header of the system's, whole
my $round   = qr/(\((?:[^()]++|(?-1))*+\))/;                                  # balanced ( )
my $angle   = qr/(<(?:[^<>(){};]++|\([^(){};]*\)|(?-1))*+>)/;                 # balanced < >, no statement inside
my $align   = qr/(?:__attribute__\s*\(\(\s*aligned|alignas)\s*$round(?:\s*\)\))?/;
my $square  = qr/(\[(?:[^][]++|(?-1))*+\])/;                                  # balanced [ ]
my $curly   = qr/(\{(?:[^{}]++|(?-1))*+\})/;                                  # balanced { }
my $callee  = qr/(?:::)?[A-Za-z_]\w*+(?:\s*::\s*\w++)*+(?:\s*$angle)?(?:\s*(?:$square|(?:\.|->)\s*\w++))*+|$round/;

my ($code, $at);    # the text, and where in it the declaration is that is being read

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

# A declaration with the word __shared__ in it, without its semicolon.
sub shared {
    my ($declaration) = @_;
    my $text  = $declaration;
    my $lines = join "", $text =~ /\n(?:\#[^\n]*(?=\n))?/g;    # line ends and markers inside go behind
    $text =~ s/\n(?:\#[^\n]*(?=\n))?/ /g;
    my $bytes    = $text =~ s/$align// ? $1 : "";
    my $external = $text =~ s/\bextern\b//;
    $text =~ s/\b(?:static|__shared__)\b//g;

    if ($external) {
        my ($type, $name, $rows) = $text =~ /^(.*?)(\w+)\s*\[\s*\]\s*((?:$square\s*)*)$/s or not_understood($declaration);
        my $by = $bytes || "alignof($type)";
        return "typedef $type sim_row_$name$rows; "
            . "sim_row_$name *const $name = (sim_row_$name *)sim_dynamic_shared(\"$name\", $by, &sim_shape_of<sim_row_$name\[]>);$lines"
            if $rows ne "";
        return "$type *const $name = ($type *)sim_dynamic_shared(\"$name\", $by, &sim_shape_of<${type}[]>);$lines";
    }
    die place($at) . ": error: a __shared__ variable has no initial value on a GPU. Write to it in one thread, then call __syncthreads().\n"
        if $text =~ /^(?:[^{}]|$curly)*?=/;
    if (my ($struct, $rest) = $text =~ /^(\s*(?:const\s+|volatile\s+)*(?:struct|union|enum)\b[^{]*$curly)(.*)$/s ? ($1, $3) : ()) {
        my ($first) = $rest =~ /(\w+)/ or not_understood($declaration);
        return "typedef $struct sim_struct_$first; " . shared_list("sim_struct_$first", $rest, $bytes, $declaration) . $lines;
    }
    # TYPE, then one or more of *NAME[SIZE]: the first name is the last word before [ , or the end
    $text =~ /^(?<type>(?:[^[,<]|$angle)*?)(?<list>\**\s*\w+\s*(?:[[,].*)?)$/s or not_understood($declaration);
    my ($type, $list) = ($+{type}, $+{list});
    return shared_list($type, $list, $bytes, $declaration) . $lines;
}

# The fields of a struct that the file defines, for messages: an initializer for an array of sim_field, or nothing where
# it is not known, or has something in it that this does not read.
sub fields {
    my ($type, $as) = @_;
    my ($name) = $type =~ /^\s*(?:(?:const|volatile|struct)\s+)*(\w+)\s*\z/ or return undef;
    my ($body) = $code =~ /\bstruct\s+(?:$align\s*)?\Q$name\E\s*\{([^{}()]*)\}/ ? $+ : return undef;
    return undef if $body =~ /\btypedef\b/;    # one of CUDA's own
    $body =~ s{^#.*}{}mg;
    my @fields;
    for my $declaration (grep { /\S/ } split /;/, $body) {
        $declaration =~ /^\s*[\w\s]+?[\s*](\w+\s*(?:\[[^][]*\])?(?:\s*,\s*\w+\s*(?:\[[^][]*\])?)*)\s*\z/ or return undef;
        push @fields, map { /(\w+)/ } split /,/, $1;
    }
    return join ", ", map({ "{\"$_\", __builtin_offsetof($as, $_), sizeof(${as}::$_), sizeof(sim_element<decltype(${as}::$_)>)}" } @fields), "{}";
}

# References to the variables of a list, *NAME[SIZE], ...
sub shared_list {
    my ($type, $list, $bytes, $declaration) = @_;
    my $result = "";
    for my $part (split_declarators($list)) {
        my ($stars, $name, $size) = $part =~ /^\s*(\**)\s*(\w+)\s*(.*)$/s or not_understood($declaration);
        my $by = $bytes || "alignof(sim_type_$name)";
        my $fields = $stars eq "" ? fields($type, "sim_element<sim_type_$name>") : undef;
        my $shape = "sim_shape_of<sim_type_$name>";
        $result .= "typedef $type $stars sim_type_$name$size; static sim_shared sim_key_$name; ";
        if (defined $fields) {
            $result .= "static constexpr sim_field sim_fields_${name}[] = {$fields}; "
                . "static constexpr sim_shape sim_shape_$name = sim_make_shape<sim_type_$name>(sim_fields_$name); ";
            $shape = "sim_shape_$name";
        }
        $result .= "sim_type_$name &$name = *(sim_type_$name *)"
            . "sim_static_shared(&sim_key_$name, \"$name\", sizeof(sim_type_$name), $by, &$shape);";
    }
    return $result;
}

# Kernels whose name alone does not say which function it is, or how many arguments it takes: templates, overloaded ones,
# and those with default arguments. A template's value is the number of its parameters: if they are all given, its name says all.
# Also the names of all kernels, as a pattern.
sub named_kernels {
    my (%defined, %named, %all, %kernels);
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
    }
    for my $name (grep { !$named{$_} } keys %named) {    # a function of the host may have the name, too
        my $all = () = $code =~ /(?<=[\w*&>])\s+\Q$name\E\s*$round\s*\{/g;
        $named{$name} = 1 if $all > ($defined{$name} // 0);
    }
    for my $name (keys %all) {    # a launcher of the host's may have the kernel's name
        my $functions = () = $code =~ /\b$name\s*$round\s*\{/g;
        $named{$name} ||= $functions > ($kernels{$name} // 0);
    }
    return (\%named, join "|", "(?!)", sort keys %all);
}

# Whether kernels may write to variables of the program: to those of the device, or static ones of their own functions. What is
# neither a constant nor surely a function is taken for a variable.
sub has_variables {
    my $plain = $code =~ s/$literal//gr =~ s/\b(?:__attribute__|alignas|decltype|noexcept)\s*$round//gr;
    while ($plain =~ /\b__sim_(?:device|global)__\b/g) {
        my ($before, $rest) = (substr($plain, $-[0] > 300 ? $-[0] - 300 : 0, $-[0] > 300 ? 300 : $-[0]), substr($plain, $+[0], 2000));
        1 while $rest =~ s/^([^;{}()=]*?)$angle/$1/;
        my ($words, $next) = $rest =~ /^([^;={}()\[]*)(\(\s*[-*\d.{]|[;={}(\[])/ or return 1;
        if ($words =~ /\boperator\b/ || $next eq "(") {
            my $body = $plain =~ /\G[^;{}]*$curly/ ? $1 : "";
            return 1 if $body =~ /\bstatic\b(?![^;]*?\b(?:const|constexpr|__shared__)\b)/;
        } else {
            my ($others) = $before =~ /([^;{}]*)\z/;
            return 1 if "$others$words" !~ /\bconst(?:expr)?\b/ || $words =~ /\*\s*\w+\s*\z/;
        }
    }
    return 0;
}

local $/;
$code = <>;
my $variables = has_variables();
my ($named, $kernels) = named_kernels();
$code =~ s{
    (?<literal> $system | $literal )
  | (?<!\w) (?<declaration> (?:extern(?:\s+\w+){0,3}?\s+(?=__shared__)|(?:extern|static|volatile|unsigned|signed|long|short|char|int|float|double|$align)\s*)* __shared__\b (?:[^;{}]|$curly)* ) ;
  | (?: \( \s*(?:const\s+)?void\s*\*\s* \) \s*&?\s* (?<cast> (?:::)?\b(?:$kernels)\b (?:\s*$angle)? ) (?!\s*[\w(<]) )
  | (?<!\w) (?!operator\b) (?<callee> $callee ) (?<gap> $space ) <<\s?< (?<config> (?:[^()>]++|$round|>(?!>\s?>))*+ ) >>\s?>
}{
    if    (defined $+{literal})     { $+{literal} }
    elsif (defined $+{declaration}) { $at = $-[0]; shared($+{declaration}) }
    elsif (defined $+{cast})        { (my $name = my $cast = $+{cast}) =~ s{\s+}{ }g; "sim_untyped($cast, \"$name\")" }
    else {
        my ($callee, $gap, $config) = ($+{callee}, $+{gap}, $+{config});
        my $name = $callee =~ s/\s+/ /gr;
        $name =~ s/"/'/g;
        my ($base, $arguments) = $callee =~ /^(?:::)?\s*(\w+)\s*(?:<(.*)>)?\z/s;
        my $given = defined $arguments ? scalar(my @parts = split_declarators($arguments)) : 0;
        defined $base && ($named->{$base} // 0) > $given
            ? "sim_named_kernel([](auto... a) -> decltype($callee(a...)) { $callee(a...); }, "
                . "[](auto... a) -> decltype((const void *)static_cast<void (*)(decltype(a)...)>($callee)) "
                . "{ return (const void *)static_cast<void (*)(decltype(a)...)>($callee); }, $gap\"$name\", sim_config($config))"
            : "sim_kernel($callee, $gap\"$name\", sim_config($config))";
    }
}gemx;
$code =~ s/\b__sim_(?:global|device|host|constant)__\b//g;
$code =~ s/(?<![(,\w])__noinline__\b(?!\s*[,)])/__attribute__((noinline))/g;
$code =~ s/\#[ \t]*pragma[ \t]+unroll[ \t]*$/#pragma GCC unroll 64/gm; # (no ^ before it: perl 5.36 takes half a second then)
$code .= "static const int sim_variables __attribute__((unused)) = sim_know_variables();\n"
    if $variables && ($ENV{CUSIM_CORES} // '') ne '1';    # the judge's, whose answers begin nothing by themselves
print $code;
