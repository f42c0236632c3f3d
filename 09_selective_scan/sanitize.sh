# SPDX-License-Identifier: MIT
# sanitize.sh - chapter 09's sizes for `make sanitize`. The warps of these variants, and of what default takes, arrive at barriers where
# others wait.
shapes='--batch 2 --channels 66 --states 17 --groups 2 --seq-len 1,33,130,1030'
no_racecheck='warp_specialized state_passing default'
