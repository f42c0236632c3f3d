# SPDX-License-Identifier: MIT
# The whole house. `make help` lists the targets; every chapter has a makefile of its own (common/build/chapter.mk).

ROOT := .
include common/build/config.mk

CHAPTERS := $(patsubst %/Makefile,%,$(wildcard [0-9][0-9]_*/Makefile))
ON_GPU := $(foreach chapter,$(CHAPTERS),$(if $(wildcard $(chapter)/*.cu $(chapter)/kernels/*.cu),$(chapter)))
# what the texts show in a debugger
DEBUGGED := $(sort $(shell grep -soh 'sim_debug/[0-9][0-9]_[a-z_]*' *.md docs/*.md [0-9][0-9]_*/*.md [0-9][0-9]_*/further/*.md | sed 's/.*\///'))
TOOLS := gcc:gcc g++:g++ prove:perl gnuplot:gnuplot-nox # command:package
SITE_PACKAGES := pandoc fonts-dejavu-extra chromium # for make site and make slides; for make book, and for the tests of pages
# one version, because others write some lines differently; Debian 12 and Ubuntu have it
CLANG_FORMAT := $(shell command -v clang-format-14)

# what is named on the command line is made in that order; chapters.mk builds the chapters side by side
.NOTPARALLEL:

all: backend
	@$(MAKE) --no-print-directory -f common/build/chapters.mk build

backend:
	@echo "backend: $(BACKEND) ($(BACKEND_REASON))$(if $(filter cuda,$(BACKEND)),$(,) compiling for $(ARCH))"

run: backend
	@echo "building $(firstword $(CHAPTERS)); the others are built as it goes on"
	@$(MAKE) --no-print-directory -f common/build/chapters.mk run
	@echo
	@echo "The whole tables (.txt, and .csv for programs) and the plots (.svg) of this run are in results/"
	@echo "Next: read $(firstword $(CHAPTERS))/README.md"

# what is quick and broad: every file of tests/ ends within seconds. tests/long/ has the rest: all mistakes, all orders, all shapes, whole outputs
# (what takes longest first, and the judge's many short ones last, so that all jobs end together; one more than there are
# cores, since some wait)
PROVE := prove --jobs $(shell echo $$(($$(nproc 2> /dev/null || echo 1) + 1))) --timer
test: there_are_tests all tests
ifeq ($(BACKEND),cuda)
	@: without a GPU one sentence from this program, and not a failure of every test
	@$(START)build/cuda/$(firstword $(ON_GPU)) --check-only --num-seqs 1 --seq-len 1 > /dev/null
endif
	$(PROVE) $(wildcard [0-9][0-9]_*/tests) cusim/tests library/tests common/tests $(wildcard common/*/tests)

# a class's repository has none (make classroom)
there_are_tests:
	@[ -f common/tests/Linrec.pm ] || { echo "there are no tests here: this repository was written for students" >&2; exit 2; }

# everything: the long ones first that take longest
test-all: test
	$(PROVE) $(sort $(wildcard [0-9][0-9]_*/tests/long)) library/tests/long cusim/tests/long common/tests/long $(wildcard common/*/tests/long)

# the test programs, which live beside the chapters' own, and what the pages of docs/ run
tests:
	@for folder in common/tests $(patsubst %/Makefile,%,$(wildcard [0-9][0-9]_*/tests/Makefile)); do $(MAKE) --no-print-directory -C $$folder || exit 1; done
	@$(MAKE) --no-print-directory -C docs
	@$(MAKE) --no-print-directory -C library
ifeq ($(BACKEND),sim)
	@! command -v gdb > /dev/null || for chapter in $(DEBUGGED); do $(MAKE) --no-print-directory DEBUG=1 -C $$chapter || exit 1; done
endif

check: all
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -C $$chapter check || exit 1; done

plot:
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -C $$chapter plot $(if $(filter command line,$(origin TERM)),TERM=$(TERM)) || exit 1; done

trace:
	@for chapter in $(CHAPTERS); do \
	    echo "==== $$chapter ===="; $(MAKE) --no-print-directory -C $$chapter BACKEND=sim trace || exit 1; done

estimate:
	@for chapter in $(CHAPTERS); do \
	    echo "==== $$chapter ===="; $(MAKE) --no-print-directory -C $$chapter BACKEND=sim OWN=1 estimate \
	        $(if $(filter command line,$(origin CSV)),CSV='$(CSV)'.$$chapter) || exit 1; done
ifeq ($(origin CSV),command line)
	@cat '$(CSV)'.[0-9]* | awk '!seen[$$0]++' > '$(CSV)' && rm -f '$(CSV)'.[0-9]*
endif

# on a GPU: each chapter does its part, or has none; of the library there are times from torch
bench tune sanitize peers:
	@for chapter in $(CHAPTERS) $(if $(filter peers,$@),library); do $(MAKE) --no-print-directory -C $$chapter $@ || exit 1; done

attrs: $(if $(filter cuda,$(BACKEND)),all)
	@sh common/record/attrs.sh

profile: $(if $(filter cuda,$(BACKEND)),all)
	@perl common/record/profile.pl

record:
	@perl common/record/record.pl

# all that the texts show, measured anew; ONLY="05 06": these parts
recordings: $(if $(filter cuda,$(BACKEND)),all)
	@sh common/record/recordings.sh $(ONLY)

# the outputs in the texts come from the simulator (GPU=1: also those of programs on a GPU)
report:
	@$(MAKE) --no-print-directory BACKEND=sim BACKEND_REASON='whose outputs the texts show' all
	perl common/pages/report.pl $(if $(GPU),--gpu) $(TEXTS)
	@for chapter in $(CHAPTERS); do $(MAKE) --no-print-directory -C $$chapter figures || exit 1; done
	@$(MAKE) --no-print-directory notebook

# the notebook for Google Colab: the first chapters, to be run and solved (docs/machines.md)
NOTEBOOK := docs/first_chapters.ipynb
notebook:
	@perl common/judge/notebook.pl 3 > $(NOTEBOOK).partial && mv $(NOTEBOOK).partial $(NOTEBOOK)

# the sources as .clang-format wants them; CHECK=1: only says which ones are not
format:
ifeq ($(CLANG_FORMAT),)
	@echo "clang-format-14 is not installed (make setup installs it where apt has it); nothing was formatted"
else
	@git rev-parse --git-dir > /dev/null 2>&1 || { echo "make format asks git which files are sources, and this is no checkout of it" >&2; exit 2; }
	@git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp' | xargs $(CLANG_FORMAT) $(if $(CHECK),--dry-run -Werror,-i)
endif

# the moments of running kernels that the texts show (NN_x/figures/plays.txt): their pages for the site, and their pictures
plays:
	@perl common/pages/plays.pl $(ONLY)

# the course as a site, build/site/, and as a book, build/book.pdf
site:
	@perl common/pages/plays.pl --pages || echo "the pages that play kernels are left out: the site shows their pictures"
	@perl common/pages/site/site.pl $(if $(TEACHER),--teacher)

book:
	@perl common/pages/site/site.pl --book

# slides for lectures, build/slides/NN.html (docs/teach)
slides:
	@perl common/pages/slides/slides.pl

# the library, liblinrec; installed into PREFIX (of a package being made: under DESTDIR)
PREFIX ?= /usr/local
lib: backend
	@$(MAKE) --no-print-directory -C library

install: lib
	@$(MAKE) --no-print-directory -C library install PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)'

# nvcc's stand-in, without the course: cusim/docs/cusim.md
install-cusim:
	@$(MAKE) --no-print-directory QUIET=1 -C cusim install PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)'

# how each source is compiled, for editors and checkers; it compiles nothing. BACKEND=cuda: the .cu files by nvcc
compile_commands.json: FORCE
	@for makefile in $$(grep -l '^include .*chapter\.mk' */Makefile */*/Makefile */*/*/Makefile); do \
	    folder=$${makefile%/*}; echo "in $(CURDIR)/$$folder"; \
	    $(MAKE) --no-print-directory -B -n V=1 -C $$folder programs || exit 1; done \
	    | perl common/build/compile_commands.pl > $@.partial
	@mv $@.partial $@
	@echo "compile_commands.json: $$(grep -c '"file"' $@) sources, backend $(BACKEND)"

# what docs/machines.md says of times, measured in a copy of the sources; WRITE=1: written there
times:
	@perl common/build/times.pl $(if $(filter command line,$(origin WRITE)),--write) $(word 3,$(CHAPTERS))

# all single mistakes in kernels that common/tests/mutants.pl can think of, ONLY=CHAPTER: in this one; an interrupted run goes on
mutants:
	@for chapter in $(ONLY); do [ -f "$$chapter/main.c" ] || { echo "ONLY=$$chapter is no chapter; name the folder of one" >&2; exit 2; }; done
	@$(MAKE) --no-print-directory QUIET=1 BACKEND=sim ONLY= all tests
	perl common/tests/mutants.pl --tests $(ONLY)

# random shapes, types and configurations for every kernel, for SECONDS=60; SEED=N: the same cases again; ONLY="08_x 09_y": these chapters
fuzz: backend
	@for chapter in $(fuzzed); do [ -f "$$chapter/main.c" ] || { echo "ONLY=$$chapter is no chapter; name the folder of one" >&2; exit 2; }; done
	@$(MAKE) --no-print-directory QUIET=1 -f common/build/chapters.mk $(or $(fuzzed:%=build-%),build)
	@perl common/tests/fuzz.pl $(foreach variable,SECONDS CASES SEED ONLY JOBS,$(call given,$(variable)))
fuzzed = $(if $(filter command line,$(origin ONLY)),$(patsubst %/,%,$(ONLY)))

# installs what is missing, and only that; without apt, or without the right to use it, it says what is needed
# with SITE=1 also what make site, make slides and make book need, which is large
setup:
	@missing=; for tool in $(TOOLS); do \
	    command -v $${tool%%:*} >/dev/null || missing="$$missing $${tool##*:}"; done; \
	python3 -c 'import matplotlib' 2>/dev/null || /usr/bin/python3 -c 'import matplotlib' 2>/dev/null || missing="$$missing python3-matplotlib"; \
	[ -n "$(CLANG_FORMAT)" ] || ! apt-cache show clang-format-14 >/dev/null 2>&1 || missing="$$missing clang-format-14"; \
	command -v sim_c >/dev/null || ! apt-cache show similarity-tester >/dev/null 2>&1 || missing="$$missing similarity-tester"; \
	command -v bwrap >/dev/null || ! apt-cache show bubblewrap >/dev/null 2>&1 || missing="$$missing bubblewrap"; \
	command -v mpicc >/dev/null || ! apt-cache show libopenmpi-dev >/dev/null 2>&1 || missing="$$missing libopenmpi-dev openmpi-bin"; \
	for package in $(if $(SITE),$(SITE_PACKAGES)); do \
	    dpkg -s $$package >/dev/null 2>&1 || ! apt-cache show $$package >/dev/null 2>&1 || missing="$$missing $$package"; done; \
	if [ -z "$$missing" ]; then \
	    echo "a C and a C++ compiler, make, perl, gnuplot and Python's matplotlib are all here"; \
	elif ! command -v apt-get >/dev/null || { [ "$$(id -u)" != 0 ] && ! command -v sudo >/dev/null; }; then \
	    echo "please install (names of Debian's packages):$$missing"; exit 1; \
	else \
	    echo "installing:$$missing"; \
	    [ "$$(id -u)" = 0 ] && sudo= || sudo=sudo; \
	    $$sudo apt-get update -qq && \
	    $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	fi
	@command -v pandoc >/dev/null || echo "for make site, make slides and make book, also install pandoc and chromium (make setup SITE=1 does)"
	@nvcc=$$(command -v nvcc || echo /usr/local/cuda/bin/nvcc); test ! -x "$$nvcc" || \
	    echo '#include <nccl.h>' | gcc -I"$${nvcc%/*}/../include" -E - >/dev/null 2>&1 || \
	    echo "for chapter 12's variant nccl on GPUs, also install libnccl2 and libnccl-dev, which are NVIDIA's packages"
	@command -v nvcc >/dev/null || test -x /usr/local/cuda/bin/nvcc || \
	    echo "for a GPU, also install the CUDA Toolkit: https://developer.nvidia.com/cuda-downloads (the simulator does without)"

clean:
	rm -rf build results cusim/build

help:
	@cat common/build/help.txt
	@echo
	@echo "The backend here is $(BACKEND) ($(BACKEND_REASON))."

.PHONY: all backend run test there_are_tests test-all tests check plot trace estimate bench tune attrs profile peers record recordings report plays site book slides sanitize notebook mutants fuzz times lib install install-cusim format setup clean help FORCE

include common/build/exercises.mk
include common/build/watch.mk
include common/build/class.mk
