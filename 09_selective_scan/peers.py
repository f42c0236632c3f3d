#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py [--csv FILE] [--shapes 8x2048,...] [--repeats R] - Mamba's own selective scan, timed as in common/harness/measure.c: 2048 channels, 16
states, one group, with softplus, bias, D and z, forward and backward, in float32; 8 x 8192 also in bf16.

Needs a GPU and Python with torch and mamba_ssm, and says in one sentence what it leaves out. Nothing else depends on this file. The rows,
chapter `peers`:

    copy         torch's own kernel, u to out; all percentages are of it
    mamba_ssm    selective_scan_fn, and backward through autograd, which has all gradients

Some channels of every result are compared with the loop in double precision: out, and backward d_u. Beside the times, all gradients of Mamba's
kernel are compared with autograd's through the loop in double precision, for a length that is a multiple of its chunk of 2048 steps, and for
lengths that are not; what comes out is printed, and stands in the CSV as a note. Exit status: 0, 1 if a timed result was wrong, 2 without a GPU
or torch.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common', 'record'))
from peer_times import DEVICE, Clock, checked_times, device_name, finish, has_gpu, read_options, skip, skip_error, torch, versions  # noqa: E402

COLUMNS = ('chapter,variant,direction,batch,channels,states,groups,seq_len,type,with,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,'
           'percent_of_copy,percent_of_add,max_error')
CHANNELS, STATES = 2048, 16
CHECKED_CHANNELS = 2
LARGE = 'u', 'delta', 'z', 'd_out'  # (batch, channels, seq_len)
INPUTS = 'u', 'delta', 'A', 'B', 'C', 'D', 'z', 'bias'
# An error may be so large a part of what was added up: some tens of roundings of float32, much less than any mistake; and two roundings to
# bf16, as a result may be rounded before the gate and behind it.
PART, BF16 = 2.0 ** -18, 2.0 ** -7


def installed():
    try:
        from mamba_ssm.ops.selective_scan_interface import selective_scan_fn
        return selective_scan_fn
    except Exception as error:  # whatever its import raises
        skip('mamba_ssm', f'it does not load ({error}); pip install mamba-ssm causal-conv1d')
        return None


# ---- the right result: the loop in double precision, some channels of the first batch ----

def run(coeffs, inputs):
    """The recurrence along the first dimension; coeffs and inputs (seq_len, channels, states)."""
    state, found = torch.zeros_like(inputs[0]), []
    for coeff, value in zip(coeffs, inputs):
        state = coeff * state + value
        found.append(state)
    return torch.stack(found)


def worst(found, right, size, type_name):
    bound = PART * size + 2.0 ** -126
    if type_name != 'float32':
        bound = bound + BF16 * (right.abs() + bound)
    error = ((found - right).abs() / bound).max().item()
    return error if error == error else float('inf')


def check(arrays, out, d_u, type_name):
    """The largest error over its bound, of out or, if there is one, of d_u."""
    pick = slice(0, CHECKED_CHANNELS)
    u, delta, z, d_out = (arrays[name][0, pick].double().cpu().t() for name in LARGE)  # (seq_len, channels)
    B, C = (arrays[name][0, 0].double().cpu().t()[:, None, :] for name in 'BC')  # (seq_len, 1, states)
    A, D, bias = arrays['A'][pick].double().cpu(), arrays['D'][pick].double().cpu(), arrays['bias'][pick].double().cpu()
    step = torch.nn.functional.softplus(delta + bias)
    coeffs, gate = (step[..., None] * A).exp(), z * torch.sigmoid(z)
    if d_u is None:
        inputs = (step * u)[..., None] * B
        right = ((C * run(coeffs, inputs)).sum(-1) + D * u) * gate
        size = ((C.abs() * run(coeffs, inputs.abs())).sum(-1) + (D * u).abs()) * gate.abs()
        return worst(out[0, pick].detach().double().cpu().t(), right, size, type_name)
    d_y = d_out * gate
    later = torch.cat([coeffs[1:], torch.zeros_like(coeffs[:1])]).flip(0)  # the coefficient of the step behind
    d_states, sizes = (run(later, value.flip(0)).flip(0) for value in (C * d_y[..., None], (C * d_y[..., None]).abs()))
    right = step * (B * d_states).sum(-1) + D * d_y
    size = step * (B.abs() * sizes).sum(-1) + (D * d_y).abs()
    return worst(d_u[0, pick].double().cpu().t(), right, size, type_name)


# ---- one shape ----

def fill(batch, seq_len, dtype, channels=CHANNELS):
    torch.manual_seed(1)
    arrays = {name: torch.randn((batch, channels, seq_len), device=DEVICE).to(dtype) for name in LARGE}
    arrays.update({name: torch.randn((batch, 1, STATES, seq_len), device=DEVICE).to(dtype) for name in 'BC'})
    arrays['A'] = -torch.arange(1, STATES + 1, device=DEVICE, dtype=torch.float32).repeat(channels, 1)
    arrays['D'] = torch.randn(channels, device=DEVICE)
    arrays['bias'] = torch.rand(channels, device=DEVICE) - 4.0  # steps begin small, as in Mamba
    return arrays


def call_of(function, arrays, backward):
    """What is timed, and where it leaves its result: (call, {'out': ..., 'd_u': ...})."""
    result = {'out': None, 'd_u': None}

    def forward(u, delta, A, B, C, D, z, bias):
        return function(u, delta, A, B, C, D, z=z, delta_bias=bias, delta_softplus=True)
    if not backward:
        def call():
            with torch.no_grad():
                result['out'] = forward(*(arrays[name] for name in INPUTS))
        return call, result
    leaves = [arrays[name].detach().requires_grad_() for name in INPUTS]
    out = forward(*leaves)  # once; what is timed is the way back

    def call():
        result['d_u'] = torch.autograd.grad(out, leaves, arrays['d_out'], retain_graph=True)[0]
    return call, result


def run_shape(clock, direction, batch, seq_len, type_name, function, options, rows):
    """Appends a row for each system. Returns how many results were wrong."""
    backward = direction == 'backward'
    where = f'{direction} of {batch} x {seq_len} in {type_name}'
    wrong, copy_speed = 0, None
    try:
        arrays = fill(batch, seq_len, torch.float32 if type_name == 'float32' else torch.bfloat16)
        target = torch.empty_like(arrays['u'])
        large, element = arrays['u'].numel(), arrays['u'].element_size()
        systems = {'copy': (lambda: target.copy_(arrays['u']), None, 2 * large * element)}
        if function is not None:
            shared = 2 * arrays['B'].numel() * element
            # forward u, delta, z and out; backward u, delta, z, d_out and three gradients
            systems['mamba_ssm'] = (*call_of(function, arrays, backward), (7 if backward else 4) * large * element + (2 if backward else 1) * shared)
    except Exception as error:
        skip_error(where, error)
        return 0
    for variant, (call, result, size) in systems.items():
        times, error = checked_times(clock, f'{variant} {where}', call, None if result is None else
                                     lambda: check(arrays, result['out'], result['d_u'], type_name), large, options.repeats)
        if times is None:
            wrong += error is not None
            continue
        median, p20, p80 = times
        speed = size * 1e-6 / median
        copy_speed = speed if variant == 'copy' else copy_speed
        percent = f'{100.0 * speed / copy_speed:.2f}' if copy_speed else ''
        rows.append(f"peers,{variant},{direction},{batch},{CHANNELS},{STATES},1,{seq_len},{type_name},delta_softplus+D+z+delta_bias,cuda,"
                    f"{device_name()},{median:.6f},{p20:.6f},{p80:.6f},{speed:.2f},{percent},,{'' if error is None else f'{error:.4f}'}")
        print(f"{variant:10} {direction:9} {batch:5} {seq_len:8} {type_name:8} {median:10.4f} {speed:8.1f} {percent or '-':>7} "
              f"{'-' if error is None else f'{error:.3f}':>7}", flush=True)
    return wrong


# ---- all gradients, of a few channels ----

def loop(u, delta, A, B, C, D, z, bias):
    """The definition for one group, step by step, so that autograd can go back through it."""
    step = torch.nn.functional.softplus(delta + bias[:, None])  # (batch, channels, seq_len)
    coeffs, inputs = (step[..., None] * A[:, None]).exp(), (step * u)[..., None] * B.transpose(2, 3)
    state, y = torch.zeros_like(inputs[:, :, 0]), []
    for l in range(u.shape[2]):
        state = coeffs[:, :, l] * state + inputs[:, :, l]
        y.append((state * C[:, :, :, l]).sum(-1))
    return (torch.stack(y, -1) + D[:, None] * u) * torch.nn.functional.silu(z)


def compare_gradients(function, seq_len):
    """A sentence: the largest error of all gradients, as a part of the gradient's largest element."""
    arrays = fill(2, seq_len, torch.float32, channels=8)
    leaves = [arrays[name].requires_grad_() for name in INPUTS]
    found = torch.autograd.grad(function(*leaves[:6], z=leaves[6], delta_bias=leaves[7], delta_softplus=True), leaves, arrays['d_out'])
    exact = [leaf.detach().double().cpu().requires_grad_() for leaf in leaves]
    right = torch.autograd.grad(loop(*exact), exact, arrays['d_out'].double().cpu())
    errors = {name: ((one.double().cpu() - other).abs().max() / other.abs().max()).item() for name, one, other in zip(INPUTS, found, right)}
    name = max(errors, key=lambda name: errors[name] if errors[name] == errors[name] else float('inf'))
    return (f'mamba_ssm backward of 2 x {seq_len} with softplus and bias, 8 channels: the largest error is {errors[name]:.2g} of the largest '
            f'element, in d_{name}')


def main():
    options = read_options("Times Mamba's own selective scan.", 'batch x length', '8x2048,1x65536',
                           [(8, 2048), (8, 8192), (1, 1024), (1, 65536)])
    if not has_gpu():
        return 2
    clock, rows, wrong, function = Clock(), [], 0, installed()
    toolkit = versions('mamba-ssm')
    print(f'{device_name()}, {toolkit}\n\n{"variant":10} direction batch  seq_len type             ms     GB/s  % copy   error')
    for direction in ('forward', 'backward'):
        for batch, seq_len in options.shapes:
            for type_name in ('float32', 'bf16') if (batch, seq_len) == (8, 8192) else ('float32',):
                wrong += run_shape(clock, direction, batch, seq_len, type_name, function, options, rows)
    notes = []
    for seq_len in (2048, 1000, 3000) if function is not None else ():
        try:
            notes.append(compare_gradients(function, seq_len))
            print(('' if notes[1:] else '\n') + notes[-1], flush=True)
        except Exception as error:
            skip_error(f'gradients of length {seq_len}', error)
    return finish(options, COLUMNS, rows, toolkit, wrong, notes)


if __name__ == '__main__':
    sys.exit(main())
