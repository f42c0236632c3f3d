/* SPDX-License-Identifier: MIT */
/* slips.c - the table of usual slips, their formulas, and the search. */
#include "slips.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The operands, by a letter each, for the element that is wrong. Small letters are of the step after, o and p of the
   sequences beside. In a recurrence: Y the output of the step before, C and X the step's own coefficient and input, V
   and W those of the step before. In a sum: A and B, and D and E those of the step before. In the gradient of a
   coefficient: F the output of the step after and I the gradient of the own input, which are multiplied; G and H the
   outputs of this step and of the one before, J and K the gradients of the inputs of the steps after and
   before, L that of the output. */
static const char letters[] = "YCXVWcxopABDEabFGHIJKL";

struct slip {
    const char *formula; /* letters and the operators +, - and *, which bind as in C */
    const char *asks;
};

static const struct slip of_recurrence[] = {
    {"Y + C * X", "are * and + swapped"},
    {"Y + C + X", "is a * missing"},
    {"Y * C * X", "is a + missing"},
    {"Y * C - X", "should the - be a +"},
    {"X - Y * C", "should the - be a +"},
    {"Y * C", "is the input forgotten"},
    {"Y + X", "is the coefficient forgotten"},
    {"X", "is what comes from the step before dropped"},
    {"Y", "is this step left out"},
    {"X * C", "is what comes from the step before dropped, and is the coefficient meant for that"},
    {"W * C + X", "does it take the input of the step before in place of the output"},
    {"Y * V + X", "does it take the coefficient of the step before"},
    {"Y * c + X", "does it take the coefficient of the step after"},
    {"Y * C + W", "does it take the input of the step before"},
    {"Y * C + x", "does it take the input of the step after"},
    {"o", "does it take the index of the sequence before"},
    {"p", "does it take the index of the sequence after"},
};

static const struct slip of_sum[] = {
    {"A - B", "should the - be a +"},        {"B - A", "should the - be a +"},
    {"A * B", "should the * be a +"},        {"A", "is the other one forgotten"},
    {"B", "is the other one forgotten"},     {"A + A", "is it the same array twice"},
    {"B + B", "is it the same array twice"}, {"D + B", "is an index one too low"},
    {"A + E", "is an index one too low"},    {"D + E", "is the index one too low"},
    {"a + B", "is an index one too high"},   {"A + b", "is an index one too high"},
    {"a + b", "is the index one too high"},
};

static const struct slip of_gradient[] = {
    {"G * I", "does it take the element's own output"},
    {"H * I", "does it take the output on the other side"},
    {"F * J", "does it take the gradient of another input"},
    {"F * K", "does it take the gradient of another input"},
    {"F * L", "does it take the gradient of the output in place of the input's"},
    {"I", "is the output forgotten"},
    {"F", "is the gradient forgotten"},
    {"F + I", "should the + be a *"},
};

enum made_of { NOTHING_KNOWN, A_SUM, A_RECURRENCE, A_GRADIENT };
static const struct {
    const struct slip *slips;
    size_t count;
} tables[] = {
    [A_SUM] = {of_sum, sizeof of_sum / sizeof *of_sum},
    [A_RECURRENCE] = {of_recurrence, sizeof of_recurrence / sizeof *of_recurrence},
    [A_GRADIENT] = {of_gradient, sizeof of_gradient / sizeof *of_gradient},
};

struct operand {
    bool is_there;
    float value;
    char name[80];
};

struct operands {
    struct operand of[sizeof letters];
};

static struct operand *find(struct operands *all, char letter)
{
    return &all->of[strchr(letters, letter) - letters];
}

/* Element i of an array: an input, or of an output what is right. */
static void set(struct operands *all, char letter, const struct a_case *c, int array, size_t i)
{
    struct operand *operand = find(all, letter);

    operand->is_there = true;
    operand->value = (float)c->right[array][i];
    name_element(c, array, i, operand->name, sizeof operand->name);
}

/* The value of a formula, and the sum of what its terms are in size; false where an operand is not there. */
static bool evaluate(struct operands *all, const char *formula, double *value, double *largest)
{
    double term = 1.0, sign = 1.0;

    *value = *largest = 0.0;
    for (const char *p = formula; *p != '\0'; p++) {
        const struct operand *operand;
        if (*p == ' ' || *p == '*')
            continue;
        if (*p == '+' || *p == '-') {
            *value += sign * term;
            *largest += fabs(term);
            term = 1.0;
            sign = *p == '-' ? -1.0 : 1.0;
            continue;
        }
        operand = find(all, *p);
        if (!operand->is_there)
            return false;
        term *= operand->value;
    }
    *value += sign * term;
    *largest += fabs(term);
    return true;
}

/* The formula with names in place of letters. */
static void spell(struct operands *all, const char *formula, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (const char *p = formula; *p != '\0' && used < size; p++) {
        const char one[] = {*p, '\0'};
        used += (size_t)snprintf(text + used, size - used, "%s", strchr(letters, *p) ? find(all, *p)->name : one);
    }
}

static bool is_near(double a, double b, double largest)
{
    return fabs(a - b) <= 4.0 * FLT_EPSILON * largest + FLT_MIN;
}

/* Whether an element of array y is the product of an output of the forward pass, array 2, and a gradient that is in the
   array before y; sets the operands. */
static bool set_gradient(struct operands *all, const struct a_case *c, int y, size_t i)
{
    const struct position at = position_of(c, y, i);
    const size_t before = i - (size_t)at.to_next, after = i + (size_t)at.to_next;
    double value, largest;

    if (y < 4 || at.step + 1 >= at.len || !is_whole(2) || !is_whole(y - 1) || judge.arrays[2].role != JUDGE_VALUES ||
        judge.arrays[y - 1].role != JUDGE_OUTPUTS)
        return false;
    set(all, 'F', c, 2, after), set(all, 'G', c, 2, i);
    set(all, 'I', c, y - 1, i), set(all, 'J', c, y - 1, after), set(all, 'L', c, 0, i);
    if (at.step > 0)
        set(all, 'H', c, 2, before), set(all, 'K', c, y - 1, before);
    return evaluate(all, "F * I", &value, &largest) && is_near(value, c->right[y][i], largest);
}

/* What the element is made of: a sum of arrays 0 and 1, a recurrence of inputs 0 and coefficients 1 (gradients take the
   coefficient of the step before, and that is "own" here), or the gradient of a coefficient. Sets the operands. */
static enum made_of set_operands(struct operands *all, const struct a_case *c, int y, size_t i)
{
    const struct position at = position_of(c, y, i);
    const size_t before = i - (size_t)at.to_next, after = i + (size_t)at.to_next;
    const bool has_after = at.step + 1 < at.len;
    double value, largest;

    if (!is_whole(0) || !is_whole(1) || judge.arrays[0].role != JUDGE_VALUES)
        return NOTHING_KNOWN;
    if (judge.arrays[1].role == JUDGE_OUTPUTS)
        return NOTHING_KNOWN;
    if (set_gradient(all, c, y, i))
        return A_GRADIENT;
    if (judge.arrays[1].role == JUDGE_VALUES) {
        set(all, 'A', c, 0, i), set(all, 'B', c, 1, i);
        if (at.step > 0)
            set(all, 'D', c, 0, before), set(all, 'E', c, 1, before);
        if (has_after)
            set(all, 'a', c, 0, after), set(all, 'b', c, 1, after);
        return evaluate(all, "A + B", &value, &largest) && is_near(value, c->right[y][i], largest) ? A_SUM
                                                                                                   : NOTHING_KNOWN;
    }
    set(all, 'C', c, 1, i), set(all, 'X', c, 0, i);
    if (has_after)
        set(all, 'c', c, 1, after), set(all, 'x', c, 0, after);
    if (at.seq > 0)
        set(all, 'o', c, y, i - beside(c));
    if (at.seq + 1 < c->count[y] / at.len)
        set(all, 'p', c, y, i + beside(c));
    if (at.step == 0)
        return is_near(find(all, 'X')->value, c->right[y][i], 0.0) ? A_RECURRENCE : NOTHING_KNOWN;
    set(all, 'Y', c, y, before), set(all, 'V', c, 1, before), set(all, 'W', c, 0, before);
    if (evaluate(all, "Y * C + X", &value, &largest) && is_near(value, c->right[y][i], largest))
        return A_RECURRENCE;
    set(all, 'Y', c, 0, before); /* one step, from the inputs */
    if (evaluate(all, "Y * C + X", &value, &largest) && is_near(value, c->right[y][i], largest))
        return A_RECURRENCE;
    set(all, 'Y', c, y, before), set(all, 'C', c, 1, before), set(all, 'c', c, 1, i);
    find(all, 'V')->is_there = false;
    return evaluate(all, "Y * C + X", &value, &largest) && is_near(value, c->right[y][i], largest) ? A_RECURRENCE
                                                                                                   : NOTHING_KNOWN;
}

bool find_slip(const struct a_case *c, int array, size_t i, char *sentence, size_t size)
{
    struct operands all = {0};
    const double got = c->host[array][i], right = c->right[array][i];
    enum made_of made_of;

    if (!c->written[array][i] || !isfinite(got) || !isfinite(right) || c->kind == OVERFLOW)
        return false;
    if (!is_whole(array) || (made_of = set_operands(&all, c, array, i)) == NOTHING_KNOWN)
        return false;
    const struct slip *slips = tables[made_of].slips;
    for (size_t s = 0; s < tables[made_of].count; s++) {
        double value, largest;
        char formula[400];
        if (!evaluate(&all, slips[s].formula, &value, &largest) || !is_near(got, value, largest) ||
            is_near(right, value, 64.0 * (largest + c->largest[array][i])))
            continue;
        spell(&all, slips[s].formula, formula, sizeof formula);
        snprintf(sentence, size, "This is what %s %s: %s?", formula, strchr(formula, ' ') ? "gives" : "is",
                 slips[s].asks);
        return true;
    }
    return false;
}
