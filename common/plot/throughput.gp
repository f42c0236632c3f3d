# SPDX-License-Identifier: MIT
# throughput.gp - GB/s over the sequence length, or over another size, one line per variant.
# Called by plot.pl with data (a block of "length GB/s" for each variant), variants (their names), hues and dashes (a number for each,
# or 0: a baseline), heading, out (the picture) and term (svg, or dumb for the terminal), and across, what stands below the axis, if
# it is not the length.

if (term eq 'dumb') { set terminal dumb 100 30 } else {
    set terminal svg size 860,440 background '#ffffff' font 'sans-serif,13'
    set output out
}

# Okabe and Ito's colours, which the colour-blind tell apart, and two more. The baselines are thin and grey. Each line is thinner than
# the one before, which so can be seen where the two lie on each other.
array colours[8] = ['#0072B2', '#D55E00', '#009E73', '#E69F00', '#CC79A7', '#56B4E9', '#7A3E9D', '#8C564B']
hue(i) = int(word(hues, i))
colour(i) = hue(i) == 0 ? '#888888' : colours[hue(i)]
width(i) = hue(i) == 0 ? 1.5 : 4.5 - 3.0 * i / words(variants)

set title heading noenhanced
if (!exists("across")) across = 'sequence length (elements)'
set xlabel across
set ylabel 'throughput (GB/s)'
set logscale x 2
set format x '%.0f'
set yrange [0:*]
set grid ytics lc rgb '#dddddd'
set border 3
set tics nomirror
set key outside right top noenhanced reverse Left

plot for [i = 1:words(variants)] data index i - 1 using 1:2 \
    with linespoints lw width(i) dt int(word(dashes, i)) pt 7 ps 0.4 lc rgb colour(i) title word(variants, i)
