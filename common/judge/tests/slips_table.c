/* SPDX-License-Identifier: MIT */
/* slips_table.c - makes each slip of the table in slips.c, and prints what find_slip says: `FORMULA: SENTENCE'. */
#include "../slips.c"

static void reference(const size_t *size, double *const *array)
{
#ifdef GRADIENT
    for (size_t i = size[0] * size[1]; i-- > 0;) {
        array[3][i] = array[0][i] + ((i + 1) % size[1] == 0 ? 0.0 : array[3][i + 1] * array[1][i + 1]);
        array[4][i] = i % size[1] == 0 ? 0.0 : array[2][i - 1] * array[3][i];
    }
    return;
#endif
    if (judge.arrays[1].role == JUDGE_VALUES)
        for (size_t i = 0; i < size[0] * size[1]; i++)
            array[2][i] = array[0][i] + array[1][i];
    else
        for (size_t i = 0; i < size[0] * size[1]; i++)
            array[2][i] = i % size[1] == 0 ? array[0][i] : array[2][i - 1] * array[1][i] + array[0][i];
}

#ifdef SUM
#define SLIPS of_sum
#define SECOND JUDGE_VALUES
#elif defined GRADIENT
#define SLIPS of_gradient
#define SECOND JUDGE_COEFFS
#else
#define SLIPS of_recurrence
#define SECOND JUDGE_COEFFS
#endif

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
#ifdef GRADIENT
    .arrays = {{"dy", JUDGE_VALUES, NULL},
               {"c", SECOND, NULL},
               {"y", JUDGE_VALUES, NULL},
               {"dx", JUDGE_OUTPUTS, NULL},
               {"dc", JUDGE_OUTPUTS, NULL}},
    .reversed = true,
#else
    .arrays = {{"a", JUDGE_VALUES, NULL}, {"b", SECOND, NULL}, {"y", JUDGE_OUTPUTS, NULL}},
#endif
    .reference = reference,
};

int main(void)
{
    const size_t size[JUDGE_MAX_SIZES] = {3, 8}, at = 8 + 4;
    const int out = num_arrays() - 1;
    struct a_case c = make_case(size, PLAIN);
    char sentence[1000];

    reference(size, c.right);
    memset(c.written[out], 1, c.count[out]);
    for (size_t i = 0; i < c.count[out]; i++)
        c.largest[out][i] = 10.0;
    c.host[out][at] = (float)c.right[out][at];
    printf("right: %s\n", find_slip(&c, out, at, sentence, sizeof sentence) ? sentence : "-");
    c.host[out][at] = 7.75f;
    printf("unknown: %s\n", find_slip(&c, out, at, sentence, sizeof sentence) ? sentence : "-");
    for (size_t s = 0; s < sizeof SLIPS / sizeof *SLIPS; s++) {
        struct operands all = {0};
        double value = 0, largest;

        if (set_operands(&all, &c, out, at) == NOTHING_KNOWN || !evaluate(&all, SLIPS[s].formula, &value, &largest))
            printf("%s cannot be computed\n", SLIPS[s].formula);
        c.host[out][at] = (float)value;
        printf("%s: %s\n", SLIPS[s].asks, find_slip(&c, out, at, sentence, sizeof sentence) ? sentence : "-");
    }
    free_case(&c);
    return 0;
}
