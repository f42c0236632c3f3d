# SPDX-License-Identifier: MIT
# In a locale that writes 0.5 as 0,5 the scripts draw and count the same. And the tests' own surroundings: a locale that is not installed,
# a folder for temporary files with a blank in its name.
use strict;
use warnings;
use lib 'common/tests';
use Linrec;
use Test::More;

# ---- a decimal comma ----

# in each of these a number below one counts, also if awk takes it for 0
my @rows = map { "$_,forward,4,1024,cuda,A GPU,0.5,0.4,0.6,0.9,10.00,10.00,0.1" } '03_tile,serial', '03_tile,shared', '07_bench,add';
my $table = join '', map { "$_\n" } '# a table', 'chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,'
    . 'percent_of_add,max_error', @rows;

# the scripts run in a folder of their own, with something in gnuplot's place that tells what reaches it
my $here = scratch('plots');
mkdir $_ for $here, "$here/results", "$here/bin";
my $root = `pwd`;
chomp $root;
symlink "$root/$_", "$here/$_" for 'common', 'cusim', '03_tile';
mkdir "$here/07_bench";
symlink "$root/07_bench/$_", "$here/07_bench/$_" for 'plot.pl', 'figures.py';
write_file("$here/bin/gnuplot", <<'END');
#!/bin/sh
data=$(echo "$2" | sed -n "s/.*data='\([^']*\)'.*/\1/p")
echo "$(grep -c '^1024 0\.9$' "$data") points, LC_ALL=$LC_ALL"
echo '<svg>' > "$(echo "$2" | sed -n "s/.*out='\([^']*\)'.*/\1/p")"
END
chmod 0755, "$here/bin/gnuplot";
sub here { # a command in that folder
    my ($env, @command) = @_;
    return run_program({ PATH => "$here/bin:$ENV{PATH}", PYTHONPATH => "$here/bin", %$env }, 'sh', '-c', 'cd "$0" && exec "$@"', $here, @command);
}
write_file("$here/bin/matplotlib.py", "raise ImportError('not here')\n");

mkdir scratch('locales');
my $made = (run_program('localedef', '-i', 'de_DE', '-f', 'UTF-8', scratch('locales/de_DE.UTF-8')))[0] eq '0';
my %comma = (LOCPATH => scratch('locales'), LC_ALL => 'de_DE.UTF-8', LANGUAGE => '');
my $bites = $made && (here(\%comma, 'awk', 'BEGIN { print ("0.5" + 0 > 0) ? "point" : "comma" }'))[1] eq "comma\n";
note($bites ? 'awk here reads decimal commas' : 'no locale here makes awk read decimal commas; the runs below prove little');
for my $env ({}, $made ? \%comma : ()) {
    my $where = %$env ? 'a decimal comma' : 'a decimal point';
    write_file("$here/results/03_tile.csv", $table);
    my ($status, $out, $err) = here($env, 'perl', 'common/plot/plot.pl', '03_tile');
    is("$status|$out", "0|3 points, LC_ALL=C\ndrew results/03_tile.svg\n", "$where: a chapter's own times are drawn") or diag($err);
    write_file("$here/results/07_bench.csv", $table);
    ($status, $out, $err) = here($env, 'perl', '07_bench/plot.pl');
    is((grep { /,0\.5,/ } split /\n/, read_file("$here/results/07_ladder.csv")), 2, "$where: the ladder loses no row") or diag("$out$err");
    like($out, qr{^2 points, LC_ALL=C$}m, "$where: and all of it is drawn") or diag("$out$err");
}

# what other scripts hand to awk, gnuplot, sort or ncu is read the same everywhere, too
for my $script (split /\n/, `git ls-files '*.sh' 2>/dev/null || ls */*.sh common/*/*.sh`) {
    my ($head) = split /^(?=[^#\n]*\b(?:awk|gnuplot|sort)\b(?!:))/m, my $text = read_file($script);
    next if $head eq $text;
    like($head, qr/^export LC_ALL=C\b/m, "$script sets LC_ALL before it asks awk, gnuplot or sort");
}

# ---- what surrounds the tests ----

mkdir scratch('a blank');
my %around = (LC_ALL => 'xx_XX.UTF-8', LANG => 'xx_XX.UTF-8', LANGUAGE => 'xx', TMPDIR => scratch('a blank'), PERL_BADLANG => 1);
like((run_program(\%around, 'perl', '-e', '1'))[2], qr/Setting locale failed/, 'perl complains of a locale that is not there');
my ($status, $out) = run_program(\%around, 'perl', '-Icommon/tests', '-MLinrec', '-e',
    'print STDOUT join "|", (run_program("perl", "-e", 1))[0, 2], scratch() =~ /\s/ ? "a blank" : "no blank", -d scratch() ? "there" : ""');
is("$status $out", '0 0||no blank|there', 'but the tests run on, in a folder without a blank');

done_testing;
