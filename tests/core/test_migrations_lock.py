"""A migration that landed never changes: databases that have it could no longer be upgraded."""

from pathlib import Path

import pytest
from django.db.migrations.loader import MigrationLoader

from tests.core.migrations_lock import APPS, LOCK, changed, record, recorded, unrecorded


def test_landed_migrations_are_unchanged() -> None:
    assert list(changed()) == []


def test_every_migration_is_recorded() -> None:
    assert unrecorded() == [], "run make migrations-lock"


def test_no_migration_replaces_others() -> None:
    migrations = MigrationLoader(None).disk_migrations
    assert [key for key, each in migrations.items() if key[0] in APPS and each.replaces] == []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for app in APPS:
        (tmp_path / app / "migrations").mkdir(parents=True)
        (tmp_path / app / "migrations" / "0001_initial.py").write_text("tables = 1\n")
    (tmp_path / LOCK).parent.mkdir(parents=True)
    record(tmp_path)
    return tmp_path


def test_new_migrations_are_appended(root: Path) -> None:
    before = (root / LOCK).read_text()
    (root / "annotate" / "migrations" / "0002_more.py").write_text("tables = 2\n")
    assert unrecorded(root) == ["annotate/migrations/0002_more.py"]
    assert record(root) == ["annotate/migrations/0002_more.py"]
    assert (root / LOCK).read_text().startswith(before)
    assert list(recorded(root))[-1] == "annotate/migrations/0002_more.py"
    assert (unrecorded(root), list(changed(root))) == ([], [])


@pytest.mark.parametrize("edit", ["changed", "missing"])
def test_edited_migration_is_detected_and_not_recorded(root: Path, edit: str) -> None:
    path, before = root / "judges" / "migrations" / "0001_initial.py", (root / LOCK).read_text()
    path.write_text("tables = 3\n") if edit == "changed" else path.unlink()
    (found,) = changed(root)
    assert found.startswith("judges/migrations/0001_initial.py")
    assert edit in found
    with pytest.raises(SystemExit, match=edit):
        record(root)
    assert (root / LOCK).read_text() == before
