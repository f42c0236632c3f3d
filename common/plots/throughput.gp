# throughput.gp - GB/s over the sequence length, one line per variant, forward.
# Called by plot.sh with csv (the table), chapter, out (the picture) and term (svg, or dumb for the terminal).

if (term eq 'dumb') { set terminal dumb 100 30 } else {
    set terminal svg size 760,440 background '#ffffff' font 'sans-serif,13'
    set output out
}
set datafile separator ','
set datafile commentschars '#'

# the first five columns: chapter, variant, direction, num_seqs, seq_len; 7 is the device, 11 is GB/s
variants = system("awk -F, '!/^#/ && $3 == \"forward\" && $11 + 0 > 0 && !seen[$2]++ { print $2 }' " . csv)
device = system("awk -F, '!/^#/ && $11 + 0 > 0 { print $7; exit }' " . csv)
sequences = system("awk -F, '!/^#/ && $11 + 0 > 0 { print $4; exit }' " . csv)

# Okabe and Ito's colours, which the colour-blind tell apart
array colours[8] = ['#000000', '#E69F00', '#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#F0E442']
colour(i) = colours[(i - 1) % 8 + 1]

set title chapter . ', forward, ' . sequences . ' sequences, ' . device noenhanced
set xlabel 'sequence length (elements)'
set ylabel 'throughput (GB/s)'
set logscale x 2
set format x '%.0f'
set yrange [0:*]
set grid ytics lc rgb '#dddddd'
set border 3
set tics nomirror
set key left top noenhanced

rows(variant) = "< awk -F, '$3 == \"forward\" && $2 == \"" . variant . "\" && $11 + 0 > 0 { print $5 \",\" $11 }' " . csv
plot for [i = 1:words(variants)] rows(word(variants, i)) using 1:2 \
    with linespoints lw 2 pt 7 ps 0.5 lc rgb colour(i) title word(variants, i)
