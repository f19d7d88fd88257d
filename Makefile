# Everything Concord does from a command line. The environment is .venv, and is touched only when the pinned
# requirements change.

# Nothing of the calling shell's own Python or Django counts.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE DJANGO_SETTINGS_MODULE

PORT ?= 8000
CANDIDATES = $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)
BIN := .venv/bin/python

# An environment whose interpreter is gone is made again.
ifneq ($(shell $(BIN) -c "print(1)" 2>/dev/null),1)
.PHONY: .venv/installed
endif

.PHONY: help run install test check messages requirements screenshot openapi

help:
	@echo "make run           installs, prepares and starts Concord (another port: make run PORT=9000)"
	@echo "make test          runs every test (on another database: make test DATABASE_URL=postgres://...)"
	@echo "make check         ruff, mypy, import-linter, djlint, migrations, deployment settings"
	@echo "make install       makes the environment in .venv and nothing else"
	@echo "make messages      collects what is to be translated and compiles the translations (needs gettext)"
	@echo "make screenshot    takes the picture in the README anew"
	@echo "make openapi       writes the description of the API anew"
	@echo "make requirements  pins the newest packages that requirements*.in allow"

run: install
	@exec $(BIN) manage.py start --port $(PORT)

install: .venv/installed

.venv/installed: requirements.txt requirements-dev.txt
	@python=; \
	for name in $(CANDIDATES); do \
	  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "Concord needs Python 3.11 or newer, and $(firstword $(CANDIDATES)) is \
	$$($(firstword $(CANDIDATES)) --version 2>/dev/null || echo missing): install a newer one, or name it with \
	make $(or $(firstword $(MAKECMDGOALS)),install) PYTHON=/path/to/python3." >&2; exit 1; \
	fi; \
	if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
	  echo "$$python cannot make environments: install its venv module (Debian: apt-get install python3-venv)." >&2; \
	  exit 1; \
	fi; \
	echo "Making the environment in .venv with $$($$python --version); this takes a minute or two the first time."; \
	$(BIN) -m pip --version >/dev/null 2>&1 || $$python -m venv --clear .venv; \
	$(BIN) -m pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-dev.txt && touch $@

test: install
	$(BIN) -m pytest -n 4 --maxschedchunk 1 $(ARGS)

check: export CONCORD_DEBUG = 0
check: export CONCORD_HTTPS = 1
check: export CONCORD_ALLOWED_HOSTS = concord.example
check: export CONCORD_SECRET_KEY = a-key-for-checking-only-0123456789-abcdefghijklmnopqrstuvwxyz
check: install
	$(BIN) -m ruff check .
	$(BIN) -m ruff format --check .
	$(BIN) -m mypy .
	$(BIN) .venv/bin/lint-imports
	$(BIN) -m djlint --quiet --lint templates
	$(BIN) manage.py makemigrations --check --dry-run
	$(BIN) manage.py check --deploy --fail-level WARNING

messages: install
	$(BIN) manage.py makemessages --all --no-obsolete --no-wrap --no-location --extension html,txt,py \
	  --ignore var --ignore .venv --ignore tests --ignore benchmarks
	$(BIN) manage.py compilemessages --ignore .venv

screenshot: install
	$(BIN) docs/screenshot.py

openapi: install
	$(BIN) manage.py spectacular --format openapi-json --validate --fail-on-warn --file docs/api/openapi.json

requirements: export CUSTOM_COMPILE_COMMAND = make requirements
requirements: install
	for list in requirements.in requirements-dev.in; do \
	  $(BIN) -m piptools compile -q --upgrade --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	    --strip-extras $$list; \
	done
