# Chapter 07 compares every variant of every chapter, and goes on where an interrupted run has ended.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

my $p = program('07_bench');
my $sim = backend() eq 'sim';
my $csv = scratch('bench.csv');
my @command = ($p, '--num-seqs', 3, '--seq-len', '5,33', '--repeats', 3, '--resume', '--csv', $csv);

sub rows { return grep { !/^#/ && !/^chapter,/ } split /\n/, read_file($_[0]) // '' }
sub about { my ($key) = @_; return (read_file($csv) =~ /^# $key: (.*)$/m)[0] }
sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!";
    print $file $text;
    close $file;
}

# ---- who is compared ----

my ($status, $out, $err) = run_program(@command);
is($status, 0, 'a comparison') or diag("$out$err");
like($out, qr/^all \d+ checks passed$/m, 'all of it is checked');
my %seen;
$seen{ join '/', (split /,/)[0, 1] }{ (split /,/)[2] }++ for rows($csv);
for my $chapter (grep { $_ ne '01_reference' } chapters()) {
    my (undef, $list) = run_program(program($chapter), '--list');
    for my $line (split /\n/, $list) {
        my ($variant) = $line =~ /^(\S+)/;
        my ($arch) = $line =~ /\(needs sm_(\d+)\)/;
        SKIP: {
            skip "$variant needs sm_$arch", 1 if !$sim && defined $arch && $err =~ /\Q$variant\E needs sm_$arch/;
            ok($seen{"$chapter/$variant"}, "$chapter/$variant is compared");
        }
    }
    my $each = scratch('each.csv');
    run_program(program($chapter), '--num-seqs', 3, '--seq-len', 5, '--csv', $each);
    my @directions = map { join '/', (split /,/)[0 .. 2] } grep { /^$chapter,/ } rows($each);
    is_deeply([grep { my ($c, $v, $d) = split m{/}; !$seen{"$c/$v"}{$d} } @directions], [], "$chapter: in every direction that it runs");
}
ok($sim || ($seen{'07_bench/copy'} && $seen{'07_bench/add'} && $seen{'07_bench/add5'} && $seen{'07_bench/cub_by_key'}),
    'against copy, add, add5 and CUB');
my ($head) = read_file($csv) =~ /^(chapter,.*)$/m;
is($head, 'chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,max_error',
    'the CSV has the columns that every chapter\'s has');
my @keys = map { join ',', (split /,/)[0 .. 4] } rows($csv);
my %once = map { $_ => 1 } @keys;
is(scalar(keys %once), scalar(@keys), 'no row stands there twice');
is_deeply([grep { (split /,/, $_, -1) != 14 } rows($csv)], [], 'every row has 14 fields');

# ---- options ----

my (undef, $list) = run_program($p, '--list');
is(scalar(() = $list =~ /\(default\)/g), 1, 'one default variant');
my ($default) = $list =~ /^(\S+).*\(default\)/m;
like($list, qr{^05_pipe/default }m, 'a kernel is named by its chapter and its name there');
refuses('a variant without its chapter', qr/there is no variant "default"; --list names them/, $p, '--variant', 'default');
($status, $out) = run_program($p, '--variant', '05_pipe/vector', '--check-only', '--num-seqs', 2, '--seq-len', 9);
ok($status eq 0 && $out =~ /^05_pipe +vector +forward/m && $out !~ /04_warp_scan/, 'one variant alone');
my $y = scratch('y.npy');
($status) = run_program($p, '--inputs', write_npy(scratch('x.npy'), '(3,)', 1, 1, 1), '--coeffs', write_npy(scratch('c.npy'), '(3,)', 2, 2, 2), '--outputs', $y);
is_deeply([read_npy($y)], ['(3,)', 1, 3, 7], "the reader's own arrays, with $default");

# ---- resume ----

my $complete = read_file($csv);
my $begun = about('date');
($status, $out) = run_program(@command);
ok($status eq 0 && $out =~ /^nothing was checked$/m, 'a complete table: nothing is left to do');
is_deeply([rows($csv)], [grep { !/^#/ && !/^chapter,/ } split /\n/, $complete], 'and its rows stay');
is(about('resumed'), "an interrupted run of $begun", 'the CSV says that it was resumed');

# interrupted: the last shape is cut in its middle, and so is a line
my @lines = split /\n/, $complete;
my $kept = @lines - 1;
write_file($csv, join("\n", @lines[0 .. $kept - 1]) . "\n" . substr $lines[$kept], 0, 20);
($status, $out) = run_program(@command);
ok($status eq 0 && $out =~ /^what an interrupted run has finished stays as it is in \Q$csv\E; remove it to measure all again$/m, 'an interrupted run is resumed') or diag($out);
is_deeply([map { join ',', (split /,/)[0 .. 4] } rows($csv)], \@keys, 'and in the end holds all rows, in order');
my ($shape) = join(',', (split /,/, $lines[-1])[2 .. 4]);
my ($direction, $num_seqs, $length) = split /,/, $shape;
my @again = grep { /\s\Q$direction\E\s+$num_seqs\s+$length\s/ } split /\n/, $out;
my @all_again = grep { /^0\d_\w+ +\w+ +\w+ +\d+ +\d+/ } split /\n/, $out;
ok(@again && @again == @all_again, "only $shape was run again") or diag($out);

# a row without a result, or with a wrong one, is run again
(my $broken = $complete) =~ s/^(05_pipe,vector,forward,3,5,.*,)[\d.]*$/${1}1.5/m;
write_file($csv, $broken);
($status, $out) = run_program(@command);
like($out, qr/^05_pipe +vector +forward +3 +5 /m, 'a wrong result is not kept');

for my $case (['command', 's/--repeats 3/--repeats 4/', 'another command'], ['toolkit', 's/^# toolkit: .*/# toolkit: CUDA 1.0/m', 'another toolkit'],
    ['driver', 's/^# driver: .*/# driver: 1.0/m', 'another driver']) {
    my ($what, $change, $name) = @$case;
    (my $other = $complete) =~ s/--repeats 3/--repeats 4/ if $what eq 'command';
    ($other = $complete) =~ s/^# $what: .*/# $what: something else/m if $what ne 'command';
    write_file($csv, $other);
    refuses("a table of $name", qr/comes from another run \($what ".*", not ".*"\); remove it, or name another file/, @command);
    is(read_file($csv), $other, "and it stays as it was ($what)");
}
(my $other = $complete) =~ s/^((?:\w+,){3}(?:\d+,){2}\w+),[^,]*/$1,Another GPU/mg;
write_file($csv, $other);
refuses('a table of another device', qr/comes from another run \(device "Another GPU"/, @command);
write_file($csv, "something,else\n1,2\n");
refuses('another kind of table', qr/is not a table that this program wrote/, @command);
unlink $csv;
($status) = run_program(program('05_pipe'), '--num-seqs', 1, '--seq-len', 3, '--resume', '--csv', $csv);
ok($status eq 0 && rows($csv), 'other chapters resume, too, and a file that is not there is no obstacle');

# an interrupted program leaves the shapes that it has finished
SKIP: {
    skip 'runs too fast to be interrupted', 1 if !$sim;
    unlink $csv;
    my $pid = fork // die;
    if ($pid == 0) {
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', '/dev/null';
        exec @command[0 .. 2], '--seq-len', '5,33,100000,200000', '--resume', '--csv', $csv;
    }
    for (1 .. 400) { # at most 20 s
        select undef, undef, undef, 0.05;
        last if rows($csv);
    }
    kill 'INT', $pid;
    waitpid $pid, 0;
    my @left = rows($csv);
    ok((grep { /,forward,3,5,/ } @left) && !(grep { /,backward_reverse,3,200000,/ } @left) && !glob("$csv.partial*"),
        'interrupted, the finished shapes are there and nothing else is');
}

# ---- commands ----

if ($sim) {
    for my $target (qw(bench profile)) {
        my $said = `make --no-print-directory BACKEND=sim $target 2>&1`;
        ok($? != 0 && $said =~ /^make $target needs /m, "make $target on the simulator says what it needs") or diag($said);
    }
}
done_testing;
