#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# check.pl - refuses what nvcc refuses, though g++ would take it: who may call whom, and what a kernel may not use.
#
#   perl check.pl PREPROCESSED [relaxed]      says nothing and succeeds, or one line a mistake (file:line: error: what. What to do.) and fails
#
# relaxed: as nvcc's option --expt-relaxed-constexpr has it.
#
# It reads preprocessed CUDA C in which __global__, __device__ ... are the words __sim_global__, __sim_device__ ...
# (include/cuda_runtime.h). It knows the functions and variables at file scope of the user's own files, by their
# qualifiers, and looks through the functions' bodies word by word. Of C++ it understands what such files hold; where it
# does not understand, it says nothing.
use strict;
use warnings;
use FindBin;
require "$FindBin::Bin/ptx.pl";

my (@word, @line, @file);    # the user's own code, word by word
my %library;                 # functions that the C library's headers declare
my (%function, %variable, %type);
my @mistakes;
my %told;                    # asm, by its place among the words
my $relaxed = ($ARGV[1] // "") eq "relaxed";
my $no_ptx = "of which the simulator knows nothing. Write that in C: there is a function for most "
    . "instructions, such as __shfl_sync, __ldcg and __pipeline_memcpy_async";

my %math   = map { $_ => 1 } qw(abs labs llabs);
my %device = map { $_ => 1 } qw(printf vprintf memcpy memset clock assert abs labs llabs);
my %plain_type = map { $_ => 1 } qw(void bool char short int long float double unsigned signed size_t);
my %std_for_all = map { $_ => 1 } qw(move forward isinf isnan isfinite signbit);    # beside mathematics
my %std_constexpr = map { $_ => 1 } qw(min max minmax clamp gcd lcm get pair tuple array make_pair make_tuple tie apply isnormal isgreater
    isgreaterequal isless islessequal islessgreater isunordered fpclassify as_const begin end size data less greater less_equal greater_equal
    equal_to not_equal_to plus minus multiplies divides modulus negate bit_and bit_or bit_xor logical_and logical_or logical_not popcount bit_cast
    countl_zero countr_zero midpoint lerp);
my %no_type = map { $_ => 1 } qw(return else case goto sizeof new delete throw do co_return typedef operator);

my $own = $0 =~ s{(?:compile/)?[^/]*\z}{include/}r;    # the simulator's own headers
read_words($ARGV[0]);
cluster_dims();
declarations(0, scalar @word);
words();
bodies($_) for map { @{$_} } values %function;
ptx();
if (@mistakes) {
    my %said;
    print STDERR grep { !$said{$_}++ } map { "$_->[0]:$_->[1]: $_->[3]: $_->[2].\n" }
        sort { $a->[0] cmp $b->[0] || $a->[1] <=> $b->[1] } @mistakes;
    exit 1 if grep { $_->[3] eq "error" } @mistakes;
}

# ---- words ----

# A file of a library that is not simulated, and that was found beside a toolkit: told where the user's file includes it.
sub foreign_library {
    my ($included, $file, $line) = @_;
    my ($name) = $included =~ m{/(thrust|cub)/\w};
    if (!defined $name && is_of_toolkit($included)) {
        print STDERR "$file:$line: error: ", $included =~ s{.*/}{}r, " is the CUDA Toolkit's, and is not simulated. Leave out what needs it, or run it on a GPU.\n";
        exit 1;
    }
    return if !defined $name;
    print STDERR "$file:$line: error: " . ($name eq "cub" ? "CUB" : "Thrust") . " is not simulated. Write that step as a kernel, or compile for a GPU.\n";
    exit 1;
}

# Whether a header is one of a toolkit's, which lies beside its cuda_runtime_api.h: it would not fit the simulator's own.
sub is_of_toolkit {
    my ($path) = @_;
    my ($folder) = $path =~ m{^(.*)/} or return 0;
    return 0 if $path =~ m{^\Q$own\E} || !-e "$folder/cuda_runtime_api.h" && !-e "$folder/../cuda_runtime_api.h";
    open my $in, "<", $path or return 0;
    read $in, my $head, 3000;
    return $head =~ /\bNVIDIA\b/;
}

sub read_words {
    my ($path) = @_;
    my ($file, $line, $kind) = ("", 0, "user");
    open my $in, "<", $path or die "$path: $!\n";
    while (my $text = <$in>) {
        if (my ($number, $name, $flags) = $text =~ /^# (\d+) "([^"]*)"(.*)/) {
            foreign_library($name, $file, $line) if $flags =~ /\b1\b/ && $kind eq "user";
            ($line, $file) = ($number, $name);
            $kind = $file =~ m{^\Q$own\E|^<} ? "simulator" : $flags =~ /\b3\b/ ? "library" : "user";
            $kind = "math" if $kind eq "library" && $file =~ m{/(?:mathcalls|math\.h|cmath)};
            $kind = "" if $kind eq "library" && $file =~ m{/c\+\+/};
            next;
        }
        if ($kind eq "library" || $kind eq "math") {
            my $names = $kind eq "math" ? \%math : \%library;
            $names->{$1} = 1 while $text =~ /\bextern\b[^(;]*?\b([a-z]\w*)\s*\(/g;
        } elsif ($kind eq "user") {
            while ($text =~ /\G\s*("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\.?\d[\w.]*|<<<|>>>|->|::|#.*|\S)/g) {
                my $found = $1;
                next if $found =~ /^#/;
                if ($found eq "<" && @word > 2 && "$word[-2]$word[-1]" eq "<<" && $word[-3] ne "operator") { # << <
                    splice @$_, -2 for \(@word, @line, @file);
                    $found = "<<<";
                }
                push @word, $found;
                push @line, $line;
                push @file, $file;
            }
        }
        $line++;
    }
}

sub mistake {
    my ($at, $text, $kind) = @_;
    push @mistakes, [$file[$at], $line[$at], $text, $kind // "error"];
}

# The place behind the bracket that closes the one at $at.
sub behind {
    my ($at) = @_;
    my %close = ("(" => ")", "[" => "]", "{" => "}");
    my ($open, $shut, $depth) = ($word[$at], $close{$word[$at]}, 0);
    for (; $at < @word; $at++) {
        $depth++ if $word[$at] eq $open;
        return $at + 1 if $word[$at] eq $shut && --$depth == 0;
    }
    return $at;
}

# The place behind the > that closes the < at $at, or $at where it is a comparison.
sub behind_angle {
    my ($at) = @_;
    my $depth = 0;
    for (my $i = $at; $i < @word && $word[$i] !~ /^[;{}]$/; $i++) {
        $i = behind($i) - 1, next if $word[$i] eq "(";
        $i++, next if $i > $at && "$word[$i]$word[$i + 1]" eq "<<"; # a shift
        $depth += $word[$i] eq "<" ? 1 : $word[$i] eq ">" ? -1 : $word[$i] eq ">>>" ? -3 : 0;
        return $i + 1 if $depth <= 0;
    }
    return $at;
}

# ---- what is declared at file scope ----

sub declarations {
    my ($at, $end) = @_;
    while ($at < $end) {
        if ($word[$at] =~ /^[;}]$/) {
            $at++;
        } elsif ($word[$at] eq "namespace" || ($word[$at] eq "extern" && $word[$at + 1] =~ /^"/)) {
            my $open = $at + ($word[$at] eq "extern" ? 2 : 1);
            $open++ while $open < $end && $word[$open] =~ /^(?:\w+|::)$/ && $word[$at] eq "namespace";
            if ($open < $end && $word[$open] eq "{") {
                declarations($open + 1, behind($open) - 1);
                $at = behind($open);
            } elsif ($word[$at] eq "extern") {
                $at = declaration($open, $end);
            } elsif ($open < $end && $word[$open] eq "=") {    # another name for one
                $open++ while $open < $end && $word[$open] ne ";";
                $open++ while $open < $end && $word[$open] ne ";";    # namespace cg = cooperative_groups;
                $at = $open + 1;
            } else {
                $at = $open + 1;
            }
        } else {
            $at = declaration($at, $end);
        }
    }
}

# One declaration or definition; returns the place behind it.
sub declaration {
    my ($at, $end) = @_;
    my ($start, $name, $parameters, $assigned, $braces, $template) = ($at);
    if ($word[$at] eq "template" && $word[$at + 1] ne "<") {    # template void reduce<int>(...);
        $at++ while $at < $end && $word[$at] ne ";";
        return $at + 1;
    }
    if ($word[$at] eq "template") {
        $template = 1;
        for my $i ($at + 2 .. behind_angle($at + 1) - 2) {
            $type{$word[$i]} = 1 if $word[$i - 1] =~ /^(?:class|typename)$/;
        }
        $at = behind_angle($at + 1);
    }
    my $is_type = 0;
    my $first   = $at;
    for (; $at < $end && $word[$at] ne ";"; $at++) {
        if ($word[$at] =~ /^(?:__attribute__|alignas|decltype|asm|__asm__|noexcept)$/ && $word[$at + 1] eq "(") {
            $at = behind($at + 1) - 1;
        } elsif ($word[$at] =~ /^(?:struct|class|union|enum)$/ && !defined $name) {
            my $i = $at + 1;
            $i = behind($i + 1) if $word[$i] eq "__attribute__";
            $type{$word[$i]} = 1 if $word[$i] =~ /^\w+$/;
            my $most = $i + 8;
            $i++ while $i < $end && $word[$i] !~ /^[{;(=]$/ && $i < $most;
            if ($i < $end && $word[$i] eq "{") {
                $is_type = 1;
                $at = behind($i) - 1;
            }
        } elsif ($word[$at] eq "=") {
            $assigned = 1;
        } elsif ($word[$at] eq "(") {
            if (!$assigned && !defined $name && $word[$at - 1] =~ /^[A-Za-z_]\w*$/ && !$is_type) {
                ($name, $parameters) = ($word[$at - 1], $at);
            }
            $at = behind($at) - 1;
        } elsif ($word[$at] eq "[") {
            $at = behind($at) - 1;
        } elsif ($word[$at] eq "{") {
            last if defined $name && !$assigned;
            $at = behind($at) - 1;
            last if $assigned && $at + 1 < $end && $word[$at + 1] !~ /^[;,]$/;
        }
    }
    my %has = map { $_ => 1 } @word[$start .. ($at < @word ? $at : @word) - 1];
    if ($word[$first] eq "typedef" || $word[$first] eq "using") {
        my $new = $word[$first] eq "using" ? $word[$first + 1] : $word[$at - 1];
        my @of = grep { $_ ne $new } @word[$first + 1 .. $at - 1];
        $type{$word[$at - 1]} = 1 if $at > 0;
        $type{$word[$first + 1]} = 1;
        $plain_type{$new} = 1 if grep({ $plain_type{$_} || /_t$/ } @of) && !grep { /^[^\w:=]/ } @of; # typedef double Real;
        return $at + 1;
    }
    if (defined $name) {
        my %before = map { $_ => 1 } @word[$start .. $parameters - 1];
        my $defined = $at < $end && $word[$at] eq "{";
        push @{ $function{$name} }, {
            name => $name, at => $parameters - 1, parameters => $parameters, body => $defined ? $at : undef,
            global => $before{__sim_global__}, device => $before{__sim_device__} || $before{__sim_global__},
            host => $before{__sim_host__} || !($before{__sim_device__} || $before{__sim_global__}),
            constexpr => $before{constexpr}, void => $before{void}, template => $template,
        };
        return $defined ? behind($at) : $at + 1;
    }
    return $at + 1 if $is_type && $word[$at - 1] eq "}";
    # variables: of each declarator the last word before [ = , ;
    my $i = $first;
    my ($candidate, $array) = ("", 0);
    my $scalar_const = ($has{constexpr} || $has{const}) && !$has{volatile};
    my $plain = grep { $plain_type{$_} || $type{$_} || /_t$|^auto$|^u?(?:char|short|int|long|longlong)[1-4]$|^(?:float|double)[1-4]$|^dim3$/ } @word[$first .. $at - 1];
    my $computed = grep { $word[$_ + 1] eq "(" && ($math{$word[$_]} || $library{$word[$_]} || is_computed($word[$_])) } $first .. $at - 2; # when the program begins
    my $seen_name = 0;
    for (; $i <= $at && $i < @word; $i++) {
        if ($word[$i] =~ /^[=,;\[]$/) {
            $array = $word[$i] eq "[";
            if ($candidate ne "" && $word[$first] ne "texture" && !$seen_name && !($has{__sim_device__} || $has{__sim_constant__} || $has{__sim_managed__} || $has{__shared__})
                && !($scalar_const && $plain && !$array && !$computed && !grep { $_ eq "*" } @word[$first .. $i - 1])) {
                $variable{$candidate} = $i - 1;
            }
            $seen_name = $word[$i] ne ",";
            $candidate = "";
            $i = behind($i) - 1 if $array;
        } elsif ($word[$i] =~ /^[({]$/) {
            $i = behind($i) - 1;
        } elsif ($word[$i] =~ /^[A-Za-z_]\w*$/) {
            $candidate = $word[$i];
        }
    }
    return $at + 1;
}

# Whether a function gives its result only when the program runs.
sub is_computed {
    my ($name) = @_;
    return $function{$name} && !grep { $_->{constexpr} } @{ $function{$name} };
}

# An attribute of kernels is the rewriter's matter. It makes something before main, which an answer that is judged may not.
sub cluster_dims {
    for my $i (reverse grep { "@word[$_, $_ + 1]" eq "__cluster_dims__ (" } 0 .. $#word - 1) {
        mistake($i, "__cluster_dims__ is not for an answer. Launch with cudaLaunchKernelEx and cudaLaunchAttributeClusterDimension")
            if ($ENV{CUSIM_CORES} // '') eq '1';
        my $length = behind($i + 1) - $i;
        splice @$_, $i, $length for \(@word, @line, @file);
    }
}

# ---- words that stand for what is not simulated ----

sub words {
    for my $i (0 .. $#word) {
        if ($word[$i] =~ /^tex(?:[12]D|2DLayered|3D)?(?:Lod|Grad|gather)$|^texCubemap\w*$|^surfCubemap\w*$/ && !$function{$word[$i]}) {
            mistake($i, "$word[$i] is not simulated. Of textures there are tex1Dfetch, tex1D, tex2D, tex3D, tex1DLayered and "
                . "tex2DLayered: read with one of these");
            last;
        } elsif ($word[$i] =~ /^(?:texture|cudaBindTexture\w*)$/ && $word[$i + 1] =~ /^[<(]$/ && !$type{$word[$i]} && !$function{$word[$i]}) {
            mistake($i, "there are no texture references since CUDA 12. Make a texture object with cudaCreateTextureObject, and give the "
                . "kernel the cudaTextureObject_t, which tex1Dfetch<float>(object, i) and its like take");
        }
    }
}

sub known_ptx {
    my ($i) = @_;
    my $open = $word[$i + 1] eq "(" ? $i + 1 : $i + 2;
    return $word[$open] eq "(" && defined ptx_in_c(join " ", @word[$i .. behind($open) - 1]);
}

# PTX in a function of a class, which bodies() does not read: its instructions have points in their names.
sub ptx {
    for my $i (grep { $word[$_] =~ /^(?:asm|__asm__)$/ && !$told{$_} } 0 .. $#word - 3) {
        my ($text) = grep { /^"/ } @word[$i + 1 .. $i + 3];
        mistake($i, "here is PTX, $no_ptx") if defined $text && !known_ptx($i) && $text =~ /^"[\s{]*(?:\.reg\b|(?:@!?[%\w]+\s+)?[a-z]\w*\.[a-z])/;
    }
}

# ---- what functions do ----

sub where {
    my ($f) = @_;
    return "$file[$f->{at}]:$line[$f->{at}]";
}

sub bodies {
    my ($f) = @_;
    mistake($f->{at}, "kernel $f->{name} returns something. Write void, and let it write its result to a pointer")
        if $f->{global} && !$f->{void};
    host_parameters($f) if $f->{global};
    return unless defined $f->{body};
    my $end   = behind($f->{body}) - 1;
    my $local = locals($f, $end);
    my $what  = $f->{global} ? "kernel $f->{name}" : "device function $f->{name}";
    for (my $i = $f->{body} + 1; $i < $end; $i++) {
        my ($w, $before, $next) = @word[$i, $i - 1, $i + 1];
        if ($w eq "<<<") {
            launch($i, $what, $f);
        } elsif (!$f->{device} && $w =~ /^cuda(?:Malloc|Mem)\w*$/ && $next eq "(") {
            pointer_size($f, $i);
        } elsif ($f->{device} && $w =~ /^(?:throw|try|catch)$/) {
            mistake($i, "$what uses $w. There are no exceptions on a GPU: write the error to memory, or call __trap()")
                if $w ne "catch";
        } elsif ($f->{device} && $w =~ /^(?:asm|__asm__)$/) {
            $told{$i} = 1;
            mistake($i, "$what has PTX in it, $no_ptx") if !known_ptx($i);
        } elsif ($f->{device} && $w =~ /^(?:typeid|dynamic_cast|thread_local)$/) {
            mistake($i, "$what uses $w, which does not exist on a GPU. Write it without");
        } elsif ($f->{device} && !$f->{host} && $w =~ /^(?:new|delete|malloc|free)$/ && "$w$next" ne "new(" && $before !~ /^(?:\.|->|::)$/ && !$local->{$w}) {
            mistake($i, "$what uses $w. The simulator has no memory to give to a kernel: allocate it with cudaMalloc, or take a local array");
        } elsif (!$f->{device} && $w eq "__shared__") {
            mistake($i, "function $f->{name} of the host declares a __shared__ variable. Only kernels and device functions have shared memory");
        } elsif ($w =~ /^[A-Za-z_]/ && $before !~ /^(?:\.|->)$/ && !$local->{$w}) {
            name($f, $what, $i);
        }
    }
}

# Names that a function declares as pointers, and not as anything else too: their types.
sub pointers {
    my ($f) = @_;
    my (%pointer, %other);
    for my $i ($f->{parameters} + 1 .. behind($f->{body}) - 2) {
        next unless $word[$i] =~ /^[A-Za-z_]\w*$/ && $word[$i + 1] =~ /^[=,;)\[]$/;
        my $star = $word[$i - 1] eq "*";
        my $at = $i - ($star ? 2 : 1);
        if ($star && $word[$at] eq ",") {    # float *x, *y
            $at-- while $at > $f->{body} && $word[$at - 1] !~ /^[;{}]$/;
        }
        my $type = $word[$at];
        next unless $plain_type{$type} || $type{$type} || $type =~ /_t$|^[a-z]+[1-4]$/;
        if ($star ? $word[$i + 1] ne "[" : $i < $f->{body} && $word[$i + 1] eq "[") {
            $pointer{$word[$i]} = $type;
        } else {
            $other{$word[$i]} = 1;
        }
    }
    delete @pointer{keys %other};
    return \%pointer;
}

# cudaMemcpy(p, ..., sizeof(p), ...): the size of the pointer, and not of what is there.
sub pointer_size {
    my ($f, $i) = @_;
    my $end = behind($i + 1) - 1;
    for my $at (grep { "@word[$_, $_ + 1, $_ + 3]" eq "sizeof ( )" } $i + 2 .. $end - 3) {
        my $name = $word[$at + 2];
        my $type = ($f->{pointers} //= pointers($f))->{$name};
        next if !defined $type || $type =~ /^(?:double|long|size_t|u?int64_t|void)$|\d$/;
        my $given = $word[$i] =~ /^cudaMalloc/ ? grep { $word[$_] eq "&" && $word[$_ + 1] eq $name } $i + 2 .. $at
            : grep { $word[$_] eq $name && $word[$_ - 1] =~ /^[(,)]$/ && $word[$_ + 1] =~ /^[,+]$/ } $i + 2 .. $at;
        mistake($at, "sizeof($name) is the size of the pointer, 8 bytes, and not of what it points to. Write how many elements there are, times sizeof(*$name)")
            if $given;
    }
}

# Parameters of a kernel whose elements lie in memory of the host.
sub host_parameters {
    my ($f) = @_;
    for my $i ($f->{parameters} + 1 .. behind($f->{parameters}) - 2) {
        next unless $word[$i] =~ /^(?:vector|string|map|set|list|deque|unordered_map|shared_ptr|unique_ptr)$/ && $word[$i - 1] eq "::" && $word[$i - 2] eq "std";
        mistake($i, "kernel $f->{name} is given a std::$word[$i], whose elements are in memory of the host. Copy them to memory from cudaMalloc, "
            . "and give it that pointer");
    }
}

# A name that is used: a call, or a variable.
sub name {
    my ($f, $what, $i) = @_;
    my $w      = $word[$i];
    my $scope  = $word[$i - 1] eq "::" ? $word[$i - 2] : "";
    my $open   = $word[$i + 1] eq "<" ? behind_angle($i + 1) : $i + 1;
    my $called = $word[$open] eq "(";
    my $type   = $word[$i - 1] =~ /^[A-Za-z_]\w*$/ && !$no_type{$word[$i - 1]};    # TYPE NAME(...)
    my $known  = $scope eq "" || $scope !~ /^[A-Za-z_]/ ? $function{$w} : undef;

    if ($called && !$known && $f->{device} && $w =~ /^__(?:shfl(?:_up|_down|_xor)?|ballot|all|any)$/) {
        mistake($i, "$what calls $w, which CUDA has no more since the lanes of a warp need not run in step. Write ${w}_sync(mask, ...), "
            . "where the mask names the lanes that make the call, 0xffffffff for all");
    } elsif ($called && !$type && $known) {
        if (!grep { !$_->{global} } @$known) {
            mistake($i, "kernel $w is called like a function. Launch it: $w<<<blocks, threads>>>(...)");
        } elsif ($f->{device} && !grep { $_->{device} || $_->{constexpr} } @$known) {
            mistake($i, "$what calls $w, a function of the host. Write __device__ before it, at " . where($known->[0]));
        } elsif (!$f->{device} && !grep { $_->{host} || $_->{constexpr} || $f->{template} && $_->{template} } @$known) {
            mistake($i, "function $f->{name} of the host calls $w, a function of the device. Write __host__ __device__ before that, at "
                . where($known->[0]) . ", or call it in a kernel");
        }
    } elsif ($f->{device} && !$f->{host} && $scope eq "std" && "$word[$i - 4]$word[$i - 3]" ne "cuda::") {
        if ($std_constexpr{$w}) {
            mistake($i, "$what uses std::$w, a constexpr function of the host, which nvcc takes with --expt-relaxed-constexpr only. "
                . "Compile with that option" . ($w =~ /^(?:min|max)$/ ? ", or write $w without std::" : ""), "warning") if !$relaxed;
        } elsif (($called && !$math{$w} && !$std_for_all{$w}) || $w =~ /^(?:vector|string|map|set|cout|cerr|endl)$/) {
            mistake($i, "$what uses std::$w, which is the host's. Use what CUDA has, or write it yourself");
        }
    } elsif ($called && !$type && $f->{device} && !$f->{host} && $scope eq "" && $library{$w} && !$math{$w} && !$device{$w} && !$type{$w}) {
        mistake($i, "$what calls $w, a function of the host's C library. Do that in host code, or write a __device__ function for it");
    } elsif (!$called && $f->{device} && $scope eq "" && exists $variable{$w} && $word[$i + 1] ne "::") {
        mistake($i, "$what uses $w, a variable of the host, of $file[$variable{$w}]:$line[$variable{$w}]. Pass it as an argument, "
            . "or write __device__ or __constant__ before it");
    }
}

sub launch {
    my ($i, $what, $f) = @_;
    my $at = $i - 1;
    if ($word[$at] eq ">") {
        my ($depth, $round) = (0, 0);
        for (; $at > 0; $at--) {
            $round += $word[$at] eq ")" ? 1 : $word[$at] eq "(" ? -1 : 0;
            $depth += $round > 0 ? 0 : $word[$at] eq ">" ? 1 : $word[$at] eq "<" ? -1 : 0;
            last if $depth == 0;
        }
        $at--;
    }
    my $known = $word[$at - 1] =~ /^(?:\.|->)$/ ? undef : $function{$word[$at]};
    if ($known && !grep { $_->{global} } @$known) {
        mistake($i, "$word[$at] is launched, which is no kernel. Write __global__ before it, at " . where($known->[0]));
    } elsif ($f->{device} && !$f->{host}) {
        mistake($i, "$what launches a kernel. Launch from host code only");
    }
}

# Names that a function declares itself: its parameters, and words behind a type.
sub locals {
    my ($f, $end) = @_;
    my (%local, $depth, $declares);
    for my $i ($f->{parameters} + 1 .. $f->{body} - 1) {
        $local{$word[$i]} = 1 if $word[$i] =~ /^[A-Za-z_]/ && $word[$i + 1] =~ /^(?:,|\)|=|\[)$/;
    }
    $depth = $declares = 0;
    for my $i ($f->{body} + 1 .. $end - 1) {
        my ($w, $before) = @word[$i, $i - 1];
        $depth++ if $w =~ /^[(\[]$/;
        $depth-- if $w =~ /^[)\]]$/;
        $declares = 0 if $w =~ /^[;{}]$/;
        next if $w !~ /^[A-Za-z_]/;
        my $back = $i - 1;
        $back-- while $word[$back] =~ /^[*&]$/;
        my $behind_type = $word[$back] =~ /^[A-Za-z_]\w*$/ && !$no_type{$word[$back]}
            && ($back == $i - 1 || $plain_type{$word[$back]} || $type{$word[$back]} || $word[$back] =~ /_t$|^const$|^auto$|^\w+[1-4]$/);
        $behind_type ||= $before eq ">" && $word[$i + 1] =~ /^[=;,\[({]$/;
        if ($behind_type) {
            $local{$w} = 1 if $word[$i + 1] !~ /^(?:\(|::)$/ || $before =~ /^[A-Za-z_]/;
            $declares = 1;
        } elsif ($before eq "," && $depth == 0 && $declares) {
            $local{$w} = 1;
        }
    }
    return \%local;
}
