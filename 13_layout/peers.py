#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py [--csv FILE] [--shapes 8x2048x2048,...] [--repeats R] - other systems that run the linear recurrence in the layout of models,
timed as in common/harness/measure.c, in float32 and bf16, forward and backward.

Needs a GPU and Python with torch; takes fla (flash-linear-attention) if it is installed, and says in one sentence what it leaves out.
Nothing else depends on this file. The rows, chapter `peers`:

    copy                   torch's own kernel, x to y
    add                    torch's own, x + g to y; all percentages are of its GB/s, backward too
    chunk_hgrn             fla's recurrence in chunks of 128 steps; gates are logarithms, as with --log-coeffs
    fused_recurrent_hgrn   fla's, a program for each sequence and some channels

gb_per_s counts the bytes that must move: three arrays forward, five backward. Some channels are compared with the loop in double
precision: the norm of the error may be 2^-12 of the result's norm, in bf16 2^-7. Exit status: 0, 1 if a result was wrong, 2 without a GPU
or torch.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common', 'record'))
from peer_times import DEVICE, Clock, checked_times, device_name, finish, has_gpu, read_options, skip, skip_error, torch, versions  # noqa: E402

COLUMNS = ('chapter,variant,direction,batch,seq_len,channels,type,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,percent_of_copy,percent_of_add,'
           'max_error')
SHAPES = [(8, 2048, 2048), (32, 1024, 4096), (1, 65536, 2048), (1, 65536, 1024), (1, 8192, 2048), (4, 16384, 256)]
LIMIT = {'float32': 2.0 ** -12, 'bf16': 2.0 ** -7}  # of the norm
CHECKED_CHANNELS = 4


def installed():
    """{name: function}."""
    try:
        from fla.ops.hgrn import chunk_hgrn, fused_recurrent_hgrn
        return {'chunk_hgrn': chunk_hgrn, 'fused_recurrent_hgrn': fused_recurrent_hgrn}
    except Exception as error:  # whatever its import raises
        skip('fla', f'it does not load ({error}); pip install flash-linear-attention')
        return {}


# ---- the right result: the loop in double precision, some channels of the first batch, on the CPU ----

def of_checked(array):
    return array[0, :, :CHECKED_CHANNELS].detach().double().cpu()


def loop(x, c):
    """x, c (steps, channels): y[t] = c[t] y[t-1] + x[t]."""
    state, found = torch.zeros_like(x[0]), []
    for now, factor in zip(x, c):
        state = factor * state + now
        found.append(state)
    return torch.stack(found)


def error_of(pairs, type_name):
    """The largest error of several (found, right) over its limit."""
    worst = max(((of_checked(found) - right).norm() / right.norm()).item() / LIMIT[type_name] for found, right in pairs)
    return worst if worst == worst else float('inf')


def check_forward(arrays, type_name):
    return error_of([(arrays['y'], loop(of_checked(arrays['x']), of_checked(arrays['g']).exp()))], type_name)


def check_backward(arrays, type_name):
    """d[t] = d_y[t] + c[t+1] d[t+1]; the gradient of g[t] is c[t] d[t] y[t-1]."""
    c = of_checked(arrays['g']).exp()
    later = torch.cat([c[1:], torch.zeros_like(c[:1])])
    d = loop(of_checked(arrays['d_y']).flip(0), later.flip(0)).flip(0)
    y = loop(of_checked(arrays['x']), c)
    before = torch.cat([torch.zeros_like(y[:1]), y[:-1]])
    return error_of([(arrays['d_x'], d), (arrays['d_g'], c * d * before)], type_name)


# ---- the systems: {variant: (launch, arrays moved, check or None)} ----

def systems_of(direction, arrays, type_name, systems):
    x, g, y = arrays['x'], arrays['g'], arrays['y']
    found = {'copy': (lambda: y.copy_(x), 2, None), 'add': (lambda: torch.add(x, g, out=y), 3, None)}

    def forward(function):
        def call():
            arrays['y'] = function(x, g)[0]
        return call

    def backward(function):
        with torch.enable_grad():
            inputs = [array.detach().requires_grad_() for array in (x, g)]
            outputs = function(*inputs)[0]

        def call():
            arrays['d_x'], arrays['d_g'] = torch.autograd.grad(outputs, inputs, arrays['d_y'], retain_graph=True)
        return call

    for name, function in systems.items():
        if direction == 'forward':
            found[name] = (forward(function), 3, lambda: check_forward(arrays, type_name))
        else:
            try:
                found[name] = (backward(function), 5, lambda: check_backward(arrays, type_name))
            except Exception as error:  # whatever somebody else's code raises
                skip_error(f'{name} {direction} in {type_name}', error)
    return found


def run_shape(clock, direction, shape, type_name, systems, options, rows):
    """Appends a row for each system. Returns how many results were wrong."""
    dtype = torch.float32 if type_name == 'float32' else torch.bfloat16
    where = f"{direction} of {'x'.join(map(str, shape))} in {type_name}"
    wrong, speeds = 0, {}
    try:
        torch.manual_seed(1)
        arrays = {name: torch.randn(shape, device=DEVICE).to(dtype) for name in ('x', 'd_y')}
        arrays['g'] = (-torch.rand(shape, device=DEVICE)).to(dtype)
        arrays['y'] = torch.empty_like(arrays['x'])
        found = systems_of(direction, arrays, type_name, systems)
    except Exception as error:
        skip_error(where, error)
        return 0
    count = arrays['x'].numel()
    for variant, (call, moved, check) in found.items():
        times, error = checked_times(clock, f'{variant} {where}', call, check, count, options.repeats)
        if times is None:
            wrong += error is not None
            continue
        median, p20, p80 = times
        speeds[variant] = speed = moved * count * arrays['x'].element_size() * 1e-6 / median
        percents = [f'{100.0 * speed / speeds[name]:.2f}' if name in speeds else '' for name in ('copy', 'add')]
        rows.append(f"peers,{variant},{direction},{','.join(map(str, shape))},{type_name},cuda,{device_name()},"
                    f"{median:.6f},{p20:.6f},{p80:.6f},{speed:.2f},{percents[0]},{percents[1]},{'' if error is None else f'{error:.4f}'}")
        print(f"{variant:21} {direction:9} {'x'.join(map(str, shape)):>14} {type_name:8} {median:10.4f} {speed:8.1f} {percents[1] or '-':>7} "
              f"{'-' if error is None else f'{error:.3f}':>7}", flush=True)
    return wrong


def main():
    options = read_options('Times other systems that run the recurrence in the layout of models.', 'batch x time x channels',
                           '8x2048x2048,1x65536x1024', SHAPES)
    if not has_gpu():
        return 2
    clock, rows, wrong, systems = Clock(), [], 0, installed()
    toolkit = versions('triton', 'flash-linear-attention')
    print(f'{device_name()}, {toolkit}\n\n{"variant":21} direction          shape type             ms     GB/s   % add   error')
    with torch.no_grad():
        for direction in ('forward', 'backward'):
            for type_name in ('float32', 'bf16'):
                for shape in options.shapes:
                    wrong += run_shape(clock, direction, shape, type_name, systems, options, rows)
    return finish(options, COLUMNS, rows, toolkit, wrong)


if __name__ == '__main__':
    sys.exit(main())
