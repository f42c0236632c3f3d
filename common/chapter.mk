# chapter.mk - builds, runs, checks and plots one chapter. A chapter's Makefile sets what it needs and includes this file:
#
#   ON_CPU := yes       the chapter is plain C on host memory, whatever the backend (chapter 01)
#   NEEDS := 04_...     earlier chapters whose objects are linked
#   DEMOS := a b        demos/a.c, demos/b.cu ... become build/<backend>/extra/<chapter>_a ...
#   TUNED=FILE          on the command line: a header of configurations for chapters 05 and 06 (chapter 07 writes one)
#   RUN_DEMOS := a      the demos that `make run` runs (default: all)
#   SHOWN := backward   the direction that `make run` shows a line a variant of (default: forward)
#   RUN_OPTIONS, CSV    what `make run` gives to the program, and the table's name in results/ (default: the chapter's)
#   CHECK_CONFIGS       what `make check` gives to --config, one after the other (default: nothing)
#   CHECK_WITH          settings of the environment with which `make check` runs once more (chapter 01: more threads than cores)
#   PLOT                the command that draws (default: common/plots/plot.sh)
#
# common/tests builds its programs with it too: ROOT, DIR (its path from the root) and DEMO_DIR differ there.

ROOT ?= ..
include $(ROOT)/common/config.mk

CHAPTER := $(lastword $(notdir $(CURDIR)))
DIR ?= $(CHAPTER)
DEMO_DIR ?= demos
ENGINE := $(if $(ON_CPU),sim,$(BACKEND))
OBJ := $(ROOT)/build/obj/$(ENGINE)$(OBJ_SUFFIX)
BIN := $(ROOT)/build/$(BACKEND)$(if $(DEBUG),_debug)
PROGRAM ?= $(if $(wildcard main.c),$(BIN)/$(CHAPTER))
RUN_DEMOS ?= $(DEMOS)
SHOWN ?= forward
CSV ?= $(CHAPTER)
PLOT ?= sh common/plots/plot.sh $(CHAPTER)
DEMO_PROGRAMS := $(DEMOS:%=$(BIN)/extra/$(CHAPTER)_%)

objects = $(addsuffix .o,$(addprefix $(OBJ)/$(1)/,$(basename $(notdir $(filter-out %/main.c,$(wildcard $(ROOT)/$(1)/*.c $(ROOT)/$(1)/*.cu))))))
OBJECTS := $(foreach chapter,$(DIR) $(NEEDS),$(call objects,$(chapter)))
COMMON := $(filter-out $(OBJ)/common/device%,$(call objects,common)) $(OBJ)/common/$(if $(ON_CPU),device_cpu,device).o
SIM := $(if $(filter sim,$(ENGINE)),$(patsubst $(ROOT)/common/sim/%.cpp,$(OBJ)/common/sim/%.o,$(wildcard $(ROOT)/common/sim/*.cpp)))

all: $(PROGRAM) $(DEMO_PROGRAMS)

# the whole output goes to results/, a summary to the screen: of a demo its last line
run: all
	@mkdir -p $(ROOT)/results
	@echo "$(strip build/$(BACKEND)/$(CHAPTER) $(RUN_OPTIONS)) --csv results/$(CSV).csv > results/$(CSV).txt"
	@cd $(ROOT) && build/$(BACKEND)/$(CHAPTER) $(RUN_OPTIONS) --csv results/$(CSV).csv > results/$(CSV).txt; \
	    status=$$?; perl common/summary.pl results/$(CSV).txt $(SHOWN) || exit 1; exit $$status
	@cd $(ROOT) && for demo in $(RUN_DEMOS); do \
	    name=$(CHAPTER)_$$demo; build/$(BACKEND)/extra/$$name > results/$$name.txt; status=$$?; \
	    echo "build/$(BACKEND)/extra/$$name > results/$$name.txt: $$(tail -n 1 results/$$name.txt)"; \
	    [ $$status = 0 ] || exit 1; done
	@$(MAKE) --no-print-directory plot

define NEWLINE

	
endef

# the default shapes, a single sequence, many short ones, and odd lengths around warps and past a tile; the simulator once more in
# another order
check: all
	cd $(ROOT) && build/$(BACKEND)/$(CHAPTER) --check-only
	cd $(ROOT) && build/$(BACKEND)/$(CHAPTER) --check-only --num-seqs 1 --seq-len 5,129,1000
	cd $(ROOT) && build/$(BACKEND)/$(CHAPTER) --check-only --num-seqs 31 --seq-len 0,1,2,3,5,6,7,63,100
	cd $(ROOT) && build/$(BACKEND)/$(CHAPTER) --check-only --num-seqs 3 --seq-len 253,254,255,509,510,511,4097,10007,16001,16384
	cd $(ROOT) && SIM_SCHEDULE=reverse build/$(BACKEND)/$(CHAPTER) --check-only --num-seqs 3 --seq-len 33,100,4097,10007
	$(foreach config,$(CHECK_CONFIGS),cd $(ROOT) && build/$(BACKEND)/$(CHAPTER) --check-only --num-seqs 2 --seq-len 100,4100 --config $(config)$(NEWLINE))
ifneq ($(CHECK_WITH),)
	cd $(ROOT) && $(CHECK_WITH) build/$(BACKEND)/$(CHAPTER) --check-only --num-seqs 3 --seq-len 1,2,6,7,8,13,14,15,100,1001
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
	@cd $(ROOT) && SIM_TRACE=$(word 1,$(TRACED)) SIM_TRACE_WARP=$(word 2,$(TRACED)) \
	    build/sim/$(CHAPTER) --num-seqs 32 --seq-len 100,1001,4096 > /dev/null
	@cd $(ROOT) && perl common/sim/trace.pl $(word 1,$(TRACED)) $(if $(filter command line,$(origin LINES)),$(LINES))
	@cd $(ROOT) && sh common/plots/warp.sh $(CHAPTER) $(TERM_OPTION)
endif

clean:
	rm -rf $(OBJ)/$(DIR) $(PROGRAM) $(DEMO_PROGRAMS)

.PHONY: all run check plot trace clean FORCE
.SECONDARY:

# `make plot TERM=dumb` draws in the terminal; TERM from the environment is the terminal's own name and means nothing here.
TERM_OPTION := $(if $(filter command line,$(origin TERM)),$(TERM))

ifeq ($(MAKELEVEL),0)
  $(info backend: $(BACKEND) ($(BACKEND_REASON)))
endif

# What is being written is called otherwise until it is whole, and by each process for itself: two makes may run at once.
PART = $@.part-$$$$
WHOLE = -o $(PART) $(1) && mv $(PART) $@

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
    $(error TUNED=$(TUNED) is not a file; `make tune` writes results/07_tune.h)
  endif
endif

ifeq ($(ENGINE),sim)
  INCLUDES := -I$(ROOT)/common/sim/include -I$(ROOT)/common -DLINREC_SIM
  LINK = $(CXX) -no-pie $(call WHOLE,$^ -pthread -lm)
else
  INCLUDES := -I$(ROOT)/common
  C_INCLUDES := -isystem $(CUDA_INCLUDE) $(ARCH_NUMBER)
  LINK = $(NVCC) -arch=$(ARCH) $(call WHOLE,$^ -lpthread -lm)
endif
INCLUDES += $(TUNED_FILE:%=-include % -DLINREC_TUNED='"$(TUNED)"')

# everything is built again when the compilers' options change
FLAGS := $(OBJ)/flags
$(FLAGS): FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CXX) $(HOST_FLAGS) $(if $(filter cuda,$(ENGINE)),$(NVCC) $(NVCCFLAGS),$(SIM_CXXFLAGS)) $(TUNED)' | cmp -s - $@ || \
	    echo '$(CC) $(CXX) $(HOST_FLAGS) $(if $(filter cuda,$(ENGINE)),$(NVCC) $(NVCCFLAGS),$(SIM_CXXFLAGS)) $(TUNED)' > $@

$(OBJ)/%.o: $(ROOT)/%.c $(FLAGS)
	@mkdir -p $(@D)
	$(call SAY,gcc)$(CC) $(HOST_FLAGS) $(C_INCLUDES) $(INCLUDES) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $(call WHOLE,$<)

$(OBJ)/common/sim/%.o: $(ROOT)/common/sim/%.cpp $(FLAGS)
	@mkdir -p $(@D)
	$(call SAY,g++)$(CXX) $(SIM_CXXFLAGS) -I$(ROOT)/common/sim/include -MMD -MP -MT $@ -MF $(@:.o=.d) -c $(call WHOLE,$<)

ifeq ($(ENGINE),sim)
$(OBJ)/%.o: $(ROOT)/%.cu $(FLAGS) $(wildcard $(ROOT)/common/sim/*.sh $(ROOT)/common/sim/*.pl)
	@mkdir -p $(@D)
	$(call SAY,sim)CXX='$(CXX)' sh $(ROOT)/common/sim/compile.sh $< $@ $(SIM_CXXFLAGS) $(INCLUDES)
else
$(OBJ)/%.o: $(ROOT)/%.cu $(FLAGS)
	@mkdir -p $(@D)
	$(call SAY,nvcc)$(NVCC) $(NVCCFLAGS) $(INCLUDES) -MMD -MP -MF $(@:.o=.d) -c -o $@ $< 2> $(@:.o=.ptxas); \
	    status=$$?; grep -v '^ptxas info\|^    [0-9]* bytes stack' $(@:.o=.ptxas) >&2; exit $$status
endif

# ---- link ----

$(PROGRAM): $(OBJ)/$(DIR)/main.o $(OBJECTS) $(COMMON) $(SIM)
	@mkdir -p $(@D)
	$(call SAY,link)$(LINK)

$(DEMO_PROGRAMS): $(BIN)/extra/$(CHAPTER)_%: $(OBJ)/$(DIR)/$(DEMO_DIR)/%.o $(OBJECTS) $(COMMON) $(SIM)
	@mkdir -p $(@D)
	$(call SAY,link)$(LINK)

-include $(wildcard $(OBJ)/common/*.d $(OBJ)/common/sim/*.d $(OBJ)/$(DIR)/$(DEMO_DIR)/*.d $(addprefix $(OBJ)/,$(addsuffix /*.d,$(DIR) $(NEEDS))))
