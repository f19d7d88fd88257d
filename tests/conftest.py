"""What every test runs with: a clean environment, its own folder and database, nothing left out in CI."""

import atexit
import gc
import os
import random
import shutil
import socketserver
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from itertools import groupby
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import django
import pytest

FOLDER = Path(tempfile.mkdtemp(prefix="concord-tests-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
KEPT = {"CONCORD_REFERENCE_DATA"}
# Fixtures of tests that ask the database; others have pytest-django's marker.
ASKING = {"db", "django_db_setup", "live_server", "transactional_db"}
# What `make test-fast` leaves out: whole data sets, pages, exports, plots, and processes. Most of the time
# of a test on the database is a page that is rendered.
SLOW = (
    *("api/", "concord/", "exports/", "published/", "results/", "upgrades/", "test_access_table.py"),
    *("agreement/test_coefficient_properties.py", "material/test_import_", "watching/test_worker_health.py"),
    *("judges/core/", "judges/interchange/", "judges/results/", "judges/routing/", "rating/test_annotators"),
    *("judges/endpoints/test_stolen_keys.py", "judges/methods/test_reading_anything.py"),
    "agreement/reliability/test_alternative",
    "agreement/test_wheel.py",
)
PAGES = ("_page.py", "_pages.py", "test_pages.py")
# The browser's stories that are played on every database; the others are about the page alone.
AGAIN_IN_BROWSERS = {"test_interruptions.py", "test_story.py"}
BESIDE = {"live_server", "replay", "transactional_db"}
STORIES = {"api", "disputes", "exports", "material", "people", "rating", "watching"}
LARGE = 512 * 1024  # bytes of a table after a test

# Nothing of what is imported and collected is ever garbage, and there is so much of it that looking through
# it again and again takes an eighth of the time of a page's test.
gc.disable()

# Servers inside tests write head and body of an answer one after the other: without this, the kernel keeps
# the body for 40 ms, until the head is acknowledged.
socketserver.StreamRequestHandler.disable_nagle_algorithm = True
# A worker opens dozens of connections at once. The default queue takes five, and others retry after a second.
socketserver.TCPServer.request_queue_size = 128

# Before Django reads its settings: whatever the developer's shell says, tests see the defaults, and their
# uploads and secret key stay out of the developer's installation. Messages to the worker go nowhere.
for name in [name for name in os.environ if name.startswith("CONCORD_") and name not in KEPT]:
    del os.environ[name]
os.environ["DJANGO_SETTINGS_MODULE"] = "concord.settings"
os.environ["CONCORD_DATA"] = str(FOLDER)
os.environ["XDG_STATE_HOME"] = str(FOLDER)  # where servers that tests start say so
os.environ["CONCORD_BROKER_URL"] = "memory://"
os.environ["CONCORD_LOCAL_ENDPOINTS"] = "127.0.0.1:*"  # the tests' own providers
(FOLDER / "static").mkdir()
django.setup()
# Workers of a parallel run start with this environment: a settings module in it would be read, with this
# process's folder, before they make their own.
del os.environ["DJANGO_SETTINGS_MODULE"]

from django.conf import settings as django_settings  # noqa: E402
from django.core.cache import caches  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.backends.postgresql.base import DatabaseWrapper as PostgreSQL  # noqa: E402
from django.db.backends.sqlite3.base import DatabaseWrapper as SQLite  # noqa: E402
from django.test import override_settings  # noqa: E402
from django.utils import timezone  # noqa: E402
from pytest_django.plugin import blocking_manager_key  # noqa: E402

from annotate.core.guidelines import frozen_guideline  # noqa: E402
from annotate.core.models import people, projects  # noqa: E402
from tests.databases import copy_migrated_database, copy_migrated_file, migrated_template  # noqa: E402
from tests.factories import make_project  # noqa: E402
from tests.once import ONCE  # noqa: E402
from tests.recounting import check_counts  # noqa: E402


@dataclass
class Clock:
    """The time that Django tells; it goes on only when a test says so."""

    now: datetime

    def advance(self, **by: float) -> None:
        """Set the clock on, by what timedelta takes: `clock.advance(minutes=3)`."""
        self.now += timedelta(**by)


@pytest.fixture(scope="session", autouse=True)
def settings_of_tests() -> Iterator[None]:
    """Need no collected static files, and hash passwords cheaply."""
    staticfiles = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES={**django_settings.STORAGES, "staticfiles": staticfiles},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        yield


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """Let no test find what another has cached: queries that it counts, or how often someone signed in."""
    frozen_guideline.cache_clear()
    caches["process"].clear()
    caches["template_fragments"].clear()


@pytest.fixture(autouse=True)
def drawn_alike(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw seeds and pseudonyms, and so orders of work, as in every other run of the same test."""
    seed_draws(request.node.nodeid, monkeypatch)


def seed_draws(seed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw everything that is secret from a generator with this seed."""
    generator = random.Random(seed)
    for module in (people, projects):
        monkeypatch.setattr(
            module, "secrets", SimpleNamespace(choice=generator.choice, randbelow=generator.randrange)
        )


class ModuleScene:
    """What a module's `make_scene` makes: once for all its tests, each of which rolls back its own changes.

    The rows are in a transaction around those of the tests. It ends before a test of another module, one that
    uses no scene, and one with transactions of its own, which makes the scene for itself.
    """

    open: "ModuleScene | None" = None
    has_database = False

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.atomic = transaction.atomic()
        self.atomic._from_testcase = True  # type: ignore[attr-defined]  # durable blocks may be inside
        self.atomic.__enter__()
        ModuleScene.open = self
        with pytest.MonkeyPatch.context() as patch:
            seed_draws(module.__name__, patch)
            self.made = scene_maker(module)()

    def end(self) -> None:
        """Roll back the scene."""
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)
        ModuleScene.open = None


def scene_maker(module: ModuleType) -> Callable[[], Any]:
    """Return the function that makes the scene of a module."""
    return getattr(module, "make_scene", make_project)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """End the scene that the last test used, unless this one uses it too, and make this one's."""
    uses = uses_scene(item) and not is_transactional(item)
    module = getattr(item, "module", None) if uses else None
    with item.config.stash[blocking_manager_key].unblock():
        if ModuleScene.open and ModuleScene.open.module is not module:
            ModuleScene.open.end()
        if module and not ModuleScene.open and ModuleScene.has_database:
            ModuleScene(module)


@pytest.fixture(scope="module")
def module_scene(request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any) -> None:
    """Make the scene of the first test, before which there is no database; later ones have it by now."""
    if not ModuleScene.open and not is_transactional(request._pyfuncitem):
        with django_db_blocker.unblock():
            ModuleScene(request.module)


@pytest.fixture
def cast(request: pytest.FixtureRequest, module_scene: None, db: None) -> Any:
    """Return a copy of what the module's `make_scene` makes, or of a plain project with its people."""
    return deepcopy(ModuleScene.open.made) if ModuleScene.open else scene_maker(request.module)()


@pytest.fixture(autouse=True)
def recounted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compare what is counted of disputes with a recount, at the end of each story about people's work."""
    folder = request.node.path.relative_to(Path(__file__).parent).parts[0]
    if folder not in STORIES or not request.node.get_closest_marker("django_db"):
        yield
        return
    request.getfixturevalue("_django_db_helper")  # so that it ends after the recount
    yield
    if not (connection.in_atomic_block and connection.needs_rollback):
        check_counts()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Stop the clock of Django at noon of today; the test sets it on."""
    stopped = Clock(timezone.now().replace(hour=12, minute=0, second=0, microsecond=0))
    monkeypatch.setattr(timezone, "now", lambda: stopped.now)
    return stopped


@pytest.fixture(scope="session", autouse=True)
def emptying() -> Iterator[None]:
    """Let a transactional test end, although the histories' guards refuse to delete.

    SQLite sets its triggers aside for that moment and puts them back in the same transaction. PostgreSQL's
    TRUNCATE asks no trigger, but takes a quarter of a second for these tables, and DELETE as a replica a
    millisecond; only a superuser may.
    """
    with pytest.MonkeyPatch.context() as patch:
        for operations, emptied in ((SQLite.ops_class, without_triggers), (PostgreSQL.ops_class, as_replica)):
            patch.setattr(operations, "sql_flush", emptied(operations.sql_flush))
        # Nobody asks for Django's own permissions, and making them anew is most of what emptying takes.
        patch.setattr("django.core.management.commands.flush.emit_post_migrate_signal", lambda *_, **__: None)
        yield


def without_triggers(flush: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """Return SQLite's statements between those that drop the triggers and those that make them again."""

    def sql_flush(self: Any, *args: Any, **options: Any) -> list[str]:
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            guards = cursor.fetchall()
        set_aside = [f"DROP TRIGGER {name}" for name, _ in guards]
        return [*set_aside, *flush(self, *args, **options), *(sql for _, sql in guards)]

    return sql_flush


def as_replica(flush: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """Return PostgreSQL's statements for a superuser, Django's own for others.

    What DELETE leaves behind is read again by every later query, so tables that have grown are truncated.
    """

    def sql_flush(self: Any, style: Any, tables: list[str], **options: Any) -> list[str]:
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
            (may,) = cursor.fetchone()
            cursor.execute(
                "SELECT relname FROM pg_class WHERE relname = ANY(%s) AND pg_relation_size(oid) > %s",
                [tables, LARGE],
            )
            large = [self.quote_name(name) for (name,) in cursor.fetchall()]
        if not may:
            return flush(self, style, tables, **options)
        truncated = [f"TRUNCATE {', '.join(large)} CASCADE"] if large else []
        emptied = [f"DELETE FROM {self.quote_name(table)}" for table in tables]
        return ["SET LOCAL session_replication_role = replica", *truncated, *emptied]

    return sql_flush


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Give every run its own database, on SQLite a file: a live server's threads need real connections."""
    sqlite = connection.vendor == "sqlite"
    options = connection.settings_dict["OPTIONS"]  # it need not outlive a machine that loses power
    if sqlite:
        options["init_command"] += "PRAGMA synchronous=OFF;"
    else:
        options["options"] = "-c synchronous_commit=off"
    name = str(FOLDER / "tests.sqlite3") if sqlite else f"test_concord_{os.getpid()}"
    connection.settings_dict["TEST"]["NAME"] = name


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_blocker: Any,
    django_db_modify_db_settings: None,
) -> Iterator[None]:
    """Copy the migrated database: migrating it takes each process seven seconds."""
    with django_db_blocker.unblock():
        name = copy_migrated_database()
    ModuleScene.has_database = True
    yield
    with django_db_blocker.unblock():
        if ModuleScene.open:
            ModuleScene.open.end()
        connection.creation.destroy_test_db(name, verbosity=0)


@pytest.fixture
def migrated_file(
    tmp_path: Path,
    django_db_modify_db_settings: None,
    django_db_blocker: Any,
) -> Path:
    """Copy the migrated database for processes that would migrate for seven seconds; none on PostgreSQL."""
    copy = tmp_path / "migrated.sqlite3"
    with django_db_blocker.unblock():
        copy_migrated_file(copy)
    return copy


@pytest.fixture
def migrated_database(
    monkeypatch: pytest.MonkeyPatch,
    django_db_setup: None,
    django_db_blocker: Any,
) -> None:
    """Let benchmarks on PostgreSQL begin with a copy of the migrated database."""
    with django_db_blocker.unblock():
        template = migrated_template()
    monkeypatch.setenv("MIGRATED_DATABASE", template)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import a share of the tests, if this is one of several processes, before it collects them all.

    pytest rewrites the assertions of a module that it meets for the first time, which is most of what
    collecting costs after a checkout, and keeps the result. Each process would do all of it at the same time.
    """
    number, count = (os.environ.get(f"PYTEST_XDIST_WORKER{name}", "") for name in ("", "_COUNT"))
    if not number:
        return
    folders = [Path(argument) for argument in session.config.args if Path(argument).is_dir()]
    modules = sorted({path.resolve() for folder in folders for path in folder.rglob("test_*.py")})
    modules = [path for path in modules if not plays_nothing(path, session.config)]
    for path in modules[int(number.removeprefix("gw")) :: int(count)]:
        with suppress(Exception):  # collecting tells what is wrong with a module
            import_module(".".join(path.relative_to(session.config.rootpath).with_suffix("").parts))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no module whose tests are all left out."""
    return plays_nothing(collection_path, config) or None


def plays_nothing(path: Path, config: pytest.Config) -> bool:
    """Return whether "not once" is asked for, and all tests of a module are "once"."""
    is_test = config.option.markexpr == "not once" and path.name.startswith("test_")
    return is_test and (is_at(path, ONCE) or path.name.endswith(PAGES))


def pytest_collection_finish() -> None:
    """Collect garbage again, but only what tests leave."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # a page makes thousands of objects, and hardly a cycle
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the browser's stories and play them last: they leave an event loop in the thread.

    Long tests come first, so that the others are played beside them. What knows no database is played once,
    and so is what pages show: the table of access opens each page on both. What is about PostgreSQL is played
    there alone.
    """
    if connection.vendor != "postgresql":
        elsewhere = [item for item in items if item.get_closest_marker("postgresql")]
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if item not in elsewhere]
    for item in items:
        if "browser" in item.path.relative_to(Path(__file__).parent).parts:
            item.add_marker(pytest.mark.browser)
        if knows_no_database(item) or is_about_pages(item) or within(item, ONCE):
            item.add_marker(pytest.mark.once)
        if is_fast(item):
            item.add_marker(pytest.mark.fast)
    items.sort(key=turn)
    items[:] = [
        item
        for _, of_module in groupby(items, lambda item: item.path)
        for item in sorted(of_module, key=uses_scene, reverse=True)
    ]


def uses_scene(item: pytest.Item) -> bool:
    """Return whether a test has a copy of its module's scene; others of the module come after these."""
    return "module_scene" in getattr(item, "fixturenames", ())


def knows_no_database(item: pytest.Item) -> bool:
    """Return whether a test may not ask the database in use: pytest-django refuses it."""
    asks = ASKING & set(getattr(item, "fixturenames", ()))
    markers = ("django_db", "postgresql")
    return not asks and not any(item.get_closest_marker(name) for name in markers)


def is_about_pages(item: pytest.Item) -> bool:
    """Return whether a test looks at pages, in a browser or without one."""
    in_browser = item.get_closest_marker("browser") and item.path.name not in AGAIN_IN_BROWSERS
    return bool(in_browser) or item.path.name.endswith(PAGES)


def within(item: pytest.Item, paths: tuple[str, ...]) -> bool:
    """Return whether a test lies at one of these paths, or one that begins like it."""
    return is_at(item.path, paths)


def is_at(path: Path, paths: tuple[str, ...]) -> bool:
    """Return whether the path of a file begins with one of these."""
    return path.relative_to(Path(__file__).parent).as_posix().startswith(paths)


def is_fast(item: pytest.Item) -> bool:
    """Return whether a test needs no page, browser, process or server, and no connection of its own."""
    is_slow = within(item, SLOW) or item.path.name.endswith(PAGES)
    is_slow = is_slow or any(item.get_closest_marker(name) for name in ("browser", "long"))
    return not (is_slow or is_transactional(item) or BESIDE & set(getattr(item, "fixturenames", ())))


def is_transactional(item: pytest.Item) -> bool:
    """Return whether a test commits its transactions."""
    database = item.get_closest_marker("django_db")
    is_marked = bool(database and database.kwargs.get("transaction"))
    return is_marked or bool({"transactional_db", "live_server"} & set(getattr(item, "fixturenames", ())))


def turn(item: pytest.Item) -> int:
    """Return when a test is played: long ones first, the browser's stories last."""
    return 2 if item.get_closest_marker("browser") else 0 if item.get_closest_marker("long") else 1


def left_out(config: pytest.Config) -> list[str]:
    """Return "test: reason" for every test that was skipped or expected to fail."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    reports = [report for kind in ("skipped", "xfailed", "xpassed") for report in stats.get(kind, [])]
    return [f"{report.nodeid}: {reason_of(report)}" for report in reports]


def reason_of(report: pytest.TestReport) -> str:
    """Return why a test was left out."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return getattr(report, "wasxfail", "") or "expected to fail"


def forbids_leaving_out() -> bool:
    """Return whether this run must play every test."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail in CI when a test was left out."""
    if forbids_leaving_out() and left_out(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say in CI which tests were left out; elsewhere pytest's own summary lists them."""
    if forbids_leaving_out() and (tests := left_out(config)):
        terminalreporter.section("left out, which CI does not allow", red=True)
        for test in tests:
            terminalreporter.line(test)
