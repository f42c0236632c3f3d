# SPDX-License-Identifier: MIT
# device_code.mk - the kernels of all chapters and test programs as machine code of one GPU, without programs around them:
#
#   make -f common/build/device_code.mk BACKEND=cuda ARCH=sm_75 WERROR=1
#
# It needs nvcc, but no GPU, and takes half the time of a build. For an architecture that nothing here runs on, that is what can
# go wrong: a warning, an instruction that it lacks, a register that spills.
ROOT := .
include common/build/config.mk

ifneq ($(word 2,$(ARCH)),)
  $(error machine code is of one GPU: ARCH="$(ARCH)" names several)
endif
DEFINES :=

OF_CHAPTERS := $(addprefix [0-9][0-9]_*/,*.cu kernels/*.cu operation/*.cu demos/*.cu)
SOURCES := $(wildcard common/*/*.cu common/tests/*/*.cu docs/*/*.cu $(OF_CHAPTERS))
cubins = $(1:%=build/device_code/$(ARCH)/%.cubin)
CODE := $(call cubins,$(SOURCES:.cu=))

all: $(CODE)

build/device_code/$(ARCH)/%.cubin: %.cu FORCE
	@mkdir -p $(@D)
	@echo "  nvcc $@"
	@$(NVCC) $(NVCCFLAGS) $(DEFINES) -c -cubin -o $@ $< 2> $@.ptxas; \
	    status=$$?; grep -v '^ptxas info\|^    [0-9]* bytes stack' $@.ptxas >&2; exit $$status

$(call cubins,$(MAY_SPILL)): private SPILL_FLAGS :=
$(call cubins,$(FOR_SM_90A)): private CHIPS := $(CHIPS_90A)
$(call cubins,$(FOR_SM_90A)): private DEFINES := $(HAS_SM_90A)

.PHONY: all FORCE
