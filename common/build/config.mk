# SPDX-License-Identifier: MIT
# config.mk - the backend, the compilers, the flags. The root makefile and every chapter's (through chapter.mk) include it,
# with ROOT set to the way to the repository's root. Paths are relative, so that a checkout may lie anywhere.
#
#   BACKEND=cuda|sim   compile the kernels with nvcc for the GPU, or for the simulator (default: cuda where nvcc and a GPU answer)
#   ARCH=sm_90         the GPU to compile for (default: the one in this machine); ARCH="sm_80 sm_90": several, of which each gets its own code
#   WERROR=1           a warning, a register spill too, is an error
#   RUN="srun --gres=gpu:1"   what starts each program that wants a GPU, where the machine that compiles has none (BACKEND=cuda)
#   DEBUG=1            for a debugger: nothing is optimized away; programs go to build/sim_debug or build/cuda_debug

# what stands for a comma where one would end an argument
, := ,

# all cores, unless make is told how many jobs: make -j1
ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)),0)
  MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),1)
endif

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
CXX := $(if $(filter default,$(origin CXX)),g++,$(CXX))
ifeq ($(origin NVCC),undefined)
  NVCC := $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
endif
export NVCC

ifeq ($(BACKEND),)
  ifeq ($(NVCC),)
    BACKEND := sim
    BACKEND_REASON := no nvcc on this machine
  else ifeq ($(shell nvidia-smi -L 2>/dev/null | grep -c '^GPU'),0)
    BACKEND := sim
    BACKEND_REASON := nvcc is here, but no GPU answers
  else
    BACKEND := cuda
    BACKEND_REASON := nvcc and a GPU answer
  endif
else
  BACKEND_REASON ?= as asked for
endif
export BACKEND BACKEND_REASON

ifeq ($(filter cuda sim,$(BACKEND)),)
  $(error BACKEND=$(BACKEND) is not known; choose BACKEND=cuda or BACKEND=sim)
endif
ifeq ($(BACKEND),cuda)
  ifeq ($(NVCC),)
    $(error BACKEND=cuda needs nvcc; install the CUDA Toolkit (https://developer.nvidia.com/cuda-downloads) or take BACKEND=sim)
  endif
  COMPUTE_CAP := $(firstword $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null))
  ARCH ?= $(or $(patsubst %,sm_%,$(subst .,,$(COMPUTE_CAP))),sm_75)
  export ARCH
  # the GPUs to compile for, the newest last
  CHIPS := $(if $(word 2,$(ARCH)),$(shell printf '%s\n' $(ARCH) | sort -uV),$(ARCH))
  # which ones this nvcc knows is asked once: a new toolkit drops old ones, and an old one lacks the new ones
  ifeq ($(MAKELEVEL),0)
    KNOWN_CHIPS := $(shell $(NVCC) --list-gpu-code 2> /dev/null)
    UNKNOWN_CHIPS := $(strip $(foreach chip,$(CHIPS),$(if $(filter $(KNOWN_CHIPS),$(chip) $(patsubst %f,%,$(chip:%a=%))),,$(chip))))
    ifneq ($(and $(KNOWN_CHIPS),$(filter-out clean help,$(or $(MAKECMDGOALS),all)),$(UNKNOWN_CHIPS)),)
      $(error ARCH: the nvcc of CUDA $(shell $(NVCC) --version | sed -n 's/.*release \([0-9.]*\).*/\1/p') does not \
        compile for $(UNKNOWN_CHIPS); it knows $(KNOWN_CHIPS))
    endif
  endif
endif

# The simulator needs Linux and GNU's compilers. Anything else is refused with one sentence, before anything is built.
is_clang = $(if $(shell $(1) --version 2>/dev/null | grep -i clang),$(1))
ifneq ($(if $(filter 0,$(MAKELEVEL)),$(filter-out help clean,$(or $(MAKECMDGOALS),all))),)
  ifeq ($(shell uname -s),Darwin)
    $(error macOS lacks what the simulator needs of Linux; docs/machines.md shows how to take a container)
  endif
  CLANG := $(if $(filter-out setup,$(or $(MAKECMDGOALS),all)),$(or $(call is_clang,$(CXX)),$(call is_clang,$(CC))))
  ifneq ($(CLANG),)
    $(error $(CLANG) is clang, and the simulator needs GNU's gcc and g++; \
      `make setup' installs what is missing of them, and CC= and CXX= name others)
  endif
endif

# Before each program of BACKEND=cuda; scripts find it in their environment. It counts where make is told it: shells may have a
# RUN that means something else.
ifneq ($(origin RUN),command line)
  RUN :=
endif
START := $(if $(filter cuda,$(BACKEND)),$(if $(RUN),$(RUN) ))

# The host: plain C11. GNU source for POSIX threads, getopt_long and friends. CFLAGS may be set on the command line.
WARNINGS := -Wall -Wextra $(if $(WERROR),-Werror)
# -g1, here and below: the lines alone, which messages and backtraces name; -g takes a fifth longer, and DEBUG=1 has it
CFLAGS := -O3 -g1
# -fPIC -fvisibility=hidden, here and below: programs and the library (library/Makefile) are made of the same objects, and a
# shared library shows of them what its header declares
HOST_FLAGS = -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Wpedantic -fPIC -fvisibility=hidden
# -fno-gnu-unique: objcopy cannot hide the names of a template's statics in libstdc++ otherwise
SIM_CXXFLAGS := -std=c++17 -O2 -g1 -U_FORTIFY_SOURCE $(WARNINGS) -fPIC -fno-gnu-unique
# for BUILT_AS_WRITTEN and BUILT_QUICKLY, below
SIM_AS_WRITTEN := -DSIM_AS_WRITTEN
SIM_QUICKLY := -Og -fno-tree-loop-optimize $(SIM_AS_WRITTEN)
# what the kernels were compiled for, as numbers: common/cuda/arch.h; the simulated device is 90
number_of = $(patsubst %f,%,$(patsubst %a,%,$(1:sm_%=%)))
ARCH_NUMBER = -DLINREC_ARCH=$(if $(filter sim,$(ENGINE)),90,$(subst $() ,$(,),$(strip $(call number_of,$(CHIPS)))))
# of one chip what -arch means to nvcc; of several the machine code of each, and PTX of the newest, from which a driver makes code
# for later ones
PTX_NUMBER = $(call number_of,$(lastword $(CHIPS)))
FOR_CHIPS = $(if $(word 2,$(CHIPS)),$(foreach chip,$(CHIPS),-gencode arch=$(chip:sm_%=compute_%)$(,)code=$(chip)) \
    -gencode arch=compute_$(PTX_NUMBER)$(,)code=compute_$(PTX_NUMBER),-arch=$(CHIPS))
# for `make watch`; elsewhere the lines of a program and its variables are not to be had (docs/watch.md)
WATCH := $(if $(filter x86_64,$(shell uname -m)),--watch)
# -v: ptxas says what each kernel takes; the rule in chapter.mk keeps that beside the object. With = and not a space, as
# ccache reads nvcc's options
SPILL_FLAGS = -Xptxas=-warn-spills,-warn-lmem-usage $(if $(WERROR),-Xptxas=-Werror)
NVCCFLAGS = -std=c++17 -O3 $(FOR_CHIPS) -lineinfo -Xcompiler=-Wall,-Wextra,-fPIC,-fvisibility=hidden -Xptxas=-v \
    $(SPILL_FLAGS) $(if $(WERROR),-Werror=all-warnings)
ifneq ($(DEBUG),)
  OBJ_SUFFIX := $(OBJ_SUFFIX)_debug
  CFLAGS := -O0 -g
  SIM_CXXFLAGS += -O0 -g
  NVCCFLAGS = -std=c++17 -O0 -g -G $(FOR_CHIPS) -Xcompiler=-Wall,-Wextra,-fPIC,-fvisibility=hidden -Xptxas=-v
endif
# What a source says of itself in a line of its own, and is compiled otherwise for, wherever it is compiled; as NN_x/kernels/scan:
# - a register may spill in it without being an error;
# - a GPU's compiler unrolls and inlines it far. The simulator has no registers to save: where g++ leaves loops and functions as
#   they are, it takes a tenth of the time ("quickly"), and a run a little more; where these loops are most of a run's time, it
#   leaves only functions as they are ("as written"). An access here and there is counted otherwise, so not where the text shows
#   counts.
# And one that asks for LINREC_SM_90A has instructions that sm_90a has and no other chip.
sources_with = $(shell cd $(ROOT) && grep -ls '$(1)' [0-9][0-9]_*/*.cu [0-9][0-9]_*/kernels/*.cu | sed 's/\.cu$$//')
MAY_SPILL = $(call sources_with,^/\* Registers may spill: )
BUILT_QUICKLY = $(call sources_with,^/\* The simulator builds it quickly: )
BUILT_AS_WRITTEN = $(call sources_with,^/\* The simulator builds it as written: )
FOR_SM_90A = $(call sources_with,^.ifdef LINREC_SM_90A)
# for sm_90a, where that is asked for or sm_90; the define tells the host so (common/cuda/arch.h)
CHIPS_90A := $(CHIPS:sm_90=sm_90a)
HAS_SM_90A := $(if $(filter sm_90a,$(CHIPS_90A)),-DLINREC_SM_90A)
CUDA_INCLUDE = $(dir $(lastword $(NVCC)))../include

# a target that there is not: which one was meant? (Only what is typed: makes that a makefile starts have their own way to say it. What is there needs
# no rule.)
ifeq ($(MAKELEVEL),0)
.DEFAULT:
	$(if $(wildcard $@),,$(error $(if $(filter $@,$(MAKECMDGOALS)),$(shell \
	    perl $(ROOT)/common/build/meant.pl '$(subst ','\'',$@)' $(MAKEFILE_LIST)),there is no $@, and no rule to make it)))
endif
