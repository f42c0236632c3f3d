# warp.gp - lane over address: what the 32 lanes of a warp load and store at once. A panel for each variant.
# Called by warp.sh with data, chapter, out (the picture) and term (svg, or dumb for the terminal).

# "variant number what sectors last" of each block of the data
blocks = system("sed -n 's/^# //p' " . data . " | tr ' ' ':'")
variants = system("sed -n 's/^# \\([^ ]*\\) .*/\\1/p' " . data . " | awk '!seen[$0]++'")
count = words(variants)
columns = count < 3 ? count : 3
rows = (count + columns - 1) / columns
if (term eq 'dumb') { set terminal dumb 120 (24 * rows) } else {
    set terminal svg size 320 * columns, 250 * rows + 40 background '#ffffff' font 'sans-serif,12'
    set output out
}
set multiplot layout rows, columns title chapter . ': what the lanes of a warp want at once (blue), and the next time (pale)' noenhanced
set yrange [33:-2]
set ytics 0, 8, 31
set border 3
set tics nomirror
set grid xtics lc rgb '#dddddd'
set xlabel 'sectors of 32 bytes from the first one'
set ylabel 'lane'
unset key
part(i, n) = word(system("echo " . word(blocks, i) . " | tr ':' ' '"), n)
do for [v = 1:count] {
    variant = word(variants, v)
    shown = ''
    do for [i = 1:words(blocks)] { if (part(i, 1) eq variant) { shown = sprintf('%d ', i) . shown } } # the first one last, on top
    first = int(word(shown, words(shown)))
    set title sprintf('%s: a %s of %s sector%s', variant, part(first, 3), part(first, 4), part(first, 4) eq '1' ? '' : 's') noenhanced
    set format x (int(part(first, 5)) > 1000 ? '%.0s%c' : '%g')
    set xrange [-0.5:4<*]
    plot for [i in shown] data index int(i) - 1 using 2:1 with points pt 7 ps 0.45 lc rgb (int(i) == first ? '#0072b2' : '#9ecae1')
}
unset multiplot
