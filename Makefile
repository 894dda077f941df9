# The comment behind each target says what it does; `make help` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The port of `make run` and `make demo`.
PORT ?= 8080
# How long `make fuzz` and `make scale-test` run, in seconds.
SECONDS ?= 30
scale-test: SECONDS = 600
# The brokers of `make scale-test`, as host:port,host:port. Default: librdkafka's mock cluster.
BROKERS ?=
# How often `make crash-test` kills `sluice serve`.
N ?= 200
# If not empty, `make attack` sends a tenth, and `make tsan` leaves out the HTTP server.
SHORT ?=
# How long `make soak` runs, in minutes.
MINUTES ?= 60
# The row that `make bench` measures. Default: all rows.
ROW ?=
# How many rows `make queries` generates for each table, in millions.
MILLIONS ?= 1

.PHONY: help setup setup-test setup-bench run demo unit test packages crash-test scale-test guards attack soak tsan lint docs bench queries fuzz image libraries clean

help: ## List the targets.
	@sed -nE 's/^([a-z-]+):.*## (.*)$$/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## Install what building and running need, if it is missing.
	@scripts/setup.sh

run: ## Build and start Sluice, and see real events on the console.
	@PORT=$(PORT) scripts/run.sh

demo: ## Replay a day of real events into a private PostgreSQL, and query it.
	@PORT=$(PORT) scripts/demo.sh

unit: setup ## Run the tests that need no server, in parallel.
	@scripts/unit.sh

test: setup-test ## Run all tests, with PostgreSQL and a mock Kafka cluster.
	@scripts/test.sh

packages: setup-test ## Build the packages that depend on Sluice, and test the examples.
	@scripts/packages.sh

crash-test: setup-test ## Kill serve N=200 times while clients send, and count the events that arrive.
	@scripts/crash-test.sh $(N)

scale-test: setup-test ## Let loaders crash for SECONDS=600 at BROKERS=host:9092, and count what they load.
	@scripts/scale-test.sh $(SECONDS) $(BROKERS)

guards: setup-test ## Remove each guard of the loader in turn; its test must fail.
	@scripts/guards.sh

attack: setup-test ## Attack serve with hostile requests; SHORT=1 sends a tenth.
	@scripts/attack.sh $(if $(SHORT),--short)

soak: setup-test ## Run serve for MINUTES=60 under honest senders and attackers, and measure its memory.
	@scripts/soak.sh $(MINUTES)

tsan: setup ## Run the concurrent tests under ThreadSanitizer; SHORT=1 leaves out the HTTP server.
	@scripts/tsan.sh $(if $(SHORT),--short)

lint: ## Check the format and the style rules.
	@scripts/lint.sh

docs: setup ## Build the documentation of every module; warnings are errors.
	@scripts/docs.sh

bench: setup-bench ## Measure against ceilings; ROW=name measures one row.
	@scripts/bench.sh $(ROW)

queries: setup ## Compare analysts' queries on monthly partitions with the key id alone, on MILLIONS=1 million rows.
	@scripts/queries.sh $(MILLIONS)

fuzz: setup ## Fuzz the readers for SECONDS=30.
	@scripts/fuzz.sh $(SECONDS)

image: setup ## Build the command as the container image does, and check the image's libraries.
	@scripts/image.sh

libraries: setup ## Build each product with the C libraries hidden that it does not need.
	@scripts/libraries.sh

setup-test setup-bench: setup-%:
	@scripts/setup.sh $*

clean: ## Remove what was built and the files of runs.
	rm -rf .build .run Examples/*/.build
