# SPDX-License-Identifier: MIT
# Exercises.pm - finds the exercises of all chapters, and judges an answer to one: says the first thing that helps. It runs from the
# repository's root. README.md beside this file says what an exercise consists of.
package Exercises;
use strict;
use warnings;
use Exporter 'import';
use lib qw(common/base common/judge cusim/estimate);
use Code;
use Draw qw(read_draw draw_numbers put_numbers draw_task);
use Estimate qw(chip launches_time %meaning between whole_blocks);
use HandIn;
use Running;
use Seed;
use List::Util qw(max sum);
use File::Basename qw(basename dirname);
our @EXPORT = qw(all_exercises task_text solution_text judge_answer goals_met rank_of times_ours trials read_text write_text drawn);

# The simulator's message: the place, and the rest; or a sentence about itself.
my $stopped = qr/^(?|(?:simulator|(\S.*?:\d+)): error: ((?:kernel|host code)\b.*)|()simulator: (.*))$/m;

# Answers are judged on the simulator and, where the makefile has chosen a GPU, there, too.
sub has_gpu { return ($ENV{BACKEND} // '') eq 'cuda' }

# ---- the data of an exercise, judges/NAME.txt: `key: text', and lines that go on are indented ----

my %lists = map { $_ => 1 } qw(goal hint mutant ask when);

sub read_data {
    my ($path) = @_;
    my (%data, $last, $number);
    for (split /\n/, read_text($path) // die "cannot read $path: $!\n") {
        $number++;
        next if /^#|^\s*$/;
        if (/^([+-])(?: (.*))?$/ && $data{mutant}) { # lines that are replaced, and by what
            my $changes = $data{mutant}[-1]{changes} //= [];
            push @$changes, { '-' => [], '+' => [] } if !@$changes || $1 eq '-' && @{ $changes->[-1]{'+'} };
            push @{ $changes->[-1]{$1} }, $2 // '';
        } elsif (/^(\w+): *(.*)$/) {
            my ($key, $text) = ($1, $2);
            my $above = $key eq 'says' ? 'mutant' : $key ne 'look' ? '' : $data{ask} ? 'ask' : 'when'; # it belongs to the last one of these
            if ($data{$above}) {
                $last = \($data{$above}[-1]{$key} = $text);
            } elsif ($key eq 'draw' || $key eq 'let') {
                push @{ $data{draw} }, eval { read_draw($key, $text) } // die "$path:$number: $@";
                undef $last;
            } elsif ($lists{$key}) {
                push @{ $data{$key} }, { text => $text };
                $last = \$data{$key}[-1]{text};
            } else {
                $last = \($data{$key} = $text);
            }
        } elsif (/^\s+(\S.*)$/ && $last) {
            $$last .= " $1";
        } else {
            die "$path:$number: neither `key: text' nor an indented line that goes on\n";
        }
    }
    return %data;
}

# The exercise's data with the numbers of a seed (undef: the task's own) in place of their names.
sub with_numbers {
    my ($exercise, $seed) = @_;
    my $value = draw_numbers($exercise, $seed);
    my $put; # in texts, and in what is made of them
    $put = sub {
        my ($data) = @_;
        return ref $data eq 'ARRAY' ? [map { $put->($_) } @$data]
            : ref $data eq 'HASH' ? { map { $_ => $put->($data->{$_}) } keys %$data }
            : put_numbers($data, $value);
    };
    return { %$exercise, value => $value, seed => $seed, as_read => $exercise, map { $_ => $put->($exercise->{$_}) } grep { defined $exercise->{$_} } qw(ask hint next) };
}

# Every exercise, in order: id, chapter, name, path (of the task), mine, solution, judge, on_cpu, predict, and its data; predictions with
# the numbers of a seed (undef, empty or 1: the tasks' own).
sub all_exercises {
    my ($seed) = @_;
    undef $seed if defined $seed && $seed =~ m{^1?$};
    my @all;
    for my $path (glob '[0-9][0-9]_*/exercises/judges/*.txt') {
        my ($chapter, $name) = $path =~ m{^(\d\d_\w+)/.*/([^/]+)\.txt$};
        my ($task) = grep { -f } map { "$chapter/exercises/$name.$_" } qw(cu c txt);
        die "$path: there is no $chapter/exercises/$name.cu, .c or .txt\n" if !defined $task;
        my %data = read_data($path);
        my ($suffix) = $task =~ /\.(\w+)$/;
        push @all, {
            %data,
            id => substr($chapter, 0, 2) . ".$data{number}",
            chapter => $chapter,
            name => $name,
            path => $task,
            mine => "$chapter/exercises/mine/$name.$suffix",
            progress => "$chapter/exercises/mine/$name.progress",
            solution => "$chapter/exercises/solutions/$name.$suffix",
            judge => "$chapter/exercises/judges/$name",
            predict => $suffix eq 'txt',
            on_cpu => $suffix eq 'c',
        };
    }
    @all = sort { $a->{chapter} cmp $b->{chapter} || $a->{number} <=> $b->{number} } @all;
    return map { $_->{draw} ? with_numbers($_, $seed) : { %$_, seed => $seed } } @all;
}

# The task as the student gets it.
sub task_text {
    my ($exercise) = @_;
    my $text = read_text($exercise->{path}) // die "cannot read $exercise->{path}: $!\n";
    return $exercise->{draw} ? draw_task($exercise, $text, $exercise->{value}) : $text;
}

# Our solution, with the numbers that are counted where the student's sizes were drawn.
sub solution_text {
    my ($exercise) = @_;
    return read_text($exercise->{solution}) // die "cannot read $exercise->{solution}: $!\n" if !$exercise->{draw} || !defined $exercise->{seed};
    my $text = task_text($exercise);
    for (counted($exercise, "$exercise->{id}.solution")) {
        my ($key, $number) = @$_;
        $text =~ s/^\Q$key\E = \K\?/number($number)/me;
    }
    return $text;
}

# The solution with the changes of a mutant. Each piece of code that is replaced must be there exactly once; how its lines are laid out does not matter.
sub mutate {
    my ($exercise, $mutant, $text) = @_;
    for my $change (@{ $mutant->{changes} }) {
        my @places = find_code($text, { what => join("\n", @{ $change->{'-'} }) });
        die "$exercise->{judge}.txt: mutant `$mutant->{text}': its lines are " . @places . " times in the solution, not once\n" if @places != 1;
        $text = replace_all($text, [@{ $places[0] }, sub { join "\n", @{ $change->{'+'} } }]);
    }
    return $text;
}

# ---- what counts are called, how they come from the program's, and what to look at when one is too large, or too small ----

my %counters = (
    sectors_load => ['load_sectors / load_requests', 'sectors a load',
        'A load of a warp asks for every sector of 32 bytes that its lanes touch. Which addresses do lanes 0 and 1 want at the same time?',
        'All 32 lanes of a warp together ask for more. Do they all take part, or does one of them do the work?'],
    sectors_store => ['store_sectors / store_requests', 'sectors a store',
        'A store of a warp touches a sector of 32 bytes for every segment that its lanes do not share. Where do lanes 0 and 1 store at the same time?',
        'All 32 lanes of a warp together store more. Do they all take part, or does one of them do the work?'],
    bytes => ['32 * (load_sectors + store_sectors) / elements', 'bytes moved for an element',
        'Count the sectors of each load and store, and how often the same data is asked for.'],
    loaded => ['load_bytes / elements', 'bytes loaded for an element', 'Something is loaded more than once: by one thread, which could keep it in a local variable, that is, in a register; or by several, which could share it.'],
    stored => ['store_bytes / elements', 'bytes stored for an element', 'Something is stored more than once. Store only what is final.'],
    stores => ['store_requests / (threads / 32)', 'stores of a warp', 'Each store instruction counts once for a warp: could it carry more?'],
    barriers => ['barriers / blocks', 'barriers of a block',
        'For each barrier ask: who writes before it, who reads after it, and what would happen if it were not there?'],
    warp_barriers => ['warp_barriers / (threads / 32)', '__syncwarp of a warp', 'Which of them does a shuffle make unnecessary?'],
    shuffles => ['(shuffles + votes) / (threads / 32)', 'shuffles and votes of a warp',
        'Write down what each shuffle or vote brings, and which lanes use it. A vote is __ballot_sync, __any_sync, __all_sync, and what matches or reduces.'],
    conflicts => ['conflicts', 'bank conflicts', 'Word w of shared memory lies in bank w % 32. Which banks do the 32 lanes of a warp want at the same time?'],
    contention => ['contention', 'repeats of atomics',
        'Lanes whose atomics go to the same address at the same time come there one after the other. Which addresses do the 32 lanes of a warp add to together?'],
    atomics => ['atomics', 'atomic operations', 'Each atomic counts once for each thread. What can threads add up among themselves, before one of them adds it to memory?',
        'Each atomic counts once for each thread. Who adds up what the blocks have found?'],
    lanes_load => ['load_lanes / load_requests', 'lanes that take part in a load',
        'A load of a warp takes the same time for one lane as for 32. Do more lanes take part than have work?',
        'A load of a warp takes the same time for one lane as for 32. Which lanes have nothing to do, and how long do they wait for the others of their warp?'],
    idle_waits => ['idle_waits / threads', 'idle waits of a thread',
        'A wait is idle if none of the thread\'s copies is on its way when it ends. Which copies have been started by then, and for which of them need it not wait?',
        'No wait found a copy of its own to wait for. Do the tiles still travel by __pipeline_memcpy_async?'],
    threads => ['threads', 'threads', 'How much work does each thread have, and how many threads does a block have?',
        'How much work does each thread have, and how many threads does a block have?'],
    blocks => ['blocks', 'blocks', 'How much work does each block have?'],
    loads => ['load_requests / (threads / 32)', 'loads of a warp', 'Each load instruction counts once for a warp: could it ask for more at once?'],
    orders => ['orders / blocks', 'memory orders of a block', 'Each release and each acquire of a thread counts, and a fence may be both. Who has to tell of the data, and who has to hear of them? How many threads are that?'],
    strong_orders => ['strong_orders', 'orders stronger than needed',
        'Release and acquire on the device are enough here. An atomic_ref without an order is memory_order_seq_cst, and without a scope it is for the whole system. __threadfence() is sequentially consistent, too.'],
    launches => ['launches', 'launches', 'What can one kernel do with what the other one has in its registers?',
        'Those that a graph has written down count, too, each time that it runs. Which launches of the task are missing, or have become one?'],
    host_waits => ['host_waits', 'waits of the host', 'While the host waits, it queues nothing. Which of the waits can a stream do in its place?'],
    stream_chain => ['stream_chain', 'copies and kernels in a chain', 'They come one after the other, because they are in one stream, or wait for each other. Which of them need not?'],
    calls => ['calls', 'calls of the host', 'Each launch costs the host some time. What can be written down once?'],
    work => ['(load_requests + store_requests + shared_requests + (shuffles + votes) / 32) / (elements / 32)', 'work of warps for 32 elements',
        'That is loads, stores, shuffles and votes, each once for a warp, whether one lane takes part or 32. Does each lane do a part of the work at the same time, and is nothing done, or read, again and again?'],
    chain => ['chain', 'steps that one thread takes', 'Which thread does the most, and could others do part of it?'],
    span => ['span', 'loads and stores in a row',
        'Which thread does the most, and who waits for it? Count the loads and stores on the longest way from start to end.'],
    registers => ['registers', 'registers of a thread', 'Which values must live at the same time? nvcc -Xptxas -v says how many registers they take.'],
    unchecked => ['unchecked', 'calls that fail unnoticed', ''], # a sentence about the first comes from try_calls
    leaks => ['leaks', 'pieces of memory left behind', ''],
    lines => ['lines', 'lines of code', 'Empty lines and comments do not count. What is there twice?'],
    time => ['time', 'times as long as `add` takes', 'Look at the bytes first, then at how many of them are asked for at the same time.'],
);

# An expression of names, with the counts in place of the names.
sub evaluate {
    my ($expression, $counts) = @_;
    $expression = $counters{$expression}[0] if $counters{$expression};
    $expression =~ s{\b([a-z_]\w*)\b}{$counts->{$1} // die "there is no count `$1'\n"}ge;
    my $value = eval $expression;
    $value = 0 if !defined $value && $@ =~ /^Illegal division by zero/; # an average of nothing
    die "`$expression' cannot be computed: $@\n" if !defined $value;
    return $value;
}

sub number { return $_[0] == int $_[0] ? int $_[0] : sprintf '%.4g', $_[0] }

# Lines of code, as the compiler reads them: without comments and empty ones; of a long line each 120 characters.
sub count_lines {
    my ($text) = @_;
    $text =~ s/\\[ \t]*\n//g; # lines that go on are one
    my %has_code = map { $_->[2] => 1 } HandIn::words($text, 0);
    my $number = 0;
    return scalar map { 1 .. 1 + int((length(s/\s+$//r) - 1) / 120) } grep { $has_code{ ++$number } && !/^#line/ } split /\n/, $text;
}

# The most registers that a thread of an answer's kernels takes, where nvcc is there; undef where not. If nvcc does not take what g++ took: one more than
# there are, and its first error.
sub count_registers {
    my ($exercise, $source) = @_;
    my ($nvcc) = grep { -x } $ENV{NVCC} // (), map { "$_/nvcc" } split(/:/, $ENV{PATH}), '/usr/local/cuda/bin';
    return undef if !defined $nvcc;
    my ($status, undef, $said) = run_apart($source, $nvcc, '-cubin', '-std=c++17', '-O3', '-arch=' . ($ENV{ARCH} || 'sm_80'), '-Xptxas', '-v',
        '-I../../common', "-I../../$exercise->{chapter}", '-o', "../../$source.cubin", "../../$source");
    my ($most) = sort { $b <=> $a } $said =~ /Used (\d+) registers/g;
    return $most if $status eq 0 && defined $most;
    return (256, 'nvcc, which counts them, finds no kernel.') if $status eq 0;
    return (256, 'nvcc, which counts them, does not compile this' . ($said =~ /\berror\b\s*:\s*(.*)/ ? ": $1" : ', or not within the limits.'));
}

# An order of execution, as settings of the environment: `reverse', or `reverse/3' with at most three blocks at once.
sub order_settings {
    my ($schedule, $resident) = split m{/}, $_[0] // '';
    return { defined $schedule ? (CUSIM_SCHEDULE => $schedule) : (), defined $resident ? (CUSIM_RESIDENT => $resident) : () };
}

# The counts of launches on a shape, "32 x 4096", in an order of execution (undef: what the environment says), with further settings: a list. Or
# undef, and the run that went wrong. `count': one launch; `goals': several, of which the first has plain data.
sub counts_at {
    my ($exercise, $program, $shape, $what, $order, %settings) = @_;
    my $run = run_judge($exercise, $program, { %{ order_settings($order) }, %settings }, $what, split / *x */, $shape);
    return (undef, $run) if !$run->{right};
    my ($elements) = $run->{said} =~ /^\@count elements (\S+)$/m;
    my @cases = grep { keys %$_ > 1 } map { { elements => $elements, /^\@count (\w+) (\S+)$/mg } } split /^(?=\@with )/m, $run->{said};
    return \@cases;
}

# The same of one launch.
sub count_at {
    my ($counts, $failed) = counts_at(@_);
    return $counts ? $counts->[0] : (undef, $failed);
}

# The calls of the CUDA runtime that a run of `calls' tells of, in their order.
sub calls_of {
    my ($run) = @_;
    my @calls;
    while ($run->{said} =~ /^\@call (\S+) (\S.*?)( launch)?( can_fail)?(?: (cudaError\w+))?$/mg) {
        push @calls, { is => defined $3 ? "the launch of $2 at $1" : "$2 at $1", name => $2, is_launch => defined $3, can_fail => defined $4, error => $5 };
    }
    return @calls;
}

# Whether a whole program notices when a call of the CUDA runtime fails, and frees what it has allocated: one run in which all go well, then one for each call
# that can fail, in which it does. Returns how many fail `unchecked', the `leaks', and a sentence about the first of each; or undef, and the run that went wrong.
sub try_calls {
    my ($exercise, $program, $shape) = @_;
    my @sizes = split / *x */, $shape;
    my (%count, %says);
    my $found = sub { my ($what, $number, $sentence) = @_; $count{$what} += $number; $says{$what} //= $sentence =~ s/^the/The/r if $number };

    my $well = run_judge($exercise, $program, {}, 'calls', @sizes);
    return (undef, $well) if !$well->{right};
    my @calls = calls_of($well);
    $found->('unchecked', 1, "$_->{is} returned $_->{error}, and the program went on.") for grep { defined $_->{error} } @calls;
    my ($left, $what) = $well->{said} =~ /^\@left (\d+) ?(.*)$/m;
    $found->('leaks', $left, ucfirst "$what.");

    # Some ask for all memory, or copy all, and look then; and some wait for a kernel before they look whether it has begun: that is well. Else the next call is one too many.
    my @can_fail = grep { $_->{can_fail} } @calls;
    for my $n (1 .. @can_fail) {
        my $call = $can_fail[$n - 1];
        my $went_on = "$call->{is} failed, and the program went on";
        my $run = run_judge($exercise, $program, {}, 'calls', @sizes, "fails=$n");
        if (!$run->{right}) {
            my ($where, $what) = $run->{complained} =~ $stopped;
            my $why = defined $what ? (defined $where ? "$where: " : '') . $what : undef;
            $found->('unchecked', 1, "$went_on, until " . (defined $why ? "the simulator stopped it: $why" : 'it crashed.'));
            next;
        }
        my @then = grep { $_->{can_fail} } calls_of($run);
        my ($after) = grep { $_->{name} ne $call->{name} && $_->{name} !~ /Synchronize$/ } splice @then, $n;
        ($left, $what) = $run->{said} =~ /^\@left (\d+) ?(.*)$/m;
        if ($run->{said} =~ /^\@returned right$/m) { $found->("unchecked", 1, "$went_on: it returned 0." . ($call->{is_launch} ? ' Who asks cudaGetLastError() after it?' : '')) }
        elsif (defined $after) { $found->('unchecked', 1, "$went_on: $after->{is}.") }
        else { $found->('leaks', $left, "When $call->{is} fails, $what.") }
    }
    return ({ unchecked => $count{unchecked} // 0, leaks => $count{leaks} // 0, says => \%says });
}

# Where the same answer, so compiled that what calls pass and return by value is seen, too, asks for more bytes than the one that is counted: the report
# that says so. Else nothing; or a run that went wrong.
sub by_value {
    my ($exercise, $counted, $all) = @_;
    my %shapes = map { $_->{text} =~ / at (\d+(?: *x *\d+)?)$/ && $_->{text} !~ /^time\b/ ? ($1 => 1) : () } @{ $exercise->{goal} // [] };
    for my $shape (sort keys %shapes) {
        my @bytes;
        for my $program ($counted, $all) {
            my ($counts, $failed) = counts_at($exercise, $program, $shape, 'goals', $exercise->{counted}, CUSIM_CHECKS => 'bounds');
            return ($failed) if !$counts;
            push @bytes, $counts;
        }
        for (['plain_loads', 'load'], ['plain_stores', 'store']) {
            my ($name, $verb) = @$_;
            my $more = max(map { $bytes[1][$_]{$name} - $bytes[0][$_]{$name} } 0 .. $#{ $bytes[0] });
            return (undef, "It is not counted whole.\n" . fold("At $shape its kernels $verb $more bytes by passing or returning structs by value, which no count knows. "
                . 'Pass a pointer or single numbers to functions that are not inlined, or declare them __forceinline__.', '  ')) if $more > 0;
        }
    }
    return;
}

# The goals: `NAME N at SHAPE', `NAME N (at most M) at SHAPE', `(at least L)', `(at least L, at most M)' or `(exactly)'; of those with a
# time, or of the others. Returns the run that went wrong, if one did, and for each goal what is asked and what was reached.
sub goals {
    my ($exercise, $program, $timed) = @_;
    my (@goals, %counts, %tried);
    for (@{ $exercise->{goal} // [] }) {
        my ($name, $best, $bounds, $shape) = $_->{text} =~ /^(\w+)(?: +([\d.]+))?(?: +\((.*?)\))?(?: +at +(\d+(?: *x *\d+)?))?$/;
        my $counter = $counters{ $name // '' };
        my ($least, $most, $exactly) = ($bounds // '') =~ /^(?:at least ([\d.]+))?(?:(?:^|, )at most ([\d.]+))?(?:^(exactly))?$/;
        die "$exercise->{judge}.txt: goal `$_->{text}' is not like `barriers 6 at 1 x 32'\n"
            if !$counter || !defined($most // $best) || !defined $shape && $name !~ /^(?:registers|lines)$/ || $exactly && !defined $best
            || defined $bounds && !defined($least // $most // $exactly);
        next if $timed != ($name eq 'time');
        my ($reached, $failed, $look);
        if ($name eq 'registers') {
            ($reached, $look) = count_registers($exercise, "$program.cu");
        } elsif ($name eq 'lines') {
            $reached = count_lines(read_text("$program.cu"));
        } elsif ($name =~ /^(?:unchecked|leaks)$/) {
            ($tried{$shape}, $failed) = try_calls($exercise, $program, $shape) if !$tried{$shape};
            return $failed if defined $failed;
            ($reached, $look) = ($tried{$shape}{$name}, $tried{$shape}{says}{$name});
        } else {
            ($counts{$shape}, $failed) = counts_at($exercise, $program, $shape, $timed ? 'time' : 'goals', $exercise->{counted}) if !$counts{$shape};
            return $failed if defined $failed;
            my @each = map { evaluate($name, $_) } @{ $counts{$shape} };
            $reached = (grep { misses($_, $least // ($exactly ? $best : undef), $most // $best) } @each)[0] // $each[0];
        }
        push @goals, { name => $name, says => $counter->[1], look => $look // $counter->[2], best => $best // '-', most => $most // $best, at => $shape // '',
            least => $exactly ? $best : $least, look_below => $counter->[3], reached => $reached } if defined $reached; # no nvcc, no registers
    }
    return (undef, @goals);
}

# Whether a number is below or over its goal's bounds: -1, 1 or 0.
sub misses {
    my ($reached, $least, $most) = @_;
    return defined $least && $reached < $least * (1 - 1e-9) ? -1 : $reached > $most * (1 + 1e-9) ? 1 : 0;
}

# What a count below its goal means, where it has no sentence of its own.
my $less_than_the_work = 'That is less than the work takes. Is a part of it left to the host, to a single thread, or to nobody?';

# What is said about the first goal that is missed; undef if none is.
sub missed {
    for (@_) {
        my $misses = misses(@$_{qw(reached least most)}) or next;
        my $below = $misses < 0;
        my $goal = $below ? ($_->{least} eq $_->{best} ? '' : 'at least ') . $_->{least} : ($_->{most} eq $_->{best} ? '' : 'at most ') . $_->{most};
        my $a_little = !$below && $_->{name} =~ /^(?:bytes|sectors_\w+)$/ && $_->{reached} < 1.05 * $_->{most};
        return 'The results are right, but one number is ' . ($below ? 'below' : 'over') . " its goal.\n"
            . fold(sprintf('%s: %s, and the goal is %s%s.', $_->{says}, number($_->{reached}), $goal, $_->{at} eq '' ? '' : " (at $_->{at})"), '  ')
            . ($a_little ? fold('Only a little: is there a group at an edge that takes the slow way without need?', '  ') : '')
            . fold($below ? $_->{look_below} // $less_than_the_work : $_->{look}, '  ');
    }
    return undef;
}

# How many goals are met. The gate comes first: who does not share the work out, so that one thread does it for all, or does it many times over, meets none; nor
# does who has all in one stream, or other launches than those that are asked for.
sub goals_met {
    my @missed = grep { defined missed($_) } @_;
    my ($gate) = grep { my $name = $_; grep { $_->{name} eq $name } @_ } qw(work span chain stream_chain launches);
    return grep({ $_->{name} eq ($gate // '') } @missed) ? 0 : @_ - @missed;
}

# ---- the judge ----

our $columns = 100; # of what is said; exercise.pl takes fewer on a narrower terminal

# A paragraph of at most so many columns.
sub fold {
    my ($text, $indent) = ($_[0], $_[1] // '');
    my @lines = ('');
    for my $word (split ' ', $text) {
        push @lines, '' if length($lines[-1]) + length($word) + length($indent) >= $columns;
        $lines[-1] .= $lines[-1] eq '' ? $word : " $word";
    }
    return join '', map { "$indent$_\n" } @lines;
}

sub source_line {
    my ($text, $line) = @_;
    my $source = (split /\n/, $text)[$line - 1] // '';
    $source =~ s/^\s+|\s+$//g;
    return $source eq '' ? '' : "      $source\n";
}

# What to look at, where the simulator's message does not say so itself.
my @looks = (
    [qr/before the start/ => 'The index is negative there: which thread, or which element, has nothing before it?'],
    [qr/past the end .*declared at/ => 'What is the largest index that a thread uses there? The array needs one element more than that.'],
    [qr/past the end of a variable|uses .* past the end/ => ''], # an array of the thread's own: the message says it
    [qr/past the end/ => 'Which threads have no element left?'],
    [qr/which nothing has written/ => 'Is it an output, or an element that another thread has yet to write?'],
    [qr/which no thread of this \w+ has written/ => 'Which thread should write that element, and did it, before this one came?'],
    [qr/loops for \d+ s|got further for/ => 'Which condition should end the loop? Print it, or count the turns on paper for the smallest size.'],
);

# The same where no size is 0, and where one is.
my $no_blocks = [qr/launched with grid \(0,/ => 'There is something to do: does the division round up?'];

sub no_work { return $_[0] =~ /(\w+) 0\b/ ? "There is nothing to compute, as $1 is 0. What does the code do all the same?" : undef }

# The simulator names an array past whose end an index goes, but where it runs it cannot read the answer: the only array of fixed size on
# the line that it names is meant.
sub with_array {
    my ($message, $text, $line) = @_;
    my %on_line = map { $_ => 1 } (split /\n/, $text)[$line - 1] =~ /\b([A-Za-z_]\w*)\s*\[/g;
    my @arrays = grep { $text =~ /\b(?:float|double|int|unsigned|long|size_t|struct \w+|float[24])\b[^;(){}=]*[\s,]\Q$_\E\s*\[[^\]]/ } keys %on_line;
    return @arrays == 1 ? $message =~ s/^uses element (-?\d+) of an array '[^']*', (.*) (\d+)\)/uses $arrays[0]\[$1], $2 $arrays[0]\[$3])/r : $message;
}

sub compile_error {
    my ($text, $shown, $errors) = @_;
    $errors =~ s{(?:\.\./)+}{}g;
    my ($line, $message) = $errors =~ /^\Q$shown\E[:(](\d+)(?::\d+|\))?: (?:fatal )?error:? (.*)$/m;
    return "It does not compile.\n" . "  At $shown:$line: $message\n" . source_line($text, $line) if defined $line;
    return fold("The compiler was stopped, after $Running::compiling seconds, or at 8 GB of memory or 512 MB of disk. Is there a template, a constexpr function or a macro that unfolds itself, or a very large array?")
        if $errors =~ /(?:limit exceeded|Killed) signal terminated program|out of memory/;
    return "It cannot be linked: an array of fixed size is larger than a program may be, which is 2 GB. Which one need not have so many elements?\n"
        if $errors =~ /relocation truncated to fit|too large to fit|section .* exceeds|exceeds (?:maximum|the maximum)/;
    return "It cannot be linked: the judge calls `$1', and your file does not define it. Leave names and parameters as they were.\n"
        if $errors =~ /undefined reference to `(\w+)'/;
    return "It cannot be linked: it defines `$1', which is there already. Choose another name.\n" if $errors =~ /multiple definition of `(\w+)'/;
    return "It does not compile.\n" . $errors;
}

# What the exercise itself says to a report: its first `when' that the report contains.
sub own_look {
    my ($exercise, $report) = @_;
    my ($when) = grep { said($report, $_->{text}) } @{ $exercise->{when} // [] };
    return defined $when ? fold($when->{look}, '  ') : '';
}

# The report of a run (run_judge's) that did not go well. That it is wrong is known; why is told by the judge's own lines first. What the
# answer's process wrote, the simulator's and the sanitizers' messages, is shown, whoever wrote it.
sub failure {
    my ($text, $shown, $run, $exercise) = @_;
    my ($said, $err, $ended) = @$run{qw(said complained ended)};
    $err =~ s{build/exercises/[^/\s]+/answer\.cu?\b}{$shown}g; # where a compiler names an array by the file that it is in
    my ($wrong) = grep { /^\@wrong /m } reverse split /^(?=\@with )/m, $said; # the last case that is wrong
    $said = $wrong if defined $wrong;
    my ($sizes) = $said =~ /.*^\@with (.*)$/ms; # the last one
    my ($data) = $said =~ /.*^\@data (.*?)$/ms;
    ($sizes, $data) = map { ($_ // '') =~ s/\n.*//sr } $sizes, $data;
    my $with = $sizes eq '' ? '' : fold("(With $sizes.) $data", '  ');
    my @printed = split /\n/, $run->{printed}; # by the answer itself
    splice @printed, 0, -10;
    $with .= join '', "  Your code printed, at last:\n", map { "      $_\n" } @printed if @printed;
    if ($said =~ /^\@wrong (.*)$/m) {
        my $report = "A result is wrong.\n" . fold("$1.", '  ');
        $report .= fold($1, '  ') if $said =~ /^\@(?:slip|rounding) (.+)$/m;
        $report .= own_look($exercise, $report . $with);
        $report .= fold($1, '  ') if $said =~ /^\@owner (.+)$/m;
        return $report . $with;
    }
    return "It gave up.\n" . fold($1, '  ') . $with if $said =~ /^\@error (The function .*)$/m;
    return "The launch failed.\n  $1\n$with" if $said =~ /^\@error (.*)$/m;
    my $limit = { late => "It did not end within $Running::seconds seconds.", 'signal 25' => "It printed more than 10 MB." }->{ $ended // '' };
    return "$limit Which condition should end the loop?\n$with" if defined $limit;
    my $left = $err =~ /was never waited for/; # what the simulator says when a program ends: here only one that an answer has ended
    if (my ($place, $rest) = $left ? () : $err =~ $stopped) {
        my ($who, $message) = $rest =~ /^((?:kernel|host code)\b.*?): (.*)$/s ? ($1, $2) : (undef, $rest);
        my $report = ($exercise // {})->{on_cpu} ? "It was stopped.\n" : "The simulator stopped it.\n";
        $report .= fold(join(', in ', $place ? "At $place" : (), $who) . ':', '  ') if defined $who;
        $report .= source_line($text, $1) if ($place // '') =~ /^\Q$shown\E:(\d+)$/;
        $message = with_array($message, $text, $1) if ($place // '') =~ /^\Q$shown\E:(\d+)$/;
        my ($look) = map { $_->[1] } grep { $message =~ $_->[0] } @looks, $no_blocks;
        $look = no_work($sizes) // $look // '';
        $report .= fold($message, '  ') . ($look ne '' ? fold($look, '  ') : '');
        return $report . own_look($exercise, $report) . $with;
    }
    if ($err =~ /AddressSanitizer: ([\w-]+)|runtime error: (.*)/) {
        my $what = $1 // $2;
        my ($line) = $err =~ /\Q$shown\E:(\d+)/;
        my ($access) = $err =~ /^(READ|WRITE) of size/m;
        return "It was stopped.\n" . (defined $line ? "  At $shown:$line:\n" . source_line($text, $line) : '')
            . "  " . ($access ? lc($access) . 's outside of an array' : '') . " ($what).\n"
            . fold(no_work($sizes) // 'Which index does it use for the first element, and which for the last?', '  ') . $with;
    }
    my $how = defined no_work($sizes) ? no_work($sizes) : $ended eq 'signal 11' ? 'It used an address where there is nothing (signal 11). Look at pointers and indices in what the host runs, and at arrays of a thread\'s own.'
        : $ended =~ /signal/ ? "It was ended by $ended." : "It ended, with status $ended, before the judge was done. Does it call exit?";
    return "It crashed.\n" . fold($how, '  ') . join('', map { "  $_\n" } $left ? () : split /\n/, $err) . $with;
}

# Threads in plain C that use the same variable, and nothing orders them; undef if there are none, or if gcc's sanitizer for that is not
# there or does not run here.
my $races_are_seen = 1;

sub races {
    my ($exercise, $text, $shown, $folder) = @_;
    my ($program) = build('sim', $exercise, $folder, $text, $shown, 'raced');
    my $run = defined $program ? run_judge($exercise, $program, { CUSIM_SCHEDULE => 'random:1' }, 'compare') : undef;
    $races_are_seen = defined $run && ($run->{right} || $run->{said} =~ /^\@with/m); # it has begun
    print STDERR "(gcc's sanitizer for races does not start here, so they are not looked for. In a container, docs/machines.md says which option it needs.)\n"
        if !$races_are_seen;
    return undef if !$races_are_seen || $run->{right};
    my ($race) = $run->{complained} =~ /ThreadSanitizer: data race(.*)/s;
    return failure($text, $shown, $run, $exercise) if !defined $race;
    my ($line) = $race =~ /\Q$shown\E:(\d+)/;
    return "It was stopped.\n" . (defined $line ? "  At $shown:$line:\n" . source_line($text, $line) : '')
        . fold($race =~ /Location is global/ ? 'race: threads write the same variable, and nothing orders them. Give each thread its own (no static, no globals).'
            : 'race: one thread writes what another one uses, and nothing orders them.', '  ');
}

# Judges `text' (shown as the file `shown'). Returns a state, `refused', `wrong', `over_goal' or `solved', the report, and where the results are right the goals.
# `tag' is in the name of the folder in build/. $exercise->{seed} draws data and sizes.
sub judge_answer {
    my ($exercise, $text, $shown, $tag) = @_;
    $text = HandIn::as_meant($text);
    return ('refused', "It is longer than 60000 bytes. A prediction is the task, with a number for each ?.\n") if $exercise->{predict} && length $text > 60000;
    return judge_prediction($exercise, $text, $shown, $tag) if $exercise->{predict};

    my $refused = HandIn::refused_text($exercise, $text, $shown);
    return ('refused', $refused) if defined $refused;
    my $folder = fresh_folder($tag);
    my ($program, $errors) = build('sim', $exercise, $folder, $text, $shown, $exercise->{on_cpu} ? undef : 'addresses');
    my $object = "build/obj/sim/$folder->{path}/answer.o";
    $refused = HandIn::refused_object($exercise, $object, $text, $shown) if -f $object;
    return ('refused', $refused) if defined $refused;
    return ('wrong', compile_error($text, $shown, $errors)) if !defined $program;

    # every order must give the same bits
    my %bits;
    for my $order (split ' ', $exercise->{orders} // 'warp reverse random:1') {
        my $settings = order_settings($order);
        my $run = run_judge($exercise, $program, { %$settings, CUSIM_WATCHDOG => 5 }, 'compare');
        if (!$run->{right}) {
            my $report = failure($text, $shown, $run, $exercise);
            my $named = join ' ', map { "$_=$settings->{$_}" } reverse sort keys %$settings;
            $report .= "  (In another order of execution, $named. In the order before this one it went well.)\n" if $order ne 'warp';
            return ('wrong', $report);
        }
        $bits{ ($run->{said} =~ /^\@bits (\w+)$/m)[0] } = $order;
    }
    return ('wrong', 'The results depend on the order in which ' . ($exercise->{on_cpu} ? 'threads' : 'warps') . ' run: they differ between ' . join(' and ', sort values %bits) . ".\n"
        . "  Who adds to the same place?\n") if keys %bits > 1 && ($exercise->{roundings} // '') ne 'differ';

    # What calls pass and return by value is not among the accesses that are counted below: it may not reach what is not the answer's, and
    # not be more than is counted
    if (!$exercise->{on_cpu}) {
        my $other = "$folder->{path}/addresses";
        my $run = run_judge($exercise, $other, { CUSIM_CHECKS => 'bounds', CUSIM_WATCHDOG => 5 }, 'compare');
        return ('wrong', failure($text, $shown, $run, $exercise)) if !$run->{right};
        my ($failed, $uncounted) = by_value($exercise, $program, $other);
        return ('wrong', failure($text, $shown, $failed, $exercise)) if defined $failed;
        return ('refused', $uncounted) if defined $uncounted;
    }

    my $race = $exercise->{on_cpu} && $text =~ /\bpthread_create\b/ ? races($exercise, $text, $shown, $folder) : undef;
    return ('wrong', $race) if defined $race;

    ($program) = build('sim', $exercise, $folder, $text, $shown, 'counted') if $exercise->{on_cpu} && $exercise->{goal};
    my ($failed, @goals) = goals($exercise, $program, 0);
    return ('wrong', failure($text, $shown, $failed, $exercise)) if defined $failed;
    my $missed = missed(@goals);
    return ('over_goal', $missed . own_look($exercise, $missed) . standing($exercise, @goals), @goals) if defined $missed;

    if (has_gpu() && !$exercise->{on_cpu}) {
        ($program, $errors) = build('cuda', $exercise, $folder, $text, $shown);
        return ('wrong', "For the GPU: " . compile_error($text, $shown, $errors)) if !defined $program;
        my $run = run_judge($exercise, $program, {}, 'compare');
        ($failed, my @timed) = $run->{right} ? goals($exercise, $program, 1) : $run;
        return ('wrong', "On the GPU: " . failure($text, $shown, $failed, $exercise)) if defined $failed;

        $missed = missed(@timed);
        return ('over_goal', $missed, @goals, @timed) if defined $missed;
        push @goals, @timed;
    }
    my $report = "Solved.\n";
    $report .= sprintf("\n%-42s %8s %14s\n", '', 'yours', "the solution's") if @goals;
    $report .= sprintf("%-42s %8s %14s\n", join(', ', grep { $_ ne '' } @$_{qw(says at)}), number($_->{reached}), $_->{best}) for @goals;
    $report .= standing($exercise, @goals);
    return ('solved', $report . estimated($exercise, $program) . question($exercise), @goals);
}

# What the answer would take on an H200, on the large shape that `estimate: MICROSECONDS at SHAPE' names, the solution's beside it. It is
# computed from counts on two small shapes, by blocks that are alike, and is never a goal.
sub estimated {
    my ($exercise, $program) = @_;
    my ($ours, $many, $rest, $names) = ($exercise->{estimate} // return '') =~ /^([\d.]+) at (\d+)((?: *x *\d+)*)( \(.*\))?$/
        or die "$exercise->{judge}.txt: `estimate: $exercise->{estimate}' is not like `27 at 132 x 65536'\n";
    return '' if $exercise->{on_cpu} || has_gpu();
    my ($chip, @counts) = chip('h200');
    my $short = sub { my ($us) = @_; return sprintf $us < 1000 ? '%.3g' : '%.0f', $us };
    my $shape = $rest eq '' ? "$many elements" : defined $names ? "$many$rest$names" : $many . $rest =~ s/ *x */ sequences of /r;
    for my $few ($rest eq '' ? [65536, 131072] : ([2, 4], [128, 256])) {
        @counts = map { (count_at($exercise, $program, "$_$rest", 'count'))[0] // return '' } @$few;
        next if $counts[0]{blocks} == $counts[1]{blocks} && !defined $names; # a block takes several sequences
        my $all = whole_blocks(between($counts[0], $few->[0], $counts[1], $few->[1], $many));
        my $time = launches_time($chip, sub { 40 }, $all);
        my $says = sprintf 'An estimate; nothing was measured: on an NVIDIA H200 yours would take %s us for %s (%s to %s), and ours %s. It is limited by %s, then by %s.',
            $short->($time->{us}), $shape, $short->($time->{low}), $short->($time->{high}), $ours, map { ($meaning{$_} // $_) =~ s/its blocks/its $all->{blocks} blocks/r } @$time{qw(limited_by next)};
        my $times = $time->{us} / $ours;
        return "\n" . fold($says . ($times > 2 ? sprintf(' That is %.1f times as long: what does yours do that ours does not?', $times) : ''));
    }
    return '';
}

# How many times as long as ours the answer would take, as its report estimates; undef where it does not.
sub times_ours {
    my ($report) = @_;
    my ($its, $ours) = $report =~ /would\s+take\s+([\d.]+)\s+us.*?\bours\s+([\d.]+)\.\s/s;
    return defined $ours ? $its / $ours : undef;
}

# An exercise with a table of its own, `rank: bytes chain': how an answer that reaches these goals stands in it: the average of the goals of each name, and of a GPU how many
# times as long as `add' it takes. Nothing if it has no such table.
sub rank_of {
    my ($exercise, @goals) = @_;
    my @rank;
    for my $name (split(' ', $exercise->{rank} // ''), 'time') {
        my @reached = map { $_->{reached} } grep { $_->{name} eq $name } @goals;
        push @rank, [$name, sum(@reached) / @reached] if @reached;
    }
    return defined $exercise->{rank} ? @rank : ();
}

# The same in words, against the fewest and what was there before.
sub standing {
    my ($exercise, @goals) = @_;
    my ($first) = rank_of($exercise, @goals) or return '';
    my ($what, $number) = ($counters{ $first->[0] }[1], $first->[1]);
    my ($before, $whose) = split ' ', $exercise->{before}, 2;
    return "\n" . fold(sprintf "%s, on average of these shapes: %s (%s: %s). The fewest that will do are %s: yours is at %.1f %% of that roof.",
        ucfirst $what, number($number), $whose, number($before), number($exercise->{fewest}), 100 * $exercise->{fewest} / $number);
}

# The question to think about next.
sub question { return defined $_[0]{next} ? "\n" . fold("Next: $_[0]{next}") : '' }

# What is right for each key: a list of [key, number, what to look at]. `ask: KEY = EXPRESSION at SHAPE' is counted in a launch of the kernel
# that `runs' names; `ask: KEY = $(COMMAND)' is what a command prints; `ask: KEY = EXPRESSION' is computed of what was counted for earlier keys.
my %counted;  # by exercise and seed: what is counted does not depend on the answer
my %compiled; # by exercise: the folder and the program that is run for that, which no seed changes
my %printed;  # by command: its status and what it has printed

sub counted {
    my ($exercise, $tag) = @_;
    return @{ $counted{ join ' ', $exercise->{id}, $exercise->{seed} // 1 } //= [count_all($exercise, $tag)] };
}

sub count_all {
    my ($exercise, $tag) = @_;
    my (%counts, %earlier, @all);
    local @ENV{ map { "DRAWN_$_" } keys %{ $exercise->{value} // {} } } = values %{ $exercise->{value} // {} };
    my $program = ($compiled{ $exercise->{id} } // [])->[1];
    for (@{ $exercise->{ask} }) {
        my ($key, $what) = $_->{text} =~ /^(\w+) *= *(.*)$/ or die "$exercise->{judge}.txt: `ask: $_->{text}' has no `KEY ='\n";
        my $counted;
        if ($what =~ /^\$\((.*)\)$/) {
            my ($status, $out, $err) = @{ $printed{$1} //= [run_command({ LC_ALL => 'C' }, 'sh', '-c', $1)] };
            ($counted) = $out =~ /(-?[\d.]+)/ or die "$exercise->{judge}.txt: `$1' printed no number: $out$err\n";
        } else {
            my ($expression, $shape) = $what =~ /^(.*?)(?: +at +(\d.*))?$/;
            if (defined $shape && !defined $program) {
                my $errors;
                my ($source, $folder) = ($exercise->{runs}, fresh_folder($tag));
                my $kept = { path => "build/exercises/runs/$exercise->{id}" }; # where it is built once, for whoever asks, and not where it runs
                local $exercise->{on_cpu} = $source =~ /\.c$/;
                local $Sandbox::off = 'It is ours.'; # and may include what a hand-in may not
                (my $built, $errors) = build('sim', $exercise, $kept, read_text($source) // die("cannot read $source\n"), $source);
                die $errors if !defined $built;
                $program = "$folder->{path}/answer";
                link $_, $program . s{.*/answer}{}r or die "cannot link $_: $!\n" for grep { -f } $built, "$built.c";
                $compiled{ $exercise->{id} } = [$folder, $program];
            }
            if (defined $shape) {
                ($counts{$shape}, my $failed) = count_at($exercise, $program, $shape, 'count') if !$counts{$shape};
                die "counting at $shape failed: $failed->{said}$failed->{complained}\n" if !$counts{$shape};
            }
            $counted = evaluate($expression, defined $shape ? $counts{$shape} : \%earlier);
        }
        $earlier{$key} = $counted;
        push @all, [$key, $counted, $_->{look}];
    }
    return @all;
}

# The numbers that were drawn, where they are not in the answer: its task may have been made with another seed.
sub other_numbers {
    my ($exercise, $text) = @_;
    my @drawn = map { $exercise->{value}{ $_->{name} } } grep { defined $_->{says} && !defined $_->{expression} } @{ $exercise->{draw} // [] };
    my @missing = grep { $text !~ Draw::place($_) } @drawn;
    return '' if !@missing;
    return fold('Is this the task of another SEED? The one that is judged is about ' . join(', ', @missing) . ": `make reset EX=$exercise->{id}' writes it, with the same SEED.", '  ');
}

sub judge_prediction {
    my ($exercise, $text, $shown, $tag) = @_;
    my %typed = map { s/^\s+|\s+\z//gr } $text =~ /^[ \t]*(\w+)[ \t]*=([^#\n]*)/mg;
    my @right;
    for (@{ $exercise->{ask} }) {
        my ($key) = $_->{text} =~ /^(\w+) *=/ or next;
        return ('wrong', "`$key' is not there: leave the line `$key = ...' in $shown, and type a number.\n" . other_numbers($exercise, $text)) if !defined $typed{$key};
        return ('wrong', "`$key' has no number yet. Type it into $shown.\n" . other_numbers($exercise, $text)) if $typed{$key} =~ /^\?*$/;
        return ('wrong', "`$key = $typed{$key}' is not a number.\n") if $typed{$key} !~ /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;
    }
    for (counted($exercise, $tag)) {
        my ($key, $counted, $look) = @$_;
        my $whole = sprintf '%.0f', $counted;
        my $is_whole = abs($counted - $whole) < 1e-9 * abs $counted || $counted == 0; # and then there is nothing to round
        if ($is_whole && !($typed{$key} =~ /e/i && abs $counted >= 1e6) ? $typed{$key} != $whole : abs($typed{$key} - $counted) > 0.005 * abs $counted) {
            return ('wrong', "$key = $typed{$key} is close to what was counted, and not close enough.\n"
                . fold('A number that is no count is right within half a per cent. Was it rounded too early, or is something small left out?', '  '))
                if !$is_whole && abs($typed{$key} - $counted) <= 0.02 * abs $counted;
            return ('wrong', "$key = $typed{$key} is not what was counted.\n" . ($look ? fold($look, '  ') : '') . other_numbers($exercise, $text));
        }
        push @right, sprintf "  %s = %s\n", $key, number($counted);
    }
    return ('solved', "Solved. This was counted, too:\n" . join('', @right) . question($exercise));
}

# ---- does the judge judge well? ----

# Tries the judge on the skeleton, the solution and the mutants (of these $most, the first ones; undef: all). Returns a list of
# [what was tried, whether it went as it should, the report].
sub trials {
    my ($exercise, $most) = @_;
    my ($skeleton, $solution) = map { read_text($_) // die "cannot read $_\n" } @$exercise{qw(path solution)};
    my (@trials, $report, $state);

    ($state, $report, my @task) = judge_answer($exercise, $skeleton, $exercise->{path}, "$exercise->{id}.skeleton");
    push @trials, ['the skeleton is not solved, and the judge says what it should', $state ne 'solved' && said($report, $exercise->{skeleton}), $report];
    ($state, $report, my @goals) = judge_answer($exercise, $solution, $exercise->{solution}, "$exercise->{id}.solution");
    my @others = grep { $_->{name} !~ /^(?:time|registers)$/ && number($_->{reached}) ne $_->{best} } @goals; # what differs from compiler to compiler, or chip to chip
    push @trials, ['the solution is solved, and reaches just what the goals say', $state eq 'solved' && !@others, $report];
    push @trials, ["the solution would take what `estimate' says", abs((times_ours($report) // 0) - 1) < 0.02, $report] if defined $exercise->{estimate} && $report =~ /An estimate/;
    if (my ($first) = rank_of($exercise, @task)) {
        my ($before) = split " ", $exercise->{before};
        push @trials, ["the task stands where `before' says", sprintf("%.4g", $first->[1]) eq $before, "$first->[0]: $first->[1]\n"];
    }
    my $tried = 0;
    for my $mutant (@{ $exercise->{mutant} // [] }) {
        last if defined $most && $tried == $most;
        next if ($mutant->{says} // '') =~ /^race: threads/ && !$races_are_seen;
        ($state, $report) = judge_answer($exercise, mutate($exercise, $mutant, $solution), $exercise->{solution}, "$exercise->{id}.mutant" . ++$tried);
        push @trials, ["mutant `$mutant->{text}'", $state ne 'solved' && said($report, $mutant->{says}), $report];
    }
    return (@trials, $exercise->{draw} ? drawn_trials($exercise) : ());
}

# The same for a prediction whose numbers are drawn: by some seeds. What is counted then is right, and what was right without a seed is not
# (some numbers are the same all the same, so it need not be wrong by each seed).
sub drawn_trials {
    my ($exercise) = @_;
    my ($task, $solution) = map { read_text($_) } @$exercise{qw(path solution)};
    my ($wrong, $last, @trials) = (0, '', ['the task is the drawn one without a seed', task_text(with_numbers($exercise->{as_read}, undef)) eq $task, '']);
    for my $seed (2, 3) {
        my $drawn = with_numbers($exercise->{as_read}, $seed);
        my ($state, $report) = judge_answer($drawn, solution_text($drawn), $exercise->{path}, "$exercise->{id}.drawn");
        push @trials, ["seed $seed: what is counted is right", $state eq 'solved', $report];
        ($state, $last) = judge_answer($drawn, $solution, $exercise->{path}, "$exercise->{id}.drawn");
        $wrong ||= $state eq 'wrong' && said($last, 'Is this the task of another SEED?');
    }
    return (@trials, ['the numbers of the task as it stands are wrong by another seed', $wrong, $last]);
}

# Whether a report contains a sentence, wherever its lines are broken.
sub said {
    my ($report, $sentence) = @_;
    return defined $sentence && $sentence ne '' && index($report =~ s/\s+/ /gr, $sentence) >= 0;
}

1;
