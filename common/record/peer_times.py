# SPDX-License-Identifier: MIT
"""peer_times.py - shared by the chapters' peers.py: torch and the library, or one sentence without them; their options;
what is skipped and why; a time as common/harness/measure.c takes it; and the table that is written at the end. Needs
Python with torch, and a GPU as soon as something is timed."""
import argparse
import datetime
import importlib
import os
import sys
import time

try:
    import torch
except ImportError:
    print('make peers needs Python with torch, and there is none here; nothing else depends on it', file=sys.stderr)
    sys.exit(2)

DEVICE = 'cuda'
skipped = {}  # what was left out: why


def skip(what, why):
    """One sentence, once for each reason."""
    why = ' '.join(str(why).split())[:160] or 'it says no reason'
    if skipped.setdefault(what, why) == why:
        print(f'skipped {what}: {why}', file=sys.stderr, flush=True)


def is_memory(error):
    return isinstance(error, torch.cuda.OutOfMemoryError)


def skip_error(what, error):
    """Whatever somebody else's code raises."""
    skip(what, 'it does not fit into the memory' if is_memory(error) else f'{type(error).__name__}: {error}')


def torch_linrec():
    """docs/examples/torch_linrec.py, with the library of this build, or the one that LINREC_LIBRARY names."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
    os.environ.setdefault('LINREC_LIBRARY', os.path.join(root, 'build', 'cuda', 'liblinrec.so'))
    sys.path.insert(0, os.path.join(root, 'docs', 'examples'))
    try:
        return importlib.import_module('torch_linrec')
    except OSError as error:
        print(f'make peers needs the library, and it does not load ({error}); make lib BACKEND=cuda makes it',
              file=sys.stderr)
        sys.exit(2)


def has_gpu():
    if not torch.cuda.is_available():
        print('make peers needs a GPU that torch can use, and none answers', file=sys.stderr)
    return torch.cuda.is_available()


def read_options(description, sizes, example, default=None):
    """csv, shapes and repeats from the command line. sizes names those of a shape, as in 'batch x length'; default: the shapes without
    --shapes."""
    def read_shapes(text):
        try:
            shapes = [tuple(int(size) for size in shape.split('x')) for shape in text.split(',')]
        except ValueError:
            shapes = []
        if not shapes or any(len(shape) != len(sizes.split(' x ')) or min(shape) < 1 for shape in shapes):
            raise argparse.ArgumentTypeError(f'"{text}" names no shapes; give {sizes}, as in {example}')
        return shapes

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--csv', help='write the table there as CSV')
    parser.add_argument('--shapes', type=read_shapes, default=default, help=f'{sizes}, as in {example}')
    parser.add_argument('--repeats', type=int, default=0, help='timed launches of each (default: as make bench)')
    return parser.parse_args()


# ---- the time, as common/harness/measure.c takes it ----

def quantile(ms, part):
    at = part * (len(ms) - 1)
    low = int(at)
    return ms[low] + (at - low) * (ms[min(low + 1, len(ms) - 1)] - ms[low])


class Clock:
    def __init__(self):
        device = torch.cuda.get_device_properties(0)
        size = 2 * getattr(device, 'L2_cache_size', 64 << 20)
        self.buffer = torch.zeros(size // 4, device=DEVICE)
        self.sum = torch.zeros((), device=DEVICE)

    def measure(self, call, repeats):
        """Two launches warm up; then the queue holds flush, event, launch, event, flush ..., and the host waits once, at the end. Python
        queues more slowly than C, so the GPU is kept busy until all is queued. A further launch before every second flush: see
        measure.c. Returns ms, sorted."""
        for _ in range(2):
            call()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.sum(self.buffer, 0, out=self.sum)
        host = time.perf_counter() - begin  # of one round, without what the GPU does
        torch.cuda.synchronize()
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeats)]
        if hasattr(torch.cuda, '_sleep'):
            torch.cuda._sleep(int(2e9 * min(1.0, 1.5 * repeats * (host + 20e-6))))
        for i, (start, stop) in enumerate(events):
            if i % 2 == 0:
                torch.sum(self.buffer[:4], 0, out=self.sum)
            torch.sum(self.buffer, 0, out=self.sum)  # reads all of it, and leaves one dirty line
            start.record()
            call()
            stop.record()
        torch.cuda.synchronize()
        return sorted(start.elapsed_time(stop) for start, stop in events)

    def times(self, call, count, repeats):
        """(median, p20, p80). As make bench does it: 101 times, large shapes 25; slow ones as often as fits in 0.2 s, 5 at least."""
        if not repeats:
            one = self.measure(call, 1)[0]
            repeats = int(min(101 if count < 1 << 25 else 25, max(5.0, 200.0 / max(one, 1e-3))))
        best = None
        for _ in range(3):  # a timing that was disturbed is taken again; the calmest is kept
            ms = self.measure(call, repeats)
            found = quantile(ms, 0.5), quantile(ms, 0.2), quantile(ms, 0.8)
            if best is None or found[2] * best[1] < best[2] * found[1]:
                best = found
            if best[2] <= 1.5 * best[1]:
                break
        return best


def checked_times(clock, what, call, check, count, repeats):
    """Calls a system once, checks its result (unless check is None) and times it: ((median, p20, p80), error), the error in multiples of its
    bound. Without times, (None, error), where the result is wrong; (None, None) where it does not run. Both are told on stderr."""
    error = None
    try:
        call()
        torch.cuda.synchronize()
        if check is not None:
            error = check()
            if not error <= 1.0:
                print(f'FAILED {what}: the error is {error:.3g} times its bound', file=sys.stderr)
                return None, error
        return clock.times(call, count, repeats), error
    except Exception as reason:  # whatever somebody else's code raises
        skip_error(what, reason)
        return None, None
    finally:
        torch.cuda.empty_cache()


# ---- the table ----

def device_name():
    return torch.cuda.get_device_name(0).replace(',', ' ')


def versions(*packages):
    """Of CUDA, torch and those of the packages that are installed."""
    from importlib import metadata
    found = [f'CUDA {torch.version.cuda}', f'torch {torch.__version__}']
    for package in packages:
        try:
            found.append(f'{package} {metadata.version(package)}')
        except metadata.PackageNotFoundError:
            pass
    return ', '.join(found)


def driver():
    try:
        with open('/sys/module/nvidia/version', encoding='ascii') as file:
            return file.read().strip()
    except OSError:
        return 'unknown'


def write_csv(path, columns, rows, toolkit, notes=()):
    """Beside its place, then renamed: whole or not at all. Notes are what was found besides times, a sentence each."""
    date = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    beside = f'{path}.partial-{os.getpid()}'
    with open(beside, 'w', encoding='utf-8') as file:
        file.write(f"# command: {' '.join(['python3', *sys.argv])}\n# date: {date}\n# toolkit: {toolkit}\n# driver: {driver()}\n")
        for what, why in skipped.items():
            file.write(f'# skipped: {what} ({why})\n')
        file.writelines(f'# note: {note}\n' for note in notes)
        file.write('\n'.join([columns, *rows]) + '\n')
    os.replace(beside, path)


def finish(options, columns, rows, toolkit, wrong, notes=()):
    """The end of a peers.py: the table as CSV, if one is asked for. Returns the exit status."""
    if options.csv:
        write_csv(options.csv, columns, rows, toolkit, notes)
        print(f'\nas CSV: {options.csv}')
    return 1 if wrong else 0
