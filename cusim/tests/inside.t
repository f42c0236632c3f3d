# SPDX-License-Identifier: MIT
# Nothing leads out of this folder: no link, no include, no `use lib', no path. So it can be taken elsewhere, under any name.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin";
use Testing;
use Cwd 'getcwd';
use File::Find 'find';
use Test::More;

my @files;
find({ no_chdir => 1, wanted => sub { $File::Find::prune = 1, return if $_ eq './build'; push @files, s{^\./}{}r if -f && -T } }, '.');
cmp_ok(scalar @files, '>', 200, 'the files');

# "x/../y" as "y"; what leads out begins with ../ or /.
sub plain { my ($path) = @_; 1 while $path =~ s{(?:^|(?<=/))\./}{} || $path =~ s{(?:^|(?<=/))(?!\.\./)[^/]+/\.\./}{}; return $path }

my (@out, @nowhere);
for my $path (sort @files) {
    my $folder = $path =~ s{[^/]*$}{}r;
    my ($line, $fenced) = (0, 0);
    for (split /\n/, read_file($path)) {
        $line++;
        my @led;
        if ($path =~ /\.md$/) {
            $fenced = !$fenced if /^```/;
            my $text = $fenced ? '' : s/`[^`]*`//gr;
            push @led, grep { !m{^(?:https?:|mailto:|#)} } map { s/#.*//r } $text =~ /\]\(\s*([^)\s]+)\)/g, $text =~ /(?:src|href)="([^"]+)"/g;
            push @nowhere, map { "$path:$line: $_" } grep { plain("$folder$_") !~ m{^\.\./|^/} && !-e plain("$folder$_") } @led;
        }
        push @led, $1 if $path =~ /\.(?:cpp|h|cu|cuh)$|^include\// && /^\s*#\s*include\s+"([^"]+)"/;
        # any other path that climbs; the makefile says what it does in the folder above, and leads links from bin to lib
        push @led, m{(?<![\w/."'\]])((?:\.\./)+[\w./-]*)}g if $path !~ /\.(?:md|cpp|h|cuh|js)$/ && $path !~ m{^tests/.*\.t$} && !($path eq 'Makefile' && /ln -sf/);
        push @led, $1 while $path =~ /\.(?:p[lm]|t)$|cusim|cusim-estimate/ && m{\$FindBin::(?:Real)?Bin/(\.\.[\w./]*)}g;
        push @out, map { "$path:$line: $_" } grep { plain("$folder$_") =~ m{^\.\./|^/} } @led;
        # the course's folders by name, where somebody would look for them or go there
        push @out, map { "$path:$line: $_" } m{(?<![\w/.-])((?:common|recordings|library|results|0[0-9]_[a-z]\w*)/\w[\w./]*)}g if $path !~ m{^tests/inside\.t$};
    }
}
is(join("\n", @out), '', 'nothing leads out');
is(join("\n", @nowhere), '', 'every link leads somewhere');

my $here = getcwd();
is(join(' ', grep { read_file($_) =~ /\Q$here\E/ } grep { $_ ne 'build' } @files), '', 'no file names the place where this folder is now');
done_testing;
