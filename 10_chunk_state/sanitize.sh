# SPDX-License-Identifier: MIT
# sanitize.sh - chapter 10's sizes for `make sanitize`. The consumer and producer warps of these variants, and of what default takes,
# come to one barrier, each at its own place.
shapes='--batch 2 --heads 2 --dk 5 --dv 24 --rank 0 --chunks 1,9,50 ; --batch 1 --heads 2 --dk 33 --dv 24 --rank 12 --chunks 1,7 ;
    --batch 1 --heads 1 --dk 33 --dv 40 --rank 40 --type bf16 --chunks 1,9 ; --seqs 4 --heads 1 --dk 9 --dv 40 --rank 3 --chunks 7 ;
    --seqs 4 --heads 1 --dk 9 --dv 40 --rank 40 --type bf16 --chunks 7'
no_synccheck='low_rank mma default'
