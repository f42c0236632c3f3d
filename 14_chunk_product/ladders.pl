#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# ladders.pl [FOLDER] - draws what each step won, from the newest recordings, from the repository's root: figures/ladder_product.svg, the
# kernels' TFLOP/s at 4096 x 4096 x 4096, and figures/ladder_layer.svg, the layer's time at 8 x 4096 x 32 in bf16 (or into FOLDER).
# A kernel stands in them as soon as it is recorded. `make figures` runs it, and so does `make report`; it needs nothing but Perl.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../common/pages", "$FindBin::Bin/../common/plot";
use Plots;
use Tables;

use constant { LEFT => 190, RIGHT => 590, TOP => 66, ROW => 30, WIDTH => 760 };

my $folder = shift // '14_chunk_product/figures';
die "usage: $0 [FOLDER]\n" if @ARGV;

my $style = <<'END';
  <style>
    text { font-family: sans-serif; font-size: 15px; fill: #1f2328; }
    .name { text-anchor: end; font-family: monospace; font-size: 14px; }
    .middle { text-anchor: middle; }
    .small { font-size: 13px; }
    .soft { fill: #59636e; }
    .behind { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; }
    .background { fill: #ffffff; }
    .float32 { fill: #0072b2; }
    .bf16 { fill: #d55e00; }
    .other { fill: #59636e; }
    .grid { stroke: #59636e; stroke-width: 0.8; stroke-dasharray: 2 4; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .soft { fill: #9da7b3; }
      .behind { stroke: #0d1117; }
      .background { fill: #0d1117; }
      .float32 { fill: #58a6e6; }
      .bf16 { fill: #ff9a57; }
      .other { fill: #9da7b3; }
      .grid { stroke: #9da7b3; }
    }
  </style>
END

# A bar for each of [name, class, value, what stands behind it], on a logarithmic axis from $from to $to with a line at each power of ten.
sub draw {
    my ($name, $title, $heading, $source, $from, $to, @bars) = @_;
    my $x = sub { sprintf '%.1f', LEFT + (RIGHT - LEFT) * log($_[0] / $from) / log($to / $from) };
    my ($bottom, $svg) = (TOP + ROW * @bars, '');
    for (my $ten = $from; $ten <= $to; $ten *= 10) {
        my $at = $x->($ten);
        $svg .= sprintf qq(  <path class="grid" d="M$at %d V%d"/>\n  <text class="small soft middle" x="$at" y="%d">$ten</text>\n), TOP - 6, $bottom, $bottom + 18;
    }
    for my $i (0 .. $#bars) {
        my ($label, $class, $value, $behind) = @{ $bars[$i] };
        my ($y, $end) = (TOP + ROW * $i, $x->($value));
        $svg .= sprintf qq(  <text class="name" x="%d" y="%d">$label</text>\n), LEFT - 10, $y + 15;
        $svg .= sprintf qq(  <rect class="$class" x="%d" y="$y" width="%.1f" height="20"/>\n), LEFT, $end - LEFT;
        $svg .= sprintf qq(  <text class="small behind" x="%.1f" y="%d">$behind</text>\n), $end + 8, $y + 15;
    }
    my ($width, $height) = (WIDTH, $bottom + 52);
    write_file("$folder/$name.svg", <<"END");
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height" role="img">
  <title>$title</title>
$style  <rect class="background" width="$width" height="$height"/>
  <text x="24" y="30">$heading</text>
$svg  <text class="small soft" x="24" y="@{[ $bottom + 42 ]}">$source</text>
</svg>
END
}

# A number, and how many times better it is than the one before; `inverse': the smaller, the better.
sub behind {
    my ($format, $value, $before, $inverse) = @_;
    my $text = sprintf $format, $value;
    return $text if !defined $before;
    my $times = $inverse ? $before / $value : $value / $before;
    return $text . sprintf(', %.1f times', $times) . ($inverse ? ' as fast' : '');
}

sub source { return join ', ', $_[0]{rows}[0]{device}, map({ $_[0]{about}{$_} } 'toolkit'), substr($_[0]{about}{date}, 0, 10) . '; the axis is logarithmic' }

# ---- the product ----

my $products = read_table(newest('14_product', device_of_texts()) // die "no product is recorded\n");
my @bars;
for my $type (qw(float32 bf16)) {
    my $before;
    for my $row (rows_with($products, m => 4096, n => 4096, k => 4096, type => $type)) {
        my $name = $row->{variant};
        next if $name eq 'default' || $type eq 'bf16' && $name =~ /^(?:plain|tiles)$/; # the first two are no faster in 16 bits
        my $is_library = $name eq 'cublas';
        push @bars, ["$name, $type", $is_library ? 'other' : $type, $row->{tflop_per_s}, behind('%.1f', $row->{tflop_per_s}, $is_library ? undef : $before)];
        $before = $row->{tflop_per_s};
    }
}
draw('ladder_product', 'TFLOP/s of each kernel at 4096 x 4096 x 4096, in float32 and in bf16, and of cuBLAS',
    '4096 × 4096 × 4096: TFLOP/s, and how many times the kernel before', source($products), 1, 1000, @bars);

# ---- the layer ----

my $layers = read_table(newest('14_layer', device_of_texts()) // die "no layer is recorded\n");
@bars = ();
my ($before, $copy);
for my $row (rows_with($layers, batch => 8, seq_len => 4096, heads => 32, type => 'bf16', direction => 'forward')) {
    my ($name, $us) = ($row->{variant}, $row->{median_ms} * 1000);
    if ($name eq 'copy') { $copy = ['copy of x', 'other', $us, behind('%.0f', $us)] }
    elsif ($name ne 'default') {
        push @bars, [$name, 'bf16', $us, behind('%.0f', $us, $before, 1)];
        $before = $us;
    }
}
draw('ladder_layer', 'The time of each kernel of the layer at 8 x 4096 x 32 in bf16, and that of a copy from x to out',
    'the layer, 8 × 4096 × 32, bf16: µs, and how many times as fast as the kernel before', source($layers), 10, 10000, @bars, $copy);
