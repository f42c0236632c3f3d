#!/bin/sh
# SPDX-License-Identifier: MIT
# compile.sh SOURCE.cu OBJECT.o [FLAGS...]
#
# Compiles CUDA C for the CPU: preprocess, check, rewrite, compile. Writes OBJECT.o and, for make, OBJECT.d. CXX names the compiler.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 SOURCE.cu OBJECT.o [FLAGS...]" >&2; exit 2; }
source=$1 object=$2
shift 2

here=$(dirname "$0")
beside=${object%.o}.part-$$ # another make may be at the same file
trap 'rm -f "$beside.1.ii" "$beside.2.ii" "$beside.o" "$beside.deps" "$beside.said"' EXIT

# Every load and store becomes a call into observe.cpp, each with the width that it has on a GPU: nothing is split or joined.
watch="-fsanitize=thread --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1
    -fno-optimize-sibling-calls -fno-ipa-icf -fno-tree-sra -fno-store-merging -fno-finite-loops -fno-tree-vectorize -fno-tree-loop-distribute-patterns"

# Checks of the compiler's own, which end in undefined.cpp.
checks="-fsanitize=bounds,object-size,return,unreachable -fno-sanitize-recover=all"

# What polishes machine code after these calls are in place takes a third of the compiler's time, and a run spends little there.
plain="-fno-gcse -fno-cse-follow-jumps -fno-rerun-cse-after-loop -fno-cprop-registers -fno-if-conversion -fno-if-conversion2
    -fno-crossjumping -fno-shrink-wrap -fno-ree -fno-peephole2 -fno-schedule-insns2 -fira-region=one"

# -ffp-contract=off: an ARM joins a product and a sum where an x86 cannot, and the two would not give the same bits
# the prefix maps: a file named ../x from a chapter's folder is x seen from the root, where programs run; and a checkout may be renamed
set -- -std=c++17 -O2 -gdwarf-4 -U_FORTIFY_SOURCE -fno-strict-aliasing -fstack-clash-protection -ffp-contract=off \
    -fmacro-prefix-map=../= -fmacro-prefix-map=../../= "-fdebug-prefix-map=$(cd "$here/../.." && pwd)=." -Wall -Wextra -Wno-unknown-pragmas "$@"
${CXX:-g++} -x c++ -E "$@" -D__CUDACC__ -DSIM_QUALIFIERS -I "$here/include" -include cuda_runtime.h \
    -MMD -MP -MF "$beside.deps" -MT "$object" "$source" -o "$beside.1.ii"
perl "$here/check.pl" "$beside.1.ii"
perl "$here/rewrite.pl" "$beside.1.ii" > "$beside.2.ii"
status=0
LC_ALL=C ${CXX:-g++} -x c++-cpp-output "$@" -Werror=vla $watch $checks $plain -c "$beside.2.ii" -o "$beside.o" 2> "$beside.said" || status=$?
perl "$here/said.pl" "$beside.said" >&2
[ $status = 0 ] || exit $status
mv "$beside.deps" "${object%.o}.d"
mv "$beside.o" "$object"
