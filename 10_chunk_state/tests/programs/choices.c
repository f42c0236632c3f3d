/* SPDX-License-Identifier: MIT */
/* choices.c - asks the default of chapter 10 for its choice, on any chip: of each line

       ARCH SHARED MULTIPROCESSORS  forward|backward TYPE BATCH CHUNKS HEADS DK DV RANK DECAYS

   it prints the variant's name. forward_packed and backward_packed: of packed sequences. SHARED is what a block may
   have in bytes. ARCH 0: the GPU that is there, as the code was compiled for it; then `wgmma` is told from `mma`. */
#include <stdio.h>
#include <string.h>

#include "../../kernels/kernels.h"

int main(void)
{
    static const char *const names[] = {
        [CHOICE_REGISTERS] = "registers", [CHOICE_PREFETCH] = "prefetch", [CHOICE_TMA] = "tma",
        [CHOICE_SPLIT] = "split",         [CHOICE_LOW_RANK] = "low_rank", [CHOICE_MMA] = "mma",
    };
    static const int starts[] = {0, 0}; /* the choice does not read them */
    struct gpu_info gpu;
    struct chunk_state_args args;
    char pass[16], type[16];
    int arch;

    for (;;) {
        memset(&args, 0, sizeof args);
        if (scanf("%d %zu %d %15s %15s %zu %zu %zu %zu %zu %zu %zu", &arch, &gpu.shared_limit, &gpu.multiprocessors,
                  pass, type, &args.batch, &args.chunks, &args.heads, &args.dk, &args.dv, &args.rank,
                  &args.decays) != 12)
            return feof(stdin) ? 0 : 2;
        gpu.arch = gpu.chip_arch = arch;
        if (arch == 0 && gpu_info_read(&gpu) != cudaSuccess)
            return 1;
        args.dtype = strcmp(type, "bf16") == 0 ? BF16 : strcmp(type, "fp16") == 0 ? FP16 : FLOAT32;
        if (strstr(pass, "_packed") != NULL)
            args.starts = starts, args.num_seqs = 1;
        const enum chunk_state_choice choice = chunk_state_choose(&args, &gpu, strncmp(pass, "backward", 8) == 0);
        puts(arch == 0 && choice == CHOICE_MMA && chunk_state_is_for_wgmma(&args, NULL) ? "wgmma" : names[choice]);
    }
}
