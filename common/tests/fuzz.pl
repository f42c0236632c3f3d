# SPDX-License-Identifier: MIT
# fuzz.pl - looks for what the kernels get wrong: random shapes in random directions, types and configurations, with random arrays left out. It runs
# the built programs of the chapters, several at once, and asks them what they have: variants and configurations (--list), sizes, types and what may be
# left out (--help), and their default shapes. `make fuzz` builds and calls it:
#
#   perl common/tests/fuzz.pl [SECONDS=60] [CASES=N] [SEED=N] [ONLY="NAME ..."] [JOBS=N]
#
# SECONDS or CASES end it (CASES counts those, too, that a kernel refuses). A SEED draws the same cases again. ONLY names chapters, or programs by their
# path. What is wrong is printed with the command that repeats it; the first case of each kernel is made as small as it stays wrong. Status 1 if anything is.
use strict;
use warnings;
use lib 'common/base', 'common/pages', 'common/tests';
use List::Util qw(first min max product shuffle);
use Linrec;

my %given = (SECONDS => undef, CASES => undef, SEED => undef, ONLY => '', JOBS => undef);
for (@ARGV) {
    my ($name, $value) = /^(\w+)=(.*)$/ or refuse("`$_' is no setting; give NAME=VALUE, as in SECONDS=60");
    exists $given{$name} or refuse("$name is unknown; settings are " . join ', ', sort keys %given);
    $name eq 'ONLY' || $value =~ /^\d{1,9}$/ && ($value > 0 || $name eq 'SEED') or refuse("$name=$value is no whole number; give $name=60, for example");
    $given{$name} = $value;
}
sub refuse { print STDERR "fuzz: $_[0]\n"; exit 2 }

my $jobs = $given{JOBS} // max(1, `nproc 2> /dev/null` || 1);
my $limit = 240; # seconds of the CPU's time that a case may take, and that the search for a smaller one takes at most; most cases take less than one
my $terminal = -t STDERR;
my $stop = 0;
$| = 1;

# ---- what there is ----

sub output_of { return (run_program(@_))[1] }

# What a program says of itself: its sizes by name, values of --type, what --with chooses from, its default shapes.
sub describe {
    my ($path, $default) = @_;
    my $help = output_of($path, '--help');
    my %program = (path => $path, name => $path =~ s{.*/}{}r);
    my ($types) = $help =~ /^  --type \S+ +(.*?):/m;
    my ($with) = $help =~ /^--with takes all, none, or some of (\S+):/m;
    $program{types} = [split /, | or /, $types // ''];
    $program{with} = [split /,/, $with // ''];
    my $csv = scratch('shapes.csv');
    run_program($path, '--check-only', '--variant', $default, '--forward', '--csv', $csv);
    -f $csv or refuse("$path does not write its default shapes; see what $path --variant $default says");
    my $table = read_table($csv);
    unlink $csv;
    $program{sizes} = [grep { my $option = s/_/-/gr; $help =~ /^  --$option (?:N|L\[\S*) /m } @{ $table->{columns} }];
    $program{shapes} = [map { my $row = $_; [map { $row->{$_} } @{ $program{sizes} }] } @{ $table->{rows} }];
    $program{arrays} = [map { [split /, /] } $help =~ /^The shape of .* is \((.*)\)\.$/mg];
    $program{largest} = [map { my $s = $_; max(map { $_->[$s] || 1 } @{ $program{shapes} }) } 0 .. $#{ $program{sizes} }];
    $program{most_elements} = 2 * max(map { elements_of(\%program, @$_) } @{ $program{shapes} });
    return \%program;
}

# Elements of the largest array, where an empty dimension counts, too.
sub elements_of {
    my ($program, @shape) = @_;
    my %size;
    @size{ @{ $program->{sizes} } } = map { max(1, $_) } @shape;
    return max(map { product(map { $size{$_} } @$_) } @{ $program->{arrays} });
}

# Whether the simulator would take too long for a shape: its arrays have more elements than the default shapes' arrays, or its sizes, each beside the
# largest default one, are together so many times larger: more and smaller blocks of threads.
my $most_times = 48;
sub too_large {
    my ($program, @shape) = @_;
    my $times = product(map { max(1, $shape[$_] / $program->{largest}[$_]) } 0 .. $#shape);
    return $times > $most_times || elements_of($program, @shape) > $program->{most_elements};
}

# The kernels of a program that are its own and compute all of a result: a list of program, variant, direction and what --config may be.
sub kernels_of {
    my ($path) = @_;
    my @lines = grep { !m{^\S*/} && !/\(partial\)/ } split /\n/, output_of($path, '--list');
    my $default = first { /\(default\)/ } @lines;
    return if !defined $default; # it only compares others' kernels
    my $program = describe($path, $default =~ /^(\S+)/);
    my @kernels;
    for (@lines) {
        my ($variant) = /^(\S+)/;
        my %config;
        $config{rows} = [split /, /, $1] if /[(;] ?rows ([\d, ]+)[);]/;
        $config{threads} = [map { 32 * $_ } 1 .. $1 / 32] if /[(;] ?threads up to (\d+)[);]/;
        $config{stages} = [$1 // 1 .. $2] if /[(;] ?stages (?:(\d+) to|up to) (\d+)[);]/;
        for my $direction (['--forward'], ['--reverse'], ['--backward'], ['--backward', '--reverse']) {
            my @nothing = ('--' . $program->{sizes}[0] =~ s/_/-/gr, 0);
            my (undef, undef, $err) = run_program($path, '--check-only', '--variant', $variant, @$direction, @nothing);
            next if $err =~ /does not run (?:forward|reverse|backward)| needs sm_/;
            my ($refused) = run_program($path, '--check-only', '--variant', $variant, @$direction, @nothing, '--with', 'all');
            my $with = $refused ? [] : $program->{with};
            push @kernels, { program => $program, variant => $variant, direction => $direction, config => \%config, with => $with };
        }
    }
    return @kernels;
}

# ---- a case ----

sub one_of { return $_[rand @_] }

# A number up to $most. Warps, tiles and chunks end at small multiples of powers of two, which the numbers lie around; others are primes, or any.
sub draw_size {
    my ($most) = @_;
    my $any = int exp rand log($most + 1);
    my $power = 2**int(log($any) / log 2);
    my $step = one_of(1, $power, max(1, $power / 4), 32);
    my $size = one_of(
        sub { int rand 5 },
        sub { $any },
        sub { my $n = $any; $n-- while $n > 2 && grep { $n % $_ == 0 } 2 .. sqrt $n; $n },
        sub { $step * max(1, int $any / $step) },
        sub { $step * max(1, int $any / $step) + one_of(-1, 1) },
    )->();
    return $size == 0 ? one_of(0, 1, 2) : min($size, $most);
}

# A default shape of which some sizes are replaced: by a number, or by another size or a part of that, since some sizes go with others.
sub draw_shape {
    my ($program) = @_;
    my @shape = @{ one_of(@{ $program->{shapes} }) };
    my $part = rand;
    my @drawn = shuffle grep { rand() < $part } 0 .. $#shape;
    @shape[@drawn] = (1) x @drawn;
    for my $s (@drawn) {
        my ($most, $other) = ($most_times * $program->{largest}[$s], one_of(@shape));
        $shape[$s] = rand() < 0.8 ? draw_size($most) : one_of($other, one_of(grep { $other % $_ == 0 } 1 .. max(1, $other)));
        for (; too_large($program, @shape); $most = int $most / 2) {
            $shape[$s] = draw_size(max(1, $most));
        }
    }
    return @shape;
}

# A case is a kernel, a shape, and settings: each a word, or an option and its value.
sub draw_case {
    my ($kernel) = @_;
    my $program = $kernel->{program};
    my @settings = (['--seed', int rand 1e6]);
    if (my @types = @{ $program->{types} }) {
        push @settings, ['--type', one_of(@types)];
    }
    if (my @names = @{ $kernel->{with} }) {
        my @some = grep { rand() < 0.5 } @names;
        push @settings, ['--with', rand() < 0.25 ? 'all' : @some ? join ',', @some : 'none'];
    }
    my @config = map { rand() < 0.5 ? "$_=" . one_of(@{ $kernel->{config}{$_} }) : () } sort keys %{ $kernel->{config} };
    push @settings, ['--config', join ',', @config] if @config && rand() < 0.5;
    my $order = one_of('warp', 'reverse', 'random:' . int rand 1e6);
    return { kernel => $kernel, shape => [draw_shape($program)], settings => \@settings, order => backend() eq 'sim' ? $order : 'warp' };
}

# The settings of the environment and the command of a case, as lists of words.
my $endless = "it does not end in $limit seconds";
sub environment_of { return $_[0]{order} eq 'warp' ? () : ("CUSIM_SCHEDULE=$_[0]{order}") }
sub command_of {
    my ($case) = @_;
    my ($kernel, $program) = ($case->{kernel}, $case->{kernel}{program});
    return ($program->{path}, '--check-only', '--variant', $kernel->{variant}, @{ $kernel->{direction} },
        (map { ('--' . $program->{sizes}[$_] =~ s/_/-/gr, $case->{shape}[$_]) } 0 .. $#{ $case->{shape} }), map { @$_ } @{ $case->{settings} });
}
sub text_of { return join ' ', environment_of($_[0]), command_of($_[0]) }

# Begins a case; what it writes is then in the scratch folder under this name. Returns its process.
sub begin {
    my ($case, $name) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    setpgrp 0, 0; # an interrupt is ours alone: a case that is cut off would look wrong
    open STDIN, '<', '/dev/null';
    open STDOUT, '>', scratch("$name.out") or die;
    open STDERR, '>', scratch("$name.err") or die;
    exec 'sh', '-c', "ulimit -t $limit; exec env \"\$@\"", 'sh', environment_of($case), command_of($case) or exit 127;
}

# Waits for any of these processes. Returns it and what came of it: 'right', 'refused', or what is wrong.
sub outcome {
    my ($pid, $name) = @_;
    my ($status, $err) = ($?, read_file(scratch("$name.err")) // '');
    my ($said) = $err =~ /^((?:FAILED|simulator:) .*)/m;
    return 'right' if $status == 0 && (read_file(scratch("$name.out")) // '') =~ /^(?:all \d+ checks passed|nothing was checked)$/m;
    return 'refused' if $status == 2 << 8;
    return $endless if ($status & 127) == 24 || ($status & 127) == 9; # SIGXCPU
    return $said // ($status & 127 ? 'signal ' . ($status & 127) : 'status ' . ($status >> 8)) . ": $err";
}

# Whether a case is wrong: what is said of it, or undef.
sub wrong {
    my $pid = begin($_[0], 'again');
    waitpid $pid, 0;
    my $outcome = outcome($pid, 'again');
    return $outcome =~ /^(?:right|refused)$/ ? undef : $outcome;
}

# All cases that are a little simpler.
sub simpler {
    my ($case) = @_;
    my @simpler;
    for my $s (0 .. $#{ $case->{shape} }) {
        my $size = $case->{shape}[$s];
        for my $less (grep { $_ < $size && $_ > 0 } 1, int $size / 2, $size - 1) {
            push @simpler, { %$case, shape => [map { $_ == $s ? $less : $case->{shape}[$_] } 0 .. $#{ $case->{shape} }] };
        }
        my @equal = grep { $case->{shape}[$_] == $size && $size > 1 } 0 .. $#{ $case->{shape} }; # some sizes go with others
        push @simpler, { %$case, shape => [map { $_ == $size && $size > 1 ? int $size / 2 : $_ } @{ $case->{shape} }] } if @equal > 1;
    }
    for my $i (0 .. $#{ $case->{settings} }) {
        my @settings = @{ $case->{settings} };
        my ($option, $value) = @{ $settings[$i] };
        my @values = split /,/, $value;
        push @simpler, { %$case, settings => [@settings[grep { $_ != $i } 0 .. $#settings]] } if $option ne '--with';
        push @simpler, map { my $less = $_; +{ %$case, settings => [map { $_ == $i ? [$option, $less] : $settings[$_] } 0 .. $#settings] } }
            grep { $_ ne $value } $option eq '--with' ? 'none' : (), @values > 1 ? map { my $j = $_; join ',', @values[grep { $_ != $j } 0 .. $#values] } 0 .. $#values : ();
    }
    push @simpler, { %$case, order => 'warp' } if $case->{order} ne 'warp';
    return @simpler;
}

# The case made as small as it stays wrong, as far as there is time, and what is said of it.
sub shrink {
    my ($case, $said) = @_;
    my $until = time + $limit;
    STEP: while ($said ne $endless) {
        for my $less (simpler($case)) {
            last STEP if time > $until || $stop;
            my $outcome = wrong($less) // next;
            ($case, $said) = ($less, $outcome);
            next STEP;
        }
        last;
    }
    return ($case, $said);
}

# ---- all cases ----

my $seed = $given{SEED} // time() % 1e9;
my $seconds = $given{SECONDS} // (defined $given{CASES} ? undef : 60);
my @paths = grep { -x } map { program(s{/main\.c$}{}r) } sort glob '[0-9][0-9]_*/main.c';
if ($given{ONLY} =~ /\S/) {
    @paths = map { m{/[^/]} ? $_ : program(s{/$}{}r) } split ' ', $given{ONLY};
    -f && -x or refuse("ONLY=$given{ONLY}: there is no program $_; name the folder of a chapter that is built") for @paths;
}
@paths or refuse('no chapter is built; make builds them');
print "seed $seed", defined $seconds ? ", $seconds seconds" : ", $given{CASES} cases", "\n";
srand $seed;

my @chapters = grep { @$_ } map { [kernels_of($_)] } @paths;
@chapters or refuse("$given{ONLY} has no kernels of its own");
my ($end, $drawn, $refused) = (defined $seconds ? time + $seconds : undef, 0, 0);
my (%running, %cases, %wrong, %shown);
my @free = 1 .. $jobs;
$SIG{INT} = $SIG{TERM} = sub { $stop = 1 }; # what runs ends, and all is summed up

sub go_on { return !$stop && (!defined $end || time < $end) && (!defined $given{CASES} || $drawn < $given{CASES}) }
sub wipe { print STDERR "\r\033[K" if $terminal }

# Says what is wrong. The first case of each kernel is made as small as it stays wrong.
sub complain {
    my ($case, $said) = @_;
    my $kernel = $case->{kernel};
    $wrong{ $kernel->{program}{path} }++;
    ($case, $said) = shrink($case, $said) if !$kernel->{num_wrong}++;
    my $text = text_of($case);
    return if $shown{$text}++;
    wipe();
    print "WRONG: $text\n    ", substr($said =~ s/\s*\z//r =~ s/\n/\n    /gr, 0, 500), "\n";
}

while (1) {
    while (@free && go_on()) {
        my $case = draw_case(one_of(@{ one_of(@chapters) }));
        my $slot = shift @free;
        $drawn++;
        $running{ begin($case, $slot) } = [$case, $slot];
    }
    last if !%running;
    my $pid = waitpid -1, 0;
    next if $pid < 0 || !$running{$pid};
    my ($case, $slot) = @{ delete $running{$pid} };
    my $outcome = outcome($pid, $slot);
    push @free, $slot;
    $outcome eq 'refused' ? $refused++ : $cases{ $case->{kernel}{program}{path} }++;
    complain($case, $outcome) if $outcome !~ /^(?:right|refused)$/;
    next if !$terminal;
    my $left = defined $end ? ', ' . max(0, $end - time) . ' s left' : " of $given{CASES}";
    printf STDERR "\r\033[K%d cases%s", $drawn, $left;
}
wipe();

sub none_or { return $_[0] ? "$_[0] wrong" : 'none wrong' }
sub sum { my $sum = 0; $sum += $_ for @_; return $sum }
for (@chapters) {
    my ($program, %variants) = ($_->[0]{program}, map { $_->{variant} => 1 } @$_);
    my $path = $program->{path};
    printf "%-20s %5d cases of %2d variants, %s\n", $program->{name}, $cases{$path} // 0, scalar keys %variants, none_or($wrong{$path});
}
my ($cases, $wrong) = (sum(values %cases), sum(values %wrong));
printf "%-20s %5d cases, %s; %d more were refused (seed %d)\n", 'all', $cases, none_or($wrong), $refused, $seed;
exit($wrong || !$cases ? 1 : 0);
