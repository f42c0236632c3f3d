#!/bin/sh
# SPDX-License-Identifier: MIT
# sanitize.sh CHAPTER - the chapter's kernels under compute-sanitizer's four tools, on small shapes; the longest take more tiles than a
# kernel has stages. Of a chapter that compares only its own kernels; the others come with their chapters. Needs a GPU. From the
# repository's root.
#
# A file of this name beside a chapter's Makefile sets
#   shapes                      options of an operation with other sizes than the recurrence's, with ; between sets of them
#   no_racecheck, no_synccheck  variants that this tool is not asked about. What CUDA 13.0's do not know (seen in kernels of a few
#                               lines that do nothing else): racecheck takes no notice of a warp that arrives at a barrier without
#                               waiting there (bar.arrive), and tells a race of any two warps that hand something on in this way.
#                               synccheck tells of divergent threads where warps wait at one barrier from different places of the
#                               program (bar.sync; PTX allows it; of barrier.sync, which means the same for whole warps, it tells
#                               nothing).
set -eu
chapter=$1
shapes= no_racecheck= no_synccheck=
if [ -f "$chapter/sanitize.sh" ]; then
    # shellcheck disable=SC1090
    . "./$chapter/sanitize.sh"
fi
program=build/cuda/$chapter
if ! command -v compute-sanitizer >/dev/null; then
    echo "make sanitize needs compute-sanitizer, which comes with the CUDA Toolkit; put its bin folder on PATH"
    exit 2
fi

run() { # TOOL OPTIONS...
    tool=$1
    shift
    printf '%s %s, %s: ' "$chapter" "$*" "$tool"
    log=build/cuda/extra/$tool.log
    barriers= # synccheck follows few mbarriers unless it is told how many
    [ "$tool" != synccheck ] || barriers='--num-cuda-barriers 65536'
    # shellcheck disable=SC2086
    ${RUN:-} compute-sanitizer --tool "$tool" $barriers --error-exitcode 1 "$program" --check-only "$@" > "$log" 2>&1 || { cat "$log"; exit 1; }
    tail -n 1 "$log"
}

run_but() { # TOOL "VARIANTS TO LEAVE OUT" OPTIONS...
    only=$1
    without=$2
    shift 2
    if [ -z "$without" ]; then
        run "$only" "$@"
        return
    fi
    for variant in $(${RUN:-} "$program" --list | sed 's/ .*//'); do
        case " $without " in
            *" $variant "*) echo "$chapter, $variant: not for $only, which does not know how its warps wait for each other" ;;
            *)
                status=0 # 2: it does not take these sizes
                ${RUN:-} "$program" --check-only --variant "$variant" "$@" > /dev/null 2>&1 || status=$?
                [ "$status" = 2 ] || run "$only" --variant "$variant" "$@"
                ;;
        esac
    done
}

check() { # OPTIONS...
    run memcheck "$@"
    run initcheck "$@"
    run_but synccheck "$no_synccheck" "$@"
    run_but racecheck "$no_racecheck" "$@"
}

if [ -n "$shapes" ]; then
    IFS=';'
    for options in $shapes; do
        unset IFS
        # shellcheck disable=SC2086
        check $options
    done
    exit
fi
lengths=1,2,31,33,129,1000,4097,10007,12288
list=$(${RUN:-} "$program" --list)
case $list in
    */*) # in a comparison the others' kernels are named after their chapters
        for variant in $(echo "$list" | sed 's/ .*//' | grep -v /); do
            # a kernel for a single sequence refuses three
            ${RUN:-} "$program" --variant "$variant" --num-seqs 3 --seq-len 1 --check-only > /dev/null 2>&1 && num_seqs=3 || num_seqs=1
            check --variant "$variant" --num-seqs $num_seqs --seq-len $lengths
        done
        ;;
    *) check --num-seqs 3 --seq-len $lengths ;;
esac
