#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""step_peers.py [--csv FILE] [--shapes 16x5120,...] [--repeats R] - one step of a layer, in place: the library from
torch (docs/examples/torch_linrec.py) beside the kernel that Mamba and Mamba-2 ship, timed as in
common/harness/measure.c. So a time is the GPU's, without what the host does before a launch.

Needs a GPU, Python with torch 2.4, and build/cuda/liblinrec.so; without mamba_ssm it says so, and leaves that out. With
16 states it is the step of Mamba, with softplus, bias, D and z. With 128 it is that of Mamba-2: heads of 64 channels,
each with one A, dt, bias and D, and no z. States are float32, and the last shape is also taken with slots: rows in
reverse order, one of them left out. The rows, chapter `library_step_peers`:

    copy                torch's copy of as many bytes as the step must move: the states twice, and all other arrays
                        once, those of Mamba-2 with one A, dt, bias and D a head
    linrec              selective_scan_step; for Mamba-2 with A, dt, bias and D written out for each channel
    linrec_chunk_state  chunk_state_step, for Mamba-2. Its decays, and the products of dt and x, are made before, and
                        are not in the time; it adds no D x
    mamba_ssm           selective_state_update; for Mamba-2 with A, dt, bias and D expanded by strides of 0: so it
                        knows that a head has one decay

Both steps of the library also have torch fill the output with zeros before, for rows that are left out. All results,
and all states behind a step, are compared with a step of plain torch in double precision; max_error is in multiples of
torch_linrec's limit. Exit status: 0, 1 if a result was wrong, 2 if something is missing.
"""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common', 'record'))
from peer_times import (DEVICE, Clock, checked_times, device_name, finish, has_gpu, read_options, skip,  # noqa: E402
                        skip_error, torch, torch_linrec, versions)

COLUMNS = ('chapter,variant,direction,batch,channels,states,groups,num_slots,type,with,backend,device,median_ms,p20_ms,'
           'p80_ms,gb_per_s,percent_of_copy,percent_of_add,max_error')
SHAPES = (1, 5120), (16, 5120), (64, 5120)
TYPES = {'float32': torch.float32, 'bf16': torch.bfloat16}
WIDTH = 64  # of a head of Mamba-2


def installed():
    try:
        from mamba_ssm.ops.triton.selective_state_update import selective_state_update
        return selective_state_update
    except Exception as error:  # whatever its import raises
        skip('mamba_ssm', f'it does not load ({error}); pip install mamba-ssm')
        return None


# ---- the two layers: a step's arrays, those that it must read or write beside the states, and the systems ----

def normal(*sizes):
    return torch.randn(sizes, device=DEVICE)


def uniform(*sizes):
    """From -1 to 0. Two of these through softplus are steps of 0.1 to 0.7; it loses digits of much smaller ones."""
    return torch.rand(sizes, device=DEVICE) - 1.0


def mamba(linrec, update, state, slots, batch, channels, dtype):
    """(systems, arrays of a row, arrays of all rows). A system is its function, that one's description and loop in
    torch_linrec, its arguments by name, and what it is measured with."""
    states = state.shape[-1]
    u, delta, z = (fill(batch, channels).to(dtype) for fill in (normal, uniform, normal))
    B, C = (normal(batch, 1, states).to(dtype) for _ in range(2))
    A = -torch.arange(1.0, states + 1, device=DEVICE).repeat(channels, 1)
    D, bias = normal(channels), uniform(channels)
    given = dict(state=state, u=u, delta=delta, A=A, B=B, C=C, D=D, z=z, delta_bias=bias, delta_softplus=True,
                 slots=slots)
    selective = linrec.SELECTIVE_STEP, linrec.selective_step_loop, given, 'delta_softplus+D+z+delta_bias'
    found = {'linrec': (linrec.selective_scan_step, *selective)}
    if update is not None:
        found['mamba_ssm'] = (lambda **given: update(*given.values()), *selective)  # in the same order
    return found, (u, u, delta, z, B, C), (A, D, bias)  # u twice: out is as large


def mamba2(linrec, update, state, slots, batch, channels, dtype):
    """The same. Channel c is that of head c / WIDTH."""
    states, heads = state.shape[-1], channels // WIDTH
    x, dt = normal(batch, heads, WIDTH).to(dtype), uniform(batch, heads).to(dtype)
    B, C = (normal(batch, 1, states).to(dtype) for _ in range(2))
    A, D, bias = -1.0 - 15.0 * torch.rand(heads, device=DEVICE), normal(heads), uniform(heads)

    # a head's numbers for all its channels: written out, and by strides of 0
    given = dict(state=state, u=x.flatten(1), delta=dt.repeat_interleave(WIDTH, 1),
                 A=A.repeat_interleave(WIDTH)[:, None].repeat(1, states), B=B, C=C, D=D.repeat_interleave(WIDTH),
                 z=None, delta_bias=bias.repeat_interleave(WIDTH), delta_softplus=True, slots=slots)
    all_A = A[:, None, None].expand(-1, WIDTH, states)
    all_dt, all_D, all_bias = (array[..., None].expand(*array.shape, WIDTH) for array in (dt, D, bias))
    selective = linrec.SELECTIVE_STEP, linrec.selective_step_loop, given, 'delta_softplus+D+delta_bias'

    def update_heads(state, **_):
        heads_of_state = state.unflatten(1, (heads, WIDTH))
        return update(heads_of_state, x, all_dt, all_A, B, C, all_D, None, all_bias, True, slots).flatten(1)
    step = linrec.step_of(dt.float(), bias, True)
    chunk = dict(state=state.unflatten(1, (heads, WIDTH)).mT.contiguous(), q=C.repeat(1, heads, 1),
                 k=B.repeat(1, heads, 1), v=(step[..., None] * x).to(dtype), gamma=(step * A).exp()[..., None],
                 slots=slots)
    found = {'linrec': (linrec.selective_scan_step, *selective),
             'linrec_chunk_state': (linrec.chunk_state_step, linrec.CHUNK_STEP, linrec.chunk_step_loop, chunk, '')}
    if update is not None:
        found['mamba_ssm'] = (update_heads, *selective)
    return found, (x, x, dt, B, C), (A, D, bias)


LAYERS = {16: mamba, 128: mamba2}  # by the number of states


# ---- one shape ----

def run_shape(clock, batch, channels, states, with_slots, type_name, linrec, update, options, rows):
    """Appends a row for each system. Returns how many results were wrong."""
    where = f'{batch} x {channels} with {states} states{" and slots" if with_slots else ""} in {type_name}'
    num_slots = batch + with_slots
    slots = [-1 if row == 1 else batch - row for row in range(batch)] if with_slots else list(range(batch))
    wrong, copy_speed = 0, None
    try:
        torch.manual_seed(1)
        state = normal(num_slots, channels, states)
        tensor = torch.tensor(slots, dtype=torch.int32, device=DEVICE) if with_slots else None
        layer, dtype = LAYERS[states], TYPES[type_name]
        found, of_row, of_all = layer(linrec, update, state, tensor, batch, channels, dtype)
        in_use = sum(slot >= 0 for slot in slots)
        row = 2 * state[0].nbytes + sum(array[0].nbytes for array in of_row)
        moved = in_use * row + sum(array.nbytes for array in of_all)
        source, target = (torch.zeros(moved // 8, device=DEVICE) for _ in range(2))
        systems = [('copy', lambda: target.copy_(source), None, '')]
        for variant, (function, operation, loop, given, options_of) in found.items():
            def call(function=function, given=given):
                function(**given)

            def check(system=(function, operation, loop, given)):
                return linrec.worst_of_step(*system, slots) / linrec.LIMITS[dtype]
            systems.append((variant, call, check, '+'.join(filter(None, [options_of, 'slots' if with_slots else '']))))
    except Exception as error:
        skip_error(where, error)
        return 0
    for variant, call, check, options_of in systems:
        times, error = checked_times(clock, f'{variant} {where}', call, check, state.numel(), options.repeats)
        if times is None:
            wrong += error is not None
            continue
        median, p20, p80 = times
        speed = moved * 1e-6 / median
        copy_speed = speed if variant == 'copy' else copy_speed
        percent = f'{100.0 * speed / copy_speed:.2f}' if copy_speed else ''
        rows.append(f'library_step_peers,{variant},step,{batch},{channels},{states},1,{num_slots},{type_name},'
                    f'{options_of},cuda,{device_name()},{median:.6f},{p20:.6f},{p80:.6f},{speed:.2f},{percent},,'
                    f"{'' if error is None else f'{error:.4f}'}")
        print(f"{variant:18} {batch:5} {channels:8} {states:6} {'yes' if with_slots else 'no':5} {type_name:8} "
              f"{median:10.4f} {speed:8.1f} {percent or '-':>7} {'-' if error is None else f'{error:.3f}':>7}",
              flush=True)
    return wrong


def main():
    options = read_options('Times one step of a layer by the library and by Mamba.', 'batch x channels',
                           '1x2048,16x5120', SHAPES)
    if any(channels % WIDTH for _, channels in options.shapes):
        print(f'--shapes: a head of Mamba-2 has {WIDTH} channels; give a multiple of {WIDTH}', file=sys.stderr)
        return 2
    if not has_gpu():
        return 2
    linrec, clock, rows, wrong, update = torch_linrec(), Clock(), [], 0, installed()
    toolkit = versions('triton', 'mamba-ssm')
    print(f'{device_name()}, {toolkit}\n')
    print(f'{"variant":18} batch channels states slots type             ms     GB/s  % copy   error')
    cases = [(*shape, False) for shape in options.shapes] + [(*options.shapes[-1], True)]
    for states, type_name, (batch, channels, with_slots) in itertools.product(LAYERS, TYPES, cases):
        wrong += run_shape(clock, batch, channels, states, with_slots, type_name, linrec, update, options, rows)
    return finish(options, COLUMNS, rows, toolkit, wrong)


if __name__ == '__main__':
    sys.exit(main())
