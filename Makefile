# `make help` lists the targets. Everything needs Go and the module proxy alone;
# the tools are pinned in .ci/tools and built into Go's own build cache.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

# Overridable: make fuzz FUZZTIME=1m, make bench BENCH=Publish COUNT=10 PKG=./feed BASE=before.txt
PKG      ?= ./...
FUZZTIME ?= 10s
BENCH    ?= .
COUNT    ?= 6
BENCHTIME ?= 1s
BASE     ?=
SOAK     ?= 30m
RESULTS  ?= results.json
COMPARE  ?=

tool = $(GO) tool -modfile='$(CURDIR)/.ci/tools/$(1)/go.mod' $(2)
BUF           = cd proto && $(call tool,buf,buf)
GOLANGCI_LINT = $(call tool,lint,golangci-lint)
BENCHSTAT     = $(call tool,lint,benchstat)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/tickgauge
	$(GO) build -trimpath -buildvcs=false -ldflags '-X main.version=$(VERSION)' -o bin/ ./cmd/tickgauge

.PHONY: test
test: ## run the tests
	$(GO) test $(PKG)

.PHONY: race
race: ## run the tests under the race detector (wants a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 30m $(PKG)

.PHONY: overload
overload: ## loads beyond what the machine carries: each is found, with its reason
	$(GO) vet -tags overload ./cmd/tickgauge
	$(GO) test -tags overload -count=1 -v -run TestOverload ./cmd/tickgauge

.PHONY: aa
aa: build ## record anew the runs that the test of false alarms draws from
	@rm -rf results/aa
	bin/tickgauge compare --plan clients/compare/testdata/aa/plan.yaml --out results/aa
	$(GO) test ./clients/compare -count=1 -v -run TestAARecorded -record '$(CURDIR)/results/aa'

.PHONY: lint
lint: ## gofmt, go vet, golangci-lint with the import table
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | xargs -r ls 2>/dev/null | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "gofmt -w wants to change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GOLANGCI_LINT) run ./...

.PHONY: generate
generate: ## regenerate the protobuf code
	$(BUF) generate

.PHONY: checkgenerate
checkgenerate: ## fail where committed generated code is stale, or the contract breaks
	$(BUF) lint
	@$(BUF) breaking --against image.binpb || { \
		echo "the contract breaks with proto/image.binpb; if that is meant: make image, and say so in CHANGELOG.md"; exit 1; }
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	( $(BUF) generate -o "$$tmp" ); \
	diff -ru --exclude='*.proto' proto/tickgauge "$$tmp/tickgauge" || { \
		echo "the generated code is not that of the .proto files: run make generate and commit the result"; exit 1; }
	@echo "generated code is current, the contract holds"

# The image is the contract that clients out there were built against. Adding to
# the contract passes against an old image, but is guarded only once it is in the
# image: renew it when an addition is released, or when a break is meant.
.PHONY: image
image: ## renew proto/image.binpb, what `breaking` compares with
	$(BUF) build --exclude-source-info -o image.binpb

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME each
	@grep -rlE --include='*_test.go' --exclude-dir='.?*' --exclude-dir=peers '^func Fuzz[A-Z0-9_]' . | sort | while read -r file; do \
		for name in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' "$$file"); do \
			echo "== $$(dirname "$$file") $$name"; \
			$(GO) test -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) "$$(dirname "$$file")" </dev/null; \
		done; \
	done

.PHONY: bench
bench: ## run the benchmarks COUNT times into results/bench.txt; summarise them, beside those of BASE
	@mkdir -p results
	$(GO) test -run='^$$' -bench='$(BENCH)' -benchmem -benchtime=$(BENCHTIME) -count=$(COUNT) $(PKG) | tee results/bench.txt
	@grep -q '^Benchmark' results/bench.txt || { echo "no benchmark matches BENCH=$(BENCH) in PKG=$(PKG)"; exit 1; }
	$(BENCHSTAT) $(BASE) results/bench.txt

# As many operations everywhere, on as many processors, so that what is allocated
# once weighs the same on a slow machine. A process may allocate one more in each of
# its rounds by chance, so a failure is looked at in a second one.
allocations = mkdir -p results && \
	{ $(GO) test -run='^$$' -bench=. -benchmem -benchtime=500x -cpu 2 -count=3 ./... >results/allocs$(1).txt || { cat results/allocs$(1).txt; exit 1; }; }
CHECKALLOCS = $(GO) -C .ci/checkallocs run -buildvcs=false .
allocsfiles = '$(CURDIR)/results/allocs1.txt' '$(CURDIR)/results/allocs2.txt'

.PHONY: allocs
allocs: ## fail where a benchmark allocates more than .ci/allocs.txt allows; times are shown
	@$(call allocations,1)
	@$(CHECKALLOCS) ../allocs.txt $(word 1,$(allocsfiles)) || { echo "again:"; \
		$(call allocations,2); $(CHECKALLOCS) ../allocs.txt $(allocsfiles); }

.PHONY: allocs-update
allocs-update: ## write .ci/allocs.txt anew
	@$(call allocations,1)
	@$(call allocations,2)
	@$(CHECKALLOCS) -update ../allocs.txt $(allocsfiles)

.PHONY: codecs
codecs: ## time libraries that encode and decode our messages, and our own codecs, in interleaved rounds
	$(GO) -C .ci/tools/codecs run -buildvcs=false .

.PHONY: compare
compare: build ## compare the transports into RESULTS; COMPARE takes further flags
	bin/tickgauge compare --json $(RESULTS) $(COMPARE)

.PHONY: exports
exports: build ## write RESULTS in other programs' forms and have those read them
	.ci/checkexports/run $(RESULTS)

.PHONY: soak
soak: build ## one long comparison: SOAK a run
	@mkdir -p results
	bin/tickgauge compare --rounds 1 --duration $(SOAK) --json results/soak.json $(COMPARE)

.PHONY: clean
clean: ## remove what the targets made
	rm -rf bin results results.json
