# SPDX-License-Identifier: MIT
# chapter.mk - builds, runs, checks and plots one chapter. A chapter's Makefile sets what it needs and includes this file:
#
#   NEEDS := 04_...     earlier chapters whose objects are linked
#   RUN_DEMOS := a      the demos that `make run` runs (default: all but tune)
#   SHOWN := backward   the direction that `make run` shows a line a variant of (default: forward)
#   RUN_OPTIONS         what `make run` gives to the program, and where kernels are compared `make bench QUICK=1`
#   CHECKS              shapes of `make check`, with ; between runs; the first run is in another order
#   TRACED_SHAPES       shapes of `make trace` (these two by default: those of the recurrence; another operation names its sizes)
#   WATCHED_SHAPE       the small shape that `make watch` plays, and a --config for the variants that take it; of the operation
#                       $(WATCHED_OPERATION), if the program is asked for one
#   WANTS := mpicc      a command without which the chapter is left out, with one sentence; its exercises are there all the same
#   CLAIMS := once      what the tests hold the kernels to, beside being right:
#                       directions   they also run reversed and backward, in all four directions (chapters.t; without it, forward)
#                       once         the default touches each sector once and asks for nothing else (trace.t)
#                       fours        four neighbours are one thread's: products that overflow inside them do no harm (chapters.t)
#                       nothing      they are not its own; the chapter has tests for itself (bench.t)
#                       linked       other programs link them: a launcher returns the errors of its own launches, and clears
#                                    nobody else's (kernels.t)
#                       dtype        they are C++ templates in the type of the arrays, too (kernels.t; without it, C and
#                                    template <int>)
#
# The rest is seen from the files that are there:
#
#   no .cu              the chapter is plain C on host memory, whatever the backend
#   kernels.c           with .compares_with, the program runs earlier chapters' kernels beside its own: `make bench` times all of
#                       them on all shapes, `make run` on a few; `make attrs` and `make profile` launch them by the program
#                       extra/<chapter>_launches. The first such chapter explains what the harness compares kernels with: these
#                       rows of the tables are named after it
#   demos/a.c, b.cu     become build/<backend>/extra/<chapter>_a ...; a demo called tune is what `make tune` runs
#   figures/*.gp        draw the text's pictures from the recordings, for `make report`
#   plot.pl             draws, in place of common/plot/plot.pl
#   peers.py, a_peers.py ...   time other systems, for `make peers` (common/record/peer_times.py has what they share)
#   recordings.sh       what `make recordings` measures for the chapter (common/record/recordings.sh has the rules)
#   sanitize.sh         what `make sanitize` leaves out, and its shapes (common/record/sanitize.sh)
#
# TUNED=FILE on the command line: a header of configurations for the defaults of 05 and 06 (`make tune` writes one).
# config.mk knows by which lines a source asks to be compiled otherwise. Tests build their programs with this file, too: those are in
# programs/, not in demos/.

# where the environment holds a variable of one of these names, it means something else there
$(foreach name,APART NEEDS RUN_DEMOS SHOWN RUN_OPTIONS CHECKS TRACED_SHAPES WATCHED_SHAPE WANTS,\
    $(if $(filter environment,$(origin $(name))),$(eval undefine $(name))))

# the way to the repository's root, and from there to this folder
ROOT := $(patsubst %/common/build/chapter.mk,%,$(lastword $(MAKEFILE_LIST)))
DIR := $(subst $(abspath $(ROOT))/,,$(CURDIR))
include $(ROOT)/common/build/config.mk

CHAPTER := $(lastword $(notdir $(CURDIR)))

# ---- left out ----

LACKS := $(strip $(foreach command,$(WANTS),$(if $(shell command -v $(command)),,$(command))))
ifneq ($(LACKS),)
all run check plot trace estimate bench tune sanitize figures peers:
	@echo "$(CHAPTER) is left out: there is no $(LACKS) here (make setup installs it)"
programs common objects clean:
	@:
.PHONY: all run check plot trace estimate bench tune sanitize figures peers programs common objects clean
include $(ROOT)/common/build/exercises.mk
else
ON_CPU := $(if $(wildcard main.c),$(if $(wildcard *.cu kernels/*.cu),,yes))
COMPARING := $(patsubst $(ROOT)/%/kernels.c,%,$(shell grep -ls '^ *\.compares_with' $(ROOT)/[0-9][0-9]_*/kernels.c))
COMPARES := $(filter $(DIR),$(COMPARING))
ENGINE := $(if $(ON_CPU),sim,$(BACKEND))
OBJ := $(ROOT)/build/obj/$(ENGINE)$(OBJ_SUFFIX)
BIN := $(ROOT)/build/$(BACKEND)$(if $(DEBUG),_debug)
NUMBER := $(firstword $(subst _, ,$(CHAPTER)))
PROGRAM := $(if $(wildcard main.c),$(BIN)/$(CHAPTER))
DEMO_DIR := $(firstword $(wildcard demos programs))
DEMOS := $(sort $(basename $(notdir $(wildcard $(DEMO_DIR)/*.c $(DEMO_DIR)/*.cu))))
DEMO_PROGRAMS := $(DEMOS:%=$(BIN)/extra/$(CHAPTER)_%)
LAUNCHES := $(if $(COMPARES),$(BIN)/extra/$(CHAPTER)_launches)
# the table's name in results/
TABLE := $(if $(COMPARES),$(NUMBER)_quick,$(CHAPTER))
PLOT := perl $(if $(wildcard plot.pl),$(CHAPTER)/plot.pl,common/plot/plot.pl $(CHAPTER))

RUN_DEMOS ?= $(filter-out tune,$(DEMOS))
SHOWN ?= forward
# on a GPU a few shapes of what `make bench` compares
ifneq ($(and $(COMPARES),$(filter cuda,$(BACKEND))),)
  RUN_OPTIONS ?= --seq-len 64,1024,16384 --repeats 7
endif
# a few sequences, a single one, many short ones, and odd lengths around warps and past a tile
CHECKS ?= --num-seqs 3 --seq-len 33,100,4097,10007 ; --num-seqs 1 --seq-len 5,129,1000 ; \
    --num-seqs 31 --seq-len 0,1,2,3,5,6,7,63,100 ; --num-seqs 3 --seq-len 253,254,255,509,510,511,4097,10007,16001,16384
TRACED_SHAPES ?= --num-seqs 32 --seq-len 100,1001,4096
WATCHED_SHAPE ?= --num-seqs 1 --seq-len 256
# plain C wants no GPU
ifneq ($(ON_CPU),)
  START :=
endif

# the sources of a folder become objects; a chapter may have its own in drawers
objects = $(patsubst $(ROOT)/%,$(OBJ)/%.o,$(basename $(filter-out %/main.c,$(wildcard $(ROOT)/$(1)/*.c $(ROOT)/$(1)/*.cu))))
FOLDERS := $(foreach chapter,$(DIR) $(NEEDS),$(chapter) $(chapter)/operation $(chapter)/kernels)
OBJECTS := $(foreach folder,$(FOLDERS),$(call objects,$(folder)))
ROOMS := base cuda harness linrec
COMMON := $(filter-out %/$(if $(ON_CPU),baselines,baselines_cpu).o,$(foreach room,$(ROOMS),$(call objects,common/$(room))))
SIM := $(if $(filter sim,$(ENGINE)),$(ROOT)/cusim/build/$(if $(DEBUG),debug/)cusim.o)

all: programs
programs: $(PROGRAM) $(DEMO_PROGRAMS) $(LAUNCHES)
# what all chapters link (chapters.mk builds it first), and what others link of this one
common: $(COMMON) $(SIM)
objects: $(filter $(OBJ)/$(DIR)/%,$(OBJECTS))
# where all of it is there, make says nothing
all common objects:
	@:

include $(ROOT)/common/build/exercises.mk
include $(ROOT)/common/build/watch.mk

# what is named together on the command line comes one after the other
ifneq ($(word 2,$(filter run check plot trace estimate bench tune sanitize peers,$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif

# the whole output goes to results/, a summary to the screen: of a demo its last line. Demos come first: they take no time
run: all
	@mkdir -p $(ROOT)/results
	@cd $(ROOT) && for demo in $(RUN_DEMOS); do \
	    name=$(CHAPTER)_$$demo; $(START)build/$(BACKEND)/extra/$$name > results/$$name.txt; status=$$?; \
	    echo "$(START)build/$(BACKEND)/extra/$$name > results/$$name.txt: $$(tail -n 1 results/$$name.txt)"; \
	    [ $$status = 0 ] || exit 1; done
	@cd $(ROOT) && (: > results/$(TABLE).txt) 2> /dev/null || { \
	    echo "results/$(TABLE).txt cannot be written; remove it, or make it and the folder results/ yours" >&2; exit 2; }
	@echo "$(strip $(START)build/$(BACKEND)/$(CHAPTER) $(RUN_OPTIONS)) --csv results/$(TABLE).csv > results/$(TABLE).txt"
	@cd $(ROOT) && $(START)build/$(BACKEND)/$(CHAPTER) $(RUN_OPTIONS) --csv results/$(TABLE).csv > results/$(TABLE).txt; \
	    status=$$?; perl common/harness/summary.pl results/$(TABLE).txt $(SHOWN) || exit 1; exit $$status
	@$(MAKE) --no-print-directory plot

define NEWLINE

	
endef

# the default shapes; then others, the first of them in another order: the simulator's, or that of seven threads on any CPU
CHECK = $(START)build/$(BACKEND)/$(CHAPTER) --check-only
OTHERWISE := $(if $(ON_CPU),CPU_THREADS=7,CUSIM_SCHEDULE=reverse)
check: all
	cd $(ROOT) && $(CHECK)
	cd $(ROOT) && $(OTHERWISE) $(CHECK) $(subst ;,$(NEWLINE)cd $(ROOT) && $(CHECK),$(CHECKS))

plot:
	@cd $(ROOT) && $(PLOT) $(TERM_OPTION)

# what one launch of each kernel asks of memory, counted by the simulator; LINES=VARIANT (or all): line by line
# (only where make is told so: shells export their terminal's LINES)
TRACED := results/$(CHAPTER)_trace.csv results/$(CHAPTER)_warp.csv
trace:
ifneq ($(ON_CPU),)
	@echo "$(CHAPTER) runs on the CPU: there is nothing to trace"
else
	@$(MAKE) --no-print-directory BACKEND=sim all
	@mkdir -p $(ROOT)/results
	@cd $(ROOT) && rm -f $(TRACED)
	@cd $(ROOT) && CUSIM_TRACE=$(word 1,$(TRACED)) CUSIM_TRACE_WARP=$(word 2,$(TRACED)) \
	    build/sim/$(CHAPTER) $(TRACED_SHAPES) > /dev/null
	@cd $(ROOT) && perl common/pages/trace.pl $(word 1,$(TRACED)) $(if $(filter command line,$(origin LINES)),$(LINES))
	@cd $(ROOT) && perl common/plot/warp.pl $(CHAPTER) $(TERM_OPTION)
endif

# how fast each kernel would be on a chip, from what the simulator counts: CHIP=h200, NUM_SEQS=, SEQ_LEN=, VARIANT=, CSV=FILE
# (only where make is told so); OWN=1: not those that it compares itself with. It knows the recurrence's sizes, and kernels alone:
# arrays that are elsewhere (a placement, in main.c) are copied
OTHER_SIZES := $(filter-out --num-seqs --seq-len,$(filter --%,$(TRACED_SHAPES)))
NOT_ESTIMATED := $(if $(ON_CPU),it runs on the CPU,$(if $(shell grep -s 'placement = ' main.c),\
    much of its time are copies or messages$(,) and kernels alone are estimated,\
    $(if $(OTHER_SIZES),its sizes are not those of the recurrence)))
told = $(if $(filter command line,$(origin $(1))),$(2) '$(subst ','\'',$($(1)))')
ESTIMATED = $(call told,CHIP,--chip) $(call told,NUM_SEQS,--num-seqs) $(call told,SEQ_LEN,--seq-len) $(call told,CSV,--csv)
# registers, as nvcc has told them here, and as they were recorded, the newest first
REGISTERS = $$(for file in $$(ls build/obj/cuda*/*/*.ptxas 2> /dev/null; ls -r recordings/*/*_attrs.csv); do \
	    echo "--registers $$file"; done)
estimate:
ifneq ($(strip $(NOT_ESTIMATED)),)
	@echo "$(CHAPTER): nothing is estimated, since $(strip $(NOT_ESTIMATED))"
else
	@$(MAKE) --no-print-directory BACKEND=sim QUIET=1 all
	@cd $(ROOT) && perl cusim/estimate/cusim-estimate $(REGISTERS) $(ESTIMATED) $(if $(OWN),--own) \
	    build/sim/$(CHAPTER) $(call told,VARIANT,--variant)
endif

# ---- on a GPU. What a chapter has no part in, it does without a word; with :: its Makefile may add commands of its own ----

ON_GPU := $(filter cuda,$(BACKEND))
NEEDS_GPU = $(if $(ON_GPU),,@echo "make $@ needs a GPU and nvcc (this is BACKEND=$(BACKEND)); $(1)"; exit 2)

bench tune sanitize figures peers::
	@:

ifneq ($(COMPARES),)
BENCHED = $(if $(QUICK),$(RUN_OPTIONS) --csv results/$(TABLE).csv,--resume --csv results/$(CHAPTER).csv)
bench:: $(ON_GPU:cuda=all)
	$(call NEEDS_GPU,the simulator knows no time; make run checks all kernels on it)
	@mkdir -p $(ROOT)/results
	cd $(ROOT) && $(START)build/cuda/$(CHAPTER) $(BENCHED)
	@$(MAKE) --no-print-directory plot
endif

ifneq ($(filter tune,$(DEMOS)),)
tune:: $(ON_GPU:cuda=all)
	$(call NEEDS_GPU,the simulator knows no time)
	@mkdir -p $(ROOT)/results
	cd $(ROOT) && $(START)build/cuda/extra/$(CHAPTER)_tune --csv results/$(NUMBER)_tune.csv
	@$(MAKE) --no-print-directory plot
endif

ifeq ($(ON_CPU),)
sanitize:: $(ON_GPU:cuda=all)
	$(call NEEDS_GPU,the simulator checks its own runs: make test)
	@cd $(ROOT) && sh common/record/sanitize.sh $(CHAPTER)
endif

# other systems, as far as they are installed; it asks Python for the GPU, whatever the backend
ifneq ($(wildcard *peers.py),)
peers::
	@mkdir -p $(ROOT)/results
	@cd $(ROOT) && for python in python3 /usr/bin/python3; do \
	    $$python -c 'import torch' 2>/dev/null || continue; \
	    for name in $(sort $(basename $(wildcard *peers.py))); do \
	        $(START)$$python -B $(CHAPTER)/$$name.py --csv results/$(NUMBER)_$$name.csv || exit; \
	    done; exit; \
	done; \
	echo "make peers needs Python with torch, and there is none here; nothing else depends on it"; exit 2
endif

figures::
	@cd $(ROOT) && for script in $(wildcard figures/*.gp); do gnuplot $(CHAPTER)/$$script || exit 1; done

clean:
	rm -rf $(OBJ)/$(DIR) $(PROGRAM) $(DEMO_PROGRAMS) $(LAUNCHES)

.PHONY: all programs common objects watched run check plot trace estimate bench tune sanitize figures peers clean FORCE
.SECONDARY:

# `make plot TERM=dumb` draws in the terminal; TERM from the environment is the terminal's own name and means nothing here.
TERM_OPTION := $(if $(filter command line,$(origin TERM)),$(TERM))

ifeq ($(MAKELEVEL)$(filter exercise% hint solution reset,$(MAKECMDGOALS)),0)
  $(info backend: $(BACKEND) ($(BACKEND_REASON)))
endif

# APART: a command that starts compilers and linkers where they see nothing else (common/judge/Makefile, for an answer).

# What is being written is called otherwise until it is whole, and by each process for itself: two makes may run at once.
PART = $@.part-$$$$
WHOLE = -o $(PART) $(1) && mv $(PART) $@

# An object is made from several folders (a chapter's, the judge's): what it hangs on is named from $(ROOT), whoever reads it.
RULES = sed -i 's,\(^\| \)$(subst .,\.,$(ROOT))/,\1$$(ROOT)/,g' $(@:.o=.d)

# one short line a file; the whole command with make V=1, nothing with QUIET=1
SAY = $(if $(V),,@)mkdir -p $(@D); $(if $(V)$(QUIET),,echo "  $(1) $(patsubst $(ROOT)/%,%,$@)"; )

# ---- compile: a .c on the host, a .cu by nvcc or, unmodified, for the simulator ----
# nvcc also leaves what each kernel takes in a .ptxas beside the object, for `make attrs`

ifneq ($(TUNED),)
  ifneq ($(words $(TUNED)),1)
    $(error TUNED=$(TUNED) has a blank in its name; choose one without)
  endif
  TUNED_FILE := $(if $(filter /%,$(TUNED)),$(TUNED),$(ROOT)/$(TUNED))
  ifeq ($(wildcard $(TUNED_FILE))$(wildcard $(TUNED_FILE)/.),$(TUNED_FILE))
  else
    $(error TUNED=$(TUNED) is not a file; `make tune` writes one into results/)
  endif
endif

LDLIBS := -lpthread -lm
# a library of NVIDIA's, where a source that is linked includes its header; the simulator has a stand-in of its own
linked_with = $(if $(shell cd $(ROOT) && grep -ls '^.include <$(1)' $(foreach folder,$(FOLDERS),$(folder)/*.c $(folder)/*.cu)),$(2))
ifeq ($(ENGINE),cuda)
  LDLIBS += $(call linked_with,cublas_v2.h>,-lcublas)
endif
ifeq ($(ENGINE),sim)
  INCLUDES := -I$(ROOT)/cusim/include $(ARCH_NUMBER)
  LINK = $(APART) $(CXX) -no-pie $(call WHOLE,$^ $(LDLIBS))
else
  INCLUDES :=
  C_INCLUDES := -isystem $(CUDA_INCLUDE) $(ARCH_NUMBER)
  LINK = $(APART) $(NVCC) $(FOR_CHIPS) $(call WHOLE,$^ $(LDLIBS))
endif

# lines are found from the root, and still are when the checkout has another name (../x, seen from a chapter's folder, is x)
FROM_ROOT = -fdebug-prefix-map='$(subst ','\'',$(abspath $(ROOT)))'=.

# Everything is built again when the compilers or their options change, but for WERROR=1, which changes no object. Whether a file
# still holds this text is asked before any rule: a rule that always runs counts for make -n and make -q as one that changes its
# file, and with it everything.
FLAGS := $(OBJ)/flags
COMPILERS = $(CC) $(CXX) $(HOST_FLAGS) $(if $(filter cuda,$(ENGINE)),$(NVCC) $(NVCCFLAGS),$(SIM_CXXFLAGS))
BUILT_WITH = $(call without_werror,$(COMPILERS)) -fdebug-prefix-map, rules from ROOT
without_werror = $(subst -Werror,,$(subst -Werror=all-warnings,,$(subst -Xptxas=-Werror,,$(1))))
HOLDS = @mkdir -p $(@D); echo '$(1)' | cmp -s - $@ || { echo '$(1)' > $(PART) && mv $(PART) $@; }
ifneq ($(shell cat $(FLAGS) 2> /dev/null),$(BUILT_WITH))
$(FLAGS): FORCE
endif
$(FLAGS):
	$(call HOLDS,$(BUILT_WITH))

# but for what a header of configurations changes: the choices, and what the tables say of them
CHOICES := $(OBJ)/common/harness/machine.o $(filter %/default.o,$(OBJECTS))
$(CHOICES): INCLUDES += $(TUNED_FILE:%=-include % -DLINREC_TUNED='"$(TUNED)"')
$(CHOICES): $(OBJ)/tuned
ifneq ($(shell cat $(OBJ)/tuned 2> /dev/null),$(TUNED))
$(OBJ)/tuned: FORCE
endif
$(OBJ)/tuned:
	$(call HOLDS,$(TUNED))

# a .c by $(CC), and a .cu by $(CXX) for the simulator, where $(1) is more for cusim
COMPILE_C = $(APART) $(CC) $(HOST_FLAGS) $(FROM_ROOT) $(C_INCLUDES) $(INCLUDES) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $(call WHOLE,$<) && $(RULES)
CUSIM := $(ROOT)/cusim/compile/cusim
FROM_HERE := -fmacro-prefix-map=../= -fmacro-prefix-map=../../=
COMPILE_CU = CXX='$(CXX)' $(APART) perl $(CUSIM) -c $< -o $@ $(SIM_CXXFLAGS) $(FROM_ROOT) $(FROM_HERE) -fvisibility=hidden $(INCLUDES) \
    -MMD -MP $(1) && $(RULES)

$(OBJ)/%.o: $(ROOT)/%.c $(FLAGS)
	$(call SAY,gcc)$(COMPILE_C)

# the chapter that explains the baselines
BASELINES := $(firstword $(COMPARING) baselines)
$(OBJ)/common/harness/trial.o $(OBJ)/$(DIR)/main_launches.o: private INCLUDES += -DBASELINES='"$(BASELINES)"'

$(OBJ)/$(DIR)/main_launches.o: private INCLUDES += -DCHAPTER=chapter$(NUMBER)
$(OBJ)/$(DIR)/main_launches.o: $(ROOT)/common/record/launches.c $(FLAGS)
	$(call SAY,gcc)$(COMPILE_C)

ifeq ($(ENGINE),sim)
# the simulator's own makefile knows what its engine is made of
$(SIM): $(wildcard $(addprefix $(ROOT)/cusim/,Makefile *.h */*.h */*.cpp include/*/*)) $(FLAGS)
	@$(MAKE) --no-print-directory -C $(ROOT)/cusim CXX='$(CXX)'
	@touch $@

$(foreach built,$(OBJ) $(OBJ)_watch,$(FOR_SM_90A:%=$(built)/%.o)): private INCLUDES += -DLINREC_SM_90A
$(BUILT_QUICKLY:%=$(OBJ)/%.o): private SIM_CXXFLAGS += $(SIM_QUICKLY)
$(BUILT_AS_WRITTEN:%=$(OBJ)/%.o): private SIM_CXXFLAGS += $(SIM_AS_WRITTEN)
$(OBJ)/%.o: $(ROOT)/%.cu $(FLAGS) $(CUSIM) $(wildcard $(ROOT)/cusim/compile/*.pl)
	$(call SAY,sim)$(call COMPILE_CU)
else
$(MAY_SPILL:%=$(OBJ)/%.o): private SPILL_FLAGS :=
$(FOR_SM_90A:%=$(OBJ)/%.o): private CHIPS := $(CHIPS_90A)
$(FOR_SM_90A:%=$(OBJ)/%.o): private INCLUDES += $(HAS_SM_90A)
$(OBJ)/%.o: $(ROOT)/%.cu $(FLAGS)
	$(call SAY,nvcc)$(APART) $(NVCC) $(NVCCFLAGS) $(INCLUDES) -MMD -MP -MF $(@:.o=.d) -c -o $@ $< 2> $(@:.o=.ptxas) && $(RULES); \
	    status=$$?; grep -v '^ptxas info\|^    [0-9]* bytes stack' $(@:.o=.ptxas) >&2; exit $$status
endif

# for `make watch`: the chapter's sources of one variant, or all of them, so compiled that a run can be played line by line
ifneq ($(WATCHED_VARIANT),)
WATCHED_SOURCES = $(wildcard $(1).cu kernels/$(1).cu)
WATCHED := $(patsubst %.cu,$(DIR)/%,$(or $(call WATCHED_SOURCES,$(WATCHED_VARIANT)*),\
    $(call WATCHED_SOURCES,*_$(WATCHED_VARIANT)*),$(call WATCHED_SOURCES,*)))
WATCHED_PROGRAM := $(ROOT)/build/sim_watch/$(CHAPTER)_$(WATCHED_VARIANT)
$(OBJ)_watch/%.o: $(ROOT)/%.cu $(FLAGS) $(CUSIM) $(wildcard $(ROOT)/cusim/compile/*.pl)
	$(call SAY,sim)$(call COMPILE_CU,$(WATCH))
watched: $(WATCHED_PROGRAM)
	@echo '$(WATCHED_PROGRAM:$(ROOT)/%=%) $(WATCHED_SHAPE)'
$(WATCHED_PROGRAM): $(WATCHED:%=$(OBJ)_watch/%.o) \
    $(filter-out $(WATCHED:%=$(OBJ)/%.o),$(OBJ)/$(DIR)/main.o $(OBJECTS) $(COMMON) $(SIM))
	$(call SAY,link)$(LINK)
-include $(WATCHED:%=$(OBJ)_watch/%.d)
endif

# ---- link ----

$(PROGRAM): $(OBJ)/$(DIR)/main.o $(OBJECTS) $(COMMON) $(SIM)
	$(call SAY,link)$(LINK)

$(DEMO_PROGRAMS): $(BIN)/extra/$(CHAPTER)_%: $(OBJ)/$(DIR)/$(DEMO_DIR)/%.o $(OBJECTS) $(COMMON) $(SIM)
	$(call SAY,link)$(LINK)

$(LAUNCHES): $(OBJ)/$(DIR)/main_launches.o $(OBJECTS) $(COMMON) $(SIM)
	$(call SAY,link)$(LINK)

-include $(wildcard $(patsubst %,$(OBJ)/%/*.d,$(ROOMS:%=common/%) $(DEMO_DIR:%=$(DIR)/%) $(FOLDERS)))

endif
