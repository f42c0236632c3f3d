#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch_linrec.py - the linear recurrence of liblinrec as an operation of torch, with gradients (docs/library.md).

    from torch_linrec import scan
    y = scan(inputs, coeffs)                         # y[..., l] = y[..., l-1] * coeffs[..., l] + inputs[..., l]
    y = scan(inputs, coeffs, initial_state, True)    # from the last element to the first, and from a state

Tensors are float32 on one GPU. Time is the last dimension, and all others are sequences; initial_state lacks the last one. The one rule for strides
and alignment: what is not contiguous, or does not begin at a multiple of 16 bytes, is copied first; results are contiguous. The state after the last
element is y[..., -1] (reversed: y[..., 0]), whose gradient torch knows.

It needs torch 2.4 and liblinrec.so, where the loader finds it or where LINREC_LIBRARY says. `python3 torch_linrec.py` checks it on a GPU.
"""
import ctypes
import math
import os
import sys
import warnings
from typing import Optional, Tuple

import torch
from torch import Tensor

LIBRARY = ctypes.CDLL(os.environ.get('LINREC_LIBRARY', 'liblinrec.so.0'))
LIBRARY.linrec_strerror.restype = ctypes.c_char_p
FORWARD, BACKWARD = 0, 1
NOT_SUPPORTED = 3


class Recurrence(ctypes.Structure):
    """struct linrec_recurrence of linrec.h, field by field."""
    _fields_ = ([('num_seqs', ctypes.c_size_t), ('seq_len', ctypes.c_size_t), ('reverse', ctypes.c_bool)]
                + [(name, ctypes.c_void_p) for name in ('inputs', 'coeffs', 'outputs', 'd_outputs', 'd_inputs', 'd_coeffs',
                                                        'initial_state', 'final_state', 'd_final_state', 'd_initial_state', 'workspace')]
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


def launch(direction, like, reverse, tensors):
    """Queues a pass on the current stream of the tensors' device. Its scratch memory is torch's, as the results are: it may be freed as soon as the
    launch is queued, and belongs to a graph that captures it."""
    with torch.cuda.device(like.device):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        call = Recurrence(num_seqs=math.prod(like.shape[:-1]), seq_len=like.shape[-1], reverse=reverse,
                          **{name: tensor.data_ptr() for name, tensor in tensors.items() if tensor is not None})
        bytes_needed = ctypes.c_size_t()
        must(LIBRARY.linrec_recurrence_workspace(ctypes.byref(call), direction, ctypes.byref(bytes_needed)))
        if bytes_needed.value != 0:
            workspace = torch.empty(bytes_needed.value, dtype=torch.uint8, device=like.device)
            call.workspace, call.workspace_bytes = workspace.data_ptr(), bytes_needed.value
            must(LIBRARY.linrec_workspace_init(ctypes.c_void_p(call.workspace), bytes_needed, stream))
        function = LIBRARY.linrec_recurrence_backward if direction == BACKWARD else LIBRARY.linrec_recurrence_forward
        must(function(ctypes.byref(call), stream))


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
    launch(FORWARD, inputs, reverse, kept)
    return outputs


@torch.library.custom_op('linrec::scan_backward', mutates_args=(), device_types='cuda')
def scan_backward(d_outputs: Tensor, coeffs: Tensor, outputs: Tensor, initial_state: Optional[Tensor],
                  reverse: bool) -> Tuple[Tensor, Tensor, Tensor]:
    check(d_outputs, coeffs, initial_state)
    d_inputs, d_coeffs = (coeffs.new_empty(coeffs.shape) for _ in range(2))
    d_initial_state = coeffs.new_empty(coeffs.shape[:-1] if initial_state is not None else (0,))
    kept = dict(d_outputs=packed(d_outputs), coeffs=packed(coeffs), outputs=packed(outputs), initial_state=packed(initial_state),
                d_inputs=d_inputs, d_coeffs=d_coeffs, d_initial_state=d_initial_state if initial_state is not None else None)
    launch(BACKWARD, coeffs, reverse, kept)
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
            try:
                torch.autograd.gradcheck(lambda *t: scan(*t, *([] if state else [None]), reverse), [t for t in tensors if t is not None],
                                         eps=0.25, atol=1e-4, rtol=1e-4)
                tell(f'gradcheck, {what}', None)
            except Exception as error:
                tell(f'gradcheck, {what}', error)
            try:
                torch.library.opcheck(scan, (*tensors, reverse))
                tell(f'opcheck, {what}', None)
            except Exception as error:
                tell(f'opcheck, {what}', error)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
