# The commands of developers and first users. `make` alone lists them.

GO         ?= go
DEMO_SIZE  ?= 512
TESTFLAGS  ?=
PYTESTFLAGS ?=
WHEELS     ?=
BENCH      ?= .
KILLS      ?= 1000
LANES      ?= 1
PLATFORMS  ?= linux/arm64 windows/amd64 darwin/arm64 freebsd/amd64

# The folder scripts is a module of its own: programs that do harm to ndtune, and the tools. To take another version of a tool:
# go get -C scripts -tool honnef.co/go/tools/cmd/staticcheck@VERSION
STATICCHECK = "$$($(GO) -C "$(CURDIR)/scripts" tool -n staticcheck)"
ACTIONLINT  = "$$($(GO) -C "$(CURDIR)/scripts" tool -n actionlint)"

# Tests in a browser must run on systems where install-browser.sh installs one, and those of exported text
# where a C compiler belongs to the system. Elsewhere they may be skipped.
BROWSER := $(shell grep -qs '^ID=debian' /etc/os-release && echo NDTUNE_REQUIRE_BROWSER=1 NDTUNE_REQUIRE_COMPILERS=gcc,go)

# The environment of tests. Most run on the stand-in OpenCL driver (internal/standin), some on PoCL, which reports 2 GiB of memory,
# whatever the machine has, so that the buffers for measuring peaks, which must be larger than the caches, stay small.
TEST_ENVIRONMENT := NDTUNE_REQUIRE_OPENCL=1 POCL_MEMORY_LIMIT=2 $(BROWSER)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
# The shipped program has no symbols and no debugging information: 30 MB instead of 40. Stack traces keep their lines.
LDFLAGS := -s -w $(if $(VERSION),-X github.com/ndtune/ndtune/cmd/ndtune/internal/ui.Version=$(VERSION))

# The program names the loader of its C library, by default glibc's. On musl, where that is not there, musl's runs it.
ifeq ($(wildcard /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*),)
LDFLAGS += $(addprefix -I ,$(firstword $(wildcard /lib/ld-musl-*.so.1)))
endif

# The shipped program needs no C compiler. The tests need one, for the stand-in and the race detector.
export CGO_ENABLED = 0
export GO

# Without cgo, purego on FreeBSD exports symbols that only the standard library may export by default.
ifeq ($(shell $(GO) env GOOS 2>/dev/null),freebsd)
export GOFLAGS += -gcflags=github.com/ebitengine/purego/internal/fakecgo=-std
endif

.DEFAULT_GOAL := help
.PHONY: help build demo tutorials wheel release test test-kernels test-python test-nvrtc test-race test-long torture bench bench-engine lint cross cross-one pictures clean check-go modules modules-for-tests compiler-for-tests opencl opencl-for-tests browser-for-tests server-for-tests

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# VCS stamping is off, because git refuses a checkout of another user (containers). The
# version comes from git describe.
build: modules ## build bin/ndtune
	$(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/ ./cmd/ndtune

# Remove the log of an earlier demo. Otherwise the demo would resume it and measure nothing.
demo: build opencl ## simulate diffusion, with a picture, and tune the kernel (DEMO_SIZE=512)
	@mkdir -p demo
	@rm -f demo/diffusion*
	bin/ndtune diffusion run --plot demo/diffusion.png
	@echo
	bin/ndtune diffusion tune --kernel tiled --nx $(DEMO_SIZE) --ny $(DEMO_SIZE) \
		-o demo/diffusion.json -o demo/diffusion.csv --log demo/diffusion.jsonl
	bin/ndtune report demo/diffusion.jsonl -o demo/diffusion.html
	@echo
	@echo 'The results are in demo/:'
	@echo '  diffusion.png        the field on the device and on the CPU'
	@echo '  diffusion.html       the report, to open in a browser'
	@echo '  diffusion.json       the T4 format, for other tools'
	@echo '  diffusion.csv        one row for each configuration'
	@echo '  diffusion.jsonl      the run log, with every single measurement'

# POCL_DEVICES gives PoCL two devices on machines that have no other.
tutorials: build opencl ## run every command of docs/diffusion.md, matmul.md, simulate.md, wisdom.md and compare.md
	scripts/run-docs.sh bin/ndtune docs/diffusion.md docs/matmul.md docs/simulate.md docs/wisdom.md
	POCL_DEVICES='basic pthread' scripts/run-docs.sh bin/ndtune docs/compare.md

wheel: modules ## write wheels of the package for Python into dist/ (WHEELS='linux/amd64 windows/amd64': some of them)
	python3 scripts/wheel.py --go '$(GO)' --version '$(VERSION)' $(WHEELS)

release: modules ## write the program for six platforms, the wheels and their checksums into dist/
	scripts/release.sh '$(GO)' '$(VERSION)'

# The linter has vetted what is tested.
test: lint compiler-for-tests opencl-for-tests browser-for-tests server-for-tests ## check and test all packages, in some minutes (TESTFLAGS=-v: each test)
	$(TEST_ENVIRONMENT) $(GO) test -vet=off -p 6 -timeout 15m $(TESTFLAGS) ./...
	$(TEST_ENVIRONMENT) $(GO) -C scripts test -vet=off $(TESTFLAGS) ./...

test-kernels: compiler-for-tests opencl-for-tests ## test the bundled kernels on PoCL and in Oclgrind
	NDTUNE_KERNELS=1 NDTUNE_TEST_OPENCL=system $(TEST_ENVIRONMENT) $(GO) test -vet=off -timeout 30m $(TESTFLAGS) ./kernels ./diffusion ./matmul

test-python: opencl-for-tests ## check and test the package for Python on PoCL (PYTESTFLAGS='-k cache')
	@scripts/install-python.sh
	cd python && .venv/bin/ruff check . && .venv/bin/mypy ndtune
	cd python && NDTUNE="$(CURDIR)/bin/ndtune" .venv/bin/pytest $(PYTESTFLAGS)

# NVRTC compiles without a device. Its package for Python has it for Linux, and the two others have headers of CUDA.
test-nvrtc: compiler-for-tests modules-for-tests ## test the compiler of CUDA C with the real NVRTC, which pip installs
	@scripts/install-python.sh
	python/.venv/bin/python -m pip --disable-pip-version-check install -q nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl
	nvrtc=$$(ls "$(CURDIR)"/python/.venv/lib/python3*/site-packages/nvidia/cu*/lib/libnvrtc.so.*) && \
		export NDTUNE_NVRTC_LIBRARY="$$nvrtc" && $(GO) test -vet=off $(TESTFLAGS) ./internal/cuda && \
		$(GO) test -vet=off -run '^TestCUDACompiles$$' $(TESTFLAGS) ./kernels

# The packages whose own code starts goroutines, and cmd/ndtune, whose scripts run the rooms of commands. -short leaves out tests that
# run none. By default, each process under the race detector sleeps for a second before it ends, and these tests start thousands.
CONCURRENT = $(sort cmd/ndtune/ $(dir $(shell grep -rlE '^[[:space:]]*go [a-z]|[.]Go.func' --include='*.go' cl cmd diffusion internal matmul tune | grep -v _test.go)))

test-race: compiler-for-tests opencl-for-tests browser-for-tests server-for-tests ## test the packages that start goroutines under the race detector
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(TEST_ENVIRONMENT) $(GO) test -vet=off -race -p 4 -short -timeout 30m $(TESTFLAGS) $(addprefix ./,$(CONCURRENT))

# scripts/fleet has the faults of connections and servers. On many cores, LANES trials run side by side.
torture: FUZZTIME ?= 10m
torture: opencl-for-tests ## do harm to searches (KILLS=1000, full disks, hostile kernels), then fuzz every target for FUZZTIME=10m
	$(GO) -C scripts run ./torture -kills $(KILLS) -fuzz $(FUZZTIME) -lanes $(LANES)

test-long: FUZZTIME ?= 30s
test-long: compiler-for-tests opencl-for-tests browser-for-tests server-for-tests ## run the longer tests too, and package cl on PoCL, then every fuzz target for FUZZTIME=30s
	NDTUNE_LONG=1 $(TEST_ENVIRONMENT) $(GO) test -count=1 -timeout 60m $(TESTFLAGS) ./...
	NDTUNE_LONG=1 $(TEST_ENVIRONMENT) $(GO) -C scripts test -count=1 -timeout 60m $(TESTFLAGS) ./...
	NDTUNE_TEST_OPENCL=system $(TEST_ENVIRONMENT) $(GO) test -count=1 $(TESTFLAGS) ./cl
	$(GO) -C scripts run ./torture -kills 0 -disks 0 -hostile 0 -fuzz $(FUZZTIME)

bench: opencl modules-for-tests ## run the benchmarks of all packages (BENCH=regexp: some of them)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m $(TESTFLAGS) ./...

bench-engine: opencl modules-for-tests ## time searches in one process and in several, on empty driver caches
	NDTUNE_BENCH_ENGINE=1 $(GO) test -run '^$$' -bench Engine -benchtime 1x -timeout 60m ./cmd/ndtune

lint: modules-for-tests ## run gofmt, go vet, staticcheck and actionlint
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .) && \
		if [ -n "$$unformatted" ]; then \
			printf 'not formatted (run gofmt -w):\n%s\n' "$$unformatted" >&2; exit 1; \
		fi
	$(GO) vet ./...
	$(GO) -C scripts vet ./...
	$(STATICCHECK) ./...
	cd scripts && $(STATICCHECK) ./...
	$(ACTIONLINT) -shellcheck= -pyflakes= .github/workflows/*.yml

cross: modules-for-tests ## build and vet for other systems (PLATFORMS)
	@set -e; for platform in $(PLATFORMS); do \
		echo "$$platform"; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(MAKE) --no-print-directory cross-one; \
	done

cross-one:
	@$(GO) build -buildvcs=false -o /dev/null ./cmd/ndtune
	@$(GO) vet ./...

# The pictures show a whole search of the diffusion tutorial on this machine's first device, and a
# comparison of all devices: PoCL has two, and Mesa, if it is installed, has one.
pictures: build opencl browser-for-tests ## make the pictures of docs/report.md and compare.md again
	@mkdir -p demo
	@rm -f demo/pictures.jsonl demo/compared.*
	bin/ndtune diffusion tune --kernel tiled --nx 1024 --ny 1024 --strategy brute_force -q --log demo/pictures.jsonl
	NDTUNE_PICTURES="$(CURDIR)/docs" NDTUNE_PICTURES_OF="$(CURDIR)/demo/pictures.jsonl" \
		$(GO) test -count=1 -run '^TestPictures$$' ./tune/report
	POCL_DEVICES='basic pthread' RUSTICL_ENABLE=llvmpipe bin/ndtune compare kernels/diffusion/diffuse_tiled.yaml \
		--set nx=256 --set ny=256 --max-evals 40 -q --log demo/compared.jsonl
	NDTUNE_PICTURES="$(CURDIR)/docs" NDTUNE_PICTURES_COMPARED="$(CURDIR)/demo/compared.*.jsonl" \
		$(GO) test -count=1 -run '^TestPicturesOfComparison$$' ./tune/report

clean: ## remove the program, wheels and the demo's results
	rm -rf bin demo dist

check-go:
	@scripts/check-go.sh '$(GO)'

modules: check-go
	@scripts/fetch-modules.sh '$(GO)' ./cmd/ndtune

modules-for-tests: check-go
	@scripts/fetch-modules.sh '$(GO)' -test ./...
	@cd scripts && ./fetch-modules.sh '$(GO)' -test ./... tool

compiler-for-tests:
	@command -v "$${CC:-gcc}" >/dev/null || \
		{ echo 'The tests need a C compiler for their stand-in OpenCL driver: install gcc, or name another in CC.' >&2; exit 1; }

opencl: build
	@scripts/install-opencl.sh

# The official NATS server, and the program for its keys, which the tests of fleets start. NDTUNE_NATS_SERVER names another server.
server-for-tests: modules-for-tests
	@for tool in nats-server nk; do $(GO) -C scripts tool -n $$tool >/dev/null || exit; done

browser-for-tests:
	@scripts/install-browser.sh

opencl-for-tests: build modules-for-tests
	@scripts/install-opencl.sh --for-tests
