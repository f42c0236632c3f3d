# SPDX-License-Identifier: MIT
# sanitize.sh - chapter 14's sizes for `make sanitize`.
shapes='--operation product --m 33 --n 65 --k 1,17,40 ; --operation product --m 130 --n 132 --k 36 --type bf16 ; --operation product --m 129 --n 67 --k 19 --type fp16 ; --operation product --m 130 --n 264 --k 264 --type bf16 ; --batch 1 --heads 2 --dk 72 --dv 72 --groups 2 --seq-len 9,130 --type bf16 ; --seqs 4 --heads 1 --dk 72 --dv 72 --groups 1 --seq-len 200 --type bf16 ; --batch 1 --heads 2 --dk 33 --dv 17 --groups 1 --seq-len 9'
