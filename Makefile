# cursord: "make" lists what there is.

GO        ?= go
LDFLAGS   := -s -w
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
FUZZTIME  ?= 30s
COUNT     ?= 6
MINUTES   ?= 10
KILLS     ?= 1000
# One way to compile all, but for the race detector, which needs cgo: what one target has built serves the others, and another
# clone as well.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -trimpath)
# The tests by processes: all subjects but those that time decides. "go test" takes packages in the order of the list, so the
# longest come first.
TESTS     := ./cmd/cursord/tests
LONGEST   := faults emacs nvim cli isolation authorship review life agentruns trees lsp helix wire
PROCESSES := { printf '$(TESTS)/%s\n' $(LONGEST); $(GO) list $(TESTS)/... | sed 's,^[^/]*,.,' | grep -v '/tests/alone$$'; } | awk '!had[$$0]++'
# All other packages, the longest first; and the folders whose code is for several goroutines, and is run by several in its tests: in
# the rest the race detector could find nothing. The tests of daemon/overlay are a thousand short processes with one goroutine each,
# and those of sessions open hundreds of damaged files, which takes eight times as long with the race detector: the goroutines of
# both run with it in the tests of daemon and in the random stories.
PACKAGES   = $(addprefix ./,diffs sessions agent rpc daemon/copytree daemon) $(shell $(GO) list ./... | sed 's,^[^/]*,.,' | grep -v /cmd/cursord/tests/)
folders    = $(shell git grep -lE '$1' '*.go' | sed 's,/[^/]*$$,,; s,^,./,')
SHARES    := ^[[:space:]]*go [a-z]|\<sync\.|\<chan[[:space:]]
STARTS    := ^[[:space:]]*go [a-z]|\.Go[(]|AfterFunc[(]
GOROUTINES = $(filter-out ./daemon/overlay ./sessions,$(filter $(call folders,$(STARTS)),$(call folders,$(SHARES))))
RACY      := ^Test(Random|Scenarios|SavesAtAnyPoint|Kills|Subscri|Reconnect|ManyEditors)
RACED     := $(addprefix $(TESTS)/,scenarios isolation life wire soak)
# What "make quick" leaves out: the tests of these packages wait for processes and clocks, or try thousands of cases.
SLOW      := agent|agent/acp|agent/process|daemon/copytree|daemon/internal/review|daemon/internal/snapshot|daemon/overlay|diffs|sessions
# Processes with the race detector would end a second late; vet is a part of "make check"; no debugger looks at these programs, and a
# third of the time of linking is for it.
RACE       = CGO_ENABLED=1 CURSORD_TEST_PROGRAM=$(CURDIR)/bin/undertest-race/cursord GORACE=atexit_sleep_ms=0 $(GO) test -race $(GOTEST)
PLAIN      = CURSORD_TEST_PROGRAM=$(CURDIR)/bin/undertest/cursord $(GO) test $(GOTEST)
GOTEST    := -vet=off -timeout 20m -ldflags=-s

.DEFAULT_GOAL := help
.PHONY: help release try-release build install demo picture undertest undertest-race test test-processes test-packages quick race check check-go check-editors editors generate bench bench-store bench-trees bench-peers fuzz scenarios soak mutants clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/cursord
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/cursord ./cmd/cursord

install: ## install cursord where "go install" puts programs, and say where that is
	$(GO) install -ldflags '$(LDFLAGS)' ./cmd/cursord
	@.ci/where "$$($(GO) list -f '{{.Target}}' ./cmd/cursord)"

release: ## make a release in dist/: VERSION=v1.2.3 (else what git describes), URL=the project's address, ONLY=linux/amd64,... (no recipes then)
	$(GO) run ./cmd/cursord/internal/release -version '$(VERSION)' $(if $(URL),-url '$(URL)') $(if $(ONLY),-only '$(ONLY)')

try-release: ## make a release for this system twice and compare; install, use, upgrade and remove the packages in clean roots; try the recipes
	.ci/twice
	.ci/deb
	.ci/recipes

demo: build ## run the main job with the embedded agent: a turn, a review, a restart
	@./bin/cursord demo

PICTURE := cmd/cursord/internal/demo/picture

picture: build ## draw the picture of README from a run of the demo
	cd .ci/picture && $(GO) run . $(CURDIR)/$(PICTURE) '$$ cursord run' '$$ cursord stop' $(CURDIR)/bin/cursord demo

undertest:
	@$(GO) build -ldflags=-s -tags cursordtest -buildvcs=false -o bin/undertest/ ./cmd/cursord ./cmd/cursord/internal/undertest/fakeagent

undertest-race:
	@CGO_ENABLED=1 $(GO) build -race -ldflags=-s -tags cursordtest -buildvcs=false -o bin/undertest-race/cursord ./cmd/cursord
	@$(GO) build -ldflags=-s -tags cursordtest -buildvcs=false -o bin/undertest-race/ ./cmd/cursord/internal/undertest/fakeagent

test: export TMPDIR := $(shell .ci/scratch)

# All is compiled first, with GOGC=400, which saves a seventh of that time. The tests themselves run with the default. What runs with the race
# detector is compiled only for that: without it, the same tests would be an eighth of all that the compiler is started for.
test: undertest undertest-race ## run all tests: concurrent packages and the random stories with the race detector, the rest without
	@GOGC=400 $(GO) list -export -test $$($(PROCESSES)) $(TESTS)/alone $(filter-out $(GOROUTINES),$(PACKAGES)) >/dev/null
	@GOGC=400 CGO_ENABLED=1 $(GO) list -export -test -race $(RACED) $(filter $(GOROUTINES),$(PACKAGES)) >/dev/null
	$(MAKE) --no-print-directory -j 2 test-processes test-packages
	$(PLAIN) $(TESTS)/alone

# The two halves run side by side: at the end of each stage but one or two tests run, and the other half fills the processors. More
# tests at a time would only make each other late. The plain tests collect garbage less often, which halves the time of diffs; the programs
# that they start have an environment of their own.
test-processes:
	GOGC=400 $(PLAIN) -parallel 2 -skip '$(RACY)' $$($(PROCESSES))

test-packages:
	$(RACE) -p 1 -parallel 2 -run '$(RACY)' $(RACED)
	$(RACE) -p 1 -parallel 2 $(filter $(GOROUTINES),$(PACKAGES))
	GOGC=400 $(PLAIN) -p 1 -parallel 2 $(filter-out $(GOROUTINES),$(PACKAGES))

quick: undertest ## check in less than a minute what breaks most often: format, vet, the schema, the import table, packages whose tests take a second
	@files=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); test -z "$$files" || { echo "gofmt would change: $$files"; exit 1; }
	$(PLAIN) -run 'TestImportTable|TestSizes|TestReadme|TestEachCommand|TestClients|TestMap|InPages|TestFilesIn' ./cmd/cursord
	$(GO) vet ./...
	$(PLAIN) -parallel 8 $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -vE '/(cmd/cursord|cmd/cursord/tests/.*|$(SLOW))$$')

race: ## run all tests with the race detector but those that are too large for it; it takes half an hour
	CGO_ENABLED=1 $(GO) test -race -timeout 60m -parallel 4 ./...

check: check-go check-editors ## check format, vet, staticcheck, the import table, generated files, all platforms, Lua, Emacs Lisp and TypeScript

# What "go vet" passes compiles on this system.
check-go: undertest
	@files=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); test -z "$$files" || { echo "gofmt would change: $$files"; exit 1; }
	@! git grep -nE '^(<{7}|>{7}) ' || { echo "a conflict was left in a file"; exit 1; }
	@! GOOS=windows $(GO) list $(TESTS)/... 2>/dev/null | grep . || { echo "put //go:build unix on top of all files of these tests"; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=.ci/tools.mod staticcheck ./...
	$(PLAIN) -run 'TestImportTable|TestSchemaIsUpToDate|TestRequestsAreUpToDate' ./cmd/cursord ./rpc
	GOGC=400 $(GO) run ./.ci/compiles $(filter-out $(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH),$(PLATFORMS))

check-editors:
	@.ci/lua
	@.ci/elisp
	@.ci/vscode check

editors: ## get the editors that tests drive, and the checkers of the plugins, into a cache folder
	.ci/editors.sh

generate: ## write rpc/schema.json from the Go types, and the manual for Info from its source
	$(GO) generate ./rpc
	.ci/elisp manual

bench: ## run the benchmarks; benchstat reads what they print
	$(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) ./...

bench-store: ## measure a database of 10,000 sessions and 1,000,000 items, and searches of it; it takes 2 GB of the temporary folder
	$(GO) test -run '^$$' -bench '^BenchmarkStore$$' -timeout 30m -count 1 $(TESTS)/bench -bench.sessions 10000
	$(GO) test -run '^$$' -bench '^BenchmarkSearch$$' -timeout 30m -count 1 ./sessions -search.items 1000000

bench-trees: ## measure turns in a tree of 1,000,000 files beside git; it takes 6 GB of the temporary folder
	$(GO) test -run '^$$' -bench '^BenchmarkLargeTrees$$/^git-1000000$$' -timeout 30m -count 1 $(TESTS)/bench -bench.million

bench-peers: ## compare with the programs that are nearest to cursord; needs npm, node and the network
	.ci/peers

fuzz: ## run every fuzz target for FUZZTIME each, the review's properties 100,000 times and its stories 20,000 times, stories of one file 20,000 times, of rewinds for 6,000 steps, and crashes in every step of decisions
	$(GO) test -count=1 -timeout 120m ./diffs -rapid.checks 100000 -rapid.seed $$(date +%s) -stories 20000
	$(GO) test -count=1 -timeout 60m -run '^TestStories$$' ./daemon/internal/review -rapid.checks 20000 -rapid.seed $$(date +%s)
	$(GO) test -count=1 -timeout 30m -run '^Test(Crashes|Faults)' $(TESTS)/faults -every-crash
	$(GO) test -count=1 -timeout 30m -run '^TestPlants$$' $(TESTS)/trees -every-plant
	$(GO) test -count=1 -timeout 30m -run '^TestKillsAtEachMessage$$' $(TESTS)/acp -every-kill
	$(GO) test -count=1 -timeout 30m -run '^TestRewindStories$$' $(TESTS)/review -rewinds.steps 1000 -rewinds.seed $$(date +%s)
	$(GO) test -count=1 -timeout 30m $(TESTS)/nvim -every-nvim
	$(GO) test -count=1 -timeout 30m $(TESTS)/emacs -every-emacs -emacs.steps 100 -emacs.seed $$(date +%s)
	$(GO) test -count=1 -timeout 30m ./sessions -damages 10
	$(GO) test -count=1 -timeout 30m -run '^TestBothSides$$' ./daemon/copytree -rapid.checks 1000 -rapid.seed $$(date +%s)
	@$(GO) list ./... | while read -r pkg; do \
		$(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' | while read -r target; do \
			echo "fuzz $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5s $$pkg </dev/null || exit 1; \
		done || exit 1; \
	done
	$(GO) test -count=1 -timeout 120m -run '^TestRandomIsolatedScenarios$$' $(TESTS)/isolation -isolated.scenarios 1000 -isolated.seed $$(date +%s)

scenarios: ## play 10,000 random scenarios through the daemon, of agents, people, decisions and crashes, with random commands and 10,000 saves beside edits
	$(GO) test -v -count=1 -timeout 60m -run '^Test(Scenarios|RandomCommands|PersonsBesideCommands|SavesAtAnyPoint)$$' $(TESTS)/scenarios -scenarios 10000 -scenarios.seed 0 -commands 500 -commands.seed 0 -beside 500 -beside.seed 0 -saves 10000 -saves.seed $$(date +%s)
	$(GO) test -count=1 -timeout 60m ./diffs -stories 3600
	$(GO) test -count=1 -timeout 60m -run '^TestPeopleBetweenIsolatedTurns$$' $(TESTS)/isolation -shows.scenarios 1000 -shows.seed $$(date +%s)

soak: ## work with one daemon for MINUTES, with clients, turns, reviews and kills; then kill it KILLS times at random
	$(GO) test -v -count=1 -timeout 0 -run '^TestSoak$$' $(TESTS)/soak -soak.minutes $(MINUTES) -soak.seed $$(date +%s)
	$(GO) test -v -count=1 -timeout 0 -run '^TestKill(s|edAgents)$$' $(TESTS)/soak -kills $(KILLS) -kills.seed $$(date +%s)

mutants: ## break the review rule by rule and see that its tests notice
	$(GO) test -v -count=1 -timeout 60m -run '^TestMutants$$' ./diffs/internal/mutants -mutants

clean: ## remove what was built
	rm -rf bin
