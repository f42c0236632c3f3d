# SPDX-License-Identifier: MIT
# watch.mk - a page that plays a kernel line by line, on the simulator. The root makefile and chapter.mk include it.
#
#   make watch VARIANT=CHAPTER/NAME    writes results/watch/CHAPTER_NAME.html; in the chapter's folder: VARIANT=NAME
#       NUM_SEQS=1 SEQ_LEN=256          its shape; other sizes by their names (CHANNELS=2). Without them, a small one
#       CONFIG=threads=64,stages=2      as --config takes it
#       DIRECTION=backward              or forward, reverse, reverse-backward
#       KERNEL=NAME                     of several that are launched, that one; NAME:2 its second launch
#       OVER=warp_scan.cuh              steps over the functions of this file, or of several: OVER=a.cuh,b.cuh
#   make watch EX=NN.N                  your answer, up to its mistake; FILE=path: that file instead
#   OPEN=1                              opens it in a browser
#
# The variables count where make is told them: the environment may hold others of these names.
watch:
	@cd $(ROOT) && CC='$(CC)' CXX='$(CXX)' perl common/judge/watch.pl FROM='$(CURDIR)' ONLY='$(CHAPTER)' \
	    $(foreach variable,VARIANT CONFIG DIRECTION KERNEL OVER EX FILE SEED OPEN $(SIZES),$(call given,$(variable)))
SIZES := NUM_SEQS SEQ_LEN BATCH CHANNELS STATES GROUPS HEADS DK DV DECAYS RANK CHUNKS

.PHONY: watch
