# SPDX-License-Identifier: MIT
# model.gp - draws 11_stream/figures/model.svg, from the repository's root: how near a pass in pieces comes to the bus's own copies in, by the
# size of a piece. As further/piece.md predicted it from data sheets, by the same formula with measured numbers, and as recorded. Prints the times;
# with -e figures=0 it draws nothing.
if (!exists("figures")) figures = 1

# A time of a recording, in seconds.
seconds(name, keys) = 1e-3 * real(system('perl common/pages/rows.pl $(ls recordings/h200/*-' . name . '.csv | tail -n 1) direction=forward ' . keys \
    . ' wall_ms | tail -n 1'))
handed_on(p) = seconds('11_pieces', sprintf('variant=handed_on piece=%d', p))
kernels(p) = seconds('11_pieces', sprintf('variant=kernel_only piece=%d', p))

# what piece.md began with
bus_sheet = 64e9     # bytes a second and direction: data sheet, PCI Express 5.0 with 16 lanes
memory_sheet = 4.8e12 # bytes a second that the GPU moves: data sheet, H200
cost_guess = 10e-6   # seconds that a piece takes on each stream beside its bytes: guess

# what was measured in their place, with one sequence of 2^28 elements
long = 2.0**28
copies_in = seconds('11_pieces', 'variant=in_only')
both_ways = seconds('11_pieces', 'variant=both_ways')
bus = 8 * long / copies_in
memory = 12 * long / kernels(2**26)
cost = (handed_on(2**16) - handed_on(2**18)) / (long / 2**16 - long / 2**18)

in(p, b, c) = 8 * p / b + c
pass(n, p, b, m, c) = in(p, b, c) + 12 * p / m + c + 4 * p / b + c + (n / p - 1) * in(p, b, c)
guessed(n, p) = pass(n, p, bus_sheet, memory_sheet, cost_guess)
measured(n, p) = pass(n, p, bus, memory, cost)
best(n, b, m, c) = sqrt(n * c / (12 / m + 4 / b))

set print '-'
print sprintf('bus %.1f GB/s, memory %.2f TB/s, %.1f microseconds a piece', bus * 1e-9, memory * 1e-12, cost * 1e6)
print ''
print '2^28 elements, milliseconds: handed_on                                kernel_only'
print 'pieces of       guessed   with measured numbers   recorded   microseconds a piece'
do for [e = 16:26:2] {
    p = 2.0**e
    print sprintf('2^%d %17.1f %23.1f %10.1f %22.1f', e, 1e3 * guessed(long, p), 1e3 * measured(long, p), 1e3 * handed_on(p), 1e6 * kernels(p) * p / long)
}
print ''
print 'best pieces, by the formula with measured numbers'
do for [e = 22:30:2] {
    n = 2.0**e
    p = best(n, bus, memory, cost)
    print sprintf('2^%d elements: 2^%.1f; %.0f %% of the copies in; with pieces of 2^18: %.0f %%', e, log(p) / log(2), \
        100 * 8 * n / bus / measured(n, p), 100 * 8 * n / bus / measured(n, 2.0**18))
}
if (!figures) exit

set terminal svg size 760,400 font 'sans-serif,13' background '#ffffff'
set output '11_stream/figures/model.svg'
set logscale x 2
set xrange [2**14:2**27]
set format x '2^{%L}'
set yrange [0:105]
set grid ytics lc rgb '#c8ced5'
set xlabel 'elements of a piece'
set ylabel '% of the copies in'
set key bottom center
set title 'Forward, in pieces, over the bus of an H200'
short = 2.0**22
short_in = seconds('11_stream', 'variant=in_only seq_len=65536')
pieces(name, keys) = '< perl common/pages/rows.pl $(ls recordings/h200/*-' . name . '.csv | tail -n 1) variant=handed_on direction=forward ' . keys . ' piece wall_ms'
plot 100 * 8 * long / bus_sheet / guessed(long, x) with lines lw 2 dt 3 lc rgb '#59636e' title '2^{28} elements, guessed from data sheets', \
     100 * 8 * long / bus / measured(long, x) with lines lw 2 lc rgb '#0072b2' title '2^{28} elements, with measured numbers', \
     pieces('11_pieces', '') using 'piece':(1e5 * copies_in / column('wall_ms')) with points pt 7 ps 0.9 lc rgb '#0072b2' title 'recorded', \
     [2**14:short] 100 * 8 * short / bus / measured(short, x) with lines lw 2 dt 2 lc rgb '#d55e00' title '2^{22} elements, with measured numbers', \
     pieces('11_stream', 'seq_len=65536') using 'piece':(column('piece') > short ? NaN : 1e5 * short_in / column('wall_ms')) with points pt 5 ps 0.8 lc rgb '#d55e00' title 'recorded', \
     100 * copies_in / both_ways with lines lw 1 lc rgb '#1f2328' title "2^{28} elements, the bus's own copies both ways"
set output
system('perl -Icommon/plot -MPlots -e "for_dark_screens(shift)" 11_stream/figures/model.svg')
