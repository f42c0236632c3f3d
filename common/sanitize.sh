#!/bin/sh
# sanitize.sh CHAPTER... - every kernel of the chapters under compute-sanitizer's four tools, on small shapes; the longest
# take more tiles than a kernel has stages. Needs a GPU.
# Of chapter 07 its own kernels, which are CUB's; the others come with their chapters.
set -eu
if [ "${BACKEND:-}" != cuda ]; then
    echo "make sanitize needs a GPU and nvcc (this is BACKEND=${BACKEND:-sim}); the simulator checks its own runs: make test"
    exit 2
fi
if ! command -v compute-sanitizer >/dev/null; then
    echo "make sanitize needs compute-sanitizer, which comes with the CUDA Toolkit; put its bin folder on PATH"
    exit 2
fi
for chapter in "$@"; do
    [ "$chapter" != 01_reference ] || continue # plain C
    case $chapter in
        07_bench) wanted="--variant=cub_scan,--num-seqs=1 --variant=cub_by_key,--num-seqs=3 --variant=cub_block_scan,--num-seqs=3" ;;
        *) wanted="--num-seqs=3" ;;
    esac
    for options in $wanted; do
        for tool in memcheck racecheck initcheck synccheck; do
            printf '%s, %s: ' "$chapter" "$tool"
            # shellcheck disable=SC2046
            compute-sanitizer --tool "$tool" --error-exitcode 1 "build/cuda/$chapter" --check-only $(echo "$options" | tr , ' ') \
                --seq-len 1,2,31,33,129,1000,4097,10007,12288 > "build/cuda/extra/$tool.log" 2>&1 || { cat "build/cuda/extra/$tool.log"; exit 1; }
            tail -n 1 "build/cuda/extra/$tool.log"
        done
    done
done
