export PATH=$PATH:/usr/local/cuda/bin
nvcc -arch=sm_90 -o proto2/bench /tmp/cr/bench.o /tmp/cr/k_*.o /tmp/cr/w_*.o /tmp/cr/f_*.o /tmp/cr/prod.o /tmp/cr/launch_env.o build/obj/cuda/08_lookback/waves.o build/obj/cuda/08_lookback/three_pass.o $(ls build/obj/cuda/0[15]*/*.o | grep -v -e kernels.o -e main.o -e launches.o -e reference) -lm
