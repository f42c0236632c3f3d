#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py [--csv FILE] [--shapes 8x4096x32x128x64,...] [--repeats R] - other systems that run a layer of Mamba-2, timed as in
common/harness/measure.c, in bf16 with one group, forward and backward.

Needs a GPU and Python with torch; takes what is installed of mamba_ssm and fla, and says in one sentence what it leaves out. Nothing else
depends on this file. The rows, chapter `peers`:

    copy                   torch's own kernel, x to out; all percentages are of its GB/s
    mamba_chunk_scan_N     Mamba-2's mamba_chunk_scan_combined, with D, in chunks of N = 64, 128 and 256 steps, in Triton
    chunk_simple_gla       flash-linear-attention's, without D. It wants B and C once for each head, and x times dt: these are made before,
                           and not timed

gb_per_s counts what the layer must move: forward x, dt, B, C and out; backward x, dt, B, C, the gradient of out, and those of the first
four. Some heads are compared with the loop in double precision, backward the gradient of x (of x times dt for fla): products of 16 bits may
be rounded, so the norm of the error may be 2^-6 of the result's norm. Exit status: 0, 1 if a result was wrong, 2 without a GPU or torch.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common', 'record'))
from peer_times import DEVICE, Clock, checked_times, device_name, finish, has_gpu, read_options, skip, skip_error, torch, versions  # noqa: E402

COLUMNS = ('chapter,variant,direction,batch,seq_len,heads,dk,dv,groups,type,with,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,'
           'percent_of_copy,percent_of_add,max_error')
SHAPES = [(8, 4096, 32, 128, 64), (1, 32768, 32, 128, 64), (8, 2048, 16, 64, 64)]  # batch, length, heads, dk, dv
CHUNKS = 64, 128, 256
LIMIT = 2.0 ** -6  # of the norm
CHECKED_HEADS = 2


def installed():
    """{name: function}."""
    found = {}
    try:
        from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined
        found['mamba'] = mamba_chunk_scan_combined
    except Exception as error:  # whatever its import raises
        skip('mamba_ssm', f'it does not load ({error}); pip install mamba-ssm')
    try:
        from fla.ops.simple_gla import chunk_simple_gla
        found['fla'] = chunk_simple_gla
    except Exception as error:
        skip('fla', f'it does not load ({error}); pip install flash-linear-attention')
    return found


# ---- the right result: the loop in double precision, some heads of the first batch, on the CPU ----

def loop(keys, values, queries, decays):
    """keys, queries (steps, dk), values (steps, heads, dv), decays (steps, heads): H[t] = decays[t] H[t-1] + values[t] keys[t], and
    y[t] = H[t] queries[t]."""
    state = torch.zeros(*values.shape[1:], keys.shape[1], dtype=torch.double)
    found = []
    for key, value, query, decay in zip(keys, values, queries, decays):
        state = decay[:, None, None] * state + value[..., None] * key
        found.append(state @ query)
    return torch.stack(found)


def of_heads(array):
    return array[0, :, :CHECKED_HEADS].detach().double().cpu()


def of_layer(arrays):
    """B, C (steps, dk), and of the checked heads x (steps, heads, dv), dt and the decays (steps, heads)."""
    dt = of_heads(arrays['dt'])
    decays = (dt * arrays['A'][:CHECKED_HEADS].double().cpu()).exp()
    B, C = (arrays[name][0, :, 0].detach().double().cpu() for name in 'BC')
    return B, C, of_heads(arrays['x']), dt, decays


def error_of(found, right):
    """The norm of the error over its limit; a NaN is infinite."""
    error = (of_heads(found) - right).norm().item() / (right.norm().item() * LIMIT)
    return error if error == error else float('inf')


def check_forward(arrays, found, has_D):
    B, C, x, dt, decays = of_layer(arrays)
    right = loop(B, x * dt[..., None], C, decays)
    return error_of(found, right + x * arrays['D'][:CHECKED_HEADS, None].double().cpu() if has_D else right)


def check_backward(arrays, d_found, is_of_x):
    """From the last step to the first it is the same loop, with B and C exchanged: the gradient of dt[t] x[t]. A step's decay comes later."""
    B, C, _, dt, decays = of_layer(arrays)
    d_out = of_heads(arrays['d_out'])
    later = torch.cat([decays[1:], torch.zeros_like(decays[:1])])
    right = loop(C.flip(0), d_out.flip(0), B.flip(0), later.flip(0)).flip(0)
    if is_of_x:
        right = right * dt[..., None] + d_out * arrays['D'][:CHECKED_HEADS, None].double().cpu()
    return error_of(d_found, right)


# ---- the systems: {variant: (launch, check or None, what it takes on top)} ----

def calls_of(arrays, systems):
    """{variant: (function of tensors, the tensors, first of which is x or x times dt, whether it has D)}."""
    found = {}
    if 'mamba' in systems:
        for chunk in CHUNKS:
            def scan(x, dt, B, C, chunk=chunk):
                return systems['mamba'](x, dt, arrays['A'], B, C, chunk_size=chunk, D=arrays['D'])
            found[f'mamba_chunk_scan_{chunk}'] = (scan, [arrays[name] for name in ('x', 'dt', 'B', 'C')], True)
    if 'fla' in systems:
        heads = arrays['x'].shape[2]
        gates = arrays['dt'].float() * arrays['A']
        keys, queries = (arrays[name].expand(-1, -1, heads, -1).contiguous() for name in 'BC')

        def gla(values, gates, keys, queries):
            return systems['fla'](queries, keys, values, g=gates, scale=1.0)[0]
        found['chunk_simple_gla'] = (gla, [arrays['x'] * arrays['dt'][..., None], gates, keys, queries], False)
    return found


def systems_of(direction, arrays, systems):
    x, out = arrays['x'], arrays['out']
    found = {'copy': (lambda: out.copy_(x), None, '')}

    def forward(function, inputs, has_D):
        result = {}

        def call():
            result['out'] = function(*inputs)
        return call, lambda: check_forward(arrays, result['out'], has_D), 'D' if has_D else ''

    def backward(function, inputs, has_D):
        result = {}
        with torch.enable_grad():
            inputs = [array.detach().requires_grad_() for array in inputs]
            outputs = function(*inputs)

        def call():
            result['d'] = torch.autograd.grad(outputs, inputs, arrays['d_out'], retain_graph=True)
        return call, lambda: check_backward(arrays, result['d'][0], has_D), 'D' if has_D else ''

    for name, system in calls_of(arrays, systems).items():
        try:
            found[name] = (forward if direction == 'forward' else backward)(*system)
        except Exception as error:  # whatever somebody else's code raises
            skip_error(f'{name} {direction}', error)
    return found


def run_shape(clock, direction, shape, systems, options, rows):
    """Appends a row for each system. Returns how many results were wrong."""
    batch, steps, heads, dk, dv = shape
    where = f"{direction} of {'x'.join(map(str, shape))}"
    wrong, copy = 0, None
    try:
        torch.manual_seed(1)

        def random(*sizes):
            return torch.randn(*sizes, device=DEVICE).bfloat16()
        arrays = {'x': random(batch, steps, heads, dv), 'd_out': random(batch, steps, heads, dv), 'B': random(batch, steps, 1, dk),
                  'C': random(batch, steps, 1, dk), 'dt': torch.rand(batch, steps, heads, device=DEVICE).mul_(0.1).bfloat16(),
                  'A': -1.0 - torch.rand(heads, device=DEVICE), 'D': torch.ones(heads, device=DEVICE)}
        arrays['out'] = torch.empty_like(arrays['x'])
        found = systems_of(direction, arrays, systems)
    except Exception as error:
        skip_error(where, error)
        return 0
    x, others = arrays['x'].nbytes, sum(arrays[name].nbytes for name in ('dt', 'B', 'C'))
    must_move = 2 * x + others if direction == 'forward' else 3 * x + 2 * others
    for variant, (call, check, options_of) in found.items():
        times, error = checked_times(clock, f'{variant} {where}', call, check, arrays['x'].numel(), options.repeats)
        if times is None:
            wrong += error is not None
            continue
        median, p20, p80 = times
        speed = (2 * x if variant == 'copy' else must_move) * 1e-6 / median
        copy = speed if variant == 'copy' else copy
        percent = f'{100.0 * speed / copy:.2f}' if copy else ''
        rows.append(f"peers,{variant},{direction},{','.join(map(str, shape))},1,bf16,{options_of},cuda,{device_name()},"
                    f"{median:.6f},{p20:.6f},{p80:.6f},{speed:.2f},{percent},,{'' if error is None else f'{error:.4f}'}")
        print(f"{variant:21} {direction:9} {'x'.join(map(str, shape)):>18} {median:10.4f} {speed:8.1f} {percent or '-':>7} "
              f"{'-' if error is None else f'{error:.3f}':>7}", flush=True)
    return wrong


def main():
    options = read_options('Times other systems that run a layer of Mamba-2.', 'batch x length x heads x dk x dv',
                           '8x4096x32x128x64,1x32768x32x128x64', SHAPES)
    if not has_gpu():
        return 2
    clock, rows, wrong, systems = Clock(), [], 0, installed()
    toolkit = versions('triton', 'mamba-ssm', 'flash-linear-attention')
    print(f'{device_name()}, {toolkit}\n\n{"variant":21} direction              shape         ms     GB/s  % copy   error')
    with torch.no_grad():
        for direction in ('forward', 'backward'):
            for shape in options.shapes:
                wrong += run_shape(clock, direction, shape, systems, options, rows)
    return finish(options, COLUMNS, rows, toolkit, wrong)


if __name__ == '__main__':
    sys.exit(main())
