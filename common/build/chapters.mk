# SPDX-License-Identifier: MIT
# chapters.mk - builds all chapters side by side, or runs them one after the other. The root makefile calls it:
#
#   make -f common/build/chapters.mk build|run
#
# A folder is a chapter if its name begins with a number and it has a Makefile. What two chapters share is built before either, so
# that no object is made twice: the rooms of common/, and the chapters that a NEEDS names.
#
# `run` shows the first chapter as soon as that one is built. The others are built while the chapters before them run, but never
# beside a program that takes times: where chapters are timed, on a GPU (BACKEND=cuda) and on the CPU (they have no .cu), what comes
# later waits.

ROOT := .
include common/build/config.mk

CHAPTERS := $(patsubst %/Makefile,%,$(wildcard [0-9][0-9]_*/Makefile))
ON_CPU := $(foreach chapter,$(CHAPTERS),$(if $(wildcard $(chapter)/*.cu $(chapter)/kernels/*.cu),,$(chapter)))
# a first chapter for the CPU needs less of common/ than the others
FIRST := $(filter $(firstword $(CHAPTERS)),$(ON_CPU))
OTHERS := $(filter-out $(ON_CPU),$(CHAPTERS))
RUNNING := $(filter run,$(MAKECMDGOALS))
QUIETLY := --no-print-directory $(if $(RUNNING),QUIET=1)
needs_of = $(shell sed -n 's/^NEEDS *:= *//p' $(1)/Makefile)

build: $(CHAPTERS:%=build-%)
run: $(CHAPTERS:%=run-%)

build-common: $(FIRST:%=$(if $(RUNNING),run,build)-%)
	@$(if $(OTHERS),$(MAKE) $(QUIETLY) -C $(firstword $(OTHERS)) common)

# $(1): a chapter, $(2): the one before it, $(3): those before it that take times
define rules
build-$(1): $(if $(filter $(1),$(FIRST)),,build-common) $(addprefix build-,$(call needs_of,$(1)))
build-$(1): | $(if $(RUNNING),$(addprefix run-,$(3)))
	@$$(MAKE) $(QUIETLY) -C $(1)
run-$(1): build-$(1) $(2:%=run-%)
	@echo "==== $(1) ===="; $$(MAKE) $(QUIETLY) -C $(1) run
endef

before :=
timed :=
$(foreach chapter,$(CHAPTERS),\
    $(eval $(call rules,$(chapter),$(before),$(timed)))\
    $(eval before := $(chapter))\
    $(eval timed += $(if $(filter cuda,$(BACKEND)),$(chapter),$(filter $(chapter),$(ON_CPU)))))

.PHONY: build run build-common $(CHAPTERS:%=build-%) $(CHAPTERS:%=run-%)
