# SPDX-License-Identifier: MIT
# throughput.gp - GB/s over the sequence length, or over another size, one line per variant.
# Called by plot.pl with data (a block of "length GB/s" for each variant), variants (their names), colours, points and dashes (one for
# each; a point of 0: a baseline), heading, out (the picture) and term (svg, or dumb for the terminal), and across, what stands below the axis, if
# it is not the length.

if (term eq 'dumb') { set terminal dumb 100 30 } else {
    set terminal svg size 860,440 background '#ffffff' font 'sans-serif,13'
    set output out
}

# The baselines are thin. Each line is thinner than the one before, which so can be seen where the two lie on each other.
baseline(i) = word(points, i) eq '0'
width(i) = baseline(i) ? 1.5 : 4.5 - 3.0 * i / words(variants)
shape(i) = baseline(i) ? 7 : int(word(points, i))
size(i) = baseline(i) ? 0.3 : 0.6

set title heading noenhanced
if (!exists("across")) across = 'sequence length (elements)'
set xlabel across
set ylabel 'throughput (GB/s)'
set logscale x 2
set format x '%.0f'
set yrange [0:*]
set grid ytics lc rgb '#c8ced5'
set border 3
set tics nomirror
set key outside right top noenhanced reverse Left

plot for [i = 1:words(variants)] data index i - 1 using 1:2 \
    with linespoints lw width(i) dt int(word(dashes, i)) pt shape(i) ps size(i) lc rgb word(colours, i) title word(variants, i)
