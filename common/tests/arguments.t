# SPDX-License-Identifier: MIT
# Wrong usage: status 2, nothing on stdout, one clear line on stderr; and what --help and --csv promise.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

for my $chapter (chapters()) {
    my $p = program($chapter);
    my @quick = ('--num-seqs', 1, '--seq-len', 4);
    refuses("$chapter, unknown option", qr/--nonsense is not an option; see --help/, $p, '--nonsense');
    refuses("$chapter, unknown short option", qr/-q is not an option/, $p, '-q');
    refuses("$chapter, a word", qr/"forward" is not an option/, $p, 'forward');
    refuses("$chapter, value missing", qr/--num-seqs needs a value/, $p, '--num-seqs');
    refuses("$chapter, an option for a value", qr/--$_ needs a value, and --reverse looks like an option/, $p, @quick, "--$_", '--reverse')
        for qw(csv seq-len variant inputs fill);
    refuses("$chapter, value too much", qr/--list=yes is not an option/, $p, '--list=yes');
    for my $bad ('', '-1', '1e6', ' 5', '0x10', '3.5', 'many', '99999999999999999999999') {
        refuses("$chapter, --num-seqs '$bad'", qr/--num-seqs: "\Q$bad\E" is not a number of sequences/, $p, '--num-seqs', $bad);
        refuses("$chapter, --seq-len '$bad'", qr/--seq-len: "\Q$bad\E" is not a length/, $p, '--seq-len', $bad);
    }
    refuses("$chapter, empty length in a list", qr/--seq-len: "" is not a length/, $p, '--seq-len', '16,,32');
    refuses("$chapter, too many lengths", qr/more than 256 lengths/, $p, '--seq-len', join ',', 1 .. 257);
    refuses("$chapter, sizes whose product overflows", qr/choose a smaller shape|up to/, $p, '--num-seqs', '4611686018427387904', '--seq-len', '1099511627776');
    refuses("$chapter, more than the memory", qr/need .* GB, the device has .* GB free|up to \d+ elements/, $p, '--num-seqs', 1000000,
        '--seq-len', 100000000);
    refuses("$chapter, seed", qr/--seed: "-3" is not a seed/, $p, '--seed', '-3');
    refuses("$chapter, no repeats", qr/--repeats: "0" is not a number of repeats/, $p, '--repeats', 0);
    refuses("$chapter, unknown variant", qr/there is no variant "fastest"; --list names them/, $p, '--variant', 'fastest');
    refuses("$chapter, empty csv", qr/--csv: the file name is empty/, $p, @quick, '--csv', '');
    refuses("$chapter, csv in no folder", qr/cannot write/, $p, @quick, '--csv', scratch('no/such/folder.csv'));
    refuses("$chapter, csv is a folder", qr/cannot write: Is a directory/, $p, @quick, '--csv', scratch());
    refuses("$chapter, resume without a file", qr/--resume goes on with a file; name it with --csv/, $p, '--resume');
    refuses("$chapter, both passes", qr/exclude each other/, $p, '--forward', '--backward');

    my ($status, $out, $err) = run_program($p, '--help');
    ok($status eq 0 && $err eq '' && $out =~ /^usage: $chapter /, "$chapter --help");
    for my $option (qw(num-seqs seq-len reverse backward variant config seed repeats check-only csv resume list fill print inputs coeffs outputs d-outputs d-inputs d-coeffs)) {
        like($out, qr/--$option\b/, "$chapter --help names --$option");
    }

    my $csv = scratch('table.csv');
    ($status, $out, $err) = run_program($p, '--num-seqs', 2, '--seq-len', '5,33', '--csv', $csv, '--repeats', 3);
    is($status, 0, "$chapter --csv") or diag($err);
    my @lines = split /\n/, read_file($csv);
    my @comments = grep { /^#/ } @lines;
    like("@comments", qr/# command: \S+.*# date: \d{4}-\d\d-\d\dT.*# toolkit: .*# driver: /, "$chapter: the CSV says where it comes from");
    my ($head) = grep { !/^#/ } @lines;
    is($head, 'chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,'
        . 'max_error', "$chapter: the CSV's columns");
    my $kind = on_cpu($chapter) ? 'cpu' : backend();
    my @table = @{ read_table($csv)->{rows} };
    my @wrong = grep { $_->{backend} ne $kind || ($kind eq 'sim') != ($_->{median_ms} eq '') } @table;
    ok(@table && !@wrong, "$chapter: every row has all columns, backend $kind, and times unless it is simulated");
    my @errors = map { $_->{max_error} } grep { $_->{chapter} eq $chapter } @table;
    ok((grep { $_ ne '' } @errors) && !(grep { $_ ne '' && !($_ <= 1) } @errors), "$chapter: no error exceeds its bound") or diag("@errors");
    is_deeply([glob scratch('*partial*')], [], "$chapter: nothing is left beside the CSV");

    # a process of the same number was interrupted here, as happens in containers
    unlink $csv;
    my ($default) = (run_program($p, '--list'))[1] =~ /^(\S+).*\(default\)/m;
    my @one = ($p, @quick, '--check-only', '--variant', $default);
    my @again = (@one, '--csv', $csv);
    ($status, $out, $err) = run_program('sh', '-c', 'umask 027; echo left > "$0.partial-$$"; exec "$@"', $csv, @again);
    is("$status " . (-s $csv ? sprintf '%o', (stat _)[2] & 07777 : ''), '0 640', "$chapter: what another process has left is in nobody's way") or diag($err);
    is_deeply([map { read_file($_) } glob "$csv.partial-*"], ["left\n"], "$chapter: and stays");
    unlink glob "$csv.partial-*";
    chmod 0604, $csv;
    run_program(@again);
    is(sprintf('%o', (stat $csv)[2] & 07777), '604', "$chapter: a file that was there keeps its permissions");

    ($status) = run_program(@one, '--csv', '/dev/null');
    ok($status eq 0 && -c '/dev/null', "$chapter: a device is written to, not replaced");
}

# a table that a chapter's author has not finished
refuses('a table without a default row', qr/the table of table has 0 default rows; mark one/, extra('tests_no_default'), '--inputs', 'x', '--coeffs', 'c', '--outputs', 'y');
refuses('a table with two', qr/the table of table has 2 default rows; mark one/, extra('tests_no_default'), 'both');

refuses('CPU_THREADS', qr/CPU_THREADS=0 is not a number of threads/, { CPU_THREADS => 0 }, program('01_reference'), '--list');
for my $demo (glob extra('01_reference_*')) {
    my ($status, $out, $err) = run_program($demo, '--help');
    ok($status eq 0 && $out =~ /^usage:/, "$demo --help");
    my $writes = $out =~ /FILE/;
    my $path = scratch('demo.csv');
    ($status, $out, $err) = run_program($demo, $writes ? $path : ());
    is($status, 0, "$demo agrees with itself") or diag("$out$err");
    next if !$writes;
    ok(-s $path, "$demo writes its file");
    ($status, $out, $err) = run_program($demo, scratch('no/such/folder'));
    ok($status eq 2 && $err =~ /\A.*cannot write.*\n\z/, "$demo refuses a file in no folder");
}

done_testing;
