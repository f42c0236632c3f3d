# reads results/01_speedup.csv
# SPDX-License-Identifier: MIT
# writes results/01_speedup.svg
# Run from the repository root: gnuplot 01_reference/plots/speedup.gp, or gnuplot -e "term='dumb'" ... for the terminal.
if (!exists("term")) term = "svg"
if (term eq "svg") {
    set terminal svg size 720,400 background '#ffffff' font 'sans-serif,13'
    set output 'results/01_speedup.svg'
} else {
    eval "set terminal ".term
}
set datafile separator ','
set datafile columnheaders
stats 'results/01_speedup.csv' using 'threads' name 'threads' nooutput
most = threads_max
set title 'Divide and conquer on one long sequence: speed-up over the loop'
set xlabel 'threads'
set ylabel 'speed-up (loop time / time)'
set xrange [1 - 0.04 * most : 1 + (most - 1) * 1.4]
set yrange [0:most]
set xtics 1,1,most
if (most > 16) set xtics (1, 8, 16, 32, 64, 128, 256)
set border 3
set tics nomirror
unset key
right = 1 + (most - 1) * 1.03
set label 'T: no extra work' at right,most * 0.98 textcolor rgb '#59636e'
set label 'T/2: two passes' at right,most / 2.0 textcolor rgb '#0072b2'
plot 'results/01_speedup.csv' using 'threads':'threads' with lines dashtype 2 linecolor rgb '#59636e', \
     '' using 'threads':'predicted' with lines linewidth 2 linecolor rgb '#0072b2', \
     '' using 'threads':'speedup' with linespoints pointtype 7 linewidth 2 linecolor rgb '#d55e00', \
     '' using (column('threads') == most ? right : NaN):'speedup':('measured') with labels left textcolor rgb '#d55e00'
