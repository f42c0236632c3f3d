# SPDX-License-Identifier: MIT
# warp.gp - lane over address: what the 32 lanes of a warp load and store at once. A panel for each variant.
# Called by warp.pl with data, chapter, variants, out (the picture) and term (svg, or dumb for the terminal), and for each block of the data a
# word in of (the variant), what (load or store), touched (sectors), lanes (how many take part) and last (the last sector).

count = words(variants)
columns = count < 3 ? count : 3
rows = (count + columns - 1) / columns
if (term eq 'dumb') { set terminal dumb 120 (24 * rows) } else {
    set terminal svg size 320 * columns, 250 * rows + 40 background '#ffffff' font 'sans-serif,12'
    set output out
}
set multiplot layout rows, columns title chapter . ': what the lanes of a warp want at once (blue), and the next time (pale)' noenhanced
set yrange [33:-2]
set ytics (0, 8, 16, 24, 31)
set border 3
set tics nomirror
set grid xtics lc rgb '#c8ced5'
set xlabel 'sectors of 32 bytes from the first one'
set ylabel 'lane'
unset key
do for [v = 1:count] {
    variant = word(variants, v)
    shown = ''
    do for [i = 1:words(of)] { if (word(of, i) eq variant) { shown = sprintf('%d ', i) . shown } } # the first one last, on top
    first = int(word(shown, words(shown)))
    sectors = word(touched, first)
    set title sprintf('%s: a %s of %s sector%s', variant, word(what, first), sectors, sectors eq '1' ? '' : 's') noenhanced
    set format x (int(word(last, first)) > 1000 ? '%.0s%c' : '%g')
    set xrange [0:4<*]
    most = 0
    do for [i in shown] { if (int(word(last, int(i))) > most) { most = int(word(last, int(i))) } }
    if (most < 4) { set xtics 1 } else { set xtics autofreq }
    unset label
    if (word(lanes, first) eq '1') { set label 'lanes 1 to 31 want nothing' at graph 0.5, 0.5 center textcolor rgb '#59636e' }
    plot for [i in shown] data index int(i) - 1 using 2:1 with points pt 7 ps 0.5 lc rgb (int(i) == first ? '#0072b2' : '#9ecae1')
}
unset multiplot
