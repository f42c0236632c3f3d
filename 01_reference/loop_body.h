/* SPDX-License-Identifier: MIT */
/* loop_body.h - the loop over one sequence, in all four directions. loop.c includes it twice: once with `real` as
   float, once as double. No include guard, on purpose.

   A direction is a first element and a step: +1 walks from the first element to the last, -1 from the last to the
   first. All else is the same. */

void seq_forward(size_t seq_len, bool reverse, const real *inputs, const real *coeffs, real *outputs)
{
    if (seq_len == 0)
        return;

    const ptrdiff_t last = (ptrdiff_t)seq_len - 1;
    const ptrdiff_t step = reverse ? -1 : 1;
    ptrdiff_t l = reverse ? last : 0;

    real y = inputs[l]; /* the first element has nothing before it, so its coefficient stays unread */
    outputs[l] = y;
    for (size_t n = 1; n < seq_len; n++) {
        l += step;
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

void seq_backward(size_t seq_len, bool reverse, const real *d_outputs, const real *coeffs, const real *outputs,
                  real *d_inputs, real *d_coeffs)
{
    if (seq_len == 0)
        return;

    const ptrdiff_t last = (ptrdiff_t)seq_len - 1;
    const ptrdiff_t step = reverse ? 1 : -1; /* against the direction of the forward loop */
    ptrdiff_t l = reverse ? 0 : last;

    real d_x = d_outputs[l];
    for (size_t n = 1; n < seq_len; n++) {
        const ptrdiff_t next = l + step; /* the element that the forward loop met just before l */
        d_inputs[l] = d_x;
        d_coeffs[l] = outputs[next] * d_x;
        d_x = d_x * coeffs[l] + d_outputs[next]; /* shifted: c[l] took y[next] into y[l], so it takes d_x back */
        l = next;
    }
    d_inputs[l] = d_x;
    d_coeffs[l] = 0; /* never used, so nothing depends on it */
}
