"""What is installed is what the lists with hashes name, in these versions; no network is asked."""

import re
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-metrics.txt", "requirements-dialects.txt")
INSTALLERS = {"uv", "pip", "setuptools", "wheel"}  # by what the lists are installed
PINNED = re.compile(r"^([\w.-]+)==(\S+)(?: ; [^\n\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$", re.M)
PYTHONS = ("3.11.0", "3.11.2", "3.12.0", "3.13.0", "3.14.0")


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Return version and number of hashes of each package that a list names."""
    text = (ROOT / name).read_text()
    return {_plain(each[1]): (each[2], each[3].count("--hash")) for each in PINNED.finditer(text)}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_a_list_has_a_version_and_hashes(name: str) -> None:
    found = locked(name)
    lines = re.findall(r"^[A-Za-z][^\n]*", (ROOT / name).read_text(), re.M)
    assert len(lines) == len(found)
    assert not [package for package, (_, hashes) in found.items() if not hashes]


def test_lists_name_the_same_versions() -> None:
    versions: dict[str, set[str]] = {}
    for name in LOCKS:
        for package, (version, _) in locked(name).items():
            versions.setdefault(package, set()).add(version)
    assert not {package: found for package, found in versions.items() if len(found) > 1}


def test_nothing_is_installed_in_another_version_than_a_list_names() -> None:
    wanted = {package: version for name in LOCKS for package, (version, _) in locked(name).items()}
    installed = {_plain(each.metadata["Name"]): each.version for each in distributions()}
    others = {
        package: version
        for package, version in installed.items()
        if package not in INSTALLERS and wanted.get(package, version) != version
    }
    assert others == {}


def test_what_packages_ask_of_each_other_is_met() -> None:
    unmet = []
    for each in distributions():
        for line in each.requires or []:
            asked = Requirement(line)
            if asked.marker and not asked.marker.evaluate({"extra": ""}):
                continue
            if not asked.specifier.contains(distribution(asked.name).version, prereleases=True):
                unmet.append(f"{each.metadata['Name']} asks for {line}")
    assert unmet == []


@pytest.mark.parametrize("python", PYTHONS)
def test_a_list_names_what_its_packages_need_on_every_python(python: str) -> None:
    """Debian 12 has 3.11.2, for which redis needs one package more than for 3.11.3."""
    environment = {"extra": "", "python_full_version": python, "python_version": python.rpartition(".")[0]}
    here = {_plain(each.metadata["Name"]): each.requires or [] for each in distributions()}
    packages = locked("requirements.txt")
    assert not [
        f"{package} asks for {line}"
        for package in sorted(packages.keys() & here.keys())
        for line in here[package]
        if not (asked := Requirement(line)).marker or asked.marker.evaluate(environment)
        if _plain(asked.name) not in packages
    ]
