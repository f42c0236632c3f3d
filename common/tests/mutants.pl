#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# mutants.pl [--jobs N] [--sample N] [--tests] [--list] [--only TEXT] [CHAPTER ...]
#
# How much do the checks see? A *mutant* is a kernel or launcher with one small mistake, such as < where <= stood. Each is built for the
# simulator in a copy of the chapters, and the chapter's own `make check` runs on it until something fails: then the mutant is *killed*.
# One that lives is looked up in mutants.txt, the list of those that are *equivalent* (no input and no count tells them from the
# original) with the reason of each; any other has *survived*. With --tests, those go through the tests, too.
#
#   --sample N    so many of each chapter, always the same ones    --jobs N     so many at a time (default 2)
#   --list        print the mutants and build nothing              --only TEXT  those whose file, function or line contains it
#   --again       forget what an earlier run has found       --equivalent FILE, --results FOLDER: other ones
#
# Verdicts go to results/mutants_CHAPTER.txt. An interrupted run goes on from there, unless a source has changed since.
# Exit status: 0 none survived, 1 some did, or the list has an entry that fits no mutant, or one that a check kills; 2 usage.
use strict;
use warnings;
use lib 'common/base', 'common/tests';
use Code;
use Digest::MD5 'md5_hex';
use Fcntl ':flock';
use Getopt::Long;
use POSIX 'WNOHANG';
use Linrec;

$ENV{BACKEND} = 'sim';
$ENV{CUSIM_WATCHDOG} = 5; # seconds of processor time without progress
my $patience = 20;      # and for one command of a check: several times what the slowest takes

my %option = (jobs => 2, equivalent => 'common/tests/mutants.txt', results => 'results');
GetOptions(\%option, 'jobs=i', 'sample=i', 'tests', 'list', 'only=s', 'again', 'equivalent=s', 'results=s') or exit 2;

# ---- the rules ----

my %other = ('<' => '<=', '<=' => '<', '>' => '>=', '>=' => '>', '==' => '!=', '!=' => '==', '&&' => '||', '||' => '&&', '+' => '-',
    '-' => '+', '*' => '+', '/' => '*', '%' => '/', '+=' => '-=', '*=' => '+=', product => 'sum', sum => 'product', products => 'sums',
    sums => 'products', '1.0f' => '0.0f', '0.0f' => '1.0f', up => 'down', '.x' => '.y', '.y' => '.x');

# What is replaced ($1 is it), and by what.
my @rules = (
    [qr/ (<=?|>=?|==|!=|&&|\|\||[-+*\/%]|[+*]=) /, sub { $other{$_[0]} }],
    [qr/(?<![\w.<])(\d+)(?![\w.]|, stream)/, sub { $_[0] == 0 ? 1 : $_[0] - 1 }],
    [qr/(?<![\w.])([01]\.0f)/, sub { $other{$_[0]} }],
    [qr/[.>](product|sum)\b/, sub { $other{$_[0]} }],
    [qr/\b(products|sums)\[/, sub { $other{$_[0]} }],
    [qr/\b(carry|into|into_warp)\b(?= [*:])/, sub { '0.0f' }],                # what comes in is not used
    [qr/((?:thread|block)Idx\.x)/, sub { "($_[0] + 1)" }],
    [qr/, (lane)\)/, sub { 'lane ^ 1' }],
    [qr/__shfl_(up)_sync/, sub { $other{$_[0]} }],
    [qr/\b(reverse) \?/, sub { '!reverse' }],
    [qr/\bif \((.*)\)\s*\n\s*(?:return|[^;]*return)/, sub { 'false' }],       # a check that is not made
    [qr/\bif \(((?!.*\)\s*\n\s*return).*)\)(?: \{)?(?:\s*\n| )/, sub { 'true' }], # a case that is not told apart
    [qr/\bfor \([^;]*; ([^;]+);/, sub { 'false' }],                           # work that is not done
    [qr/^ +((?:\+\+)?[\w.\[\]>-]+ (?:[-+*^]?=) [^;=]*|\w+\([^;]*\));$/m, sub { '' }], # a statement, a barrier, a wait
    [qr/, (stream)(?:>>>|\))/, sub { '0' }],
    [qr/\breturn (error|cudaError\w+|cudaGetLastError\(\));/, sub { 'cudaSuccess' }],
);

# ---- the mutants ----

# Kernels and launchers: what the simulator compiles; in a chapter without any, its plain C.
sub sources_of {
    my ($chapter) = @_;
    my @sources = glob "$chapter/*.cu $chapter/*.cuh";
    return @sources ? @sources : grep { !m{/(?:main|kernels)\.c$} } glob "$chapter/*.c";
}

# The chapters whose kernels are their own: 07, for example, compares those of others.
sub kernel_chapters { return grep { !claims($_, 'nothing') } map { s{/main\.c$}{}r } sort glob '[0-9][0-9]_*/main.c' }

sub squeeze { return $_[0] =~ s/\s+/ /gr =~ s/^ | $//gr }

# All mutants of a file. Each knows its whole text, and what it is called: file, function, the lines that differ.
sub mutants_of {
    my ($file) = @_;
    my $text = read_file($file);
    my $code = blanked($text, 1);
    my (@mutants, %seen, %same);
    for my $function (functions_of($text)) {
        my ($name, $begin, $end) = @$function;
        my %mutant;
        for my $rule (@rules) {
            my ($what, $by) = @$rule;
            pos($code) = $begin;
            while ($code =~ /$what/g && $-[0] < $end) {
                my ($from, $to) = ($-[1], $+[1]);
                pos($code) = $to; # matches may share what surrounds them
                my $new = $by->(substr $code, $from, $to - $from);
                my $changed = substr($text, 0, $from) . $new . substr($text, $to);
                next if $seen{$changed}++;
                my $line_begin = rindex($code, "\n", $from) + 1;
                my $line_end = index($code, "\n", $to);
                my $was = squeeze(substr $code, $line_begin, $line_end - $line_begin);
                my $is = squeeze(substr($code, $line_begin, $from - $line_begin) . $new . substr($code, $to, $line_end - $to));
                $mutant{"$from $to $new"} = { file => $file, function => $name, was => $was, is => $is, text => $changed, at => $from, from => $from, to => $to, new => $new };
            }
        }
        push @mutants, sort { $a->{at} <=> $b->{at} || $a->{is} cmp $b->{is} } values %mutant;
    }
    for (@mutants) { # the same change in the same line of a function, once more
        my $key = "$_->{file} $_->{function}\n$_->{was}\n$_->{is}";
        $_->{key} = $same{$key}++ ? "$key\n#$same{$key}" : $key;
    }
    return @mutants;
}

# ---- the list of equivalent ones: blocks of "FILE FUNCTION" (either with *, and {a,b}), "- code" and "+ code" for each, and the reason. The code is found as
# Code.pm finds it: how its lines are laid out does not matter. ----

sub read_equivalent {
    my @entries;
    my $text = read_file($option{equivalent}) // die "$option{equivalent}: $!\n";
    for my $block (grep { !/^#/ } split /\n\n+/, $text) {
        my ($where, $pairs, $why) = $block =~ /\A(\S+ \S+)\n((?:- .*\n\+ .*\n)+)(.+)/s or die "mutants.txt: this is no entry:\n$block\n";
        my $match = join ' ', map { quotemeta =~ s/\\\*/[^\/ ]*/gr =~ s/\\\{(.*?)\\\}/'(?:' . ($1 =~ s{\\,}{|}gr) . ')'/ger } split / /, $where;
        while ($pairs =~ /^- (.*)\n\+ (.*)\n/mg) {
            push @entries, { where => $where, match => qr/\A$match\z/, was => $1, is => $2, fits => 0 };
        }
    }
    return @entries;
}

# The places of a function where an entry's change can be made: begin, end, how the code is spelled then, the entry.
my %places;
sub places_of {
    my ($file, $function, $entries) = @_;
    return @{ $places{"$file $function"} //= do {
        my $text = read_file($file);
        [map { my $entry = $_; map { [@$_, spelled($entry->{is}), $entry] } find_code($text, { what => $entry->{was}, function => $function }) }
            grep { "$file $function" =~ $_->{match} } @$entries];
    } };
}

# The entry that makes the same change in the same place.
sub entry_of {
    my ($mutant, $entries) = @_;
    for (places_of($mutant->{file}, $mutant->{function}, $entries)) {
        my ($begin, $end, $is, $entry) = @$_;
        next if $mutant->{from} < $begin || $mutant->{to} > $end;
        my $changed = substr($mutant->{text}, $begin, $end - $begin - ($mutant->{to} - $mutant->{from}) + length $mutant->{new});
        return $entry if spelled($changed) eq $is;
    }
    return undef;
}

# ---- a copy of the chapters for each job ----

sub make_copy {
    my ($job) = @_;
    my $copy = scratch("mutants_$job");
    mkdir $copy;
    # what was built is linked where that can be: compilers and linkers put a new file in an old one's place
    my @sources = grep { !/^(?:build|results)$/ } glob '*';
    my @built = grep { -d } qw(build/sim build/sim_debug build/obj/sim build/obj/sim_debug);
    system("cp -a @sources $copy && mkdir -p $copy/build/obj") == 0 or die 'cp';
    for my $folder (@built) {
        system("cp -al $folder $copy/$folder 2> /dev/null || { rm -rf $copy/$folder && cp -a $folder $copy/$folder; }") == 0 or die 'cp';
    }
    return $copy;
}

# Runs a shell command in a process group of its own until it ends or says FAILED. Returns what it died of, or ''.
sub fails {
    my ($command, $usage_too) = @_;
    pipe my $read, my $write or die;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        setpgrp;
        close $read;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', '/dev/null';
        open STDERR, '>&', $write or die;
        exec 'sh', '-c', $command or exit 127;
    }
    close $write;
    my $said = '';
    while (<$read>) {
        $said = $_ if $said eq '' && /\S/ && !/^skipped/;
        kill(KILL => -$pid), last if /^FAILED/;
    }
    waitpid $pid, 0;
    my $status = $?;
    return '' if $status == 0 || (!$usage_too && $status == 2 << 8);
    chomp $said;
    return $said ne '' ? $said : "status $status";
}

# What `make check` runs, as lines of shell.
sub check_commands {
    my ($copy, $chapter) = @_;
    my @commands = grep { /--check-only/ } split /\n/, `make --no-print-directory -C $copy/$chapter -n BACKEND=sim check 2>&1`;
    die "$chapter: make check runs nothing\n" if !@commands;
    return map { s{^cd \S+ &&}{cd $copy && ulimit -t $patience && exec env}r } @commands;
}

# The tests that look at what kernels do, the quickest first. Two would kill every mutant, because they hold the texts to the sources.
my @first = qw(chapters same_bits backward pipe trace);
my %rank = map { $first[$_] => $_ } 0 .. $#first;
sub test_commands {
    my ($copy) = @_;
    my @tests = grep { !m{/(?:texts|report|outputs|mutants|mistakes|new_chapter)\.t$} } map { s{^\Q$copy/}{}r } glob "$copy/{common,[0-9][0-9]_*}/tests/{,long/}*.t";
    my %name = map { $_ => m{([^/]+)\.t$} } @tests;
    return map { "cd $copy && prove -Q $_ > prove.out 2>&1 || { echo $_: \$(grep -m1 'Failed test' prove.out) >&2; exit 1; }" }
        sort { ($rank{ $name{$a} } // 99) <=> ($rank{ $name{$b} } // 99) || $a cmp $b } @tests;
}

# The code of a chapter's kernels, without the lines that it came from.
sub code_of {
    my ($copy, $chapter) = @_;
    my $code = '';
    for my $object (sort glob "$copy/build/obj/sim/$chapter/*.o") {
        system('objcopy', '--strip-debug', $object, "$copy/bare.o") == 0 or die 'objcopy';
        $code .= read_file("$copy/bare.o");
    }
    return md5_hex($code);
}

# The chapters that compile a file: its own, and of a header also the later ones that may have a use for all of it.
sub using {
    my ($own, $header) = $_[0] =~ m{^([^/]+)/(.*\.cuh)?};
    return $own if !defined $header;
    return $own, grep { my $later = $_; $later gt $own && grep { read_file($_) =~ m{"\.\./$own/\Q$header\E"} } glob "$later/*.cu" } kernel_chapters();
}

# What the compiler warns of where a program has no meaning. (.ci/run takes no warning at all.)
my $undefined = qr/\[-W(?:array-bounds|aggressive-loop-optimizations|uninitialized|maybe-uninitialized)\]/;

# One mutant's verdict and what killed it.
my %code; # of each chapter as it was
sub judge {
    my ($copy, $mutant) = @_;
    my $path = "$copy/$mutant->{file}";
    my $write = sub { open my $out, '>', $path or die; print $out $_[0]; close $out };
    my $original = read_file($mutant->{file});
    my ($chapter, @later) = using($mutant->{file});
    $code{$_} //= code_of($copy, $_) for $chapter, @later;
    $write->($mutant->{text});
    my @verdict = sub {
        while (1) {
            my $build = "make -C $copy/$chapter BACKEND=sim WERROR= ../build/sim/$chapter > $copy/build.log 2>&1";
            return ('no program', '') if system($build) != 0 || read_file("$copy/build.log") =~ /$undefined/;
            last if code_of($copy, $chapter) ne $code{$chapter};
            $chapter = shift @later // return ('same', 'the compiler makes the same of it');
        }
        my @commands = check_commands($copy, $chapter);
        my ($variant) = $mutant->{file} =~ m{([^/]+?)(?:_backward)?\.cuh?$}; # its own row first: quicker
        for ((map { [$_, 0] } map { "$_ --variant $variant" } defined $variant ? @commands : ()), map { [$_, 1] } @commands) {
            my $said = fails(@$_);
            return ('killed', $said) if $said ne '';
        }
        return ('lives', '') if !$option{tests};
        system("make -C $copy BACKEND=sim WERROR= all tests > $copy/build.log 2>&1") == 0 or return ('killed by tests', 'does not build');
        for (test_commands($copy)) {
            my $said = fails($_, 1);
            return ('killed by tests', $said) if $said ne '';
        }
        return ('survived', '');
    }->();
    $write->($original);
    utime undef, undef, $path;
    return @verdict;
}

# ---- a chapter ----

my @entries = read_equivalent();
my @chapters = @ARGV ? map { s{/$}{}r } @ARGV : kernel_chapters();
my $dirty = 0;
my $terminal = -t STDERR;

my %fits; # of each entry, which chapters' mutants it may mean
for my $chapter (@chapters) {
    -d $chapter or print(STDERR "there is no chapter $chapter; name a folder such as 04_warp_scan\n"), exit 2;
    my @mutants = map { mutants_of($_) } sources_of($chapter);
    for my $mutant (@mutants) {
        $mutant->{entry} = entry_of($mutant, \@entries);
        $mutant->{entry}{fits}++ if $mutant->{entry};
    }
    @mutants = grep { index("$_->{file} $_->{function} $_->{was} $_->{is}", $option{only}) >= 0 } @mutants if defined $option{only};
    if ($option{sample}) { # always the same ones, from all over the chapter
        my @mixed = sort { md5_hex($a->{key}) cmp md5_hex($b->{key}) } @mutants;
        my %taken = map { $_->{key} => 1 } @mixed[0 .. ($option{sample} < @mixed ? $option{sample} : @mixed) - 1];
        @mutants = grep { $taken{ $_->{key} } } @mutants;
    }
    if ($option{list}) {
        print "$_->{file} $_->{function}\n- $_->{was}\n+ $_->{is}\n\n" for @mutants;
        next;
    }
    run_chapter($chapter, @mutants);
}
if (!@ARGV) {
    for (grep { !$_->{fits} } @entries) {
        print "mutants.txt: no mutant is\n$_->{where}\n- $_->{was}\n+ $_->{is}\n";
        $dirty = 1;
    }
}
exit $dirty;

sub run_chapter {
    my ($chapter, @mutants) = @_;
    mkdir $option{results};
    my $results = "$option{results}/mutants_$chapter.txt";
    my $sources = md5_hex(map { read_file($_) } sort glob "$chapter/*.{c,h,cu,cuh} common/*/*.{c,h,cu,mk} cusim/*/*.{h,cpp}");
    my %verdict;
    my @old = split /\n/, read_file($results) // '';
    if (!$option{again} && @old && $old[0] eq "# $sources") {
        for (@old[1 .. $#old]) {
            my ($key, @verdict) = split /\t/;
            $verdict{$key} = \@verdict;
        }
    } else {
        open my $new, '>', $results or die "$results: $!";
        print $new "# $sources\n";
    }
    my $name = sub { $_[0]{key} =~ s/\n/ | /gr };
    my @open = grep { my $v = $verdict{ $name->($_) }; !$v || ($option{tests} && $v->[0] eq 'lives' && !$_->{entry}) } @mutants;
    my ($begin, $done) = (time, 0);
    my $jobs = $option{jobs} < @open ? $option{jobs} : @open;
    pipe my $read, my $write or die;
    pipe my $take, my $give or die; # the numbers of mutants, for whoever is free
    syswrite $give, pack 'L*', 0 .. $#open;
    close $give;
    for my $job (1 .. $jobs) {
        my $pid = fork // die "fork: $!";
        next if $pid;
        close $read;
        my $copy = make_copy("$chapter.$job");
        while (sysread $take, my $number, 4) {
            my $i = unpack 'L', $number;
            my @verdict = judge($copy, $open[$i]);
            open my $out, '>>', $results or die;
            flock $out, LOCK_EX;
            print $out join("\t", $name->($open[$i]), map { s/\s+/ /gr } @verdict), "\n";
            close $out;
            syswrite $write, "$i\t" . join("\t", map { s/\s+/ /gr } @verdict) . "\n";
        }
        system('rm', '-rf', $copy);
        POSIX::_exit(0);
    }
    close $write;
    while (<$read>) {
        chomp;
        my ($i, @verdict) = split /\t/;
        $verdict{ $name->($open[$i]) } = \@verdict;
        my $left = (time - $begin) / ++$done * (@open - $done);
        printf STDERR "\r\033[K%s: %d of %d mutants, about %d min left", $chapter, $done, scalar @open, $left / 60 + 0.5 if $terminal;
    }
    1 while wait > 0;
    print STDERR "\r\033[K" if $terminal;

    my %count = map { $_ => 0 } 'killed', 'killed by tests', 'equivalent', 'survived', 'no program';
    for my $mutant (@mutants) {
        my ($verdict, $why) = @{ $verdict{ $name->($mutant) } // ['not tried', ''] };
        my $listed = $mutant->{entry};
        $verdict = 'equivalent' if $verdict eq 'same' || ($listed && $verdict =~ /^(?:lives|survived)$/);
        $verdict = 'survived' if $verdict eq 'lives';
        $count{$verdict}++;
        if ($listed && $verdict =~ /^killed/) {
            print "mutants.txt calls this one equivalent, but it is found ($why):\n  $mutant->{file} $mutant->{function}\n  - $mutant->{was}\n  + $mutant->{is}\n";
            $dirty = 1;
        }
        if ($verdict eq 'survived') {
            print "survived: $mutant->{file} $mutant->{function}\n  - $mutant->{was}\n  + $mutant->{is}\n";
            $dirty = 1;
        }
    }
    my $judged = $count{killed} + $count{'killed by tests'} + $count{survived};
    printf "%s: %d mutants, %d equivalent; of the others make check kills %d of %d, %.1f %%%s\n", $chapter, $judged + $count{equivalent},
        $count{equivalent}, $count{killed}, $judged, $judged ? 100 * $count{killed} / $judged : 100,
        $option{tests} ? sprintf(', with the tests %d', $judged - $count{survived}) : '';
}
