# SPDX-License-Identifier: MIT
# class.mk - for instructors (docs/teach/marks.md); the root makefile includes it, after exercises.mk.
#
#   make class IN=handed_in OUT=class.csv     judges a class: a folder a student
#       SECRET=TEXT  SEED=N  ONLY=02.1,03  EXERCISES=FOLDER  JOBS=N  SUMMARY=FILE  UNSAFE=1      common/judge/class.pl explains them
#   make seed STUDENT=NAME SECRET=TEXT        the number from which a student's data is drawn
#   make similar IN=handed_in                 pairs of students with the same code; OUT=similar.csv LEAST=60 ONLY=02.1
#   make classroom OUT=FOLDER                 a repository for students, without solutions
#
# A class is judged on the simulator, so that a mark depends on no machine; BACKEND=cuda has the GPU judge, too.
class seed: export BACKEND := $(if $(filter command line,$(origin BACKEND)),$(BACKEND),sim)
class seed:
	@CC='$(CC)' CXX='$(CXX)' perl common/judge/class.pl $@ FROM='$(CURDIR)' \
	    $(foreach variable,IN OUT SECRET SEED ONLY EXERCISES JOBS SUMMARY STUDENT UNSAFE,$(call given,$(variable)))

similar:
	@perl common/judge/similar.pl FROM='$(CURDIR)' $(foreach variable,IN OUT ONLY LEAST,$(call given,$(variable)))

classroom:
	@perl common/judge/classroom.pl FROM='$(CURDIR)' $(call given,OUT)

.PHONY: class seed similar classroom
