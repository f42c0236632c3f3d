# reads results/01_smooth.csv
# SPDX-License-Identifier: MIT
# writes results/01_smooth.svg
# Run from the repository root: gnuplot 01_reference/plots/smooth.gp, or gnuplot -e "term='dumb'" ... for the terminal.
if (!exists("term")) term = "svg"
if (term eq "svg") {
    set terminal svg size 720,400 background '#ffffff' font 'sans-serif,13'
    set output 'results/01_smooth.svg'
} else {
    eval "set terminal ".term
}
set datafile separator ','
set datafile columnheaders
set title 'Exponential moving average, c = 0.9'
set xlabel 'position l (elements)'
set ylabel 'value'
set xrange [0:470]
set yrange [-2.6:2.6]
set xtics 0,100,400
set border 3
set tics nomirror
unset key
set label 'noisy' at 405,-1.95 textcolor rgb '#59636e'
set label 'clean' at 405,-0.75 textcolor rgb '#1f2328'
set label 'smoothed' at 405,-0.35 textcolor rgb '#d55e00'
set label 'then reverse' at 405,0.05 textcolor rgb '#0072b2'
plot 'results/01_smooth.csv' using 'l':'noisy' with points pointtype 7 pointsize 0.25 linecolor rgb '#9ecae1', \
     '' using 'l':'clean' with lines linewidth 1.5 dashtype 2 linecolor rgb '#1f2328', \
     '' using 'l':'smoothed' with lines linewidth 2 linecolor rgb '#d55e00', \
     '' using 'l':'both' with lines linewidth 2 linecolor rgb '#0072b2'
