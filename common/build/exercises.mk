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
given = $(if $(filter command line,$(origin $(1))),$(1)='$(subst ','\'',$(value $(1)))')

# a folder may be called `$(...)', and make would run that
$(foreach name,EX FILE FORCE LIST CSV EXERCISES SEED IN OUT SECRET ONLY JOBS SUMMARY STUDENT LEAST UNSAFE,\
    $(if $(findstring $$,$(if $(filter command line,$(origin $(name))),$(value $(name)))),\
        $(error $(name)= has a dollar sign in it, behind which make would look for a command or a variable; choose a name without)))

exercises exercise hint solution reset:
	@cd $(ROOT) && CC='$(CC)' CXX='$(CXX)' perl common/judge/exercise.pl $@ FROM='$(CURDIR)' ONLY='$(CHAPTER)' \
	    $(foreach variable,EX FILE FORCE LIST CSV EXERCISES SEED,$(call given,$(variable)))

.PHONY: exercises exercise hint solution reset
