# SPDX-License-Identifier: MIT
# model.gp - draws chapter 11's estimate, 11_stream/figures/model.svg, from the repository's root: how near a pass in pieces comes to the bus's
# own copies in, by the size of a piece. further/piece.md explains the formulas; nothing here was measured.
bus = 64e9           # bytes a second and direction: data sheet, PCI Express 5.0 with 16 lanes
memory = 4.8e12      # bytes a second that the GPU moves: data sheet, H200
cost = 10e-6         # seconds that each copy and each kernel of a piece takes beside its bytes: guess

in(p) = 8 * p / bus + cost
kernel(p) = 12 * p / memory + cost
out(p) = 4 * p / bus + cost
pass(n, p) = in(p) + kernel(p) + out(p) + (n / p - 1) * in(p)
percent(n, p) = 100 * (8 * n / bus) / pass(n, p)
best(n) = sqrt(n * cost / (12 / memory + 4 / bus))

set terminal svg size 760,360 font 'sans-serif,13' background '#ffffff'
set output '11_stream/figures/model.svg'
set logscale x 2
set xrange [2**14:2**26]
set format x '2^{%L}'
set yrange [0:100]
set grid ytics lc rgb '#d0d7de'
set xlabel 'elements of a piece'
set ylabel '% of the copies in'
set key bottom center
set title 'Estimate: forward, in pieces, over the bus'
plot percent(2.0**30, x) with lines lw 2 lc rgb '#d55e00' title '2^{30} elements', \
     percent(2.0**28, x) with lines lw 2 dt 2 lc rgb '#0072b2' title '2^{28} elements', \
     percent(2.0**26, x) with lines lw 2 dt 4 lc rgb '#59636e' title '2^{26} elements'
set output
set print '-'
do for [e in "26 28 30"] {
    n = 2.0**e
    print sprintf('2^%s elements: best pieces of 2^%.1f elements, %.0f %% of the copies in; pieces of 2^18: %.0f %%', e, \
        log(best(n)) / log(2), percent(n, best(n)), percent(n, 2.0**18))
}
