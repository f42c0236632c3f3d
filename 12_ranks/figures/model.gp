# SPDX-License-Identifier: MIT
# model.gp - draws chapter 12's estimate, 12_ranks/figures/model.svg, from the repository's root: the rate of R GPUs over R times the rate of
# one that scans alone. README.md explains the formulas; nothing here was measured.
memory = 4.0e12      # bytes a second that a GPU moves: guess, near what an H200 reaches in chapter 07
latency = 5e-6       # seconds that a message takes, however short: guess
network = 50e9       # bytes a second that a rank sends: guess, a link of 400 Gbit/s
launches = 20e-6     # seconds for two more launches and a small copy to the host: guess
seqs = 1.0           # sequences
end = 3072.0         # elements that forget reads twice, with c = 0.99

message = 8 * seqs
log2(r) = ceil(log(r) / log(2) - 1e-9)
scan(n, bytes) = seqs * n * bytes / memory
hop = latency + message / network
alone(n) = scan(n, 12.0)
twice(n) = scan(n, 20.0) + launches
chain(n, r) = twice(n) + (r - 1) * hop
exscan(n, r) = twice(n) + log2(r) * hop
allgather(n, r) = twice(n) + log2(r) * latency + (r - 1) * message / network
forget(n, r) = scan(n, 12.0) + scan(end < n ? end : n, 8.0) + 2 * launches + log2(r) * (hop + latency)

weak = 2.0**26       # elements of a sequence on each GPU
strong = 2.0**30     # elements of a sequence on all GPUs

set terminal svg size 760,620 font 'sans-serif,13' background '#ffffff'
set output '12_ranks/figures/model.svg'
set multiplot layout 2,1
set logscale x 2
set xrange [1:1024]
set yrange [0:100]
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
set grid ytics lc rgb '#d0d7de'
set ylabel '% of alone'
set key outside right
set samples 11
set title 'Estimate, weak scaling: one sequence, 2^{26} elements on each GPU'
percent(t, n) = 100 * alone(n) / t
plot percent(forget(weak, x), weak) with linespoints lw 2 pt 7 lc rgb '#d55e00' title 'forget', \
     percent(exscan(weak, x), weak) with linespoints lw 2 pt 5 lc rgb '#0072b2' title 'exscan', \
     percent(allgather(weak, x), weak) with linespoints lw 2 pt 6 lc rgb '#009e73' title 'allgather', \
     percent(chain(weak, x), weak) with linespoints lw 2 pt 9 lc rgb '#59636e' title 'chain'
set xlabel 'GPUs'
set title 'Estimate, strong scaling: one sequence, 2^{30} elements on all GPUs together'
plot percent(forget(strong / x, x), strong / x) with linespoints lw 2 pt 7 lc rgb '#d55e00' title 'forget', \
     percent(exscan(strong / x, x), strong / x) with linespoints lw 2 pt 5 lc rgb '#0072b2' title 'exscan', \
     percent(allgather(strong / x, x), strong / x) with linespoints lw 2 pt 6 lc rgb '#009e73' title 'allgather', \
     percent(chain(strong / x, x), strong / x) with linespoints lw 2 pt 9 lc rgb '#59636e' title 'chain'
unset multiplot
set output
set print '-'
do for [r in "1 16 1024"] {
    print sprintf('weak, %4s GPUs: forget %.0f %%, exscan %.0f %%, allgather %.0f %%, chain %.0f %% of alone', r, \
        percent(forget(weak, r + 0), weak), percent(exscan(weak, r + 0), weak), percent(allgather(weak, r + 0), weak), percent(chain(weak, r + 0), weak))
}
do for [r in "1 16 1024"] {
    print sprintf('strong, %4s GPUs: forget %.0f %%, exscan %.0f %%, allgather %.0f %%, chain %.0f %% of alone', r, \
        percent(forget(strong / (r + 0), r + 0), strong / (r + 0)), percent(exscan(strong / (r + 0), r + 0), strong / (r + 0)), \
        percent(allgather(strong / (r + 0), r + 0), strong / (r + 0)), percent(chain(strong / (r + 0), r + 0), strong / (r + 0)))
}
