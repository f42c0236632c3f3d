# SPDX-License-Identifier: MIT
# model.gp - draws chapter 12's estimate, 12_ranks/figures/model.svg, from the repository's root: the rate of R GPUs over R times the rate of
# one that scans alone. README.md explains the formulas. What one machine with two GPUs can tell is from its recording; what a network costs is a
# guess. Prints the model beside the recording; with -e figures=0 it draws nothing.
if (!exists("figures")) figures = 1

# A time of the recording, in seconds.
recorded(variant, ranks, length) = 1e-3 * real(system(sprintf('perl common/pages/rows.pl $(ls recordings/h200/*-12_ranks.csv | tail -n 1) ' \
    . 'variant=%s ranks=%d seq_len=%d direction=forward num_seqs=1 wall_ms | tail -n 1', variant, ranks, length)))

# measured: alone with two ranks, 2^26 and 2^25 elements in each, and what exscan takes longer than alone on one GPU
half = 2.0**25
memory = 12 * half / (recorded('alone', 2, 2**27) - recorded('alone', 2, 2**26)) # bytes a second that a GPU moves
start = recorded('alone', 2, 2**26) - 12 * half / memory                         # seconds of a scan beside its bytes
launches = recorded('exscan', 1, 2**26) - recorded('alone', 1, 2**26) - 8 * 2.0**26 / memory # seconds for the aggregates beside theirs
latency = 5e-6       # seconds that a message takes, however short: guess
network = 50e9       # bytes a second that a rank sends: guess, a link of 400 Gbit/s
seqs = 1.0           # sequences
end = 3072.0         # elements that forget reads twice, with c = 0.99

message = 8 * seqs
log2(r) = ceil(log(r) / log(2) - 1e-9)
bytes(n, per_element) = seqs * n * per_element / memory
hop = latency + message / network
alone(n) = start + bytes(n, 12.0)
twice(n) = start + bytes(n, 20.0) + launches
chain(n, r) = twice(n) + (r - 1) * hop
exscan(n, r) = twice(n) + log2(r) * hop
allgather(n, r) = twice(n) + log2(r) * latency + (r - 1) * message / network
forget(n, r) = alone(n) + bytes(end < n ? end : n, 8.0) + 2 * launches + log2(r) * (hop + latency)

weak = 2.0**26       # elements of a sequence on each GPU
strong = 2.0**30     # elements of a sequence on all GPUs
percent(t, n) = 100 * alone(n) / t

set print '-'
print sprintf('memory %.2f TB/s; beside the bytes: %.0f microseconds for a scan, %.0f for the aggregates', memory * 1e-12, start * 1e6, launches * 1e6)
print ''
print 'microseconds        GPUs  elements in each  model  recorded'
do for [r = 1:2] {
    do for [e = 25:26] {
        if (r == 1 && e == 25) { continue }
        n = 2.0**e
        print sprintf('alone %18d %17s %6.0f %9.0f', r, sprintf('2^%d', e), 1e6 * alone(n), 1e6 * recorded('alone', r, r * n))
        print sprintf('exscan %17d %17s %6.0f %9.0f', r, sprintf('2^%d', e), 1e6 * exscan(n, r), 1e6 * recorded('exscan', r, r * n))
        if (r * n == 2**26) { # forget was recorded with this length alone
            print sprintf('forget %17d %17s %6.0f %9.0f', r, sprintf('2^%d', e), 1e6 * forget(n, r), 1e6 * recorded('forget', r, r * n))
        }
    }
}
print ''
print '% of alone            GPUs  forget  exscan  allgather  chain'
do for [r = 64:1024:960] {
    print sprintf('2^26 in each GPU %9d %7.0f %7.0f %10.0f %6.0f', r, percent(forget(weak, r), weak), percent(exscan(weak, r), weak), \
        percent(allgather(weak, r), weak), percent(chain(weak, r), weak))
    n = strong / r
    print sprintf('2^30 in all %14d %7.0f %7.0f %10.0f %6.0f', r, percent(forget(n, r), n), percent(exscan(n, r), n), \
        percent(allgather(n, r), n), percent(chain(n, r), n))
}
if (!figures) exit

set terminal svg size 760,620 font 'sans-serif,13' background '#ffffff'
set output '12_ranks/figures/model.svg'
set multiplot layout 2,1
set logscale x 2
set xrange [1:1024]
set yrange [0:100]
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
set grid ytics lc rgb '#c8ced5'
set ylabel '% of alone'
set key outside right
set samples 11
two(variant, length) = 100 * recorded('alone', 2, length) / recorded(variant, 2, length) # of two GPUs
set title 'Estimate, weak scaling: one sequence, 2^{26} elements on each GPU'
plot percent(forget(weak, x), weak) with linespoints lw 2 pt 7 lc rgb '#d55e00' title 'forget', \
     percent(exscan(weak, x), weak) with linespoints lw 2 pt 5 lc rgb '#0072b2' title 'exscan', \
     percent(allgather(weak, x), weak) with linespoints lw 2 dt 2 pt 6 lc rgb '#009e73' title 'allgather', \
     percent(chain(weak, x), weak) with linespoints lw 2 pt 9 lc rgb '#59636e' title 'chain', \
     '+' using (2):(two('exscan', 2**27)) every ::0::0 with points pt 2 ps 1.6 lw 2 lc rgb '#1f2328' title 'recorded'
set xlabel 'GPUs'
set title 'Estimate, strong scaling: one sequence, 2^{30} elements on all GPUs together'
plot percent(forget(strong / x, x), strong / x) with linespoints lw 2 pt 7 lc rgb '#d55e00' title 'forget', \
     percent(exscan(strong / x, x), strong / x) with linespoints lw 2 pt 5 lc rgb '#0072b2' title 'exscan', \
     percent(allgather(strong / x, x), strong / x) with linespoints lw 2 dt 2 pt 6 lc rgb '#009e73' title 'allgather', \
     percent(chain(strong / x, x), strong / x) with linespoints lw 2 pt 9 lc rgb '#59636e' title 'chain'
unset multiplot
set output
system('perl -Icommon/plot -MPlots -e "for_dark_screens(shift)" 12_ranks/figures/model.svg')
