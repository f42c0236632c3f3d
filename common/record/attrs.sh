#!/bin/sh
# SPDX-License-Identifier: MIT
# attrs.sh - registers, memory and occupancy of every compiled kernel. From the repository's root, after a build with BACKEND=cuda.
#
# First the compiler's own report (build/obj/cuda/*/*.ptxas, which the build leaves). It needs no GPU. Then, where a GPU answers, the
# launches of every chapter that compares: threads, dynamic shared memory, occupancy. Status 1 if a kernel of a chapter spills
# registers.
set -eu
if [ "${BACKEND:-}" != cuda ]; then
    echo "make attrs needs nvcc, but no GPU: make attrs BACKEND=cuda ARCH=sm_90 (this is BACKEND=${BACKEND:-sim}, whose kernels have no registers)"
    exit 2
fi
reports= # of the sources that are there; a build folder may hold those of others
for source in [0-9][0-9]_*/*.cu [0-9][0-9]_*/kernels/*.cu [0-9][0-9]_*/operation/*.cu common/harness/*.cu common/linrec/*.cu; do
    reports="$reports build/obj/cuda/${source%.cu}.ptxas"
done
status=0
# shellcheck disable=SC2086
perl common/record/ptxas.pl "$ARCH" $reports || status=$?
[ "$status" -le 1 ] || exit "$status"
echo
if ${RUN:-} nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
    mkdir -p results
    for kernels in $(grep -l '^ *\.compares_with' [0-9][0-9]_*/kernels.c); do
        chapter=${kernels%/*}
        csv=results/${chapter%%_*}_attrs.csv
        ${RUN:-} "build/cuda/extra/${chapter}_launches" --csv "$csv" || status=$?
        echo "as CSV: $csv"
    done
else
    echo "no GPU answers: threads, dynamic shared memory and the occupancy of real launches are left out"
fi
exit "$status"
