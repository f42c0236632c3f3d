#!/usr/bin/perl
# rewrite.pl - turns preprocessed CUDA C into C++, where no macro can.
#
#   kernel<4><<<grid, block>>>(x)     becomes  sim_kernel(kernel<4>, "kernel<4>", sim_config(grid, block))(x)
#   __shared__ float tile[32];        becomes  a reference named tile to memory from sim_static_shared()
#   extern __shared__ float tile[];   becomes  a pointer named tile to memory from sim_dynamic_shared()
#   #pragma unroll                    becomes  #pragma GCC unroll 64
#
# Reads the named file, writes standard output. Everything stays on its line, so positions in messages are right.
use strict;
use warnings;

my $space   = qr/(?:\s|^\#[^\n]*\n)*/m;                                       # line markers may stand between tokens
my $literal = qr/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^\#[^\n]*/m;         # strings, characters, line markers
my $round   = qr/(\((?:[^()]++|(?-1))*+\))/;                                  # balanced ( )
my $angle   = qr/(<(?:[^<>(){};]++|\([^(){};]*\)|(?-1))*+>)/;                 # balanced < >, no statement inside
my $align   = qr/(?:__attribute__\s*\(\(\s*aligned|alignas)\s*$round(?:\s*\)\))?/;
my $callee  = qr/(?:::)?[A-Za-z_]\w*+(?:\s*::\s*\w++)*+(?:\s*$angle)?/;

my ($code, $at);    # the text, and where in it the declaration is that is being read

sub not_understood {
    my ($declaration) = @_;
    my ($line, $file, $since) = substr($code, 0, $at) =~ /.*^\# (\d+) "([^"]*)"[^\n]*\n(.*)\z/ms;
    $line += $since =~ tr/\n//;
    $declaration =~ s/\s+/ /g;
    die "$file:$line: cannot read '$declaration'. Write __shared__ TYPE NAME[SIZE]; or extern __shared__ TYPE NAME[];\n";
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
        my ($type, $name) = $text =~ /^(.*?)(\w+)\s*\[\s*\]\s*$/s or not_understood($declaration);
        my $by = $bytes || "alignof($type)";
        return "$type *const $name = ($type *)sim_dynamic_shared(\"$name\", $by);$lines";
    }
    # TYPE, then one or more of *NAME[SIZE]: the first name is the last word before [ , or the end
    my ($type, $list) = $text =~ /^([^[,]*?)(\**\s*\w+\s*(?:[[,].*)?)$/s or not_understood($declaration);
    my $result = "";
    for my $part (split_declarators($list)) {
        my ($stars, $name, $size) = $part =~ /^\s*(\**)\s*(\w+)\s*(.*)$/s or not_understood($declaration);
        my $by = $bytes || "alignof(sim_type_$name)";
        $result .= "typedef $type $stars sim_type_$name$size; static sim_shared sim_key_$name; "
            . "sim_type_$name &$name = *(sim_type_$name *)"
            . "sim_static_shared(&sim_key_$name, \"$name\", sizeof(sim_type_$name), $by);";
    }
    return $result . $lines;
}

local $/;
$code = <>;
$code =~ s{
    (?<literal> $literal )
  | (?<!\w) (?<declaration> (?:(?:extern|static|$align)\s*)* __shared__\b [^;]* ) ;
  | (?<!\w) (?!operator\b) (?<callee> $callee ) (?<gap> $space ) <<\s?< (?<config> (?:[^()>]++|$round|>(?!>\s?>))*+ ) >>\s?>
}{
    if    (defined $+{literal})     { $+{literal} }
    elsif (defined $+{declaration}) { $at = $-[0]; shared($+{declaration}) }
    else {
        my ($callee, $gap, $config) = ($+{callee}, $+{gap}, $+{config});
        my $name = $callee =~ s/\s+/ /gr;
        "sim_kernel($callee, $gap\"$name\", sim_config($config))";
    }
}gemx;
$code =~ s/^(\s*)\#\s*pragma\s+unroll\s*$/$1#pragma GCC unroll 64/gm;
print $code;
