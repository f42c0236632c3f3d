#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""figures.py [--svg] OUT CSV... - draws chapter 07's figures with matplotlib, as SVG and PNG (--svg: not as PNG), into the folder OUT.

The tables may be 07_bench's or those of the single chapters (the columns are the same), *_counters (for the roofline) and *_tune (for
the heat map). What is not in them is said in one sentence. It writes the same bytes each time:
no date, and identifiers from a fixed seed. SVGs have no background, and change their colours on a dark screen.
"""
import hashlib
import os
import re
import sys

import matplotlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common', 'pages'))
from tables import read_table  # noqa: E402

matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402



def colours():
    """The course's: {name: light}, {light: dark}, {name: matplotlib's marker}, {kernel: name}."""
    shapes = {'circle': 'o', 'square': 's', 'triangle': '^', 'wedge': 'v', 'diamond': 'D', 'star': '*', 'plus': 'P', 'cross': 'X'}
    light, dark, marker, own = {}, {}, {}, {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common', 'plot', 'colours.txt'), encoding='utf-8') as file:
        for words in map(str.split, file):
            if len(words) == 3 and words[1] == '=':
                own[words[0]] = words[2]
            elif len(words) == 4 and words[1].startswith('#'):
                light[words[0]], dark[words[1]], marker[words[1]] = words[1], words[2], shapes[words[3]]
    return light, dark, marker, own


LIGHT, DARK, MARKER, OWN = colours()
INK, SOFT, FAINT, ORANGE = (LIGHT[name] for name in ('ink', 'soft', 'faint', 'orange'))
BAR, BAR_LAST = '#0070b0', '#c84f00'  # blue and orange; white numbers stand on them, so they stay


def colour_of(chapter, variant):
    """A kernel's colour, the same in all plots."""
    return LIGHT[OWN.get(f'{chapter[:2]}_{variant}') or OWN[variant]]


# the rungs of the ladder: chapter, variant, what is new
LADDER = [('02_cuda_ref', 'full_blocks', '02  a thread per sequence'),
          ('03_tile', 'shared', '03  a block per sequence'),
          ('04_warp_scan', 'to_block', '04  scan by shuffles'),
          ('05_pipe', 'blocked', '05  tiles and a carry'),
          ('05_pipe', 'float4', '05  a float4 per lane'),
          ('05_pipe', 'prefetch', '05  prefetch'),
          ('05_pipe', 'async', '05  cp.async'),
          ('05_pipe', 'tma', '05  TMA'),
          ('05_pipe', 'default', '05  the default')]
LINES = {'forward': [('02_cuda_ref', 'full_blocks', '02 full_blocks'), ('03_tile', 'shared', '03 shared'),
                     ('04_warp_scan', 'to_block', '04 to_block'), ('07_bench', 'cub_scan', 'CUB scan'),
                     ('07_bench', 'cub_by_key', 'CUB by key'), ('07_bench', 'cub_block_scan', 'CUB BlockScan'), ('05_pipe', 'default', '05 default')],
         # forward, 06 takes 05's kernels
         'backward': [('02_cuda_ref', 'all_ways', '02 all_ways'), ('06_backward', 'default', '06 default')]}
# FLOP for each element, and the fewest bytes: y = y c + x; dx = dx c + dy, dc = y dx
WORK = {'forward': (2, 12), 'backward': (3, 20)}
# What an SM can do in a cycle, in instructions of a warp (CUDA C++ Programming Guide: 32 results of a shuffle for each cycle and SM, and four
# schedulers that issue one instruction each; the same from sm_75 to sm_90), and the metrics that count how many a kernel takes.
PER_CYCLE = [('shuffles', 'shuffles', 1), ('issue slots', 'instructions', 4)]
# datasheets: TB/s and float32 TFLOP/s, by a part of the device's name
SHEETS = {'H200': (4.8, 67), 'H100 80GB HBM3': (3.35, 67), 'H100 PCIe': (2.0, 51), 'A100-SXM4-80GB': (2.039, 19.5),
          'A100-SXM4-40GB': (1.555, 19.5), 'L40S': (0.864, 91.6), 'L4': (0.3, 30.3), 'Tesla T4': (0.32, 8.1), 'RTX 4090': (1.008, 82.6)}


def number(text):
    return float(text) if text else None


class Table:
    """The rows of all CSVs, and the sentence below each figure."""

    def __init__(self, paths):
        self.rows, self.counters, self.tune, self.paths, self.about = [], {}, [], paths, {}
        for path in paths:
            self.about[path], rows = read_table(path)
            for row in rows:
                if 'metric' in row:
                    key = row.get('chapter'), row['variant'], row['direction'], int(row['num_seqs']), int(row['seq_len'])
                    self.counters.setdefault(key, {})[row['metric']] = float(row['value'])
                elif 'stages' in row:
                    self.tune.append(row)
                elif row.get('gb_per_s') and row.get('backend'):
                    self.rows.append(dict(row, num_seqs=int(row['num_seqs']), seq_len=int(row['seq_len']), source=path))
        self.device = self.rows[0]['device'] if self.rows else ''
        self.most = max((row['num_seqs'] for row in self.rows), default=0)

    def get(self, chapter, variant, direction, column='gb_per_s', num_seqs=None, seq_len=None):
        """{(num_seqs, seq_len): value}; num_seqs None: the most there are, 0: all. A baseline is taken from the first table."""
        found = {}
        for row in self.rows:
            if (row['chapter'], row['variant'], row['direction']) == (chapter, variant, direction) and row[column]:
                if (num_seqs == 0 or row['num_seqs'] == (num_seqs or self.most)) and seq_len in (None, row['seq_len']):
                    found.setdefault((row['num_seqs'], row['seq_len']), number(row[column]))
        return found

    def caption(self, direction, num_seqs=None):
        about = self.about[self.rows[0]['source']]
        sequences = f'{num_seqs or self.most} sequences, ' if num_seqs != 0 else ''
        return f"{direction}, {sequences}{self.device}, {about.get('toolkit', '')}, {about.get('date', '')[:10]}"


def style():
    plt.rcParams.update({
        'svg.hashsalt': 'linear recurrences', 'svg.fonttype': 'none', 'font.family': 'sans-serif', 'font.size': 11, 'text.color': INK,
        'axes.edgecolor': SOFT, 'axes.labelcolor': SOFT, 'axes.titlecolor': INK, 'axes.spines.top': False, 'axes.spines.right': False,
        'xtick.color': SOFT, 'ytick.color': SOFT, 'axes.axisbelow': True, 'grid.color': FAINT, 'grid.linewidth': 0.6,
        'axes.titlesize': 11, 'figure.dpi': 100})


def for_dark_screens(svg):
    """Rules that change the colours of whatever has one of ours."""
    rules = ''.join(f'[style*="fill: {light}"]{{fill:{dark} !important}}[style*="stroke: {light}"]{{stroke:{dark} !important}}'
                    for light, dark in DARK.items())
    return svg.replace('<defs>', f'<style>@media (prefers-color-scheme: dark) {{{rules}}}</style>\n <defs>', 1)


def digest(paths):
    """Of what a figure was drawn from, so that a test can see whether it has drifted."""
    return ' '.join(f"{path}:{hashlib.sha256(open(path, 'rb').read()).hexdigest()[:12]}" for path in paths)


def save(figure, folder, name, table, title):
    if not table.svg_only:
        figure.savefig(os.path.join(folder, name + '.png'), dpi=150, facecolor='white', metadata={'Software': None})
    path = os.path.join(folder, name + '.svg')
    figure.savefig(path, transparent=True, metadata={'Date': None, 'Creator': None, 'Title': title, 'Source': digest(table.paths)})
    with open(path, encoding='utf-8') as file:
        text = for_dark_screens(file.read())
    text = re.sub(r'[ \t]+$', '', text, flags=re.M)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    plt.close(figure)
    table.drawn.append(name)


def label_ends(axes, ends):
    """Writes (x, y, text, colour) to the right of the lines' ends; those above each other are pushed apart."""
    axes.figure.canvas.draw()
    for column in sorted({end[0] for end in ends}):
        labels = sorted((end for end in ends if end[0] == column), key=lambda end: end[1])
        height = [axes.transData.transform(end[:2])[1] for end in labels]
        for _ in range(200):
            for low in range(len(height) - 1):
                missing = 16 - (height[low + 1] - height[low])
                if missing > 0:
                    height[low] -= missing / 2
                    height[low + 1] += missing / 2
        for (x, y, text, colour), at_y in zip(labels, height):
            there = axes.transData.inverted().transform((axes.transData.transform((x, y))[0], at_y))
            axes.annotate(text, there, xytext=(7, 0), textcoords='offset points', va='center', color=colour, annotation_clip=False)


def plain(axis):
    """Numbers in full, no powers of ten."""
    axis.set_major_formatter(lambda value, _: f'{value:g}' if value < 1e6 else f'{value:.0e}')


def lengths_axis(axes, lengths):
    axes.set_xscale('log', base=2)
    ticks = [length for length in sorted(lengths) if length.bit_length() % 2 == 1] # 16, 64, 256 ...
    axes.set_xticks(ticks or sorted(lengths))
    axes.set_xticklabels([str(length) for length in ticks or sorted(lengths)])
    axes.minorticks_off()


def ladder(table, folder):
    """A panel for each shape: many sequences, and one for each SM, since the two need different rungs."""
    numbers = sorted({row['num_seqs'] for row in table.rows if row['variant'] == 'add'})
    shapes = [(table.most, 64), (table.most, 1024), (table.most, 16384)] + [(number, 65536) for number in numbers[-2:-1]]
    shapes = [shape for shape in shapes if table.get('07_bench', 'add', 'forward', 'gb_per_s', *shape)]
    if not shapes:
        return 'ladder: no table has add at length 64, 1024 or 16384'
    rungs = [rung for rung in LADDER if table.get(rung[0], rung[1], 'forward', num_seqs=0)]
    figure, panels = plt.subplots(1, len(shapes), figsize=(2.2 + 2.3 * len(shapes), 0.6 + 0.36 * (len(rungs) + 2)), sharey=True, squeeze=False)
    for axes, shape in zip(panels[0], shapes):
        def at_shape(chapter, variant, column='gb_per_s', shape=shape):
            return next(iter(table.get(chapter, variant, 'forward', column, *shape).values()), None)
        add, copy = at_shape('07_bench', 'add'), at_shape('07_bench', 'copy')
        for i, (chapter, variant, _) in enumerate(rungs):
            percent = at_shape(chapter, variant, 'percent_of_add')
            if percent is None:
                axes.text(1, i, 'too long for it' if chapter < '05' else 'not measured', va='center', color=SOFT, fontsize=9)
                continue
            last = i == len(rungs) - 1
            axes.barh(i, percent, height=0.68, color=BAR_LAST if last else BAR)
            inside = percent > 60
            axes.text(percent - 2 if inside else percent + 1.5, i, f'{percent:.2g} %' if percent < 1 else f'{percent:.0f} %', va='center', ha='right' if inside else 'left', fontsize=10,
                      color='#ffffff' if inside else INK, fontweight='bold')
        axes.axvline(100, color=INK, linewidth=1.4)
        axes.text(101.5, len(rungs) + 0.1, 'add', va='center', color=INK, fontsize=10)
        if copy:
            at = 100 * copy / add
            axes.axvline(at, color=SOFT, linewidth=1.2, linestyle=(0, (3, 2)), zorder=0.5)  # behind the bars
            axes.text(at - 1.5, len(rungs) + 0.1, 'copy', ha='right', va='center', color=SOFT, fontsize=10)
        axes.set_title(f'{shape[0]} x {shape[1]}: {add:.0f} GB/s', fontsize=10.5)
        axes.set_xlim(0, 118)
        axes.set_ylim(len(rungs) + 0.7, -0.6)
        axes.set_xticks([0, 25, 50, 75, 100])
        axes.tick_params(axis='y', length=0)
        axes.spines['left'].set_visible(False)
    panels[0][0].set_yticks(range(len(rungs)))
    panels[0][0].set_yticklabels([rung[2] for rung in rungs], color=INK)
    figure.supxlabel('% of add; above each panel the sequences, their length and the speed of add;  ' + table.caption('forward', 0),
                     fontsize=9, color=SOFT)
    figure.tight_layout()
    save(figure, folder, 'ladder', table, 'Throughput of each step, from a thread per sequence to the speed of add')
    return None


def throughput(table, folder, direction):
    sum_name = 'add' if direction == 'forward' else 'add5'
    lines = [(name, '07_bench', variant, colour, dashes) for name, variant, colour, dashes in
             ((sum_name, sum_name, INK, '-'), ('copy', 'copy', SOFT, (0, (3, 2))))]
    lines += [(name, chapter, variant, colour_of(chapter, variant), '-') for chapter, variant, name in LINES[direction]]
    found = [(name, colour, dashes, {key[1]: value for key, value in table.get(chapter, variant, direction).items()})
             for name, chapter, variant, colour, dashes in lines]
    found = [line for line in found if line[3]]
    if len(found) < 3:
        return f'throughput, {direction}: no table has its kernels'
    figure, axes = plt.subplots(figsize=(8.2, 4.4))
    ends = []
    for name, colour, dashes, points in found:
        x = sorted(points)
        thick = 2.6 if 'default' in name else 1.6
        axes.plot(x, [points[length] for length in x], color=colour, linestyle=dashes, linewidth=thick, marker=MARKER[colour], markersize=5)
        ends.append((x[-1], points[x[-1]], name, colour))
    lengths_axis(axes, {length for line in found for length in line[3]})
    axes.set_ylim(0)
    axes.grid(axis='y')
    axes.set_xlabel('sequence length;  ' + table.caption(direction))
    axes.set_ylabel('GB/s')
    figure.subplots_adjust(left=0.09, right=0.85, top=0.96, bottom=0.13)
    label_ends(axes, ends)
    name = 'throughput' if direction == 'forward' else direction
    save(figure, folder, name, table, f'Throughput over the sequence length, {direction}')
    return None


def own_roofs(table, num_seqs, length):
    """[(what, GFLOP/s)]: how fast chapter 05's default could be if it only had to shuffle, or to issue its instructions.

    All of it is counted by the profiler on that launch: n instructions of a warp (shuffles, or all) for E elements, and C cycles that all SMs
    together have in a second. An SM takes k of them in a cycle (PER_CYCLE), so that the launch takes at least n / (k C) seconds, and the 2 E
    FLOP of a recurrence come at no more than 2 E k C / n a second.
    """
    counters = table.counters.get(('05_pipe', 'default', 'forward', num_seqs, length), {})
    cycles, work = counters.get('sm_cycles_per_second'), WORK['forward'][0] * num_seqs * length
    return [(what, work * per_cycle * cycles / counters[metric] * 1e-9) for what, metric, per_cycle in PER_CYCLE
            if cycles and counters.get(metric)]


def roofline(table, folder):
    length = 16384
    sheet = next((SHEETS[name] for name in SHEETS if name in table.device), None)
    baseline = table.get('07_bench', 'add', 'forward', seq_len=length)
    if not baseline:
        return f'roofline: no table has add at length {length}'
    (num_seqs, _), roof = next(iter(baseline.items()))
    figure, axes = plt.subplots(figsize=(8.2, 4.4))
    peak = sheet[1] * 1e3 if sheet else 128.0 * roof
    ridge = peak / roof
    x = [0.02, ridge, 60] if sheet else [0.02, 10]
    axes.plot(x, [roof * 0.02, peak, peak] if sheet else [roof * 0.02, roof * 10], color=INK, linewidth=1.6)
    axes.text(2.1, roof * 3.3, f'memory, as add reaches it: {roof:.0f} GB/s', ha='right', color=INK)
    if sheet:
        axes.text(55, peak * 1.25, f'float32 arithmetic, datasheet: {sheet[1]:g} TFLOP/s', ha='right', color=INK)
    for what, found in own_roofs(table, num_seqs, length):
        axes.axhline(found, color=ORANGE, linewidth=1.2, linestyle=(0, (5, 3)), xmin=0.27)
        axes.text(55 if sheet else 9, found * 1.1, f'{what} of 05 default: {found:.0f} GFLOP/s', ha='right', color=ORANGE)
    ends = {}
    for direction, lines in LINES.items():
        flops, least = WORK[direction]
        for chapter, variant, name in lines:
            colour = colour_of(chapter, variant)
            speed = table.get(chapter, variant, direction, seq_len=length)
            if not speed or chapter == '03_tile':
                continue
            moved = least
            for key, counters in table.counters.items():
                if (key[0] or '05_pipe') == chapter and key[1:] == (variant, direction, num_seqs, length):
                    moved = counters.get('bytes_per_element', least)
            intensity, rate = flops / moved, next(iter(speed.values())) / least * flops
            axes.plot([intensity], [rate], marker=MARKER[colour], color=colour, markersize=7)
            ends.setdefault(direction, []).append((intensity, rate, name if direction == 'forward' else name[:2] + ' backward', colour))
    axes.set_xscale('log')
    axes.set_yscale('log')
    axes.set_xlim(0.02, 60 if sheet else 10)
    axes.set_ylim(30, 3 * peak if sheet else None)
    axes.minorticks_off()
    plain(axes.xaxis)
    plain(axes.yaxis)
    axes.set_xlabel(f'FLOP for each byte;  {table.caption("length 16384", num_seqs)}')
    axes.set_ylabel('GFLOP/s')
    figure.subplots_adjust(left=0.12, right=0.97, top=0.96, bottom=0.13)
    right = max(end[0] for end in ends.get('forward', [(0,)]))
    # below the slanted line, which would cross the labels of points on it
    label_ends(axes, [(right, min(end[1], 0.6 * roof * right), *end[2:]) for end in ends.get('forward', [])])
    axes.figure.canvas.draw()
    for x, y, text, colour in ends.get('backward', []):
        axes.annotate(text, (x, y), xytext=(-8, 9), textcoords='offset points', va='center', ha='right', color=colour)
    save(figure, folder, 'roofline', table, 'The kernels under the roofs of memory and arithmetic')
    return None


def sequences(table, folder):
    """One panel a length: percent of add over the number of sequences."""
    numbers = sorted({row['num_seqs'] for row in table.rows if row['variant'] == 'add'})
    lengths = [length for length in (1024, 65536) if len({key[0] for key in table.get('07_bench', 'add', 'forward', num_seqs=0,
                                                                                       seq_len=length)}) > 2]
    if not lengths:
        return 'scaling over the number of sequences: no table has more than two numbers of them (make bench measures them)'
    figure, panels = plt.subplots(1, len(lengths), figsize=(9.2, 4.2), sharey=True, squeeze=False)
    for axes, length in zip(panels[0], lengths):
        ends = []
        for chapter, variant, name in [('07_bench', 'add', 'add')] + [line for line in LINES['forward'] if line[1] != 'cub_scan']:
            found = table.get(chapter, variant, 'forward', 'percent_of_add', num_seqs=0, seq_len=length)
            points = {key[0]: value for key, value in found.items()}
            if not points:
                continue
            x, colour = sorted(points), colour_of(chapter, variant)
            axes.plot(x, [points[n] for n in x], color=colour, linewidth=2.6 if 'default' in name else 1.6, marker=MARKER[colour], markersize=5)
            ends.append((x[-1], points[x[-1]], name, colour))
        axes.set_xscale('log')
        axes.set_xticks(numbers)
        axes.set_xticklabels([str(n) for n in numbers])
        axes.minorticks_off()
        axes.set_ylim(0, 106)
        axes.grid(axis='y')
        axes.set_title(f'length {length}', fontsize=10.5)
        axes.set_xlabel('number of sequences')
        axes.label_later = ends
    panels[0][0].set_ylabel('% of add')
    figure.text(0.5, 0.01, table.caption('forward', 0), ha='center', fontsize=9, color=SOFT)
    figure.subplots_adjust(left=0.08, right=0.87, top=0.92, bottom=0.17, wspace=0.42)
    for axes in panels[0]:
        label_ends(axes, axes.label_later)
    save(figure, folder, 'sequences', table, 'Percent of add over the number of sequences')
    return None


def tuning(table, folder):
    """Rows: variants and rows of a warp; columns: lengths; in a cell the best of all blocks and stages, in percent of add, and its threads."""
    tried = [row for row in table.tune if row['percent_of_add'] and row['direction'] == 'forward']
    if not tried:
        return 'tuning heat map: nothing is recorded yet (make tune)'
    most = max(int(row['num_seqs']) for row in tried)
    tried = [row for row in tried if int(row['num_seqs']) == most]
    lengths = sorted({int(row['seq_len']) for row in tried})
    variants = list(dict.fromkeys(row['variant'] for row in tried))
    with_rows = {row['variant'] for row in tried if row['rows'] != '0'}
    cells = {}
    for row in tried:
        own_choice = row['rows'] == row['threads'] == row['stages'] == '0'
        if own_choice and row['variant'] in with_rows:
            kind = variants.index(row['variant']), 0
        else:
            kind = variants.index(row['variant']), int(row['rows'])
        cell = cells.setdefault(kind, {})
        cell[int(row['seq_len'])] = max(cell.get(int(row['seq_len']), (0, 0)), (float(row['percent_of_add']), int(row['threads'])))
    best = {length: max(cell.get(length, (0, 0)) for cell in cells.values()) for length in lengths}
    shown = sorted(cells)
    figure, axes = plt.subplots(figsize=(9.2, 1 + 0.27 * len(shown)))
    grid = [[cells[kind].get(length, (float('nan'),))[0] for length in lengths] for kind in shown]
    edges = [[at - 0.5 for at in range(count + 1)] for count in (len(lengths), len(shown))]
    axes.pcolormesh(*edges, grid, cmap='cividis', vmin=20, vmax=100)
    axes.invert_yaxis()
    for i, kind in enumerate(shown):
        if i and kind[0] != shown[i - 1][0]:
            axes.axhline(i - 0.5, color=SOFT, linewidth=1.6)
        for j, length in enumerate(lengths):
            if length in cells[kind]:
                percent, threads = cells[kind][length]
                look = {'va': 'center', 'color': '#ffffff' if percent < 62 else '#000000'}
                axes.text(j - 0.05 if threads else j, i, f'{percent:.0f}', ha='right' if threads else 'center', fontsize=9.5, **look,
                          fontweight='bold' if best[length] == cells[kind][length] else 'normal')
                if threads:
                    axes.text(j + 0.05, i, f'({threads})', ha='left', fontsize=8, **look)
    axes.set_xticks(range(len(lengths)))
    axes.set_xticklabels([str(length) for length in lengths], fontsize=9)
    axes.set_yticks(range(len(shown)))
    axes.set_yticklabels([variants[variant] + (f', rows {rows}' if rows else ', own choice' if variants[variant] in with_rows else '')
                          for variant, rows in shown], fontsize=9, color=INK)
    axes.tick_params(length=2.5)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_ylabel('variant, rows of a warp', fontsize=9)
    axes.set_xlabel(f'sequence length;  % of add (and threads) of the best block, best of each length in bold;  forward, {most} sequences', fontsize=9)
    figure.tight_layout()
    save(figure, folder, 'tuning', table, 'Percent of add for each variant, rows of a warp and length')
    return None


def main():
    svg_only = sys.argv[1:2] == ['--svg']
    folder, *paths = sys.argv[1 + svg_only:] or ['']
    if not paths:
        sys.exit('usage: figures.py [--svg] OUT CSV...')
    os.makedirs(folder, exist_ok=True)
    style()
    table = Table(paths)
    table.svg_only, table.drawn = svg_only, []
    if not table.rows:
        print(f"figures skipped: there are no times in {', '.join(paths)}")
        return
    for skipped in (ladder(table, folder), throughput(table, folder, 'forward'), throughput(table, folder, 'backward'),
                    roofline(table, folder), sequences(table, folder), tuning(table, folder)):
        if skipped:
            print(f'skipped {skipped}')
    print(f"drew in {folder}: {', '.join(table.drawn)}{'' if svg_only else ', as .svg and .png'}")


main()
