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

# as 07_bench/Makefile says: not ours to mend
build/device_code/$(ARCH)/07_bench/cub_scan.cubin: private SPILL_FLAGS :=
# as 10_chunk_state/Makefile says
build/device_code/$(ARCH)/10_chunk_state/kernels/wgmma.cubin: private NVCCFLAGS := $(subst -arch=sm_90 ,-arch=sm_90a ,$(NVCCFLAGS))

.PHONY: all FORCE
