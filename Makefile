# Builds, tests and installs warpwatt. `make help` lists the targets.
#
#   CC=clang-14        another compiler            CFLAGS="-O3 -g"    other optimisation flags
#   VARIANT=asan       asan, ubsan, tsan, san (address and undefined together) or fuzz; builds in build/VARIANT
#   BUILD=dir          another build directory     PREFIX=/usr        where `make install` puts things
#   DESTDIR=dir        staging root of install     libdir=dir         for libraries, PREFIX/lib if not given
#   JOBS=n             parallel jobs of check and quickstart
#   V=1                print whole commands

VERSION := 0.1.0
SOVERSION := 0
PREFIX ?= /usr/local
DESTDIR ?=
VARIANT ?=
BUILD ?= build$(if $(VARIANT),/$(VARIANT))
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
CLANG ?= clang
CLANG_FORMAT ?= clang-format
PYTHON ?= python3

SANITIZE_asan := -fsanitize=address
SANITIZE_ubsan := -fsanitize=undefined -fno-sanitize-recover=all
SANITIZE_tsan := -fsanitize=thread
SANITIZE_san := -fsanitize=address,undefined -fno-sanitize-recover=all
SANITIZE_fuzz := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
SANITIZE := $(SANITIZE_$(VARIANT))

ifeq ($(VARIANT),fuzz)
CC := $(CLANG)
endif
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= $(if $(SANITIZE),-O1 -g1 -fno-omit-frame-pointer,-O2 -g)
# What replay and the execution of machine code spend their time in; only where the rest is built with -O2.
HOT_CFLAGS ?= $(if $(filter -O2,$(CFLAGS)),-O3)
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(if $(WERROR),-Werror)
BASE_FLAGS := -std=c11 -D_GNU_SOURCE -I. -fPIC -fvisibility=hidden -pthread $(WARN)
ALL_CFLAGS = $(BASE_FLAGS) $(CPPFLAGS) $(CFLAGS) $(SANITIZE)
ALL_LDFLAGS = $(LDFLAGS) $(SANITIZE) -pthread -Wl,--as-needed
LIBS := -lsqlite3 -lcjson -lgsl -lgslcblas -lzstd -llz4 -llzma -lz -lm -ldl

# Every .c file below these folders is the library's, but for the program and the CUDA runtime that records.
NOT_LIB := estimator/main.c estimator/cmd/% traces/cuda/rt_% traces/cuda/core_% traces/cuda/cu_% traces/cuda/abi.c traces/cuda/take_over.c traces/cuda/first_init.c traces/cuda/elf_image.c traces/cuda/static_runtime.c
LIB_SRC := $(filter-out $(NOT_LIB),$(sort $(shell find estimator traces power db reports -name '*.c')))
MAIN_SRC := $(sort $(wildcard estimator/main.c estimator/cmd/*.c))
CUDART_SRC := $(sort $(wildcard traces/cuda/rt_*.c))
TAKE_OVER_SRC := traces/cuda/take_over.c traces/cuda/first_init.c traces/cuda/elf_image.c traces/cuda/static_runtime.c
CUDA_SRC := $(sort $(wildcard traces/cuda/core_*.c traces/cuda/cu_*.c))
KERNEL_PTX := $(sort $(wildcard traces/kernels/*.ptx))
FIXTURE_SRC := $(sort $(wildcard tests/unit/*fixture*.c tests/timing/*fixture*.c)) tests/hardware/kit_stats.c tests/hardware/kit_result.c
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
TIMING_SRC := $(sort $(filter-out $(FIXTURE_SRC),$(wildcard tests/timing/*.c)))
BENCH_SRC := $(sort $(wildcard tests/bench/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))

# Begins a recipe line: one short line instead of the command, or the command with V=1. Warnings show always.
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2);)

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
prog = $(patsubst %.c,$(BUILD)/%,$(1))

LIB_OBJ := $(call obj,$(LIB_SRC)) $(BUILD)/obj/ptx_embed.o $(BUILD)/obj/core_embed.o $(BUILD)/obj/tensor_embed.o $(BUILD)/obj/targets_embed.o $(BUILD)/obj/silicon_embed.o $(BUILD)/obj/bands_embed.o $(BUILD)/obj/report_css_embed.o $(BUILD)/obj/report_js_embed.o
MAIN_OBJ := $(call obj,$(MAIN_SRC))
FIXTURE_OBJ := $(call obj,$(FIXTURE_SRC))
TEST_PROGS := $(call prog,$(UNIT_SRC) $(TIMING_SRC))
FUZZ_PROGS := $(call prog,$(FUZZ_SRC))
REPLAY_PROGS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/replay/%,$(FUZZ_SRC))
CUDART_ABI := $(foreach v,13 12 11.0,$(BUILD)/obj/traces/cuda/abi-$(v).o)
ALL_OBJ := $(LIB_OBJ) $(MAIN_OBJ) $(FIXTURE_OBJ) $(CUDART_ABI) $(call obj,$(TAKE_OVER_SRC) $(CUDA_SRC) $(CUDART_SRC) $(UNIT_SRC) $(TIMING_SRC) $(BENCH_SRC) $(FUZZ_SRC) $(wildcard tests/tools/*.c))

STATIC := $(BUILD)/libwarpwatt.a
SHARED := $(BUILD)/libwarpwatt.so.$(VERSION)
PROGRAM := $(BUILD)/warpwatt
CUDART := $(foreach v,13 12 11.0,$(BUILD)/cudart/libcudart.so.$(v)) $(BUILD)/cudart/libcuda.so.1 $(BUILD)/cudart/libwarpwatt-static.so
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

.PHONY: all quickstart check check-run check-long asan ubsan tsan san fuzz fuzz-progs replays bench figures layers golden analytic-fit fast-fit \
    format format-check install uninstall help clean tests python FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAM) $(STATIC) $(BUILD)/libwarpwatt.so $(CUDART)

# ---- objects: rebuilt when a source, a header it reads, the compiler or the flags change ----

$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) | $(HOT_CFLAGS) | $(ALL_LDFLAGS) | $(KERNEL_PTX)' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX)' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(OBJ_FLAGS) -MMD -MP -c -o $@ $< 2>$@.warn || { cat $@.warn >&2; exit 1; }; \
	    if [ -s $@.warn ]; then cat $@.warn >&2; else rm $@.warn; fi

$(BUILD)/obj/estimator/core/%.o $(BUILD)/obj/estimator/mech/%.o $(BUILD)/obj/traces/wwt/%.o: OBJ_FLAGS := $(HOT_CFLAGS)
$(BUILD)/obj/traces/sass/exec/%.o $(BUILD)/obj/traces/ptx/exec/record.o: OBJ_FLAGS := $(HOT_CFLAGS)
$(BUILD)/obj/traces/sass/exec/alu%.o: OBJ_FLAGS := $(HOT_CFLAGS) -fno-math-errno -fno-trapping-math
$(BUILD)/obj/estimator/config/find.o: OBJ_FLAGS := -DWW_PREFIX='"$(PREFIX)"'
$(BUILD)/obj/estimator/config/find.o: $(BUILD)/prefix

$(BUILD)/ptx_embed.c: $(KERNEL_PTX) traces/kernels/embed.sh $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,EMBED,$@)sh traces/kernels/embed.sh $@ $(KERNEL_PTX)

$(BUILD)/obj/ptx_embed.o: $(BUILD)/ptx_embed.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -Itraces -MMD -MP -c -o $@ $<

$(BUILD)/targets_embed.c: reports/targets.csv scripts/embed-text.sh
	@mkdir -p $(@D)
	$(call say,EMBED,$@)sh scripts/embed-text.sh ww_targets_csv $< $@

$(BUILD)/obj/targets_embed.o: $(BUILD)/targets_embed.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/core_embed.c $(BUILD)/tensor_embed.c: $(BUILD)/%_embed.c: reports/%.sass scripts/embed-text.sh
	@mkdir -p $(@D)
	$(call say,EMBED,$@)sh scripts/embed-text.sh ww_$*_sass $< $@

$(BUILD)/%_embed.c: reports/%.csv scripts/embed-text.sh
	@mkdir -p $(@D)
	$(call say,EMBED,$@)sh scripts/embed-text.sh ww_$*_csv $< $@

$(BUILD)/obj/core_embed.o $(BUILD)/obj/tensor_embed.o $(BUILD)/obj/silicon_embed.o $(BUILD)/obj/bands_embed.o: $(BUILD)/obj/%.o: $(BUILD)/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/report_%_embed.c: reports/html/report.% scripts/embed-text.sh
	@mkdir -p $(@D)
	$(call say,EMBED,$@)sh scripts/embed-text.sh ww_report_$* $< $@

$(BUILD)/obj/report_%_embed.o: $(BUILD)/report_%_embed.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# ---- libraries and the program ----

$(STATIC): $(LIB_OBJ)
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^

$(SHARED): $(LIB_OBJ)
	$(call say,LINK,$@)$(CC) -shared -Wl,-soname,libwarpwatt.so.$(SOVERSION) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

$(BUILD)/libwarpwatt.so: $(SHARED)
	@ln -sf libwarpwatt.so.$(VERSION) $(BUILD)/libwarpwatt.so.$(SOVERSION)
	@ln -sf libwarpwatt.so.$(SOVERSION) $@

$(PROGRAM): $(MAIN_OBJ) $(STATIC)
	$(call say,LINK,$@)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

# ---- the recording CUDA driver, and the runtime: one library for each version of its interface, everything else hidden.
# What they share lies in the driver, once in a process. ----

$(BUILD)/cudart/libcuda.so.1: $(call obj,$(CUDA_SRC)) $(STATIC) traces/cuda/cuda.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -shared -Wl,-soname,$(@F) -Wl,--version-script=traces/cuda/cuda.map -Wl,--exclude-libs,ALL -o $@ \
	    $(filter %.o %.a,$^) $(ALL_LDFLAGS) $(LIBS)

$(CUDART_ABI): $(BUILD)/obj/traces/cuda/abi-%.o: traces/cuda/abi.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(ALL_CFLAGS) -DRT_ABI=$(basename $*) -MMD -MP -c -o $@ $<

$(BUILD)/cudart/libcudart.so.%: $(call obj,$(CUDART_SRC)) $(BUILD)/obj/traces/cuda/abi-%.o $(STATIC) $(BUILD)/cudart/libcuda.so.1 traces/cuda/cudart.map
	@mkdir -p $(@D)
	@sed 's/@SONAME@/$(@F)/' traces/cuda/cudart.map > $(@D)/$(@F).map
	$(call say,LINK,$@)$(CC) -shared -Wl,-soname,$(@F) -Wl,--version-script=$(@D)/$(@F).map -Wl,--exclude-libs,ALL -o $@ \
	    $(filter %.o,$^) $(BUILD)/cudart/libcuda.so.1 $(STATIC) -Wl,-rpath,'$$ORIGIN' $(ALL_LDFLAGS)

# Preloaded into every program that is recorded: it needs the C library alone, and its start-up code runs before that
# of the program's libraries.
$(BUILD)/cudart/libwarpwatt-static.so: $(call obj,$(TAKE_OVER_SRC))
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,initfirst -o $@ $^ $(ALL_LDFLAGS) -ldl

# ---- the measurement kit: CUDA programs for a real GPU (docs/reference/hardware.md); nothing else depends on it ----

NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
# Machine code for these, and PTX of KIT_PTX for what is newer.
KIT_ARCHS ?= 75 80 86 89 90 100 120
KIT_PTX ?= 90
KIT_CUDART ?= static
KIT_DIR = $(BUILD)/hardware
KIT_GENCODE = $(foreach a,$(KIT_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) -gencode arch=compute_$(KIT_PTX),code=compute_$(KIT_PTX)
comma := ,
KIT_FLAGS_ANY = -std=c++17 -O2 -I. -I$(KIT_DIR) -cudart $(KIT_CUDART)
KIT_FLAGS = $(KIT_FLAGS_ANY) $(KIT_GENCODE)
# Kernels with an architecture's own instructions (.target sm_90a) are compiled for it alone, where KIT_ARCHS names it.
kit_own = $(filter $(KIT_ARCHS:%=%a),$(shell sed -n 's/^\.target sm_\([0-9]*a\).*/\1/p' traces/kernels/$(1).ptx))
kit_gencode = $(if $(call kit_own,$(1)),-gencode arch=compute_$(call kit_own,$(1))$(comma)code=sm_$(call kit_own,$(1)),$(KIT_GENCODE))
KIT_NAMES := $(patsubst traces/kernels/%.cu,%,$(sort $(wildcard traces/kernels/*.cu)))
KIT_CU := $(patsubst tests/hardware/%.cu,%,$(sort $(wildcard tests/hardware/*.cu)))
KIT_OBJ = $(call obj,$(wildcard tests/hardware/*.c traces/workloads/*.c) $(filter-out %/lsq.c,$(wildcard estimator/base/*.c)) estimator/result/result_names.c estimator/config/param.c) \
    $(patsubst %,$(KIT_DIR)/%.o,$(KIT_CU)) $(patsubst %,$(KIT_DIR)/kernels_%.o,$(KIT_NAMES))

.PHONY: hardware-kit
hardware-kit:
ifeq ($(NVCC),)
	@echo 'hardware-kit: nvcc is missing: install the CUDA toolkit (12.0 or later), or give NVCC=/path/to/nvcc' >&2; exit 1
else
	+@$(SUBMAKE) $(BUILD)/hardware-kit
endif

$(KIT_DIR)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(NVCC) $(KIT_FLAGS)' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(KIT_DIR)/kernels_%.cu: traces/kernels/%.ptx tests/hardware/kernels.sh
	@mkdir -p $(@D)
	$(call say,KERNELS,$@)sh tests/hardware/kernels.sh $* . > $@

$(KIT_DIR)/modules.def: $(KERNEL_PTX)
	@mkdir -p $(@D)
	@for name in $(KIT_NAMES); do echo "X($$name)"; done > $@

$(KIT_DIR)/device.o: $(KIT_DIR)/modules.def

$(KIT_DIR)/kernels_%.o: $(KIT_DIR)/kernels_%.cu traces/kernels/%.cu traces/kernels/ww_device.h tests/hardware/device.h $(KIT_DIR)/flags
	$(call say,NVCC,$<)$(NVCC) $(KIT_FLAGS_ANY) $(call kit_gencode,$*) -Itraces/kernels -c -o $@ $<

$(KIT_DIR)/%.o: tests/hardware/%.cu $(wildcard tests/hardware/*.h) traces/device.h traces/workloads/workload.h $(KIT_DIR)/flags
	@mkdir -p $(@D)
	$(call say,NVCC,$<)$(NVCC) $(KIT_FLAGS) -c -o $@ $<

$(BUILD)/hardware-kit: $(KIT_OBJ)
	$(call say,LINK,$@)$(NVCC) $(KIT_FLAGS) -o $@ $^ -lm -ldl

# ---- programs compared with a real GPU's measurements (docs/studies/silicon.md): SOURCES is a folder that has them, PROGRAMS a list ----

SOURCES ?=
PROGRAMS ?=
SILICON_OPTIONS ?=
.PHONY: silicon silicon-bands correlation
silicon: all
	@[ -n '$(SOURCES)' ] || { echo 'silicon: give the folder with the programs, SOURCES=dir (docs/studies/silicon.md)' >&2; exit 1; }
	@$(PYTHON) scripts/silicon.py '$(SOURCES)' $(if $(PROGRAMS),--programs '$(PROGRAMS)') --program $(PROGRAM) --work $(BUILD)/silicon $(SILICON_OPTIONS)

# reports/bands.csv anew, from microbenchmarks and the traces that `make silicon` left in TRACES.
TRACES ?= $(BUILD)/silicon
silicon-bands: all
	$(PROGRAM) validate silicon curves strides small roofline --traces '$(TRACES)' --json > $(BUILD)/silicon.json
	$(PYTHON) scripts/silicon-bands.py $(BUILD)/silicon.json

# docs/studies/correlation.html from the same traces: estimated over measured cycles, a point for each launch.
correlation: all
	$(PROGRAM) validate silicon --traces '$(TRACES)' --json > $(BUILD)/correlation.json
	mkdir -p $(BUILD)/correlation
	$(PYTHON) scripts/silicon-points.py $(BUILD)/correlation.json $(BUILD)/correlation
	cd $(BUILD)/correlation && $(abspath $(PROGRAM)) report --html $(abspath docs/studies/correlation.html) \
	    $(foreach s,gv100 v100-micro a100-micro h100-micro h100-apps,--points $(s).csv)

# ---- the fastest program: one profile by scripts/release-train.sh, then all of it again with what the profile says ----

RELEASE := build/release
RELEASE_FLAGS := -O2 -g -flto=auto
.PHONY: release
release:
	+@$(SUBMAKE) BUILD=$(RELEASE) AR=gcc-ar CFLAGS='$(RELEASE_FLAGS) -fprofile-generate -fprofile-update=atomic' \
	    LDFLAGS='$(LDFLAGS) $(RELEASE_FLAGS) -fprofile-generate' $(RELEASE)/warpwatt
	@find $(RELEASE) -name '*.gcda' -delete
	@scripts/release-train.sh $(RELEASE)/warpwatt
	+@$(SUBMAKE) BUILD=$(RELEASE) AR=gcc-ar LDFLAGS='$(LDFLAGS) $(RELEASE_FLAGS)' \
	    CFLAGS='$(RELEASE_FLAGS) -fprofile-use -fprofile-partial-training -Wno-missing-profile' all

# ---- tests ----

tests: $(TEST_PROGS) $(BUILD)/tests/tools/code_compare

$(BUILD)/tests/libfixture.a: $(FIXTURE_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^

$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/tests/libfixture.a $(STATIC)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -o $@ $^ $(ALL_LDFLAGS) -lcmocka $(LIBS)

$(BUILD)/tests/timing/%: $(BUILD)/obj/tests/timing/%.o $(BUILD)/tests/libfixture.a $(STATIC)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -o $@ $^ $(ALL_LDFLAGS) -lcmocka $(LIBS)

$(BUILD)/tests/tools/%: $(BUILD)/obj/tests/tools/%.o $(STATIC)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

$(BUILD)/tests/tools/cpu_clock.so: tests/tools/cpu_clock.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -shared -o $@ $<

$(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.o $(STATIC)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS)

$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(STATIC)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -o $@ $(filter %.o,$^) $(STATIC) $(LDFLAGS) -fsanitize=fuzzer,address,undefined -pthread $(LIBS)

# What is not the library's, but the recording driver's, the runtime's, or of libwarpwatt-static.so.
$(BUILD)/tests/fuzz/fuzz_module $(BUILD)/tests/replay/fuzz_module: $(call obj,$(CUDA_SRC) traces/cuda/rt_register.c)
$(BUILD)/tests/fuzz/fuzz_static_runtime $(BUILD)/tests/replay/fuzz_static_runtime: $(call obj,traces/cuda/elf_image.c traces/cuda/static_runtime.c)

fuzz-progs: $(FUZZ_PROGS)

# The same targets with a main() of their own, for any compiler: they are fed their corpus and mutations of it.
replays: $(REPLAY_PROGS)
$(BUILD)/tests/replay/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/standalone.o $(STATIC)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -o $@ $(filter %.o,$^) $(STATIC) $(ALL_LDFLAGS) $(LIBS)

# The documents as a static site in build/docs; needs pandoc.
.PHONY: docs
docs:
	@$(PYTHON) scripts/render-docs.py $(BUILD)/docs

# The picture of a report that README.md shows.
picture: all
	scripts/picture.sh $(PROGRAM) docs/report.png

quickstart:
	@scripts/install-deps.sh quickstart
	+@$(SUBMAKE) all
	@scripts/quickstart.sh

# Builds as SUBMAKE does, but says how far it is instead of each file's name; with V=1 as ever.
BUILD_BAR = $(if $(V),,scripts/build-bar.sh) $(SUBMAKE)

check:
	@scripts/install-deps.sh check
	+@$(BUILD_BAR) all tests python
	+@$(BUILD_BAR) VARIANT=san all tests replays
	@JOBS=$(JOBS) scripts/check.sh short

check-long:
	@scripts/install-deps.sh check-long
	+@$(SUBMAKE) all tests python
	+@$(SUBMAKE) VARIANT=san all tests replays
	+@$(SUBMAKE) VARIANT=tsan all tests
	+@$(SUBMAKE) VARIANT=fuzz fuzz-progs
	@JOBS=$(JOBS) scripts/check.sh long

asan ubsan tsan san:
	+@$(SUBMAKE) VARIANT=$@ all tests
	@JOBS=$(JOBS) scripts/check.sh $@

# Seconds each fuzzer runs.
FUZZ_SECONDS ?= 60
fuzz:
	+@$(SUBMAKE) VARIANT=fuzz fuzz-progs
	@FUZZ_SECONDS=$(FUZZ_SECONDS) JOBS=$(JOBS) scripts/check.sh fuzz

figures: all
	@$(PYTHON) scripts/figures.py $(PROGRAM) $(NAME)

bench: all $(call prog,$(BENCH_SRC))
	@scripts/bench.sh $(PROGRAM)
	@for b in $(call prog,$(BENCH_SRC)); do echo; echo "$$b:"; $$b || exit 1; done

# Includes, and calls as object files have them: of a build of its own, since optimisation and LTO hide calls.
.PHONY: layers-objects
layers:
	+@$(SUBMAKE) BUILD=$(BUILD)/layers CFLAGS=-O0 layers-objects
	@$(PYTHON) scripts/layers.py --objects $(BUILD)/layers/obj
layers-objects: $(LIB_OBJ) $(MAIN_OBJ) $(CUDART)

# The tables of docs/studies/validation.md and the papers' pages, from one run of all suites (an hour of a core), or from the JSON
# and times of an earlier one: VALIDATION=file.json. Suites that it lacks keep their tables; without TRACES that is silicon.
VALIDATION ?=
ALL_SUITES = $(if $(wildcard $(TRACES)/*),--all --traces '$(TRACES)',$(filter-out silicon,$(shell $(PROGRAM) validate --names)))
.PHONY: validation-tables
validation-tables: all
ifeq ($(VALIDATION),)
	@$(PROGRAM) validate $(ALL_SUITES) --time -q --json >$(BUILD)/validation.json.part 2>$(BUILD)/validation.time
	@mv $(BUILD)/validation.json.part $(BUILD)/validation.json
	@cat $(BUILD)/validation.time
	@$(PYTHON) scripts/validation-tables.py $(BUILD)/validation.json --times $(BUILD)/validation.time docs
else
	@$(PYTHON) scripts/validation-tables.py '$(VALIDATION)' docs
endif

# Replays the workload suite and a space in both modes; the band of fast replay, and the tables of docs/model/fast.md.
fast-fit: all
	@$(PYTHON) scripts/fast-table.py --program $(PROGRAM) --dir $(BUILD)/fast --out estimator/fast/fast_fit.def
	@$(PYTHON) scripts/fast-ranks.py --program $(PROGRAM) --dir $(BUILD)/fast
	@$(PYTHON) scripts/fast-ranks.py --program $(PROGRAM) --dir $(BUILD)/fast --space reports/examples/fast_ranks_large.json

# Full replays of the suite and the analytical model's constants and error from them; about five minutes of one core.
analytic-fit: all
	@scripts/analytic-table.py --program $(PROGRAM) --dir $(BUILD)/analytic >$(BUILD)/analytic-replays.csv
	@$(PROGRAM) calibrate analytic --measured $(BUILD)/analytic-replays.csv --out estimator/fast/model_fit.def

golden: all
	@$(PYTHON) tests/cli/run.py --program $(PROGRAM) --update
	@$(PYTHON) scripts/golden.py --program $(PROGRAM) --update

C_FILES = $(shell find estimator traces power db reports tests -name '*.[ch]')
format:
	@$(CLANG_FORMAT) -i $(C_FILES)

format-check:
	@$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)

# Topic headers that warpwatt.h includes, and the lists that they are made of.
PUBLIC := $(wildcard estimator/api/*.h) estimator/base/error.h estimator/base/err.def \
    $(addprefix estimator/result/,explored.h measured.h names.h result.h) $(wildcard estimator/result/*.def)
# ---- the Python package (docs/guide/python.md): build/python/warpwatt uses build/libwarpwatt.so ----

PYTHON_SRC := $(sort $(wildcard python/warpwatt/*.py)) python/warpwatt/py.typed
python: $(BUILD)/libwarpwatt.so $(BUILD)/python/warpwatt/_abi.py $(patsubst python/%,$(BUILD)/python/%,$(PYTHON_SRC))

$(BUILD)/python/warpwatt/_abi.py: python/generate.py estimator/warpwatt.h $(PUBLIC)
	@mkdir -p $(@D)
	$(call say,PYTHON,$@)CC='$(CC)' $(PYTHON) python/generate.py $@

$(BUILD)/python/warpwatt/%: python/warpwatt/%
	@mkdir -p $(@D)
	@cp $< $@

# ---- installation ----

BINDIR = $(DESTDIR)$(PREFIX)/bin
libdir ?= $(PREFIX)/lib
LIBDIR = $(DESTDIR)$(libdir)
CUDARTDIR = $(DESTDIR)$(PREFIX)/lib/warpwatt/cudart
INCDIR = $(DESTDIR)$(PREFIX)/include/warpwatt
PCDIR = $(LIBDIR)/pkgconfig
DATADIR = $(DESTDIR)$(PREFIX)/share/warpwatt
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
install: all
	install -d $(BINDIR) $(PCDIR) $(INCDIR)/api $(INCDIR)/base $(INCDIR)/result $(DATADIR)/models $(DATADIR)/power $(DATADIR)/schema \
	    $(MANDIR) $(BASHDIR) $(ZSHDIR)
	install -m 755 $(PROGRAM) $(BINDIR)/warpwatt
	install -m 644 $(STATIC) $(LIBDIR)/libwarpwatt.a
	install -m 755 $(SHARED) $(LIBDIR)/libwarpwatt.so.$(VERSION)
	ln -sf libwarpwatt.so.$(VERSION) $(LIBDIR)/libwarpwatt.so.$(SOVERSION)
	ln -sf libwarpwatt.so.$(SOVERSION) $(LIBDIR)/libwarpwatt.so
	install -d $(CUDARTDIR)
	install -m 755 $(CUDART) $(CUDARTDIR)
	install -m 644 estimator/warpwatt.h $(INCDIR)
	for f in $(PUBLIC); do install -m 644 $$f $(INCDIR)/$$(basename $$(dirname $$f)) || exit 1; done
	sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(libdir)|g' -e 's|@VERSION@|$(VERSION)|g' warpwatt.pc.in > $(PCDIR)/warpwatt.pc
	install -m 644 models/*.json $(DATADIR)/models
	install -m 644 power/tables/*.json $(DATADIR)/power
	install -m 644 reports/schema/*.json $(DATADIR)/schema
	install -d $(DATADIR)/examples
	install -m 644 traces/examples/softmax.* reports/examples/*.json $(DATADIR)/examples
	install -m 644 docs/reference/warpwatt.1 $(MANDIR)
	install -m 644 completions/warpwatt.bash $(BASHDIR)/warpwatt
	install -m 644 completions/_warpwatt $(ZSHDIR)/_warpwatt

uninstall:
	rm -f $(BINDIR)/warpwatt $(LIBDIR)/libwarpwatt.a $(LIBDIR)/libwarpwatt.so* $(PCDIR)/warpwatt.pc
	rm -f $(MANDIR)/warpwatt.1 $(BASHDIR)/warpwatt $(ZSHDIR)/_warpwatt
	rm -rf $(INCDIR) $(DATADIR) $(DESTDIR)$(PREFIX)/lib/warpwatt

clean:
	rm -rf build

help:
	@echo 'make               build build/warpwatt and libwarpwatt (static and shared)'
	@echo 'make quickstart    install what is missing, build, record and estimate ten kernels on two GPUs'
	@echo 'make check         install what tests need and run every test (short forms of the long ones)'
	@echo 'make check-long    check, ten minutes of each fuzzer, thread sanitizer, valgrind, bare Debian 12'
	@echo 'make asan|ubsan|tsan   build with that sanitizer in build/NAME and run the tests'
	@echo 'make fuzz          run each fuzzer for FUZZ_SECONDS (60)'
	@echo 'make bench         recorder, replay and container figures on named workloads'
	@echo 'make figures NAME=coalesce   a table of the documents: scripts/figures.py lists them'
	@echo 'make hardware-kit  build/hardware-kit, which measures a real GPU (needs nvcc; docs/reference/hardware.md)'
	@echo 'make silicon SOURCES=dir PROGRAMS=list.json   programs of a folder replayed, compared with a GV100 (needs nvcc; docs/studies/silicon.md)'
	@echo 'make silicon-bands         reports/bands.csv from the traces in TRACES (build/silicon): docs/studies/silicon.md'
	@echo 'make correlation           docs/studies/correlation.html from the same traces'
	@echo 'make docs          README and docs/ as web pages in build/docs (needs pandoc)'
	@echo 'make layers        check that includes and calls follow the layers, and the rules of names'
	@echo 'make golden        write the golden files of tests/cli and tests/golden anew; review the diff'
	@echo 'make fast-fit      replay the workload suite in full and fast: the band of fast replay (minutes)'
	@echo 'make analytic-fit  replay the workload suite and fit the analytical model to it (minutes)'
	@echo 'make release       build/release/warpwatt: link-time optimisation and a profile (gcc; minutes)'
	@echo 'make python        the Python package in build/python (docs/guide/python.md); pip install . installs it'
	@echo 'make format        clang-format every source'
	@echo 'make install       into PREFIX ($(PREFIX)), staged by DESTDIR; make uninstall removes it'
	@echo 'make clean         remove build/'

-include $(ALL_OBJ:.o=.d)
