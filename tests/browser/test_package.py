"""The wheel is all of Concord: it runs in a new environment, without the repository."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.concord.running import LONGEST, ROOT, Started, alive, descendants, eventually
from tests.ports import free_port

pytestmark = pytest.mark.long
PACKED = {"templates": "concord/templates", "static": "concord/static", "locale": "concord/locale"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("concord_eval-*.whl")
    return path


def test_wheel_contains_programs_templates_static_files_and_translations(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    folders = {name.partition("/")[0] for name in names}
    assert folders == {"agreement", "annotate", "concord", "concord_client", "judges"}
    for package in ("agreement", "annotate", "concord", "judges"):
        modules = {str(path.relative_to(ROOT)) for path in (ROOT / package).rglob("*.py")}
        assert modules <= names, package
    for folder, target in PACKED.items():
        files = [path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("*") if path.is_file()]
        assert {f"{target}/{file}" for file in files} <= names
    assert "concord_client/openapi.json" in names


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a person without Concord, but with the cache of packages."""
    kept = {
        name: v for name, v in os.environ.items() if not name.startswith(("CONCORD_", "DATABASE_", "PYTHON"))
    }
    kept.pop("VIRTUAL_ENV", None)
    kept.pop("DJANGO_SETTINGS_MODULE", None)
    return kept | {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_DATA_HOME": str(tmp_path / "data")}


@pytest.fixture
def command(wheel: Path, tmp_path: Path, home: dict[str, str]) -> Iterator[list[str]]:
    """The command of the wheel, with the pinned versions, in an environment that has nothing else."""
    folder, pins = tmp_path / "environment", tmp_path / "pins.txt"
    pins.write_text("\n".join(re.findall(r"^\S+==[^\\\n]+", (ROOT / "requirements.txt").read_text(), re.M)))
    uv = shutil.which("uv", path=f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    python, arguments = (
        str(folder / "bin" / "python"),
        ("install", "--quiet", "--constraint", str(pins), str(wheel)),
    )
    installers = [
        [python, "-m", "pip", *arguments]
    ]  # uv takes seconds, but does not read pip's configuration
    installers[:0] = [[uv, "pip", *arguments, "--python", python]] if uv else []
    subprocess.run([sys.executable, "-m", "venv", str(folder)], cwd=tmp_path, env=home, check=True)
    for installer in installers:
        made = subprocess.run(
            installer, cwd=tmp_path, env=home, capture_output=True, text=True, timeout=LONGEST
        )
        if made.returncode == 0:
            break
    assert made.returncode == 0, made.stderr
    yield [str(folder / "bin" / "concord")]
    shutil.rmtree(folder)


def test_the_wheel_alone_serves_the_demonstration(
    command: list[str], home: dict[str, str], tmp_path: Path, browser: Browser
) -> None:
    port, log, temporary = free_port(), tmp_path / "log", tmp_path / "temporary"
    temporary.mkdir()
    with log.open("w") as output:
        demo = subprocess.Popen(
            [*command, "demo", "--no-browser", "--port", str(port)],
            cwd=tmp_path,
            env=home | {"TMPDIR": str(temporary)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    state = tmp_path / "state" / "concord" / "server.json"
    try:
        started = Started(demo, port, log)
        eventually(lambda: demo.poll() is not None or (started.works() and started.answers()))
        assert demo.poll() is None, log.read_text()
        page = browser.new_context(base_url=f"http://localhost:{port}").new_page()
        page.set_default_timeout(LONGEST * 1000)
        page.goto("/")
        page.get_by_label("Email").fill("admin@example.org")
        page.get_by_label("Password", exact=True).fill("demonstration")
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("link", name="Demonstration: opinions about three products").first.click()
        assert page.evaluate("getComputedStyle(document.body).fontFamily"), "static files are there"
        page.context.close()
        assert state.exists()
        asked = subprocess.run(
            [*command, "projects", "list"], cwd=tmp_path, env=home, capture_output=True, text=True
        )
        assert asked.returncode == 0, asked.stderr
        assert "demonstration-opinions-about-three-products" in {
            each["slug"] for each in json.loads(asked.stdout)
        }
        managed = subprocess.run(
            [*command, "manage", "audit", "other"], cwd=tmp_path, env=home, capture_output=True, text=True
        )
        assert "there are: demonstration-opinions-about-three-products" in managed.stderr
    finally:
        family = descendants(demo.pid)
        demo.send_signal(signal.SIGINT)
        demo.wait(LONGEST)
    assert alive(family) == set()
    assert not state.exists()
    assert not list(temporary.glob("concord-*/concord.sqlite3")), "the demonstration leaves no data"
