# SPDX-License-Identifier: MIT
# device_code.mk - the kernels of all chapters and test programs as machine code of one GPU, without programs around them:
#
#   make -f common/build/device_code.mk BACKEND=cuda ARCH=sm_75 WERROR=1
#
# It needs nvcc, but no GPU, and takes half the time of a build. For an architecture that nothing here runs on, that is what can go
# wrong: a warning, an instruction that it lacks, a register that spills.
ROOT := .
include common/build/config.mk

SOURCES := $(wildcard common/*/*.cu common/tests/*/*.cu docs/*/*.cu [0-9][0-9]_*/*.cu [0-9][0-9]_*/kernels/*.cu [0-9][0-9]_*/operation/*.cu [0-9][0-9]_*/demos/*.cu)
CODE := $(SOURCES:%.cu=build/device_code/$(ARCH)/%.cubin)

all: $(CODE)

build/device_code/$(ARCH)/%.cubin: %.cu FORCE
	@mkdir -p $(@D)
	@echo "  nvcc $@"
	@$(NVCC) $(NVCCFLAGS) -cubin -o $@ $< 2> $@.ptxas; \
	    status=$$?; grep -v '^ptxas info\|^    [0-9]* bytes stack' $@.ptxas >&2; exit $$status

$(patsubst %,build/device_code/$(ARCH)/%.cubin,$(call said_of_sources,MAY_SPILL)): private SPILL_FLAGS :=
$(patsubst %,build/device_code/$(ARCH)/%.cubin,$(call said_of_sources,ONLY_SM_90A)): private NVCCFLAGS := $(FLAGS_FOR_SM_90A)

.PHONY: all FORCE
