# Every target says in one line what it does; `make help` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The port of `make run` and `make demo`.
PORT ?= 8080
# How long `make fuzz` runs each target.
SECONDS ?= 30
# How often `make crash-test` kills.
N ?= 200
# Anything: `make attack` sends a tenth.
SHORT ?=
# One row of `make bench`; all of them when empty.
ROW ?=

.PHONY: help setup setup-bench run demo test crash-test attack tsan lint docs bench fuzz image clean

help: ## List the targets.
	@sed -nE 's/^([a-z-]+):.*## (.*)$$/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## Install what is missing; does nothing when nothing is.
	@scripts/setup.sh

setup-bench: ## The same, with what `make bench` needs.
	@scripts/setup.sh bench

run: setup ## See real events flow, on the console.
	@PORT=$(PORT) scripts/run.sh

demo: setup ## See them in a private PostgreSQL, with three questions answered.
	@PORT=$(PORT) scripts/demo.sh

test: setup ## Run everything that can fail.
	@scripts/test.sh

crash-test: setup ## Kill serve N=200 times while clients send, and count what arrived.
	swift build --build-tests
	SLUICE_CRASHES=$(N) swift test --skip-build --no-parallel --filter EndToEndTests.CrashTests

attack: setup ## Play senders that mean harm against serve; SHORT=1 for a tenth of them.
	@scripts/attack.sh $(if $(SHORT),--short)

tsan: setup ## Run what is concurrent under ThreadSanitizer.
	@scripts/tsan.sh

lint: ## Check the format of all Swift code.
	@scripts/lint.sh

docs: setup ## Build the documentation of every module; a warning is an error.
	@scripts/docs.sh

bench: setup-bench ## Measure against ceilings; ROW=name for one row.
	@scripts/bench.sh $(ROW)

fuzz: setup ## Feed the readers arbitrary bytes; SECONDS=30 each.
	@scripts/fuzz.sh $(SECONDS)

image: setup ## Build the command from what the container image gets, and compare the libraries.
	@scripts/image.sh

clean: ## Remove what was built and what ran.
	rm -rf .build .run Benchmarks/.build Fuzz/.build Examples/*/.build
