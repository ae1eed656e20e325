# One command each; `make setup` is a prerequisite of all and does nothing when nothing changed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TEST_WORKERS ?= 2
SOAK_SECONDS ?= 300
SOAK_STATEMENTS ?= 20000000
SOAK_KILLS ?= 100
SOAK_INPUTS ?= 1000000
SOAK_SCHEDULES ?= 1000000

.PHONY: help setup demo test lint format bench soak

help:
	@echo "make setup    an environment in $(VENV) with the exact versions of requirements.lock"
	@echo "make demo     trains, stations and commuters: a live stream on embedded Spark, a minute"
	@echo "make test     all tests and the examples in the documentation"
	@echo "make lint     ruff, mypy and the import lint"
	@echo "make bench    the experiments; tables, JSON and plots in bench-results/"
	@echo "make soak     all strategies for $(SOAK_SECONDS) s; plans on thousands of random cases; then $(SOAK_STATEMENTS) statements through windows: memory stays flat; $(SOAK_SCHEDULES) schedules of simulated faults; $(SOAK_INPUTS) fuzzed inputs; $(SOAK_KILLS) kills"

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Ensue needs Python 3.11 or newer; $(PYTHON) is" >&2; $(PYTHON) --version >&2; \
	  echo "name another with: make setup PYTHON=/path/to/python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

demo: setup
	@$(BIN)/python examples/trains/demo.py

test: setup
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadgroup -m "not long"

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/import_lint.py

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	@mkdir -p bench-results
	$(BIN)/ensue bench kernel --json bench-results/kernel.json --plot bench-results/kernel.png
	$(BIN)/ensue bench imars --json bench-results/imars.json --plot bench-results/imars.png
	$(BIN)/ensue bench coror --json bench-results/coror.json --plot bench-results/coror.png
	$(BIN)/ensue bench windows --json bench-results/windows.json --plot bench-results/windows.png
	$(BIN)/ensue bench sharing --json bench-results/sharing.json --plot bench-results/sharing.png
	$(BIN)/ensue bench pipeline --json bench-results/pipeline.json --plot bench-results/pipeline.png
	$(BIN)/ensue bench qsmat --json bench-results/qsmat.json --plot bench-results/qsmat.png
	$(BIN)/ensue bench auto --json bench-results/auto.json
	$(BIN)/ensue bench epsilon --json bench-results/epsilon.json --plot bench-results/epsilon.png
	$(BIN)/ensue bench equality --json bench-results/equality.json --plot bench-results/equality.png
	$(BIN)/ensue bench lubm --json bench-results/lubm.json --plot bench-results/lubm.png
	$(BIN)/ensue bench reason --json bench-results/reason.json
	$(BIN)/ensue bench events --json bench-results/events.json --plot bench-results/events.png

soak: setup
	$(BIN)/python tools/soak.py --seconds $(SOAK_SECONDS)
	$(BIN)/python -m ensue.bench.soak --statements $(SOAK_STATEMENTS)
	ENSUE_PRUNE_CASES=2000 ENSUE_PROGRAMS=340 ENSUE_PLAN_CASES=1000 ENSUE_REDUCED_JOBS=1500 ENSUE_LIST_CASES=2000 \
	  $(BIN)/python -m pytest -n $(TEST_WORKERS) tests/plan tests/spark/test_reducing_at_random.py \
	  -k "pruning or programs or dropping or dividing or left_out or unfolded"
	ENSUE_ANSWER_CASES=1500 ENSUE_CASES=3000 $(BIN)/python -m pytest -n $(TEST_WORKERS) \
	  tests/maintain/test_answers_at_random.py tests/query/equivalence/test_equivalence.py -k "at_random or folded"
	$(BIN)/python -m pytest -m long tests
	$(BIN)/python tools/fuzz.py --inputs $(SOAK_INPUTS)
	ENSUE_FAULT_SCHEDULES=$(SOAK_SCHEDULES) $(BIN)/python -m pytest -n $(TEST_WORKERS) tests/faults
	$(BIN)/python tools/kill_soak.py --kills $(SOAK_KILLS)
