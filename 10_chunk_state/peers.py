#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""peers.py [--csv FILE] [--shapes 4x64x16,...] [--repeats R] - other systems that hand states from chunk to chunk, timed as in
common/harness/measure.c, on states of 64 x 64 with one decay a chunk, exclusive, in float32 and bf16.

Needs a GPU and Python with torch; takes what is installed of mamba_ssm and fla, and says in one sentence what it leaves out. Nothing else
depends on this file. The rows, chapter `peers`:

    copy         torch's own kernel, h_local to h_out; all percentages are of it
    loop         a launch of torch for each chunk, as a host's loop does it
    mamba_ssm    Mamba-2's state passing in Triton, forward and, with the states given, backward
    fla          flash-linear-attention's chunk_fwd_h: it makes h_local itself from keys and values, chunks of 64 positions, and never writes
                 it. So it is another piece of work: no percentage, and gb_per_s counts what it reads and writes

The states of some heads are compared with the loop in double precision. Exit status: 0, 1 if a result was wrong, 2 without a GPU or torch.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common', 'record'))
from peer_times import DEVICE, Clock, checked_times, device_name, finish, has_gpu, read_options, skip, skip_error, torch, versions  # noqa: E402

COLUMNS = ('chapter,variant,direction,batch,chunks,heads,dk,dv,rank,decays,type,with,backend,device,median_ms,p20_ms,p80_ms,gb_per_s,'
           'percent_of_copy,percent_of_add,max_error')
DK = DV = 64
POSITIONS = 64  # of a chunk, for fla
U = {'float32': 2.0 ** -24, 'bf16': 2.0 ** -8}  # half a unit in the last place
CHECKED_HEADS = 2


# ---- what is installed ----

def installed():
    """{name: function or module}."""
    found = {}
    try:
        from mamba_ssm.ops.triton import ssd_state_passing
        found['mamba_ssm'] = ssd_state_passing
    except Exception as error:  # whatever its import raises
        skip('mamba_ssm', f'it does not load ({error}); pip install mamba-ssm')
    try:
        from fla.ops.common.chunk_h import chunk_fwd_h
        found['fla'] = chunk_fwd_h
    except Exception as error:
        skip('fla', f'it does not load ({error}); pip install flash-linear-attention')
    return found


# ---- the right result: the loop in double precision, some heads of the first batch ----

def states_before(local, gamma):
    """local (chunks, heads, elements), gamma (chunks, heads), double. The states before each chunk, what was added up for them, and the
    roundings of the products on the way (common/linrec/linrec_oracle.h)."""
    state = torch.zeros_like(local[0])
    size, path = torch.zeros_like(state), torch.zeros_like(state)
    found = [], [], []
    for x, decay in zip(local, gamma):
        for kept, value in zip(found, (state, size, path)):
            kept.append(value)
        decay = decay[:, None]
        state, path, size = decay * state + x, decay * (path + size), decay * size + x.abs()
    return [torch.stack(kept) for kept in found]


def check_states(arrays, type_name):
    """The largest error over its bound: a product, a sum and an exponential of 3 roundings for each chunk, and the rounding to the type."""
    pick = slice(0, CHECKED_HEADS)
    local = arrays['local'][0, :, pick].flatten(2).double()
    right, size, path = states_before(local, arrays['log_gamma'][0, :, pick].double().exp())
    bound = 2.0 * U['float32'] * (4.0 * path + 4.0 * size) + 2.0 ** -126
    if type_name != 'float32':
        bound = bound + U[type_name] * (right.abs() + bound)
    found = arrays['states'][0, :, pick].flatten(2).double()
    worst = ((found - right).abs() / bound).max().item()
    return worst if worst == worst else float('inf')


def check_gradients(arrays, type_name):
    """d_local is the recurrence from the last chunk to the first, exclusive: the gradient of a state joins with its chunk's decay."""
    pick = slice(0, CHECKED_HEADS)
    d_states = arrays['d_states'][0, :, pick].flatten(2).double().flip(0)
    gamma = arrays['log_gamma'][0, :, pick].double().exp().flip(0)
    right, size, path = states_before(d_states, gamma)  # before, seen from behind: what comes from later chunks
    bound = 2.0 * U['float32'] * (4.0 * path + 4.0 * size) + 2.0 ** -126
    if type_name != 'float32':
        bound = bound + U[type_name] * (right.abs() + bound)
    found = arrays['d_local'][0, :, pick].flatten(2).double().flip(0)
    worst = ((found - right).abs() / bound).max().item()
    return worst if worst == worst else float('inf')


def check_products(arrays):
    """fla's states of keys and values, decays of 1: products of 16 bits, or of tf32 in float32, summed up in float32. Its operands and
    results may be rounded to 16 bits, so the norm of the error may be 2^-7 of the states' norm."""
    pick = slice(0, CHECKED_HEADS)
    k, v = (arrays[name][0, :, pick].double().unflatten(0, (-1, POSITIONS)) for name in ('keys', 'values'))
    local = torch.einsum('cthk,cthv->chkv', k, v)
    right = local.cumsum(0) - local
    error = (arrays['states'][0, :, pick].double() - right).norm() / (right.norm() * 2.0 ** -7)
    return error.item() if error == error else float('inf')


# ---- the systems: {variant: (launch, bytes, check or None, whether a copy is as much work)} ----

def forward_systems(arrays, shape, type_name, systems):
    batch, chunks, heads = shape
    local, states = arrays['local'], arrays['states']
    element = local.element_size()
    moved = 2 * local.numel() * element + arrays['log_gamma'].numel() * 4
    found = {'copy': (lambda: states.copy_(local), 2 * local.numel() * element, None, True)}
    decays = arrays['log_gamma'].exp().to(local.dtype)[..., None, None]

    def loop():
        states[:, 0].zero_()
        for k in range(chunks - 1):
            torch.addcmul(local[:, k], decays[:, k], states[:, k], out=states[:, k + 1])
    # in bf16 it would round the state, and the decays, in each step
    if type_name == 'float32':
        found['loop'] = (loop, moved, lambda: check_states(arrays, type_name), True)
    if 'mamba_ssm' in systems:
        flat = local.view(batch, chunks, heads, DK * DV)
        logs = arrays['log_gamma'].transpose(1, 2).contiguous()  # (batch, heads, chunks)

        def passing():
            arrays['states'] = systems['mamba_ssm']._state_passing_fwd(flat, logs)[0].view(local.shape)
        found['mamba_ssm'] = (passing, moved, lambda: check_states(arrays, type_name), True)
    if 'fla' in systems:
        zeros = torch.zeros(batch, chunks * POSITIONS, heads, device=DEVICE)

        def chunk_h():
            arrays['states'] = systems['fla'](k=arrays['keys'], v=arrays['values'], g=zeros, chunk_size=POSITIONS)[0]
        rows = arrays['keys'].numel() + arrays['values'].numel()
        found['fla'] = (chunk_h, (rows + local.numel()) * element, lambda: check_products(arrays), False)
    return found


def backward_systems(arrays, shape, type_name, systems):
    batch, chunks, heads = shape
    d_states, d_local = arrays['d_states'], arrays['d_local']
    size = d_states.numel() * d_states.element_size()
    found = {'copy': (lambda: d_local.copy_(d_states), 2 * size, None, True)}
    if 'mamba_ssm' in systems:
        flat = (batch, chunks, heads, DK * DV)
        logs = arrays['log_gamma'].transpose(1, 2).contiguous()
        states = systems['mamba_ssm']._state_passing_fwd(arrays['local'].view(flat), logs)[0]

        def passing():
            arrays['d_local'] = systems['mamba_ssm']._state_passing_bwd(states, logs, d_states.view(flat))[0].view(d_states.shape)
        moved = 3 * size + 2 * arrays['log_gamma'].numel() * 4
        found['mamba_ssm'] = (passing, moved, lambda: check_gradients(arrays, type_name), True)
    return found


# ---- one shape ----

def fill(shape, dtype, with_keys):
    torch.manual_seed(1)
    batch, chunks, heads = shape
    of_all = (batch, chunks, heads, DK, DV)
    arrays = {'local': torch.randn(of_all, device=DEVICE).to(dtype), 'states': torch.empty(of_all, device=DEVICE, dtype=dtype),
              'd_states': torch.randn(of_all, device=DEVICE).to(dtype), 'd_local': torch.empty(of_all, device=DEVICE, dtype=dtype),
              'log_gamma': -torch.rand((batch, chunks, heads), device=DEVICE)}
    if with_keys:
        arrays['keys'], arrays['values'] = (torch.randn((batch, chunks * POSITIONS, heads, size), device=DEVICE).to(dtype) for size in (DK, DV))
    return arrays


def run_shape(clock, direction, shape, type_name, systems, options, rows):
    """Appends a row for each system. Returns how many results were wrong."""
    dtype = torch.float32 if type_name == 'float32' else torch.bfloat16
    where = f"{direction} of {'x'.join(map(str, shape))} in {type_name}"
    wrong, copy_speed = 0, None
    try:
        arrays = fill(shape, dtype, 'fla' in systems and direction == 'forward')
        found = (forward_systems if direction == 'forward' else backward_systems)(arrays, shape, type_name, systems)
    except Exception as error:
        skip_error(where, error)
        return 0
    for variant, (call, size, check, is_same_work) in found.items():
        times, error = checked_times(clock, f'{variant} {where}', call, check, arrays['local'].numel(), options.repeats)
        if times is None:
            wrong += error is not None
            continue
        median, p20, p80 = times
        speed = size * 1e-6 / median
        copy_speed = speed if variant == 'copy' else copy_speed
        percent = f'{100.0 * speed / copy_speed:.2f}' if is_same_work and copy_speed else ''
        batch, chunks, heads = shape
        rows.append(f"peers,{variant},{direction},{batch},{chunks},{heads},{DK},{DV},0,1,{type_name},exclusive,cuda,{device_name()},"
                    f"{median:.6f},{p20:.6f},{p80:.6f},{speed:.2f},{percent},,{'' if error is None else f'{error:.4f}'}")
        print(f"{variant:12} {direction:9} {batch:5} {chunks:6} {heads:5} {type_name:8} {median:10.4f} {speed:8.1f} {percent or '-':>7} "
              f"{'-' if error is None else f'{error:.3f}':>7}", flush=True)
    return wrong


def main():
    options = read_options('Times other systems that hand states from chunk to chunk.', 'batch x chunks x heads', '4x64x16,8x128x32',
                           [(4, 64, 16), (8, 128, 32), (1, 512, 4)])
    if not has_gpu():
        return 2
    clock, rows, wrong, systems = Clock(), [], 0, installed()
    toolkit = versions('triton', 'mamba-ssm', 'flash-linear-attention')
    print(f'{device_name()}, {toolkit}\n\n{"variant":12} direction batch chunks heads type             ms     GB/s  % copy   error')
    with torch.no_grad():
        for direction in ('forward', 'backward'):
            for type_name in ('float32', 'bf16'):
                for shape in options.shapes:
                    wrong += run_shape(clock, direction, shape, type_name, systems, options, rows)
    return finish(options, COLUMNS, rows, toolkit, wrong)


if __name__ == '__main__':
    sys.exit(main())
