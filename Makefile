# Everything there is to do, by name. `make run` and `make test` install what is missing.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

BIN := target/debug/countersign

SECONDS ?= 60
KILLS ?= 300
SEED ?=
EXAMPLES ?=
BINARY ?=
EXPECT ?=
EACH ?=

.PHONY: help run test web bench bench-listeners redteam oracle chaos fuzz fmt lint deny tools services node-modules \
        features advisories test-deps test-web test-rust test-docs test-generated test-api test-browser generate

help: ## Shows this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: web ## Starts Countersign on this folder; without ANTHROPIC_API_KEY, the demo
	@cargo build --package countersign
	@if [ -n "$${ANTHROPIC_API_KEY:-}" ]; then \
	  exec $(BIN) serve --root . --open $(ARGS); \
	else \
	  echo "ANTHROPIC_API_KEY is not set: starting the demo, in which a scripted model answers." >&2; \
	  exec $(BIN) demo $(ARGS); \
	fi

test: test-web test-rust test-deps test-docs test-generated test-api test-browser ## Runs everything CI runs
	@echo "all tests passed"

web: node-modules ## Builds the page
	@cd web && npm run --silent build

bench: web ## Measures cold start, memory, page size, previews, searches, verdicts, listeners, the SDK, the hook (release build; prints, asserts nothing)
	@cargo build --quiet --release --package countersign
	@node scripts/bench.mjs
	@node scripts/bench-hook.mjs "$$(scripts/hyperfine || true)"

bench-listeners: web ## Measures 10,000 event streams on one project; one JSON line
	@cargo build --quiet --release --package countersign
	@target/release/countersign bench listeners --n 10000

# The two numbers are printed: attacks that would run unasked, and everyday reads that ask.
redteam: tools ## Judges the red team's corpus with the real binary; nothing of it is run
	@cargo nextest run --workspace --cargo-quiet --no-capture --status-level fail --final-status-level fail \
	  -E 'test(/^redteam::/)'

# Another version is tried with BINARY=…; EXPECT=classes fails unless every known class of harm is found in it.
oracle: tools ## Makes up commands and runs in a jail what would go unasked (SECONDS=60, SEED=… to repeat)
	@scripts/bubblewrap
	@COUNTERSIGN_ORACLE_SECONDS=$(SECONDS) COUNTERSIGN_ORACLE_SEED=$(SEED) COUNTERSIGN_ORACLE_BINARY=$(BINARY) \
	  COUNTERSIGN_ORACLE_EXPECT=$(EXPECT) cargo nextest run --profile oracle --package countersign --cargo-quiet \
	  --no-capture --status-level fail --final-status-level fail -E 'test(/^oracle::/)'

chaos: tools services ## Kills servers at random under load and counts what was lost (KILLS=300, SEED=… to repeat)
	@COUNTERSIGN_CHAOS_KILLS=$(KILLS) COUNTERSIGN_CHAOS_SEED=$(SEED) cargo nextest run --profile chaos \
	  --package countersign --cargo-quiet --no-capture --status-level fail -E 'test(/^chaos::chaos_/)'

fuzz: ## Feeds the readers of commands, rules and inputs with noise (SECONDS=60 each)
	@scripts/need node 'Node.js 20.19 or newer'
	@scripts/need c++ 'A C++ compiler'
	@scripts/fuzz $(SECONDS)

fmt: ## Formats the Rust code
	@cargo fmt --all

lint: ## Looks for what the compiler lets pass
	@cargo clippy --workspace --all-targets -- -D warnings

deny: ## Checks licences and sources of dependencies once more, with cargo-deny (needs it)
	@cargo deny check licenses bans sources

advisories: ## Checks dependencies against the RustSec database, where cargo-deny and the database can be had
	@scripts/advisories

# Each alone: what one needs must not hide behind another. The crates that an embedding program compiles.
# Each alone takes three times as long: EACH=1.
features: ## Checks the library without features and with groups of them, and runs the smallest agent
	@groups="none anthropic,claude-code,scripted-model git,mcp,sandbox,web nats,postgres"; \
	if [ -n "$(EACH)" ]; then \
	  groups="none $$(cargo metadata --format-version 1 --no-deps | jq -r \
	    '.packages[] | select(.name == "countersign-agent") | .features | keys[] | select(. != "default")')"; \
	fi; \
	for group in $$groups; do \
	  echo "countersign-agent with features: $$group"; \
	  cargo clippy --quiet --package countersign-gate --package countersign-tools --package countersign-agent \
	    --no-default-features --features "$${group/none/}" -- -D warnings; \
	done
	@cd examples/embedded && CARGO_TARGET_DIR=../../target cargo test --quiet --locked

generate: ## Writes docs/openapi.json and the page's types anew
	@cargo build --quiet --package countersign
	@$(BIN) openapi > docs/openapi.json
	@cd web && npm run --silent generate

node-modules: web/node_modules/.package-lock.json

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@scripts/need node 'Node.js 20.19 or newer'
	@cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

tools:
	@scripts/need cargo 'Rust 1.95 or newer'
	@cargo nextest --version > /dev/null 2>&1 || cargo install --locked cargo-nextest

# What some tests need to run beside them.
services:
	@scripts/postgres install
	@scripts/nats install
	@scripts/claude install
	@scripts/mcp-server install
	@scripts/bubblewrap
	@command -v jq > /dev/null || scripts/apt jq || scripts/need jq 'jq, for the example of a caller in shell,'

test-web: node-modules
	@cd web && npm run --silent lint
	@cd web && npm run --silent test
	@cd web && npm run --silent build

test-rust: tools services
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets -- -D warnings
	@cd fuzz && CARGO_TARGET_DIR=../target cargo clippy --quiet --lib -- -D warnings
	@cargo nextest run --workspace -E 'not test(/^redteam::|^oracle::/)'
	@$(MAKE) --no-print-directory redteam
	@$(MAKE) --no-print-directory oracle SECONDS=60 SEED=$(or $(SEED),1)

# Licences, origins, unused dependencies and the number of crates are tests: house::dependencies.
test-deps: tools services advisories features

test-docs: tools
	@cargo test --quiet --workspace --doc
	@RUSTDOCFLAGS='-D warnings' cargo doc --quiet --workspace --no-deps

# The kept files must be what the code says today.
test-generated: node-modules
	@cargo build --quiet --package countersign
	@diff -u docs/openapi.json <($(BIN) openapi) \
	  || { echo "docs/openapi.json is stale: run \`make generate\`" >&2; exit 1; }
	@cd web && npm run --silent generate:check

# The kept file is tried on the server, hence after it was found to be true (SEED=… EXAMPLES=… to try more).
test-api: test-generated
	@SEED=$(SEED) EXAMPLES=$(EXAMPLES) scripts/schemathesis run $(BIN)

test-browser: web
	@scripts/chromium
	@cargo build --quiet --package countersign
	@cd web && npm run --silent e2e
