"""Scripts that a page loads as one file."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from concord.scripts import JOINED, JoinedScripts

STATIC = Path(__file__).resolve().parents[2] / "static"


@pytest.fixture
def scripts(settings, tmp_path: Path) -> Path:
    """Give a project's folder with the scripts, of which the finder makes its own."""
    folder = tmp_path / "static"
    folder.mkdir()
    for name in {each for names in JOINED.values() for each in names}:
        (folder / name).write_text(f"// {name}")
    settings.BASE_DIR, settings.DATA_DIR = tmp_path, tmp_path / "var"
    return folder


@pytest.mark.parametrize("name", JOINED)
def test_joined_script_contains_its_parts_in_order(name: str) -> None:
    found = finders.find(name)
    assert isinstance(found, str)
    assert Path(found).read_bytes() == b"\n".join((STATIC / each).read_bytes() for each in JOINED[name])


def test_joined_script_is_rebuilt_only_when_a_part_has_changed(scripts: Path) -> None:
    made = {name: storage.path(name) for name, storage in JoinedScripts().list([])}["rating-page.js"]
    before = Path(made).stat().st_mtime_ns
    assert JoinedScripts().find("rating-page.js") == made
    assert Path(made).stat().st_mtime_ns == before
    (scripts / "keys.js").write_text("// other keys")
    JoinedScripts().find("rating-page.js")
    assert "// causes.js\n// other keys\n// passages.js" in Path(made).read_text()


def test_nothing_else_is_a_joined_script() -> None:
    assert JoinedScripts().find("rating.js") == []
    assert JoinedScripts().find("rating.js", find_all=True) == []


def test_every_script_of_ours_is_loaded_by_a_page() -> None:
    templates = "".join(path.read_text() for path in STATIC.parent.glob("templates/**/*.html"))
    loaded = set(re.findall(r"static '([\w-]+\.js)'", templates))
    parts = {each for name in loaded & JOINED.keys() for each in JOINED[name]}
    assert {path.name for path in STATIC.glob("*.js")} == (loaded - JOINED.keys()) | parts
