# SPDX-License-Identifier: MIT
# sanitize.sh - chapter 14's sizes for `make sanitize`.
shapes='--operation product --m 33 --n 65 --k 1,17,40 ; --operation product --m 130 --n 132 --k 36 --type bf16 ; --operation product --m 129 --n 67 --k 19 --type fp16'
