# SPDX-License-Identifier: MIT
# chapter.mk - builds, runs, checks and plots one chapter. A chapter's Makefile sets what it needs and includes this file:
#
#   ON_CPU := yes       the chapter is plain C on host memory, whatever the backend
#   NEEDS := 04_...     earlier chapters whose objects are linked
#   COMPARES := yes     the program runs earlier chapters' kernels beside its own, as `chapter08` in its table's file says: `make bench` times
#                       all of them on all shapes, `make run` on a few (QUICK_OPTIONS); `make attrs` and `make profile` launch them by
#                       the program extra/<chapter>_launches
#   DEMOS := a b        demos/a.c, demos/b.cu ... become build/<backend>/extra/<chapter>_a ...; a demo called tune is what `make tune` runs
#   RUN_DEMOS := a      the demos that `make run` runs (default: all but tune)
#   SHOWN := backward   the direction that `make run` shows a line a variant of (default: forward)
#   RUN_OPTIONS, CSV    what `make run` gives to the program, and the table's name in results/ (default: the chapter's)
#   CHECKS, CHECK_REVERSED, TRACED_SHAPES, SANITIZED_SHAPES
#                       shapes of `make check`; of its run in reverse order; of `make trace`; of `make sanitize`; first and last with ; between runs
#                       (default: those of the recurrence; another operation names its own sizes)
#   NOT_ESTIMATED       why `make estimate` leaves the chapter out (default: where it runs on the CPU, or TRACED_SHAPES names other sizes than the recurrence's)
#   NO_RACECHECK, NO_SYNCCHECK   variants that `make sanitize` does not ask these tools about (common/record/sanitize.sh says why)
#   CHECK_CONFIGS       what `make check` gives to --config, one after the other (default: nothing)
#   CHECK_WITH          settings of the environment with which `make check` runs once more (more threads than cores, for example)
#   WANTS := mpicc      a command without which the chapter is left out, with one sentence; its exercises are there all the same
#   C_INCLUDES_HERE, LIBRARIES   what the chapter's own .c files are compiled with beside the rest, and its programs linked with
#   EXPLAINS := baselines   the chapter that explains what the harness compares kernels with: such rows of the tables are named after it
#   MAY_SPILL := a b    sources, without their .cu, in which a register may spill without being an error
#   ONLY_SM_90A := a b  sources with instructions that sm_90a has and no other chip, where nvcc compiles for sm_90
#   BUILT_QUICKLY := a b   sources that a GPU's compiler unrolls and inlines far. The simulator has no registers to save: where g++ leaves loops and
#                       functions as they are, it takes a tenth of the time, and a run a little more. An access here and there is counted otherwise, so not where the text shows counts
#   BUILT_AS_WRITTEN := a b   the same, but g++ leaves only functions as they are: where these loops are most of a run's time
#   PLOT                the command that draws (default: common/plot/plot.pl)
#   FIGURES             the command that draws the text's pictures from the recordings, for `make report` (default: none)
#   CLAIMS := once      what the tests hold the kernels to, beside being right:
#                       directions   they also run reversed and backward, all four directions (chapters.t; without it, forward alone)
#                       once         the default touches each sector once and asks for nothing else (trace.t)
#                       fours        four neighbours are one thread's: products that overflow inside them do no harm (chapters.t)
#                       nothing      they are not its own; the chapter has tests for itself (bench.t)
#                       linked       other programs link them: a launcher returns the errors of its own launches, and clears nobody else's (kernels.t)
#                       dtype        they are C++ templates in the type of the arrays, too (kernels.t; without it, C and template <int>)
#   WATCHED_SHAPE, WATCHED_CONFIG   the small shape that `make watch` plays (default: --num-seqs 1 --seq-len 256), and what it gives to --config, where a
#                       variant takes that (default: nothing)
#   TUNED=FILE          on the command line: a header of configurations for the defaults of 05 and 06 (`make tune` writes one)
#
# peers.py beside the Makefile times other systems, for `make peers` (common/record/peer_times.py has what they share).
# recordings.sh beside the Makefile says what `make recordings` measures for the chapter (common/record/recordings.sh has the rules).
#
# common/tests builds its programs with it too: ROOT, DIR (its path from the root) and DEMO_DIR differ there.

# where the environment holds a variable of one of these names, it means something else there
$(foreach name,ROOT DIR DEMO_DIR PROGRAM ON_CPU WANTS LIBRARIES C_INCLUDES_HERE NEEDS COMPARES DEMOS RUN_DEMOS SHOWN RUN_OPTIONS QUICK_OPTIONS CSV CHECKS CHECK_REVERSED TRACED_SHAPES NOT_ESTIMATED WATCHED_SHAPE WATCHED_CONFIG SANITIZED_SHAPES NO_RACECHECK NO_SYNCCHECK CHECK_WITH PLOT FIGURES,\
    $(if $(filter environment,$(origin $(name))),$(eval undefine $(name))))

ROOT ?= ..
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
DIR ?= $(CHAPTER)
DEMO_DIR ?= demos
ENGINE := $(if $(ON_CPU),sim,$(BACKEND))
OBJ := $(ROOT)/build/obj/$(ENGINE)$(OBJ_SUFFIX)
BIN := $(ROOT)/build/$(BACKEND)$(if $(DEBUG),_debug)
PROGRAM ?= $(if $(wildcard main.c),$(BIN)/$(CHAPTER))
RUN_DEMOS ?= $(filter-out tune,$(DEMOS))
SHOWN ?= forward
NUMBER := $(firstword $(subst _, ,$(CHAPTER)))
PLOT ?= perl common/plot/plot.pl $(CHAPTER)
ifneq ($(COMPARES),)
  QUICK_OPTIONS ?= --seq-len 64,1024,16384 --repeats 7
  RUN_OPTIONS ?= $(if $(filter cuda,$(BACKEND)),$(QUICK_OPTIONS))
  CSV ?= $(NUMBER)_quick
endif
# a CPU is slower, and takes its times for every shape: half of the default lengths
ifneq ($(ON_CPU),)
  RUN_OPTIONS ?= --seq-len 16,64,256,1024,4096,16384
endif
CSV ?= $(CHAPTER)
CHECKS ?= --num-seqs 1 --seq-len 5,129,1000 ; --num-seqs 31 --seq-len 0,1,2,3,5,6,7,63,100 ; \
    --num-seqs 3 --seq-len 253,254,255,509,510,511,4097,10007,16001,16384
CHECK_REVERSED ?= --num-seqs 3 --seq-len 33,100,4097,10007
WATCHED_SHAPE ?= --num-seqs 1 --seq-len 256
NOT_ESTIMATED ?= $(if $(ON_CPU),it runs on the CPU,$(if $(filter-out --num-seqs --seq-len,$(filter --%,$(TRACED_SHAPES))),its sizes are not those of the recurrence))
TRACED_SHAPES ?= --num-seqs 32 --seq-len 100,1001,4096
DEMO_PROGRAMS := $(DEMOS:%=$(BIN)/extra/$(CHAPTER)_%)
# plain C wants no GPU
ifneq ($(ON_CPU),)
  START :=
endif
LAUNCHES := $(if $(COMPARES),$(BIN)/extra/$(CHAPTER)_launches)

# the sources of a folder become objects; a chapter may have its own in drawers
objects = $(patsubst $(ROOT)/%,$(OBJ)/%.o,$(basename $(filter-out %/main.c,$(wildcard $(ROOT)/$(1)/*.c $(ROOT)/$(1)/*.cu))))
OBJECTS := $(foreach folder,$(foreach chapter,$(DIR) $(NEEDS),$(chapter) $(chapter)/operation $(chapter)/kernels),$(call objects,$(folder)))
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
	@cd $(ROOT) && (: > results/$(CSV).txt) 2> /dev/null || { \
	    echo "results/$(CSV).txt cannot be written; remove it, or make it and the folder results/ yours" >&2; exit 2; }
	@echo "$(strip $(START)build/$(BACKEND)/$(CHAPTER) $(RUN_OPTIONS)) --csv results/$(CSV).csv > results/$(CSV).txt"
	@cd $(ROOT) && $(START)build/$(BACKEND)/$(CHAPTER) $(RUN_OPTIONS) --csv results/$(CSV).csv > results/$(CSV).txt; \
	    status=$$?; perl common/harness/summary.pl results/$(CSV).txt $(SHOWN) || exit 1; exit $$status
	@$(MAKE) --no-print-directory plot

define NEWLINE

	
endef

# the default shapes, a single sequence, many short ones, and odd lengths around warps and past a tile; the simulator once more in
# another order
check: all
	cd $(ROOT) && $(START)build/$(BACKEND)/$(CHAPTER) --check-only
	cd $(ROOT) && $(START)build/$(BACKEND)/$(CHAPTER) --check-only $(subst ;,$(NEWLINE)cd $(ROOT) && $(START)build/$(BACKEND)/$(CHAPTER) --check-only,$(CHECKS))
	cd $(ROOT) && CUSIM_SCHEDULE=reverse $(START)build/$(BACKEND)/$(CHAPTER) --check-only $(CHECK_REVERSED)
	$(foreach config,$(CHECK_CONFIGS),cd $(ROOT) && $(START)build/$(BACKEND)/$(CHAPTER) --check-only --num-seqs 2 --seq-len 100,4100 --config $(config)$(NEWLINE))
ifneq ($(CHECK_WITH),)
	cd $(ROOT) && $(CHECK_WITH) $(START)build/$(BACKEND)/$(CHAPTER) --check-only --num-seqs 3 --seq-len 1,2,6,7,8,13,14,15,100,1001
endif

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
# (only where make is told so); OWN=1: not those that it compares itself with. It knows the recurrence's sizes
told = $(if $(filter command line,$(origin $(1))),$(2) '$(subst ','\'',$($(1)))')
ESTIMATED = $(call told,CHIP,--chip) $(call told,NUM_SEQS,--num-seqs) $(call told,SEQ_LEN,--seq-len) $(call told,CSV,--csv)
# registers, as nvcc has told them here, and as they were recorded, the newest first
REGISTERS = $$(for file in $$(ls build/obj/cuda*/*/*.ptxas 2> /dev/null; ls -r recordings/*/*_attrs.csv); do echo "--registers $$file"; done)
estimate:
ifneq ($(NOT_ESTIMATED),)
	@echo "$(CHAPTER): nothing is estimated, since $(NOT_ESTIMATED)"
else
	@$(MAKE) --no-print-directory BACKEND=sim QUIET=1 all
	@cd $(ROOT) && perl cusim/estimate/cusim-estimate $(REGISTERS) $(ESTIMATED) $(if $(OWN),--own) build/sim/$(CHAPTER) $(call told,VARIANT,--variant)
endif

# ---- on a GPU. What a chapter has no part in, it does without a word; with :: its Makefile may add commands of its own ----

ON_GPU := $(filter cuda,$(BACKEND))
NEEDS_GPU = @echo "make $@ needs a GPU and nvcc (this is BACKEND=$(BACKEND)); $(1)"; exit 2

bench tune sanitize figures peers::
	@:

ifneq ($(COMPARES),)
ifneq ($(ON_GPU),)
bench:: all
	@mkdir -p $(ROOT)/results
	cd $(ROOT) && $(START)build/cuda/$(CHAPTER) $(if $(QUICK),$(QUICK_OPTIONS) --csv results/$(NUMBER)_quick.csv,--resume --csv results/$(CHAPTER).csv)
	@$(MAKE) --no-print-directory plot
else
bench::
	$(call NEEDS_GPU,the simulator knows no time; make run checks all kernels on it)
endif
endif

ifneq ($(filter tune,$(DEMOS)),)
ifneq ($(ON_GPU),)
tune:: all
	@mkdir -p $(ROOT)/results
	cd $(ROOT) && $(START)build/cuda/extra/$(CHAPTER)_tune --csv results/$(NUMBER)_tune.csv
	@$(MAKE) --no-print-directory plot
else
tune::
	$(call NEEDS_GPU,the simulator knows no time)
endif
endif

ifeq ($(ON_CPU),)
ifneq ($(ON_GPU),)
sanitize:: all
	@cd $(ROOT) && NO_RACECHECK='$(NO_RACECHECK)' NO_SYNCCHECK='$(NO_SYNCCHECK)' sh common/record/sanitize.sh $(CHAPTER) $(subst ;,';',$(SANITIZED_SHAPES))
else
sanitize::
	$(call NEEDS_GPU,the simulator checks its own runs: make test)
endif
endif

# other systems, as far as they are installed; it asks Python for the GPU, whatever the backend
ifneq ($(wildcard peers.py),)
peers::
	@mkdir -p $(ROOT)/results
	@cd $(ROOT) && for python in python3 /usr/bin/python3; do \
	    ! $$python -c 'import torch' 2>/dev/null || exec $(START)$$python -B $(CHAPTER)/peers.py --csv results/$(NUMBER)_peers.csv; \
	done; \
	echo "make peers needs Python with torch, and there is none here; nothing else depends on it"; exit 2
endif

figures::
	@$(if $(FIGURES),cd $(ROOT) && $(FIGURES))

clean:
	rm -rf $(OBJ)/$(DIR) $(PROGRAM) $(DEMO_PROGRAMS) $(LAUNCHES)

.PHONY: all programs common objects watched run check plot trace estimate bench tune sanitize figures peers clean FORCE
.SECONDARY:

# `make plot TERM=dumb` draws in the terminal; TERM from the environment is the terminal's own name and means nothing here.
TERM_OPTION := $(if $(filter command line,$(origin TERM)),$(TERM))

ifeq ($(MAKELEVEL)$(filter exercise% hint solution reset,$(MAKECMDGOALS)),0)
  $(info backend: $(BACKEND) ($(BACKEND_REASON)))
endif

# What is being written is called otherwise until it is whole, and by each process for itself: two makes may run at once.
PART = $@.part-$$$$
WHOLE = -o $(PART) $(1) && mv $(PART) $@

# An object is made from several folders (a chapter's, the judge's): what it hangs on is named from $(ROOT), whoever reads it.
RULES = sed -i 's,\(^\| \)$(subst .,\.,$(ROOT))/,\1$$(ROOT)/,g' $(@:.o=.d)

# one short line a file; the whole command with make V=1, nothing with QUIET=1
SAY = $(if $(V),,@$(if $(QUIET),,echo "  $(1) $(patsubst $(ROOT)/%,%,$@)"; ))

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

ifeq ($(ENGINE),sim)
  INCLUDES := -I$(ROOT)/cusim/include $(ARCH_NUMBER)
  LINK = $(CXX) -no-pie $(call WHOLE,$^ $(LIBRARIES) -pthread -lm)
else
  INCLUDES :=
  C_INCLUDES := -isystem $(CUDA_INCLUDE) $(ARCH_NUMBER)
  LINK = $(NVCC) -arch=$(ARCH) $(call WHOLE,$^ $(LIBRARIES) -lpthread -lm)
endif

# lines are found from the root, and still are when the checkout has another name (and a file named ../x from a chapter's folder is x)
FROM_ROOT = -fdebug-prefix-map='$(subst ','\'',$(abspath $(ROOT)))'=.

$(OBJ)/$(DIR)/%.o: private C_INCLUDES += $(C_INCLUDES_HERE)

# Everything is built again when the compilers or their options change, but for WERROR=1, which changes no object. Whether a file still holds this text
# is asked before any rule: a rule that always runs counts for make -n and make -q as one that changes its file, and with it everything.
FLAGS := $(OBJ)/flags
BUILT_WITH = $(call without_werror,$(CC) $(CXX) $(HOST_FLAGS) $(if $(filter cuda,$(ENGINE)),$(NVCC) $(NVCCFLAGS),$(SIM_CXXFLAGS))) -fdebug-prefix-map, rules from ROOT
without_werror = $(subst -Werror,,$(subst -Werror all-warnings,,$(subst -Xptxas -Werror,,$(1))))
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

$(OBJ)/%.o: $(ROOT)/%.c $(FLAGS)
	@mkdir -p $(@D)
	$(call SAY,gcc)$(CC) $(HOST_FLAGS) $(FROM_ROOT) $(C_INCLUDES) $(INCLUDES) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $(call WHOLE,$<) && $(RULES)

# the chapter that has EXPLAINS := baselines
BASELINES := $(firstword $(notdir $(patsubst %/Makefile,%,$(shell grep -l '^EXPLAINS := baselines' $(ROOT)/[0-9][0-9]_*/Makefile))) baselines)
$(OBJ)/common/harness/trial.o $(OBJ)/$(DIR)/main_launches.o: private INCLUDES += -DBASELINES='"$(BASELINES)"'

$(OBJ)/$(DIR)/main_launches.o: $(ROOT)/common/record/launches.c $(FLAGS)
	@mkdir -p $(@D)
	$(call SAY,gcc)$(CC) $(HOST_FLAGS) $(FROM_ROOT) -DCHAPTER=chapter$(NUMBER) $(C_INCLUDES) $(INCLUDES) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $(call WHOLE,$<) && $(RULES)

ifeq ($(ENGINE),sim)
# the simulator's own makefile knows what its engine is made of
$(SIM): $(wildcard $(addprefix $(ROOT)/cusim/,Makefile *.h */*.h */*.cpp include/*/*)) $(FLAGS)
	@$(MAKE) --no-print-directory -C $(ROOT)/cusim CXX='$(CXX)' && touch $@

$(patsubst %,$(OBJ)/%.o,$(call said_of_sources,ONLY_SM_90A)): private INCLUDES += -DLINREC_SM_90A
$(patsubst %,$(OBJ)/%.o,$(call said_of_sources,BUILT_QUICKLY)): private SIM_CXXFLAGS += $(SIM_QUICKLY)
$(patsubst %,$(OBJ)/%.o,$(call said_of_sources,BUILT_AS_WRITTEN)): private SIM_CXXFLAGS += $(SIM_AS_WRITTEN)
$(OBJ)/%.o: $(ROOT)/%.cu $(FLAGS) $(ROOT)/cusim/compile/cusim $(wildcard $(ROOT)/cusim/compile/*.pl)
	@mkdir -p $(@D)
	$(call SAY,sim)CXX='$(CXX)' perl $(ROOT)/cusim/compile/cusim -c $< -o $@ $(SIM_CXXFLAGS) $(FROM_ROOT) -fmacro-prefix-map=../= -fmacro-prefix-map=../../= -fvisibility=hidden $(INCLUDES) -MMD -MP && $(RULES)
else
$(patsubst %,$(OBJ)/%.o,$(call said_of_sources,MAY_SPILL)): private SPILL_FLAGS :=
$(patsubst %,$(OBJ)/%.o,$(call said_of_sources,ONLY_SM_90A)): private NVCCFLAGS := $(FLAGS_FOR_SM_90A)
$(OBJ)/%.o: $(ROOT)/%.cu $(FLAGS)
	@mkdir -p $(@D)
	$(call SAY,nvcc)$(NVCC) $(NVCCFLAGS) $(INCLUDES) -MMD -MP -MF $(@:.o=.d) -c -o $@ $< 2> $(@:.o=.ptxas) && $(RULES); \
	    status=$$?; grep -v '^ptxas info\|^    [0-9]* bytes stack' $(@:.o=.ptxas) >&2; exit $$status
endif

# for `make watch`: the chapter's sources of one variant, or all of them, so compiled that a run can be played line by line
ifneq ($(WATCHED_VARIANT),)
sources_of = $(sort $(patsubst $(ROOT)/%.cu,%,$(foreach drawer,. kernels,$(wildcard $(ROOT)/$(DIR:%=%/)$(drawer:.=)$(if $(filter kernels,$(drawer)),/)$(1).cu))))
WATCHED := $(or $(call sources_of,$(WATCHED_VARIANT)*),$(call sources_of,*))
WATCHED_PROGRAM := $(ROOT)/build/sim_watch/$(CHAPTER)_$(WATCHED_VARIANT)
$(OBJ)_watch/%.o: $(ROOT)/%.cu $(FLAGS) $(ROOT)/cusim/compile/cusim $(wildcard $(ROOT)/cusim/compile/*.pl)
	@mkdir -p $(@D)
	$(call SAY,sim)CXX='$(CXX)' perl $(ROOT)/cusim/compile/cusim $(WATCH) -c $< -o $@ $(SIM_CXXFLAGS) $(FROM_ROOT) -fmacro-prefix-map=../= -fmacro-prefix-map=../../= -fvisibility=hidden $(INCLUDES) -MMD -MP && $(RULES)
watched: $(WATCHED_PROGRAM)
	@echo '$(WATCHED_PROGRAM:$(ROOT)/%=%) $(WATCHED_SHAPE) $(WATCHED_CONFIG:%=--config %)'
$(WATCHED_PROGRAM): $(WATCHED:%=$(OBJ)_watch/%.o) $(filter-out $(WATCHED:%=$(OBJ)/%.o),$(OBJ)/$(DIR)/main.o $(OBJECTS) $(COMMON) $(SIM))
	@mkdir -p $(@D)
	$(call SAY,link)$(LINK)
-include $(WATCHED:%=$(OBJ)_watch/%.d)
endif

# ---- link ----

$(PROGRAM): $(OBJ)/$(DIR)/main.o $(OBJECTS) $(COMMON) $(SIM)
	@mkdir -p $(@D)
	$(call SAY,link)$(LINK)

$(DEMO_PROGRAMS): $(BIN)/extra/$(CHAPTER)_%: $(OBJ)/$(DIR)/$(DEMO_DIR)/%.o $(OBJECTS) $(COMMON) $(SIM)
	@mkdir -p $(@D)
	$(call SAY,link)$(LINK)

$(LAUNCHES): $(OBJ)/$(DIR)/main_launches.o $(OBJECTS) $(COMMON) $(SIM)
	@mkdir -p $(@D)
	$(call SAY,link)$(LINK)

-include $(wildcard $(patsubst %,$(OBJ)/%/*.d,$(ROOMS:%=common/%) $(DIR)/$(DEMO_DIR) $(foreach chapter,$(DIR) $(NEEDS),$(chapter) $(chapter)/operation $(chapter)/kernels)))

endif
