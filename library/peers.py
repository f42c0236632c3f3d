#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py [--csv FILE] [--shapes 1x65536,...] [--repeats R] - the library from torch (docs/examples/torch_linrec.py) beside torch's own scan, by the
time that a program sees.

Needs a GPU, Python with torch 2.4, and build/cuda/liblinrec.so. A time is the host's, from the call until the GPU has finished, with all that Python,
torch and the driver do for it. The rows, chapter `library_peers`:

    launch             the least that a call of torch takes: one number is set to zero
    cumsum             torch.cumsum of one array: 8 bytes an element and no coefficients, so it is less work than the recurrence
    linrec             the library's operation
    associative_scan   torch's own, compiled; it has no gradients of its own
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common', 'record'))
from peer_times import (DEVICE, device_name, finish, has_gpu, quantile, read_options, skip, skip_error, torch,  # noqa: E402
                        torch_linrec, versions)

SHAPES = (1, 1024), (1, 65536), (1, 1 << 20), (1, 1 << 24), (64, 16384), (13200, 1024)
COLUMNS = 'chapter,variant,direction,num_seqs,seq_len,backend,device,median_ms,p20_ms,p80_ms'


def times(call, repeats):
    """(median, p20, p80) in ms."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    found = []
    for _ in range(repeats or 51):
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        found.append(1000 * (time.perf_counter() - begin))
    found.sort()
    return [quantile(found, part) for part in (0.5, 0.2, 0.8)]


def torch_scan():
    try:
        from torch._higher_order_ops.associative_scan import associative_scan
    except ImportError as error:
        skip('associative_scan', f'this torch has none ({error})')
        return None

    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]
    return torch.compile(lambda inputs, coeffs: associative_scan(combine, (coeffs, inputs), 1, combine_mode='pointwise')[1], dynamic=False)


def main():
    options = read_options('Times the library from torch, launch overhead included.', 'sequences x length', '1x65536,64x16384', SHAPES)
    if not has_gpu():
        return 2
    scan, own, rows, wrong = torch_linrec().scan, torch_scan(), [], 0
    zero = torch.zeros((), device=DEVICE)
    print(f'{"":18} {"":9} num_seqs  seq_len         ms')
    for num_seqs, seq_len in options.shapes:
        torch.manual_seed(1)
        x, c = 2 * torch.rand(num_seqs, seq_len, device=DEVICE) - 1, torch.rand(num_seqs, seq_len, device=DEVICE)
        leaves = [t.clone().requires_grad_() for t in (x, c)]
        weights = torch.rand_like(x)
        systems = [('launch', 'forward', zero.zero_), ('cumsum', 'forward', lambda: torch.cumsum(x, 1)), ('linrec', 'forward', lambda: scan(x, c)),
                   ('linrec', 'both', lambda: torch.autograd.grad(scan(*leaves), leaves, weights))]
        if own is not None:
            systems.append(('associative_scan', 'forward', lambda: own(x, c)))
        for variant, direction, call in systems:
            try:
                if variant == 'associative_scan' and not torch.allclose(call(), scan(x, c), rtol=1e-4, atol=1e-4):
                    print(f'FAILED {variant} of {num_seqs} x {seq_len} finds something else than linrec', file=sys.stderr)
                    wrong += 1
                    continue
                median, p20, p80 = times(call, options.repeats)
            except Exception as error:  # whatever somebody else's code raises
                skip_error(f'{variant} of {num_seqs} x {seq_len}', error)
                continue
            rows.append(f'library_peers,{variant},{direction},{num_seqs},{seq_len},cuda,{device_name()},{median:.6f},{p20:.6f},{p80:.6f}')
            print(f'{variant:18} {direction:9} {num_seqs:8} {seq_len:8} {median:10.4f}', flush=True)
    return finish(options, COLUMNS, rows, versions('triton'), wrong, ["a time is the host's, launch overhead included"])


if __name__ == '__main__':
    sys.exit(main())
