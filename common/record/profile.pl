#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# profile.pl [CHAPTER...] - counts with ncu what every kernel moves: DRAM bytes, L2 sectors, sectors for each request. From the repository's root.
#
#   LENGTHS=64,16384   the lengths (default 16384)      NUM_SEQS=132   the number of sequences (default 100 for each SM)
#   CHAPTER=NN_x       only its kernels, and the baselines; into results/NN_counters.csv
#   DIRECTION=backward (or forward) only this pass
#   NCU=/path/to/ncu
#
# Each kernel is profiled alone: the program CHAPTER_launches launches it once in a range for the profiler. Every chapter that compares (its
# kernels.c says .compares_with), or each of those named, gets its table, results/NN_counters.csv; with CHAPTER= the first one that
# runs its kernels.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../pages";
use Ncu;
use Tables;

my $run = $ENV{RUN} // ''; # what starts programs that want a GPU

my $backend = $ENV{BACKEND} // 'sim';
sub refuse { print "make profile needs $_[0]\n"; exit 2 }
refuse("a GPU, nvcc and ncu (this is BACKEND=$backend, and the simulator has no memory to count)") if $backend ne 'cuda';
my $ncu = ncu_path() // refuse('ncu (Nsight Compute), which comes with the CUDA Toolkit; put its folder on PATH');

# ncu's name, our name, the factor, whether a chip may lack it
my @metrics = (
    ['gpu__time_duration.sum', 'ms', 1e-6],
    ['dram__bytes_read.sum', 'dram_read_bytes', 1],
    ['dram__bytes_write.sum', 'dram_write_bytes', 1],
    ['lts__t_sectors.sum', 'l2_sectors', 1],
    ['lts__t_sectors_op_read.sum', 'l2_read_sectors', 1],
    ['lts__t_sectors_op_write.sum', 'l2_write_sectors', 1],
    ['lts__t_sectors_srcunit_ltcfabric.sum', 'l2_fabric_sectors', 1, 'optional'], # between the L2's halves
    ['l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum', 'load_requests', 1],
    ['l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum', 'load_sectors', 1],
    ['l1tex__t_requests_pipe_lsu_mem_global_op_st.sum', 'store_requests', 1],
    ['l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum', 'store_sectors', 1],
    ['l1tex__t_sector_hit_rate.pct', 'l1_hit_percent', 1],
    ['lts__throughput.avg.pct_of_peak_sustained_elapsed', 'l2_busy_percent', 1],
    ['dram__throughput.avg.pct_of_peak_sustained_elapsed', 'dram_busy_percent', 1],
    # for the roofs of shuffles and of issue slots: instructions of a warp (a shuffle counts each of its 32 lanes), cycles of all SMs together
    ['smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum', 'shuffles', 1 / 32, 'optional'],
    ['smsp__inst_executed.sum', 'instructions', 1, 'optional'],
    ['sm__cycles_elapsed.sum.per_second', 'sm_cycles_per_second', 1, 'optional'],
);
my $only = $ENV{CHAPTER} // '';
my @shape = ('--seq-len', $ENV{LENGTHS} || 16384, $ENV{NUM_SEQS} ? ('--num-seqs', $ENV{NUM_SEQS}) : (),
    $ENV{DIRECTION} ? "--$ENV{DIRECTION}" : ());

# Runs a command where the GPU is. Returns all that it says.
sub output_of {
    my $pid = open(my $from, '-|') // die "fork: $!\n";
    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT;
        my @command = (split(' ', $run), @_);
        exec { $command[0] } @command or exit 127;
    }
    my @lines = <$from>;
    close $from;
    return @lines;
}

# not every chip has every counter: a small one has an L2 of one piece
my %known = map { /^\s*(\w+__\w+)/ ? ($1 => 1) : () } output_of($ncu, '--query-metrics');
my @missing = grep { $_->[3] && %known && !$known{ $_->[0] =~ s/\..*//r } } @metrics;
print 'not counted on this chip: ', join(', ', map { "$_->[1] ($_->[0])" } @missing), "\n" if @missing;
@metrics = grep { my $metric = $_; !grep { $_ == $metric } @missing } @metrics;
my @ncu = ($ncu, qw(--profile-from-start off), ncu_options(@metrics));

sub is_baseline { return $_[0]{variant} =~ /^(?:copy|add5?)$/ }

# What one program launches, by its own table: a row for each kernel and shape, or none if CHAPTER's kernels are not among them.
sub launches_of {
    my ($program) = @_;
    my $list = 'results/launches.partial';
    my @said = output_of($program, @shape, '--csv', $list);
    -f $list or die "make profile: $program failed: @said\n";
    my $table = read_table($list);
    unlink $list;
    my %seen; # a launch may be several kernels; reversed, a kernel moves the same
    my @todo = grep { $_->{direction} !~ /reverse/ && !$seen{ join '/', @$_{qw(chapter variant direction num_seqs seq_len)} }++ } @{ $table->{rows} };
    return @todo if $only eq '';
    return grep({ $_->{chapter} eq $only } @todo) ? grep { $_->{chapter} eq $only || (is_baseline($_) && $_->{variant} ne 'copy') } @todo : ();
}

# All metrics of one launch, by our names.
sub profile {
    my ($program, $name, $row) = @_;
    my ($num_seqs, $seq_len) = @$row{qw(num_seqs seq_len)};
    my @lines = output_of(@ncu, $program, '--variant', $name, "--$row->{direction}", '--num-seqs', $num_seqs, '--seq-len', $seq_len);
    my %total = ncu_totals(\@metrics, 'make profile', $name, @lines);
    my $bytes = ($total{dram_read_bytes} // 0) + ($total{dram_write_bytes} // 0);
    $total{bytes_per_element} = $bytes / $num_seqs / $seq_len;
    $total{dram_gb_per_s} = $bytes * 1e-9 / ($total{ms} * 1e-3);
    for my $way (qw(load store)) {
        $total{"sectors_per_$way"} = $total{"${way}_sectors"} / $total{"${way}_requests"} if $total{"${way}_requests"};
    }
    return %total;
}

my ($date) = map { s/\s+$//r } `date -u +%Y-%m-%dT%H:%M:%SZ`;
my ($nvcc) = `\${NVCC:-nvcc} --version 2>/dev/null` =~ /release ([\d.]+)/;
my ($version) = join('', output_of($ncu, '--version')) =~ /Version ([\d.]+)/;
my ($driver) = map { s/\s+$//r } `$run nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null`;
my $settings = join '', map { $ENV{$_} ? "$_=$ENV{$_} " : '' } qw(CHAPTER DIRECTION LENGTHS NUM_SEQS);

# The table of one program: on the screen, and in results/.
sub profile_all {
    my ($program, $whose, @todo) = @_;
    my ($number) = ($only || $whose) =~ /^(\d+)/;
    my $target = "results/${number}_counters.csv";
    my @rows;
    printf "%-27s %-9s %8s %9s %9s %8s %6s %9s %9s %11s %11s\n", 'kernel', 'direction', 'seq_len', 'B/element', 'least', 'GB/s', 'DRAM %',
        'L2 sect.', 'least', 'sect./load', 'sect./store';
    for my $row (@todo) {
        my $name = is_baseline($row) || $row->{chapter} eq $whose ? $row->{variant} : "$row->{chapter}/$row->{variant}"; # as the program calls it
        my %total = profile($program, $name, $row);
        push @rows, map { { %$row, metric => $_, value => sprintf('%.6g', $total{$_}) } } sort keys %total;
        my $least = $row->{direction} =~ /backward/ ? 20 : 12;
        my @cells = map { defined $_->[1] ? sprintf $_->[0], $_->[1] : '-' } ['%.2f', $total{bytes_per_element}], ['%d', $least],
            ['%.0f', $total{dram_gb_per_s}], ['%.0f', $total{dram_busy_percent}],
            ['%.3f', defined $total{l2_sectors} ? $total{l2_sectors} / $row->{num_seqs} / $row->{seq_len} : undef], ['%.3f', $least / 32],
            ['%.1f', $total{sectors_per_load}], ['%.1f', $total{sectors_per_store}];
        printf "%-27s %-9s %8d %9s %9s %8s %6s %9s %9s %11s %11s\n", $name, @$row{qw(direction seq_len)}, @cells;
    }
    write_table($target, ["# command: ${settings}make profile", "# date: $date",
        "# profiler: @ncu $program --variant V --forward|--backward --num-seqs N --seq-len L",
        '# toolkit: CUDA ' . ($nvcc // '?') . ', ncu ' . ($version // '?'), '# driver: ' . ($driver // '?')],
        [qw(chapter variant direction num_seqs seq_len device metric value)], @rows);
    print "\nB/element: DRAM bytes, read and written; what is still in L2 at the end is missing. L2 sect.: sectors of 32 bytes for each element.\n",
        "Bulk copies pass by the load requests: few or none are counted there. As CSV: $target\n";
}

$| = 1;
mkdir 'results';
my $profiled = 0;
for my $whose (@ARGV ? @ARGV : map { m{^([^/]+)} } split /\n/, `grep -l '^ *\\.compares_with' [0-9][0-9]_*/kernels.c`) {
    my $program = "build/cuda/extra/${whose}_launches";
    my @todo = launches_of($program) or next;
    profile_all($program, $whose, @todo);
    $profiled = 1;
    last if $only ne '';
}
die "make profile: no kernel of chapter $only runs here; CHAPTER takes the name of one\n" if !$profiled && $only ne '';
die "make profile: no chapter compares kernels\n" if !$profiled;
