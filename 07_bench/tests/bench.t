# SPDX-License-Identifier: MIT
# Chapter 07 compares every variant of every chapter, and goes on where an interrupted run has ended.
use strict;
use warnings;
use lib 'common/tests';
use Compress::Zlib;
use Cwd;
use Digest::SHA;
use Linrec;
use POSIX 'WNOHANG';
use Test::More;

my $p = program('07_bench');
my $sim = backend() eq 'sim';
my $csv = scratch('bench.csv');
my @command = ($p, '--num-seqs', 3, '--seq-len', '5,33', '--repeats', 3, '--resume', '--csv', $csv);

sub rows { return -s $_[0] ? @{ read_table($_[0])->{rows} } : () }
sub key { return join ',', @{ $_[0] }{qw(chapter variant direction num_seqs seq_len)} } # of a row
sub about { my ($key) = @_; return (read_file($csv) =~ /^# $key: (.*)$/m)[0] }

# ---- who is compared ----

my ($status, $out, $err) = run_program(@command);
is($status, 0, 'a comparison') or diag("$out$err");
like($out, qr/^all \d+ checks passed$/m, 'all of it is checked');
my %seen;
$seen{"$_->{chapter}/$_->{variant}"}{ $_->{direction} }++ for rows($csv);
for my $chapter (split ' ', says('07_bench', 'NEEDS')) {
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
    my @missing = grep { !$seen{"$_->{chapter}/$_->{variant}"}{ $_->{direction} } } rows_with(read_table($each), chapter => $chapter);
    is_deeply([map { key($_) } @missing], [], "$chapter: in every direction that it runs");
}
ok($sim || !(grep { !$seen{"07_bench/$_"} } qw(copy add add5 cub_by_key cub_block_scan)), 'against copy, add, add5 and CUB');
is_deeply($seen{'07_bench/empty'}, { forward => 2 }, 'and a launch that does nothing, once for each shape');
is_deeply([map { @$_{qw(percent_of_copy percent_of_add max_error)} } grep { $_->{variant} eq 'empty' } rows($csv)], [('') x 6], 'which is compared with nothing, and not checked');
my ($head) = read_file($csv) =~ /^(chapter,.*)$/m;
is($head, 'chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,max_error',
    'the CSV has the columns that every chapter\'s has');
my @keys = map { key($_) } rows($csv);
my %once = map { $_ => 1 } @keys;
is(scalar(keys %once), scalar(@keys), 'no row stands there twice');

# ---- options ----

my (undef, $list) = run_program($p, '--list');
is(scalar(() = $list =~ /\(default\)/g), 1, 'one default variant');
my ($default) = $list =~ /^(\S+).*\(default\)/m;
like($list, qr{^05_pipe/default }m, 'a kernel is named by its chapter and its name there');
refuses('a variant without its chapter', qr/there is no variant "default"; --list names them/, $p, '--variant', 'default');
my ($one) = $list =~ m{^05_pipe/(\w+)}m;
($status, $out) = run_program($p, '--variant', "05_pipe/$one", '--check-only', '--num-seqs', 2, '--seq-len', 9);
ok($status eq 0 && $out =~ /^05_pipe +$one +forward/m && $out !~ /04_warp_scan/, 'one variant alone');
my $y = scratch('y.npy');
($status) = run_program($p, '--inputs', write_npy(scratch('x.npy'), '(3,)', 1, 1, 1), '--coeffs', write_npy(scratch('c.npy'), '(3,)', 2, 2, 2), '--outputs', $y);
is_deeply([read_npy($y)], ['(3,)', 1, 3, 7], "the reader's own arrays, with $default");

# ---- resume ----

my $complete = read_file($csv);
my $begun = about('date');
($status, $out) = run_program(@command);
ok($status eq 0 && $out =~ /^nothing was checked$/m, 'a complete table: nothing is left to do');
is(read_file($csv) =~ s/^#.*\n//mgr, $complete =~ s/^#.*\n//mgr, 'and its rows stay');
is(about('resumed'), "an interrupted run of $begun", 'the CSV says that it was resumed');

# interrupted: the last shape is cut in its middle, and so is a line
my @lines = split /\n/, $complete;
my $kept = @lines - 1;
write_file($csv, join("\n", @lines[0 .. $kept - 1]) . "\n" . substr $lines[$kept], 0, 20);
($status, $out) = run_program(@command);
ok($status eq 0 && $out =~ /^what an interrupted run has finished stays as it is in \Q$csv\E; remove it to measure all again$/m, 'an interrupted run is resumed') or diag($out);
is_deeply([map { key($_) } rows($csv)], \@keys, 'and in the end holds all rows, in order');
my ($direction, $num_seqs, $length) = @{ (rows($csv))[-1] }{qw(direction num_seqs seq_len)};
my $shape = "$direction,$num_seqs,$length";
my @again = grep { /\s\Q$direction\E\s+$num_seqs\s+$length\s/ } split /\n/, $out;
my @all_again = grep { /^0\d_\w+ +\w+ +\w+ +\d+ +\d+/ } split /\n/, $out;
ok(@again && @again == @all_again, "only $shape was run again") or diag($out);

# a row without a result, or with a wrong one, is run again
(my $broken = $complete) =~ s/^(05_pipe,$one,forward,3,5,.*,)[\d.]*$/${1}1.5/m;
write_file($csv, $broken);
($status, $out) = run_program(@command);
like($out, qr/^05_pipe +$one +forward +3 +5 /m, 'a wrong result is not kept');

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
        $SIG{INT} = 'DEFAULT'; # a shell's background job ignores it
        exec @command[0 .. 2], '--seq-len', '5,33,100000,200000', '--resume', '--csv', $csv;
    }
    my $ended = 0;
    until ($ended || rows($csv)) { # however long that takes here
        select undef, undef, undef, 0.05;
        $ended = waitpid $pid, WNOHANG;
    }
    kill 'INT', $pid if !$ended;
    waitpid $pid, 0;
    my @left = rows($csv);
    ok((grep { key($_) =~ /,forward,3,5$/ } @left) && !(grep { key($_) =~ /,backward_reverse,3,200000$/ } @left) && !glob("$csv.partial*"),
        'interrupted, the finished shapes are there and nothing else is');
}

# ---- commands ----

if ($sim) {
    for my $target (qw(bench tune profile recordings)) {
        my $said = `make --no-print-directory BACKEND=sim $target 2>&1`;
        ok($? != 0 && $said =~ /^make $target needs /m, "make $target on the simulator says what it needs") or diag($said);
    }
}

# ---- figures ----

sub slurp_gray { # the bytes of a PNG's rows, unpacked
    my $png = read_file($_[0]) // return '';
    my ($at, $packed) = (8, '');
    while ($at < length $png) {
        my ($size, $type) = unpack 'N a4', substr $png, $at, 8;
        $packed .= substr $png, $at + 8, $size if $type eq 'IDAT';
        $at += 12 + $size;
    }
    return Compress::Zlib::uncompress($packed) // '';
}

# the kernels that are drawn are compared, in that direction
for my $script ('07_bench/figures.py', '07_bench/plot.pl') {
    my $text = read_file($script);
    my %drawn = map { $_ => 'forward' } grep { !/^07/ } map { s/', '/\//r } $text =~ m{\b(\d\d_\w+(?:', '|/)\w+)(?=[', "])}g;
    if (my ($lines) = $text =~ /'backward': \[(.*)\]/) {
        $drawn{$_} = 'backward' for map { s/', '/\//r } $lines =~ /\b(\d\d_\w+', '\w+)/g;
    }
    cmp_ok(keys %drawn, '>=', 4, "$script names kernels");
    is_deeply([grep { !$seen{$_}{ $drawn{$_} } } sort keys %drawn], [], "$script: those kernels are there");
}

# a GPU that nobody has: four numbers of sequences, three lengths, and a tuner's table
my $measured = scratch('07_bench.csv');
my $table = "# date: 2026-01-02T03:04:05Z\n# toolkit: CUDA 13.0\n$head\n";
for my $num_seqs (1, 8, 10, 1000) {
    for my $length (64, 1024, 16384, 65536) {
        for my $kernel ('07_bench,copy', '07_bench,add', '02_cuda_ref,full_blocks', '02_cuda_ref,all_ways', '05_pipe,prefetch', '05_pipe,default') {
            my $speed = $length / 100 + $num_seqs + length $kernel;
            $table .= "$kernel,$_,$num_seqs,$length,cuda,NVIDIA H200,1,1,1,$speed,90,95,0.1\n" for 'forward', 'backward';
        }
        $table .= "07_bench,add5,backward,$num_seqs,$length,cuda,NVIDIA H200,1,1,1,1000,90,95,\n";
    }
}
write_file($measured, $table);
my $tuned = scratch('07_tune.csv');
write_file($tuned, "chapter,variant,direction,rows,threads,stages,num_seqs,seq_len,median_ms,gb_per_s,percent_of_add\n"
    . join '', "05_pipe,prefetch,forward,0,0,0,1000,64,1,1,20\n05_pipe,flat,forward,0,96,0,1000,64,1,1,90\n",
    map { "05_pipe,prefetch,forward,2,$_,0,1000,64,1,1," . $_ / 8 . "\n05_pipe,prefetch,forward,2,$_,0,1000,1024,1,1,50\n" } 64, 128, 256);
my $counted = scratch('07_counters.csv');
write_file($counted, "chapter,variant,direction,num_seqs,seq_len,device,metric,value\n" . join '',
    map { "05_pipe,default,forward,1000,16384,NVIDIA H200,$_\n" } 'bytes_per_element,12', 'shuffles,1e6', 'instructions,1e7', 'sm_cycles_per_second,2.5e11');
my ($python) = grep { system("$_ -c 'import matplotlib' 2>/dev/null") == 0 } 'python3', '/usr/bin/python3';
SKIP: {
    skip 'no python3 here has matplotlib', 1 if !defined $python;
    for my $try (1, 2) {
        ($status, $out, $err) = run_program($python, '-B', '07_bench/figures.py', scratch("figures$try"), $measured, $tuned, $counted);
        ok($status eq 0 && $out !~ /skipped/, 'all figures are drawn') or diag("$out$err");
    }
    for my $name (qw(ladder throughput backward roofline sequences tuning)) {
        my ($svg, $again) = map { read_file(scratch("figures$_/$name.svg")) // '' } 1, 2;
        ok($svg ne '' && $svg eq $again, "$name.svg is the same every time");
        ok((() = $svg =~ /<(?:path|use)\b/g) > 5 && $svg =~ /<text /, "$name.svg is not blank");
        my %bytes = map { $_ => 1 } split //, slurp_gray(scratch("figures1/$name.png"));
        cmp_ok(scalar(keys %bytes), '>', 20, "$name.png is not blank");
    }
    unlike(read_file(scratch('figures1/ladder.svg')), qr/<dc:date>/, 'no date of drawing');

    # 1000 x 16384 elements, 2 FLOP each; 1e6 shuffles at one a cycle, and 1e7 instructions at four, of 2.5e11 cycles a second
    my $roofs = read_file(scratch('figures1/roofline.svg'));
    like($roofs, qr/shuffles of 05 default: 8192 GFLOP/, 'the roof of shuffles comes from what was counted');
    like($roofs, qr/issue slots of 05 default: 3277 GFLOP/, 'so does that of issue slots');
    like(read_file(scratch('figures1/tuning.svg')), qr/>prefetch, rows 2</, 'tuning: a row for each number of rows');
    like(read_file(scratch('figures1/tuning.svg')), qr/>flat</, 'and one for a variant without');
}
mkdir scratch('broken');
write_file(scratch('broken/matplotlib.py'), "raise ImportError('not here')\n");
($status, $out, $err) = run_program({ PYTHONPATH => scratch('broken') }, 'perl', '07_bench/plot.pl', '--recorded');
ok($status eq 0 && $out =~ /^figures of 07_bench skipped \(ladder, .*\): no python3 with matplotlib/m, 'without matplotlib: one sentence, and success')
    or diag("$out$err");

# what the texts show is drawn from the newest recordings
for my $path (glob '07_bench/figures/*.svg') {
    my ($sources) = read_file($path) =~ m{<dc:source>(.*)</dc:source>};
    next if !defined $sources;    # drawn by hand
    for my $source (split ' ', $sources) {
        my ($csv, $digest) = split /:/, $source;
        is(substr(Digest::SHA::sha256_hex(read_file($csv) // ''), 0, 12), $digest, "$path shows $csv as it is (make report)");
        my ($name) = $csv =~ /\d{4}-\d\d-\d\d-(\w+)\.csv$/;
        my ($newest) = reverse sort { ($a =~ m{([^/]*)$})[0] cmp ($b =~ m{([^/]*)$})[0] } glob "recordings/h200/*-$name.csv";
        is($csv, $newest, "$path is drawn from the newest recording of $name (make report)");
    }
    ok($sources =~ /-07_bench\.csv/ || !glob('recordings/h200/*-07_bench.csv'), "$path is drawn from the comparison, if there is one");
}

# ---- the compiler's report ----

write_file(scratch('ptxas.txt'), '');
mkdir scratch('05_pipe');
my $report = scratch('05_pipe/pipe.ptxas');
write_file($report, <<'END');
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z12flat_forwardmjjPKfS0_Pf' for 'sm_90'
ptxas info    : Function properties for _Z12flat_forwardmjjPKfS0_Pf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 50 registers, used 0 barriers
ptxas info    : Compiling entry function '_Z4pipeILi2ELi4EEvPf' for 'sm_90'
ptxas info    : Function properties for _Z4pipeILi2ELi4EEvPf
    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 512 bytes smem
END
($status, $out, $err) = run_program('perl', 'common/record/ptxas.pl', 'sm_90', $report);
like($out, qr/^05_pipe +pipe +\S*flat_forward\S* +50 +0 +0 +0 +36$/m, 'attrs: 50 registers leave room for 36 warps');
like($out, qr/^05_pipe +pipe +.* +64 +16 +20 +512 +32  SPILLS$/m, 'attrs: a spill is flagged');
is($status, 1, 'and is a failure');
($status, $out, $err) = run_program('perl', 'common/record/ptxas.pl', 'sm_90', scratch('ptxas.txt'));
ok($status ne 0 && $err =~ /no kernel is reported in .*; build with BACKEND=cuda first/, 'attrs: nothing to report is said');

# ---- profile and record, with a profiler and a program that only pretend ----

my $root = Cwd::getcwd();
my $fake = scratch('fake');
mkdir "$fake$_" for '', '/bin', '/build', '/build/cuda', '/build/cuda/extra', '/results', '/07_bench';
write_file("$fake/build/cuda/extra/07_bench_launches", <<'END');
#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" != --csv ] || csv=$2; shift; done
cat > "$csv" <<'CSV'
# date: today
chapter,variant,direction,num_seqs,seq_len,device,kernel,blocks
07_bench,add,forward,10,100,NVIDIA H200,add,1
05_pipe,default,forward,10,100,NVIDIA H200,a,1
05_pipe,default,reverse,10,100,NVIDIA H200,a,1
06_backward,fused,backward,10,100,NVIDIA H200,b,1
07_bench,cub_by_key,forward,10,100,NVIDIA H200,first,1
07_bench,cub_by_key,forward,10,100,NVIDIA H200,second,1
CSV
END
write_file("$fake/bin/ncu", <<'END');
#!/bin/sh
[ "$1" != --query-metrics ] || { [ -z "$SMALL" ] || printf 'Device X\ndram__bytes_read  Counter\nsmsp__inst_executed  Counter\n'; exit; }
[ "$1" != --version ] || { echo 'Version 2025.3.1.0 (build 1)'; exit; }
[ -z "$DENIED" ] || { echo '==ERROR== ERR_NVGPUCTRPERM - no permission'; exit 1; }
echo '==PROF== Connected'
echo '"ID","Process ID","Kernel Name","gpu__time_duration.sum","dram__bytes_read.sum","dram__bytes_write.sum","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed","lts__t_sectors.sum"'
echo '"","","","ns","byte","byte","","","%",""'
echo '"0","7","void k<1, 2>(int)","1,000.00","8000.00","4000","10","160","50.00","375"'
case "$*" in *cub*) echo '"1","7","k2","3,000.00","8000.00","4000","0","0","90.00","n/a"';; esac
END
chmod 0755, "$fake/build/cuda/extra/07_bench_launches", "$fake/bin/ncu";
symlink "$root/$_", "$fake/$_" for qw(common cusim 05_pipe);
symlink "$root/07_bench/$_", "$fake/07_bench/$_" for qw(Makefile kernels.c recordings.sh);
sub in_fake { # a script of common/record, with the fakes
    my ($script, %env) = @_;
    chdir $fake;
    my @result = run_program({ BACKEND => 'cuda', PATH => "$fake/bin:$ENV{PATH}", %env }, 'perl', "$root/common/record/$script");
    chdir $root;
    return @result;
}
($status, $out, $err) = in_fake('profile.pl');
ok($status eq 0 && $err eq '', 'profile') or diag("$out$err");
my @line = map { [split] } split /\n/, $out;
is_deeply($line[1], [qw(add forward 100 12.00 12 12 50 0.375 0.375 16.0 -)], 'a line of its table');
is_deeply($line[3], [qw(06_backward/fused backward 100 12.00 20 12 50 0.375 0.625 16.0 -)], 'backward, the least is more');
is_deeply($line[4], [qw(cub_by_key forward 100 24.00 12 6 80 0.375 0.375 16.0 -)], 'two kernels of one launch are added up');
my $counters = read_file("$fake/results/07_counters.csv") // '';
like($counters, qr/^chapter,variant,direction,num_seqs,seq_len,device,metric,value\n/m, 'the columns of its CSV');
like($counters, qr/^05_pipe,default,forward,10,100,NVIDIA H200,bytes_per_element,12\n/m, 'a row of its CSV');
is_deeply([glob "$fake/results/*partial*"], [], 'nothing is left beside it');
($status, $out, $err) = in_fake('profile.pl', DENIED => 1);
ok($status ne 0 && $err =~ /^make profile: ncu counted nothing for add: ==ERROR== ERR_NVGPUCTRPERM/, 'no permission is said') or diag("$out$err");
is(read_file("$fake/results/07_counters.csv"), $counters, 'and the CSV stays');

like($counters, qr/^# command: make profile$/m, 'its command');
($status, $out, $err) = in_fake('profile.pl', CHAPTER => '05_pipe', SMALL => 1);
like($out, qr/^not counted on this chip: l2_fabric_sectors \(lts__t_sectors_srcunit_ltcfabric\.sum\), shuffles \([^,]*\), sm_cycles_per_second/m,
    'a chip without a counter does without');
my $of_05 = read_file("$fake/results/05_counters.csv") // '';
like($of_05, qr/^# command: CHAPTER=05_pipe make profile$/m, 'one chapter: its table says so');
is_deeply([sort keys %{ { map { ("$_->{chapter}/$_->{variant}" => 1) } rows("$fake/results/05_counters.csv") } }], ['05_pipe/default', '07_bench/add'],
    'and holds its kernels and the baseline');
($status, $out, $err) = in_fake('profile.pl', CHAPTER => '99_none');
ok($status ne 0 && $err =~ /^make profile: no kernel of chapter 99_none runs here; CHAPTER takes the name of one$/m, 'a chapter that is not there') or diag("$out$err");
unlink "$fake/results/05_counters.csv";

my $head14 = "# date: 2026-01-02T03:04:05Z\n$head\n";
write_file("$fake/results/05_pipe.csv", $head14 . "05_pipe,default,forward,1,16,cuda,NVIDIA GeForce RTX 4090 (x),1,1,1,1,1,1,1\n");
write_file("$fake/results/01_reference.csv", $head14 . "01_reference,loop,forward,1,16,cpu,Some CPU,1,1,1,1,1,1,1\n");
write_file("$fake/results/04_warp_scan.csv", $head14 . "04_warp_scan,block,forward,1,16,sim,simulator,,,,,,,1\n");
write_file("$fake/results/07_tune.csv", "# date: 2026-01-02T03:04:05Z\n# device: NVIDIA H200\nchapter,variant\n05_pipe,prefetch\n");
write_file("$fake/results/07_quick.csv", $head14 . "05_pipe,default,forward,1,16,cuda,NVIDIA H200,1,1,1,1,1,1,1\n");
($status, $out, $err) = in_fake('record.pl');
is($status, 0, 'record') or diag($err);
my ($today) = $counters =~ /^# date: (\d{4}-\d\d-\d\d)T/m;
is_deeply([sort map { s{^\Q$fake/recordings/\E}{}r } glob "$fake/recordings/*/*"],
    ['geforce-rtx-4090-x/2026-01-02-05_pipe.csv', "h200/2026-01-02-07_tune.csv", "h200/$today-07_counters.csv"], 'each GPU has its folder; the CPU and the simulator have none');

# ---- all recordings by one command, with programs that only pretend ----

write_file("$fake/build/cuda/05_pipe", <<'END');
#!/bin/sh
command="$0 $*" variant=default config= num_seqs=13200 seq_len=64
while [ $# -gt 0 ]; do
    case $1 in --csv) csv=$2 ;; --variant) variant=$2 ;; --config) config=:$2 ;; --num-seqs) num_seqs=$2 ;; --seq-len) seq_len=$2 ;; esac
    shift 2
done
[ "$variant" != work_only ] || { echo 'FAILED work_only'; exit 1; }
cat > "$csv" <<CSV
# command: $command
# date: 2026-01-03T03:04:05Z
chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,max_error
07_bench,add,forward,$num_seqs,${seq_len%%,*},cuda,NVIDIA H200,1,1,1,1,1,1,
05_pipe,$variant$(echo "$config" | tr , :),forward,$num_seqs,${seq_len%%,*},cuda,NVIDIA H200,1,1,1,1,1,1,1
CSV
END
chmod 0755, "$fake/build/cuda/05_pipe";
chdir $fake;
($status, $out, $err) = run_program({ BACKEND => 'cuda' }, 'sh', 'common/record/recordings.sh', '05');
chdir $root;
is($status, 1, 'recordings: a run that fails is a failure');
like($out, qr/^failed, see build\/recordings\.log:\n +build\/cuda\/05_pipe --variant work_only --config threads=256,stages=1 .* \(status 1\)$/m, 'and named');
like($out, qr/^ +build\/cuda\/extra\/05_pipe_hints --csv results\/05_hints\.csv \(status 127\)$/m, 'so is a program that is not there');
my $few = read_file("$fake/recordings/h200/2026-01-03-05_few.csv") // '';
like($few, qr{^# command: build/cuda/05_pipe --num-seqs 132 --seq-len 1024,65536,1048576 --csv results/05_few\.csv$}m, 'few sequences: one for each SM, and the table says its command');
my $overlap = read_file("$fake/recordings/h200/2026-01-03-05_overlap.csv") // '';
is(scalar(() = $overlap =~ /^# command: /mg), 6, 'a table of several runs names all their commands');
is(scalar(() = $overlap =~ /^07_bench,add,/mg), 1, 'and each row once');
is(scalar(() = $overlap =~ /^chapter,/mg), 1, 'and its columns once');
is_deeply([map { $_->{variant} } grep { $_->{chapter} eq '05_pipe' } rows("$fake/recordings/h200/2026-01-03-05_overlap.csv")],
    [map { my $stages = $_; map { "$_:threads=256:stages=$stages" } qw(async copy_only) } 1 .. 3], 'with the launch configuration in the name');
refuses('a part that is not there', qr/^make recordings: there is no part "99"; choose of 02 02_counters 03 04 05 /, 'env', 'BACKEND=cuda', 'sh', 'common/record/recordings.sh', '99');

# ---- other systems ----

mkdir scratch("torch$_") for 1, 2;
write_file(scratch('torch1/torch.py'), "raise ImportError('not here')\n");
write_file(scratch('torch2/torch.py'), "class cuda:\n    is_available = staticmethod(lambda: False)\n");
($status, $out, $err) = run_program('python3', '--version');
SKIP: {
    my @peers = glob '[0-9][0-9]_*/peers.py';
    skip 'no python3 here', 1 if $status ne 0;
    cmp_ok(scalar @peers, '>=', 3, 'several chapters time other systems');
    for my $peers (@peers) {
        refuses("$peers without torch", qr/^make peers needs Python with torch, and there is none here; nothing else depends on it$/,
            'env', 'PYTHONPATH=' . scratch('torch1'), 'python3', '-B', $peers);
        refuses("$peers without a GPU", qr/^make peers needs a GPU that torch can use, and none answers$/,
            'env', 'PYTHONPATH=' . scratch('torch2'), 'python3', '-B', $peers);
    }
}
done_testing;
