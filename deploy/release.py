"""Prints the notes of a release from CHANGELOG.md, and checks that every file names its version.

.venv/bin/python deploy/release.py 0.1.0
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = ("pyproject.toml", "client/pyproject.toml", "agreement/pyproject.toml")


def read_versions() -> dict[str, str]:
    """Return the version in every file that names it."""
    versions = {
        file: str(tomllib.loads((ROOT / file).read_text())["project"]["version"]) for file in PROJECTS
    }
    for file, pattern in {
        "annotate/core/version.py": r'^VERSION = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
        "README.md": r"^  version = \{(.+)\},$",
    }.items():
        versions[file] = re.findall(pattern, (ROOT / file).read_text(), re.M)[0]
    return versions


def find_section(version: str, changelog: str) -> str:
    """Return the section of a version. Raises ValueError if its heading has no day."""
    found = re.search(
        rf"^## {re.escape(version)}, (\d{{4}}-\d\d-\d\d)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S
    )
    if not found:
        raise ValueError(f"CHANGELOG.md needs the heading “## {version}, ” with the day of the release.")
    return found[2].strip()


def main(version: str) -> None:
    """Print the section. Exit with an error message if a version or the day is missing."""
    if other := {file: named for file, named in read_versions().items() if named != version}:
        sys.exit(f"The release is {version}, but these files name other versions: {other}.")
    try:
        text = find_section(version, (ROOT / "CHANGELOG.md").read_text())
    except ValueError as error:
        sys.exit(str(error))
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main(sys.argv[1])
