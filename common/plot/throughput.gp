# SPDX-License-Identifier: MIT
# throughput.gp - GB/s over the sequence length, or over another size, one line per variant.
# Called by plot.pl with data (a block of "length GB/s" for each variant), variants (their names), heading, out (the picture) and term
# (svg, or dumb for the terminal), and across, what stands below the axis, if it is not the length.

if (term eq 'dumb') { set terminal dumb 100 30 } else {
    set terminal svg size 860,440 background '#ffffff' font 'sans-serif,13'
    set output out
}

# Okabe and Ito's colours, which the colour-blind tell apart; past eight, the same ones dashed. The baselines are thin and grey.
array colours[8] = ['#0072B2', '#D55E00', '#009E73', '#E69F00', '#CC79A7', '#56B4E9', '#F0E442', '#000000']
is_baseline(name) = (name eq 'copy' || name eq 'add' || name eq 'add5')
baselines = 0
do for [i = 1:words(variants)] { baselines = baselines + is_baseline(word(variants, i)) } # they come first
colour(i) = is_baseline(word(variants, i)) ? '#888888' : colours[(i - baselines - 1) % 8 + 1]
dashes(i) = is_baseline(word(variants, i)) ? (word(variants, i) eq 'copy' ? 3 : 1) : (i - baselines > 8 ? 2 : 1)
width(i) = is_baseline(word(variants, i)) ? 1.5 : (word(variants, i) eq 'default' ? 3 : 2)

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
    with linespoints lw width(i) dt dashes(i) pt 7 ps 0.4 lc rgb colour(i) title word(variants, i)
