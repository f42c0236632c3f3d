# SPDX-License-Identifier: MIT
# exercises.mk - the exercises of all chapters or, in a chapter's folder, of that one. The root makefile and chapter.mk include it.
#
#   make exercises                     the list, and how far you are; LIST=1: only `id path state' a line; CSV=FILE: as a table
#   make exercise EX=02.1              builds and judges your answer; FILE=path: that file instead; EXERCISES=folder: an instructor's
#   make hint EX=02.1                  the next hint
#   make solution EX=02.1              ours, once you have solved it, or with FORCE=1
#   make reset EX=02.1                 begins again
#   SEED=N, with each of them          the sizes and values that were drawn for you, if somebody gave you a number
#
# The variables count where make is told them: the environment may hold others of these names.
given = $(if $(filter command line,$(origin $(1))),$(1)='$(subst ','\'',$($(1)))')

exercises exercise hint solution reset:
	@cd $(ROOT) && CC='$(CC)' CXX='$(CXX)' perl common/judge/exercise.pl $@ FROM='$(CURDIR)' ONLY='$(CHAPTER)' \
	    $(foreach variable,EX FILE FORCE LIST CSV EXERCISES SEED,$(call given,$(variable)))

.PHONY: exercises exercise hint solution reset
