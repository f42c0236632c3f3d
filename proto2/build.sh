#!/bin/sh
# proto2/build.sh LIST: compiles each line of LIST and the benchmark, from the repository's root
export PATH=$PATH:/usr/local/cuda/bin
F="-std=c++17 -O3 -arch=sm_90 -DLINREC_ARCH=90 -I. -Icommon"
rm -f /tmp/cr/k_*.o
: > proto2/launchers.h
while read -r tag o; do echo "L(crews_$tag)" >> proto2/launchers.h; done < "$1"
echo "L(lookback_waves) L(lookback_three_pass)" >> proto2/launchers.h
( nvcc -std=c++17 --extended-lambda -O2 -arch=sm_90 -I. -Icommon -Iproto2 -c proto2/bench.cu -o /tmp/cr/bench.o
  gcc -O2 -Icommon -I. -I/usr/local/cuda/include -c proto2/launch_env.c -o /tmp/cr/launch_env.o ) &
while read -r tag o; do echo "nvcc $F -Xptxas -v -DTAG=$tag $o -c proto2/crews.cu -o /tmp/cr/k_$tag.o"; done < "$1" |
    xargs -P 2 -I{} sh -c 'echo "$(echo {} | cut -c80-160): $({} 2>&1 | grep -E "error|spill|Used|warn" | tr "\n" " ")"'
wait
sh proto2/link.sh
