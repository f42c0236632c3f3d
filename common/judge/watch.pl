#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# watch.pl - `make watch`: writes a page that plays a kernel line by line, results/watch/NAME.html. common/build/watch.mk says how it is called;
# docs/watch.md is its page.
use strict;
use warnings;
use File::Path 'make_path';
use Cwd 'getcwd';
use lib 'common/judge';
use Exercises;
use HandIn;
use Running;
use Sandbox;

my %given = map { /^(\w+)=(.*)$/s ? ($1 => $2) : () } @ARGV;
my @sizes = qw(NUM_SEQS SEQ_LEN BATCH CHANNELS STATES GROUPS HEADS DK DV DECAYS RANK CHUNKS);

# Ends with one sentence.
sub refuse { print STDERR "make watch: $_[0]\n"; exit 2 }

# The chapters with kernels.
sub chapters { return grep { -e "$_/main.c" && (() = glob "$_/*.cu $_/kernels/*.cu") } map { s{/Makefile$}{}r } glob '[0-9][0-9]_*/Makefile' }

# Runs a command; returns its status and what it said, both streams.
sub run {
    open my $out, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @_ or refuse("cannot run $_[0]: $!");
    local $/;
    my $text = <$out> // '';
    close $out;
    return ($? >> 8, $text);
}

# The chapter's makefile, for the simulator, which alone can be watched.
sub make {
    my ($chapter, @rest) = @_;
    my ($status, $said) = run('make', '--no-print-directory', 'BACKEND=sim', 'QUIET=1', '-C', $chapter, @rest);
    return $said if $status == 0;
    print STDERR $said;
    exit $status;
}

# What was asked for, as one types it.
sub command {
    return join ' ', 'make watch', map { "$_=" . ($given{$_} =~ /[^\w.,:=\/-]/ ? "'$given{$_}'" : $given{$_}) }
        grep { defined $given{$_} } @_, @sizes, qw(CONFIG DIRECTION KERNEL OVER SEED);
}

# What CUSIM_WATCH_SAYS has for the page.
sub says { my %says = @_; return join "\n", map { "$_: $says{$_}" } sort keys %says }

# Where the page goes.
sub page {
    my ($name) = @_;
    make_path('results/watch');
    return 'results/watch/' . ($name =~ s/[^\w.-]+/_/gr) . '.html';
}

sub finish {
    my ($page) = @_;
    print "$page\n";
    return if !($given{OPEN} // '') || $given{OPEN} eq '0';
    for my $opener (qw(xdg-open open sensible-browser)) {
        next if system("command -v $opener > /dev/null 2>&1") != 0;
        exec $opener, $page or last;
    }
    refuse("there is nothing here that opens a page (xdg-open). Open $page in your browser.");
}

# ---- a kernel of a chapter ----

# Arrays of ones: a sum then says how many elements are in it. Returns the options that name them.
sub arrays {
    my ($program, $shape, $direction) = @_;
    my $file = sub { "build/watch/$_[0].npy" };
    make_path('build/watch');
    my %names = $direction =~ /backward/ ? (read => [qw(d_outputs coeffs outputs)], written => [qw(d_inputs d_coeffs)])
                                         : (read => [qw(inputs coeffs)], written => ['outputs']);
    my $option = sub { ('--' . ($_[0] =~ tr/_/-/r), $file->($_[0])) };
    for my $name (@{ $names{read} }) {
        my ($status, $text) = run($program, '--fill', $name eq 'outputs' ? 'ramp' : 'ones', @$shape, $option->($name));
        refuse($text =~ s/\n.*//sr) if $status != 0;
    }
    return map { $option->($_) } @{ $names{read} }, @{ $names{written} };
}

# Whether a variant takes such a configuration: a check of one element says so.
sub takes {
    my ($program, $variant, $config) = @_;
    return $config ne '' && (run($program, '--variant', $variant, '--config', $config, qw(--check-only --num-seqs 1 --seq-len 1)))[0] != 2;
}

sub watch_variant {
    my ($chapter, $variant) = ($given{VARIANT} =~ m{^(?:(.*?)/)?([^/]*)$});
    $chapter = $given{ONLY} if !defined $chapter || $chapter eq '';
    my @chapters = chapters();
    ($chapter) = grep { $_ eq $chapter || /^\Q$chapter\E_/ } @chapters if $chapter ne '';
    refuse("VARIANT=$given{VARIANT} names no chapter with kernels. There are " . join(', ', @chapters) . '.') if !defined $chapter || $chapter eq '';
    make($chapter, "../build/sim/$chapter");
    # of the operation that runs unasked, and of those that --operation asks for
    my (@variants, %asked);
    for my $ask ([], map { ['--operation', $_] } (run("build/sim/$chapter", '--help'))[1] =~ /--operation (\w+) asks/g) {
        my @these = grep { !exists $asked{$_} } (run("build/sim/$chapter", @$ask, '--list'))[1] =~ /^(\w+) /mg;
        @asked{@these} = ($ask) x @these;
        push @variants, @these;
    }
    refuse("$chapter has no variant \"$variant\". It has " . join(', ', @variants) . '.') if !exists $asked{$variant};
    my @ask = @{ $asked{$variant} };
    my $direction = $given{DIRECTION} // ((read_text("$chapter/Makefile") // '') =~ /^SHOWN := (backward|reverse(?:-backward)?)$/m ? $1 : 'forward');
    refuse("DIRECTION=$direction is not known. Say forward, reverse, backward or reverse-backward.") if $direction !~ /^(?:forward|reverse|backward|reverse-backward)$/;

    my ($program, $usual) = make($chapter, 'watched', "WATCHED_VARIANT=$variant", @ask ? "WATCHED_OPERATION=$ask[1]" : ()) =~ /^(build\/sim_watch\/\S+) (.*)$/m;
    my $config = $usual =~ s/ --config (\S+)// ? $1 : '';
    my %shape = $usual =~ /--(\S+) (\S+)/g;
    my @order = $usual =~ /--(\S+)/g;
    for my $size (grep { defined $given{$_} } @sizes) {
        my $option = lc($size) =~ tr/_/-/r;
        refuse("$chapter has no size $size. It has " . join(', ', map { uc tr/-/_/r } @order) . '.') if !exists $shape{$option};
        refuse("$size=$given{$size} is not one number. Say $size=$shape{$option}, for example.") if $given{$size} !~ /^\d+$/;
        $shape{$option} = $given{$size};
    }
    my @shape = map { ("--$_", $shape{$_}) } @order;

    my $page = page("${chapter}_$variant" . ($direction eq 'forward' ? '' : "_$direction"));
    $config = $given{CONFIG} // (takes($program, $variant, $config) ? $config : '');
    my @options = (@ask, '--variant', $variant, $config ne '' ? ('--config', $config) : ());
    my @way = (('--reverse') x ($direction =~ /reverse/), ('--backward') x ($direction =~ /backward/), ('--forward') x ($direction eq 'forward'));
    $ENV{CUSIM_WATCH} = $page;
    my %says = (title => "$chapter/$variant", command => command('VARIANT') =~ s{VARIANT=\S+}{VARIANT=$chapter/$variant}r);
    $ENV{CUSIM_WATCH_SAYS} = says(%says);
    $ENV{CUSIM_WATCH_KERNEL} = $given{KERNEL} if defined $given{KERNEL};
    $ENV{CUSIM_WATCH_OVER} = $given{OVER} if defined $given{OVER};
    unlink $page;
    my @arrays = exists $shape{'num-seqs'} ? arrays($program, \@shape, $direction) : ();
    $ENV{CUSIM_WATCH_SAYS} = says(%says, counted => 1) if !@arrays; # the launch that is counted, on the harness's own data
    my ($status, $said) = @arrays ? run($program, @options, ('--reverse') x ($direction =~ /reverse/), @arrays) : run($program, @options, @way, @shape);
    if (!-e $page) {
        refuse($said =~ /^(?:\S+: )?(.*?)\n?\z/ ? $1 : $said) if $status != 0;
        refuse(defined $given{KERNEL} ? "no kernel $given{KERNEL} is launched there." : 'no kernel is launched there.');
    }
    print $said =~ /^((?:simulator: |\S+:\d+: error: ).*\n)/m;
    finish($page);
}

# ---- an answer to an exercise ----

# Which of the launches that are noted is worth a look where none is wrong: the first one of some threads, or the one of most.
sub worth_a_look {
    my @threads = @_;
    my ($first) = grep { $threads[$_] >= 32 && $threads[$_] <= 128 } 0 .. $#threads;
    my ($least) = sort { $threads[$a] <=> $threads[$b] } grep { $threads[$_] >= 32 } 0 .. $#threads;
    return 1 + ($first // $least // 0);
}

sub watch_exercise {
    my @exercises = all_exercises($given{SEED});
    my ($exercise) = grep { $_->{id} eq $given{EX} || "0$given{EX}" eq $_->{id} } @exercises;
    refuse("there is no exercise $given{EX}; `make exercises' lists them.") if !defined $exercise;
    refuse("$exercise->{id} is a prediction: it has no kernel to watch.") if $exercise->{predict};
    refuse("$exercise->{id} is plain C, which does not run on the simulator.") if $exercise->{on_cpu};
    my $path = defined $given{FILE} ? typed_path($given{FILE}, $given{FROM}) : $exercise->{mine};
    refuse(defined $given{FILE} ? "FILE=$given{FILE} is not there, or is no file." : "there is no answer of yours yet. make exercise EX=$exercise->{id} begins one.") if !-f $path;
    my $text = HandIn::as_meant(read_text($path) // refuse("cannot read $path: $!"));
    my $refused = HandIn::refused_text($exercise, $text, $path);
    if (defined $refused) { print STDERR $refused; exit 2 }

    # it runs with the rights of whoever watches it, since the simulator starts other programs, and writes a file
    $Sandbox::off = 'It is watched.';
    $Running::watched = 1;
    $Running::seconds = 120;
    my $folder = fresh_folder("$exercise->{id}.watched");
    my ($program, $errors) = build('sim', $exercise, $folder, $text, $path);
    if (!defined $program) { print STDERR "make watch: it does not compile; make exercise EX=$exercise->{id} says where.\n"; exit 2 }
    my ($root, $page, $notes) = (getcwd(), page("$exercise->{id}" . (defined $given{FILE} ? '_file' : '')), 'launches');
    my %says = (from => $root, title => "$exercise->{id} $exercise->{title}",
        command => "make watch EX=$exercise->{id}" . join '', map { " $_=$given{$_}" } grep { defined $given{$_} } qw(FILE SEED));
    my %watch = (CUSIM_WATCHDOG => 5, CUSIM_WATCH_SAYS => says(%says));

    my ($run, $settings); # the order of execution in which it goes wrong, or else the first
    for my $order (split ' ', $exercise->{orders} // 'warp reverse random:1') {
        unlink "$folder->{path}/$notes";
        $settings = Exercises::order_settings($order);
        $run = run_judge($exercise, $program, { %$settings, %watch, CUSIM_WATCH => $notes, CUSIM_WATCH_RUNS => 'none' }, 'compare');
        last if !$run->{right};
    }
    $settings = {} if $run->{right};
    my @launches = split ' ', read_text("$folder->{path}/$notes") // '';
    refuse('it launches no kernel.') if !@launches;
    my $number = $run->{right} ? worth_a_look(@launches) : scalar @launches;
    if (my ($wrong, $element) = $run->{said} =~ /^\@wrong ((\w+(?:\[\d+\])*).*)$/m) {
        @says{qw(element verdict)} = ($element, join ' ', "A result is wrong: $wrong.", $run->{said} =~ /^\@(?:slip|owner) (.+)$/mg);
        $watch{CUSIM_WATCH_SAYS} = says(%says);
    }
    unlink $page;
    run_judge($exercise, $program, { %$settings, %watch, CUSIM_WATCH => "$root/$page", CUSIM_WATCH_KERNEL => ":$number" }, 'compare');
    refuse("its run could not be recorded.") if !-e $page;
    print $run->{right} ? "It computes what is right; this is a launch on small data.\n" : Exercises::failure($text, $path, $run);
    finish($page);
}

refuse('VARIANT=CHAPTER/NAME names a kernel, and EX= an exercise. There are the chapters ' . join(', ', chapters()) . '.') if !defined $given{VARIANT} && !defined $given{EX};
defined $given{EX} ? watch_exercise() : watch_variant();
