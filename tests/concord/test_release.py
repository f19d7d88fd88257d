"""A release has one version in every file, and a section in the changelog."""

import subprocess
import sys

import pytest
import yaml

from deploy.release import find_section, read_versions
from tests.concord.running import ROOT


def test_every_file_has_the_same_version() -> None:
    assert len(read_versions()) == 6
    assert len(set(read_versions().values())) == 1, read_versions()


def test_the_notes_are_the_section_of_the_version() -> None:
    changelog = "# Changes\n\n## 0.2.0, 2027-01-05\n\n- New.\n\n## 0.1.0, 2026-12-01\n\n- First.\n"
    assert find_section("0.2.0", changelog) == "- New."
    assert find_section("0.1.0", changelog) == "- First."


@pytest.mark.parametrize("heading", ["0.1.0, not released", "0.1.1, 2026-12-01", "0x1.0, 2026-12-01"])
def test_a_version_without_a_day_is_not_released(heading: str) -> None:
    with pytest.raises(ValueError, match="needs the heading"):
        find_section("0.1.0", f"# Changes\n\n## {heading}\n\n- First.\n")


def test_another_version_is_rejected_with_one_message() -> None:
    said = subprocess.run(
        [sys.executable, "deploy/release.py", "9.9.9"], cwd=ROOT, capture_output=True, text=True
    )
    assert said.returncode == 1
    assert said.stderr.startswith("The release is 9.9.9, but these files name other versions: ")


def test_the_workflow_runs_for_tags_of_versions_only() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    assert workflow[True] == {"push": {"tags": ["[0-9]+.[0-9]+.[0-9]+"]}}, "YAML reads `on` as true"
