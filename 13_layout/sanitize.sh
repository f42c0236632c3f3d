# SPDX-License-Identifier: MIT
# sanitize.sh - chapter 13's sizes for `make sanitize`.
shapes='--batch 2 --channels 66 --seq-len 1,33,300 ; --batch 1 --channels 5 --seq-len 70 --type bf16 ; --seqs 5 --channels 6 --seq-len 40 ; --batch 2 --channels 40 --seq-len 300 --type bf16 ; --seqs 3 --channels 8 --seq-len 290'
