// right
// SPDX-License-Identifier: MIT
// Two halves or four bytes of a word at once; maxima with sums.
#include "corpus.h"

__global__ void kernel(float *x, unsigned a, unsigned b) /* a: 01 ff 80 04, b: 02 00 7f fe */
{
    const bool sums = __vadd4(a, b) == 0x03ffff02 && __vadd2(a, b) == 0x03ff0002 && __vaddss4(a, b) == 0x03ffff02 &&
                      __vaddus4(a, b) == 0x03ffffff && __vsub4(a, b) == 0xffff0106 && __vsubss4(a, b) == 0xffff8006 &&
                      __vsubus4(a, b) == 0x00ff0100;
    const bool sides = __vmaxs4(a, b) == 0x02007f04 && __vmaxu4(a, b) == 0x02ff80fe && __vmins4(a, b) == 0x01ff80fe &&
                       __vminu4(a, b) == 0x01007f04 && __vmaxs2(a, b) == 0x02007ffe && __vminu2(a, b) == 0x01ff7ffe;
    const bool apart = __vabsdiffu4(a, b) == 0x01ff01fa && __vabsdiffs4(a, b) == 0x0101ff06 &&
                       __vsadu4(a, b) == 0x1fb && __vsads4(a, b) == 0x107 && __vsadu2(a, b) == 7;
    const bool means = __vavgu4(a, b) == 0x02808081 && __vhaddu4(a, b) == 0x017f7f81 && __vavgs4(a, b) == 0x02ffff01 &&
                       __vavgs4(~0u, 0) == ~0u;
    const bool compared = __vcmpeq4(a, a ^ 0x00100000) == 0xff00ffff && __vcmpgts4(a, b) == 0x000000ff &&
                          __vcmpgtu4(a, b) == 0x00ffff00 && __vsetles2(a, b) == 0x00010001 &&
                          __vsetltu4(a, b) == 0x01000001 && __vcmpne2(a, a) == 0;
    const bool signs = __vabs4(a) == 0x01018004 && __vabsss4(a) == 0x01017f04 && __vneg2(a) == 0xfe017ffc &&
                       __vnegss4(a) == 0xff017ffc;
    bool high, low;
    const bool extremes = __vimax3_s32(-1, 5, 2) == 5 && __vimin3_u32(7, 5, ~0u) == 5 &&
                          __viaddmax_s16x2_relu(a, b, 0) == 0x03ff0002 && __viaddmin_s32(3, 4, 9) == 7 &&
                          __vibmax_u16x2(a, b, &high, &low) == 0x02008004 && !high && low;
    x[threadIdx.x] = 2 * x[threadIdx.x] +
                     (float)(sums + 2 * sides + 4 * apart + 8 * means + 16 * compared + 32 * signs + 64 * extremes);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, 0x01ff8004, 0x02007ffe);
    return finish(x, 2, 127);
}
