#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch_linrec.py - the linear recurrence of liblinrec as operations of torch, with gradients (docs/library.md).

    from torch_linrec import layout_scan, layout_step, scan
    y = scan(inputs, coeffs)                         # y[..., l] = y[..., l-1] * coeffs[..., l] + inputs[..., l]
    y = scan(inputs, coeffs, initial_state, True)    # from the last element to the first, and from a state

Of scan, tensors are float32 on one GPU. Time is the last dimension, and all others are sequences; initial_state lacks the last one. The one rule for
strides and alignment: what is not contiguous, or does not begin at a multiple of 16 bytes, is copied first; results are contiguous. The state after the
last element is y[..., -1] (reversed: y[..., 0]), whose gradient torch knows.

    y, final_state = layout_scan(inputs, coeffs)     # (batch, time, channels): y[:, t] = y[:, t-1] * coeffs[:, t] + inputs[:, t]
    y, final_state = layout_scan(inputs, coeffs, initial_state, reverse, log_coeffs, cu_seqlens)
    y = layout_step(inputs, coeffs, states, slots)   # (batch, channels): a step, and states (num_slots, channels) become the new ones

These take float32, bfloat16 and float16; states are float32. With log_coeffs the coefficients are exp(coeffs). With cu_seqlens (int32, on the GPU) batch
is 1, and sequences are packed one behind the other: sequence s has the steps cu_seqlens[s] ... cu_seqlens[s+1] - 1, and states have a row for each
sequence, else for each batch. Inputs of any strides are taken as they are, as long as channels are neighbours and steps do not overlap; others are
copied first. Without slots (int32, on the GPU) row b has slot b; a row with slot -1 is left out, and its output is 0. layout_step has no gradient.

    out, final_state = ssd(x, dt, A, B, C)           # the layer of Mamba-2: x (batch, time, heads, dv), dt (batch, time, heads), A (heads)
    out, final_state = ssd(x, dt, A, B, C, D, z, dt_bias, initial_state, dt_softplus, cu_seqlens)

B and C are (batch, time, groups, dk), z is like x; these and dt have the type of x. A, D, dt_bias (heads) and states (batch, heads, dv, dk) are float32.

It needs torch 2.4 and liblinrec.so, where the loader finds it or where LINREC_LIBRARY says. `python3 torch_linrec.py` checks it on a GPU.
"""
import ctypes
import itertools
import math
import os
import sys
import warnings
from typing import List, Optional, Tuple

import torch
from torch import Tensor

LIBRARY = ctypes.CDLL(os.environ.get('LINREC_LIBRARY', 'liblinrec.so.1'))
LIBRARY.linrec_strerror.restype = ctypes.c_char_p
FORWARD, BACKWARD = 0, 1
NOT_SUPPORTED = 3


class Recurrence(ctypes.Structure):
    """struct linrec_recurrence of linrec.h, field by field."""
    _fields_ = ([('num_seqs', ctypes.c_size_t), ('seq_len', ctypes.c_size_t), ('reverse', ctypes.c_bool)]
                + [(name, ctypes.c_void_p) for name in ('inputs', 'coeffs', 'outputs', 'd_outputs', 'd_inputs', 'd_coeffs',
                                                        'initial_state', 'final_state', 'd_final_state', 'd_initial_state', 'workspace')]
                + [('workspace_bytes', ctypes.c_size_t)])


class Strides(ctypes.Structure):
    """struct linrec_strides."""
    _fields_ = [(name, ctypes.c_size_t) for name in ('batch', 'step')]


class Layout(ctypes.Structure):
    """struct linrec_layout."""
    _fields_ = ([(name, ctypes.c_size_t) for name in ('batch', 'seq_len', 'channels', 'num_seqs')]
                + [('cu_seqlens', ctypes.c_void_p), ('dtype', ctypes.c_int), ('reverse', ctypes.c_bool), ('log_coeffs', ctypes.c_bool)]
                + [(name, ctypes.c_void_p) for name in ('inputs', 'coeffs', 'outputs', 'd_outputs', 'd_inputs', 'd_coeffs')]
                + [(name, Strides) for name in ('inputs_by', 'coeffs_by', 'outputs_by', 'd_outputs_by', 'd_inputs_by', 'd_coeffs_by')]
                + [(name, ctypes.c_void_p) for name in ('initial_state', 'final_state', 'd_final_state', 'd_initial_state', 'workspace')]
                + [('workspace_bytes', ctypes.c_size_t)])


class Step(ctypes.Structure):
    """struct linrec_step."""
    _fields_ = ([(name, ctypes.c_size_t) for name in ('batch', 'channels', 'num_slots')]
                + [('slots', ctypes.c_void_p), ('dtype', ctypes.c_int), ('log_coeffs', ctypes.c_bool)]
                + [(name, ctypes.c_void_p) for name in ('inputs', 'coeffs', 'outputs')]
                + [(name, ctypes.c_size_t) for name in ('inputs_by', 'coeffs_by', 'outputs_by')] + [('states', ctypes.c_void_p)])


class Ssd(ctypes.Structure):
    """struct linrec_ssd."""
    _fields_ = ([(name, ctypes.c_size_t) for name in ('batch', 'seq_len', 'heads', 'groups', 'dk', 'dv', 'num_seqs')]
                + [('cu_seqlens', ctypes.c_void_p), ('dtype', ctypes.c_int), ('dt_softplus', ctypes.c_bool)]
                + [(name, ctypes.c_void_p) for name in ('x', 'dt', 'A', 'B', 'C', 'D', 'z', 'dt_bias', 'initial_state', 'out', 'final_state', 'd_out',
                                                        'd_final_state', 'd_x', 'd_dt', 'd_A', 'd_B', 'd_C', 'd_D', 'd_z', 'd_dt_bias',
                                                        'd_initial_state', 'workspace')]
                + [('workspace_bytes', ctypes.c_size_t)])


class LinrecError(RuntimeError):
    def __init__(self, status):
        super().__init__(f'linrec: {LIBRARY.linrec_strerror(status).decode()}')
        self.status = status


def must(status):
    if status != 0:
        raise LinrecError(status)


def packed(tensor):
    """As the library takes it."""
    if tensor is None:
        return None
    tensor = tensor.contiguous()
    return tensor if tensor.data_ptr() % 16 == 0 else tensor.clone()


def launch(operation, direction, call, device):
    """Queues a pass of an operation on the current stream of a device. Its scratch memory is torch's, as the results are: it may be freed as soon as
    the launch is queued, and belongs to a graph that captures it."""
    with torch.cuda.device(device):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        bytes_needed = ctypes.c_size_t()
        must(getattr(LIBRARY, f'linrec_{operation}_workspace')(ctypes.byref(call), direction, ctypes.byref(bytes_needed)))
        if bytes_needed.value != 0:
            workspace = torch.empty(bytes_needed.value, dtype=torch.uint8, device=device)
            call.workspace, call.workspace_bytes = workspace.data_ptr(), bytes_needed.value
            must(LIBRARY.linrec_workspace_init(ctypes.c_void_p(call.workspace), bytes_needed, stream))
        must(getattr(LIBRARY, f"linrec_{operation}_{'backward' if direction == BACKWARD else 'forward'}")(ctypes.byref(call), stream))


def pointers(tensors):
    return {name: tensor.data_ptr() for name, tensor in tensors.items() if tensor is not None}


# ---- time is the last dimension ----

def launch_scan(direction, like, reverse, tensors):
    launch('recurrence', direction, Recurrence(num_seqs=math.prod(like.shape[:-1]), seq_len=like.shape[-1], reverse=reverse, **pointers(tensors)),
           like.device)


def check(inputs, coeffs, initial_state):
    if inputs.dim() < 1 or coeffs.shape != inputs.shape or (initial_state is not None and initial_state.shape != inputs.shape[:-1]):
        raise ValueError(f'linrec: inputs and coeffs have one shape, with time as the last dimension, and initial_state lacks that; these are '
                         f'{[tuple(t.shape) for t in (inputs, coeffs, initial_state) if t is not None]}')
    for tensor in (inputs, coeffs, initial_state):
        if tensor is not None and (tensor.dtype != torch.float32 or tensor.device != inputs.device):
            raise TypeError('linrec: tensors are float32, and on one GPU')


@torch.library.custom_op('linrec::scan', mutates_args=(), device_types='cuda')
def scan(inputs: Tensor, coeffs: Tensor, initial_state: Optional[Tensor] = None, reverse: bool = False) -> Tensor:
    check(inputs, coeffs, initial_state)
    outputs = inputs.new_empty(inputs.shape)
    kept = dict(inputs=packed(inputs), coeffs=packed(coeffs), initial_state=packed(initial_state), outputs=outputs)
    launch_scan(FORWARD, inputs, reverse, kept)
    return outputs


@torch.library.custom_op('linrec::scan_backward', mutates_args=(), device_types='cuda')
def scan_backward(d_outputs: Tensor, coeffs: Tensor, outputs: Tensor, initial_state: Optional[Tensor],
                  reverse: bool) -> Tuple[Tensor, Tensor, Tensor]:
    check(d_outputs, coeffs, initial_state)
    d_inputs, d_coeffs = (coeffs.new_empty(coeffs.shape) for _ in range(2))
    d_initial_state = coeffs.new_empty(coeffs.shape[:-1] if initial_state is not None else (0,))
    kept = dict(d_outputs=packed(d_outputs), coeffs=packed(coeffs), outputs=packed(outputs), initial_state=packed(initial_state),
                d_inputs=d_inputs, d_coeffs=d_coeffs, d_initial_state=d_initial_state if initial_state is not None else None)
    launch_scan(BACKWARD, coeffs, reverse, kept)
    return d_inputs, d_coeffs, d_initial_state


@scan.register_fake
def _(inputs, coeffs, initial_state=None, reverse=False):
    return inputs.new_empty(inputs.shape)


@scan_backward.register_fake
def _(d_outputs, coeffs, outputs, initial_state, reverse):
    return coeffs.new_empty(coeffs.shape), coeffs.new_empty(coeffs.shape), coeffs.new_empty(coeffs.shape[:-1] if initial_state is not None else (0,))


def keep(ctx, inputs, output):
    _, coeffs, initial_state, ctx.reverse = inputs
    ctx.save_for_backward(coeffs, output, initial_state)


def backward(ctx, d_outputs):
    coeffs, outputs, initial_state = ctx.saved_tensors
    d_inputs, d_coeffs, d_initial_state = scan_backward(d_outputs, coeffs, outputs, initial_state, ctx.reverse)
    return d_inputs, d_coeffs, d_initial_state if initial_state is not None else None, None


scan.register_autograd(backward, setup_context=keep)


# ---- (batch, time, channels) ----

DTYPES = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}
BY_STEP = 'inputs', 'coeffs', 'outputs', 'd_outputs', 'd_inputs', 'd_coeffs'


def steps_apart(tensor):
    """As the library takes it: channels are neighbours, and two rows do not overlap; else a copy."""
    *by, channel = tensor.stride()
    fits = (channel == 1 or tensor.shape[-1] == 1) and all(stride >= tensor.shape[-1] for stride, size in zip(by, tensor.shape) if size > 1)
    return tensor if fits else tensor.contiguous()


def strides_of(tensor):
    """Those of (batch, time, channels). Of a size of 1 torch may say any stride: then the library takes its own."""
    return Strides(*(stride if size > 1 else 0 for stride, size in zip(tensor.stride(), tensor.shape[:2])))


def launch_layout(direction, like, reverse, log_coeffs, cu_seqlens, tensors):
    call = Layout(**dict(zip(('batch', 'seq_len', 'channels'), like.shape)), num_seqs=0 if cu_seqlens is None else len(cu_seqlens) - 1,
                  dtype=DTYPES[like.dtype], reverse=reverse, log_coeffs=log_coeffs, **pointers(dict(tensors, cu_seqlens=cu_seqlens)),
                  **{f'{name}_by': strides_of(tensors[name]) for name in BY_STEP if name in tensors})
    launch('layout', direction, call, like.device)


def state_shape(inputs, cu_seqlens):
    return inputs.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1, inputs.shape[2]


def check_layout(inputs, coeffs, initial_state, cu_seqlens):
    if inputs.dim() != 3 or coeffs.shape != inputs.shape or (cu_seqlens is not None and (cu_seqlens.dim() != 1 or len(cu_seqlens) == 0
                                                                                         or inputs.shape[0] != 1)):
        raise ValueError(f'linrec: inputs and coeffs have one shape, (batch, time, channels), and with cu_seqlens, which has one dimension, batch is 1; '
                         f'these are {[tuple(t.shape) for t in (inputs, coeffs, cu_seqlens) if t is not None]}')
    if initial_state is not None and initial_state.shape != state_shape(inputs, cu_seqlens):
        raise ValueError(f'linrec: initial_state has a row for each sequence, {tuple(state_shape(inputs, cu_seqlens))}; this is '
                         f'{tuple(initial_state.shape)}')
    if inputs.dtype not in DTYPES or coeffs.dtype != inputs.dtype or any(t.device != inputs.device for t in (coeffs, initial_state, cu_seqlens)
                                                                         if t is not None):
        raise TypeError('linrec: inputs and coeffs have one type, float32, bfloat16 or float16, and all tensors are on one GPU')
    if (initial_state is not None and initial_state.dtype != torch.float32) or (cu_seqlens is not None and cu_seqlens.dtype != torch.int32):
        raise TypeError('linrec: initial_state is float32, and cu_seqlens is int32')


@torch.library.custom_op('linrec::layout_scan', mutates_args=(), device_types='cuda')
def layout_scan(inputs: Tensor, coeffs: Tensor, initial_state: Optional[Tensor] = None, reverse: bool = False, log_coeffs: bool = False,
                cu_seqlens: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    check_layout(inputs, coeffs, initial_state, cu_seqlens)
    outputs = inputs.new_empty(inputs.shape)
    final_state = inputs.new_empty(state_shape(inputs, cu_seqlens), dtype=torch.float32)
    kept = dict(inputs=steps_apart(inputs), coeffs=steps_apart(coeffs), outputs=outputs, initial_state=packed(initial_state), final_state=final_state)
    launch_layout(FORWARD, inputs, reverse, log_coeffs, packed(cu_seqlens), kept)
    return outputs, final_state


@torch.library.custom_op('linrec::layout_scan_backward', mutates_args=(), device_types='cuda')
def layout_scan_backward(d_outputs: Tensor, d_final_state: Tensor, coeffs: Tensor, outputs: Tensor, initial_state: Optional[Tensor], reverse: bool,
                         log_coeffs: bool, cu_seqlens: Optional[Tensor]) -> Tuple[Tensor, Tensor, Tensor]:
    check_layout(d_outputs, coeffs, initial_state, cu_seqlens)
    d_inputs, d_coeffs = (coeffs.new_empty(coeffs.shape) for _ in range(2))
    d_initial_state = coeffs.new_empty(state_shape(coeffs, cu_seqlens) if initial_state is not None else (0,), dtype=torch.float32)
    kept = dict(d_outputs=steps_apart(d_outputs), coeffs=steps_apart(coeffs), outputs=steps_apart(outputs), d_inputs=d_inputs, d_coeffs=d_coeffs,
                initial_state=packed(initial_state), d_final_state=packed(d_final_state),
                d_initial_state=d_initial_state if initial_state is not None else None)
    launch_layout(BACKWARD, coeffs, reverse, log_coeffs, packed(cu_seqlens), kept)
    return d_inputs, d_coeffs, d_initial_state


@layout_scan.register_fake
def _(inputs, coeffs, initial_state=None, reverse=False, log_coeffs=False, cu_seqlens=None):
    return inputs.new_empty(inputs.shape), inputs.new_empty(state_shape(inputs, cu_seqlens), dtype=torch.float32)


@layout_scan_backward.register_fake
def _(d_outputs, d_final_state, coeffs, outputs, initial_state, reverse, log_coeffs, cu_seqlens):
    shape = state_shape(coeffs, cu_seqlens) if initial_state is not None else (0,)
    return coeffs.new_empty(coeffs.shape), coeffs.new_empty(coeffs.shape), coeffs.new_empty(shape, dtype=torch.float32)


def keep_layout(ctx, inputs, output):
    _, coeffs, initial_state, ctx.reverse, ctx.log_coeffs, cu_seqlens = inputs
    ctx.save_for_backward(coeffs, output[0], initial_state, cu_seqlens)


def backward_layout(ctx, d_outputs, d_final_state):
    coeffs, outputs, initial_state, cu_seqlens = ctx.saved_tensors
    d_inputs, d_coeffs, d_initial_state = layout_scan_backward(d_outputs, d_final_state, coeffs, outputs, initial_state, ctx.reverse, ctx.log_coeffs,
                                                               cu_seqlens)
    return d_inputs, d_coeffs, d_initial_state if initial_state is not None else None, None, None, None


layout_scan.register_autograd(backward_layout, setup_context=keep_layout)


@torch.library.custom_op('linrec::layout_step', mutates_args=('states',), device_types='cuda')
def layout_step(inputs: Tensor, coeffs: Tensor, states: Tensor, slots: Optional[Tensor] = None, log_coeffs: bool = False) -> Tensor:
    if inputs.dim() != 2 or coeffs.shape != inputs.shape or states.dim() != 2 or states.shape[1] != inputs.shape[1] or not states.is_contiguous():
        raise ValueError(f'linrec: inputs and coeffs have one shape, (batch, channels), and states are contiguous, (num_slots, channels); these are '
                         f'{[tuple(t.shape) for t in (inputs, coeffs, states)]}')
    if (inputs.dtype not in DTYPES or coeffs.dtype != inputs.dtype or states.dtype != torch.float32
            or (slots is not None and (slots.dtype != torch.int32 or slots.shape != inputs.shape[:1]))
            or any(t.device != inputs.device for t in (coeffs, states, slots) if t is not None)):
        raise TypeError('linrec: inputs and coeffs have one type, float32, bfloat16 or float16, states are float32, slots are int32, one for each row, '
                        'and all are on one GPU')
    outputs = inputs.new_zeros(inputs.shape)
    kept = dict(inputs=steps_apart(inputs), coeffs=steps_apart(coeffs), outputs=outputs, states=states, slots=packed(slots))
    call = Step(batch=inputs.shape[0], channels=inputs.shape[1], num_slots=states.shape[0], dtype=DTYPES[inputs.dtype], log_coeffs=log_coeffs,
                **pointers(kept), **{f'{name}_by': kept[name].stride(0) if inputs.shape[0] > 1 else 0 for name in ('inputs', 'coeffs', 'outputs')})
    with torch.cuda.device(inputs.device):
        must(LIBRARY.linrec_layout_step(ctypes.byref(call), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))
    return outputs


@layout_step.register_fake
def _(inputs, coeffs, states, slots=None, log_coeffs=False):
    return inputs.new_empty(inputs.shape)


# ---- the layer of Mamba-2 ----

SSD_ARRAYS = 'x', 'dt', 'A', 'B', 'C', 'D', 'z', 'dt_bias', 'initial_state'


def check_ssd(arrays, cu_seqlens):
    x, B = arrays['x'], arrays['B']
    if x.dim() != 4 or B.dim() != 4 or (cu_seqlens is not None and (cu_seqlens.dim() != 1 or len(cu_seqlens) == 0 or x.shape[0] != 1)):
        raise ValueError(f'linrec: x is (batch, time, heads, dv), B is (batch, time, groups, dk), and with cu_seqlens, which has one dimension, batch is '
                         f'1; these are {[tuple(t.shape) for t in (x, B, cu_seqlens) if t is not None]}')
    heads = x.shape[2:3]
    right = dict(x=x.shape, dt=x.shape[:3], A=heads, B=x.shape[:2] + B.shape[2:], C=B.shape, D=heads, z=x.shape, dt_bias=heads,
                 initial_state=ssd_state_shape(x, B, cu_seqlens))
    for name, tensor in arrays.items():
        if tensor is not None and tensor.shape != right[name]:
            raise ValueError(f'linrec: {name} is {tuple(tensor.shape)}, and beside these x and B {tuple(right[name])}')
        if tensor is not None and (tensor.dtype != (torch.float32 if name in ('A', 'D', 'dt_bias', 'initial_state') else x.dtype)
                                   or x.dtype not in DTYPES or tensor.device != x.device):
            raise TypeError('linrec: x, dt, B, C and z have one type, float32, bfloat16 or float16, A, D, dt_bias and initial_state are float32, and all '
                            'are on one GPU')
    if cu_seqlens is not None and (cu_seqlens.dtype != torch.int32 or cu_seqlens.device != x.device):
        raise TypeError('linrec: cu_seqlens is int32, and on the GPU of x')


def ssd_state_shape(x, B, cu_seqlens):
    return torch.Size((x.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1, x.shape[2], x.shape[3], B.shape[3]))


def launch_ssd(direction, dt_softplus, cu_seqlens, tensors):
    x, B = tensors['x'], tensors['B']
    call = Ssd(**dict(zip(('batch', 'seq_len', 'heads', 'dv'), x.shape)), groups=B.shape[2], dk=B.shape[3],
               num_seqs=0 if cu_seqlens is None else len(cu_seqlens) - 1, dtype=DTYPES[x.dtype], dt_softplus=dt_softplus,
               **pointers(dict(tensors, cu_seqlens=cu_seqlens)))
    launch('ssd', direction, call, x.device)


@torch.library.custom_op('linrec::ssd', mutates_args=(), device_types='cuda')
def ssd(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Optional[Tensor] = None, z: Optional[Tensor] = None,
        dt_bias: Optional[Tensor] = None, initial_state: Optional[Tensor] = None, dt_softplus: bool = False,
        cu_seqlens: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    arrays = dict(zip(SSD_ARRAYS, (x, dt, A, B, C, D, z, dt_bias, initial_state)))
    check_ssd(arrays, cu_seqlens)
    out = x.new_empty(x.shape)
    final_state = x.new_empty(ssd_state_shape(x, B, cu_seqlens), dtype=torch.float32)
    kept = {name: packed(tensor) for name, tensor in arrays.items()}
    launch_ssd(FORWARD, dt_softplus, packed(cu_seqlens), dict(kept, out=out, final_state=final_state))
    return out, final_state


@torch.library.custom_op('linrec::ssd_backward', mutates_args=(), device_types='cuda')
def ssd_backward(d_out: Tensor, d_final_state: Tensor, x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Optional[Tensor],
                 z: Optional[Tensor], dt_bias: Optional[Tensor], initial_state: Optional[Tensor], dt_softplus: bool,
                 cu_seqlens: Optional[Tensor]) -> List[Tensor]:
    arrays = dict(zip(SSD_ARRAYS, (x, dt, A, B, C, D, z, dt_bias, initial_state)))
    check_ssd(arrays, cu_seqlens)
    gradients = {f'd_{name}': tensor.new_empty(tensor.shape) for name, tensor in arrays.items() if tensor is not None}
    kept = {name: packed(tensor) for name, tensor in dict(arrays, d_out=d_out, d_final_state=d_final_state).items()}
    launch_ssd(BACKWARD, dt_softplus, packed(cu_seqlens), dict(kept, **gradients))
    return list(gradients.values())


@ssd.register_fake
def _(x, dt, A, B, C, D=None, z=None, dt_bias=None, initial_state=None, dt_softplus=False, cu_seqlens=None):
    return x.new_empty(x.shape), x.new_empty(ssd_state_shape(x, B, cu_seqlens), dtype=torch.float32)


@ssd_backward.register_fake
def _(d_out, d_final_state, x, dt, A, B, C, D, z, dt_bias, initial_state, dt_softplus, cu_seqlens):
    return [tensor.new_empty(tensor.shape) for tensor in (x, dt, A, B, C, D, z, dt_bias, initial_state) if tensor is not None]


def keep_ssd(ctx, inputs, output):
    *arrays, ctx.dt_softplus, cu_seqlens = inputs
    ctx.save_for_backward(*arrays, cu_seqlens)


def ssd_gradients(ctx, d_out, d_final_state):
    *arrays, cu_seqlens = ctx.saved_tensors
    gradients = iter(ssd_backward(d_out, d_final_state, *arrays, ctx.dt_softplus, cu_seqlens))
    return *(next(gradients) if tensor is not None else None for tensor in arrays), None, None


ssd.register_autograd(ssd_gradients, setup_context=keep_ssd)


# ---- checks: the loop in double precision, finite differences, and torch's own checks of an operation ----

def loop(inputs, coeffs, initial_state=None, reverse=False):
    """The same in plain torch, in the type of the tensors."""
    state = torch.zeros_like(inputs[..., 0]) if initial_state is None else initial_state
    outputs = [None] * inputs.shape[-1]
    for l in reversed(range(len(outputs))) if reverse else range(len(outputs)):
        outputs[l] = state = state * coeffs[..., l] + inputs[..., l]
    return torch.stack(outputs, -1)


def problem(shape, state, strided=False):
    """inputs and coeffs, whose gradients are wanted, and an initial state or None; strided: as tensors that are not packed and not aligned."""
    def values(*size):
        return torch.rand(*size[:-1], 2 * size[-1] + 1, device='cuda')[..., 1::2] if strided else torch.rand(*size, device='cuda')
    tensors = [2 * values(*shape) - 1, values(*shape)] if not strided else [values(*shape), values(*shape)]
    return [t.requires_grad_() for t in tensors] + [torch.rand(shape[:-1], device='cuda', requires_grad=True) if state else None]


def worst(tensors, reverse):
    """The largest relative error of the outputs and the gradients, against the loop in double precision."""
    doubles = [t.detach().double().requires_grad_() if t is not None else None for t in tensors]
    weights = torch.rand(tensors[0].shape, device='cuda')
    found, right = scan(*tensors, reverse), loop(*doubles, reverse)
    given = [t for t in tensors if t is not None], [t for t in doubles if t is not None]
    pairs = [(found, right), *zip(torch.autograd.grad(found, given[0], weights), torch.autograd.grad(right, given[1], weights.double()))]
    return max(float(((a.double() - b).abs() / (1 + b.abs())).max().detach()) for a, b in pairs)


def layout_loop(inputs, coeffs, initial_state, reverse, log_coeffs, cu_seqlens):
    """layout_scan in plain torch, in the type of the tensors."""
    edges = [0, inputs.shape[1]] if cu_seqlens is None else cu_seqlens.tolist()
    outputs, final = [None] * inputs.shape[1], []
    coeffs = coeffs.exp() if log_coeffs else coeffs
    for s, (first, end) in enumerate(zip(edges, edges[1:])):
        state = torch.zeros_like(inputs[:, 0]) if initial_state is None else initial_state if cu_seqlens is None else initial_state[s:s + 1]
        for t in reversed(range(first, end)) if reverse else range(first, end):
            outputs[t] = state = state * coeffs[:, t] + inputs[:, t]
        final.append(state)
    return torch.stack(outputs, 1), torch.cat(final)


def layout_problem(shape, state, dtype, strided=False, log_coeffs=False, edges=None):
    """inputs and coeffs, whose gradients are wanted, an initial state or None, and cu_seqlens or None; strided: as slices of wider tensors."""
    batch, seq_len, channels = shape

    def values(low, high):
        wide = (low + (high - low) * torch.rand(batch, seq_len, channels + 3, device='cuda')).to(dtype)
        return (wide[..., 1:channels + 1] if strided else wide[..., :channels].contiguous()).requires_grad_()
    rows = batch if edges is None else len(edges) - 1
    return (values(-1, 1), values(-1, 0) if log_coeffs else values(0, 1), torch.rand(rows, channels, device='cuda', requires_grad=True) if state else None,
            torch.tensor(edges, dtype=torch.int32, device='cuda') if edges is not None else None)


def worst_layout(tensors, reverse, log_coeffs):
    """As worst, and of the final state, too."""
    *floats, cu_seqlens = tensors
    doubles = [t.detach().double().requires_grad_() if t is not None else None for t in floats]
    found, right = layout_scan(*floats, reverse, log_coeffs, cu_seqlens), layout_loop(*doubles, reverse, log_coeffs, cu_seqlens)
    weights = [torch.rand_like(t) for t in found]
    given = [t for t in floats if t is not None], [t for t in doubles if t is not None]
    pairs = [*zip(found, right), *zip(torch.autograd.grad(found, given[0], weights), torch.autograd.grad(right, given[1], [w.double() for w in weights]))]
    return max(float(((a.double() - b).abs() / (1 + b.abs())).max().detach()) for a, b in pairs)


def check_layout_operations(tell):
    edges = [0, 0, 100, 100, 101, 300, 300]
    cases = ((2, 7, 5), False, None), ((2, 300, 66), False, None), ((3, 40, 33), True, None), ((1, 300, 8), False, edges), ((1, 300, 7), True, edges)
    for dtype, limit in ((torch.float32, 1e-5), (torch.bfloat16, 1e-5 + 2 * 2**-8), (torch.float16, 1e-5 + 2 * 2**-11)):
        # in 16 bits an output is rounded, and so is a gradient, which is computed of rounded outputs
        for reverse, log_coeffs, state in itertools.product((False, True), repeat=3):
            for shape, strided, edges_here in cases:
                error = worst_layout(layout_problem(shape, state, dtype, strided, log_coeffs, edges_here), reverse, log_coeffs)
                tell(f"layout, {dtype}, {'reversed' if reverse else 'forward'}{', from a state' if state else ''}{', logarithms' if log_coeffs else ''}, "
                     f"{'x'.join(map(str, shape))}{', strided' if strided else ''}{', packed' if edges_here else ''}: error {error:.1e}",
                     None if error < limit else f'more than {limit:.1e}')
    for state, edges_here in itertools.product((False, True), (None, [0, 3, 3, 7])):
        *floats, cu_seqlens = layout_problem((2 if edges_here is None else 1, 7, 3), state, torch.float32, edges=edges_here)
        what = f"layout{', from a state' if state else ''}{', packed' if edges_here else ''}"
        attempt(tell, f'gradcheck, {what}', lambda: torch.autograd.gradcheck(
            lambda *t: layout_scan(*t, *([] if state else [None]), True, False, cu_seqlens), [t for t in floats if t is not None],
            eps=0.25, atol=1e-4, rtol=1e-4))
        attempt(tell, f'opcheck, {what}', lambda: torch.library.opcheck(layout_scan, (*floats, True, True, cu_seqlens)))
    for dtype, slots in itertools.product(DTYPES, (None, [4, -1, 0])):
        x, c = torch.rand(3, 10, device='cuda').to(dtype)[:, 1:7], torch.rand(3, 6, device='cuda').to(dtype)
        states = torch.rand(5, 6, device='cuda')
        slots_here = None if slots is None else torch.tensor(slots, dtype=torch.int32, device='cuda')
        right, right_outputs = states.double(), torch.zeros(3, 6, device='cuda', dtype=torch.double)
        for row, slot in enumerate(range(3) if slots is None else slots):
            if slot >= 0:
                right_outputs[row] = right[slot] = c[row].double() * right[slot] + x[row].double()
        outputs = layout_step(x, c, states, slots_here)
        error = max(float((states - right).abs().max()), float((outputs.double() - right_outputs).abs().max()))
        limit = 1e-5 + {torch.float32: 0, torch.bfloat16: 2**-8, torch.float16: 2**-11}[dtype]  # outputs are below 2, and rounded
        tell(f"step, {dtype}{', slots' if slots else ''}: error {error:.1e}", None if error < limit else f'more than {limit:.1e}')
        attempt(tell, f"opcheck, step, {dtype}{', slots' if slots else ''}", lambda: torch.library.opcheck(layout_step, (x, c, states, slots_here)))


def ssd_loop(x, dt, A, B, C, D, z, dt_bias, initial_state, dt_softplus, cu_seqlens):
    """ssd in plain torch, in the type of the tensors."""
    batch, seq_len, heads, dv = x.shape
    B, C = (t.repeat_interleave(heads // t.shape[2], dim=2) for t in (B, C))
    s = dt if dt_bias is None else dt + dt_bias
    s = torch.nn.functional.softplus(s) if dt_softplus else s
    edges = [0, seq_len] if cu_seqlens is None else cu_seqlens.tolist()
    y, final = [None] * seq_len, []
    for sequence, (first, end) in enumerate(zip(edges, edges[1:])):
        state = x.new_zeros(batch, heads, dv, B.shape[3])
        if initial_state is not None:
            state = initial_state if cu_seqlens is None else initial_state[sequence:sequence + 1]
        for t in range(first, end):
            added = s[:, t, :, None, None] * x[:, t, :, :, None] * B[:, t, :, None, :]
            state = (s[:, t] * A).exp()[..., None, None] * state + added
            y[t] = (state * C[:, t, :, None, :]).sum(-1)
        final.append(state)
    y = torch.stack(y, 1) + (0 if D is None else D[:, None] * x)
    return y if z is None else y * torch.nn.functional.silu(z), torch.cat(final)


def ssd_problem(shape, everything, dtype, edges=None):
    """The arrays of ssd whose gradients are wanted, in its order; those that may be missing are None unless everything."""
    batch, seq_len, heads, groups, dk, dv = shape

    def values(low, high, *size, dtype=dtype):
        return (low + (high - low) * torch.rand(*size, device='cuda')).to(dtype).requires_grad_()
    f, rows = torch.float32, batch if edges is None else len(edges) - 1
    more = (values(-1, 1, heads, dtype=f), values(-1, 1, batch, seq_len, heads, dv), values(-1, 1, heads, dtype=f),
            values(-1, 1, rows, heads, dv, dk, dtype=f)) if everything else (None,) * 4
    return (values(-1, 1, batch, seq_len, heads, dv), values(0, 0.2, batch, seq_len, heads), values(-2, -0.5, heads, dtype=f),
            values(-1, 1, batch, seq_len, groups, dk), values(-1, 1, batch, seq_len, groups, dk)) + more


def worst_ssd(tensors, dt_softplus, edges):
    """The largest error of the results and the gradients against the loop in double precision, of each relative to its largest number."""
    cu_seqlens = torch.tensor(edges, dtype=torch.int32, device='cuda') if edges is not None else None
    doubles = [t.detach().double().requires_grad_() if t is not None else None for t in tensors]
    found, right = ssd(*tensors, dt_softplus, cu_seqlens), ssd_loop(*doubles, dt_softplus, cu_seqlens)
    weights = [2 * torch.rand_like(t) - 1 for t in found]
    given = [t for t in tensors if t is not None], [t for t in doubles if t is not None]
    pairs = [*zip(found, right), *zip(torch.autograd.grad(found, given[0], weights), torch.autograd.grad(right, given[1], [w.double() for w in weights]))]
    return max(float(((a.double() - b).abs().max() / b.abs().max()).detach()) for a, b in pairs if b.numel() != 0)


def check_ssd_operation(tell):
    cases = ((2, 7, 2, 1, 5, 3), None), ((1, 150, 4, 2, 64, 64), None), ((1, 150, 2, 1, 16, 8), [0, 0, 60, 61, 130, 150])
    for dtype, limit in ((torch.float32, 1e-5), (torch.bfloat16, 4 * 2**-8), (torch.float16, 4 * 2**-11)):
        # in 16 bits a result is rounded, and before that the factors of three products, one after the other
        for everything in (False, True):
            for shape, edges in cases:
                error = worst_ssd(ssd_problem(shape, everything, dtype, edges), everything, edges)
                tell(f"ssd, {dtype}, {'x'.join(map(str, shape))}{', with everything' if everything else ''}{', packed' if edges else ''}: "
                     f'error {error:.1e}', None if error < limit else f'more than {limit:.1e}')
                attempt(tell, f"opcheck, ssd, {dtype}{', with everything' if everything else ''}{', packed' if edges else ''}",
                        lambda: torch.library.opcheck(ssd, (*ssd_problem(shape, everything, dtype, edges), everything, torch.tensor(
                            edges, dtype=torch.int32, device='cuda') if edges is not None else None)))


def attempt(tell, what, call):
    try:
        call()
        tell(what, None)
    except Exception as error:
        tell(what, error)


def main():
    torch.manual_seed(1)
    warnings.filterwarnings('ignore', message='Input #')  # of gradcheck, which would rather have double precision
    failed = 0

    def tell(what, wrong):
        nonlocal failed
        failed += wrong is not None
        print(f"{'ok    ' if wrong is None else 'FAILED'} {what}{'' if wrong is None else f': {wrong}'}", flush=True)

    states = [False, True]
    try:
        scan(*problem((2, 5), True))
    except LinrecError as error:
        if error.status != NOT_SUPPORTED:
            raise
        print('this library takes no initial state: without')
        states = [False]
    for state in states:
        for reverse in (False, True):
            what = f"{'reversed' if reverse else 'forward'}{', from a state' if state else ''}"
            for shape, strided in (((5,), False), ((3, 100), False), ((2, 3, 1001), False), ((7, 129), True), ((1, 20000), False)):
                error = worst(problem(shape, state, strided), reverse)
                tell(f"{what}, {'x'.join(map(str, shape))}{', strided' if strided else ''}: error {error:.1e}", None if error < 1e-5 else 'more than 1e-5')
            # each output is linear in each input and in each coefficient alone, so that a difference is exact for a large step, too, and
            # float32 has enough digits for it
            tensors = problem((2, 9), state)
            attempt(tell, f'gradcheck, {what}', lambda: torch.autograd.gradcheck(
                lambda *t: scan(*t, *([] if state else [None]), reverse), [t for t in tensors if t is not None], eps=0.25, atol=1e-4, rtol=1e-4))
            attempt(tell, f'opcheck, {what}', lambda: torch.library.opcheck(scan, (*tensors, reverse)))
    check_layout_operations(tell)
    check_ssd_operation(tell)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
