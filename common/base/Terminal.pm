# SPDX-License-Identifier: MIT
# Terminal.pm - what a text looks like on a terminal: no wider than it, and a verdict in green or red. In a file or a pipe nothing of this, and no
# colour where NO_COLOR is set (https://no-color.org) or the terminal has none. console.c does the same in C.
package Terminal;
use strict;
use warnings;
use Exporter 'import';
use List::Util 'max';
our @EXPORT = qw(terminal_columns narrow_table verdict);

# How many columns a text of at most $most may take on stdout.
sub terminal_columns {
    my ($most) = @_;
    return $most if !-t STDOUT;
    my ($columns) = `stty size < /dev/tty 2> /dev/null` =~ /^\d+ (\d+)$/;
    return defined $columns && $columns >= 40 && $columns < $most ? $columns : $most; # of fewer than 40 no text is readable
}

# The lines of a table that is to be no wider than $columns: its columns are as wide as what they hold, the first $left of them aligned at the left, and
# where that is not enough each line goes on in the next one, indented. A row is a list of cells.
sub narrow_table {
    my ($columns, $left, @rows) = @_;
    my @width = map { my $i = $_; max(map { length $_->[$i] } @rows) } 0 .. $#{ $rows[0] };
    my @lines;
    for my $row (@rows) {
        my ($line, $text) = ('', '');
        for my $i (0 .. $#width) {
            my $cell = sprintf $i < $left ? '%-*s' : '%*s', $width[$i], $row->[$i];
            if ($line ne '' && length("$line $cell") > $columns) {
                $text .= "$line\n";
                $line = '   '; # and the blank before each cell
            }
            $line .= $line eq '' ? $cell : " $cell";
        }
        push @lines, $text . $line =~ s/ +\z//r . "\n";
    }
    return @lines;
}

# A line, green if all is well and red if not.
sub verdict {
    my ($line, $is_good) = @_;
    my $is_plain = !-t STDOUT || ($ENV{NO_COLOR} // '') ne '' || ($ENV{TERM} // 'dumb') eq 'dumb';
    return $is_plain ? $line : sprintf "\e[%dm%s\e[0m", $is_good ? 32 : 31, $line;
}

1;
