#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py [--csv FILE] [--shapes 13200x1024,...] [--repeats R] - other systems that compute the recurrence, timed as in common/harness/measure.c.

Needs a GPU and Python with torch; takes what is installed of Triton and accelerated-scan, and says in one sentence what it leaves out.
Nothing else depends on this file. The rows, chapter `peers`:

    copy, add          torch's own kernels on the same arrays; all percentages are of these
    add5               the baseline of the backward pass, three arrays read and two written, in Triton
    cumsum             torch.cumsum of one array: 8 bytes an element and no coefficients, so it is less work than the recurrence
    triton             a kernel of ours in Triton: a program for each sequence, tl.associative_scan on a tile, a carry to the next
    accelerated_scan   the library's CUDA kernel; accelerated_scan_triton: its kernel in Triton; backward through autograd
    associative_scan   torch's own, compiled ("pointwise"); associative_scan_generic: the same in plain torch operations

A few rows of every result are compared with the loop in double precision, with the bound of common/linrec/linrec_oracle.h. Exit status: 0, 1 if a result
was wrong, 2 without a GPU or torch.
"""
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common', 'record'))
from peer_times import DEVICE, Clock, checked_times, device_name, finish, has_gpu, is_memory, read_options, skip, torch, versions  # noqa: E402

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

COLUMNS = ('chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,'
           'max_error')
BYTES = {'copy': 8, 'cumsum': 8, 'forward': 12, 'backward': 20}  # that an element must move
U, FLT_MIN = 2.0 ** -24, 2.0 ** -126
CHECKED_ROWS = 4

if triton is not None:
    @triton.jit
    def join(c_left, y_left, c_right, y_right):
        return c_left * c_right, y_left * c_right + y_right

    @triton.jit
    def scan_tiles(inputs, coeffs, outputs, num_seqs, seq_len, TILE: tl.constexpr):
        first = tl.program_id(0).to(tl.int64) * seq_len
        lane = tl.arange(0, TILE)
        carry = 0.0
        for tile in range(0, seq_len, TILE):
            at = tile + lane
            inside = at < seq_len
            x = tl.load(inputs + first + at, mask=inside, other=0.0)
            c = tl.load(coeffs + first + at, mask=inside, other=1.0)
            product, y = tl.associative_scan((c, x), 0, join)
            y += carry * product
            tl.store(outputs + first + at, y, mask=inside)
            carry = tl.sum(tl.where(lane == TILE - 1, y, 0.0), 0)

    @triton.jit
    def add5(a, b, c, ab, bc, count, BLOCK: tl.constexpr):
        at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = at < count
        x, y, z = tl.load(a + at, mask=inside), tl.load(b + at, mask=inside), tl.load(c + at, mask=inside)
        tl.store(ab + at, x + y, mask=inside)
        tl.store(bc + at, y + z, mask=inside)


TILES = (64, 1), (128, 1), (256, 1), (512, 1), (512, 2), (1024, 2), (1024, 4), (2048, 4), (2048, 8), (4096, 8)  # elements, warps


# ---- the result: the loop in double precision ----

def worst(values, exact, sizes, paths, levels):
    """The largest error over its bound (common/linrec/linrec_oracle.h); infinity for what is no number."""
    largest = FLT_MIN * (1.0 + max(map(abs, exact)))
    found = 0.0
    for value, right, size, path in zip(values, exact, sizes, paths):
        error = abs(value - right) / (2.0 * U * (path + levels * size) + largest)
        found = max(found, error) if error <= math.inf else math.inf
    return found


def check_forward(arrays, rows, levels):
    found = 0.0
    for row in rows:
        x, c, y = (arrays[name][row].tolist() for name in ('inputs', 'coeffs', 'outputs'))
        exact, sizes, paths = [], [], []
        value = size = path = 0.0
        for l, term in enumerate(x):
            coeff = c[l] if l else 0.0
            value, path, size = value * coeff + term, abs(coeff) * (path + size), abs(coeff) * size + abs(term)
            exact.append(value), sizes.append(size), paths.append(path)
        found = max(found, worst(y, exact, sizes, paths, levels))
    return found


def check_backward(arrays, rows, levels):
    found = 0.0
    for row in rows:
        dy, c, y, dx, dc = (arrays[name][row].tolist() for name in ('d_outputs', 'coeffs', 'outputs', 'd_inputs', 'd_coeffs'))
        exact, sizes, paths, products = [], [], [], ([], [], [])
        value = size = path = 0.0
        for l in reversed(range(len(dy))):
            coeff, before = c[l + 1] if l + 1 < len(dy) else 0.0, y[l - 1] if l else 0.0
            value, path, size = value * coeff + dy[l], abs(coeff) * (path + size), abs(coeff) * size + abs(dy[l])
            exact.append(value), sizes.append(size), paths.append(path)
            for kept, factor in zip(products, (before * value, abs(before) * size, abs(before) * path)):
                kept.append(factor)
        found = max(found, worst(dx[::-1], exact, sizes, paths, levels), worst(dc[::-1], *products, levels + 1))
    return found


# ---- the systems: {variant: (launch, bytes of an element, check)}; those that allocate their result hand it over ----

def compiled_scans():
    """torch's own scan, in its two ways: {variant: function of (coeffs, inputs)}."""
    try:
        from torch._higher_order_ops.associative_scan import associative_scan
    except ImportError as error:
        skip('associative_scan', f'this torch has none ({error})')
        return {}

    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    def pointwise(coeffs, inputs):
        return associative_scan(combine, (coeffs, inputs), 1, combine_mode='pointwise')[1]

    def generic(coeffs, inputs):
        return associative_scan(combine, (coeffs, inputs), 1, combine_mode='generic')[1]
    return {'associative_scan': torch.compile(pointwise, dynamic=False), 'associative_scan_generic': generic}


def library_scans():
    """accelerated-scan's kernels: {variant: function of (coeffs, inputs), three-dimensional}."""
    found = {}
    try:
        import accelerated_scan  # noqa: F401
    except ImportError:
        skip('accelerated_scan', 'it is not installed (pip install accelerated-scan)')
        return found
    for variant, modules in (('accelerated_scan', ['warp']), ('accelerated_scan_triton', ['scalar', 'triton'])):
        for module in modules:  # its Triton kernel has had two names
            try:
                found[variant] = __import__(f'accelerated_scan.{module}', fromlist=['scan']).scan
                break
            except ModuleNotFoundError as error:
                why = error
            except Exception as error:  # it compiles CUDA when it is imported
                why = error
        else:
            skip(variant, f'it does not load: {why}')
    return found


def triton_scan():
    """Our kernel with the best of TILES for each shape, as Triton's autotuner finds it: a function like the others."""
    configs = [triton.Config({'TILE': tile}, num_warps=warps) for tile, warps in TILES]
    tuned = triton.autotune(configs=configs, key=['num_seqs', 'seq_len'])(scan_tiles)
    return lambda x, c, y: tuned[(x.shape[0],)](x, c, y, *x.shape)


def forward_systems(arrays, num_seqs, seq_len, own, torch_scans, library):
    x, c, y = arrays['inputs'], arrays['coeffs'], arrays['outputs']
    systems = {'copy': (lambda: y.copy_(x), BYTES['copy'], False), 'add': (lambda: torch.add(x, c, out=y), BYTES['forward'], False),
               'cumsum': (lambda: torch.cumsum(x, 1, out=y), BYTES['cumsum'], False)}
    if own is not None:
        systems['triton'] = (lambda: own(x, c, y), BYTES['forward'], True)

    def returns(function, *operands):
        def call():
            arrays['outputs'] = function(*operands)
        return call
    cubes = c.view(num_seqs, 1, seq_len), x.view(num_seqs, 1, seq_len)
    for variant, function in library.items():
        systems[variant] = (returns(lambda f=function: f(*cubes).view(num_seqs, seq_len)), BYTES['forward'], True)
    for variant, function in torch_scans.items():
        systems[variant] = (returns(function, c, x), BYTES['forward'], True)
    return systems


def backward_systems(arrays, num_seqs, seq_len, library):
    systems = {}
    c, y, dy, dx, dc = (arrays[name] for name in ('coeffs', 'outputs', 'd_outputs', 'd_inputs', 'd_coeffs'))
    systems['copy'] = (lambda: dx.copy_(dy), BYTES['copy'], False)
    if triton is not None:
        blocks = (-(-num_seqs * seq_len // 1024),)
        count = num_seqs * seq_len
        systems['add5'] = (lambda: add5[blocks](dy, c, y, dx, dc, count, BLOCK=1024, num_warps=8), BYTES['backward'], False)
    cube = (num_seqs, 1, seq_len)

    def gradients(function):
        state = {}

        def call():
            if not state:  # forward once; what is timed is the way back
                state['leaves'] = [arrays[name].view(cube).detach().requires_grad_() for name in ('coeffs', 'inputs')]
                state['result'] = function(*state['leaves'])
            found = torch.autograd.grad(state['result'], state['leaves'], dy.view(cube), retain_graph=True)
            arrays['outputs'] = state['result'].detach().view(num_seqs, seq_len)
            arrays['d_coeffs'], arrays['d_inputs'] = (gradient.view(num_seqs, seq_len) for gradient in found)
        return call
    for variant, function in library.items():
        systems[variant] = (gradients(function), BYTES['backward'], True)
    return systems


# ---- one shape ----

def fill(num_seqs, seq_len, backward):
    torch.manual_seed(1)
    shape = (num_seqs, seq_len)
    arrays = {'inputs': torch.rand(shape, device=DEVICE).mul_(2.0).sub_(1.0), 'coeffs': torch.rand(shape, device=DEVICE),
              'outputs': torch.full(shape, math.nan, device=DEVICE)}
    if backward:
        arrays['d_outputs'] = torch.rand(shape, device=DEVICE).mul_(2.0).sub_(1.0)
        arrays['d_inputs'], arrays['d_coeffs'] = (torch.full(shape, math.nan, device=DEVICE) for _ in range(2))
    return arrays


def run_shape(clock, direction, num_seqs, seq_len, scans, options, rows):
    """Appends a row for each system. Returns how many results were wrong."""
    backward = direction == 'backward'
    sum_name, check = ('add5', check_backward) if backward else ('add', check_forward)
    wrong, speed = 0, {}
    try:
        arrays = fill(num_seqs, seq_len, backward)
    except Exception as error:
        if not is_memory(error):
            raise
        skip(f'{direction} of {num_seqs} x {seq_len}', 'it does not fit into the memory')
        return 0
    untouched = dict(arrays)
    checked = sorted(random.Random(1).sample(range(num_seqs), min(CHECKED_ROWS, num_seqs)))
    levels = 32 + math.ceil(math.log2(max(seq_len, 2)))  # more than any of them has
    systems = backward_systems(arrays, num_seqs, seq_len, scans[-1]) if backward else forward_systems(arrays, num_seqs, seq_len, *scans)
    for variant, (call, size, is_checked) in systems.items():
        for name in ('d_inputs', 'd_coeffs') if backward else ('outputs',):
            arrays[name] = untouched[name].fill_(math.nan)
        times, error = checked_times(clock, f'{variant} {direction} of {num_seqs} x {seq_len}', call,
                                     (lambda: check(arrays, checked, levels)) if is_checked else None, num_seqs * seq_len, options.repeats)
        arrays.update(untouched)
        if times is None:
            wrong += error is not None
            continue
        median, p20, p80 = times
        speed[variant] = size * num_seqs * seq_len * 1e-6 / median
        percents = [f'{100.0 * speed[variant] / speed[name]:.2f}' if name in speed else '' for name in ('copy', sum_name)]
        rows.append(f"peers,{variant},{direction},{num_seqs},{seq_len},cuda,{device_name()},"
                    f"{median:.6f},{p20:.6f},{p80:.6f},{speed[variant]:.2f},{','.join(percents)},{'' if error is None else f'{error:.4f}'}")
        print(f"{variant:26} {direction:9} {num_seqs:8} {seq_len:8} {median:10.4f} {speed[variant]:8.1f} {percents[1] or '-':>7} "
              f"{'-' if error is None else f'{error:.3f}':>7}", flush=True)
    return wrong


def main():
    options = read_options('Times other systems that compute the recurrence.', 'sequences x length', '13200x64,132x65536')
    if not has_gpu():
        return 2
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    shapes = options.shapes or [(100 * sms, length) for length in (64, 1024, 16384, 65536)] + [(sms, 65536)]
    if triton is None:
        skip('triton and add5', 'Triton is not installed')
    clock, rows, wrong = Clock(), [], 0
    scans = triton_scan() if triton is not None else None, compiled_scans(), library_scans()
    toolkit = versions('triton', 'accelerated-scan')
    print(f'{torch.cuda.get_device_name(0)}, {toolkit}\n\n{"variant":26} direction num_seqs  seq_len         ms     GB/s   % add   error')
    for direction in ('forward', 'backward'):
        for num_seqs, seq_len in shapes:
            wrong += run_shape(clock, direction, num_seqs, seq_len, scans, options, rows)
    return finish(options, COLUMNS, rows, toolkit, wrong)


if __name__ == '__main__':
    sys.exit(main())
