"""The map in docs/explanation/architecture.md names what is there."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
FLOWS = MAP.partition("\n## Four flows\n")[2].partition("\n## ")[0]
NAMES = sorted(set(re.findall(r"`((?:agreement|annotate|judges|concord)(?:\.\w+)+)`", FLOWS)))
FILES = sorted(set(re.findall(r"`((?:agreement|static|templates|annotate|judges|tests)/[\w./-]+)`", MAP)))


def test_there_are_four_flows() -> None:
    assert FLOWS.count("\n### ") == 4
    assert len(NAMES) > 30


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_a_flow_can_be_imported(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert hasattr(import_module(module), attribute), f"{module} has no {attribute}"


@pytest.mark.parametrize("path", FILES)
def test_every_path_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(
    ("app", "heading"), [("annotate", "room of `annotate`"), ("judges", "room of `judges`")]
)
def test_every_room_is_on_the_map(app: str, heading: str) -> None:
    table = MAP.partition(f"| {heading} |")[2].partition("\n\n")[0]
    first = "".join(re.findall(r"(?m)^\| (.*?) \|", table))
    listed = set(re.findall(r"`(\w+)/`", first))
    top = {"management", "migrations", "templatetags", "__pycache__"}
    assert listed == {path.name for path in (ROOT / app).iterdir() if path.is_dir()} - top
