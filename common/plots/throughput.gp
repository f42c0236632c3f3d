# throughput.gp - GB/s over the sequence length, one line per variant.
# Called by plot.sh (which sets LC_ALL=C, for awk) with csv (the table), direction (forward or backward), chapter, out (the picture) and term
# (svg, or dumb for the terminal).

if (term eq 'dumb') { set terminal dumb 100 30 } else {
    set terminal svg size 860,440 background '#ffffff' font 'sans-serif,13'
    set output out
}
set datafile separator ','
set datafile commentschars '#'

# the first five columns: chapter, variant, direction, num_seqs, seq_len; 7 is the device, 11 is GB/s
variants = system("awk -F, '!/^#/ && $3 == \"" . direction . "\" && $11 + 0 > 0 && !seen[$2]++ { print $2 }' " . csv)
device = system("awk -F, '!/^#/ && $11 + 0 > 0 { print $7; exit }' " . csv)
sequences = system("awk -F, '!/^#/ && $11 + 0 > 0 { print $4; exit }' " . csv)

# Okabe and Ito's colours, which the colour-blind tell apart; past eight, the same ones dashed. The yardsticks are thin and grey.
array colours[8] = ['#0072B2', '#D55E00', '#009E73', '#E69F00', '#CC79A7', '#56B4E9', '#F0E442', '#000000']
is_yardstick(name) = (name eq 'copy' || name eq 'add' || name eq 'add5')
yardsticks = 0
do for [i = 1:words(variants)] { yardsticks = yardsticks + is_yardstick(word(variants, i)) } # they come first
colour(i) = is_yardstick(word(variants, i)) ? '#888888' : colours[(i - yardsticks - 1) % 8 + 1]
dashes(i) = is_yardstick(word(variants, i)) ? (word(variants, i) eq 'copy' ? 3 : 1) : (i - yardsticks > 8 ? 2 : 1)
width(i) = is_yardstick(word(variants, i)) ? 1.5 : (word(variants, i) eq 'default' ? 3 : 2)

set title chapter . ', ' . direction . ', ' . sequences . ' sequences, ' . device noenhanced
set xlabel 'sequence length (elements)'
set ylabel 'throughput (GB/s)'
set logscale x 2
set format x '%.0f'
set yrange [0:*]
set grid ytics lc rgb '#dddddd'
set border 3
set tics nomirror
set key outside right top noenhanced reverse Left

rows(variant) = "< awk -F, '$3 == \"" . direction . "\" && $2 == \"" . variant . "\" && $11 + 0 > 0 { print $5 \",\" $11 }' " . csv
plot for [i = 1:words(variants)] rows(word(variants, i)) using 1:2 \
    with linespoints lw width(i) dt dashes(i) pt 7 ps 0.4 lc rgb colour(i) title word(variants, i)
