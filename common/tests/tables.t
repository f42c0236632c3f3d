# SPDX-License-Identifier: MIT
# Tables are read in one place for Perl and in one for Python, by the names of their columns; and what serves all chapters names none.
use strict;
use warnings;
use lib 'common/tests';
use Cwd 'getcwd';
use Linrec;
use Test::More;

# ---- one table, read by both ----

my $path = write_file(scratch('table.csv'), <<'END');
# command: build/cuda/05_pipe --csv a, b: c.csv
# command: another
# date: 2026-01-02T03:04:05Z
# a remark
chapter,variant,direction,num_seqs,channels,backend,median_ms
05_pipe,async,forward,3,7,cuda,0.5
05_pipe,tma,reverse,3,7,cuda,
END
my $table = read_table($path);
is_deeply($table->{about}, { command => 'another', date => '2026-01-02T03:04:05Z' }, 'what stands on top');
is(scalar @{ $table->{comments} }, 4, 'and all of its lines');
is_deeply([map { join ' ', @$_{qw(variant channels median_ms)} } @{ $table->{rows} }], ['async 7 0.5', 'tma 7 '], 'the rows');
is_deeply([map { $_->{variant} } rows_with($table, direction => 'reverse', chapter => '05_pipe')], ['tma'], 'those with a value');
is_deeply([rows_with($table, elsewhere => '1')], [], 'a column that is not there has no value');
is_deeply([measured($table)], [qw(chapter variant direction num_seqs channels)], 'what was measured, with the sizes of any operation');
write_table(scratch('again.csv'), $table->{comments}, $table->{columns}, @{ $table->{rows} });
is(read_file(scratch('again.csv')), read_file($path), 'written again, it is the same');
is_deeply([glob scratch('*partial*')], [], 'and nothing is left beside it');

my ($status, $out, $err) = run_program('python3', '-B', '-c', <<'END', $path);
import sys
sys.path.insert(0, 'common/pages')
from tables import read_table
about, rows = read_table(sys.argv[1])
print(about['command'], about['date'], len(about), [' '.join((row['variant'], row['channels'], row['median_ms'])) for row in rows])
END
SKIP: {
    skip 'no python3 here', 1 if $status eq 127;
    is($out, "another 2026-01-02T03:04:05Z 2 ['async 7 0.5', 'tma 7 ']\n", 'Python reads the same') or diag($err);
}

my $short = write_file(scratch('short.csv'), "a,b\n1,2\n3\n");
is(eval { read_table($short); 1 } ? '' : $@, "$short, line 3: a row of 1 fields below 2 columns\n", 'a row that is cut off is refused');
is(eval { read_table(scratch('none.csv')); 1 } ? '' : $@, scratch('none.csv') . ": No such file or directory\n", 'so is a file that is not there');
($status, $out, $err) = run_program('perl', 'common/pages/rows.pl', $path, 'direction=forward', 'variant', 'median_ms');
is($out, "variant  median_ms\nasync    0.5\n", 'rows.pl prints columns by their names');
($status, $out, $err) = run_program('perl', 'common/pages/rows.pl', $path, 'length=3');
ok($status ne 0 && $err =~ /^\Q$path\E has no column length; its columns: chapter variant /, 'and names those that there are');

# ---- where a column stands does not matter: the recordings with their columns turned around make the same texts and pictures ----

my ($root, $turned) = (getcwd(), scratch('turned'));
system("mkdir $turned && cp -a README.md docs common cusim recordings [0-9][0-9]_* $turned") == 0 or die 'cp';
for my $csv (glob "$turned/recordings/*/*.csv") {
    my $recorded = read_table($csv);
    write_table($csv, $recorded->{comments}, [reverse @{ $recorded->{columns} }], @{ $recorded->{rows} });
}
sub there {
    chdir $turned;
    my @result = run_program(@_);
    chdir $root;
    return @result;
}
($status, $out, $err) = there('perl', 'common/pages/report.pl', '--check', '--no-outputs');
ok($status eq 0 && $err eq '', 'make report writes the same') or diag(substr "$out$err", 0, 2000);
($status, $out, $err) = there('perl', '07_bench/plot.pl', '--recorded');
SKIP: {
    skip $out, 1 if $out =~ /skipped/;
    is($status, 0, 'the figures of 07 are drawn') or diag($err);
    my ($version) = grep { $_ ne '' } map { `$_ -c 'import matplotlib; print(matplotlib.__version__)' 2> /dev/null` } 'python3', '/usr/bin/python3';
    skip 'another matplotlib than that of Debian 12, which has drawn them, draws other SVGs', 1 if $version ne "3.6.3\n";
    for my $figure (glob '07_bench/figures/*.svg') {
        my ($here, $again) = map { read_file($_) =~ s{<dc:source>.*?</dc:source>}{}r } $figure, "$turned/$figure";
        ok($here eq $again, "$figure is the same");
    }
}

# an operation that varies several sizes has no curve over the length; nothing is drawn, and nothing complained about
SKIP: for my $chapter (grep { defined newest($_) } map { s{/Makefile$}{}r } glob '[0-9][0-9]_*/Makefile') {
    next if grep { $_ eq 'num_seqs' } @{ read_table(newest($chapter))->{columns} };
    ($status, $out, $err) = there('perl', 'common/plot/plot.pl', $chapter);
    skip $out, 1 if $out =~ /gnuplot is not installed/;
    is("$status$out$err", '0', "$chapter: no plot over the length");
}

# ---- nobody else takes a table apart, and what serves all chapters holds no list of them ----

my @shared = grep { !m{^common/(?:tests|judge)/|/README\.md$} } glob 'Makefile common/*/*.{mk,sh,pl,pm,py,gp}';
my @scripts = (@shared, glob '[0-9][0-9]_*/*.{sh,pl,py} [0-9][0-9]_*/plots/*.gp common/tests/*.t');
cmp_ok(scalar @shared, '>', 20, 'the scripts are found');
for my $script (@scripts) {
    my @code = map { s/(?:^|\s)#.*//r } split /\n/, read_file($script);
    my @by_number = grep { m{awk\s+-F|\bcut\s+-d|\$F\[|\(split /,/[^)]*\)\[|\bcsv\.(?:reader|DictReader)} } @code;
    is_deeply(\@by_number, [], "$script takes no column by its number") if $script !~ m{/tables\.t$};
}
for my $script (@shared) {
    my @code = map { s/(?:^|\s)#.*//r =~ s{recordings}{}gr } split /\n/, read_file($script);
    my @named = grep { m{(?<![\w-])[01][0-9]_[a-z]\w+|(?<!\w)[01]\[\d-\d\]} } @code;
    is_deeply(\@named, [], "$script names no chapter");
}

done_testing;
