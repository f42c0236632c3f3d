#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch_linrec.py - the calls of liblinrec as operations of torch, with gradients, for torch.compile (docs/library.md).

    from torch_linrec import chunk_state, layout_scan, scan, selective_scan, ssd               # results, with gradients
    from torch_linrec import chunk_state_step, layout_step, selective_scan_step                # one step, in place
    from torch_linrec import in_stretches, ssd_transition                                      # time on several GPUs

    y = scan(inputs, coeffs)                         # y[..., l] = y[..., l-1] * coeffs[..., l] + inputs[..., l]
    y, final_state = layout_scan(inputs, coeffs)     # the same of (batch, time, channels)
    out, final_state = selective_scan(u, delta, A, B, C, D, z, delta_bias, True)               # the layer of Mamba
    out, final_state = ssd(x, dt, A, B, C)                                                     # the layer of Mamba-2
    h, final_state = chunk_state(h_local, gamma)     # the states between the chunks of a chunkwise layer

What each computes says its function below, and in full linrec.h, whose names they have. The shapes of the arrays stand
above the function, in the description of its call. There `float32` and `int32` are the type of an array; all others
have one type: float32, bfloat16 or float16. All are on one GPU.

With cu_seqlens batch is 1, and sequences are packed one behind the other: sequence s has the steps cu_seqlens[s] ...
cu_seqlens[s+1] - 1. States have a row for each sequence, else for each batch: that is `sequences` below.

Results have no gaps. An array that has some, or does not begin at a multiple of 16 bytes, is copied first. The calls
that take rows that lie apart (layout_scan and the steps) copy only what they do not take: a row whose elements are not
neighbours, and rows that overlap.

A step takes one position of each row of a batch. The states of all sequences lie in slots, which it reads and writes.
Without `slots` row b has slot b; a row with slot -1 is left out, and its output is 0. A step has no gradient.

It needs Python 3.10, torch 2.4, and liblinrec.so, where the loader finds it or where LINREC_LIBRARY says. On a GPU it
checks itself:

    python3 torch_linrec.py                                                    # the operations
    python3 -m torch.distributed.run --nproc_per_node=2 torch_linrec.py        # stretches of time on several GPUs
"""
import ctypes
import functools
import inspect
import itertools
import math
import os
import sys
import warnings
from typing import Optional, Tuple

import torch
import torch.distributed
import torch.distributed.nn
from torch import Tensor
from torch.nn.functional import silu, softplus

try:
    LIBRARY = ctypes.CDLL(os.environ.get('LINREC_LIBRARY', 'liblinrec.so.1'))
except OSError as error:
    raise OSError(f'{error}; LINREC_LIBRARY must name liblinrec.so, as `make install` has installed it') from None
LIBRARY.linrec_strerror.restype = ctypes.c_char_p
PASSES = {'forward': 0, 'backward': 1}
DTYPES = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}
C_TYPES = {'size': ctypes.c_size_t, 'bool': ctypes.c_bool, 'dtype': ctypes.c_int, 'pointer': ctypes.c_void_p}


def struct(name, *lines):
    """A struct of linrec.h, field by field: each line is a type and names."""
    fields = [(field, C_TYPES[kind]) for kind, *names in map(str.split, lines) for field in names]
    return type(name, (ctypes.Structure,), {'_fields_': fields})


C_TYPES['strides'] = struct('linrec_strides', 'size batch step')


# ---- what all operations have in common ----

def must(status):
    if status != 0:
        raise RuntimeError(f'linrec: {LIBRARY.linrec_strerror(status).decode()}')


def packed(tensor):
    """As most calls take it: without gaps, at a multiple of 16 bytes."""
    tensor = tensor.contiguous()
    return tensor if tensor.data_ptr() % 16 == 0 else tensor.clone()


def rows_apart(tensor, outer):
    """As calls with strides take it: a row is what lies behind the `outer` first dimensions; its elements are
    neighbours, and rows do not overlap."""
    rows = tensor.flatten(outer)
    fits = (rows.stride(-1) == 1 or rows.shape[-1] == 1) and all(
        stride >= rows.shape[-1] for size, stride in zip(rows.shape[:-1], rows.stride()) if size > 1)
    return rows if fits else rows.contiguous()


class Operation:
    """Some calls, linrec_NAME_forward for example: their struct, and of each array in it the type, where it is not the
    call's, and the names of its sizes; `...` are any dimensions. The arguments of an operation have the names of arrays
    and of bools of the struct."""

    def __init__(self, name, struct, shapes, results, kept='', written=(), kept_of=lambda given: given):
        self.name, self.struct, self.fields = name, struct, dict(struct._fields_)
        self.shapes = {array: shape.split() for arrays, shape in shapes.items() for array in arrays.split()}
        self.flags = [field for field, kind in struct._fields_ if kind is ctypes.c_bool]
        self.results, self.written = results.split(), written  # written: what a step reads and writes
        self.kept, self.kept_of = kept.split(), kept_of        # what backward reads of the arguments and the results

    def shape(self, array):
        """An array's type, or None where it is the call's, and the names of its sizes. The gradient d_X is like X."""
        first, *others = names = self.shapes[array.removeprefix('d_')]
        return (getattr(torch, first), others) if first in ('float32', 'int32') else (None, names)

    def time(self, array):
        """Which dimension of an array is time, counted from the last one, or None."""
        names = self.shape(array)[1]
        return next((d - len(names) for d, name in enumerate(names) if name in ('seq_len', 'chunks')), None)

    def sizes(self, arrays):
        """The sizes by their names, the type of the call, and the device. All arrays must agree."""
        sizes, cu_seqlens = {}, arrays.get('cu_seqlens')
        if cu_seqlens is not None:
            sizes.update(batch=1, num_seqs=cu_seqlens.numel() - 1, sequences=cu_seqlens.numel() - 1)
        for array, tensor in arrays.items():
            if tensor is None:
                continue
            dtype, names = self.shape(array)
            shape = list(tensor.shape)
            if names[0] == '...':
                shape = [tuple(shape[:len(shape) + 1 - len(names)]), *shape[len(shape) + 1 - len(names):]]
                sizes['num_seqs'] = math.prod(shape[0])
            known = [sizes.setdefault(name, size) for name, size in zip(names, shape)]
            if known != shape or len(names) != len(shape):
                raise ValueError(f'linrec: {array} has the shape {tuple(tensor.shape)}; it must be ({", ".join(names)})'
                                 + ''.join(f', {name} = {sizes[name]}' for name in names if name in sizes))
            if 'batch' in sizes:
                sizes.setdefault('sequences', sizes['batch'])
            dtype = dtype or sizes.setdefault('dtype', tensor.dtype)
            if tensor.dtype != dtype or dtype not in (*DTYPES, torch.int32):
                raise TypeError(f'linrec: {array} is {tensor.dtype}; '
                                f'it must be {"float32, bfloat16 or float16" if tensor.dtype == dtype else dtype}')
            if tensor.device != sizes.setdefault('device', tensor.device):
                raise TypeError(f'linrec: {array} is on {tensor.device}; it must be on {sizes["device"]}')
        if sizes.get('num_seqs', 0) < 0:
            raise ValueError('linrec: cu_seqlens is empty; it must have a number more than there are sequences')
        return sizes

    def run(self, direction, given, wanted, launch=True):
        """Makes the wanted arrays, and queues the call that fills them; without launch torch only asks for shapes."""
        arrays = {name: value for name, value in given.items() if name not in self.flags}
        sizes, results = self.sizes(arrays), {}
        for array in wanted:
            dtype, names = self.shape(array)
            shape = [size for name in names for size in (sizes[name] if name == '...' else (sizes[name],))]
            new = torch.zeros if arrays.get('slots') is not None else torch.empty  # a step may leave out rows then
            results[array] = new(shape, dtype=dtype or sizes['dtype'], device=sizes['device'])
        if launch:
            self.launch(direction, {**sizes, **{flag: given[flag] for flag in self.flags}}, {**arrays, **results})
        return list(results.values())

    def launch(self, direction, values, arrays):
        """Queues a call on the current stream. Its scratch memory is torch's, as the results are: it may be freed as
        soon as the call is queued, and belongs to a graph that captures it."""
        device, values['dtype'] = values['device'], DTYPES.get(values.get('dtype'))
        call, kept = self.struct(**{name: value for name, value in values.items() if name in self.fields}), []
        for array, tensor in arrays.items():
            if tensor is None:
                continue
            by = self.fields.get(f'{array}_by')
            if array in self.written:
                if not tensor.is_contiguous():
                    raise ValueError(f'linrec: {array} is not contiguous; it must be, since it is written in place')
                kept.append(tensor)
            else:
                kept.append(packed(tensor) if by is None else rows_apart(tensor, 2 if by is C_TYPES['strides'] else 1))
            setattr(call, array, kept[-1].data_ptr())
            if by is not None:  # of a size of 1 torch may say any stride, and the library takes 0
                strides = zip(kept[-1].shape[:-1], kept[-1].stride())
                setattr(call, f'{array}_by', by(*(stride if size > 1 else 0 for size, stride in strides)))
        with torch.cuda.device(device):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            if direction in PASSES:
                needed = ctypes.c_size_t()
                must(getattr(LIBRARY, f'linrec_{self.name}_workspace')(ctypes.byref(call), PASSES[direction],
                                                                       ctypes.byref(needed)))
                if needed.value != 0:
                    workspace = torch.empty(needed.value, dtype=torch.uint8, device=device)
                    call.workspace, call.workspace_bytes = workspace.data_ptr(), needed.value
                    must(LIBRARY.linrec_workspace_init(ctypes.c_void_p(call.workspace), needed, stream))
            must(getattr(LIBRARY, f'linrec_{self.name}_{direction}')(ctypes.byref(call), stream))

    def operation(self, function):
        """The operation of torch that has a function's name and arguments, and does what the call does."""
        self.parameters = parameters = inspect.signature(function).parameters
        defaults = {name: parameter.default for name, parameter in parameters.items()}
        direction = 'step' if self.written else 'forward'

        def forward(*arguments, launch=True):
            results = self.run(direction, {**defaults, **dict(zip(parameters, arguments))}, self.results, launch)
            return results[0] if len(results) == 1 else tuple(results)

        def define(name, function, **options):
            made = torch.library.custom_op(f'linrec::{name}', function, device_types='cuda', **options)
            made.register_fake(functools.partial(function, launch=False))
            return made
        made = define(function.__name__, functools.wraps(function)(forward), mutates_args=self.written)
        if self.written:
            return made

        # The gradients are an operation of their own, of lists: what backward reads, and flags.
        reads = self.kept + [f'd_{result}' for result in self.results]
        learned = [name for name in parameters if name not in self.flags and self.shape(name)[0] != torch.int32]

        def backward(arrays, flags, launch=True):
            given = {**dict(zip(reads, arrays)), **dict(zip(self.flags, flags))}
            wanted = [f'd_{name}' for name in learned
                      if defaults[name] is inspect.Parameter.empty or given[name] is not None]
            return self.run('backward', given, wanted, launch)
        made_backward = define(f'{function.__name__}_backward', backward, mutates_args=(),
                               schema='(Tensor?[] arrays, bool[] flags) -> Tensor[]')

        def keep(ctx, inputs, output):
            results = zip(self.results, output if isinstance(output, tuple) else (output,))
            given = self.kept_of({**dict(zip(parameters, inputs)), **dict(results)})
            ctx.flags = [given[flag] for flag in self.flags]
            ctx.wanted = [name in learned and given_here is not None for name, given_here in zip(parameters, inputs)]
            ctx.save_for_backward(*(given[name] for name in self.kept))

        def gradients(ctx, *d_results):
            found = iter(made_backward([*ctx.saved_tensors, *d_results], ctx.flags))
            return tuple(next(found) if wanted else None for wanted in ctx.wanted)
        made.register_autograd(gradients, setup_context=keep)
        return made


# ---- the linear recurrence ----

RECURRENCE = Operation('recurrence', struct(
    'linrec_recurrence', 'size num_seqs seq_len', 'bool reverse',
    'pointer inputs coeffs outputs d_outputs d_inputs d_coeffs',
    'pointer initial_state final_state d_final_state d_initial_state workspace', 'size workspace_bytes'),
    {'inputs coeffs outputs': 'float32 ... seq_len', 'initial_state': 'float32 ...'},
    results='outputs', kept='coeffs outputs initial_state')


@RECURRENCE.operation
def scan(inputs: Tensor, coeffs: Tensor, initial_state: Optional[Tensor] = None, reverse: bool = False) -> Tensor:
    """outputs[..., l] = outputs[..., l-1] * coeffs[..., l] + inputs[..., l], with reverse from the last element to the
    first. The state after the last element is outputs[..., -1], reversed outputs[..., 0]."""


LAYOUT = Operation('layout', struct(
    'linrec_layout', 'size batch seq_len channels num_seqs', 'pointer cu_seqlens', 'dtype dtype',
    'bool reverse log_coeffs', 'pointer inputs coeffs outputs d_outputs d_inputs d_coeffs',
    'strides inputs_by coeffs_by outputs_by d_outputs_by d_inputs_by d_coeffs_by',
    'pointer initial_state final_state d_final_state d_initial_state workspace', 'size workspace_bytes'),
    {'inputs coeffs outputs': 'batch seq_len channels', 'initial_state final_state': 'float32 sequences channels',
     'cu_seqlens': 'int32 edges'},
    results='outputs final_state', kept='coeffs outputs initial_state cu_seqlens')


@LAYOUT.operation
def layout_scan(inputs: Tensor, coeffs: Tensor, initial_state: Optional[Tensor] = None, reverse: bool = False,
                log_coeffs: bool = False, cu_seqlens: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """outputs[:, t] = outputs[:, t-1] * coeffs[:, t] + inputs[:, t]; log_coeffs: the coefficients are exp(coeffs)."""


LAYOUT_STEP = Operation('layout', struct(
    'linrec_step', 'size batch channels num_slots', 'pointer slots', 'dtype dtype', 'bool log_coeffs',
    'pointer inputs coeffs outputs', 'size inputs_by coeffs_by outputs_by', 'pointer states'),
    {'inputs coeffs outputs': 'batch channels', 'states': 'float32 num_slots channels', 'slots': 'int32 batch'},
    results='outputs', written=('states',))


@LAYOUT_STEP.operation
def layout_step(inputs: Tensor, coeffs: Tensor, states: Tensor, slots: Optional[Tensor] = None,
                log_coeffs: bool = False) -> Tensor:
    """states = outputs = states * coeffs + inputs, a row of the batch for each slot."""


# ---- the layer of Mamba, with the names of its selective_scan_fn and selective_state_update ----

SELECTIVE_SCAN = Operation('selective_scan', struct(
    'linrec_selective_scan', 'size batch channels seq_len states groups num_seqs', 'pointer cu_seqlens', 'dtype dtype',
    'bool delta_softplus', 'pointer u delta A B C D z delta_bias initial_state out final_state d_out d_final_state',
    'pointer d_u d_delta d_A d_B d_C d_D d_z d_delta_bias d_initial_state workspace', 'size workspace_bytes'),
    {'u delta z out': 'batch channels seq_len', 'A': 'float32 channels states', 'B C': 'batch groups states seq_len',
     'D delta_bias': 'float32 channels', 'initial_state final_state': 'float32 sequences channels states',
     'cu_seqlens': 'int32 edges'},
    results='out final_state', kept='u delta A B C D z delta_bias initial_state cu_seqlens')


@SELECTIVE_SCAN.operation
def selective_scan(u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Optional[Tensor] = None,
                   z: Optional[Tensor] = None, delta_bias: Optional[Tensor] = None, delta_softplus: bool = False,
                   initial_state: Optional[Tensor] = None,
                   cu_seqlens: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """state[t] = exp(step[t] A) state[t-1] + step[t] B[t] u[t],   step = delta + delta_bias, or the softplus of it,
    out[t] = (C[t] . state[t] + D u[t]) silu(z[t])"""


SELECTIVE_STEP = Operation('selective_scan', struct(
    'linrec_selective_step', 'size batch channels num_slots states groups', 'pointer slots', 'dtype dtype',
    'bool delta_softplus', 'pointer u delta A B C D z delta_bias out', 'size u_by delta_by B_by C_by z_by out_by',
    'pointer state'),
    {'u delta z out': 'batch channels', 'A': 'float32 channels states', 'B C': 'batch groups states',
     'D delta_bias': 'float32 channels', 'state': 'float32 num_slots channels states', 'slots': 'int32 batch'},
    results='out', written=('state',))


@SELECTIVE_STEP.operation
def selective_scan_step(state: Tensor, u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor,
                        D: Optional[Tensor] = None, z: Optional[Tensor] = None, delta_bias: Optional[Tensor] = None,
                        delta_softplus: bool = False, slots: Optional[Tensor] = None) -> Tensor:
    """One step of selective_scan, in place."""


# ---- the layer of Mamba-2, with the names of its mamba_chunk_scan_combined ----

SSD = Operation('ssd', struct(
    'linrec_ssd', 'size batch seq_len heads groups dk dv num_seqs', 'pointer cu_seqlens', 'dtype dtype',
    'bool dt_softplus', 'pointer x dt A B C D z dt_bias initial_state out final_state d_out d_final_state',
    'pointer d_x d_dt d_A d_B d_C d_D d_z d_dt_bias d_initial_state workspace', 'size workspace_bytes'),
    {'x z out': 'batch seq_len heads dv', 'dt': 'batch seq_len heads', 'A D dt_bias': 'float32 heads',
     'B C': 'batch seq_len groups dk', 'initial_state final_state': 'float32 sequences heads dv dk',
     'cu_seqlens': 'int32 edges'},
    results='out final_state', kept='x dt A B C D z dt_bias initial_state cu_seqlens')


@SSD.operation
def ssd(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Optional[Tensor] = None, z: Optional[Tensor] = None,
        dt_bias: Optional[Tensor] = None, initial_state: Optional[Tensor] = None, dt_softplus: bool = False,
        cu_seqlens: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """state[t] = exp(step[t] A) state[t-1] + step[t] x[t] B[t]^T,   step = dt + dt_bias, or the softplus of it,
    out[t] = (state[t] C[t] + D x[t]) silu(z[t])"""


# ---- the states between the chunks of gated linear attention, Mamba-2, gated DeltaNet ----

CHUNK_STATE = Operation('chunk_state', struct(
    'linrec_chunk_state', 'size batch chunks heads dk dv rank decays num_seqs', 'pointer cu_seqlens', 'dtype dtype',
    'bool exclusive', 'pointer h_local gamma W Y initial_state h_out final_state states d_h_out d_final_state',
    'pointer d_h_local d_gamma d_W d_Y d_initial_state workspace', 'size workspace_bytes'),
    {'h_local h_out states': 'batch chunks heads dk dv', 'gamma': 'float32 batch chunks heads decays',
     'W Y': 'batch chunks heads dk rank', 'initial_state final_state': 'float32 sequences heads dk dv',
     'cu_seqlens': 'int32 edges'},
    results='h_out final_state', kept='h_local gamma W Y initial_state states cu_seqlens',
    # exclusive results are the states that backward would compute again of h_local
    kept_of=lambda given: {**given, 'h_local': None if given['exclusive'] else given['h_local'],
                           'states': given['h_out'] if given['exclusive'] else None})


@CHUNK_STATE.operation
def chunk_state(h_local: Tensor, gamma: Tensor, W: Optional[Tensor] = None, Y: Optional[Tensor] = None,
                initial_state: Optional[Tensor] = None, exclusive: bool = False,
                cu_seqlens: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    """h[k] = gamma[k] h[k-1] - W[k] (Y[k]^T h[k-1]) + h_local[k]; h_out[k] is h[k], or if exclusive h[k-1]. gamma has a
    decay for each of the dk rows, or one for all. cu_seqlens counts chunks."""


CHUNK_STEP = Operation('chunk_state', struct(
    'linrec_chunk_step', 'size batch heads dk dv num_slots decays', 'pointer slots', 'dtype dtype',
    'pointer q k v gamma W Y out', 'size q_by k_by v_by gamma_by W_by Y_by out_by', 'pointer state'),
    {'q k W Y': 'batch heads dk', 'v out': 'batch heads dv', 'gamma': 'float32 batch heads decays',
     'state': 'float32 num_slots heads dk dv', 'slots': 'int32 batch'},
    results='out', written=('state',))


@CHUNK_STEP.operation
def chunk_state_step(state: Tensor, q: Tensor, k: Tensor, v: Tensor, gamma: Tensor, W: Optional[Tensor] = None,
                     Y: Optional[Tensor] = None, slots: Optional[Tensor] = None) -> Tensor:
    """state = gamma state - W (Y^T state) + k v^T, out = state^T q, in place."""


# ---- time in stretches, one on each rank of torch.distributed: for sequences too long for one GPU ----

def in_stretches(function, transition, join=torch.mul, initial_state=None, **given):
    """Runs a function, one that returns outputs and a final state, on this rank's stretch of time, from the state in
    which the stretches before it end. All ranks call it with the arrays of their stretches, and all run backward, or
    none:

        out, final_state = in_stretches(ssd, ssd_transition, x=x, dt=dt, A=A, B=B, C=C)

    A stretch makes join(transition(...), state) + final_state of a state that comes in, where final_state is what it
    makes of 0. The ranks gather both of all stretches, and each joins those before its own. initial_state is the one
    before the first stretch, and the same on all ranks. The transitions are below."""
    if given.get('reverse') or given.get('cu_seqlens') is not None:
        raise ValueError('linrec: in_stretches takes neither reverse nor cu_seqlens; time begins on the first rank')
    final_state = function(**given)[1]
    transitions, final_states = map(torch.distributed.nn.functional.all_gather, (transition(**given), final_state))
    state = torch.zeros_like(final_state) if initial_state is None else initial_state
    for rank, (transition, final_state) in enumerate(zip(transitions, final_states)):
        # Also of later ranks, whose state is then dropped: backward, all ranks must send gradients to all.
        earlier = torch.tensor(rank < torch.distributed.get_rank(), device=state.device)
        state = torch.where(earlier, join(transition, state) + final_state, state)
    return function(**given, initial_state=state)


def step_of(delta, bias, through_softplus):
    delta = delta if bias is None else delta + bias
    return softplus(delta) if through_softplus else delta


def layout_transition(coeffs, log_coeffs=False, **_):
    return coeffs.float().sum(1).exp() if log_coeffs else coeffs.float().prod(1)


def selective_transition(delta, A, delta_bias=None, delta_softplus=False, **_):
    step = step_of(delta.float(), None if delta_bias is None else delta_bias[:, None], delta_softplus)
    return (step.sum(-1, keepdim=True) * A).exp()


def ssd_transition(dt, A, dt_bias=None, dt_softplus=False, **_):
    return (step_of(dt.float(), dt_bias, dt_softplus).sum(1) * A).exp()[..., None, None]


def chunk_transition(gamma, **_):
    return gamma.prod(1)[..., None]


def chunk_transition_of_matrices(h_local, gamma, W, Y, **_):
    """With W and Y: what becomes of the identity. It is joined by torch.matmul."""
    batch, chunks, heads, dk, _ = h_local.shape
    nothing, identity = h_local.new_zeros(batch, chunks, heads, dk, dk), torch.eye(dk, device=gamma.device)
    return chunk_state(nothing, gamma, W, Y, identity.expand(batch, heads, dk, dk))[1]


# ---- checks: the same in plain torch, in the type of the tensors ----

def scan_loop(inputs, coeffs, initial_state=None, reverse=False):
    state = torch.zeros_like(inputs[..., 0]) if initial_state is None else initial_state
    outputs = [None] * inputs.shape[-1]
    for l in reversed(range(len(outputs))) if reverse else range(len(outputs)):
        outputs[l] = state = state * coeffs[..., l] + inputs[..., l]
    return torch.stack(outputs, -1)


def layout_loop(inputs, coeffs, initial_state=None, reverse=False, log_coeffs=False):
    outputs = scan_loop(inputs.mT, (coeffs.exp() if log_coeffs else coeffs).mT, initial_state, reverse).mT
    return outputs, outputs[:, 0 if reverse else -1]


def gated(y, x, D, z):
    y = y if D is None else y + D * x
    return y if z is None else y * silu(z)


def selective_loop(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, initial_state=None):
    step = step_of(delta, None if delta_bias is None else delta_bias[:, None], delta_softplus)
    B, C = (t.repeat_interleave(u.shape[1] // t.shape[1], 1) for t in (B, C))  # (batch, channels, states, seq_len)
    states = scan_loop((step * u)[:, :, None] * B, (step[:, :, None] * A[:, :, None]).exp(), initial_state)
    return gated((states * C).sum(2), u, None if D is None else D[:, None], z), states[..., -1]


def ssd_loop(x, dt, A, B, C, D=None, z=None, dt_bias=None, initial_state=None, dt_softplus=False):
    step = step_of(dt, dt_bias, dt_softplus)
    B, C = (t.repeat_interleave(x.shape[2] // t.shape[2], 2) for t in (B, C))
    added = torch.einsum('bth,bthv,bthk->bhvkt', step, x, B)
    states = scan_loop(added, (step * A).exp().mT[:, :, None, None], initial_state)
    return gated(torch.einsum('bhvkt,bthk->bthv', states, C), x, None if D is None else D[:, None], z), states[..., -1]


def chunk_loop(h_local, gamma, W=None, Y=None, initial_state=None, exclusive=False):
    states = [torch.zeros_like(h_local[:, 0]) if initial_state is None else initial_state]
    for k in range(h_local.shape[1]):
        kept = gamma[:, k, :, :, None] * states[k]
        states.append(h_local[:, k] + (kept if W is None else kept - W[:, k] @ (Y[:, k].mT @ states[k])))
    return torch.stack(states[:-1] if exclusive else states[1:], 1), states[-1]


def by_sequence(operation, loop):
    """The loop, of packed sequences one after the other; one at least has a step."""
    def loops(cu_seqlens=None, initial_state=None, **given):
        if cu_seqlens is None:
            return loop(initial_state=initial_state, **given)
        outputs, final = [], []
        for s, (first, end) in enumerate(itertools.pairwise(cu_seqlens.tolist())):
            state = None if initial_state is None else initial_state[s:s + 1]
            if first < end:
                output, state = loop(initial_state=state, **stretch(operation, given, first, end))
                outputs.append(output)
            final.append(state)
        zero = torch.zeros_like(next(state for state in final if state is not None))
        return (torch.cat(outputs, operation.time(operation.results[0])),
                torch.cat([zero if state is None else state for state in final]))
    return loops


def stretch(operation, given, first, end):
    """The arrays of these steps."""
    return {name: value.narrow(operation.time(name), first, end - first)
            if name not in operation.flags and value is not None and operation.time(name) is not None else value
            for name, value in given.items()}


def layout_step_loop(inputs, coeffs, states, log_coeffs):
    outputs, states = layout_loop(inputs[:, None], coeffs[:, None], states, False, log_coeffs)
    return outputs[:, 0], states


def selective_step_loop(state, u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False):
    u, delta, B, C, z = (t if t is None else t[..., None] for t in (u, delta, B, C, z))
    out, state = selective_loop(u, delta, A, B, C, D, z, delta_bias, delta_softplus, state)
    return out[..., 0], state


def chunk_step_loop(q, k, v, gamma, state, W=None, Y=None):
    W, Y = (t if t is None else t[:, None, :, :, None] for t in (W, Y))
    state = chunk_loop((k[..., :, None] * v[..., None, :])[:, None], gamma[:, None], W, Y, state)[1]
    return torch.einsum('bhkv,bhk->bhv', state, q), state


# ---- checks: problems, and how they are compared ----

# those that could let a state grow without bound
RANGES = {'coeffs': (0, 1), 'gamma': (0, 1), 'A': (-2, -0.5), 'W': (-0.05, 0.05),
          'dt': (0, 0.2), 'dt_bias': (0, 0.2), 'delta': (0, 0.2), 'delta_bias': (0, 0.2)}
LIMITS = {torch.float32: 1e-5, torch.bfloat16: 4 * 2**-8, torch.float16: 4 * 2**-11}  # in 16 bits results are rounded


def whole(numbers):
    return torch.tensor(numbers, dtype=torch.int32, device='cuda')


def problem(operation, sizes, everything=True, dtype=torch.float32, edges=None, apart=0, **flags):
    """The arguments of an operation by name, of random numbers; those that may be missing are None unless everything.
    apart: an array has rows with so many elements between them, and does not begin at a multiple of 16 bytes."""
    sizes = {'sequences': sizes.get('batch') if edges is None else len(edges) - 1, **sizes}
    given = dict(flags) if edges is None else dict(flags, cu_seqlens=whole(edges))
    for name, parameter in operation.parameters.items():
        wanted = parameter.default is inspect.Parameter.empty or everything
        kind, names = (None, ()) if name in operation.flags else operation.shape(name)
        if name in given or kind == torch.int32 or name in operation.flags or not wanted or sizes.get(names[-1]) == 0:
            continue
        shape = [size for name in names for size in (sizes[name] if name == '...' else (sizes[name],))]
        low, high = (-1, 0) if flags.get('log_coeffs') and name == 'coeffs' else RANGES.get(name, (-1, 1))
        gap = 0 if name in operation.written else apart
        wide = torch.rand([*shape[:-1], *(size + gap for size in shape[-1:])], device='cuda') * (high - low) + low
        numbers = wide.to(kind or dtype)[..., gap // 2:gap // 2 + shape[-1]] if gap else wide.to(kind or dtype)
        if name in operation.written:  # it is written in place wherever it begins
            numbers = torch.cat([numbers.new_zeros(1), numbers.flatten()])[1:].view(shape)
        given[name] = numbers.requires_grad_(not operation.written)
    return given


def floats(given):
    return {name: value for name, value in given.items() if isinstance(value, Tensor) and value.is_floating_point()}


def in_double(given):
    return {**given, **{name: value.detach().double().requires_grad_() for name, value in floats(given).items()}}


def largest_error(pairs):
    """Of each pair relative to its largest number; a NaN if there is one."""
    return float(torch.stack([((a.double() - b).abs().max() / b.abs().max()).detach() for a, b in pairs]).max())


def worst(function, loop, given):
    """The largest error of the results and the gradients against the loop in double precision, of each relative to its
    largest number."""
    doubles = in_double(given)
    found, right = (results if isinstance(results, tuple) else (results,)
                    for results in (function(**given), loop(**doubles)))
    weights = [2 * torch.rand_like(result) - 1 for result in found]
    gradients = torch.autograd.grad(found, list(floats(given).values()), weights)
    right_gradients = torch.autograd.grad(right, list(floats(doubles).values()), [w.double() for w in weights])
    if torch.distributed.is_initialized():  # the gradient of a sum over the ranks is the sum of theirs
        gradients, right_gradients = ([g.contiguous() for g in some] for some in (gradients, right_gradients))
        for gradient in gradients + right_gradients:
            torch.distributed.all_reduce(gradient)
    return largest_error([*zip(found, right), *zip(gradients, right_gradients)])


def worst_of_step(function, operation, loop, given, slots):
    """The same of a step: rows without a slot are 0, and slots without a row stay as they were."""
    (state,), doubles = operation.written, {name: value.double() for name, value in floats(given).items()}
    rows = [row for row, slot in enumerate(slots) if slot >= 0]
    used, right_state = [slots[row] for row in rows], doubles[state].clone()
    flags = {name: given[name] for name in operation.flags}
    some, right_state[used] = loop(**flags, **{
        name: value[used] if name == state else value[rows] if 'batch' in operation.shapes[name] else value
        for name, value in doubles.items()})
    found = function(**given)
    right = torch.zeros_like(found, dtype=torch.double)
    right[rows] = some
    return largest_error([(found, right), (given[state], right_state)])


# ---- checks: problems, and what runs ----

EDGES = [0, 0, 60, 61, 130, 150, 150]
TYPES = torch.float32, torch.bfloat16, torch.float16


def sized(names, *sizes):
    return dict(zip(names.split(), sizes))


def cases():
    """Of each operation with gradients: the function, its call, its loop, types, and (sizes, options) of problems."""
    apart, log = dict(apart=3), dict(log_coeffs=True, reverse=True)
    names = '... seq_len'
    yield scan, RECURRENCE, scan_loop, TYPES[:1], [
        (sized(names, (2,), 9), {}), (sized(names, (), 5), {}), (sized(names, (3,), 100), dict(reverse=True)),
        (sized(names, (2, 3), 1001), {}), (sized(names, (7,), 129), apart),
        (sized(names, (1,), 20000), dict(reverse=True))]
    names = 'batch seq_len channels'
    yield layout_scan, LAYOUT, layout_loop, TYPES, [
        (sized(names, 2, 7, 5), {}), (sized(names, 2, 300, 66), log),
        (sized(names, 3, 40, 33), dict(apart, reverse=True)), (sized(names, 1, 150, 8), dict(edges=EDGES)),
        (sized(names, 1, 150, 7), dict(apart, **log, edges=EDGES))]
    names = 'batch channels seq_len states groups'
    yield selective_scan, SELECTIVE_SCAN, selective_loop, TYPES, [
        (sized(names, 2, 6, 7, 3, 2), {}), (sized(names, 1, 40, 300, 16, 1), dict(delta_softplus=True)),
        (sized(names, 1, 4, 150, 16, 1), dict(apart, edges=EDGES))]
    names = 'batch seq_len heads groups dk dv'
    yield ssd, SSD, ssd_loop, TYPES, [
        (sized(names, 2, 7, 2, 1, 5, 3), {}), (sized(names, 1, 150, 4, 2, 64, 64), dict(dt_softplus=True)),
        (sized(names, 1, 150, 2, 1, 16, 8), dict(apart, edges=EDGES))]
    names = 'batch chunks heads dk dv decays rank'
    yield chunk_state, CHUNK_STATE, chunk_loop, TYPES, [
        (sized(names, 2, 3, 2, 5, 3, 5, 0), {}), (sized(names, 2, 3, 2, 5, 3, 1, 2), dict(apart, exclusive=True)),
        (sized(names, 1, 9, 2, 64, 64, 64, 0), dict(exclusive=True)), (sized(names, 1, 9, 2, 64, 64, 1, 16), {}),
        (sized(names, 1, 9, 2, 5, 3, 5, 2), dict(apart, edges=[0, 0, 4, 5, 9, 9]))]


def step_cases():
    yield layout_step, LAYOUT_STEP, layout_step_loop, sized('batch channels', 3, 6), dict(log_coeffs=True)
    yield (selective_scan_step, SELECTIVE_STEP, selective_step_loop, sized('batch channels states groups', 3, 6, 16, 2),
           dict(delta_softplus=True))
    yield chunk_state_step, CHUNK_STEP, chunk_step_loop, sized('batch heads dk dv decays', 3, 2, 16, 8, 1), {}


def check(what, call, limit=None):
    """Prints whether call() gives no error, and a number up to the limit; whether it is wrong."""
    try:
        found = call()
        wrong = None if limit is None or found <= limit else f'more than {limit:.1e}'
        what += '' if limit is None else f': error {found:.1e}'
    except Exception as error:
        wrong = f'{type(error).__name__}: {error}'
    print(f"{'ok    ' if wrong is None else 'FAILED'} {what}{'' if wrong is None else f': {wrong}'}", flush=True)
    return wrong is not None


def refused(function, given):
    try:
        function(**given)
    except ValueError:
        return
    raise AssertionError('not refused')


def check_operations():
    failed = 0
    for function, operation, loop, types, problems in cases():
        loop, name = by_sequence(operation, loop), function._name
        for dtype, (sizes, options), everything in itertools.product(types, problems, (False, True)):
            what = ', '.join([name, str(dtype), str(sizes), *map(str, options), *['everything'] * everything])
            given = problem(operation, sizes, everything, dtype, **options)
            failed += check(what, lambda: worst(function, loop, given), LIMITS[dtype])
        for everything, (sizes, options) in itertools.product((False, True), (problems[0], problems[-1])):
            given = problem(operation, sizes, everything, **options)
            failed += check(f'{name}: opcheck', lambda: torch.library.opcheck(function, (), given))
        if operation in (RECURRENCE, LAYOUT, CHUNK_STATE):
            # A result is linear in each number alone, so that a difference is exact for a large step, too, and float32
            # has enough digits for it.
            given = problem(operation, problems[0][0])
            failed += check(f'{name}: gradcheck', lambda: torch.autograd.gradcheck(
                lambda *leaves: function(**{**given, **dict(zip(floats(given), leaves))}), list(floats(given).values()),
                eps=0.25, atol=1e-4, rtol=1e-4))
        given = problem(operation, *problems[0])
        compiled = torch.compile(lambda **given: function(**given), fullgraph=True)
        failed += check(f'{name}: compiled', lambda: worst(compiled, loop, given), LIMITS[torch.float32])
    for function, operation, loop, sizes, flags in step_cases():
        for dtype, everything, slots in itertools.product(TYPES, (False, True), ([0, 1, 2], [4, -1, 0])):
            given = problem(operation, dict(sizes, num_slots=5), everything, dtype, apart=3, **flags)
            if slots != [0, 1, 2]:
                given['slots'] = whole(slots)
            failed += check(f'{function._name}, {dtype}, slots {slots}{", everything" if everything else ""}',
                            lambda: worst_of_step(function, operation, loop, given, slots), LIMITS[dtype])
        failed += check(f'{function._name}: opcheck', lambda: torch.library.opcheck(function, (), given))
        (state,) = operation.written
        failed += check(f'{function._name}: states with gaps are refused', lambda: refused(
            function, {**given, state: torch.cat([given[state]] * 2, -1)[..., :given[state].shape[-1]]}))
    return failed


def stretch_cases():
    """As cases, of in_stretches, with what joins stretches."""
    def with_state(function):
        return lambda **given: (outputs := function(**given), outputs[..., -1])
    yield (with_state(scan), RECURRENCE, with_state(scan_loop), lambda coeffs, **_: coeffs.prod(-1), torch.mul,
           sized('... seq_len', (2, 3), 100), {})
    yield (layout_scan, LAYOUT, layout_loop, layout_transition, torch.mul, sized('batch seq_len channels', 2, 100, 6),
           dict(log_coeffs=True))
    yield (selective_scan, SELECTIVE_SCAN, selective_loop, selective_transition, torch.mul,
           sized('batch channels seq_len states groups', 2, 6, 30, 16, 2), dict(delta_softplus=True))
    yield (ssd, SSD, ssd_loop, ssd_transition, torch.mul,
           sized('batch seq_len heads groups dk dv', 2, 30, 2, 1, 16, 8), {})
    names = 'batch chunks heads dk dv decays rank'
    yield chunk_state, CHUNK_STATE, chunk_loop, chunk_transition, torch.mul, sized(names, 2, 9, 2, 5, 3, 5, 0), {}
    yield (chunk_state, CHUNK_STATE, chunk_loop, chunk_transition_of_matrices, torch.matmul,
           sized(names, 2, 9, 2, 5, 3, 5, 2), dict(exclusive=True))


def check_stretches():
    """Each rank makes all arrays, takes its stretch of them, and compares its results with a loop over all time."""
    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))
    torch.distributed.init_process_group('nccl')
    rank, ranks, failed = torch.distributed.get_rank(), torch.distributed.get_world_size(), 0
    for function, operation, loop, transition, join, sizes, options in stretch_cases():
        time = sizes.get('seq_len') or sizes['chunks']
        first, end = time * rank // ranks, time * (rank + 1) // ranks

        def here(**given):
            return in_stretches(function, transition, join, **stretch(operation, given, first, end))

        def right(**given):
            outputs, final_state = loop(**stretch(operation, given, 0, end))
            return outputs.narrow(operation.time(operation.results[0]), first, end - first), final_state
        torch.manual_seed(1)  # all ranks make the same arrays
        given = problem(operation, sizes, **options)
        failed += check(f'rank {rank} of {ranks}: {operation.name}, {join.__name__}', lambda: worst(here, right, given),
                        LIMITS[torch.float32])
    torch.distributed.destroy_process_group()
    return failed


def lack():
    """What is missing for the checks."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if gpus == 0:
        return 'the checks need a GPU that torch can use, and there is none here'
    if int(os.environ.get('LOCAL_RANK', 0)) >= gpus:
        return f'each rank needs a GPU; start as many as there are here, with --nproc_per_node={gpus}'
    return None


def main():
    if lack() is not None:
        print(f'torch_linrec.py: {lack()}', file=sys.stderr)
        return 2
    torch.manual_seed(1)
    warnings.filterwarnings('ignore', message='Input #')  # of gradcheck, which would rather have double precision
    return 1 if (check_stretches() if 'LOCAL_RANK' in os.environ else check_operations()) else 0


if __name__ == '__main__':
    sys.exit(main())
