/* SPDX-License-Identifier: MIT */
/* slips_table.c - makes each slip of the table in slips.c, and prints what find_slip says: `FORMULA: SENTENCE'. */
#include "../slips.c"

static void reference(const size_t *size, double *const *array)
{
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
#else
#define SLIPS of_recurrence
#define SECOND JUDGE_COEFFS
#endif

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .arrays = {{"a", JUDGE_VALUES, NULL}, {"b", SECOND, NULL}, {"y", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
};

int main(void)
{
    const size_t size[JUDGE_MAX_SIZES] = {3, 8}, at = 8 + 4;
    struct a_case c = make_case(size, PLAIN);
    char sentence[1000];

    reference(size, c.right);
    memset(c.written[2], 1, c.count[2]);
    for (size_t i = 0; i < c.count[2]; i++)
        c.largest[2][i] = 10.0;
    c.host[2][at] = (float)c.right[2][at];
    printf("right: %s\n", find_slip(&c, 2, at, sentence, sizeof sentence) ? sentence : "-");
    c.host[2][at] = 7.75f;
    printf("unknown: %s\n", find_slip(&c, 2, at, sentence, sizeof sentence) ? sentence : "-");
    for (size_t s = 0; s < sizeof SLIPS / sizeof *SLIPS; s++) {
        struct operands all = {0};
        double value = 0, largest;
        bool is_sum;

        if (!set_operands(&all, &c, 2, at, &is_sum) || !evaluate(&all, SLIPS[s].formula, &value, &largest))
            printf("%s cannot be computed\n", SLIPS[s].formula);
        c.host[2][at] = (float)value;
        printf("%s: %s\n", SLIPS[s].asks, find_slip(&c, 2, at, sentence, sizeof sentence) ? sentence : "-");
    }
    free_case(&c);
    return 0;
}
