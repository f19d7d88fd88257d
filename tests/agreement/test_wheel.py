"""agreement is a distribution of its own, which needs nothing else of Concord."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.agreement.test_readme import EXAMPLES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "agreement"
# -I leaves out the working directory and PYTHONPATH: only the wheel and installed packages can be imported.
RUN_FROM_WHEEL = """
import doctest, importlib.util, sys
folder, example = sys.argv[1:]
sys.modules["django"] = None  # which is installed here: importing it fails
sys.path.insert(0, folder)
assert not any(importlib.util.find_spec(name) for name in ("annotate", "judges", "concord"))
import agreement, agreement.biases, agreement.comparison, agreement.reliability
assert agreement.__file__.startswith(folder), agreement.__file__
test = doctest.DocTestParser().get_doctest(example, {}, "README.md", None, 0)
print(doctest.DocTestRunner().run(test))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(build, cwd=PACKAGE, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("concord_agreement-*.whl")
    return path


def test_wheel_contains_every_module_types_licence_and_readme(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        (metadata,) = [file.read(name).decode() for name in names if name.endswith("METADATA")]
    modules = {str(path.relative_to(ROOT)) for path in PACKAGE.rglob("*.py")}
    packed = {name for name in names if ".dist-info/" not in name}
    assert packed == {*modules, "agreement/py.typed", "agreement/LICENSE"}
    assert (PACKAGE / "README.md").read_text() in metadata


def test_wheel_runs_an_example_without_django_and_concord(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    command = [sys.executable, "-I", "-c", RUN_FROM_WHEEL, str(tmp_path), EXAMPLES[0]]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "TestResults(failed=0, attempted=7)" in result.stdout, result.stdout + result.stderr


def test_version_and_python_match_concord() -> None:
    own, concord = (
        tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in (PACKAGE, ROOT)
    )
    for key in ("version", "requires-python", "license"):
        assert own[key] == concord[key]
